//! Tests of the wire forms over whole tables, and the random tables for them.

mod corruption;
mod formats;
mod round_trip;
pub(super) mod strategies;

use super::{PublishedTable, TableDescription, encode_csv};

/// The CSV of a table in pieces, with its description.
fn encode(table: &PublishedTable, piece_bytes: usize) -> (TableDescription, Vec<Vec<u8>>) {
    let mut pieces = Vec::new();
    let summary = encode_csv(table, piece_bytes, &mut |bytes, _| pieces.push(bytes));
    (TableDescription::of(table, &summary), pieces)
}
