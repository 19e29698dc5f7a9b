//! Refined blocks as groups whose quasi-identifiers are generalized: blocks
//! are joined until each has as many records as its members' own k, and
//! groups that come to look the same are looked at as one.
//!
//! A group of joined blocks keeps (count of a value) × L ≤ size for the
//! strictest of its members; only blocks that allow that are joined, the one
//! that adds least loss among the nearest in domain order. Groups that look
//! the same are one to an adversary: whoever's own l that breaks cannot be
//! published.

use rustc_hash::FxHashMap;

use crate::engine::kernel::covers::Covers;
use crate::engine::kernel::microdata_table::of_groups;
use crate::engine::kernel::{Rows, Scale, is_eligible};

use super::frame::{Frame, Goal};
use super::job::Made;

/// Blocks on either side that a block may be joined with.
const NEIGHBOURS: usize = 12;

/// Publishes blocks as groups of the table `microdata`, or says whose terms
/// they do not meet.
pub(super) fn publish(frame: &Frame<'_>, goal: &Goal<'_>, blocks: Vec<Vec<u32>>) -> Made {
    let groups = match join(frame, goal, blocks) {
        Ok(groups) => groups,
        Err(rows) => return Made::Fails(rows),
    };
    let records = &frame.present.records;
    let groups: Vec<Vec<u32>> = groups
        .into_iter()
        .map(|rows| rows.into_iter().map(|row| records[row as usize]).collect())
        .collect();
    let groups: Vec<&[u32]> = groups.iter().map(Vec::as_slice).collect();
    let failing = failing_looks(frame, goal, &groups);
    if !failing.is_empty() {
        return Made::Fails(failing);
    }
    let (table, lineage) = of_groups(frame.present, &groups, &[]);
    Made::Published((vec![table], lineage))
}

/// Joins blocks until each has K records; the rows whose k cannot be met.
pub(super) fn join(
    frame: &Frame<'_>,
    goal: &Goal<'_>,
    mut blocks: Vec<Vec<u32>>,
) -> Result<Vec<Vec<u32>>, Vec<u32>> {
    let rows = Rows::gather(&frame.present.quasi_columns(), &frame.present.records);
    let scales = frame.present.quasi_scales();
    let mut failing = Vec::new();
    for at in 0..blocks.len() {
        while !blocks[at].is_empty() && blocks[at].len() < goal.k_of(&blocks[at]) as usize {
            let joined = |other: usize| -> Vec<u32> { [&blocks[at][..], &blocks[other]].concat() };
            let before = (0..at).rev().filter(|&other| !blocks[other].is_empty());
            let behind = (at + 1..blocks.len()).filter(|&other| !blocks[other].is_empty());
            let near = before.take(NEIGHBOURS).chain(behind.take(NEIGHBOURS));
            let fitting = near.filter(|&other| is_group(goal, &joined(other)));
            let losses = fitting.map(|other| (loss(&rows, &scales, &joined(other)), other));
            let Some((_, other)) = losses.min_by(|a, b| a.0.total_cmp(&b.0)) else {
                let size = blocks[at].len() as u32;
                let asking = blocks[at].iter().copied();
                failing.extend(asking.filter(|&row| goal.k[row as usize] > size));
                break;
            };
            let taken = std::mem::take(&mut blocks[other]);
            blocks[at].extend(taken);
        }
    }
    blocks.retain(|block| !block.is_empty());
    match failing.is_empty() {
        true => Ok(blocks),
        false => Err(failing),
    }
}

/// Whether no value is too frequent for the strictest of these rows.
fn is_group(goal: &Goal<'_>, rows: &[u32]) -> bool {
    is_eligible(most(goal, rows), rows.len() as u64, goal.need_of(rows))
}

/// How often the most frequent value of these rows occurs.
pub(super) fn most(goal: &Goal<'_>, rows: &[u32]) -> u64 {
    let mut codes: Vec<u32> = rows.iter().map(|&row| goal.codes[row as usize]).collect();
    codes.sort_unstable();
    let runs = codes.chunk_by(|a, b| a == b);
    runs.map(|run| run.len() as u64).max().unwrap_or(0)
}

/// Loss of publishing rows as one group, per record.
fn loss(rows: &Rows, scales: &[Scale], group: &[u32]) -> f32 {
    let (mut lowest, mut highest) = (vec![0; scales.len()], vec![0; scales.len()]);
    rows.extremes(group.iter().copied(), &mut lowest, &mut highest);
    let ends = lowest.iter().zip(&highest).zip(scales);
    ends.map(|((&low, &high), scale)| scale.interval(low, high))
        .sum()
}

/// Rows whose own l is broken where groups look the same; groups are of
/// records.
fn failing_looks(frame: &Frame<'_>, goal: &Goal<'_>, groups: &[&[u32]]) -> Vec<u32> {
    let mut looks = vec![0_u32; groups.len()];
    let mut pairs: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for column in frame.present.quasi_columns() {
        let mut covers = Covers::new(&column.domain);
        pairs.clear();
        for (look, group) in looks.iter_mut().zip(groups) {
            let next = pairs.len() as u32;
            *look = *pairs
                .entry((*look, covers.cover(column, group)))
                .or_insert(next);
        }
    }
    let mut row_of = vec![u32::MAX; frame.present.table.records()];
    for (row, &record) in (0..).zip(&frame.present.records) {
        row_of[record as usize] = row;
    }
    let mut by_look: Vec<(u32, usize)> = looks.iter().copied().zip(0..).collect();
    by_look.sort_unstable();
    let mut failing = Vec::new();
    for alike in by_look
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|run| run.len() > 1)
    {
        let groups = alike.iter().flat_map(|&(_, at)| groups[at]);
        let rows: Vec<u32> = groups.map(|&record| row_of[record as usize]).collect();
        let most = most(goal, &rows);
        let is_broken = |row: &u32| !is_eligible(most, rows.len() as u64, goal.need[*row as usize]);
        failing.extend(rows.iter().copied().filter(is_broken));
    }
    failing
}
