//! Stage 4: the published tables (releases.md).
//!
//! Groups, buckets and rows get fresh random numbers and order; nothing
//! published depends on where a record stood in the source. Cells are worked
//! out once per group and attribute and handed to rows by dictionary code.

use std::sync::Arc;

use rand::seq::SliceRandom;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::engine::kernel::cells::{exact_cells, value_cell};
use crate::engine::kernel::{Covers, Groups};
use crate::microdata::{AttributeIndex, Code, Domain, Role, SubjectIndex, Values};
use crate::microdata::{CodedColumn, RecordIndex};
use crate::privacy::ProtectedIndex;
use crate::release::TableLineage;
use crate::release::{Cell, Cells, Content, Lineage, PublishedColumn, PublishedTable};

use super::bucketize::Buckets;
use super::frame::{Frame, stage};
use super::params::BucketLink;
use super::patterns::{Division, Subset};

/// Everything that is published about the records, in the order of groups.
pub(super) struct Layout<'a> {
    frame: &'a Frame<'a>,
    subsets: &'a [Subset],
    /// Records, group by group.
    records: Vec<u32>,
    /// First record of each group, and the number of records at the end.
    bounds: Vec<u32>,
    /// Subset of each group.
    subset_of: Vec<u32>,
    /// Published number of each group.
    numbers: Vec<u32>,
    /// Position in `records` and group of each published row.
    rows: Vec<(u32, u32)>,
}

impl<'a> Layout<'a> {
    /// Numbers groups and orders rows at random.
    pub fn new(frame: &'a Frame<'a>, division: &'a Division, groups: &[Groups]) -> Self {
        let mut records = Vec::with_capacity(division.records.len());
        let (mut bounds, mut subset_of, mut rows) = (vec![0], Vec::new(), Vec::new());
        for (subset, groups) in groups.iter().enumerate() {
            for group in groups.iter() {
                let number = subset_of.len() as u32;
                let first = records.len() as u32;
                rows.extend((first..first + group.len() as u32).map(|at| (at, number)));
                records.extend_from_slice(group);
                bounds.push(records.len() as u32);
                subset_of.push(subset as u32);
            }
        }
        let mut random = frame.context.stream(stage::PUBLISH, 0);
        let mut numbers: Vec<u32> = (1..=subset_of.len() as u32).collect();
        numbers.shuffle(&mut random);
        rows.shuffle(&mut random);
        Self {
            frame,
            subsets: &division.subsets,
            records,
            bounds,
            subset_of,
            numbers,
            rows,
        }
    }

    /// Subject of each row of `microdata`.
    pub fn lineage(&self) -> Lineage {
        let subject = |at: u32| -> SubjectIndex {
            let record = RecordIndex(self.records[at as usize]);
            self.frame.table.subject_of(record)
        };
        let subjects = self.rows.iter().map(|&(at, _)| subject(at)).collect();
        Lineage {
            tables: vec![TableLineage {
                table: "microdata".into(),
                subjects,
            }],
        }
    }

    fn groups(&self) -> impl Iterator<Item = (&Subset, &[u32])> {
        let bounds = self.bounds.windows(2);
        let records = bounds.map(|pair| &self.records[pair[0] as usize..pair[1] as usize]);
        let subsets = self.subset_of.iter();
        subsets
            .map(|&subset| &self.subsets[subset as usize])
            .zip(records)
    }

    /// The table `microdata`.
    pub fn microdata(&self, buckets: &[Buckets]) -> PublishedTable {
        let schema = self.frame.table.schema();
        let attributes: Vec<(AttributeIndex, Option<ProtectedIndex>)> = schema
            .publishable()
            .into_iter()
            .map(|attribute| {
                let mut protected = self.frame.requirements.protected();
                let index =
                    protected.find(|&index| self.frame.requirements.attribute(index) == attribute);
                (attribute, index)
            })
            .collect();
        let columns = attributes.into_par_iter().map(|(attribute, index)| {
            let mut columns = vec![self.attribute_column(attribute, index)];
            if let (Some(index), BucketLink::Row) = (index, self.frame.params.bucket_link) {
                columns.push(self.bucket_column(index, &buckets[index.at()]));
            }
            columns
        });
        let mut all = vec![self.group_column()];
        all.extend(columns.collect::<Vec<_>>().into_iter().flatten());
        PublishedTable {
            name: "microdata".into(),
            columns: all,
        }
    }

    fn group_column(&self) -> PublishedColumn {
        let numbers = self.rows.iter();
        let numbers = numbers.map(|&(_, group)| u64::from(self.numbers[group as usize]));
        PublishedColumn {
            name: "group".into(),
            content: Content::Group,
            kind: None,
            cells: Cells::Numbers(numbers.collect()),
        }
    }

    fn attribute_column(
        &self,
        attribute: AttributeIndex,
        index: Option<ProtectedIndex>,
    ) -> PublishedColumn {
        let described = self.frame.table.schema().attribute(attribute);
        let column = self.frame.column(attribute);
        let (content, cells) = match described.role {
            Role::Insensitive => {
                let records = self.rows.iter().map(|&(at, _)| self.records[at as usize]);
                (Content::Exact, exact_cells(column, records))
            }
            _ => (Content::Generalized, self.generalized_cells(column, index)),
        };
        PublishedColumn {
            name: described.name.clone(),
            content,
            kind: described.kind,
            cells,
        }
    }

    fn generalized_cells(&self, column: &CodedColumn, index: Option<ProtectedIndex>) -> Cells {
        let mut covers = Covers::new(&column.domain);
        let of_group: Vec<u32> = self
            .groups()
            .map(|(subset, records)| match index {
                Some(index) if subset.masked.contains(index) => covers.plain(Cell::Masked),
                Some(index) if subset.flagged.contains(index) => covers.plain(Cell::Empty),
                _ => covers.cover(column, records),
            })
            .collect();
        let rows = self.rows.iter();
        Cells::Dictionary {
            codes: rows.map(|&(_, group)| of_group[group as usize]).collect(),
            cells: covers.cells,
        }
    }

    fn bucket_column(&self, index: ProtectedIndex, buckets: &Buckets) -> PublishedColumn {
        let of_record = self.bucket_of_record(buckets);
        let rows = self.rows.iter();
        let numbers = rows.map(|&(at, _)| u64::from(of_record[self.records[at as usize] as usize]));
        PublishedColumn {
            name: format!("{}_bucket", self.frame.name(index)),
            content: Content::Bucket,
            kind: None,
            cells: Cells::Numbers(numbers.collect()),
        }
    }

    fn bucket_of_record(&self, buckets: &Buckets) -> Vec<u32> {
        let mut of_record = vec![0; self.frame.table.records()];
        for (&record, &(_, bucket)) in buckets.records.iter().zip(&buckets.cells) {
            of_record[record as usize] = bucket;
        }
        of_record
    }

    /// The table `group_buckets`: how many cells of each group are in each
    /// bucket, in random order.
    pub fn group_buckets(&self, buckets: &[Buckets]) -> PublishedTable {
        let mut entries: Vec<(u32, u32, u32)> = Vec::new();
        for index in self.frame.requirements.protected() {
            let of_record = self.bucket_of_record(&buckets[index.at()]);
            for (group, (_, records)) in self.groups().enumerate() {
                let number = self.numbers[group];
                let used = records.iter().map(|&record| of_record[record as usize]);
                let used = used.filter(|&bucket| bucket != 0);
                entries.extend(used.map(|bucket| (u32::from(index.0), number, bucket)));
            }
        }
        entries.sort_unstable();
        let mut counted = count_equal(&entries);
        counted.shuffle(&mut self.frame.context.stream(stage::PUBLISH, 1));
        let attributes = counted.iter().map(|&((index, ..), _)| index).collect();
        let groups = counted.iter().map(|&((_, group, _), _)| u64::from(group));
        let buckets = counted.iter().map(|&((.., bucket), _)| u64::from(bucket));
        let counts = counted.iter().map(|&(_, count)| count);
        PublishedTable {
            name: "group_buckets".into(),
            columns: vec![
                number_column("group", Content::Group, groups),
                self.attribute_names(attributes),
                number_column("bucket", Content::Bucket, buckets),
                number_column("count", Content::Count, counts),
            ],
        }
    }

    /// The table `buckets`: the values of each bucket, in random order.
    pub fn buckets(&self, buckets: &[Buckets]) -> PublishedTable {
        let mut entries: Vec<(u32, u32, u32)> = Vec::new();
        for (index, buckets) in buckets.iter().enumerate() {
            let cells = buckets.cells.iter();
            entries.extend(cells.map(|&(code, bucket)| (index as u32, code, bucket)));
        }
        entries.par_sort_unstable();
        let mut counted = count_equal(&entries);
        let (mut values, domains) = (ValueDictionary::default(), self.protected_domains());
        let mut coded: Vec<(u32, u32, u64, u32)> = Vec::with_capacity(counted.len());
        for ((index, code, bucket), count) in counted.drain(..) {
            let value = values.position(&domains, index, code);
            coded.push((index, bucket, count, value));
        }
        coded.shuffle(&mut self.frame.context.stream(stage::PUBLISH, 2));
        let numbers = coded.iter().map(|entry| u64::from(entry.1));
        let counts = coded.iter().map(|entry| entry.2);
        let value_cells = Cells::Dictionary {
            codes: coded.iter().map(|entry| entry.3).collect(),
            cells: values.cells,
        };
        PublishedTable {
            name: "buckets".into(),
            columns: vec![
                self.attribute_names(coded.iter().map(|entry| entry.0).collect()),
                number_column("bucket", Content::Bucket, numbers),
                plain_column("value", Content::Value, value_cells),
                number_column("count", Content::Count, counts),
            ],
        }
    }

    fn protected_domains(&self) -> Vec<Arc<Domain>> {
        let indexes = self.frame.requirements.protected();
        indexes
            .map(|index| Arc::clone(&self.frame.protected_column(index).domain))
            .collect()
    }

    fn attribute_names(&self, codes: Vec<u32>) -> PublishedColumn {
        let indexes = self.frame.requirements.protected();
        let cells = indexes.map(|index| Cell::Label(self.frame.name(index).into()));
        let cells = Cells::Dictionary {
            codes: codes.into(),
            cells: cells.collect(),
        };
        plain_column("attribute", Content::Attribute, cells)
    }
}

fn plain_column(name: &str, content: Content, cells: Cells) -> PublishedColumn {
    PublishedColumn {
        name: name.into(),
        content,
        kind: None,
        cells,
    }
}

fn number_column(
    name: &str,
    content: Content,
    numbers: impl Iterator<Item = u64>,
) -> PublishedColumn {
    plain_column(name, content, Cells::Numbers(numbers.collect()))
}

/// Each distinct entry of a sorted list with its number.
fn count_equal<E: Copy + PartialEq>(sorted: &[E]) -> Vec<(E, u64)> {
    let equal = sorted.chunk_by(|one, other| one == other);
    equal.map(|run| (run[0], run.len() as u64)).collect()
}

/// Distinct exact values over all attributes.
#[derive(Default)]
struct ValueDictionary {
    cells: Vec<Cell>,
    by_code: FxHashMap<(u32, u32), u32>,
    by_text: FxHashMap<(std::mem::Discriminant<Values>, String), u32>,
}

impl ValueDictionary {
    /// Position of the value of `code` in the domain of attribute `index`.
    fn position(&mut self, domains: &[Arc<Domain>], index: u32, code: u32) -> u32 {
        if let Some(&position) = self.by_code.get(&(index, code)) {
            return position;
        }
        // Two attributes may have a value in common.
        let domain = &domains[index as usize];
        let key = (
            std::mem::discriminant(domain.values()),
            domain.text(Code(code)),
        );
        let cells = &mut self.cells;
        let position = *self.by_text.entry(key).or_insert_with(|| {
            cells.push(value_cell(domain, code));
            cells.len() as u32 - 1
        });
        self.by_code.insert((index, code), position);
        position
    }
}
