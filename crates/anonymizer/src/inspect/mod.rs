//! What a file about people is, before anybody described it.
//!
//! [`inspect`] reads a file of CSV or NDJSON twice, as a stream: once for its
//! encoding and its signs or members, once for its columns; [`inspect_parquet`]
//! reads one of Parquet, which knows its columns, once. Then a schema is proposed
//! with reasons: a type and a role for each column, the dialect, and hierarchies
//! by rule. A proposal is a beginning that a person reads; it is never taken
//! unasked. *Ours.*

mod columns;
mod dialect;
mod draft;
mod forms;
mod given;
mod given_cells;
mod inspection;
mod measured;
mod names;
mod objects;
mod persons;
mod propose;
pub mod risk;
mod roles;
mod rules;
mod settle;

use std::io::{Read, Seek, SeekFrom};

use serde_json::Value;

use crate::microdata::{FileFormat, ParquetScan, Spill, TableError};
use dialect::Found;
use given::Given;

pub use inspection::{
    AttributeProposal, InspectError, InspectLimits, Inspection, RuleProposal, SensitiveCount,
};
pub use measured::{AttributeRisk, SmallSet};
pub use names::Meaning;

/// First bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// Whether a file is one of Parquet, by its first bytes; it is rewound.
///
/// # Errors
/// What the file answers.
pub fn is_parquet(file: &mut (impl Read + Seek)) -> std::io::Result<bool> {
    let mut head = Vec::new();
    let mut first = file.by_ref().take(PARQUET.len() as u64);
    first.read_to_end(&mut head)?;
    file.rewind()?;
    Ok(head == PARQUET)
}

/// Inspects a file of CSV or NDJSON; `name` becomes the dataset's, and `is_cut`
/// says that the file goes on behind what `input` holds, so that its last line may
/// be a part of one.
///
/// Memory: `limits.values_max` values of up to 256 bytes, `limits.unique_max`
/// hashes of 8 bytes and `limits.cells_max` of 4.
///
/// # Errors
/// [`InspectError::NoTable`] says what the file is instead of a table, and what
/// to do; [`InspectError::Table`] that it could not be read.
pub fn inspect(
    mut input: impl Read + Seek,
    (name, is_cut): (&str, bool),
    limits: &InspectLimits,
) -> Result<Inspection, InspectError> {
    let broken = |error: std::io::Error| TableError::Read(error.kind().to_string());
    if is_parquet(&mut input).map_err(broken)? {
        return Err(InspectError::NoTable(
            "the file is one of Parquet, whose end says what its columns are: the whole of it is \
             needed"
                .into(),
        ));
    }
    let is_json = is_json(&mut input).map_err(broken)?;
    let found = if is_json {
        objects::find(&mut input, limits)?
    } else {
        dialect::find(&mut input, limits)?
    };
    input.rewind().map_err(broken)?;
    let columns = columns::read(
        |each| {
            if is_json {
                objects::scan(input, (&found.header, limits), each)
            } else {
                let dialect = (&found.format, limits.read.record_bytes_max);
                dialect::scan(input, dialect, each)
            }
        },
        (&found.givens, is_cut),
        limits,
    )?;
    propose::propose((name, is_cut), found, columns)
}

/// Whether a file begins as an object of JSON does; it is rewound.
///
/// # Errors
/// What the file answers.
pub fn is_json(input: &mut (impl Read + Seek)) -> std::io::Result<bool> {
    let mut head = Vec::new();
    input.by_ref().take(1 << 10).read_to_end(&mut head)?;
    input.seek(SeekFrom::Start(0))?;
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    Ok(text.trim_ascii_start().first() == Some(&b'{'))
}

/// Inspects a whole file of Parquet; `name` becomes the dataset's, and `room`
/// takes the cells of one row group at a time.
///
/// Memory: as [`inspect`], and what [`read_parquet_records`] takes of a file.
///
/// # Errors
/// [`InspectError::NoTable`] says what to do about a file that is no table;
/// [`InspectError::Table`] that it is no file of Parquet, or more than is read.
///
/// [`read_parquet_records`]: crate::microdata::read_parquet_records
pub fn inspect_parquet<F: Read + Seek + Send + 'static>(
    file: F,
    name: &str,
    room: &mut dyn Spill,
    limits: &InspectLimits,
) -> Result<Inspection, InspectError> {
    let scan = ParquetScan::open(file, limits.read, limits.columns_max)?;
    let columns = scan.columns.clone();
    let givens: Vec<Given> = columns.iter().map(|column| column.kind.into()).collect();
    let unread = columns.iter().zip(&givens);
    let unread = unread.filter_map(|(column, given)| {
        let why = given.unread().filter(|_| !column.name.is_empty())?;
        Some(format!("{}: {why}", column.name))
    });
    let found = Found {
        format: FileFormat::default(),
        evidence: vec![format!(
            "Parquet: {} columns, records in {} row groups",
            columns.len(),
            scan.row_groups()
        )],
        questions: unread.collect(),
        header: columns.iter().map(|column| column.name.clone()).collect(),
        malformed: "cannot be read",
        givens,
    };
    let givens = (found.givens.as_slice(), false);
    let columns = columns::read(|each| scan.rows(room, each), givens, limits)?;
    propose::propose((name, false), found, columns)
}

/// The JSON of an inspection.
pub fn document(inspection: &Inspection) -> Value {
    // Names, numbers and rules: writing them cannot fail.
    serde_json::to_value(inspection).unwrap_or(Value::Null)
}
