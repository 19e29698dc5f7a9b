//! `columns_sorted`: rows of a sliced table stand bucket by bucket, and inside
//! each bucket every column is sorted for itself, its attributes from the
//! left. So rows put nothing together that the buckets do not.

use rayon::prelude::*;

use super::declared::Declared;
use crate::verify::evidence::Evidence;
use crate::verify::order::{Ordered, compare_rows};
use crate::verify::shape::{ExpectedTable, SLICED};
use crate::verify::verdict::{Check, Failures, Place};
use crate::verify::view::find;

/// The check; columns that cannot be read are left to the checks that name
/// them.
pub(super) fn columns_sorted(
    evidence: &Evidence,
    declared: &Declared,
    expected: &ExpectedTable,
) -> Check {
    let mut failures = Failures::none();
    let Some(table) = evidence.published(SLICED) else {
        return Check::structure("columns_sorted", &failures);
    };
    let read = |at: usize| Ordered::of(find(table, &expected.columns, at)?);
    let mut at = 1 + declared.generalized.len();
    for column in &declared.columns {
        let places = std::iter::once(0).chain(at..at + column.len());
        at += column.len();
        let Some(columns) = places.map(read).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let rows = (1..table.rows()).into_par_iter();
        let wrong = rows.filter(|&row| compare_rows(&columns, row - 1, row).is_gt());
        for row in wrong.collect::<Vec<_>>() {
            failures.add_at(SLICED, Place::Row(row as u64 + 1));
        }
    }
    Check::structure("columns_sorted", &failures)
}
