//! Blocks against their source.
//!
//! `block_contents_match`: the published values of each block are the source
//! values of its rows, value by value.

use super::view::QuasiView;
use crate::verify::classes::same_multiset;
use crate::verify::verdict::{Check, Failures, Place};
use crate::verify::view::NONE;

/// `block_contents_match`.
pub(super) fn match_source(view: &QuasiView) -> Check {
    let mut failures = Failures::none();
    let mut codes: Vec<u32> = Vec::new();
    for block in &view.blocks {
        for at in 0..block.blocks.len() {
            codes.clear();
            let records = block.members.rows(at).iter();
            let records = records.map(|&row| view.records[row as usize]);
            let known = records.filter(|&record| record != NONE);
            codes.extend(known.map(|record| block.source.at(record as usize)));
            codes.sort_unstable();
            if !same_multiset(&codes, block.blocks.contents(at)) {
                failures.add_at(block.name, Place::Bucket(at as u64 + 1));
            }
        }
    }
    Check::structure("block_contents_match", &failures)
}
