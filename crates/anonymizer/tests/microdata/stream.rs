//! A stream is read at constant memory: of a table of any length the reader
//! holds the open chunk, two batches and its window, and nothing else.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use vizard_anonymizer::microdata::chunk::{CHUNK_BYTES_MAX, CHUNK_RECORDS_MAX};
use vizard_anonymizer::microdata::{ChunkColumn, HierarchySet, RecordFormat, Schema};

use super::read;

/// Bytes of the window, and about as many of a batch.
const WINDOW_BYTES: u64 = 256 << 10;

/// Makes records as they are read, and counts them.
struct Records {
    made: Arc<AtomicU64>,
    last: u64,
    town_bytes: usize,
    open: Vec<u8>,
    at: usize,
}

impl Read for Records {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.open.len() {
            self.open.clear();
            self.at = 0;
            let number = self.made.load(Relaxed);
            if number == self.last {
                return Ok(0);
            }
            let town = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 500;
            let line = format!(
                "p{number},{},{town:0width$}\n",
                number % 90,
                width = self.town_bytes
            );
            self.open.extend_from_slice(line.as_bytes());
            self.made.store(number + 1, Relaxed);
        }
        let length = buffer.len().min(self.open.len() - self.at);
        buffer[..length].copy_from_slice(&self.open[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

fn schema(town: &str) -> Schema {
    let text = format!(
        r#"{{"name": "t", "subject_key": "id", "attributes": [
            {{"name": "id", "role": "identifier"}},
            {{"name": "age", "role": "quasi_identifier", "type": "integer"}},
            {{"name": "town", {town}}}]}}"#
    );
    serde_json::from_str(&text).expect("the schema is sound")
}

/// Reads `records` records and checks at every chunk that the reader is no
/// further ahead than the batch at hand, the next one and its window; the
/// number of chunks.
fn read_in_step(town: &str, town_bytes: usize, records: u64) -> usize {
    let made = Arc::new(AtomicU64::new(0));
    let input = Records {
        made: Arc::clone(&made),
        last: records,
        town_bytes,
        open: Vec::new(),
        at: 0,
    };
    let (mut seen, mut chunks) = (0, 0);
    let mut sink = |chunk: vizard_anonymizer::microdata::Chunk| {
        seen += chunk.records as u64;
        chunks += 1;
        assert!(chunk.records <= CHUNK_RECORDS_MAX);
        let bytes: usize = chunk.columns.iter().map(column_bytes).sum();
        assert!(
            bytes <= CHUNK_BYTES_MAX + (1 << 20),
            "{bytes} bytes in a chunk"
        );
        let line_bytes_min = town_bytes as u64 + 6;
        let ahead = made.load(Relaxed) - seen;
        assert!(
            ahead <= 4 * WINDOW_BYTES / line_bytes_min,
            "{ahead} records ahead"
        );
        Ok(())
    };
    let header = "id,age,town\n".as_bytes();
    let input = header.chain(input);
    let summary = read(
        &schema(town),
        &HierarchySet::new(),
        RecordFormat::Csv,
        input,
        &mut sink,
    );
    assert_eq!(summary.expect("the stream is sound").records, records);
    chunks
}

fn column_bytes(column: &ChunkColumn) -> usize {
    match column {
        ChunkColumn::Text(texts) => texts.text_bytes() + texts.len() * size_of::<usize>(),
        ChunkColumn::Integer(values) => values.len() * size_of::<i64>(),
        ChunkColumn::Decimal(values) => values.len() * size_of::<f64>(),
        ChunkColumn::Date(values) => values.len() * size_of::<i32>(),
        ChunkColumn::Category { labels, codes } => {
            labels.text_bytes() + (labels.len() + codes.len()) * size_of::<u32>()
        }
        ChunkColumn::WithMissing { known, missing } => {
            column_bytes(known) + missing.len() * size_of::<u32>()
        }
    }
}

#[test]
fn no_more_than_one_chunk_is_alive() {
    let town = r#""role": "sensitive", "type": "categorical""#;
    let chunks = read_in_step(town, 4, 200_000);
    assert_eq!(chunks, 200_000_usize.div_ceil(CHUNK_RECORDS_MAX));
}

#[test]
fn long_texts_close_a_chunk_before_its_records_do() {
    let chunks = read_in_step(r#""role": "identifier""#, 2000, 20_000);
    assert!(chunks >= 20_000 * 2000 / CHUNK_BYTES_MAX, "{chunks} chunks");
}
