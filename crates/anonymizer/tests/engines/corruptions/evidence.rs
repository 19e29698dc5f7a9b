//! The one place that hands corrupted releases to the verifier.
//!
//! A corrupted table is written down and read back as anyone would read it,
//! and a corrupted manifest is read from its text: what cannot be read is
//! refused, and so caught. A field that the evidence gains is added here and
//! in `case.rs`, and nowhere in the corruptions.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use vizard_anonymizer::release::{
    Manifest, PIECE_BYTES_MAX, TableDescription, decode_csv, encode_csv, rounded_to_tens,
};

use crate::case::Case;

/// Whether the verifier accepts the release.
pub fn is_accepted(case: &Case) -> bool {
    let Some(read) = read_back(case) else {
        return false;
    };
    read.verdict().holds()
}

/// Whether the verifier accepts the release with a manifest of this text.
pub fn is_accepted_with(case: &Case, manifest: &Value) -> bool {
    let text = manifest.to_string();
    let Ok(manifest) = serde_json::from_str::<Manifest>(&text) else {
        return false;
    };
    let mut case = case.clone();
    case.manifest = manifest;
    case.verdict().holds()
}

/// The manifest as a document.
pub fn document(case: &Case) -> Value {
    serde_json::to_value(&case.manifest).expect("a manifest is a document")
}

/// What a reader of the published tables sees.
pub fn text(case: &Case) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for table in &case.tables {
        all.push(table.name.clone().into_bytes());
        let mut keep = |piece, _| all.push(piece);
        encode_csv(table, PIECE_BYTES_MAX, &mut keep);
    }
    all
}

/// The tables as they are read from their text; none if some cannot be.
fn read_back(case: &Case) -> Option<Case> {
    let mut read = case.clone();
    for (at, table) in case.tables.iter().enumerate() {
        let mut pieces: Vec<Vec<u8>> = Vec::new();
        let mut keep = |piece, _| pieces.push(piece);
        let summary = encode_csv(table, PIECE_BYTES_MAX, &mut keep);
        let description = TableDescription::of(table, &summary);
        read.tables[at] = decode_csv(&description, &pieces).ok()?;
    }
    Some(read)
}

/// Puts rows and numbers into the order in which an engine publishes them,
/// after their content was changed: the corruption is then in the content
/// alone. Tables that are too broken to be put in order stay as they are.
pub fn restore_order(case: &mut Case) {
    let mut restored = case.clone();
    let put = AssertUnwindSafe(|| restored.put_in_order());
    if catch_unwind(put).is_ok() {
        *case = restored;
    }
}

/// Tells in the manifest how many records were left out, as an engine would.
pub fn count_excluded(case: &mut Case) {
    let left_out = case.table.subjects() - case.rows();
    case.manifest.excluded = rounded_to_tens(left_out as u64);
}
