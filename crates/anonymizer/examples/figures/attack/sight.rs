//! A release as an adversary sees it who knows everyone's quasi-identifiers:
//! people, and the sets of sensitive values that each stands beside.
//!
//! A *class* is what shows its values together: a block, a bucket, a group of
//! rows that look the same. Two people share a *vector* if they cannot be told
//! apart by what is known of them: equal quasi-identifiers, or, where rows in
//! buckets show generalized ones (`lgb`), equal rows.

use std::collections::HashMap;

use vizard_anonymizer::microdata::{
    AttributeIndex, Code, Domain, RecordIndex, Role, SubjectIndex, Table,
};
use vizard_anonymizer::release::{Cell, Cells, JoinedTable, Lineage, PublishedTable};

use super::Failure;
use super::cells::{covered, of_item};

/// One person who is published.
pub struct Person {
    /// Row of the table about people.
    pub row: usize,
    /// Number of what is known of them.
    pub vector: u32,
    /// Class that they stand in.
    pub class: u32,
    /// Their own values, ascending: the truth.
    pub own: Vec<u32>,
}

/// One sensitive attribute of a release.
pub struct Sight<'a> {
    pub name: &'a str,
    pub people: Vec<Person>,
    /// Values of each class with their share, ascending.
    pub classes: Vec<Vec<(u32, f64)>>,
    /// Values that each row shows itself, member by member; none where they
    /// stand in a block or bucket.
    pub shown: Vec<Vec<Vec<u32>>>,
}

/// A release beside its source.
pub struct Source<'a> {
    pub table: &'a Table,
    tables: &'a [PublishedTable],
    lineage: &'a Lineage,
    pub joined: JoinedTable<'a>,
    /// Records of each subject.
    records: HashMap<SubjectIndex, Vec<RecordIndex>>,
}

impl<'a> Source<'a> {
    pub fn new(
        table: &'a Table,
        (tables, lineage): (&'a [PublishedTable], &'a Lineage),
    ) -> Result<Self, Failure> {
        let has = |name: &str| tables.iter().any(|table| table.name == name);
        let joined = match (has("sliced"), has("persons")) {
            (true, _) => JoinedTable::of_sliced(tables)?,
            (_, true) => JoinedTable::of_persons(tables)?,
            _ => JoinedTable::new(tables)?,
        };
        let mut records: HashMap<SubjectIndex, Vec<RecordIndex>> = HashMap::new();
        for record in (0..table.records()).map(RecordIndex::from_usize) {
            let subject = table.subject_of(record);
            records.entry(subject).or_default().push(record);
        }
        Ok(Self {
            table,
            tables,
            lineage,
            joined,
            records,
        })
    }

    pub fn domain(&self, index: AttributeIndex) -> Option<&'a Domain> {
        self.table.coded(index).map(|column| &*column.domain)
    }

    pub fn quasi(&self) -> Vec<AttributeIndex> {
        let schema = self.table.schema();
        schema.select(|attribute| attribute.role == Role::QuasiIdentifier)
    }

    /// The sensitive attributes of which values are published.
    pub fn sensitive(&self) -> Vec<AttributeIndex> {
        let schema = self.table.schema();
        let all = schema.select(|attribute| attribute.is_protectable());
        let is_shown = |index: &AttributeIndex| {
            self.joined
                .attribute(&schema.attribute(*index).name)
                .is_some()
        };
        all.into_iter().filter(is_shown).collect()
    }

    /// The subject of each row.
    pub fn subjects(&self) -> &'a [SubjectIndex] {
        let of_rows = self.lineage.of(self.joined.name());
        of_rows.unwrap_or_default()
    }

    /// Everything known of a subject's attribute, ascending.
    pub fn codes(&self, subject: SubjectIndex, index: AttributeIndex) -> Vec<u32> {
        let records = self.records.get(&subject).into_iter().flatten();
        let codes = records.filter_map(|&record| self.table.code(index, record));
        let mut codes: Vec<u32> = codes.map(|Code(code)| code).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// What the adversary sees of one sensitive attribute.
    pub fn sight(&self, index: AttributeIndex) -> Option<Sight<'a>> {
        let name = &self.table.schema().attribute(index).name;
        let attribute = self.joined.attribute(name)?;
        let domain = self.domain(index)?;
        let shown = |row: usize| -> Vec<Vec<u32>> {
            match (attribute.cell(row), attribute.buckets.is_some()) {
                (Cell::Items(items), _) => items.iter().map(|item| of_item(item, domain)).collect(),
                (Cell::Empty, _) => Vec::new(),
                (cell, _) => vec![covered(cell, domain)],
            }
        };
        let shown: Vec<Vec<Vec<u32>>> = (0..self.joined.rows()).map(shown).collect();
        let (class_of_row, classes) = match &attribute.buckets {
            Some(buckets) => {
                let class_of = (0..self.joined.rows()).map(|row| buckets.pool_of(row));
                let contents = (0..buckets.len()).map(|bucket| {
                    let size = f64::from(buckets.sizes()[bucket]);
                    let run = buckets.run(bucket);
                    let values = run.flat_map(|(cell, count)| {
                        let share = f64::from(count) / size;
                        covered(cell, domain)
                            .into_iter()
                            .map(move |code| (code, share))
                    });
                    sorted(values)
                });
                (class_of.collect(), contents.collect())
            }
            None => self.by_number(&shown),
        };
        let vectors = self.vectors(attribute.buckets.is_some());
        let rows = self.subjects().iter().zip(&vectors).zip(class_of_row);
        let people = rows
            .enumerate()
            .filter_map(|(row, ((&subject, &vector), class))| {
                Some(Person {
                    row,
                    vector,
                    class: class?,
                    own: self.codes(subject, index),
                })
            });
        Some(Sight {
            name,
            people: people.collect(),
            classes,
            shown,
        })
    }

    /// Classes by the first column of numbers, with the shares of what their
    /// rows show.
    #[allow(clippy::type_complexity, reason = "both parts are told above")]
    fn by_number(&self, shown: &[Vec<Vec<u32>>]) -> (Vec<Option<u32>>, Vec<Vec<(u32, f64)>>) {
        let tables = self.tables.iter();
        let mut tables = tables.filter(|table| table.name == self.joined.name());
        let columns = tables.next().into_iter().flat_map(|table| &table.columns);
        let mut numbers = columns.filter_map(|column| match &column.cells {
            Cells::Numbers(numbers) => Some(numbers),
            Cells::Dictionary { .. } => None,
        });
        let Some(numbers) = numbers.next() else {
            return (Vec::new(), Vec::new());
        };
        let mut position = HashMap::new();
        let classes = numbers.iter().map(|&number| {
            let next = position.len() as u32;
            Some(*position.entry(number).or_insert(next))
        });
        let class_of: Vec<Option<u32>> = classes.collect();
        let mut contents: Vec<Vec<(u32, f64)>> = vec![Vec::new(); position.len()];
        let mut sizes = vec![0.0_f64; position.len()];
        for (row, class) in class_of.iter().enumerate() {
            let Some(class) = class.map(|class| class as usize) else {
                continue;
            };
            sizes[class] += 1.0;
            for member in &shown[row] {
                let share = 1.0 / member.len().max(1) as f64;
                contents[class].extend(member.iter().map(|&code| (code, share)));
            }
        }
        let contents = contents.into_iter().zip(sizes).map(|(values, size)| {
            sorted(
                values
                    .into_iter()
                    .map(|(code, weight)| (code, weight / size)),
            )
        });
        (class_of, contents.collect())
    }

    /// What is known of the person of each row, numbered.
    fn vectors(&self, in_buckets: bool) -> Vec<u32> {
        let is_exact = |index: &AttributeIndex| {
            let name = &self.table.schema().attribute(*index).name;
            let found = self.joined.attribute(name);
            found.is_some_and(|attribute| {
                let domain = self.domain(*index);
                let cells = attribute.cells.iter();
                domain.is_some_and(|domain| {
                    let mut sizes = cells.map(|cell| covered(cell, domain).len());
                    sizes.all(|size| size == 1)
                })
            })
        };
        if in_buckets && !self.quasi().iter().all(is_exact) {
            return self.joined.signatures().class_of().to_vec();
        }
        let quasi = self.quasi();
        let mut numbers: HashMap<Vec<Vec<u32>>, u32> = HashMap::new();
        let known = self.subjects().iter().map(|&subject| {
            let vector = quasi
                .iter()
                .map(|&index| self.codes(subject, index))
                .collect();
            let next = numbers.len() as u32;
            *numbers.entry(vector).or_insert(next)
        });
        known.collect()
    }
}

/// Values with their shares added up, ascending.
fn sorted(values: impl Iterator<Item = (u32, f64)>) -> Vec<(u32, f64)> {
    let mut values: Vec<(u32, f64)> = values.collect();
    values.sort_by_key(|value| value.0);
    let runs = values.chunk_by(|one, other| one.0 == other.0);
    runs.map(|run| (run[0].0, run.iter().map(|value| value.1).sum()))
        .collect()
}
