//! Refined blocks as buckets in which columns of attributes are permuted:
//! tables `sliced` and `columns` (`[ARP]`, section on slicing, after `[Slicing]`).
//!
//! Quasi-identifiers that tell of each other (φ²) form columns, two to a
//! column on average; the sensitive attribute has a column of its own. So a
//! bucket that a subject matches says of them what its histogram says, and no
//! value has more than 1 in L of it, L the strictest of its members. (A
//! quasi-identifier that is constant in a bucket may stand beside the
//! sensitive values, but then says nothing either.)
//!
//! To an adversary a subject may be in any bucket that holds their values in
//! every column. A bucket that one of these subjects' own l does not hold in is
//! widened until it does (*ours*).

use std::collections::BTreeMap;

use crate::engine::kernel::contingency::{Categories, phi_squared};
use crate::engine::kernel::sliced_table::{Slices, of_buckets};
use crate::engine::kernel::{Rows, is_eligible};
use crate::microdata::{AttributeIndex, Role, RowClasses};

use super::frame::{Frame, Goal};
use super::groups::{join, of_records};
use super::job::Made;
use super::widen::{Wanted, widen};

/// Quasi-identifiers in a column, on average.
const COLUMN_WIDTH: usize = 2;

/// Publishes blocks as buckets.
pub(super) fn publish(frame: &Frame<'_>, goal: &Goal<'_>, blocks: Vec<Vec<u32>>) -> Made {
    let mut blocks = join(frame, goal, blocks);
    let columns = columns(frame);
    for round in 0.. {
        let failing = failing(frame, goal, &blocks, &columns);
        if failing.is_empty() {
            break;
        }
        for (at, l) in failing {
            if !blocks[at as usize].is_empty() {
                widen(goal, &mut blocks, at as usize, Wanted::in_round(l, round));
            }
        }
        blocks.retain(|block| !block.is_empty());
    }
    let buckets = of_records(frame, &blocks);
    let buckets: Vec<&[u32]> = buckets.iter().map(Vec::as_slice).collect();
    let schema = frame.included.table.schema();
    let insensitive = schema.select(|attribute| attribute.role == Role::Insensitive);
    let quasi = |column: &Vec<usize>| -> Vec<AttributeIndex> {
        column
            .iter()
            .map(|&at| frame.included.quasi[at].0)
            .collect()
    };
    let mut all: Vec<Vec<AttributeIndex>> = columns.iter().map(quasi).collect();
    all.push(vec![goal.column.attribute]);
    all.iter_mut().for_each(|column| column.sort_unstable());
    all.sort();
    all.extend(insensitive.into_iter().map(|attribute| vec![attribute]));
    let slices = Slices {
        columns: all,
        generalized: Vec::new(),
    };
    of_buckets(frame.included, &buckets, &slices)
}

/// Positions of quasi-identifiers, column by column: those that tell most of
/// each other are joined until there are two to a column on average.
fn columns(frame: &Frame<'_>) -> Vec<Vec<usize>> {
    let included = frame.included;
    let categories: Vec<Categories> = included
        .quasi
        .iter()
        .map(|(_, column)| Categories::of(column, &included.records))
        .collect();
    let mut columns: Vec<Vec<usize>> = (0..categories.len()).map(|at| vec![at]).collect();
    let wanted = categories.len().div_ceil(COLUMN_WIDTH);
    while columns.len() > wanted {
        let mut best = (f64::MIN, 0, 0);
        for left in 0..columns.len() {
            for right in left + 1..columns.len() {
                let phi = between(&categories, &columns[left], &columns[right]);
                if phi > best.0 {
                    best = (phi, left, right);
                }
            }
        }
        let (_, left, right) = best;
        let taken = columns.remove(right);
        columns[left].extend(taken);
        columns[left].sort_unstable();
    }
    columns
}

/// The mean φ² of the pairs between two columns.
fn between(categories: &[Categories], left: &[usize], right: &[usize]) -> f64 {
    let pairs = left
        .iter()
        .flat_map(|&one| right.iter().map(move |&other| (one, other)));
    let sum: f64 = pairs
        .map(|(one, other)| phi_squared(&categories[one], &categories[other]))
        .sum();
    sum / (left.len() * right.len()) as f64
}

/// Buckets in which the own l of somebody who matches them does not hold,
/// ascending, with the strictest such l.
fn failing(
    frame: &Frame<'_>,
    goal: &Goal<'_>,
    blocks: &[Vec<u32>],
    columns: &[Vec<usize>],
) -> BTreeMap<u32, u32> {
    let mut failing = BTreeMap::new();
    let tells: Vec<(u64, u64)> = blocks
        .iter()
        .map(|block| (goal.most(block), block.len() as u64))
        .collect();
    let holds = |need: u32, block: u32| {
        let (most, size) = tells[block as usize];
        is_eligible(most, size, need)
    };
    // Only who asks for more than some bucket gives can fail.
    let weakest = |need: u32| (0..blocks.len() as u32).all(|block| holds(need, block));
    let mut asked: Vec<u32> = goal.need.clone();
    asked.sort_unstable();
    asked.dedup();
    let Some(&least) = asked.iter().find(|&&need| !weakest(need)) else {
        return failing;
    };
    let shown: Vec<ShownColumn> = columns
        .iter()
        .map(|column| ShownColumn::of(frame, blocks, column))
        .collect();
    let strict = (0..frame.rows() as u32).filter(|&row| goal.need[row as usize] >= least);
    for row in strict {
        let need = goal.need[row as usize];
        let parts: Vec<&[u32]> = shown.iter().map(|shown| shown.buckets(row)).collect();
        let mut fails = |block: u32| {
            if !holds(need, block) {
                let strictest = failing.entry(block).or_insert(need);
                *strictest = need.max(*strictest);
            }
        };
        if parts.is_empty() {
            // Without a column to go by everyone matches every bucket.
            (0..blocks.len() as u32).for_each(&mut fails)
        } else {
            matching(&parts).for_each(&mut fails)
        }
    }
    failing
}

/// Numbers that are in every one of the lists, which ascend.
fn matching<'p>(parts: &'p [&[u32]]) -> impl Iterator<Item = u32> + use<'p> {
    let shortest = parts.iter().min_by_key(|part| part.len());
    let candidates = shortest.copied().unwrap_or_default().iter().copied();
    candidates.filter(|block| parts.iter().all(|part| part.binary_search(block).is_ok()))
}

/// Which buckets show the values of one column.
struct ShownColumn {
    /// Part of each row: a combination of values of the column.
    part_of: Vec<u32>,
    /// First position in `buckets` of each part, and their number at the end.
    starts: Vec<u32>,
    /// Buckets that show each part, ascending.
    buckets: Vec<u32>,
}

impl ShownColumn {
    fn of(frame: &Frame<'_>, blocks: &[Vec<u32>], column: &[usize]) -> Self {
        let quasi = frame.included.quasi_columns();
        let columns: Vec<_> = column.iter().map(|&at| quasi[at]).collect();
        let rows = Rows::gather(&columns, &frame.included.records);
        let all = 0..frame.rows() as u32;
        let parts = RowClasses::of_keys(all.map(|row| rows.row(row)));
        let part_of = parts.of_row;
        let in_blocks = (0_u32..).zip(blocks);
        let mut shown: Vec<(u32, u32)> = in_blocks
            .flat_map(|(at, block)| block.iter().map(move |&row| (row, at)))
            .map(|(row, at)| (part_of[row as usize], at))
            .collect();
        shown.sort_unstable();
        shown.dedup();
        let mut starts = vec![0_u32; parts.number + 1];
        for &(part, _) in &shown {
            starts[part as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        Self {
            part_of,
            starts,
            buckets: shown.into_iter().map(|(_, block)| block).collect(),
        }
    }

    /// Buckets that show the part of a row.
    fn buckets(&self, row: u32) -> &[u32] {
        let part = self.part_of[row as usize] as usize;
        &self.buckets[self.starts[part] as usize..self.starts[part + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_matches_where_every_column_shows_the_part() {
        let parts: [&[u32]; 3] = [&[1, 3, 5, 8], &[3, 4, 5], &[0, 3, 5, 9]];
        assert_eq!(matching(&parts).collect::<Vec<_>>(), [3, 5]);
        assert_eq!(matching(&[&[2], &[]]).count(), 0);
    }
}
