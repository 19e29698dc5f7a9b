//! What a file about people is, before anybody described it.
//!
//! [`inspect`] reads a CSV file twice, as a stream: once for its encoding and
//! its signs, once for its columns. Then it proposes a schema with reasons: a
//! type and a role for each column, the dialect, and hierarchies by rule. A
//! proposal is a beginning that a person reads; it is never taken unasked.
//! *Ours.*

mod columns;
mod dialect;
mod draft;
mod forms;
mod inspection;
mod measured;
mod names;
mod propose;
pub mod risk;
mod roles;
mod rules;
mod settle;

use std::io::{Read, Seek};

use serde_json::Value;

pub use inspection::{
    AttributeProposal, InspectError, InspectLimits, Inspection, RuleProposal, SensitiveCount,
};
pub use measured::{AttributeRisk, SmallSet};
pub use names::Meaning;

/// Inspects a CSV file; `name` becomes the dataset's, and `is_cut` says that
/// the file goes on behind what `input` holds, so that its last line may be a
/// part of one.
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
    let found = dialect::find(&mut input, limits)?;
    let columns = columns::read(input, (&found, is_cut), limits)?;
    propose::propose((name, is_cut), found, columns)
}

/// The JSON of an inspection.
pub fn document(inspection: &Inspection) -> Value {
    // Names, numbers and rules: writing them cannot fail.
    serde_json::to_value(inspection).unwrap_or(Value::Null)
}
