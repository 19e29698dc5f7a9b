//! The layout of a release: how its tables and columns are called, and which
//! attributes of a sliced release form a column.
//!
//! Every name that a release fixes is defined here; engines write by it,
//! measures and queries read by it. The verifier restates what it must in
//! `verify::shape`, so that a mistake here does not go unnoticed.

use crate::microdata::{Attribute, SubjectIndex};

use super::cell::Cell;
use super::joined::JoinError;
use super::lineage::{Lineage, TableLineage};
use super::table::{Cells, Content, PublishedColumn, PublishedTable};

/// Name of the table with one row a record.
pub const MICRODATA: &str = "microdata";
/// Name of the table with the values of each bucket.
pub const BUCKETS: &str = "buckets";
/// Name of the table with the buckets of each group (`bucket_link: "group"`).
pub const GROUP_BUCKETS: &str = "group_buckets";
/// Name of the table with one row a subject.
pub const PERSONS: &str = "persons";
/// Name of the table with exact non-sensitive values and block numbers.
pub const QUASI: &str = "quasi";
/// Name of the table with the values of each block.
pub const SENSITIVE: &str = "sensitive";
/// Name of the table whose columns are permuted inside buckets.
pub const SLICED: &str = "sliced";
/// Name of the table that says which attributes of `sliced` form a column.
pub const COLUMNS: &str = "columns";
/// What follows an attribute's name in the name of its column of blocks.
pub const BLOCK_SUFFIX: &str = "_block";
/// What follows an attribute's name in the name of its bucket column.
pub const BUCKET_SUFFIX: &str = "_bucket";
/// What follows the name of an attribute that appears for the second time.
pub const SECOND_SUFFIX: &str = "@2";

impl Content {
    /// Header of a column of this content that is of no attribute; empty for
    /// the contents that publish one.
    pub const fn header(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Block => "block",
            Self::Bucket => "bucket",
            Self::Attribute => "attribute",
            Self::Value => "value",
            Self::Count => "count",
            Self::Counterfeits => "counterfeits",
            Self::Column => "column",
            Self::Generalized | Self::Exact | Self::Fingerprint => "",
        }
    }
}

impl PublishedColumn {
    /// A column that publishes an attribute.
    pub fn of_attribute(attribute: &Attribute, content: Content, cells: Cells) -> Self {
        Self {
            name: attribute.name.clone(),
            content,
            kind: attribute.kind,
            cells,
        }
    }

    /// A column of no attribute, called after its content.
    pub fn of_content(content: Content, cells: Cells) -> Self {
        Self {
            name: content.header().into(),
            content,
            kind: None,
            cells,
        }
    }

    /// A column of numbers, called after its content.
    pub fn of_numbers(content: Content, numbers: impl Iterator<Item = u64>) -> Self {
        Self::of_content(content, Cells::Numbers(numbers.collect()))
    }

    /// The same called after an attribute, with a suffix.
    #[must_use]
    pub fn named_after(mut self, attribute: &str, suffix: &str) -> Self {
        self.name = format!("{attribute}{suffix}");
        self
    }
}

impl Lineage {
    /// The subjects of the rows of one table.
    pub fn of_table(table: &str, subjects: impl Iterator<Item = SubjectIndex>) -> Self {
        Self {
            tables: vec![TableLineage {
                table: table.into(),
                subjects: subjects.collect(),
            }],
        }
    }
}

/// Whether a release is sliced.
pub fn is_sliced(tables: &[PublishedTable]) -> bool {
    tables.iter().any(|table| table.name == SLICED)
}

/// Which attributes of a sliced release form a column, and which bucket each
/// row is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlicedLayout<'a> {
    /// The number of its column, from 1, and the header of each attribute;
    /// 0 for attributes that are generalized over buckets.
    pub entries: Vec<(u64, &'a str)>,
    /// Number of the bucket of each row, from 1.
    pub bucket_of_row: &'a [u64],
}

impl<'a> SlicedLayout<'a> {
    /// Reads the tables `sliced` and `columns`.
    pub fn read(tables: &'a [PublishedTable]) -> Result<Self, JoinError> {
        let find = |table: &'static str, content: Content| {
            let found = tables.iter().find(|found| found.name == table);
            let found = found.ok_or_else(|| JoinError::new(table, "is not in the release"))?;
            let mut columns = found.columns.iter();
            let column = columns.find(|column| column.content == content);
            column
                .map(|column| &column.cells)
                .ok_or_else(|| JoinError::new(table, "a column that its layout needs is not there"))
        };
        let unfit = || JoinError::new(COLUMNS, "does not name the attributes of each column");
        let (Cells::Numbers(numbers), Cells::Dictionary { codes, cells }) = (
            find(COLUMNS, Content::Column)?,
            find(COLUMNS, Content::Attribute)?,
        ) else {
            return Err(unfit());
        };
        let headers = codes.iter().map(|code| match cells.get(code as usize) {
            Some(Cell::Label(header)) => Ok(header.as_str()),
            _ => Err(unfit()),
        });
        let headers: Vec<&str> = headers.collect::<Result<_, _>>()?;
        if headers.len() != numbers.len() {
            return Err(unfit());
        }
        let Cells::Numbers(bucket_of_row) = find(SLICED, Content::Bucket)? else {
            return Err(JoinError::new(SLICED, "rows have no bucket"));
        };
        Ok(Self {
            entries: numbers.iter().copied().zip(headers).collect(),
            bucket_of_row,
        })
    }

    /// The headers of each column, by number.
    pub fn headers(&self) -> Vec<Vec<&'a str>> {
        let last = self.entries.iter().map(|&(number, _)| number).max();
        // No more columns than attributes, whatever a number says.
        let columns = last.unwrap_or(0).min(self.entries.len() as u64);
        let mut headers = vec![Vec::new(); columns as usize];
        for &(number, header) in &self.entries {
            if let Some(column) = number.checked_sub(1)
                && let Some(headers) = headers.get_mut(column as usize)
            {
                headers.push(header);
            }
        }
        headers
    }

    /// The rows of each bucket, by number.
    pub fn rows_by_bucket(&self) -> Vec<Vec<u32>> {
        let number = |row: u32| self.bucket_of_row[row as usize];
        let mut rows: Vec<u32> = (0..self.bucket_of_row.len() as u32).collect();
        rows.sort_by_key(|&row| number(row));
        let buckets = rows.chunk_by(|&one, &other| number(one) == number(other));
        buckets.map(<[u32]>::to_vec).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sliced() -> Vec<PublishedTable> {
        let names = ["age", "sex", "job", "job@2"];
        let attributes = Cells::Dictionary {
            codes: (0..4).collect(),
            cells: names.map(|name| Cell::Label(name.into())).into(),
        };
        vec![
            PublishedTable {
                name: SLICED.into(),
                columns: vec![PublishedColumn::of_numbers(
                    Content::Bucket,
                    [2, 1, 2, 1, 7].into_iter(),
                )],
            },
            PublishedTable {
                name: COLUMNS.into(),
                columns: vec![
                    PublishedColumn::of_numbers(Content::Column, [0, 1, 1, 2].into_iter()),
                    PublishedColumn::of_content(Content::Attribute, attributes),
                ],
            },
        ]
    }

    #[test]
    fn a_sliced_release_says_its_columns_and_buckets() {
        let tables = sliced();
        let layout = SlicedLayout::read(&tables).unwrap();
        assert_eq!(layout.headers(), [vec!["sex", "job"], vec!["job@2"]]);
        let buckets = layout.rows_by_bucket();
        assert_eq!(buckets, [vec![1, 3], vec![0, 2], vec![4]]);
    }

    #[test]
    fn a_sliced_release_whose_tables_do_not_fit_is_refused() {
        let refused = |tables: &[PublishedTable]| SlicedLayout::read(tables).unwrap_err().table;
        assert_eq!(refused(&sliced()[..1]), COLUMNS);
        assert_eq!(refused(&sliced()[1..]), SLICED);
        let mut tables = sliced();
        tables[1].columns[0].cells = Cells::Numbers(vec![0, 1]);
        assert_eq!(refused(&tables), COLUMNS);
        let mut tables = sliced();
        tables[1].columns[0].cells = Cells::Numbers(vec![0, 1, 1, u64::MAX]);
        let layout = SlicedLayout::read(&tables).unwrap();
        assert_eq!(
            layout.headers().len(),
            4,
            "a wild number reserves no memory"
        );
    }
}
