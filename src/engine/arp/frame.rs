//! What every stage reads: the records that are published, numbered row by
//! row, with their non-sensitive values and what they ask for.
//!
//! A *vector* is a combination of quasi-identifier values that occurs; rows
//! with one vector cannot be told apart by an adversary who knows everyone's
//! quasi-identifiers. Where these are published exactly, rows with one vector
//! may lie in several blocks, and the adversary averages over them: so each
//! of them asks for the strictest l of all of them (*ours*), and every block
//! that the average runs over keeps it.

use rustc_hash::FxHashMap;

use crate::engine::context::RunContext;
use crate::engine::kernel::present::SensitiveColumn;
use crate::engine::kernel::{Present, Rows};
use crate::privacy::ProtectedSet;

/// The records that are published, as rows numbered from 0.
pub(super) struct Frame<'a> {
    /// Records and columns; row r is record `present.records[r]`.
    pub present: &'a Present<'a>,
    /// The run.
    pub context: &'a RunContext<'a>,
    /// Vector of each row, from 0.
    pub vector_of: Vec<u32>,
    /// Number of vectors.
    pub vectors: usize,
    /// Whether quasi-identifiers are published exactly.
    pub is_exact: bool,
}

impl<'a> Frame<'a> {
    /// Numbers the rows and their vectors.
    pub fn new(present: &'a Present<'a>, is_exact: bool, context: &'a RunContext<'a>) -> Self {
        let (vector_of, vectors) = vectors(present);
        Self {
            present,
            context,
            vector_of,
            vectors,
            is_exact,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.present.records.len()
    }

    /// One sensitive attribute as the stages read it.
    pub fn goal(&self, column: SensitiveColumn<'a>) -> Goal<'a> {
        let records = &self.present.records;
        let mut dense = vec![u32::MAX; column.column.domain.len()];
        let mut values = 0;
        let codes = records.iter().map(|&record| {
            let place = &mut dense[column.column.codes.at(record as usize) as usize];
            if *place == u32::MAX {
                *place = values;
                values += 1;
            }
            *place
        });
        let codes = codes.collect();
        let asked = |record: &u32| self.present.terms(*record).l[column.index.at()];
        let mut need: Vec<u32> = records.iter().map(asked).collect();
        if self.is_exact {
            let mut strictest = vec![1; self.vectors];
            for (&vector, &need) in self.vector_of.iter().zip(&need) {
                let strictest = &mut strictest[vector as usize];
                *strictest = need.max(*strictest);
            }
            let vectors = self.vector_of.iter();
            need = vectors.map(|&vector| strictest[vector as usize]).collect();
        }
        let k = records.iter().map(|&record| self.present.terms(record).k);
        Goal {
            column,
            codes,
            values: values as usize,
            need,
            k: k.collect(),
        }
    }
}

/// One sensitive attribute of the rows.
pub(super) struct Goal<'a> {
    /// The attribute.
    pub column: SensitiveColumn<'a>,
    /// Value of each row, numbered from 0 in order of first appearance.
    pub codes: Vec<u32>,
    /// Number of values that occur.
    pub values: usize,
    /// The l of each row.
    pub need: Vec<u32>,
    /// The k of each row.
    pub k: Vec<u32>,
}

impl Goal<'_> {
    /// The strictest l of some rows; 1 for none.
    pub fn need_of(&self, rows: &[u32]) -> u32 {
        let needs = rows.iter().map(|&row| self.need[row as usize]);
        needs.max().unwrap_or(1)
    }

    /// The strictest k of some rows; 1 for none.
    pub fn k_of(&self, rows: &[u32]) -> u32 {
        let asked = rows.iter().map(|&row| self.k[row as usize]);
        asked.max().unwrap_or(1)
    }
}

/// The sensitive attributes that the policy publishes.
pub(super) fn published<'a>(
    present: &Present<'a>,
    named: ProtectedSet,
) -> Vec<SensitiveColumn<'a>> {
    let columns = present.sensitive.iter();
    let columns = columns.filter(|column| named.contains(column.index));
    columns.copied().collect()
}

/// The vector of each present record, numbered from 0 in order of first
/// appearance, and how many there are.
pub(super) fn vectors(present: &Present<'_>) -> (Vec<u32>, usize) {
    let rows = Rows::gather(&present.quasi_columns(), &present.records);
    let mut numbers: FxHashMap<&[u32], u32> = FxHashMap::default();
    let of_row = (0..present.records.len() as u32).map(|row| {
        let next = numbers.len() as u32;
        *numbers.entry(rows.row(row)).or_insert(next)
    });
    let of_row = of_row.collect();
    (of_row, numbers.len())
}
