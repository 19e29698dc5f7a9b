//! What every stage reads: the records that are published, numbered row by
//! row, with their non-sensitive values and what they ask for.
//!
//! A *vector* is a combination of quasi-identifier values that occurs; rows
//! with one vector cannot be told apart by an adversary who knows everyone's
//! quasi-identifiers. Where these are published exactly, rows with one vector
//! may lie in several blocks, and the adversary averages over them: so each
//! of them asks for the strictest l of all of them (*ours*), and every block
//! that the average runs over keeps it.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::included::SensitiveColumn;
use crate::engine::kernel::{Included, Rows, Staying, is_eligible};
use crate::microdata::{Code, RowClasses};
use crate::privacy::ProtectedSet;

/// The records that are published, as rows numbered from 0.
pub(super) struct Frame<'a> {
    /// Records and columns; row r is record `included.records[r]`.
    pub included: &'a Included<'a>,
    /// The run.
    pub context: &'a RunContext<'a>,
    /// Vector of each row, from 0.
    pub vector_of: Vec<u32>,
    /// Number of vectors.
    pub vectors: usize,
    /// Whether quasi-identifiers are published exactly.
    pub is_exact: bool,
    /// Who stays in public groups, where a series keeps them.
    pub staying: Option<&'a Staying<'a>>,
}

impl<'a> Frame<'a> {
    /// Numbers the rows and their vectors.
    pub fn new(included: &'a Included<'a>, is_exact: bool, context: &'a RunContext<'a>) -> Self {
        let (vector_of, vectors) = vectors(included);
        Self {
            included,
            context,
            vector_of,
            vectors,
            is_exact,
            staying: None,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.included.records.len()
    }

    /// One sensitive attribute as the stages read it.
    pub fn goal(&self, column: SensitiveColumn<'a>) -> Goal<'a> {
        let records = &self.included.records;
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
        let asked = |record: &u32| self.included.terms(*record).l[column.index.at()];
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
        // Where quasi-identifiers are exact, k is of those who share them.
        let k = |&record: &u32| {
            if self.is_exact {
                1
            } else {
                self.included.terms(record).k
            }
        };
        let protection = self.included.requirements.protection(column.index);
        let least_spread = protection.min_spread().map(|wanted| {
            let mut numbers = vec![f64::NAN; values as usize];
            for (code, &value) in (0..).zip(&dense).filter(|&(_, &value)| value != u32::MAX) {
                numbers[value as usize] = column.column.domain.number(Code(code));
            }
            LeastSpread { wanted, numbers }
        });
        Goal {
            column,
            codes,
            values: values as usize,
            need,
            k: records.iter().map(k).collect(),
            least_spread,
        }
    }
}

/// Makes blocks of rows, ascending, of one attribute.
pub(super) type Blocks<'b> =
    dyn Fn(&Frame<'_>, &Goal<'_>, Vec<u32>) -> Result<Vec<Vec<u32>>, EngineError> + 'b;

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
    /// Records that a block must have for each row.
    pub k: Vec<u32>,
    /// What blocks must span, where that is asked.
    pub least_spread: Option<LeastSpread>,
}

/// What the known values of every block must span.
pub(super) struct LeastSpread {
    /// Largest minus smallest.
    pub wanted: f64,
    /// The number of each value; NaN for the missing one.
    pub numbers: Vec<f64>,
}

/// The least and the largest known number of some rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    low: f64,
    high: f64,
}

impl Default for Ends {
    fn default() -> Self {
        Self {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        }
    }
}

impl Ends {
    fn add(&mut self, number: f64) {
        // NaN, the missing number, is neither.
        self.low = self.low.min(number);
        self.high = self.high.max(number);
    }

    /// Largest minus smallest; none without a known number.
    pub fn span(self) -> Option<f64> {
        (self.low <= self.high).then_some(self.high - self.low)
    }
}

impl Goal<'_> {
    /// The strictest l of some rows; 1 for none.
    pub fn need_of(&self, rows: &[u32]) -> u32 {
        let needs = rows.iter().map(|&row| self.need[row as usize]);
        needs.max().unwrap_or(1)
    }

    /// Adds the numbers of some rows, where a least spread is asked for.
    pub fn extend(&self, ends: &mut Ends, rows: &[u32]) {
        if let Some(least) = &self.least_spread {
            let codes = rows.iter().map(|&row| self.codes[row as usize]);
            codes.for_each(|code| ends.add(least.numbers[code as usize]));
        }
    }

    /// Whether numbers lie far enough apart; those of nobody do.
    pub fn is_wide(&self, ends: Ends) -> bool {
        let least = self.least_spread.as_ref();
        least.is_none_or(|least| ends.span().is_none_or(|span| span >= least.wanted))
    }

    /// Whether the known values of some rows span what is asked for.
    pub fn spans(&self, rows: &[u32]) -> bool {
        let mut ends = Ends::default();
        self.extend(&mut ends, rows);
        self.is_wide(ends)
    }

    /// How often the most frequent value of some rows occurs.
    pub fn most(&self, rows: &[u32]) -> u64 {
        let mut codes: Vec<u32> = rows.iter().map(|&row| self.codes[row as usize]).collect();
        codes.sort_unstable();
        let runs = codes.chunk_by(|a, b| a == b);
        runs.map(|run| run.len() as u64).max().unwrap_or(0)
    }

    /// Whether no value is too frequent for the strictest of some rows.
    pub fn is_group(&self, rows: &[u32]) -> bool {
        is_eligible(self.most(rows), rows.len() as u64, self.need_of(rows))
    }

    /// Whether some rows are a group that can be published.
    pub fn is_whole_group(&self, rows: &[u32]) -> bool {
        rows.len() >= self.k_of(rows) as usize && self.is_group(rows) && self.spans(rows)
    }

    /// The strictest k of some rows; 1 for none.
    pub fn k_of(&self, rows: &[u32]) -> u32 {
        let asked = rows.iter().map(|&row| self.k[row as usize]);
        asked.max().unwrap_or(1)
    }
}

/// The sensitive attributes that the policy publishes.
pub(super) fn published<'a>(
    included: &Included<'a>,
    named: ProtectedSet,
) -> Vec<SensitiveColumn<'a>> {
    let columns = included.sensitive.iter();
    let columns = columns.filter(|column| named.contains(column.index));
    columns.copied().collect()
}

/// The vector of each included record, numbered from 0 in order of first
/// appearance, and how many there are.
pub(super) fn vectors(included: &Included<'_>) -> (Vec<u32>, usize) {
    let rows = Rows::gather(&included.quasi_columns(), &included.records);
    let all = 0..included.records.len() as u32;
    let classes = RowClasses::of_keys(all.map(|row| rows.row(row)));
    (classes.of_row, classes.number)
}
