//! Counting in the original table, to hold estimates against.
//!
//! Records are those that were published: excluded ones are in no answer.
//! Each attribute has its rows in order of codes, so that a count visits only
//! the rows that satisfy its most selective condition; where those are many,
//! all rows are looked at in blocks.

use rayon::prelude::*;

use crate::microdata::{Code, Codes, Domain, SubjectIndex, Table, Values};
use crate::release::Cell;

use super::condition::Condition;
use super::filter::{Admitted, BLOCK_ROWS, keep};
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
    codes: Codes,
    /// Where the rows with each code begin; one more entry than codes.
    starts: Vec<u32>,
    /// Rows in order of their codes.
    rows: Vec<u32>,
}

/// A condition on a column while it is counted.
struct Sought<'s, 'a> {
    column: &'s ExactColumn<'a>,
    admitted: Admitted,
    /// Rows that satisfy this condition.
    rows: usize,
}

/// Visiting each row of one condition costs as much as looking at so many in
/// blocks.
const VISIT_COST: usize = 12;

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
        if !fits {
            return None;
        }
        let attributes = index.joined.attributes().par_iter();
        let columns = attributes.map(|attribute| {
            let column = table.coded(table.schema().find(attribute.name)?)?;
            Some(ExactColumn::new(&column.domain, &column.codes, subjects))
        });
        let columns = columns.collect::<Option<_>>()?;
        Some(Self { columns })
    }

    /// Number of records that satisfy all conditions.
    pub(super) fn count(&self, index: &QueryIndex<'_>, conditions: &Conditions) -> u64 {
        let sought = conditions.iter().map(|(at, condition)| {
            let column = &self.columns[*at];
            let marks = column.marks(condition, |cell| {
                condition.judge(cell, &index.domains[*at]).certain
            });
            Sought {
                column,
                rows: column.rows_of(&marks).map(<[u32]>::len).sum(),
                admitted: Admitted::of(marks),
            }
        });
        let mut sought: Vec<Sought<'_, '_>> = sought.collect();
        sought.sort_by_key(|sought| sought.rows);
        match sought.as_slice() {
            [] => index.rows() as u64,
            [only] => only.rows as u64,
            [first, others @ ..] if first.rows * VISIT_COST < index.rows() => {
                let candidates = first.column.rows_of(&first.admitted.marks).flatten();
                let satisfies = |row: usize| {
                    let mut others = others.iter();
                    others.all(|other| other.admitted.marks[other.column.codes.at(row) as usize])
                };
                candidates.filter(|&&row| satisfies(row as usize)).count() as u64
            }
            sought => count_in_blocks(sought, index.rows()),
        }
    }

    /// The domain of an attribute, by position.
    pub(super) fn domain(&self, at: usize) -> &'a Domain {
        self.columns[at].domain
    }
}

/// Rows that satisfy all of them.
fn count_in_blocks(sought: &[Sought<'_, '_>], rows: usize) -> u64 {
    let mut alive = [0_u8; BLOCK_ROWS];
    let mut count = 0;
    for first in (0..rows).step_by(BLOCK_ROWS) {
        let block = first..rows.min(first + BLOCK_ROWS);
        let alive = &mut alive[..block.len()];
        alive.fill(1);
        for Sought {
            column, admitted, ..
        } in sought
        {
            keep(&column.codes, block.clone(), admitted, alive);
        }
        // Sums of one byte each would overflow; those of 128 rows do not.
        let sums = alive.chunks(128).map(|run| run.iter().sum::<u8>());
        count += sums.map(u64::from).sum::<u64>();
    }
    count
}

impl<'a> ExactColumn<'a> {
    fn new(domain: &'a Domain, codes: &Codes, subjects: &[SubjectIndex]) -> Self {
        let codes: Vec<u32> = subjects
            .iter()
            .map(|subject| codes.at(subject.at()))
            .collect();
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
            codes: Codes::below(domain.len(), codes.into_iter()),
            starts,
            rows,
        }
    }

    /// Which codes satisfy a condition.
    fn marks(&self, condition: &Condition, judge: impl Fn(&Cell) -> bool) -> Vec<bool> {
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
