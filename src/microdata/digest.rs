//! The digest of an upload's content.
//!
//! SHA-256 over the names of the attributes in schema order, then the
//! canonical text of every accepted cell, record by record in schema order;
//! each text behind its length (LEB128), each record behind the byte 0xFF. How the
//! records were written, in which format and in which order of columns, does
//! not change it. *Ours.*

use sha2::{Digest, Sha256};

use super::schema::Schema;

const BUFFER_BYTES: usize = 32 << 10;
/// Begins a record. The number of cells is fixed by the schema, so lengths
/// alone already tell records apart; the mark makes it plain.
const RECORD_MARK: u8 = 0xFF;

/// The digest of the content read so far.
pub(super) struct ContentDigest {
    hash: Sha256,
    buffer: Vec<u8>,
}

impl ContentDigest {
    /// The digest of no record under `schema`.
    pub fn new(schema: &Schema) -> Self {
        let mut digest = Self {
            hash: Sha256::new(),
            buffer: Vec::with_capacity(BUFFER_BYTES * 2),
        };
        digest.hash.update(b"vizard records 1\n");
        digest.record();
        for attribute in schema.attributes() {
            digest.cell(attribute.name.as_bytes());
        }
        digest
    }

    /// A record begins.
    #[inline]
    pub fn record(&mut self) {
        if self.buffer.len() >= BUFFER_BYTES {
            self.hash.update(&self.buffer);
            self.buffer.clear();
        }
        self.buffer.push(RECORD_MARK);
    }

    /// The canonical text of the record's next cell.
    #[inline]
    pub fn cell(&mut self, text: &[u8]) {
        let mut length = text.len();
        while length >= 0x80 {
            self.buffer.push(0x80 | (length & 0x7F) as u8);
            length >>= 7;
        }
        self.buffer.push(length as u8);
        self.buffer.extend_from_slice(text);
    }

    /// The digest.
    pub fn finish(mut self) -> [u8; 32] {
        self.hash.update(&self.buffer);
        self.hash.finalize().into()
    }
}
