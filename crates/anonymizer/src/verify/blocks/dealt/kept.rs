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

pub(super) fn deal(people: &People, kept: &KeptSets, is_by_likeness: bool) -> Kept {
    let order = Order::of(people, is_by_likeness);
    let mut of_set: BTreeMap<&[u32], Vec<u32>> = BTreeMap::new();
    let mut waiting: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut everyone: Vec<u32> = (0..people.len() as u32).collect();
    everyone.sort_unstable_by_key(|&person| people.turn(person));
    for person in everyone {
        match kept.set(people.records[person as usize]) {
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
        let (copies, at_value) = stand(people, (set, members), &mut waiting);
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
    people: &People,
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
            let takes = free > 0 && people.l[person as usize] as usize <= set.len();
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
