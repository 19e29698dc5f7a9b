//! Counting in the original table, to hold estimates against.
//!
//! Records are those that were published: excluded ones are in no answer.
//! Each attribute has its rows in order of codes, so that a count visits only
//! the rows that satisfy its most selective condition.

use crate::microdata::{Code, Domain, SubjectIndex, Table, Values};
use crate::release::Cell;

use super::condition::Condition;
use super::index::{Conditions, QueryIndex};

/// The original values of the published records.
#[derive(Debug)]
pub struct ExactIndex<'a> {
    columns: Vec<ExactColumn<'a>>,
}

#[derive(Debug)]
struct ExactColumn<'a> {
    domain: &'a Domain,
    /// Code of each published record.
    codes: Vec<u32>,
    /// Where the rows with each code begin; one more entry than codes.
    starts: Vec<u32>,
    /// Rows in order of their codes.
    rows: Vec<u32>,
}

impl<'a> ExactIndex<'a> {
    /// Indexes the originals of a release's rows; `subjects` is its lineage.
    /// `None` where an attribute of the release is not in the table, or the
    /// lineage does not fit.
    pub fn new(
        index: &QueryIndex<'_>,
        table: &'a Table,
        subjects: &[SubjectIndex],
    ) -> Option<Self> {
        let fits = subjects.len() == index.rows()
            && table.records() == table.subjects()
            && subjects
                .iter()
                .all(|subject| subject.at() < table.records());
        let attributes = index.joined.attributes().iter();
        let columns = attributes.map(|attribute| {
            let column = table.coded(table.schema().find(attribute.name)?)?;
            Some(ExactColumn::new(&column.domain, &column.codes, subjects))
        });
        match fits {
            true => columns
                .collect::<Option<_>>()
                .map(|columns| Self { columns }),
            false => None,
        }
    }

    /// Number of records that satisfy all conditions.
    pub(super) fn count(&self, index: &QueryIndex<'_>, conditions: &Conditions) -> u64 {
        let mut admitted: Vec<(&ExactColumn<'_>, Vec<bool>, usize)> = conditions
            .iter()
            .map(|(at, condition)| {
                let column = &self.columns[*at];
                let admitted = column.admitted(condition, |cell| {
                    condition.judge(cell, &index.domains[*at]).certain
                });
                let rows = column.rows_of(&admitted).map(<[u32]>::len).sum();
                (column, admitted, rows)
            })
            .collect();
        admitted.sort_by_key(|&(_, _, rows)| rows);
        let Some(((first, marks, rows), others)) = admitted.split_first() else {
            return index.rows() as u64;
        };
        if others.is_empty() {
            return *rows as u64;
        }
        let satisfies = |row: u32| {
            others
                .iter()
                .all(|(column, marks, _)| marks[column.codes[row as usize] as usize])
        };
        let candidates = first.rows_of(marks).flatten();
        candidates.filter(|&&row| satisfies(row)).count() as u64
    }

    /// The domain of an attribute, by position.
    pub(super) fn domain(&self, at: usize) -> &'a Domain {
        self.columns[at].domain
    }
}

impl<'a> ExactColumn<'a> {
    fn new(domain: &'a Domain, codes: &[u32], subjects: &[SubjectIndex]) -> Self {
        let codes: Vec<u32> = subjects.iter().map(|subject| codes[subject.at()]).collect();
        let mut starts = vec![0_u32; domain.len() + 1];
        for &code in &codes {
            starts[code as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut rows = vec![0_u32; codes.len()];
        for (row, &code) in codes.iter().enumerate() {
            rows[next[code as usize] as usize] = row as u32;
            next[code as usize] += 1;
        }
        Self {
            domain,
            codes,
            starts,
            rows,
        }
    }

    /// Which codes satisfy a condition.
    fn admitted(&self, condition: &Condition, judge: impl Fn(&Cell) -> bool) -> Vec<bool> {
        match condition {
            // The codes of a hierarchy's leaves are their positions.
            Condition::Leaves { before, .. } if before.len() == self.domain.len() + 1 => {
                before.windows(2).map(|pair| pair[0] < pair[1]).collect()
            }
            _ => (0..self.domain.len())
                .map(|code| judge(&exact_cell(self.domain, Code::from_usize(code))))
                .collect(),
        }
    }

    /// Runs of rows whose codes satisfy.
    fn rows_of<'s>(&'s self, admitted: &'s [bool]) -> impl Iterator<Item = &'s [u32]> {
        let codes = admitted
            .iter()
            .enumerate()
            .filter(|(_, admitted)| **admitted);
        codes
            .map(|(code, _)| &self.rows[self.starts[code] as usize..self.starts[code + 1] as usize])
    }
}

/// The cell that publishes a code exactly.
pub(super) fn exact_cell(domain: &Domain, code: Code) -> Cell {
    match domain.values() {
        Values::Integer(values) => Cell::Integer(values[code.at()], values[code.at()]),
        Values::Decimal(values) => Cell::Decimal(values[code.at()], values[code.at()]),
        Values::Date(values) => Cell::Date(values[code.at()], values[code.at()]),
        Values::Category(values) => Cell::Label(values[code.at()].clone()),
    }
}
