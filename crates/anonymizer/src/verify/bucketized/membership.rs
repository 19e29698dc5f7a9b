//! Which cells are in which bucket, and whether that is as it must be.
//!
//! With `bucket_link: "row"` a row names the bucket of each of its cells, and
//! everything here is exact. What `"group"` publishes instead is read by
//! `links`, which hands back members of the same form.

use crate::verify::classes::{Counts, Members, same_multiset};
use crate::verify::coverage::is_least;
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::meaning::Meaning;
use crate::verify::verdict::{Check, Failures, Place};
use crate::verify::view::{AttributeView, NONE, View};
use crate::verify::wishes::{MASKED, Wishes, status};

/// The members as rows name them, with failures for numbers of no bucket.
pub(super) fn by_row(
    attribute: &AttributeView,
    buckets: &Counts,
    rows: usize,
) -> (Members, Failures) {
    let mut failures = Failures::none();
    let none = vec![0_u64; rows];
    let numbers = attribute.bucket.unwrap_or(&none);
    let positions = numbers.iter().enumerate().map(|(row, &number)| {
        if number == 0 {
            return NONE;
        }
        buckets.position(number).unwrap_or_else(|| {
            failures.add_at(attribute.name, Place::Row(row as u64 + 1));
            NONE
        })
    });
    let positions = positions.collect();
    (Members::of(positions, buckets.len()), failures)
}

/// `flagged_cells_in_one_bucket`: a flagged cell is in exactly one bucket and
/// shows nothing, or is masked and in none.
pub(super) fn flagged_cells(view: &View) -> Check {
    cells(
        view,
        "flagged_cells_in_one_bucket",
        |flagged, meaning, in_bucket| {
            !flagged
                || match meaning {
                    Meaning::Empty => in_bucket,
                    Meaning::Masked => !in_bucket,
                    _ => false,
                }
        },
    )
}

/// `unflagged_cells_in_no_bucket`: a cell that nobody flagged is published as
/// a quasi-identifier. In a bucket it would be a candidate that every
/// adversary can rule out.
pub(super) fn unflagged_cells(view: &View) -> Check {
    cells(
        view,
        "unflagged_cells_in_no_bucket",
        |flagged, meaning, in_bucket| flagged || (!in_bucket && *meaning != Meaning::Empty),
    )
}

/// `masks_where_wishes_differ`: an attribute is masked only for rows of which
/// some flagged it and some did not, where rows with the same attributes shown,
/// masked and in buckets are seen as one; or where `*` is what the group's
/// values have in common. A mask anywhere else would say something by itself.
pub(super) fn masks(view: &View, alike: &EquivalenceClasses) -> Check {
    let own;
    let wishes = match view.whole {
        Some(whole) => whole.wishes(),
        None => {
            let columns = view.protected();
            let columns = columns.map(|(index, attribute)| (index, &attribute.cells));
            own = Wishes::of(&columns.collect::<Vec<_>>(), view.rows(), |row| {
                view.terms(row)
            });
            &own
        }
    };
    let attributes: Vec<&AttributeView> = view.protected().map(|(_, own)| own).collect();
    let mut failures = Failures::none();
    for class in 0..alike.len() {
        let rows = alike.rows(class);
        let Some(pattern) = rows.first().map(|&row| pattern(&attributes, row as usize)) else {
            continue;
        };
        let masked = attributes.iter().enumerate();
        for (at, attribute) in masked.filter(|&(at, _)| pattern[at] == MASKED) {
            let codes = rows.iter();
            let codes = codes.filter_map(|&row| view.source(attribute, row as usize));
            if !wishes.differ(&pattern, at)
                && !is_least(attribute, &Meaning::Masked, &mut codes.collect())
            {
                let number = alike.group_number(view.group, class);
                failures.add_at(attribute.name, Place::Group(number));
            }
        }
    }
    Check::structure("masks_where_wishes_differ", &failures)
}

/// What a row does with each protectable attribute.
fn pattern(attributes: &[&AttributeView], row: usize) -> Vec<u8> {
    let cells = attributes.iter();
    cells
        .map(|attribute| status(attribute.cells.meaning(row)))
        .collect()
}

fn cells(view: &View, kind: &'static str, sound: impl Fn(bool, &Meaning, bool) -> bool) -> Check {
    let mut failures = Failures::none();
    for (index, attribute) in view.protected() {
        for row in 0..view.rows() {
            let Some(terms) = view.terms(row) else {
                continue;
            };
            let meaning = attribute.cells.meaning(row);
            // Where rows name no bucket, an empty cell is in one of its
            // group's; `group_buckets` is held against the number of them.
            let in_bucket = match attribute.bucket {
                Some(numbers) => numbers[row] != 0,
                None => *meaning == Meaning::Empty,
            };
            let flagged = terms.flags.contains(index);
            if !sound(flagged, meaning, in_bucket) {
                failures.add_at(attribute.name, Place::Row(row as u64 + 1));
            }
        }
    }
    Check::structure(kind, &failures)
}

/// `bucket_contents_match`: the published contents of each bucket are the
/// source values of its members, value by value.
pub(super) fn contents(view: &View, buckets: &[Counts], members: &[Members]) -> Failures {
    let mut failures = Failures::none();
    for (((_, attribute), buckets), members) in view.protected().zip(buckets).zip(members) {
        let mut codes: Vec<u32> = Vec::new();
        for bucket in 0..buckets.len() {
            codes.clear();
            let rows = members.rows(bucket).iter();
            codes.extend(rows.filter_map(|&row| view.source(attribute, row as usize)));
            codes.sort_unstable();
            if !same_multiset(&codes, buckets.contents(bucket)) {
                failures.add_at(attribute.name, Place::Bucket(bucket as u64 + 1));
            }
        }
    }
    failures
}
