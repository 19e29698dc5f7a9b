//! Blocks that go on a series: a subject who was public keeps the set of values
//! that was shown of them (after m-invariance, `[Xiao–Tao 2007]`, with what it
//! leaves open).
//!
//! Every public block shows each of its values once. Whoever renames the values
//! of a set, for all subjects who have it, gets another table of originals that
//! fits all releases as well: so each value of the set stays equally likely,
//! whatever subjects join, leave or return.
//!
//! By set, in the order of their values:
//! 1. its subjects who are published, by value; as many blocks as the most
//!    frequent value has, or as all subjects together need;
//! 2. subjects whose value is not in the set any more take a free place, first
//!    where most are free: their block shows the old set;
//! 3. subjects without a set, or who may show another one, take places of their
//!    value, by the numbers of the dataset's secret, where the set is as large as
//!    they ask, and has no value that was shown of them in another set;
//! 4. places that are left are *counterfeits*, spread over the blocks;
//! 5. subjects of a value come to the blocks in order, so that like subjects
//!    come together.
//!
//! Subjects who are left make blocks among themselves, by the engine's own
//! stages. Where no such blocks exist all of them wait for the next release:
//! who waits must not depend on values. First those wait who ask for most.
//!
//! Where the job lets changes be seen, subjects whose value is not in their set
//! are in step 3 instead of 2, and else make blocks with the others. Where these
//! blocks have a value that was shown of such a subject before, or do not exist,
//! these subjects are in step 2 after all (*hidden*), and all is done again.
//!
//! What decides is the same under every renaming of the values of a set, but
//! for the choice of subjects without a set, which secret numbers make.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashSet;

use crate::engine::error::EngineError;
use crate::engine::kernel::is_eligible;
use crate::privacy::KeptSets;

use super::frame::{Blocks, Frame, Goal};
use super::refine::draws;

/// A block of subjects who keep a set: it shows each value of the set once.
pub(super) struct KeptBlock {
    /// Its rows; the other values are counterfeits.
    pub rows: Vec<u32>,
    /// The codes that it shows, ascending.
    pub set: Vec<u32>,
}

/// Who goes where, of one attribute.
pub(super) struct Plan {
    /// Blocks of kept sets.
    pub kept: Vec<KeptBlock>,
    /// Rows that make blocks among themselves, ascending.
    pub fresh: Vec<u32>,
    /// Rows that wait.
    pub waiting: Vec<u32>,
    /// Rows whose value is not in the set that their block shows.
    pub outdated: u64,
    /// Rows that get another set, among those of blocks of kept sets and `fresh`;
    /// ascending.
    pub renewed: Vec<u32>,
}

impl Plan {
    /// Counterfeits and all values of blocks of kept sets.
    pub fn counterfeits(&self) -> (u64, u64) {
        let values: usize = self.kept.iter().map(|block| block.set.len()).sum();
        let rows: usize = self.kept.iter().map(|block| block.rows.len()).sum();
        ((values - rows) as u64, values as u64)
    }

    /// Those of `renewed` who are in no block of a kept set.
    fn renewed_elsewhere(&self) -> impl Iterator<Item = u32> {
        let renewed = self.renewed.iter().copied();
        let is_in = |rows: &[u32], row: &u32| rows.binary_search(row).is_ok();
        renewed.filter(move |row| is_in(&self.fresh, row) || is_in(&self.waiting, row))
    }

    /// Those of `renewed` whose block may not be shown of them, of blocks of
    /// `fresh`.
    fn overlapping(
        &self,
        (frame, goal): (&Frame<'_>, &Goal<'_>),
        sets: &KeptSets,
        blocks: &[Vec<u32>],
    ) -> Vec<u32> {
        let record = |row: u32| frame.included.records[row as usize];
        let mut found = Vec::new();
        for block in blocks {
            let is_renewed = |row: &u32| self.renewed.binary_search(row).is_ok();
            let renewed: Vec<u32> = block.iter().copied().filter(is_renewed).collect();
            if renewed.is_empty() {
                continue;
            }
            let codes = block.iter().map(|&row| code(frame, goal, row));
            let mut set: Vec<u32> = codes.collect();
            set.sort_unstable();
            let overlaps = |&row: &u32| !sets.may_show(record(row), &set);
            found.extend(renewed.into_iter().filter(overlaps));
        }
        found
    }
}

/// The code of a row's value.
fn code(frame: &Frame<'_>, goal: &Goal<'_>, row: u32) -> u32 {
    let record = frame.included.records[row as usize];
    goal.column.column.codes.at(record as usize)
}

/// Deals rows to the blocks of their sets, so that like ones are near if
/// `is_local`, and the others to blocks of their own, which `blocks` makes; none of
/// these where some rows have to wait.
pub(super) fn settle(
    of: (&Frame<'_>, &Goal<'_>),
    (sets, is_local): (&KeptSets, bool),
    blocks: &Blocks<'_>,
) -> Result<(Plan, Vec<Vec<u32>>), EngineError> {
    let (frame, goal) = of;
    let draws = draws(frame, goal);
    // Nothing is ordered where no set is kept, as in a first release.
    let order = if sets.sets.is_empty() {
        Vec::new()
    } else {
        ranks(frame, goal, (&draws, is_local))
    };
    let mut hidden = FxHashSet::default();
    loop {
        frame.context.check()?;
        let plan = plan(of, sets, &hidden, (&draws, &order));
        let mut made = Vec::new();
        let before = hidden.len();
        if !plan.waiting.is_empty() {
            hidden.extend(plan.renewed_elsewhere());
        } else if !plan.fresh.is_empty() {
            made = blocks(frame, goal, plan.fresh.clone())?;
            hidden.extend(plan.overlapping(of, sets, &made));
        }
        if hidden.len() == before {
            return Ok((plan, made));
        }
    }
}

/// Rows by what they keep.
struct Rows {
    /// Those who keep each set.
    members: Vec<Vec<u32>>,
    /// Those who keep none.
    others: Vec<u32>,
    /// Of these, who show another set now; ascending.
    renewed: Vec<u32>,
}

impl Rows {
    fn of(
        (frame, goal): (&Frame<'_>, &Goal<'_>),
        sets: &KeptSets,
        hidden: &FxHashSet<u32>,
    ) -> Self {
        let mut rows = Self {
            members: vec![Vec::new(); sets.sets.len()],
            others: Vec::new(),
            renewed: Vec::new(),
        };
        for (row, &record) in (0..).zip(&frame.included.records) {
            let is_renewed = sets.renews(record, code(frame, goal, row)) && !hidden.contains(&row);
            match sets.number(record).filter(|_| !is_renewed) {
                Some(number) => rows.members[number as usize].push(row),
                None => rows.others.push(row),
            }
            if is_renewed {
                rows.renewed.push(row);
            }
        }
        rows
    }
}

/// Deals rows to the blocks of their sets, by the secret numbers of rows and their
/// order. `hidden` are rows that show their set again, whatever their value.
fn plan(
    (frame, goal): (&Frame<'_>, &Goal<'_>),
    sets: &KeptSets,
    hidden: &FxHashSet<u32>,
    (draws, order): (&[u64], &[u32]),
) -> Plan {
    let code = |row: u32| code(frame, goal, row);
    let turn = |row: &u32| (draws[*row as usize], *row);
    let Rows {
        members,
        mut others,
        renewed,
    } = Rows::of((frame, goal), sets, hidden);
    others.sort_unstable_by_key(turn);
    let mut queues: BTreeMap<u32, VecDeque<u32>> = BTreeMap::new();
    for row in others {
        queues.entry(code(row)).or_default().push_back(row);
    }
    let mut taken: Vec<(&Vec<u32>, Vec<u32>)> = sets.sets.iter().zip(members).collect();
    taken.retain(|(_, members)| !members.is_empty());
    taken.sort_unstable_by_key(|&(set, _)| set);
    let (mut kept, mut outdated) = (Vec::new(), 0);
    for (set, members) in taken {
        let copies = members.len().div_ceil(set.len());
        let mut of_value: Vec<Vec<u32>> = vec![Vec::new(); set.len()];
        let mut strays = Vec::new();
        for row in members {
            match set.binary_search(&code(row)) {
                Ok(at) => of_value[at].push(row),
                Err(_) => strays.push(row),
            }
        }
        outdated += strays.len() as u64;
        let most = of_value.iter().map(Vec::len).max();
        let copies = copies.max(most.unwrap_or(0));
        strays.sort_unstable_by_key(turn);
        for row in strays {
            if let Some(least) = of_value.iter_mut().min_by_key(|rows| rows.len()) {
                least.push(row);
            }
        }
        let fits = |row: &u32| {
            let record = frame.included.records[*row as usize];
            goal.need[*row as usize] as usize <= set.len() && sets.may_show(record, set)
        };
        for (value, rows) in set.iter().zip(&mut of_value) {
            let Some(queue) = queues.get_mut(value) else {
                continue;
            };
            while rows.len() < copies {
                let Some(first) = queue.iter().position(fits) else {
                    break;
                };
                rows.extend(queue.remove(first));
            }
        }
        kept.extend(dealt((set, copies), of_value, order));
    }
    let mut fresh: Vec<u32> = queues.into_values().flatten().collect();
    fresh.sort_unstable();
    let waiting = ineligible(goal, &mut fresh);
    Plan {
        kept,
        fresh,
        waiting,
        outdated,
        renewed,
    }
}

/// The blocks of a set; places without a row are spread over them.
fn dealt((set, copies): (&[u32], usize), of_value: Vec<Vec<u32>>, order: &[u32]) -> Vec<KeptBlock> {
    let mut blocks: Vec<KeptBlock> = (0..copies)
        .map(|_| KeptBlock {
            rows: Vec::new(),
            set: set.to_vec(),
        })
        .collect();
    let mut next_free = 0;
    for mut rows in of_value {
        rows.sort_unstable_by_key(|&row| order[row as usize]);
        let free = copies - rows.len();
        let is_free = |at: usize| (at + copies - next_free) % copies < free;
        let places: Vec<usize> = (0..copies).filter(|&at| !is_free(at)).collect();
        next_free = (next_free + free) % copies;
        for (place, row) in places.into_iter().zip(rows) {
            blocks[place].rows.push(row);
        }
    }
    blocks
}

/// Takes those from rows who must wait, because no blocks of all exist.
fn ineligible(goal: &Goal<'_>, rows: &mut Vec<u32>) -> Vec<u32> {
    let need = |row: u32| goal.need[row as usize];
    let code = |row: u32| goal.codes[row as usize] as usize;
    let mut counts = vec![0_u64; goal.values];
    rows.iter().for_each(|&row| counts[code(row)] += 1);
    let mut strictest = rows.clone();
    strictest.sort_by_key(|&row| Reverse(need(row)));
    let mut waiting: Vec<u32> = Vec::new();
    for asking in strictest.chunk_by(|&one, &other| need(one) == need(other)) {
        let left = (rows.len() - waiting.len()) as u64;
        let most = counts.iter().copied().max().unwrap_or(0);
        if is_eligible(most, left, need(asking[0])) {
            break;
        }
        asking.iter().for_each(|&row| counts[code(row)] -= 1);
        waiting.extend(asking);
    }
    waiting.sort_unstable();
    rows.retain(|row| waiting.binary_search(row).is_err());
    waiting
}

/// The rank of each row among all, by its quasi-identifiers and then by number:
/// like rows are near. By number alone where blocks do not look at them.
fn ranks(frame: &Frame<'_>, goal: &Goal<'_>, (draws, is_local): (&[u64], bool)) -> Vec<u32> {
    let columns = if is_local {
        super::initial::by_contingency(frame, goal, &(0..frame.rows() as u32).collect::<Vec<_>>())
    } else {
        Vec::new()
    };
    let key = |row: u32| {
        let record = frame.included.records[row as usize] as usize;
        columns.iter().map(move |column| column.codes.at(record))
    };
    let mut rows: Vec<u32> = (0..frame.rows() as u32).collect();
    rows.sort_unstable_by(|&one, &other| {
        let turn = |row: u32| (draws[row as usize], row);
        key(one).cmp(key(other)).then(turn(one).cmp(&turn(other)))
    });
    let mut ranks = vec![0; rows.len()];
    for (rank, row) in (0..).zip(rows) {
        ranks[row as usize] = rank;
    }
    ranks
}
