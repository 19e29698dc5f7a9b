//! What is written reads back, however it is cut and by however many threads.

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::encode;
use super::strategies::any_table;
use crate::release::{
    CsvDecoder, Format, PIECE_BYTES_MAX, PublishedTable, TableDescription, Transcoder, decode_csv,
    decode_parquet,
};

/// The table in another format, transcoded from pieces of its CSV.
pub(super) fn transcode(
    description: &TableDescription,
    pieces: &[Vec<u8>],
    format: Format,
) -> Vec<u8> {
    let mut transcoder = Transcoder::new(description, format).unwrap();
    let mut out = Vec::new();
    for piece in pieces {
        transcoder.piece(piece, &mut out).unwrap();
    }
    transcoder.finish(&mut out).unwrap();
    out
}

fn from_memory(description: &TableDescription, table: &PublishedTable, format: Format) -> Vec<u8> {
    let mut transcoder = Transcoder::new(description, format).unwrap();
    let mut out = Vec::new();
    transcoder.rows(table, &mut out).unwrap();
    transcoder.finish(&mut out).unwrap();
    out
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(work)
}

proptest! {
    #[test]
    fn every_table_reads_back_from_csv(table in any_table(), piece_bytes in 1..400_usize) {
        let (description, pieces) = encode(&table, piece_bytes);
        // One thread reads several pieces in a row.
        for threads in [1, 4] {
            let read = with_threads(threads, || decode_csv(&description, &pieces));
            prop_assert_eq!(read, Ok(table.canonical()));
        }
        let digest = Sha256::digest(pieces.concat());
        prop_assert_eq!(crate::microdata::to_hex(&digest), description.sha256);
    }

    #[test]
    fn every_table_reads_back_from_parquet(table in any_table(), piece_bytes in 1..400_usize) {
        let (description, pieces) = encode(&table, piece_bytes);
        let file = transcode(&description, &pieces, Format::Parquet);
        prop_assert_eq!(decode_parquet(&description, file), Ok(table.canonical()));
        let file = from_memory(&description, &table, Format::Parquet);
        prop_assert_eq!(decode_parquet(&description, file), Ok(table.canonical()));
    }

    #[test]
    fn a_text_that_reads_is_the_only_text_of_its_table(table in any_table()) {
        let (description, pieces) = encode(&table, PIECE_BYTES_MAX);
        let read = decode_csv(&description, &pieces).unwrap();
        let (again, same) = encode(&read, PIECE_BYTES_MAX);
        prop_assert_eq!(again.sha256, description.sha256);
        prop_assert_eq!(same, pieces);
    }

    #[test]
    fn bytes_and_cuts_are_the_same_with_one_and_four_threads(
        table in any_table(), piece_bytes in 1..200_usize,
    ) {
        let one = with_threads(1, || encode(&table, piece_bytes));
        let four = with_threads(4, || encode(&table, piece_bytes));
        prop_assert_eq!(one, four);
    }

    #[test]
    fn a_piece_holds_whole_rows_and_no_more_bytes_than_asked(
        table in any_table(), piece_bytes in 1..400_usize,
    ) {
        let (description, pieces) = encode(&table, piece_bytes);
        let mut decoder = CsvDecoder::new(&description.columns);
        let mut rows = 0;
        for (position, piece) in pieces.iter().enumerate() {
            decoder.piece(piece).unwrap();
            let part = decoder.take("part").rows();
            prop_assert!(part > 0 || position == 0);
            prop_assert!(piece.len() <= piece_bytes || part <= 1);
            rows += part;
        }
        prop_assert_eq!(rows, table.rows());
    }

    #[test]
    fn ndjson_has_one_object_a_row_that_says_what_csv_says(table in any_table()) {
        // The reader that judges here would take it for a byte order mark.
        prop_assume!(!table.columns[0].name.starts_with('\u{feff}'));
        let (description, pieces) = encode(&table, 100);
        let text = transcode(&description, &pieces, Format::Ndjson);
        prop_assert_eq!(&text, &from_memory(&description, &table, Format::Ndjson));
        let text = String::from_utf8(text).unwrap();
        // A label may hold U+2028 and the like, but JSON escapes line feeds.
        let lines: Vec<&str> = text.split_terminator('\n').collect();
        prop_assert_eq!(lines.len(), table.rows());
        let csv = pieces.concat();
        let mut csv = csv::Reader::from_reader(csv.as_slice());
        for (line, record) in lines.iter().zip(csv.records()) {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            for (column, text) in table.columns.iter().zip(&record.unwrap()) {
                let value = match &object[&column.name] {
                    serde_json::Value::Null => String::new(),
                    serde_json::Value::String(text) => text.clone(),
                    number => number.to_string(),
                };
                prop_assert_eq!(value, text);
            }
        }
    }
}
