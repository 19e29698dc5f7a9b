//! Joint knowledge, and what the buckets of a whole group give away.
//!
//! `joint_knowledge`: the adversary also knows *one* sensitive value of the
//! target (outside the adversary that the manifest names; trust.md). Rows of
//! the target's group whose bucket does not hold the value fall away. Figure,
//! over all cells in buckets: the least number of rows that stay, the mean,
//! and the share of cells where fewer than k do. With `bucket_link: "group"`
//! no row names its bucket and every row stays.
//!
//! `group_leakage`: without that knowledge, rows of one group are not told
//! apart, so the chance of linking a target to its own value v is the mean,
//! over the rows of its group, of the share of v in the row's bucket. Figure:
//! the largest ratio of it to what the target's terms accept. The target's own
//! bucket keeps the terms (`max_leakage`); a ratio above 1 says that buckets of
//! *other* members, made for weaker terms, raise the chance for an adversary
//! who does not know which bucket can be the target's.
//!
//! Both walk over the buckets of each row of a group once: (cells) × (values
//! in a bucket) steps, at most [`STEPS_MAX`]; beyond it the figures are those
//! of the groups looked at so far.

use crate::privacy::InBucket;

use super::Bucketized;
use crate::verify::classes::Classes;
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::verdict::{Check, Place, Section};
use crate::verify::view::View;

/// Steps after which broken tables get no more attention.
const STEPS_MAX: u64 = 1 << 28;

/// Running figures of both attacks.
#[derive(Debug, Default)]
struct Figures {
    cells: u64,
    rows_sum: u64,
    below_k: u64,
    least: Option<(u64, u64)>,
    largest_ratio: Option<(f64, u64)>,
    steps: u64,
}

/// The two entries of one attribute.
pub fn joint_knowledge(
    view: &View,
    alike: &EquivalenceClasses,
    bucketized: &Bucketized,
) -> [Check; 2] {
    let (attribute, classes) = (bucketized.attribute, &bucketized.classes);
    let mut figures = Figures::default();
    // Per code: rows of the group whose bucket holds it, and its chance.
    let mut held = vec![(0_u64, 0.0_f64); attribute.domain.len()];
    for class in 0..alike.len() {
        if figures.steps > STEPS_MAX {
            break;
        }
        let rows = alike.rows(class);
        spread_out(classes, rows, &mut held, &mut figures);
        collect(view, bucketized, rows, &held, &mut figures);
        clear(classes, rows, &mut held);
    }
    let cells = figures.cells.max(1) as f64;
    let partial = figures.steps > STEPS_MAX;
    let finish = |check: Check| {
        if partial {
            check.noting("groups beyond the limit of steps were not looked at")
        } else {
            check
        }
    };
    let joint = Check::new(Section::Attack, "joint_knowledge")
        .about(attribute.name)
        .attaining(
            figures.least.map(|(rows, _)| rows as f64),
            figures.least.map(|(_, group)| Place::Group(group)),
        )
        .with_figure("mean", figures.rows_sum as f64 / cells)
        .with_figure("share_below_k", figures.below_k as f64 / cells)
        .weighing(figures.cells);
    let leakage = Check::new(Section::Attack, "group_leakage")
        .about(attribute.name)
        .attaining(
            figures.largest_ratio.map(|(ratio, _)| ratio),
            figures.largest_ratio.map(|(_, group)| Place::Group(group)),
        );
    [finish(joint), finish(leakage)]
}

/// Adds what the buckets of a group's rows hold.
fn spread_out(classes: &Classes, rows: &[u32], held: &mut [(u64, f64)], figures: &mut Figures) {
    for &row in rows {
        let Some(bucket) = classes.members.class_of(row as usize) else {
            continue;
        };
        let size = classes.counts.sizes[bucket].max(1) as f64;
        let contents = classes.contents(bucket);
        figures.steps += contents.len() as u64;
        for &(code, count) in contents {
            let entry = &mut held[code as usize];
            entry.0 += 1;
            entry.1 += count as f64 / size;
        }
    }
}

/// Reads off the figures of each cell of a group.
fn collect(
    view: &View,
    bucketized: &Bucketized,
    rows: &[u32],
    held: &[(u64, f64)],
    figures: &mut Figures,
) {
    let (attribute, index) = (bucketized.attribute, bucketized.classes.index);
    let members = bucketized.classes.members;
    let in_bucket = |row: u32| members.class_of(row as usize).is_some();
    let all = rows.iter().filter(|&&row| in_bucket(row)).count() as u64;
    for &row in rows.iter().filter(|&&row| in_bucket(row)) {
        let (Some(terms), Some(code)) = (
            view.terms(row as usize),
            view.source(attribute, row as usize),
        ) else {
            continue;
        };
        let group = view.group[row as usize];
        let (holding, chances) = held[code as usize];
        let possible = if attribute.bucket.is_some() {
            holding
        } else {
            all
        };
        figures.cells += 1;
        figures.rows_sum += possible;
        figures.below_k += u64::from(possible < u64::from(view.requirements.policy().k.get()));
        if figures.least.is_none_or(|(least, _)| possible < least) {
            figures.least = Some((possible, group));
        }
        let accepted = match bucketized.protection {
            InBucket::Diversity { .. } => 1.0 / f64::from(terms.l[index.at()]),
            InBucket::Closeness { .. } => terms.max_share[index.at()].get(),
        };
        let ratio = chances / all as f64 / accepted;
        if figures.largest_ratio.is_none_or(|(most, _)| ratio > most) {
            figures.largest_ratio = Some((ratio, group));
        }
    }
}

/// Takes away what [`spread_out`] added, without touching the whole domain.
fn clear(classes: &Classes, rows: &[u32], held: &mut [(u64, f64)]) {
    for &row in rows {
        if let Some(bucket) = classes.members.class_of(row as usize) {
            for &(code, _) in classes.contents(bucket) {
                held[code as usize] = (0, 0.0);
            }
        }
    }
}
