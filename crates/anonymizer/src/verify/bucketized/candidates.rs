//! `candidates_remain`: after ruling out what cannot be, every cell in a
//! bucket keeps at least l candidate values (two under t-closeness).
//!
//! What the adversary of trust.md can rule out, knowing every public value of
//! everyone, everyone's flags and who is in the table:
//! 1. *A value that belongs to somebody else.* If a cell in the bucket is not
//!    flagged, its value is public, and one occurrence of it leaves the bucket
//!    for everyone else. This is why an unflagged value must never be put into
//!    a bucket to fill it up.
//! 2. *A value that the row's own cell excludes.* If the column shows a value
//!    beside the bucket, only what it covers stays. The design allows no such
//!    cell; here it counts as no candidate at all.
//! 3. *A row that cannot be the target's.* Rows that look like the target's
//!    are not told apart, so its candidates are those of all buckets of its
//!    group: never fewer than those of its own bucket, which are counted here.
//! 4. *An assignment that contradicts another.* Any order of a bucket's values
//!    over its flagged members is possible, since nothing published depends
//!    on the order; no further value falls.
//!
//! So the candidates are the distinct values of the bucket that remain after
//! 1 and 2.

use crate::privacy::InBucket;

use super::Bucketized;
use crate::verify::meaning::Meaning;
use crate::verify::verdict::{Check, Failures, Section};
use crate::verify::view::View;

/// The check over all attributes: attained is the least number of candidates.
pub(super) fn candidates_remain(view: &View, bucketized: &[Bucketized]) -> Check {
    let mut failures = Failures::none();
    let mut least: Option<u64> = None;
    for parts in bucketized {
        let (classes, index) = (&parts.classes, parts.classes.index);
        for class in 0..classes.len() {
            let remaining = remaining(view, parts, class);
            for &row in classes.members.rows(class) {
                let Some(terms) = view.terms(row as usize) else {
                    continue;
                };
                if !terms.flags.contains(index) {
                    continue;
                }
                let hidden = *parts.attribute.cells.meaning(row as usize) == Meaning::Empty;
                let candidates = if hidden { remaining } else { 0 };
                let wanted = match parts.protection {
                    InBucket::Diversity { .. } => u64::from(terms.l[index.at()]),
                    InBucket::Closeness { .. } => 2,
                };
                if candidates < wanted {
                    failures.add_at(classes.name, classes.place(class));
                }
                least = Some(least.map_or(candidates, |least| least.min(candidates)));
            }
        }
    }
    let check = Check::structure("candidates_remain", &failures);
    Check {
        section: Section::Structure,
        claimed: None,
        attained: least.map(|least| least as f64),
        ..check
    }
    .with_figure("cells_below_l", failures.count as f64)
}

/// Distinct values of a bucket once those of its unflagged members are gone.
fn remaining(view: &View, parts: &Bucketized, class: usize) -> u64 {
    let public = parts.classes.members.rows(class).iter().filter_map(|&row| {
        let terms = view.terms(row as usize)?;
        let is_flagged = terms.flags.contains(parts.classes.index);
        (!is_flagged).then(|| view.source(parts.attribute, row as usize))?
    });
    let mut public: Vec<u32> = public.collect();
    public.sort_unstable();
    let known = |code: u32| {
        let first = public.partition_point(|&other| other < code);
        let end = public.partition_point(|&other| other <= code);
        (end - first) as u64
    };
    let contents = parts.classes.contents(class).iter();
    contents
        .filter(|&&(code, count)| count > known(code))
        .count() as u64
}
