//! t-closeness of buckets in a release of parts: no bucket is farther than t from the
//! values of all buckets together.
//!
//! Parts are published by what their records protect. Whose cell is masked in a part,
//! or who is left out there, is known only when all parts are there: so all buckets
//! are looked at once more, as they are published.

use crate::engine::kernel::cells::value_cell;
use crate::engine::kernel::closeness::Reference;
use crate::microdata::{CodedColumn, Codes, Table};
use crate::privacy::{Protection, Requirements, T};
use crate::release::{Cell, Cells, Content, PublishedColumn, PublishedTable, compare_cells};

/// The number of a bucket that is too far; none where all are close enough.
pub(super) fn bucket_too_far(
    (table, requirements): (&Table, &Requirements),
    buckets: &PublishedTable,
) -> Option<u64> {
    let buckets = Buckets::read(buckets)?;
    let mut protected = requirements.protected();
    protected.find_map(|index| {
        let Protection::Closeness { t, .. } = requirements.protection(index) else {
            return None;
        };
        let attribute = requirements.attribute(index);
        let name = &table.schema().attribute(attribute).name;
        buckets.too_far(name, table.coded(attribute)?, t)
    })
}

/// The published values of all buckets, row by row.
struct Buckets<'a> {
    attribute: (&'a Codes, &'a [Cell]),
    bucket: &'a [u64],
    value: (&'a Codes, &'a [Cell]),
    count: &'a [u64],
}

impl<'a> Buckets<'a> {
    fn read(table: &'a PublishedTable) -> Option<Self> {
        let column = |content: Content| {
            let mut columns = table.columns.iter();
            columns.find(|column| column.content == content)
        };
        let dictionary = |column: &'a PublishedColumn| match &column.cells {
            Cells::Dictionary { codes, cells } => Some((codes, cells.as_slice())),
            Cells::Numbers(_) => None,
        };
        let numbers = |column: &'a PublishedColumn| match &column.cells {
            Cells::Numbers(numbers) => Some(numbers.as_slice()),
            Cells::Dictionary { .. } => None,
        };
        Some(Self {
            attribute: dictionary(column(Content::Attribute)?)?,
            bucket: numbers(column(Content::Bucket)?)?,
            value: dictionary(column(Content::Value)?)?,
            count: numbers(column(Content::Count)?)?,
        })
    }

    fn too_far(&self, name: &str, column: &CodedColumn, t: T) -> Option<u64> {
        let domain = &column.domain;
        let cells = (0..domain.len() as u32).map(|code| (value_cell(domain, code), code));
        let mut cells: Vec<(Cell, u32)> = cells.collect();
        cells.sort_by(|(one, _), (other, _)| compare_cells(one, other));
        let code = |value: &Cell| {
            let found = cells.binary_search_by(|(cell, _)| compare_cells(cell, value));
            found.ok().map(|at| cells[at].1)
        };
        let code_of: Vec<Option<u32>> = self.value.1.iter().map(code).collect();
        let attributes = self.attribute.1.iter();
        let is_own: Vec<bool> = attributes
            .map(|attribute| matches!(attribute, Cell::Label(label) if label == name))
            .collect();
        let rows = (0..self.bucket.len())
            .filter(|&row| is_own[self.attribute.0.at(row) as usize])
            .filter_map(|row| {
                let code = code_of[self.value.0.at(row) as usize]?;
                Some((self.bucket[row], code, self.count[row]))
            });
        let mut rows: Vec<(u64, u32, u64)> = rows.collect();
        rows.sort_unstable();
        let mut counts = vec![0_u64; domain.len()];
        for &(_, code, count) in &rows {
            counts[code as usize] += count;
        }
        let all = Reference::of_counts(domain, counts);
        let mut buckets = rows.chunk_by(|one, other| one.0 == other.0);
        let far = buckets.find(|bucket| {
            let contents = bucket.iter().map(|&(_, code, count)| (code, count));
            let contents: Vec<(u32, u64)> = contents.collect();
            let size = contents.iter().map(|&(_, count)| count).sum();
            !all.is_within(t, &contents, size)
        });
        far.map(|bucket| bucket[0].0)
    }
}
