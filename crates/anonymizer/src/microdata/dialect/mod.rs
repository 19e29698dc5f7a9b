//! Dialects: how a text file of a dataset is written.
//!
//! A schema's `format` says it ([`FileFormat`]), an attribute's own for its
//! cells ([`CellFormat`]). Bytes become UTF-8 before anything is looked for in
//! them ([`decode`]), and cells become canonical text before anything is
//! checked ([`cell_rules`]), so that everything behind knows one form, and a
//! file in any dialect has the digest of the same table in the canonical one.

mod cell_reader;
pub(super) mod cell_rules;
mod date_format;
pub(super) mod decode;
mod file_format;

pub use cell_reader::{CellReader, CellValue};
pub use date_format::{DateFormat, DatePattern};
pub(super) use file_format::or_default;
pub use file_format::{CellFormat, DecimalSign, Encoding, FileFormat, Quote, Thousands};
