//! Bytes that are not a table are refused; none makes a reader panic.

use std::sync::Arc;

use proptest::prelude::*;

use super::encode;
use super::round_trip::transcode;
use super::strategies::any_table;
use crate::microdata::{Schema, Table, TableColumn, TextColumn};
use crate::release::{
    Format, Lineage, PublishedTable, TableDescription, WireFault, decode_csv, decode_parquet,
};

/// What to do to a byte of a file: where (share of the length), which.
fn change() -> impl Strategy<Value = (f64, u8, bool)> {
    (0.0..1.0, any::<u8>(), any::<bool>())
}

fn spoil(bytes: &[u8], changes: &[(f64, u8, bool)]) -> Vec<u8> {
    let mut spoilt = bytes.to_vec();
    for &(place, byte, cut) in changes {
        let at = (place * spoilt.len() as f64) as usize;
        match spoilt.get_mut(at) {
            Some(_) if cut => {
                spoilt.remove(at);
            }
            Some(held) => *held = byte,
            None => spoilt.push(byte),
        }
    }
    spoilt
}

/// Reads CSV as far as its text goes, whatever the manifest's figures say.
fn read_text(description: &TableDescription, bytes: &[u8]) -> Option<PublishedTable> {
    let mut decoder = crate::release::CsvDecoder::new(&description.columns);
    decoder.piece(bytes).ok()?;
    decoder.finish(&description.name).ok()
}

proptest! {
    #[test]
    fn spoilt_csv_is_refused_or_says_exactly_what_it_says(
        table in any_table(), changes in prop::collection::vec(change(), 1..4),
    ) {
        let (description, pieces) = encode(&table, usize::MAX);
        let good = pieces.concat();
        let spoilt = spoil(&good, &changes);
        prop_assume!(spoilt != good);
        prop_assert!(decode_csv(&description, [&spoilt]).is_err());
        if let Some(read) = read_text(&description, &spoilt) {
            prop_assert_eq!(encode(&read, usize::MAX).1.concat(), spoilt);
        }
    }

    #[test]
    fn random_bytes_are_no_table(
        table in any_table(), bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let (description, pieces) = encode(&table, usize::MAX);
        prop_assume!(pieces.concat() != bytes);
        prop_assert!(decode_csv(&description, [&bytes]).is_err());
        prop_assert!(decode_parquet(&description, bytes).is_err());
    }

    #[test]
    fn spoilt_parquet_is_refused_or_reads_as_a_table(
        table in any_table(), changes in prop::collection::vec(change(), 1..4),
    ) {
        let (description, pieces) = encode(&table, usize::MAX);
        let file = spoil(&transcode(&description, &pieces, Format::Parquet), &changes);
        if let Ok(read) = decode_parquet(&description, file) {
            prop_assert_eq!(read.rows() as u64, description.rows);
            prop_assert_eq!(read.canonical(), read);
        }
    }

    #[test]
    fn random_bytes_are_no_lineage(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let table = people(&["a", "b"]);
        let text = [b"table,row,subject\n".as_slice(), &bytes].concat();
        let read = Lineage::from_csv(&text, &table);
        prop_assert!(bytes.is_empty() || read.is_err());
        prop_assert!(Lineage::from_csv(&bytes, &table).is_err());
    }
}

fn people(keys: &[&str]) -> Table {
    let schema: Schema = serde_json::from_value(serde_json::json!({
        "name": "people",
        "subject_key": "id",
        "attributes": [{"name": "id", "role": "identifier"}],
    }))
    .unwrap();
    let keys = keys.iter().copied().collect();
    let columns = vec![TableColumn::Identifier(TextColumn::new())];
    Table::new(Arc::new(schema), columns, keys, Vec::new())
}

#[test]
fn a_description_without_columns_reads_nothing() {
    let description = TableDescription {
        name: "none".into(),
        rows: 0,
        sha256: String::new(),
        columns: Vec::new(),
    };
    let error = decode_csv(&description, [b"\n"]).unwrap_err();
    assert_eq!(error.fault, WireFault::ColumnsDiffer);
}
