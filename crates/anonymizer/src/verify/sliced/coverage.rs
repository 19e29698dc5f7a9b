//! What the cells of attributes say that are generalized over buckets.
//!
//! - `cells_cover_their_source`: the interval, node or set holds the value of
//!   each record of the bucket.
//! - `cells_span_their_group`: it is the least of its kind that does: ends
//!   that came from elsewhere could tell of a record that was left out.

use crate::microdata::Code;

use super::view::{Appearance, SlicedView};
use crate::verify::meaning::{Meaning, least_of_numbers};
use crate::verify::verdict::{Check, Failures, Place};

/// The two checks.
pub(super) fn cells(view: &SlicedView) -> [Check; 2] {
    let (mut cover, mut span) = (Failures::none(), Failures::none());
    for attribute in &view.generalized {
        for row in 0..view.rows() {
            let code = view
                .record(row)
                .map(|record| attribute.source.at(record as usize));
            if code.is_some_and(|code| !attribute.cells.meaning(row).covers(code)) {
                cover.add_at(attribute.name, Place::Row(row as u64 + 1));
            }
        }
        for bucket in 0..view.buckets.len() {
            if !is_least(view, attribute, bucket) {
                let place = Place::Bucket(view.bucket_number(bucket));
                span.add_at(attribute.name, place);
            }
        }
    }
    [
        Check::structure("cells_cover_their_source", &cover),
        Check::structure("cells_span_their_group", &span),
    ]
}

/// Whether no narrower cell covers all records of a bucket.
fn is_least(view: &SlicedView, attribute: &Appearance, bucket: usize) -> bool {
    let rows = view.buckets.rows(bucket);
    let records = rows.iter().filter_map(|&row| view.record(row as usize));
    let mut codes: Vec<u32> = records
        .map(|record| attribute.source.at(record as usize))
        .collect();
    codes.sort_unstable();
    codes.dedup();
    let (Some(&first), Some(&low), Some(&high)) = (rows.first(), codes.first(), codes.last())
    else {
        return true;
    };
    if let Some(Code(missing)) = attribute.domain.missing_number() {
        let least = least_of_numbers(codes.iter().copied(), missing);
        return *attribute.cells.meaning(first as usize) == least;
    }
    let hierarchy = attribute.domain.hierarchy();
    match (attribute.cells.meaning(first as usize), hierarchy) {
        // The root labelled `*` reads as masked.
        (Meaning::Masked, Some(hierarchy)) if !attribute.domain.is_numeric() => {
            let node = hierarchy.node(hierarchy.common_ancestor(Code(low), Code(high)));
            node.leaf_count as usize == attribute.domain.len()
        }
        (Meaning::Values(values), None) => *values == codes,
        (Meaning::Span { first, last }, Some(hierarchy)) if !attribute.domain.is_numeric() => {
            let node = hierarchy.node(hierarchy.common_ancestor(Code(low), Code(high)));
            (Code(*first), Code(*last)) == (node.first_leaf, node.last_leaf())
        }
        (Meaning::Span { first, last }, _) => (*first, *last) == (low, high),
        _ => false,
    }
}
