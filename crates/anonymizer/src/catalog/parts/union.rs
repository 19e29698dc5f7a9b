//! The union of what parts gave.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::engine::kernel::outline::SetNumber;
use crate::engine::kernel::outline::slices::Counted;
use crate::microdata::{Codes, Role, RowClasses, SubjectIndex};
use crate::privacy::Model;
use crate::release::layout::GROUP_BUCKETS;
use crate::release::{
    Cell, Cells, Content, Lineage, PublishedColumn, PublishedTable, Release, TableLineage,
    compare_cells,
};

use super::Made;
use super::gathered::Gathered;

/// What parts give together.
pub(super) enum Union {
    /// One release.
    Whole(Release),
    /// None yet: rows of these two look alike, and do not keep together what a
    /// member asks.
    Apart(SetNumber, SetNumber),
}

/// The union of all parts.
pub(super) fn union(gathered: &Gathered<'_>, counted: &Counted<'_>, made: &[&Made]) -> Union {
    let mut tables = tables(made);
    let lineage = lineage(made);
    if let Some(table) = tables.first() {
        let subjects = lineage.of(&table.name).unwrap_or_default();
        let rows = Rows::of((gathered, table), made, subjects);
        let keeps = Keeps::of(
            gathered,
            tables.iter().any(|table| table.name == GROUP_BUCKETS),
        );
        if let Some((one, other)) = rows.apart(&keeps, gathered, counted) {
            return Union::Apart(one, other);
        }
        rows.join(&mut tables);
    }
    let mut unsatisfiable = gathered.unsatisfiable.clone();
    for part in made {
        let left_out = part.release.unsatisfiable.iter();
        unsatisfiable.extend(left_out.map(|&subject| part.part.subject_in_whole(subject)));
    }
    let of_parts: u64 = made.iter().map(|part| part.release.excluded).sum();
    let before = gathered.opted_out + gathered.unsatisfiable.len();
    Union::Whole(Release {
        tables,
        lineage,
        excluded: of_parts + before as u64,
        unsatisfiable,
        kept: None,
        parts: None,
    })
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

/// The tables of all parts, one behind the other. Numbers of groups and buckets
/// are made distinct.
fn tables(made: &[&Made]) -> Vec<PublishedTable> {
    let Some(first) = made.first() else {
        return Vec::new();
    };
    let mut before = 0;
    let offsets: Vec<u64> = made
        .iter()
        .map(|part| {
            let offset = before;
            before += largest_number(&part.release);
            offset
        })
        .collect();
    let named = first.release.tables.iter().enumerate();
    let tables = named.map(|(at, table)| PublishedTable {
        name: table.name.clone(),
        columns: (0..table.columns.len())
            .map(|column| {
                let of_parts = made
                    .iter()
                    .map(|part| &part.release.tables[at].columns[column]);
                united(&of_parts.collect::<Vec<_>>(), &offsets)
            })
            .collect(),
    });
    tables.collect()
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

/// Who the rows of all parts are, by the whole table.
fn lineage(made: &[&Made]) -> Lineage {
    let Some(first) = made.first() else {
        return Lineage::default();
    };
    let tables = first.release.lineage.tables.iter();
    let tables = tables.map(|entry| TableLineage {
        table: entry.table.clone(),
        subjects: made
            .iter()
            .flat_map(|part| {
                let own = part.release.lineage.of(&entry.table).unwrap_or_default();
                own.iter()
                    .map(|&subject| part.part.subject_in_whole(subject))
            })
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
    part_of: Vec<u32>,
    made: &'a [&'a Made],
    subjects: &'a [SubjectIndex],
}

impl<'a> Rows<'a> {
    fn of(
        (gathered, table): (&Gathered<'_>, &PublishedTable),
        made: &'a [&'a Made],
        subjects: &'a [SubjectIndex],
    ) -> Self {
        let mut classes = RowClasses::whole(table.rows());
        let shown = table.columns.iter();
        let schema = gathered.table.schema();
        let is_bucketized = matches!(
            gathered.requirements.policy().model,
            Model::Bucketized { .. }
        );
        let is_looked_at = |column: &&PublishedColumn| {
            let role = schema
                .find(&column.name)
                .map(|at| schema.attribute(at).role);
            match role {
                Some(Role::QuasiIdentifier) => true,
                // Shown where it is not sensitive.
                Some(Role::SemiSensitive) => is_bucketized,
                _ => false,
            }
        };
        for column in shown.filter(is_looked_at) {
            if let Cells::Dictionary { codes, .. } = &column.cells {
                classes.refine(|row| codes.at(row));
            }
        }
        let of_parts = (0_u32..).zip(made).flat_map(|(at, part)| {
            let rows = part.release.tables.first().map_or(0, PublishedTable::rows);
            std::iter::repeat_n(at, rows)
        });
        Self {
            classes,
            part_of: of_parts.collect(),
            made,
            subjects,
        }
    }

    /// The rows of each class that has rows of several parts.
    fn across(&self) -> BTreeMap<u32, Vec<u32>> {
        let mut first: FxHashMap<u32, u32> = FxHashMap::default();
        let mut across: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (class, &part) in self.classes.of_row.iter().zip(&self.part_of) {
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
        let part = |row: &u32| self.part_of[*row as usize];
        let mut parts = rows.iter().map(part);
        let first = parts.next()?;
        let other = parts.find(|&part| part != first)?;
        let set = |part: u32| self.made[part as usize].set;
        Some((set(first), set(other)))
    }

    /// Gives groups that look alike the number of the first of them, wherever they
    /// are named.
    fn join(&self, tables: &mut [PublishedTable]) {
        let groups = |table: &PublishedTable| {
            let mut columns = table.columns.iter();
            columns.position(|column| column.content == Content::Group)
        };
        let Some(at) = tables.first().and_then(groups) else {
            return;
        };
        let Cells::Numbers(numbers) = &tables[0].columns[at].cells else {
            return;
        };
        let mut first: FxHashMap<u32, u64> = FxHashMap::default();
        let mut joined: FxHashMap<u64, u64> = FxHashMap::default();
        for (class, &group) in self.classes.of_row.iter().zip(numbers) {
            let first = *first.entry(*class).or_insert(group);
            if first != group {
                joined.insert(group, first);
            }
        }
        for table in tables {
            if let Some(at) = groups(table)
                && let Cells::Numbers(numbers) = &mut table.columns[at].cells
            {
                for number in numbers {
                    *number = joined.get(number).copied().unwrap_or(*number);
                }
            }
        }
    }
}
