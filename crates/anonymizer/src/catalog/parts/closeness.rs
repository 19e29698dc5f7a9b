//! t-closeness of buckets in a release of parts: no bucket is farther than t from the
//! values of all buckets together.
//!
//! Parts are published by what their records protect. Whose cell is masked in a part,
//! or who is left out there, is known only when all parts are there: so all buckets
//! are looked at once more, as they are published, part by part.

use std::io;

use crate::engine::kernel::cells::value_cell;
use crate::engine::kernel::closeness::Reference;
use crate::microdata::{CodedColumn, Codes, Table};
use crate::privacy::{Protection, Requirements, T};
use crate::release::{
    Cell, Cells, Content, PartNumber, PublishedColumn, PublishedTable, compare_cells,
};

/// Hands on what is listed of buckets, part by part; each time all parts.
type Lists<'l> = dyn Fn(&mut dyn FnMut(PartNumber, PublishedTable)) -> io::Result<()> + 'l;

/// The parts with a bucket that is too far; none where all are close enough.
///
/// # Errors
/// What `lists` says.
pub(super) fn parts_too_far(
    (table, requirements): (&Table, &Requirements),
    lists: &Lists<'_>,
) -> io::Result<Vec<PartNumber>> {
    let mut far = Vec::new();
    for index in requirements.protected() {
        let Protection::Closeness { t, .. } = requirements.protection(index) else {
            continue;
        };
        let attribute = requirements.attribute(index);
        let name = &table.schema().attribute(attribute).name;
        let Some(column) = table.coded(attribute) else {
            continue;
        };
        let values = Values::of(name, column);
        let mut counts = vec![0_u64; column.domain.len()];
        lists(&mut |_, buckets| {
            for (_, code, count) in values.rows(&buckets) {
                counts[code as usize] += count;
            }
        })?;
        let all = Reference::of_counts(&column.domain, counts);
        lists(&mut |part, buckets| {
            if values.are_too_far(&buckets, (&all, t)) {
                far.push(part);
            }
        })?;
    }
    Ok(far)
}

/// The values of one attribute as buckets list them.
struct Values<'a> {
    name: &'a str,
    /// Every value with its code, ascending.
    cells: Vec<(Cell, u32)>,
}

impl<'a> Values<'a> {
    fn of(name: &'a str, column: &CodedColumn) -> Self {
        let domain = &column.domain;
        let cells = (0..domain.len() as u32).map(|code| (value_cell(domain, code), code));
        let mut cells: Vec<(Cell, u32)> = cells.collect();
        cells.sort_by(|(one, _), (other, _)| compare_cells(one, other));
        Self { name, cells }
    }

    fn code(&self, value: &Cell) -> Option<u32> {
        let cells = &self.cells;
        let found = cells.binary_search_by(|(cell, _)| compare_cells(cell, value));
        found.ok().map(|at| cells[at].1)
    }

    /// Bucket, code and count of the rows that list a value of the attribute.
    fn rows(&self, buckets: &PublishedTable) -> Vec<(u64, u32, u64)> {
        let Some(listed) = Listed::read(buckets) else {
            return Vec::new();
        };
        let code_of: Vec<Option<u32>> = listed
            .value
            .1
            .iter()
            .map(|value| self.code(value))
            .collect();
        let attributes = listed.attribute.1.iter();
        let is_own: Vec<bool> = attributes
            .map(|attribute| matches!(attribute, Cell::Label(label) if label == self.name))
            .collect();
        let rows = (0..listed.bucket.len())
            .filter(|&row| is_own[listed.attribute.0.at(row) as usize])
            .filter_map(|row| {
                let code = code_of[listed.value.0.at(row) as usize]?;
                Some((listed.bucket[row], code, listed.count[row]))
            });
        rows.collect()
    }

    fn are_too_far(&self, buckets: &PublishedTable, (all, t): (&Reference, T)) -> bool {
        let mut rows = self.rows(buckets);
        rows.sort_unstable();
        let mut buckets = rows.chunk_by(|one, other| one.0 == other.0);
        buckets.any(|bucket| {
            let contents = bucket.iter().map(|&(_, code, count)| (code, count));
            let contents: Vec<(u32, u64)> = contents.collect();
            let size = contents.iter().map(|&(_, count)| count).sum();
            !all.is_within(t, &contents, size)
        })
    }
}

/// The rows of a list of buckets.
struct Listed<'a> {
    attribute: (&'a Codes, &'a [Cell]),
    bucket: &'a [u64],
    value: (&'a Codes, &'a [Cell]),
    count: &'a [u64],
}

impl<'a> Listed<'a> {
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
}
