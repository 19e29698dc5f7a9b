//! The canonical form of a published table: CSV.
//!
//! UTF-8, LF, a header row, RFC 4180 quoting only where it is needed, and
//! each cell in its one text form; so a table has exactly one CSV text, its
//! SHA-256 (in the manifest) names the table, and nothing can hide in the way
//! it is written. [`encode_csv`] cuts the text into pieces at row boundaries;
//! [`CsvDecoder`] reads pieces back and takes no other text than the encoder
//! writes. Both work per *distinct* cell: a text is made or parsed once.

mod column;
mod read;
mod scan;
mod write;

#[cfg(test)]
mod tests;

pub(super) use column::{ColumnReader, read_number};
pub use read::{CsvDecoder, PieceText, decode_csv};
pub(super) use scan::{End, Scanner};
pub use write::{CsvEncoder, CsvSummary, encode_csv};
pub(super) use write::{write_field, write_spreadsheet_safe};

/// Bytes of CSV in a stored piece, at most, unless one row is longer.
pub const PIECE_BYTES_MAX: usize = 4 << 20;
