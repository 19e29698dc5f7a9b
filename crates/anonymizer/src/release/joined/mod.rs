//! A microdata-shaped release with its buckets joined to its rows.
//!
//! Measures and queries ask the same things of decoded tables: which cell a
//! row publishes, and where that cell is empty, which bucketized values may be
//! behind it. [`JoinedTable`] answers both as dense codes and runs of counts,
//! for either way of linking: a bucket number per row, or a multiset of
//! buckets per group. It reads the release alone, never an original table.
//!
//! A release that does not fit together (a bucket that no row of `buckets`
//! describes, columns of unlike length) is an error here, so that nothing
//! above has to look twice. Listed blocks are buckets by another name: of the
//! tables `quasi` and `sensitive` every sensitive cell is in one. A release
//! with one row a subject has no buckets; [`JoinedTable::of_persons`] reads it
//! into the same shape.

mod blocks;
mod buckets;
mod signature;

pub use buckets::{Buckets, Link};
pub use signature::Signatures;

use std::borrow::Cow;

use crate::microdata::{AttributeType, Codes};

use super::cell::Cell;
use super::layout::{BUCKETS, GROUP_BUCKETS, MICRODATA, PERSONS, QUASI, SECOND_SUFFIX, SLICED};
use super::table::{Cells, Content, PublishedColumn, PublishedTable};

/// Why published tables do not fit together; names the table, never a cell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("table `{table}`: {reason}")]
pub struct JoinError {
    /// The table at fault.
    pub table: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl JoinError {
    pub(super) fn new(table: &str, reason: &'static str) -> Self {
        Self {
            table: table.into(),
            reason,
        }
    }
}

/// The row-bearing table of a release, with its buckets.
#[derive(Clone, Debug)]
pub struct JoinedTable<'a> {
    name: &'static str,
    rows: usize,
    /// The published group of each row, where rows have one.
    groups: Option<&'a [u64]>,
    attributes: Vec<JoinedAttribute<'a>>,
}

/// One attribute of a [`JoinedTable`].
#[derive(Clone, Debug)]
pub struct JoinedAttribute<'a> {
    /// Name of the attribute.
    pub name: &'a str,
    /// What its values are.
    pub kind: AttributeType,
    /// [`Content::Generalized`], [`Content::Exact`] or, of persons,
    /// [`Content::Fingerprint`].
    pub content: Content,
    /// Position in `cells` of each row's cell.
    pub codes: Cow<'a, Codes>,
    /// The cells that occur.
    pub cells: &'a [Cell],
    /// Its buckets, where it has any.
    pub buckets: Option<Buckets<'a>>,
}

impl<'a> JoinedTable<'a> {
    /// Joins the tables of a release.
    ///
    /// Expects a table `microdata`; `buckets` and `group_buckets` where
    /// attributes are bucketized; or else `quasi` and `sensitive`. Time is
    /// linear in the rows of all tables.
    pub fn new(tables: &'a [PublishedTable]) -> Result<Self, JoinError> {
        let find = |name: &str| tables.iter().find(|table| table.name == name);
        if find(MICRODATA).is_none() && find(QUASI).is_some() {
            return blocks::join(tables);
        }
        let (microdata, rows) = row_table(tables, MICRODATA)?;
        let mut attributes = Vec::new();
        for column in &microdata.columns {
            if let Some(mut attribute) = attribute_of(MICRODATA, column)? {
                attribute.buckets = Buckets::of(
                    attribute.name,
                    microdata,
                    find(BUCKETS),
                    find(GROUP_BUCKETS),
                )?;
                attributes.push(attribute);
            }
        }
        Ok(Self {
            name: MICRODATA,
            rows,
            groups: groups_of(microdata),
            attributes,
        })
    }

    /// Reads a release with one row a subject: its table `persons`, fingerprints
    /// beside generalized attributes. Such a release has no buckets.
    pub fn of_persons(tables: &'a [PublishedTable]) -> Result<Self, JoinError> {
        let (persons, rows) = row_table(tables, PERSONS)?;
        let columns = persons.columns.iter();
        let attributes = columns.filter_map(|column| attribute_of(PERSONS, column).transpose());
        Ok(Self {
            name: PERSONS,
            rows,
            groups: groups_of(persons),
            attributes: attributes.collect::<Result<_, _>>()?,
        })
    }

    /// Name of the table whose rows are about subjects.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Reads the attributes of a sliced release: its table `sliced`, of an
    /// attribute that appears twice the first appearance. Cells of one row are
    /// of one record only inside a column.
    pub fn of_sliced(tables: &'a [PublishedTable]) -> Result<Self, JoinError> {
        let (sliced, rows) = row_table(tables, SLICED)?;
        let is_second = |name: &str| {
            let first = name.strip_suffix(SECOND_SUFFIX);
            first.is_some_and(|first| sliced.column(first).is_some())
        };
        let columns = sliced
            .columns
            .iter()
            .filter(|column| !is_second(&column.name));
        let attributes = columns.filter_map(|column| attribute_of(SLICED, column).transpose());
        Ok(Self {
            name: SLICED,
            rows,
            groups: None,
            attributes: attributes.collect::<Result<_, _>>()?,
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The attributes in order of columns.
    pub fn attributes(&self) -> &[JoinedAttribute<'a>] {
        &self.attributes
    }

    /// The attributes alone.
    pub fn into_attributes(self) -> Vec<JoinedAttribute<'a>> {
        self.attributes
    }

    /// The attribute called `name`.
    pub fn attribute(&self, name: &str) -> Option<&JoinedAttribute<'a>> {
        self.attributes
            .iter()
            .find(|attribute| attribute.name == name)
    }

    /// Rows by their published signature: equal cells in every generalized
    /// attribute, where "in a bucket" and `*` are cells of their own.
    pub fn signatures(&self) -> Signatures {
        self.classes(&[Content::Generalized])
    }

    /// Rows by their cells in every attribute of these contents.
    pub fn classes(&self, contents: &[Content]) -> Signatures {
        self.classes_by(|attribute| contents.contains(&attribute.content))
    }

    /// Rows by their cells in every attribute chosen.
    pub fn classes_by(&self, is_chosen: impl Fn(&JoinedAttribute<'a>) -> bool) -> Signatures {
        let attributes = self.attributes.iter();
        let chosen: Vec<_> = attributes
            .filter(|attribute| is_chosen(attribute))
            .collect();
        Signatures::of(self.rows, self.groups, &chosen)
    }
}

/// The table with one row a record or subject, and its number of rows.
fn row_table<'a>(
    tables: &'a [PublishedTable],
    name: &str,
) -> Result<(&'a PublishedTable, usize), JoinError> {
    let Some(table) = tables.iter().find(|table| table.name == name) else {
        return Err(JoinError::new(name, "is not in the release"));
    };
    let rows = table.rows();
    if table
        .columns
        .iter()
        .all(|column| column.cells.len() == rows)
    {
        Ok((table, rows))
    } else {
        Err(JoinError::new(name, "columns differ in length"))
    }
}

/// The numbers of the column of groups, if there is one.
fn groups_of(table: &PublishedTable) -> Option<&[u64]> {
    let mut columns = table.columns.iter();
    let groups = columns.find(|column| column.content == Content::Group)?;
    match &groups.cells {
        Cells::Numbers(numbers) => Some(numbers),
        Cells::Dictionary { .. } => None,
    }
}

fn attribute_of<'a>(
    table: &str,
    column: &'a PublishedColumn,
) -> Result<Option<JoinedAttribute<'a>>, JoinError> {
    if !matches!(
        column.content,
        Content::Generalized | Content::Exact | Content::Fingerprint
    ) {
        return Ok(None);
    }
    let (Cells::Dictionary { codes, cells }, Some(kind)) = (&column.cells, column.kind) else {
        return Err(JoinError::new(
            table,
            "an attribute has no type or no cells",
        ));
    };
    if codes.iter().any(|code| code as usize >= cells.len()) {
        return Err(JoinError::new(table, "a code points at no cell"));
    }
    Ok(Some(JoinedAttribute {
        name: &column.name,
        kind,
        content: column.content,
        codes: Cow::Borrowed(codes),
        cells,
        buckets: None,
    }))
}

impl JoinedAttribute<'_> {
    /// The cell of a row.
    pub fn cell(&self, row: usize) -> &Cell {
        &self.cells[self.codes.at(row) as usize]
    }

    /// How often each cell occurs; one entry per cell.
    pub fn histogram(&self) -> Vec<u32> {
        self.codes.histogram(self.cells.len())
    }
}
