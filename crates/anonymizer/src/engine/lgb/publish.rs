//! Stage 4: the published table `microdata` (releases.md).
//!
//! Numbers and rows stand as the engine has them: the order of what is
//! published is the release's. Cells are worked out once per group and
//! attribute and handed to rows by dictionary code.
//! `bucket_tables` publishes what is in the buckets.

use rayon::prelude::*;

use crate::engine::kernel::cells::exact_cells;
use crate::engine::kernel::microdata_table::{
    EquivalenceClass, Row, group_column, lineage, rows_of,
};
use crate::engine::kernel::{Covers, Groups};
use crate::microdata::{AttributeIndex, CodedColumn, Codes, Role, RowClasses};
use crate::privacy::ProtectedIndex;
use crate::release::layout::{BUCKET_SUFFIX, MICRODATA};
use crate::release::{Cell, Cells, Content, Lineage, PublishedColumn, PublishedTable};

use super::bucketize::NumberedBuckets;
use super::frame::Frame;
use super::params::BucketLink;
use super::patterns::{Division, Subset};

/// Groups, buckets and rows as they are published.
pub(super) struct Layout<'a> {
    frame: &'a Frame<'a>,
    /// Records of each group.
    classes: Vec<EquivalenceClass<'a>>,
    /// Published rows.
    rows: Vec<Row>,
    /// Per protectable attribute the bucket of each record; 0 for none.
    bucket_of_record: Vec<Vec<u32>>,
}

impl<'a> Layout<'a> {
    /// Works out what rows show of each publishable attribute; `groups` are
    /// those of each subset, `buckets` those of each protectable attribute.
    pub fn new(
        frame: &'a Frame<'a>,
        division: &'a Division,
        groups: &'a [Groups],
        buckets: &[NumberedBuckets],
    ) -> (Self, Vec<ColumnCells<'a>>) {
        let mut classes = Vec::new();
        let mut subset_of: Vec<&Subset> = Vec::new();
        for (subset, groups) in division.subsets.iter().zip(groups) {
            for records in groups.iter() {
                classes.push(EquivalenceClass {
                    group: classes.len() as u32,
                    records,
                    covers: records,
                    kept: None,
                });
            }
            subset_of.resize(classes.len(), subset);
        }
        let attributes = frame.table.schema().publishable();
        let show =
            |&attribute: &AttributeIndex| ColumnCells::of(frame, attribute, &classes, &subset_of);
        let all = frame.table.records();
        let (rows, (shown, bucket_of_record)) = rayon::join(
            || rows_of(&classes),
            || {
                rayon::join(
                    || attributes.par_iter().map(show).collect(),
                    || {
                        let buckets = buckets.par_iter();
                        buckets.map(|buckets| buckets.of_records(all)).collect()
                    },
                )
            },
        );
        let shown: Vec<ColumnCells<'_>> = shown;
        number_by_class(&mut classes, &shown);
        let layout = Self {
            frame,
            classes,
            rows,
            bucket_of_record,
        };
        (layout, shown)
    }

    /// Published number and records of each group.
    pub fn groups(&self) -> impl Iterator<Item = (u64, &'a [u32])> {
        let classes = self.classes.iter();
        classes.map(|class| (u64::from(class.group) + 1, class.records))
    }

    /// Bucket of each record of the table, 0 for none.
    pub fn bucket_of_record(&self, index: ProtectedIndex) -> &[u32] {
        &self.bucket_of_record[index.at()]
    }

    /// The table `microdata`, and who its rows are; `shown` is what rows show
    /// of each publishable attribute.
    pub fn microdata(&self, shown: Vec<ColumnCells<'_>>) -> (PublishedTable, Lineage) {
        let columns = shown.into_par_iter().map(|shown| {
            let index = shown.index;
            let (attribute, bucket) = rayon::join(
                || self.attribute_column(shown),
                || match (index, self.frame.params.bucket_link) {
                    (Some(index), BucketLink::Row) => Some(self.bucket_column(index)),
                    _ => None,
                },
            );
            [Some(attribute), bucket]
        });
        let ((group, lineage), columns): (_, Vec<_>) = rayon::join(
            || {
                let group = group_column(&self.classes, &self.rows);
                (group, lineage(self.frame.table, &self.rows))
            },
            || columns.collect(),
        );
        let columns = columns.into_iter().flatten().flatten();
        let table = PublishedTable {
            name: MICRODATA.into(),
            columns: std::iter::once(group).chain(columns).collect(),
        };
        (table, lineage)
    }

    fn attribute_column(&self, shown: ColumnCells<'_>) -> PublishedColumn {
        let described = self.frame.table.schema().attribute(shown.attribute);
        let (content, cells) = shown.of_rows(&self.rows);
        PublishedColumn::of_attribute(described, content, cells)
    }

    fn bucket_column(&self, index: ProtectedIndex) -> PublishedColumn {
        let of_record = self.bucket_of_record(index);
        let rows = self.rows.iter();
        let numbers = rows.map(|&(record, _)| u64::from(of_record[record as usize]));
        PublishedColumn::of_numbers(Content::Bucket, numbers)
            .named_after(self.frame.name(index), BUCKET_SUFFIX)
    }
}

/// Gives the groups of one equivalence class one number: they are one to an
/// adversary, and two numbers would tell apart which of them a person is in.
fn number_by_class(groups: &mut [EquivalenceClass<'_>], shown: &[ColumnCells<'_>]) {
    let of_groups = shown.iter().filter_map(|shown| shown.of_groups.as_ref());
    let mut classes = RowClasses::whole(groups.len());
    for (_, of_group) in of_groups {
        classes.refine(|at| of_group[at]);
    }
    for (group, class) in groups.iter_mut().zip(classes.of_row) {
        group.group = class;
    }
}

/// What rows show of one attribute.
pub(super) struct ColumnCells<'a> {
    attribute: AttributeIndex,
    /// Its position among the protectable ones, if it is one.
    index: Option<ProtectedIndex>,
    column: &'a CodedColumn,
    /// The distinct cells and each group's position among them; `None` where
    /// each record shows its own value.
    of_groups: Option<(Vec<Cell>, Vec<u32>)>,
}

impl<'a> ColumnCells<'a> {
    /// `subset_of` has the subset of each class.
    fn of(
        frame: &Frame<'a>,
        attribute: AttributeIndex,
        classes: &[EquivalenceClass<'_>],
        subset_of: &[&Subset],
    ) -> Self {
        let column = frame.column(attribute);
        let mut protected = frame.requirements.protected();
        let index = protected.find(|&index| frame.requirements.attribute(index) == attribute);
        let of_groups = || {
            let mut covers = Covers::new(&column.domain);
            let groups = classes.iter().zip(subset_of);
            let of_group = groups.map(|(class, subset)| match index {
                Some(index) if subset.masked.contains(index) => covers.plain(Cell::Masked),
                Some(index) if subset.flagged.contains(index) => covers.plain(Cell::Empty),
                _ => covers.cover(column, class.covers),
            });
            let of_group = of_group.collect();
            (covers.cells, of_group)
        };
        let role = frame.table.schema().attribute(attribute).role;
        Self {
            attribute,
            index,
            column,
            of_groups: (role != Role::Insensitive).then(of_groups),
        }
    }

    fn of_rows(self, rows: &[Row]) -> (Content, Cells) {
        let Some((cells, of_group)) = self.of_groups else {
            let records = rows.iter().map(|&(record, _)| record);
            return (Content::Exact, exact_cells(self.column, records));
        };
        let codes = rows.iter().map(|&(_, group)| of_group[group as usize]);
        let cells = Cells::Dictionary {
            codes: Codes::below(cells.len(), codes),
            cells,
        };
        (Content::Generalized, cells)
    }
}
