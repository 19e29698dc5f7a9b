//! The attack `known_items`: somebody knows all quasi-identifiers of a person,
//! and one or two items of their set; which rows are left?
//!
//! A row is left if it shows the same quasi-identifiers, and its fingerprints
//! cover the known items. For each person the items are the ones that leave the
//! fewest rows. Nothing bounds the figure but in `rmr`, where k of a group share
//! every combination of m published items. Of at most [`PEOPLE_MAX`] people,
//! drawn by the verifier's own number.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::partition::Partition;
use super::view::PersonsView;
use crate::privacy::Seed;
use crate::verify::verdict::{Check, Section};

/// People for whom items are tried.
const PEOPLE_MAX: usize = 2_000;
/// Items of a person that are tried; the first ones.
const ITEMS_MAX: usize = 64;
/// Seed and stream of the draw.
const SEED: u64 = 20;
const STAGE: u32 = 4;

/// The attack by what quasi-identifiers show, with the job's k of a group; none
/// where nobody has an item.
pub(super) fn known_items(view: &PersonsView, partitions: &[Partition], k: u32) -> Option<Check> {
    view.cancel.heed();
    // The last one is by what quasi-identifiers show.
    let partition = partitions.last()?;
    let mut rows: Vec<usize> = (0..view.rows()).collect();
    rows.retain(|&row| view.subject(row).is_some());
    rows.shuffle(&mut Seed::of_number(SEED).stream(STAGE, 0));
    rows.truncate(PEOPLE_MAX);
    let left: Vec<Option<Left>> = rows
        .par_iter()
        .map(|&row| Left::of(view, partition, row))
        .collect();
    let left: Vec<Left> = left.into_iter().flatten().collect();
    if left.is_empty() {
        return None;
    }
    let share = |is: &dyn Fn(&Left) -> bool| {
        left.iter().filter(|one| is(one)).count() as f64 / left.len() as f64
    };
    let least = |of: &dyn Fn(&Left) -> u32| left.iter().map(of).min().unwrap_or(0);
    let check = Check::new(Section::Attack, "known_items")
        .attaining(Some(share(&|one| one.with_2 == 1)), None)
        .with_figure("one_row_with_1", share(&|one| one.with_1 == 1))
        .with_figure("one_row_with_2", share(&|one| one.with_2 == 1))
        .with_figure("below_k_with_1", share(&|one| one.with_1 < k))
        .with_figure("below_k_with_2", share(&|one| one.with_2 < k))
        .with_figure("least_rows_with_1", f64::from(least(&|one| one.with_1)))
        .with_figure("people", left.len() as f64)
        .noting("share of people for whom one row is left, if two of their items are known");
    Some(check)
}

/// Rows that are left for a person's worst item, and worst two.
struct Left {
    with_1: u32,
    with_2: u32,
}

impl Left {
    fn of(view: &PersonsView, partition: &Partition, row: usize) -> Option<Self> {
        let subject = view.subject(row)?;
        let rows = partition.classes.rows(partition.classes.class(row));
        // For each item the rows of the group that may hold it.
        let mut fits: Vec<Vec<bool>> = Vec::new();
        for attribute in &view.sensitive {
            let items = attribute.source.of_subject(subject).iter();
            for &code in items.take(ITEMS_MAX) {
                let holds = rows.iter().map(|&row| {
                    let nodes = &attribute.fingerprint(row as usize).nodes;
                    let mut nodes = nodes.iter().map(|&at| view.trees.node(at));
                    nodes.any(|node| node.first <= code && code <= node.last)
                });
                fits.push(holds.collect());
            }
        }
        let count = |of: &mut dyn Iterator<Item = bool>| of.filter(|&fits| fits).count() as u32;
        let singles = fits.iter().map(|one| count(&mut one.iter().copied()));
        let with_1 = singles.min()?;
        let mut with_2 = with_1;
        for (at, one) in fits.iter().enumerate() {
            for other in &fits[at + 1..] {
                let both = &mut one.iter().zip(other).map(|(&one, &other)| one && other);
                with_2 = with_2.min(count(both));
            }
        }
        Some(Self { with_1, with_2 })
    }
}
