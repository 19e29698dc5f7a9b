//! Refined blocks as groups whose quasi-identifiers are generalized: blocks
//! are joined until each has as many records as its members' own k, and
//! groups that come to look the same hold as one.
//!
//! A group of joined blocks keeps (count of a value) × L ≤ size for the
//! strictest of its members; only blocks that allow that are joined, the one
//! that adds least loss among the nearest in domain order. Groups that look
//! the same are one to an adversary: where that breaks a member's own l, they
//! become one group.
//!
//! A group that no near block mends is widened (*ours*): the nearest blocks on
//! either side join it until it holds. At worst that is everyone, for whom it
//! holds (`exclusion`), so that nobody is left out because of their block.

use crate::engine::kernel::covers::Covers;
use crate::engine::kernel::microdata_table::of_groups_beside;
use crate::engine::kernel::{Rows, Scale};
use crate::microdata::RowClasses;

use super::frame::{Frame, Goal};
use super::job::Made;
use super::widen::{Wanted, widen};

/// Blocks on either side that a block may be joined with.
const NEIGHBOURS: usize = 12;

/// Publishes blocks as groups of the table `microdata`.
pub(super) fn publish(frame: &Frame<'_>, goal: &Goal<'_>, blocks: Vec<Vec<u32>>) -> Made {
    let mut blocks = join(frame, goal, blocks);
    let mut round = 0;
    loop {
        let groups = of_records(frame, &blocks);
        let alike = frame.staying.iter();
        let alike = alike.flat_map(|staying| staying.look_alike(frame.included, &groups));
        let alike: Vec<usize> = alike.collect();
        let mut groups: Vec<&[u32]> = groups.iter().map(Vec::as_slice).collect();
        let mut failing = failing_classes(frame, goal, (&groups, &blocks));
        if blocks.len() > 1 {
            failing.extend(alike.into_iter().map(|at| vec![at]));
        } else if !alike.is_empty() {
            // All who are new could be taken for members of a public group: they
            // wait.
            groups.clear();
        }
        if failing.is_empty() {
            let (table, lineage) = of_groups_beside(frame.included, &groups, frame.staying);
            return (vec![table], lineage);
        }
        for alike in failing {
            unite(&mut blocks, &alike);
            widen(goal, &mut blocks, alike[0], Wanted::in_round(1, round));
        }
        blocks.retain(|block| !block.is_empty());
        round += 1;
    }
}

/// Puts blocks together in the place of the first.
fn unite(blocks: &mut [Vec<u32>], alike: &[usize]) {
    let Some((&first, others)) = alike.split_first() else {
        return;
    };
    for &other in others {
        let taken = std::mem::take(&mut blocks[other]);
        blocks[first].extend(taken);
    }
}

/// Blocks of rows as blocks of their records.
pub(super) fn of_records(frame: &Frame<'_>, blocks: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let record = |&row: &u32| frame.included.records[row as usize];
    let of_one = |block: &Vec<u32>| block.iter().map(record).collect();
    blocks.iter().map(of_one).collect()
}

/// Joins blocks until each has K records.
pub(super) fn join(frame: &Frame<'_>, goal: &Goal<'_>, mut blocks: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let rows = Rows::gather(&frame.included.quasi_columns(), &frame.included.records);
    let scales = frame.included.quasi_scales();
    for at in 0..blocks.len() {
        while !blocks[at].is_empty() && blocks[at].len() < goal.k_of(&blocks[at]) as usize {
            let joined = |other: usize| -> Vec<u32> { [&blocks[at][..], &blocks[other]].concat() };
            let before = (0..at).rev().filter(|&other| !blocks[other].is_empty());
            let behind = (at + 1..blocks.len()).filter(|&other| !blocks[other].is_empty());
            let near = before.take(NEIGHBOURS).chain(behind.take(NEIGHBOURS));
            let fitting = near.filter(|&other| goal.is_group(&joined(other)));
            let losses = fitting.map(|other| (loss(&rows, &scales, &joined(other)), other));
            let Some((_, other)) = losses.min_by(|a, b| a.0.total_cmp(&b.0)) else {
                widen(goal, &mut blocks, at, Wanted::NOTHING);
                break;
            };
            let taken = std::mem::take(&mut blocks[other]);
            blocks[at].extend(taken);
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// Loss of publishing rows as one group, per record.
fn loss(rows: &Rows, scales: &[Scale], group: &[u32]) -> f32 {
    let (mut lowest, mut highest) = (vec![0; scales.len()], vec![0; scales.len()]);
    rows.extremes(group.iter().copied(), &mut lowest, &mut highest);
    let ends = lowest.iter().zip(&highest).zip(scales);
    ends.map(|((&low, &high), scale)| scale.interval(low, high))
        .sum()
}

/// Places of blocks in one equivalence class, where a member's own l does not
/// hold over all of them; `groups` are the records of the blocks.
fn failing_classes(
    frame: &Frame<'_>,
    goal: &Goal<'_>,
    (groups, blocks): (&[&[u32]], &[Vec<u32>]),
) -> Vec<Vec<usize>> {
    let mut classes = RowClasses::whole(groups.len());
    for column in frame.included.quasi_columns() {
        let mut covers = Covers::new(&column.domain);
        classes.refine(|at| covers.cover(column, groups[at]));
    }
    let places = classes.members().into_iter();
    let places = places.filter(|places| places.len() > 1);
    let fails = |places: &Vec<usize>| {
        let rows: Vec<&[u32]> = places.iter().map(|&at| &blocks[at][..]).collect();
        !goal.is_group(&rows.concat())
    };
    places.filter(fails).collect()
}
