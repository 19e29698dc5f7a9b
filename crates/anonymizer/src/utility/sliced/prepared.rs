//! A sliced release joined with its originals, once for all measures.

use rustc_hash::FxHashMap;

use crate::microdata::{AttributeIndex, CodedColumn, Codes, Role, RowClasses};
use crate::release::layout::{SECOND_SUFFIX, SLICED, SlicedLayout};
use crate::release::{Cell, Cells, PublishedColumn, PublishedTable};

use crate::utility::coverage::Coverage;
use crate::utility::evidence::{Evidence, EvidenceError};
use crate::utility::journalist::ShownClasses;

/// One appearance of an attribute.
#[derive(Debug)]
pub struct SlicedAttribute<'a> {
    /// Position in the schema.
    pub index: AttributeIndex,
    /// Its name.
    pub name: &'a str,
    /// What the attribute is to an adversary.
    pub role: Role,
    /// The original column.
    pub original: &'a CodedColumn,
    /// The distinct cells.
    pub cells: &'a [Cell],
    /// Position in `cells` of each row's cell.
    pub codes: &'a Codes,
}

/// Attributes that stay linked.
#[derive(Debug)]
pub struct PreparedColumn {
    /// Positions in [`PreparedSliced::attributes`].
    pub attributes: Vec<usize>,
    /// Combination of quasi-identifiers of each row.
    pub known_of_row: Vec<u32>,
    /// The same of each record of the source.
    pub known_of_record: Vec<u32>,
}

/// A sliced release joined with its originals.
#[derive(Debug)]
pub struct PreparedSliced<'a> {
    /// The originals.
    pub evidence: Evidence<'a>,
    /// Rows of `sliced`.
    pub rows: usize,
    /// Record of each row, by its first column.
    pub records: Vec<u32>,
    /// Bucket of each row, from 0.
    pub bucket_of_row: Vec<u32>,
    /// Rows of each bucket.
    pub sizes: Vec<u32>,
    /// Every appearance of an attribute, in order of columns; those that are
    /// generalized over buckets first.
    pub attributes: Vec<SlicedAttribute<'a>>,
    /// Attributes that stay linked.
    pub columns: Vec<PreparedColumn>,
}

impl<'a> PreparedSliced<'a> {
    /// Joins the evidence. Time is linear in records × attributes.
    pub fn new(evidence: &Evidence<'a>) -> Result<Self, EvidenceError> {
        let layout = SlicedLayout::read(evidence.tables)
            .map_err(|_| EvidenceError::Unfit("the tables of a sliced release do not fit"))?;
        let rows = layout.bucket_of_row.len();
        let mut tables = evidence.tables.iter();
        let sliced = tables.find(|table| table.name == SLICED && table.rows() == rows);
        let sliced = sliced.ok_or(EvidenceError::Unfit("columns differ in length"))?;
        let records = records(evidence, rows)?;
        let (bucket_of_row, sizes) = buckets(layout.bucket_of_row);
        let mut prepared = Self {
            evidence: *evidence,
            rows,
            records,
            bucket_of_row,
            sizes,
            attributes: Vec::new(),
            columns: Vec::new(),
        };
        for (number, header) in layout.entries {
            let attribute = attribute(evidence, sliced, header)?;
            prepared.attributes.push(attribute);
            let at = prepared.attributes.len() - 1;
            match (number as usize).checked_sub(1) {
                None => {}
                Some(column) if column < prepared.columns.len() => {
                    prepared.columns[column].attributes.push(at);
                }
                Some(_) => prepared.columns.push(PreparedColumn {
                    attributes: vec![at],
                    known_of_row: Vec::new(),
                    known_of_record: Vec::new(),
                }),
            }
        }
        for at in 0..prepared.columns.len() {
            let attributes = prepared.columns[at].attributes.clone();
            let (of_row, of_record) = prepared.combinations(&attributes);
            prepared.columns[at].known_of_row = of_row;
            prepared.columns[at].known_of_record = of_record;
        }
        Ok(prepared)
    }

    /// Numbers the combinations of the quasi-identifiers among some attributes,
    /// by row and by record of the source; [`u32::MAX`] stands for cells that
    /// are no single value.
    pub(super) fn combinations(&self, attributes: &[usize]) -> (Vec<u32>, Vec<u32>) {
        // Published rows, then records of the source.
        let mut all = RowClasses::whole(self.rows + self.evidence.table.records());
        let attributes = attributes.iter().map(|&at| &self.attributes[at]);
        for attribute in attributes.filter(|one| one.role == Role::QuasiIdentifier) {
            let values = attribute.values();
            all.refine(|at| match at.checked_sub(self.rows) {
                None => values[attribute.codes.at(at) as usize].unwrap_or(u32::MAX),
                Some(record) => attribute.original.codes.at(record),
            });
        }
        let of_record = all.of_row.split_off(self.rows);
        (all.of_row, of_record)
    }

    /// Buckets by the attributes that are generalized over them; those of columns
    /// show nothing of one record together.
    pub(super) fn shown(&self) -> ShownClasses<'_> {
        let mut first = vec![None; self.sizes.len()];
        for (row, &bucket) in self.bucket_of_row.iter().enumerate() {
            first[bucket as usize].get_or_insert(row);
        }
        let in_columns = self.columns.iter().flat_map(|one| &one.attributes);
        let in_columns: Vec<usize> = in_columns.copied().collect();
        let mut shown = ShownClasses::new(&self.sizes);
        for (at, attribute) in self.attributes.iter().enumerate() {
            if !in_columns.contains(&at) {
                let known = (attribute.name, attribute.cells);
                let of_class = first.iter().flatten();
                let of_class = of_class.map(|&row| attribute.codes.at(row)).collect();
                shown.add(&self.evidence, known, of_class);
            }
        }
        shown
    }

    /// The column and appearance of attributes that stay linked.
    pub fn linked(&self) -> impl Iterator<Item = (usize, usize)> {
        let columns = self.columns.iter().enumerate();
        columns.flat_map(|(at, column)| column.attributes.iter().map(move |&of| (at, of)))
    }
}

impl SlicedAttribute<'_> {
    /// The single value of each distinct cell, where it is one.
    pub fn values(&self) -> Vec<Option<u32>> {
        let cells = self.cells.iter();
        let exact = |cell| Coverage::of(&self.original.domain, cell)?.exact();
        cells.map(exact).collect()
    }
}

fn records(evidence: &Evidence<'_>, rows: usize) -> Result<Vec<u32>, EvidenceError> {
    let table = evidence.table;
    let subjects = evidence.lineage.of(SLICED).unwrap_or_default();
    if subjects.len() != rows {
        return Err(EvidenceError::Unfit("rows and lineage differ in number"));
    }
    let unknown = subjects
        .iter()
        .any(|subject| subject.at() >= table.records());
    // With one record a subject, a subject's position is the record's.
    if unknown
        || table.records() != table.subjects()
        || evidence.requirements.records() != table.records()
    {
        return Err(EvidenceError::Unfit(
            "lineage names a subject that is not there",
        ));
    }
    Ok(subjects.iter().map(|subject| subject.0).collect())
}

/// The bucket of each row, from 0 in order of first appearance, and the rows of
/// each.
fn buckets(numbers: &[u64]) -> (Vec<u32>, Vec<u32>) {
    let mut position_of: FxHashMap<u64, u32> = FxHashMap::default();
    let mut sizes: Vec<u32> = Vec::new();
    let positions = numbers.iter().map(|&number| {
        let next = position_of.len() as u32;
        let position = *position_of.entry(number).or_insert(next);
        if position == next {
            sizes.push(0);
        }
        sizes[position as usize] += 1;
        position
    });
    let positions = positions.collect();
    (positions, sizes)
}

fn attribute<'a>(
    evidence: &Evidence<'a>,
    sliced: &'a PublishedTable,
    header: &str,
) -> Result<SlicedAttribute<'a>, EvidenceError> {
    let table = evidence.table;
    let schema = table.schema();
    let second = header
        .strip_suffix(SECOND_SUFFIX)
        .and_then(|name| schema.find(name));
    let index = schema.find(header).or(second);
    let found = index.and_then(|index| Some((index, table.coded(index)?)));
    let published: Option<&PublishedColumn> = sliced.column(header);
    let (Some((index, original)), Some(published)) = (found, published) else {
        return Err(EvidenceError::Unfit("an attribute is not in the schema"));
    };
    let Cells::Dictionary { codes, cells } = &published.cells else {
        return Err(EvidenceError::Unfit("an attribute has no cells"));
    };
    if codes.len() != sliced.rows() || codes.iter().any(|code| code as usize >= cells.len()) {
        return Err(EvidenceError::Unfit("a code points at no cell"));
    }
    let described = schema.attribute(index);
    Ok(SlicedAttribute {
        index,
        name: &described.name,
        role: described.role,
        original,
        cells,
        codes,
    })
}
