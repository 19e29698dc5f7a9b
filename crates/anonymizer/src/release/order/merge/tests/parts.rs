//! Random parts in every form that releases of parts have, and the union that they are
//! held against.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::microdata::SubjectIndex;
use crate::release::cell::{Cell, Item};
use crate::release::lineage::{Lineage, TableLineage};
use crate::release::table::{Cells, Content, PublishedColumn, PublishedTable};

/// What tables a release has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `microdata` with groups.
    Groups,
    /// The same with columns so wide that a row takes several words.
    Wide,
    /// `microdata` with groups and buckets, and `buckets`.
    LinkedRows,
    /// `microdata` with groups, `buckets` and `group_buckets`.
    LinkedGroups,
    /// `persons` with groups and fingerprints.
    Persons,
}

/// One row, in small numbers.
#[derive(Clone, Debug)]
pub struct Row {
    group: u8,
    exact: u8,
    /// Bucket and value of each sensitive attribute; bucket 0 is none.
    buckets: [(u8, u8); 2],
}

/// A part: its rows, and what each group shows.
#[derive(Clone, Debug)]
pub struct Part {
    rows: Vec<Row>,
    looks: [u8; GROUPS],
}

const GROUPS: usize = 5;
const ATTRIBUTES: [&str; 2] = ["job", "illness"];

pub fn forms() -> impl Strategy<Value = Form> {
    prop::sample::select(vec![
        Form::Groups,
        Form::Wide,
        Form::LinkedRows,
        Form::LinkedGroups,
        Form::Persons,
    ])
}

pub fn parts() -> impl Strategy<Value = Vec<Part>> {
    let bucket = || (0..4_u8, 0..2_u8);
    let row = (0..GROUPS as u8, 0..3_u8, bucket(), bucket());
    let row = row.prop_map(|(group, exact, one, other)| Row {
        group,
        exact,
        buckets: [one, other],
    });
    let looks = prop::array::uniform(0..8_u8);
    let part = (vec(row, 0..24), looks).prop_map(|(rows, looks)| Part { rows, looks });
    vec(part, 1..5)
}

/// Whether rows are told apart by a column.
pub fn is_looked_at(column: &PublishedColumn) -> bool {
    matches!(column.name.as_str(), "age" | "city")
}

fn numbers(name: &str, content: Content, numbers: Vec<u64>) -> PublishedColumn {
    PublishedColumn {
        name: name.into(),
        content,
        kind: None,
        cells: Cells::Numbers(numbers),
    }
}

fn cells(name: &str, content: Content, cells: Vec<Cell>) -> PublishedColumn {
    PublishedColumn {
        name: name.into(),
        content,
        kind: None,
        cells: Cells::Dictionary {
            codes: (0..cells.len() as u32).collect(),
            cells,
        },
    }
}

fn age(look: u8) -> Cell {
    match look % 4 {
        0 => Cell::Masked,
        1 => Cell::Empty,
        by => Cell::Integer(10 * i64::from(by), 10 * i64::from(by) + 9),
    }
}

fn label(text: &str, number: u8) -> Cell {
    Cell::Label(format!("{text}{number}"))
}

fn fingerprint(exact: u8) -> Cell {
    let node = |number: u8| Item::Node(format!("n{number}"));
    match exact {
        0 => Cell::Items(vec![node(1)]),
        1 => Cell::Items(vec![Item::Union(vec!["n1".into(), "n2".into()])]),
        _ => Cell::Items(vec![node(0), node(3)]),
    }
}

impl Part {
    /// The tables of a part and the subjects of its rows, numbered from `first` on in an
    /// order of their own.
    pub fn release(&self, form: Form, first: usize) -> (Vec<PublishedTable>, Lineage) {
        let main = self.main(form);
        let subjects = first..first + self.rows.len();
        let subjects = subjects.map(|at| SubjectIndex((at * 37 % 1009) as u32));
        let lineage = Lineage {
            tables: vec![TableLineage {
                table: main.name.clone(),
                subjects: subjects.collect(),
            }],
        };
        let mut tables = vec![main];
        if matches!(form, Form::LinkedRows | Form::LinkedGroups) {
            tables.push(self.buckets());
        }
        if form == Form::LinkedGroups {
            tables.push(self.group_buckets());
        }
        (tables, lineage)
    }

    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    fn main(&self, form: Form) -> PublishedTable {
        let of_rows = |number: fn(&Row) -> u64| self.rows.iter().map(number).collect();
        let shown = |cell: &dyn Fn(u8) -> Cell| {
            let looks = self.rows.iter().map(|row| self.looks[row.group as usize]);
            looks.map(cell).collect()
        };
        let exact = |cell: fn(u8) -> Cell| self.rows.iter().map(|row| cell(row.exact)).collect();
        let groups = of_rows(|row| u64::from(row.group) + 1);
        let mut columns = vec![
            numbers("group", Content::Group, groups),
            cells("age", Content::Generalized, shown(&age)),
        ];
        if form == Form::LinkedRows {
            let buckets = of_rows(|row| row.buckets[0].0.into());
            columns.push(numbers("job_bucket", Content::Bucket, buckets));
        }
        let city = |look| label("c", look / 4);
        columns.push(cells("city", Content::Generalized, shown(&city)));
        match form {
            Form::Persons => {
                columns.push(cells("illness", Content::Fingerprint, exact(fingerprint)));
            }
            Form::Wide => {
                let wide = [1 << 60, 1 << 40, 1 << 33];
                for (name, by) in ["x", "y", "z"].into_iter().zip(wide) {
                    let own = self.rows.iter().map(|row| u64::from(row.exact) * by);
                    columns.push(numbers(name, Content::Exact, own.collect()));
                }
            }
            _ => {
                let team = exact(|exact| label("t", exact));
                columns.push(cells("team", Content::Exact, team));
                // Few groups show the same, and rows that do stand apart in theirs.
                let shift = |row: &Row| label("s", row.buckets[0].1 + 2 * (row.group % 4));
                let shift = self.rows.iter().map(shift);
                columns.push(cells("shift", Content::Exact, shift.collect()));
            }
        }
        if form == Form::LinkedRows {
            let buckets = of_rows(|row| row.buckets[1].0.into());
            columns.push(numbers("illness_bucket", Content::Bucket, buckets));
        }
        let name = if form == Form::Persons {
            "persons"
        } else {
            "microdata"
        };
        PublishedTable {
            name: name.into(),
            columns,
        }
    }

    /// How often rows have each of what `of` gives for an attribute, except in bucket 0.
    fn counts(&self, of: fn(&Row, usize) -> (u8, u8)) -> Vec<(usize, (u8, u8), u64)> {
        let mut counts: BTreeMap<(usize, (u8, u8)), u64> = BTreeMap::new();
        for row in &self.rows {
            for attribute in 0..ATTRIBUTES.len() {
                if row.buckets[attribute].0 > 0 {
                    *counts.entry((attribute, of(row, attribute))).or_default() += 1;
                }
            }
        }
        let counts = counts.into_iter();
        counts
            .map(|((attribute, of), count)| (attribute, of, count))
            .collect()
    }

    fn buckets(&self) -> PublishedTable {
        let entries = self.counts(|row, attribute| row.buckets[attribute]);
        let attributes = entries
            .iter()
            .map(|entry| Cell::Label(ATTRIBUTES[entry.0].into()));
        let values = entries.iter().map(|entry| label("v", entry.1.1));
        let buckets = entries.iter().map(|entry| entry.1.0.into());
        PublishedTable {
            name: "buckets".into(),
            columns: vec![
                cells("attribute", Content::Attribute, attributes.collect()),
                numbers("bucket", Content::Bucket, buckets.collect()),
                cells("value", Content::Value, values.collect()),
                numbers(
                    "count",
                    Content::Count,
                    entries.iter().map(|entry| entry.2).collect(),
                ),
            ],
        }
    }

    fn group_buckets(&self) -> PublishedTable {
        let entries = self.counts(|row, attribute| (row.group, row.buckets[attribute].0));
        let attributes = entries
            .iter()
            .map(|entry| Cell::Label(ATTRIBUTES[entry.0].into()));
        let groups = entries.iter().map(|entry| u64::from(entry.1.0) + 1);
        let buckets = entries.iter().map(|entry| entry.1.1.into());
        PublishedTable {
            name: "group_buckets".into(),
            columns: vec![
                numbers("group", Content::Group, groups.collect()),
                cells("attribute", Content::Attribute, attributes.collect()),
                numbers("bucket", Content::Bucket, buckets.collect()),
                numbers(
                    "count",
                    Content::Count,
                    entries.iter().map(|entry| entry.2).collect(),
                ),
            ],
        }
    }
}

/// The tables of all parts one behind the other, numbers made distinct; where `joins`,
/// groups that show the same in the columns looked at have the number of the first.
pub fn union(
    parts: &[(Vec<PublishedTable>, Lineage)],
    joins: bool,
) -> (Vec<PublishedTable>, Lineage) {
    let largest = GROUPS as u64;
    let moved = (0..).zip(parts).map(|(part, (tables, _))| {
        let mut tables = tables.clone();
        let columns = tables.iter_mut().flat_map(|table| &mut table.columns);
        for column in columns.filter(|column| column.content.is_number()) {
            if let Cells::Numbers(numbers) = &mut column.cells {
                let numbers = numbers.iter_mut().filter(|number| **number > 0);
                numbers.for_each(|number| *number += part * largest);
            }
        }
        tables
    });
    let moved: Vec<Vec<PublishedTable>> = moved.collect();
    let mut tables: Vec<PublishedTable> = (0..moved[0].len())
        .map(|at| {
            let of_parts: Vec<PublishedTable> =
                moved.iter().map(|tables| tables[at].clone()).collect();
            PublishedTable::join(&of_parts[0].name, &of_parts)
        })
        .collect();
    let mut lineage = parts[0].1.clone();
    let subjects = parts
        .iter()
        .flat_map(|(_, lineage)| &lineage.tables[0].subjects);
    lineage.tables[0].subjects = subjects.copied().collect();
    if joins {
        join_groups(&mut tables);
    }
    (tables, lineage)
}

/// What each row shows in the columns looked at, and its group.
pub fn looks(
    table: &PublishedTable,
    is_looked_at: &dyn Fn(&PublishedColumn) -> bool,
) -> Vec<(String, u64)> {
    let Cells::Numbers(groups) = &table.columns[0].cells else {
        panic!("groups have numbers");
    };
    let look = |row: usize| {
        let mut look = String::new();
        for column in table.columns.iter().filter(|column| is_looked_at(column)) {
            if let Cells::Dictionary { codes, cells } = &column.cells {
                cells[codes.at(row) as usize].text(&mut look);
                look.push('\n');
            }
        }
        look
    };
    (0..groups.len())
        .map(|row| (look(row), groups[row]))
        .collect()
}

fn join_groups(tables: &mut [PublishedTable]) {
    let mut first: BTreeMap<String, u64> = BTreeMap::new();
    let mut number: BTreeMap<u64, u64> = BTreeMap::new();
    for (look, group) in looks(&tables[0], &is_looked_at) {
        number.insert(group, *first.entry(look).or_insert(group));
    }
    let columns = tables.iter_mut().flat_map(|table| &mut table.columns);
    for column in columns.filter(|column| column.content == Content::Group) {
        if let Cells::Numbers(groups) = &mut column.cells {
            groups.iter_mut().for_each(|group| *group = number[group]);
        }
    }
}
