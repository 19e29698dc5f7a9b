//! Blocks against their source, and rows in no order.
//!
//! - `block_contents_match`: the published values of each block are the source
//!   values of its rows, value by value.
//! - `row_order_independent`: as of microdata; the order of rows says nothing
//!   of the source or of any attribute, published here or not.

use rayon::prelude::*;

use super::super::membership::same_multiset;
use super::super::row_order::{ROWS_MIN, of_orders, spearman};
use super::super::verdict::{Check, Failures, Place};
use super::super::view::NONE;
use super::view::QuasiView;

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

/// `row_order_independent` of `quasi`.
pub(super) fn row_order_independent(view: &QuasiView) -> Check {
    let records = view.records.iter().copied();
    let records: Vec<u32> = records.filter(|&record| record != NONE).collect();
    if records.len() < ROWS_MIN {
        return of_orders(records.len(), &[]);
    }
    let plain = view.attributes.iter();
    let plain = plain.map(|attribute| (attribute.name, attribute.source, attribute.domain));
    let blocks = view.blocks.iter();
    let blocks = blocks.map(|block| (block.name, block.source, block.domain));
    let columns: Vec<_> = plain.chain(blocks).collect();
    let order = spearman(records.iter().copied(), view.table.records());
    let mut found = vec![(None, order)];
    found.par_extend(columns.into_par_iter().map(|(name, source, domain)| {
        let codes = records.iter().map(|&record| source.at(record as usize));
        (Some(name), spearman(codes, domain.len()))
    }));
    of_orders(records.len(), &found)
}
