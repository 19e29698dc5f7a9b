//! The initial partition (`[ARP]` Alg. 1): blocks of records with similar
//! non-sensitive values, each l-eligible.
//!
//! Attributes are taken in order of φ² with the sensitive one, descending. A
//! block is split by the values of the next attribute; a part that does not
//! hold is merged with a neighbour in domain order, smallest first, until
//! every part holds (the printed algorithm makes one pass and leaves
//! ineligible blocks behind). Then each part is split by the next attribute.
//! With [`Partitioning::Paper`] merged parts are left as they are, and the
//! neighbour is drawn. The verifier makes the same partition by its own code:
//! the order of attributes is decided in integers.
//!
//! A block holds if (most frequent value) × L ≤ size, L the strictest of its
//! members, it has as many records as they ask for ([`Least`]), and its known
//! values span the least spread, where there is one. Blocks
//! come out in domain order, so that blocks near each other are alike.
//!
//! With [`Partitioning::Recursive`] a block has at least [`LEAST_PER_L`] · L
//! records besides (*ours*). Smaller blocks are eligible or not by who has
//! which value, and anyone who repeats the run reads that off the blocks that
//! were not split (minimality, `[Wong 2007]`): of 50 people of Adult at l = 3 the
//! blocks told 34 % of the values where counting tells 29 %, and in tables of
//! six people some for certain.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::RngExt;

use crate::engine::error::EngineError;
use crate::engine::kernel::contingency::{Categories, phi_squared_parts};
use crate::engine::kernel::is_eligible;
use crate::microdata::CodedColumn;
use crate::privacy::{BlockForm, Seed};

use super::frame::{Frame, Goal};
use super::params::Partitioning;

/// Records of a block at least, for each of its l.
const LEAST_PER_L: u32 = 4;

/// Records that a block must have beside being eligible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Least {
    /// None: quasi-identifiers are published exactly.
    None,
    /// As many as the strictest k of its members.
    Members,
    /// A window of its ring: the least multiple of L that is at least K.
    Window,
}

impl Least {
    /// What blocks published in this form must have.
    pub fn of(form: BlockForm) -> Self {
        match form {
            BlockForm::Distinct | BlockForm::Eligible | BlockForm::Randomized { .. } => Self::None,
            BlockForm::Generalized | BlockForm::Sliced => Self::Members,
            BlockForm::Ring => Self::Window,
        }
    }
}

/// The window of a ring for this l and k.
pub(super) fn window(l: u32, k: u32) -> u32 {
    l.saturating_mul(k.div_ceil(l))
}

/// Makes the initial partition of rows, ascending, which together must hold.
pub(super) fn partition(
    frame: &Frame<'_>,
    goal: &Goal<'_>,
    (partitioning, least): (Partitioning, Least),
    mut rows: Vec<u32>,
) -> Result<Vec<Vec<u32>>, EngineError> {
    let mut initial = Initial {
        frame,
        goal,
        columns: by_contingency(frame, goal, &rows),
        partitioning,
        least,
        counts: vec![0; goal.values],
        blocks: Vec::new(),
    };
    initial.split(&mut rows, 0, 0)?;
    Ok(initial.blocks)
}

/// Quasi-identifiers by φ² with the sensitive attribute over some rows,
/// descending; equals in schema order.
pub(super) fn by_contingency<'a>(
    frame: &Frame<'a>,
    goal: &Goal<'_>,
    rows: &[u32],
) -> Vec<&'a CodedColumn> {
    let records: Vec<u32> = rows
        .iter()
        .map(|&row| frame.included.records[row as usize])
        .collect();
    let records = &records;
    let sensitive = Categories::of(goal.column.column, records);
    let columns = frame.included.quasi_columns().into_iter();
    let measured = columns.map(|column| {
        let phi = phi_squared_parts(&Categories::of(column, records), &sensitive);
        (phi, column)
    });
    let mut measured: Vec<(u64, &CodedColumn)> = measured.collect();
    measured.sort_by_key(|&(phi, _)| Reverse(phi));
    measured.into_iter().map(|(_, column)| column).collect()
}

struct Initial<'a, 'b> {
    frame: &'a Frame<'b>,
    goal: &'a Goal<'b>,
    columns: Vec<&'b CodedColumn>,
    partitioning: Partitioning,
    least: Least,
    /// Scratch: how often each value occurs; all 0 between uses.
    counts: Vec<u32>,
    blocks: Vec<Vec<u32>>,
}

/// A run of rows between its neighbours in domain order.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: usize,
    end: usize,
    before: Option<usize>,
    after: Option<usize>,
    is_merged: bool,
}

impl Part {
    fn len(&self) -> usize {
        self.end - self.start
    }
}

impl Initial<'_, '_> {
    /// Splits rows that hold together; `offset` is the place of the first of
    /// them among all rows.
    fn split(&mut self, rows: &mut [u32], offset: usize, depth: usize) -> Result<(), EngineError> {
        self.frame.context.check()?;
        let Some(column) = self.columns.get(depth).copied() else {
            self.blocks.push(rows.to_vec());
            return Ok(());
        };
        let records = &self.frame.included.records;
        let code = |row: u32| column.codes.at(records[row as usize] as usize);
        rows.sort_by_key(|&row| code(row));
        let mut parts: Vec<Part> = Vec::new();
        for run in rows.chunk_by(|&a, &b| code(a) == code(b)) {
            let start = parts.last().map_or(0, |part: &Part| part.end);
            let at = parts.len();
            parts.push(Part {
                start,
                end: start + run.len(),
                before: at.checked_sub(1),
                after: Some(at + 1),
                is_merged: false,
            });
        }
        if let Some(last) = parts.last_mut() {
            last.after = None;
        }
        // One stream a block: by attribute, depth and the rows before it.
        let attribute = self.goal.column.index.at() as u64;
        let place = attribute << 48 | (depth as u64) << 32 | offset as u64;
        for part in self.merge(rows, parts, place) {
            let own = &mut rows[part.start..part.end];
            if part.is_merged && self.partitioning == Partitioning::Paper {
                self.blocks.push(own.to_vec())
            } else {
                self.split(own, offset + part.start, depth + 1)?
            }
        }
        Ok(())
    }

    /// Merges parts until every one holds.
    fn merge(&mut self, rows: &[u32], mut parts: Vec<Part>, place: u64) -> Vec<Part> {
        let mut random = self.frame.context.stream(Seed::NEIGHBOURS, place);
        let mut unsound = BinaryHeap::new();
        for (at, part) in parts.iter().enumerate() {
            if !self.holds(&rows[part.start..part.end]) {
                unsound.push(Reverse((part.len(), at)));
            }
        }
        let mut is_gone = vec![false; parts.len()];
        while let Some(Reverse((len, at))) = unsound.pop() {
            // An entry of a part that was merged since is out of date.
            if is_gone[at] || parts[at].len() != len {
                continue;
            }
            let neighbour = match (parts[at].before, parts[at].after) {
                (None, None) => break,
                (Some(one), None) | (None, Some(one)) => one,
                (Some(before), Some(after)) => match self.partitioning {
                    Partitioning::Paper if random.random_bool(0.5) => before,
                    Partitioning::Paper => after,
                    Partitioning::Recursive if parts[after].len() < parts[before].len() => after,
                    Partitioning::Recursive => before,
                },
            };
            let (left, right) = (at.min(neighbour), at.max(neighbour));
            is_gone[right] = true;
            parts[left].end = parts[right].end;
            parts[left].after = parts[right].after;
            parts[left].is_merged = true;
            if let Some(after) = parts[right].after {
                parts[after].before = Some(left);
            }
            let merged = parts[left];
            if !self.holds(&rows[merged.start..merged.end]) {
                unsound.push(Reverse((merged.len(), left)));
            }
        }
        let kept = parts.into_iter().zip(is_gone);
        kept.filter(|&(_, is_gone)| !is_gone)
            .map(|(part, _)| part)
            .collect()
    }

    /// Whether rows may be a block.
    fn holds(&mut self, rows: &[u32]) -> bool {
        let code = |row: u32| self.goal.codes[row as usize] as usize;
        let mut most = 0;
        for &row in rows {
            let count = &mut self.counts[code(row)];
            *count += 1;
            most = most.max(*count);
        }
        rows.iter().for_each(|&row| self.counts[code(row)] = 0);
        let l = self.goal.need_of(rows);
        let least = match self.least {
            Least::None => 1,
            Least::Members => self.goal.k_of(rows),
            Least::Window => window(l, self.goal.k_of(rows)),
        };
        let least = match self.partitioning {
            Partitioning::Paper => least,
            Partitioning::Recursive => least.max(l.saturating_mul(LEAST_PER_L)),
        };
        is_eligible(u64::from(most), rows.len() as u64, l)
            && rows.len() >= least as usize
            && self.goal.spans(rows)
    }
}
