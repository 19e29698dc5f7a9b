//! People who keep the set of values that public releases show of them, dealt
//! again.
//!
//! Sets come in the order of their values. Of each, people stand at their value;
//! those whose value is not in it stand, in the order of the numbers, where
//! fewest people are, first of the lower values. There are as many blocks as
//! people at the most frequent value were before these, or as all of them need,
//! if that is more. People without a set, in the order of the numbers, fill
//! what is free at their value; each asks for no more values than the set has.
//!
//! Free places go from block to block, one after the other, value after value;
//! those who stand at a value take the other places in order: of likeness, that
//! is by quasi-identifiers, those first that tell most of the sensitive
//! attribute, and then by number; or by number alone.
//!
//! Where the job lets changes be seen, people whose value is not in their set are
//! dealt as those without a set, to sets and blocks that have no value which was
//! shown of them, unless it is a set that was. Where everyone else makes no blocks,
//! or one of these may not be shown of somebody, these people stand in their set
//! after all, and everyone is dealt again.
//!
//! Everyone else is dealt as in a first release.

use std::collections::BTreeMap;

use crate::privacy::KeptSets;

use super::attributes::by_contingency;
use super::people::People;

/// People in blocks of kept sets.
pub(super) struct Kept {
    /// The people of each block.
    pub(super) blocks: Vec<Vec<u32>>,
    /// Everyone else, ascending.
    pub(super) rest: Vec<u32>,
    /// For each person the set of the block, counted from 0; none for the rest.
    pub(super) set_of: Vec<Option<u32>>,
}

/// Deals everyone; `make` makes the blocks of the rest, by their positions in it.
pub(super) fn deal(
    people: &People,
    (kept, is_by_likeness): (&KeptSets, bool),
    make: &mut dyn FnMut(&[u32]) -> Vec<Vec<u32>>,
) -> (Kept, Vec<Vec<u32>>) {
    let order = Order::of(people, is_by_likeness);
    let mut hidden = vec![false; people.len()];
    loop {
        let dealt = deal_once(people, (kept, &order), &hidden);
        let renewed = |person: &u32| is_renewed(people, kept, *person) && !hidden[*person as usize];
        let (blocks, back): (Vec<Vec<u32>>, Vec<u32>);
        if makes_no_blocks(people, &dealt.rest) {
            blocks = Vec::new();
            back = dealt.rest.iter().copied().filter(renewed).collect();
        } else {
            let own = |block: Vec<u32>| -> Vec<u32> {
                let rest = block.into_iter().map(|at| dealt.rest[at as usize]);
                rest.collect()
            };
            blocks = make(&dealt.rest).into_iter().map(own).collect();
            let overlapping = blocks.iter().flat_map(|block| {
                let mut set: Vec<u32> = block.iter().map(|&at| people.value[at as usize]).collect();
                set.sort_unstable();
                let all = block.iter().copied().filter(renewed);
                let may_not = |at: &u32| !kept.may_show(people.records[*at as usize], &set);
                all.filter(may_not).collect::<Vec<u32>>()
            });
            back = overlapping.collect();
        }
        if back.is_empty() {
            return (dealt, blocks);
        }
        for person in back {
            hidden[person as usize] = true;
        }
    }
}

/// Whether the value of a person is not in their set, where changes are seen.
fn is_renewed(people: &People, kept: &KeptSets, person: u32) -> bool {
    let record = people.records[person as usize];
    kept.renews(record, people.value[person as usize])
}

/// Whether the most frequent value is too frequent for what somebody asks for.
fn makes_no_blocks(people: &People, rest: &[u32]) -> bool {
    let mut values: Vec<u32> = rest.iter().map(|&at| people.value[at as usize]).collect();
    values.sort_unstable();
    let runs = values.chunk_by(|one, other| one == other);
    let most = runs.map(<[u32]>::len).max().unwrap_or(0) as u64;
    let asked = rest.iter().map(|&at| u64::from(people.l[at as usize]));
    most * asked.max().unwrap_or(1) > rest.len() as u64
}

fn deal_once(people: &People, (kept, order): (&KeptSets, &Order<'_>), hidden: &[bool]) -> Kept {
    let mut of_set: BTreeMap<&[u32], Vec<u32>> = BTreeMap::new();
    let mut waiting: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut everyone: Vec<u32> = (0..people.len() as u32).collect();
    everyone.sort_unstable_by_key(|&person| people.turn(person));
    for person in everyone {
        let is_new = is_renewed(people, kept, person) && !hidden[person as usize];
        match kept
            .set(people.records[person as usize])
            .filter(|_| !is_new)
        {
            Some(set) => of_set.entry(set).or_default().push(person),
            None => {
                let value = people.value[person as usize];
                waiting.entry(value).or_default().push(person);
            }
        }
    }
    let mut dealt = Kept {
        blocks: Vec::new(),
        rest: Vec::new(),
        set_of: vec![None; people.len()],
    };
    for (number, (set, members)) in (0..).zip(of_set) {
        people.cancel.heed();
        let (copies, at_value) = stand((people, kept), (set, members), &mut waiting);
        let first = dealt.blocks.len();
        dealt.blocks.resize(first + copies, Vec::new());
        let mut free_before = 0;
        for mut at in at_value.into_values() {
            order.sort(&mut at);
            let free = copies - at.len();
            let mut is_free = vec![false; copies];
            for place in free_before..free_before + free {
                is_free[place % copies] = true;
            }
            free_before += free;
            let taken = (0..copies).filter(|&place| !is_free[place]);
            for (place, person) in taken.zip(at) {
                dealt.blocks[first + place].push(person);
                dealt.set_of[person as usize] = Some(number);
            }
        }
    }
    dealt.rest = waiting.into_values().flatten().collect();
    dealt.rest.sort_unstable();
    dealt
}

/// How many blocks a set has, and who stands at each of its values: those who
/// have the set, and those who wait at the value, as far as there is room.
fn stand(
    (people, kept): (&People, &KeptSets),
    (set, members): (&[u32], Vec<u32>),
    waiting: &mut BTreeMap<u32, Vec<u32>>,
) -> (usize, BTreeMap<u32, Vec<u32>>) {
    let nobody = set.iter().map(|&value| (value, Vec::new()));
    let mut at_value: BTreeMap<u32, Vec<u32>> = nobody.collect();
    let needed = members.len().div_ceil(set.len());
    let mut strays = Vec::new();
    for person in members {
        match at_value.get_mut(&people.value[person as usize]) {
            Some(at) => at.push(person),
            None => strays.push(person),
        }
    }
    let most = at_value.values().map(Vec::len).max().unwrap_or(0);
    let copies = needed.max(most);
    for person in strays {
        let fewest = at_value.values().map(Vec::len).min();
        let at = at_value.values_mut().find(|at| Some(at.len()) == fewest);
        at.into_iter().for_each(|at| at.push(person));
    }
    for (value, at) in &mut at_value {
        let Some(queue) = waiting.get_mut(value) else {
            continue;
        };
        let mut free = copies - at.len();
        queue.retain(|&person| {
            let fits = people.l[person as usize] as usize <= set.len();
            let takes = free > 0 && fits && kept.may_show(people.records[person as usize], set);
            if takes {
                free -= 1;
                at.push(person);
            }
            !takes
        });
    }
    (copies, at_value)
}

/// The order in which people come to blocks.
struct Order<'a> {
    people: &'a People<'a>,
    columns: Vec<&'a crate::microdata::CodedColumn>,
}

impl<'a> Order<'a> {
    fn of(people: &'a People<'a>, is_by_likeness: bool) -> Self {
        let columns = if is_by_likeness {
            by_contingency(people)
        } else {
            Vec::new()
        };
        Self { people, columns }
    }

    fn sort(&self, some: &mut [u32]) {
        some.sort_by_cached_key(|&person| {
            let record = self.people.records[person as usize] as usize;
            let codes = self.columns.iter().map(|column| column.codes.at(record));
            (codes.collect::<Vec<u32>>(), self.people.turn(person))
        });
    }
}
