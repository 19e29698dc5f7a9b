//! The table `microdata` of an engine whose groups share their published
//! quasi-identifiers: `group`, then every attribute in schema order.
//!
//! Quasi-identifiers are generalized over a group's records, insensitive
//! attributes exact. Sensitive attributes are exact unless the engine hands
//! in cells of its own. Numbers and rows stand as the engine has them: the
//! order of what is published is the release's ([`order`](crate::release::order)).

use rayon::prelude::*;

use crate::microdata::{AttributeIndex, CodedColumn, Codes, RecordIndex, Role, Table};
use crate::release::layout::MICRODATA;
use crate::release::{Cell, Cells, Content, Lineage, PublishedColumn, PublishedTable};

use super::cells::exact_cells;
use super::covers::Covers;
use super::included::Included;
use super::keeping::Staying;

/// Records of one equivalence class.
#[derive(Clone, Copy, Debug)]
pub struct EquivalenceClass<'a> {
    /// Number of the group they are in, from 0.
    pub group: u32,
    /// The rows.
    pub records: &'a [u32],
    /// Records whose quasi-identifiers the rows' cells cover; mostly the rows
    /// themselves.
    pub covers: &'a [u32],
    /// The class of public releases whose cells are shown again, by position.
    pub kept: Option<usize>,
}

/// Published cells of one attribute, in place of exact ones.
#[derive(Clone, Debug)]
pub struct OwnCells {
    /// The attribute.
    pub attribute: AttributeIndex,
    /// What the cells are.
    pub content: Content,
    /// Position in `cells` of each record of the table (also of those that
    /// are not published).
    pub of_record: Vec<u32>,
    /// The distinct cells.
    pub cells: Vec<Cell>,
}

/// Publishes groups of records. Returns the table and who
/// its rows are.
pub fn of_groups(
    included: &Included<'_>,
    groups: &[&[u32]],
    own: &[OwnCells],
) -> (PublishedTable, Lineage) {
    let classes: Vec<EquivalenceClass<'_>> = new_classes(groups).collect();
    of_classes(included, &classes, own)
}

/// Publishes groups of records behind those that public releases show.
pub fn of_groups_beside(
    included: &Included<'_>,
    groups: &[&[u32]],
    staying: Option<&Staying<'_>>,
) -> (PublishedTable, Lineage) {
    let kept = staying.iter().flat_map(|staying| &staying.groups);
    let kept = kept.zip(groups.len() as u32..);
    let kept = kept.map(|(one, group)| EquivalenceClass {
        group,
        records: &one.records,
        covers: &[],
        kept: Some(one.class),
    });
    let classes: Vec<EquivalenceClass<'_>> = new_classes(groups).chain(kept).collect();
    made(included, &classes, (&[], staying))
}

fn new_classes<'a>(groups: &'a [&'a [u32]]) -> impl Iterator<Item = EquivalenceClass<'a>> {
    (0..).zip(groups).map(|(group, &records)| EquivalenceClass {
        group,
        records,
        covers: records,
        kept: None,
    })
}

/// Publishes the rows of these equivalence classes.
pub fn of_classes(
    included: &Included<'_>,
    classes: &[EquivalenceClass<'_>],
    own: &[OwnCells],
) -> (PublishedTable, Lineage) {
    made(included, classes, (own, None))
}

fn made(
    included: &Included<'_>,
    classes: &[EquivalenceClass<'_>],
    shown: (&[OwnCells], Option<&Staying<'_>>),
) -> (PublishedTable, Lineage) {
    let attributes = included.table.schema().publishable();
    let (rows, cells) = rayon::join(
        || rows_of(classes),
        || -> Vec<ColumnCells<'_>> {
            let attributes = attributes.par_iter();
            attributes
                .map(|&attribute| ColumnCells::of(included, classes, shown, attribute))
                .collect()
        },
    );
    let ((groups, lineage), attributes) = rayon::join(
        || {
            rayon::join(
                || group_column(classes, &rows),
                || lineage(included.table, &rows),
            )
        },
        || -> Vec<PublishedColumn> {
            let shown = attributes.par_iter().zip(cells);
            let columns = shown.map(|(&attribute, shown)| {
                let described = included.table.schema().attribute(attribute);
                let (content, cells) = shown.of_rows(&rows);
                PublishedColumn::of_attribute(described, content, cells)
            });
            columns.collect()
        },
    );
    let table = PublishedTable {
        name: MICRODATA.into(),
        columns: std::iter::once(groups).chain(attributes).collect(),
    };
    (table, lineage)
}

/// A record and the position of its class.
pub type Row = (u32, u32);

/// The rows of all classes.
pub fn rows_of(classes: &[EquivalenceClass<'_>]) -> Vec<Row> {
    let all = classes.iter().map(|class| class.records.len()).sum();
    let mut rows: Vec<Row> = Vec::with_capacity(all);
    for (at, class) in (0..).zip(classes) {
        rows.extend(class.records.iter().map(|&record| (record, at)));
    }
    rows
}

/// The column `group` of rows.
pub fn group_column(classes: &[EquivalenceClass<'_>], rows: &[Row]) -> PublishedColumn {
    let number = |&(_, class): &Row| u64::from(classes[class as usize].group) + 1;
    PublishedColumn::of_numbers(Content::Group, rows.iter().map(number))
}

/// The subject of each row.
pub fn lineage(table: &Table, rows: &[Row]) -> Lineage {
    let subject = |&(record, _): &Row| table.subject_of(RecordIndex(record));
    Lineage::of_table(MICRODATA, rows.iter().map(subject))
}

/// What rows show of one attribute.
enum ColumnCells<'a> {
    /// Cells that the engine handed in.
    Own(&'a OwnCells),
    /// One cell a class, by its position among those that cover any.
    Covers {
        of_class: Vec<u32>,
        cells: Vec<Cell>,
    },
    /// Each record's own value.
    Exact(&'a CodedColumn),
    /// Nothing; every publishable attribute is coded.
    Nothing,
}

impl<'a> ColumnCells<'a> {
    fn of(
        included: &Included<'a>,
        classes: &[EquivalenceClass<'_>],
        (own, staying): (&'a [OwnCells], Option<&Staying<'_>>),
        attribute: AttributeIndex,
    ) -> Self {
        let described = included.table.schema().attribute(attribute);
        let own = own.iter().find(|own| own.attribute == attribute);
        match (own, included.table.coded(attribute)) {
            (Some(own), _) => Self::Own(own),
            (None, Some(column)) if described.role == Role::QuasiIdentifier => {
                let mut covers = Covers::new(&column.domain);
                let kept = staying.and_then(|staying| {
                    let mut all = included.quasi.iter();
                    let at = all.position(|&(index, _)| index == attribute)?;
                    Some((staying, at, staying.cells(included, at)))
                });
                let of_class = classes.iter().map(|class| match (class.kept, &kept) {
                    (Some(class), Some((staying, at, cells))) => {
                        let cell = staying.kept.classes[class].cells[*at];
                        covers.shown(&cells[cell as usize])
                    }
                    _ => covers.cover(column, class.covers),
                });
                Self::Covers {
                    of_class: of_class.collect(),
                    cells: covers.cells,
                }
            }
            (None, Some(column)) => Self::Exact(column),
            (None, None) => Self::Nothing,
        }
    }

    fn of_rows(self, rows: &[Row]) -> (Content, Cells) {
        match self {
            Self::Own(own) => {
                let codes = rows.iter();
                let codes = codes.map(|&(record, _)| own.of_record[record as usize]);
                let cells = own.cells.clone();
                let codes = Codes::below(cells.len(), codes);
                (own.content, Cells::Dictionary { codes, cells })
            }
            Self::Covers { of_class, cells } => {
                let codes = rows.iter().map(|&(_, class)| of_class[class as usize]);
                let codes = Codes::below(cells.len(), codes);
                (Content::Generalized, Cells::Dictionary { codes, cells })
            }
            Self::Exact(column) => {
                let records = rows.iter().map(|&(record, _)| record);
                (Content::Exact, exact_cells(column, records))
            }
            Self::Nothing => (Content::Exact, Cells::Numbers(Vec::new())),
        }
    }
}
