//! The union of what parts gave.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::engine::kernel::outline::SetNumber;
use crate::engine::kernel::outline::slices::Counted;
use crate::microdata::{Codes, Role, RowClasses, SubjectIndex};
use crate::privacy::{Model, Protection};
use crate::release::layout::{BUCKETS, GROUP_BUCKETS};
use crate::release::{
    Cell, Cells, Content, Lineage, PublishedColumn, PublishedTable, Release, TableLineage,
    compare_cells,
};

use super::Made;
use super::closeness::bucket_too_far;
use super::gathered::Gathered;

/// Whether parts can be published together.
pub(super) enum Together {
    /// They can; groups with these numbers take the others' beside them, since they
    /// look alike.
    Joined(FxHashMap<u64, u64>),
    /// Not yet: rows of these two look alike, and do not keep together what a
    /// member asks.
    Apart(SetNumber, SetNumber),
    /// Not yet: this one has a bucket whose values are too far from those of all.
    Beyond(SetNumber),
}

/// Looks at what the parts show together.
pub(super) fn together(gathered: &Gathered<'_>, counted: &Counted<'_>, made: &[&Made]) -> Together {
    let Some(first) = made.first() else {
        return Together::Joined(FxHashMap::default());
    };
    let offsets = offsets(made.iter().copied());
    let rows = Rows::of(gathered, made);
    let keeps = Keeps::of(
        gathered,
        first
            .release
            .tables
            .iter()
            .any(|table| table.name == GROUP_BUCKETS),
    );
    if let Some((one, other)) = rows.apart(&keeps, gathered, counted) {
        return Together::Apart(one, other);
    }
    let mut protections = gathered.requirements.policy().protections();
    let is_relative = protections.any(|(_, own)| matches!(own, Protection::Closeness { .. }));
    let mut all = first.release.tables.iter();
    let buckets = all.position(|table| table.name == BUCKETS);
    if let Some(at) = buckets.filter(|_| is_relative) {
        let parts = made.iter().map(|part| &part.release.tables[at]);
        let buckets = united_table(&parts.collect::<Vec<_>>(), &offsets);
        let of_whole = (gathered.table, &gathered.requirements);
        if let Some(bucket) = bucket_too_far(of_whole, &buckets) {
            let part = offsets.partition_point(|&offset| offset < bucket) - 1;
            return Together::Beyond(made[part].set);
        }
    }
    Together::Joined(rows.joined(&offsets))
}

/// The release of all parts, which are used up column by column; `joined` are the
/// groups that take the numbers of others.
pub(super) fn union(
    gathered: &Gathered<'_>,
    joined: &FxHashMap<u64, u64>,
    mut made: Vec<Made>,
) -> Release {
    let offsets = offsets(made.iter());
    let shapes: Vec<(String, usize)> = made.first().map_or_else(Vec::new, |part| {
        let tables = part.release.tables.iter();
        let shape = tables.map(|table| (table.name.clone(), table.columns.len()));
        shape.collect()
    });
    let mut tables = Vec::with_capacity(shapes.len());
    for (at, (name, columns)) in shapes.into_iter().enumerate() {
        let columns = (0..columns).map(|column| {
            let used_up = made.iter_mut().map(|part| {
                let column = &mut part.release.tables[at].columns[column];
                let cells = std::mem::replace(&mut column.cells, Cells::Numbers(Vec::new()));
                PublishedColumn {
                    cells,
                    ..column.clone()
                }
            });
            let used_up: Vec<PublishedColumn> = used_up.collect();
            let mut column = united(&used_up.iter().collect::<Vec<_>>(), &offsets);
            if column.content == Content::Group
                && let Cells::Numbers(numbers) = &mut column.cells
            {
                for number in numbers {
                    *number = joined.get(number).copied().unwrap_or(*number);
                }
            }
            column
        });
        let columns = columns.collect();
        tables.push(PublishedTable { name, columns });
    }
    let lineage = lineage(&made);
    let mut unsatisfiable = gathered.unsatisfiable.clone();
    for part in &made {
        unsatisfiable.extend(&part.release.unsatisfiable);
    }
    let of_parts: u64 = made.iter().map(|part| part.release.excluded).sum();
    let before = gathered.opted_out + gathered.unsatisfiable.len();
    Release {
        tables,
        lineage,
        excluded: of_parts + before as u64,
        unsatisfiable,
        kept: None,
        parts: None,
    }
}

/// When rows of several parts that look alike keep together what their members ask.
enum Keeps {
    /// Always.
    Always,
    /// Where the counts of their values do.
    ByCounts,
    /// Where all of them ask for the same.
    OfSameTerms,
    /// That follows from nothing here.
    Unknown,
}

impl Keeps {
    fn of(gathered: &Gathered<'_>, links_groups: bool) -> Self {
        match gathered.requirements.policy().model {
            Model::Generalized { .. } => Self::ByCounts,
            // What a node tells of somebody in another group follows from no count.
            Model::Personalized { .. } => Self::Unknown,
            Model::Fingerprints { .. } => Self::OfSameTerms,
            // Candidates of a group are those of all buckets that it names.
            Model::Bucketized { .. } if links_groups => Self::OfSameTerms,
            _ => Self::Always,
        }
    }
}

/// A table of all parts, one behind the other. Numbers of groups and buckets are made
/// distinct.
fn united_table(parts: &[&PublishedTable], offsets: &[u64]) -> PublishedTable {
    let first = parts[0];
    let columns = (0..first.columns.len()).map(|column| {
        let of_parts = parts.iter().map(|table| &table.columns[column]);
        united(&of_parts.collect::<Vec<_>>(), offsets)
    });
    PublishedTable {
        name: first.name.clone(),
        columns: columns.collect(),
    }
}

/// What is added to the numbers of each part.
fn offsets<'a>(made: impl Iterator<Item = &'a Made>) -> Vec<u64> {
    let mut before = 0;
    let offsets = made.map(|part| {
        let offset = before;
        before += largest_number(&part.release);
        offset
    });
    offsets.collect()
}

/// The largest number of a group, block or bucket.
fn largest_number(release: &Release) -> u64 {
    let columns = release.tables.iter().flat_map(|table| &table.columns);
    let numbers = columns.filter(|column| column.content.is_number());
    let largest = numbers.map(|column| column.cells.largest_number());
    largest.max().unwrap_or(0)
}

/// One column of all parts.
fn united(columns: &[&PublishedColumn], offsets: &[u64]) -> PublishedColumn {
    let first = columns[0];
    let rows = columns.iter().map(|column| column.cells.len()).sum();
    let cells = match &first.cells {
        Cells::Numbers(_) => {
            let mut all = Vec::with_capacity(rows);
            for (column, offset) in columns.iter().zip(offsets) {
                if let Cells::Numbers(numbers) = &column.cells {
                    let offset = if first.content.is_number() {
                        *offset
                    } else {
                        0
                    };
                    // 0 is the empty cell.
                    let moved = |&number: &u64| if number == 0 { 0 } else { number + offset };
                    all.extend(numbers.iter().map(moved));
                }
            }
            Cells::Numbers(all)
        }
        Cells::Dictionary { .. } => dictionary(columns),
    };
    PublishedColumn {
        name: first.name.clone(),
        content: first.content,
        kind: first.kind,
        cells,
    }
}

/// The cells of all parts with one dictionary.
fn dictionary(columns: &[&PublishedColumn]) -> Cells {
    let mut all: Vec<(&Cell, usize, usize)> = Vec::new();
    let parts = columns.iter().map(|column| match &column.cells {
        Cells::Dictionary { codes, cells } => (Some(codes), cells.as_slice()),
        Cells::Numbers(_) => (None, &[][..]),
    });
    let parts: Vec<(Option<&Codes>, &[Cell])> = parts.collect();
    for (part, (_, cells)) in parts.iter().enumerate() {
        all.extend(cells.iter().enumerate().map(|(at, cell)| (cell, part, at)));
    }
    all.sort_by(|one, other| compare_cells(one.0, other.0));
    let mut position: Vec<Vec<u32>> = parts
        .iter()
        .map(|(_, cells)| vec![0; cells.len()])
        .collect();
    let mut cells: Vec<Cell> = Vec::new();
    for (cell, part, at) in all {
        if cells.last() != Some(cell) {
            cells.push(cell.clone());
        }
        position[part][at] = cells.len() as u32 - 1;
    }
    let codes = parts
        .iter()
        .zip(&position)
        .flat_map(|((codes, _), position)| {
            let codes = codes.iter().flat_map(|codes| codes.iter());
            codes.map(|code| position[code as usize])
        });
    Cells::Dictionary {
        codes: Codes::below(cells.len(), codes),
        cells,
    }
}

/// Who the rows of all parts are.
fn lineage(made: &[Made]) -> Lineage {
    let Some(first) = made.first() else {
        return Lineage::default();
    };
    let tables = first.release.lineage.tables.iter();
    let tables = tables.map(|entry| TableLineage {
        table: entry.table.clone(),
        subjects: made
            .iter()
            .flat_map(|part| part.release.lineage.of(&entry.table).unwrap_or_default())
            .copied()
            .collect(),
    });
    Lineage {
        tables: tables.collect(),
    }
}

/// The rows of all parts by what they show.
struct Rows<'a> {
    classes: RowClasses,
    /// The part of each row.
    part_of: Codes,
    made: &'a [&'a Made],
    subjects: Vec<SubjectIndex>,
}

impl<'a> Rows<'a> {
    /// The rows of the first table.
    fn of(gathered: &Gathered<'_>, made: &'a [&'a Made]) -> Self {
        let tables = made.iter().filter_map(|part| part.release.tables.first());
        let tables: Vec<&PublishedTable> = tables.collect();
        let rows = tables.iter().map(|table| table.rows()).sum();
        let mut classes = RowClasses::whole(rows);
        let shown = tables.first().map_or(&[][..], |first| &first.columns);
        for (at, column) in shown.iter().enumerate() {
            if is_looked_at(gathered, column) {
                let of_parts = tables.iter().map(|table| &table.columns[at]);
                let column = dictionary(&of_parts.collect::<Vec<_>>());
                if let Cells::Dictionary { codes, .. } = column {
                    classes.refine_by_code(|row| codes.at(row));
                }
            }
        }
        let of_parts = (0_u32..)
            .zip(&tables)
            .flat_map(|(at, table)| std::iter::repeat_n(at, table.rows()));
        let part_of = Codes::below(made.len(), of_parts);
        let subjects = made.iter().flat_map(|part| {
            let name = part.release.tables.first().map(|table| &table.name);
            name.and_then(|name| part.release.lineage.of(name))
                .unwrap_or_default()
        });
        Self {
            classes,
            part_of,
            made,
            subjects: subjects.copied().collect(),
        }
    }

    /// The rows of each class that has rows of several parts.
    fn across(&self) -> BTreeMap<u32, Vec<u32>> {
        let mut first: FxHashMap<u32, u32> = FxHashMap::default();
        let mut across: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (class, part) in self.classes.of_row.iter().zip(self.part_of.iter()) {
            if *first.entry(*class).or_insert(part) != part {
                across.entry(*class).or_default();
            }
        }
        for (row, class) in (0..).zip(&self.classes.of_row) {
            if let Some(rows) = across.get_mut(class) {
                rows.push(row);
            }
        }
        across
    }

    /// Two parts with rows that look alike, where these do not keep together what
    /// is asked.
    fn apart(
        &self,
        keeps: &Keeps,
        gathered: &Gathered<'_>,
        counted: &Counted<'_>,
    ) -> Option<(SetNumber, SetNumber)> {
        let across = self.across();
        let mut failing = across.values().filter(|rows| {
            let records = rows.iter();
            let records = records.map(|&row| gathered.first_record(self.subjects[row as usize]));
            match keeps {
                Keeps::Always => false,
                Keeps::Unknown => true,
                Keeps::ByCounts => !counted.rule.holds(&counted.contents(records)),
                Keeps::OfSameTerms => {
                    let terms = gathered.requirements.terms_of_record();
                    let mut terms = records.map(|record| terms.at(record as usize));
                    let first = terms.next();
                    terms.any(|other| Some(other) != first)
                }
            }
        });
        let rows = failing.next()?;
        let part = |row: &u32| self.part_of.at(*row as usize);
        let mut parts = rows.iter().map(part);
        let first = parts.next()?;
        let other = parts.find(|&part| part != first)?;
        let set = |part: u32| self.made[part as usize].set;
        Some((set(first), set(other)))
    }

    /// Groups that look alike like another one before them, and its number.
    fn joined(&self, offsets: &[u64]) -> FxHashMap<u64, u64> {
        let mut first: FxHashMap<u32, u64> = FxHashMap::default();
        let mut joined: FxHashMap<u64, u64> = FxHashMap::default();
        let mut classes = self.classes.of_row.iter();
        for (part, offset) in self.made.iter().zip(offsets) {
            let columns = part.release.tables.first().map(|table| &table.columns);
            let mut columns = columns.into_iter().flatten();
            let groups = columns.find(|column| column.content == Content::Group);
            let Some(Cells::Numbers(numbers)) = groups.map(|column| &column.cells) else {
                return joined;
            };
            for (number, class) in numbers.iter().zip(classes.by_ref()) {
                let group = number + offset;
                let first = *first.entry(*class).or_insert(group);
                if first != group {
                    joined.insert(group, first);
                }
            }
        }
        joined
    }
}

/// Whether rows that differ in a column are told apart by it.
fn is_looked_at(gathered: &Gathered<'_>, column: &PublishedColumn) -> bool {
    let schema = gathered.table.schema();
    let role = schema
        .find(&column.name)
        .map(|at| schema.attribute(at).role);
    let model = &gathered.requirements.policy().model;
    match role {
        Some(Role::QuasiIdentifier) => true,
        // Shown where it is not sensitive.
        Some(Role::SemiSensitive) => matches!(model, Model::Bucketized { .. }),
        _ => false,
    }
}
