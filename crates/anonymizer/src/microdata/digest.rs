//! The digest of an upload's content.
//!
//! SHA-256 over the names of the attributes in schema order, then the
//! canonical text of every accepted cell, record by record in schema order;
//! each text behind its length (LEB128), each record behind the byte 0xFF. How the
//! records were written, in which format and in which order of columns, does
//! not change it. *Ours.*

use super::schema::Schema;
use super::sha256::Sha256;

/// Begins a record. The number of cells is fixed by the schema, so lengths
/// alone already tell records apart; the mark makes it plain.
const RECORD_MARK: u8 = 0xFF;

/// Writes what stands before a record.
#[inline]
pub(super) fn write_record(to: &mut Vec<u8>) {
    to.push(RECORD_MARK);
}

/// Writes the canonical text of a record's next cell.
#[inline]
pub(super) fn write_cell(to: &mut Vec<u8>, text: &[u8]) {
    let mut length = text.len();
    while length >= 0x80 {
        to.push(0x80 | (length & 0x7F) as u8);
        length >>= 7;
    }
    to.push(length as u8);
    to.extend_from_slice(text);
}

/// The digest of the content read so far.
pub(super) struct ContentDigest(Sha256);

impl ContentDigest {
    /// The digest of no record under `schema`.
    pub fn new(schema: &Schema) -> Self {
        let mut names = b"vizard records 1\n".to_vec();
        write_record(&mut names);
        for attribute in schema.attributes() {
            write_cell(&mut names, attribute.name.as_bytes());
        }
        let mut digest = Sha256::new();
        digest.update(&names);
        Self(digest)
    }

    /// More records, as [`write_record`] and [`write_cell`] wrote them.
    pub fn add(&mut self, records: &[u8]) {
        self.0.update(records);
    }

    /// The digest.
    pub fn finish(self) -> [u8; 32] {
        self.0.finish()
    }
}
