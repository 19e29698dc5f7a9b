//! What an engine knows of the rows that it publishes: whose they are, where
//! those people stand in the source, and what they would keep to themselves.

use std::hash::{DefaultHasher, Hash, Hasher};

use vizard_anonymizer::microdata::{
    AttributeIndex, RecordIndex, Role, SubjectIndex, SubjectRecords,
};
use vizard_anonymizer::release::{Cells, Content, PublishedColumn, PublishedTable};

use crate::case::Case;

/// The rows of the table that is about subjects.
pub struct Rows {
    /// Position of each row's subject in the source.
    pub subject: Vec<u32>,
    /// Code of the first sensitive value of each row's subject.
    pub secret: Vec<u32>,
    /// Whether the subject asked for something.
    pub asks: Vec<bool>,
    /// The first number of each row: group, block or bucket.
    pub number: Vec<u64>,
    /// What the row shows beside numbers.
    pub shows: Vec<String>,
    /// What the row shows of quasi-identifiers.
    pub looks: Vec<String>,
    /// Rows in order of the source.
    pub by_source: Vec<usize>,
}

impl Rows {
    pub fn of(case: &Case) -> Self {
        let table = case.published(case.row_table());
        let records = SubjectRecords::of(&case.table);
        let record = |subject: &SubjectIndex| records.of_subject(*subject)[0];
        let own: Vec<RecordIndex> = case.subjects().iter().map(record).collect();
        let secret = secret(case);
        let code = |&record: &RecordIndex| case.table.code(secret, record).map_or(0, |code| code.0);
        let subject: Vec<u32> = case.subjects().iter().map(|subject| subject.0).collect();
        let mut by_source: Vec<usize> = (0..subject.len()).collect();
        by_source.sort_by_key(|&row| subject[row]);
        Self {
            secret: own.iter().map(code).collect(),
            asks: own
                .iter()
                .map(|&at| case.requirements.of(at).personal)
                .collect(),
            number: case.numbers(case.row_table(), &number_column(case)),
            shows: texts(table, &|column| !is_number(column.content)),
            looks: texts(table, &|column| is_known(case, &column.name)),
            subject,
            by_source,
        }
    }

    pub fn len(&self) -> usize {
        self.subject.len()
    }

    /// All rows, sorted by a key.
    pub fn sorted<K: Ord>(&self, key: impl Fn(usize) -> K) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.len()).collect();
        rows.sort_by_key(|&row| key(row));
        rows
    }

    /// Rows by their first number.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups = std::collections::BTreeMap::new();
        for (row, &number) in self.number.iter().enumerate() {
            groups.entry(number).or_insert_with(Vec::new).push(row);
        }
        groups.into_values().collect()
    }
}

/// The first sensitive attribute that is published, or would be.
pub fn secret(case: &Case) -> AttributeIndex {
    let sensitive = case
        .table
        .schema()
        .select(|attribute| attribute.role == Role::Sensitive);
    *sensitive.last().expect("something is sensitive")
}

/// Name of the first column of numbers of the rows.
pub fn number_column(case: &Case) -> String {
    let columns = case.published(case.row_table()).columns.iter();
    let mut numbers = columns.filter(|column| is_number(column.content));
    numbers.next().expect("rows are numbered").name.clone()
}

pub fn is_number(content: Content) -> bool {
    matches!(
        content,
        Content::Group | Content::Block | Content::Bucket | Content::Count | Content::Column
    )
}

/// Whether a column shows a quasi-identifier.
fn is_known(case: &Case, column: &str) -> bool {
    let schema = case.table.schema();
    let found = schema
        .find(column)
        .map(|index| schema.attribute(index).role);
    found.is_some_and(|role| matches!(role, Role::QuasiIdentifier | Role::SemiSensitive))
}

/// The text of each row's cells in some columns.
pub fn texts(table: &PublishedTable, wanted: &dyn Fn(&PublishedColumn) -> bool) -> Vec<String> {
    let mut all = vec![String::new(); table.rows()];
    for column in table.columns.iter().filter(|column| wanted(column)) {
        for (row, text) in all.iter_mut().enumerate() {
            match &column.cells {
                Cells::Numbers(numbers) => text.push_str(&numbers[row].to_string()),
                Cells::Dictionary { codes, cells } => cells[codes.at(row) as usize].text(text),
            }
            text.push('\u{1f}');
        }
    }
    all
}

/// A number that whoever knows the input can work out.
pub fn hash(input: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    hasher.finish()
}

/// Key of a row's subject in the source.
pub fn key(case: &Case, row: usize) -> String {
    let subject = case.subjects()[row];
    case.table.subject_keys().get(subject.at()).to_owned()
}
