//! Records that come as parts of records: several tables about one subject,
//! joined by its key.
//!
//! A hospital has one row a person in one table and many in another. Joined by
//! hand they are one file of records; here they are read as they are. In this
//! order:
//!
//! 1. `mapping` says which table gives which attribute; `path` finds values in
//!    FHIR's resources, and `resources` names those that nobody mapped.
//! 2. `gather` reads the parts one after the other, in any order, and keeps
//!    their rows in `room` beside the memory, with a hash a subject in it.
//! 3. `joined` hands on each row of the table of many rows, with the rows that
//!    its subject has in the other tables, then the subjects who have none.
//!
//! From there rows go the way of every format: the digest is that of the joined
//! file. What is wrong with a cell is told once, by the line that it stands on
//! and the part that the line is of.

mod gather;
mod joined;
mod key;
mod mapping;
mod path;
mod resources;
mod room;

use std::io::Read;

pub use mapping::Mapping;

use super::chunk::Sink;
use super::error::TableError;
use super::intake::Intake;
use super::limits::Target;
use super::records::{RecordFormat, take_rows};
use super::row::ReadSummary;
use super::spill::Spill;
use super::subjects::SubjectKeys;
use gather::Gather;
use joined::Joined;
use key::Keys;
use mapping::Plan;

/// Of so many rows of a table, one may be of an unknown subject: 5 %. More are
/// rather keys that are written in two ways.
const READ_PER_UNKNOWN_MIN: u64 = 20;
/// Parts that records may come in.
const PARTS_MAX: u32 = 10_000;

/// One part.
pub struct Part<'p> {
    /// What it is called, where it is: the name of a table of the mapping.
    pub name: Option<&'p str>,
    /// The form that it is written in.
    pub format: RecordFormat,
    /// Its bytes.
    pub input: &'p mut dyn Read,
}

/// Parts, one after the other.
pub trait Parts {
    /// The next part, whether or not the one before was read to its end.
    ///
    /// # Errors
    /// What keeps it from being read.
    fn next_part(&mut self) -> Result<Option<Part<'_>>, TableError>;
}

/// What one table brought.
///
/// A row of an unknown subject is left out only where the mapping says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCount {
    /// Its name in the mapping; `part 2` and the like without one.
    pub table: String,
    /// Rows read.
    pub rows: u64,
    /// Rows left out because nobody knows their subject.
    pub unknown_subjects: u64,
}

/// What parts brought beside records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartsSummary {
    /// The tables, in the order in which they are joined.
    pub tables: Vec<TableCount>,
    /// Resources that the mapping does not name: their type, one of a closed
    /// list, and how many there are.
    pub other_resources: Vec<(&'static str, u64)>,
}

impl PartsSummary {
    /// The first table of whose rows more than 5 % were left out because nobody
    /// knows their subject: somebody has to say that this is meant.
    pub fn loses_many(&self) -> Option<&TableCount> {
        let loses = |table: &&TableCount| {
            table.unknown_subjects.saturating_mul(READ_PER_UNKNOWN_MIN) > table.rows
        };
        self.tables.iter().find(loses)
    }
}

/// Reads parts to their end, joins them and yields the records in chunks to
/// `sink`.
///
/// `room` takes the rows of all parts, packed; `subjects` and `sink` are those
/// of [`read_records`](super::read_records). Memory: what that one takes, one
/// row of each table, and 25 bytes for each row of a table of one row a subject.
///
/// # Errors
/// [`TableError::Parts`] says what does not fit: a mapping, or tables that
/// cannot be joined. [`TableError::Cells`] lists what is wrong with lines.
pub fn read_parts(
    parts: &mut dyn Parts,
    mapping: Option<&Mapping>,
    (target, room): (&Target<'_>, &mut dyn Spill),
    subjects: &mut SubjectKeys<'_>,
    sink: &mut Sink<'_>,
) -> Result<(ReadSummary, PartsSummary), TableError> {
    let schema = target.schema;
    if schema.has_row_keys() {
        return Err(TableError::Parts(
            "tables are joined by a subject key: a number of a row names nobody in another table"
                .into(),
        ));
    }
    let plan = match mapping {
        Some(mapping) => mapping.plan(schema)?,
        None => Plan::of_headers(),
    };
    let keys = Keys::new(schema, subjects.hasher());
    let mut intake = Intake::new(target, subjects)?;
    let mut gather = Gather::new((plan, keys), target, room);
    let mut number = 0;
    while let Some(part) = parts.next_part()? {
        number += 1;
        if number > PARTS_MAX {
            let what = format!("more than {PARTS_MAX}");
            return Err(TableError::Parts(what));
        }
        gather.take(number, part, &mut intake)?;
    }
    let Some(gathered) = gather.finish(&mut intake)? else {
        intake.finish(sink)?;
        return Err(TableError::Parts("nothing was read".into()));
    };
    let mut joined = Joined::new(gathered, target);
    intake.joins(joined.tables_of_attributes());
    let columns: Vec<usize> = (0..schema.attributes().len()).collect();
    let columns = (columns.as_slice(), columns.len());
    take_rows(&mut joined, columns, (target, sink), &mut intake)?;
    let (tables, other_resources) = joined.counts();
    let summary = intake.finish(sink)?;
    Ok((
        summary,
        PartsSummary {
            tables,
            other_resources,
        },
    ))
}

#[cfg(test)]
mod tests;
