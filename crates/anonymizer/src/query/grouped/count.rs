//! How many records every cell has.
//!
//! A cell's estimate is a sum of floats, whose order matters: in blocks of
//! classes and lanes, as `block` adds them up, where rows decide all that varies
//! by row; else class by class and row by row.

use crate::privacy::CancelFlag;
use crate::query::block::{BLOCK_CLASSES, LANES};
use crate::query::count::Count;

use super::asked::{Asked, Factor, Look, Looks, Says};
use super::pools::PoolBounds;
use super::shown::Span;

/// What is counted of one cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    estimate: f64,
    /// Sums of the block that is gone through.
    lanes: [f64; LANES],
    certain: u64,
    possible: u64,
    touched: u64,
    /// One more than the class that was counted last among those touched.
    last: u32,
    /// The best bounds so far.
    bounds: Option<(u64, u64)>,
}

impl Tally {
    /// Adds rows of a class to a block.
    #[inline]
    fn add(&mut self, lane: usize, share: f64, rows: u32) {
        self.lanes[lane] += share * f64::from(rows);
        self.certain += u64::from(rows) * u64::from(share == 1.0);
        self.possible += u64::from(rows);
        self.touched += 1;
    }

    /// Ends a block.
    fn end_block(&mut self) {
        self.estimate += self.lanes.iter().sum::<f64>();
        self.lanes = [0.0; LANES];
    }

    /// Takes the bounds that a bucketized attribute gives, if they are better.
    pub(super) fn narrow(&mut self, pools: &PoolBounds) {
        let (lower, upper) = self.bounds.unwrap_or((self.certain, self.possible));
        self.bounds = Some((
            lower.max(self.certain - pools.certain + pools.least),
            upper.min(self.possible - pools.possible + pools.most),
        ));
    }

    /// The count.
    pub(super) fn count(&self) -> Count {
        let (lower, upper) = self.bounds.unwrap_or((self.certain, self.possible));
        let upper = upper.max(lower);
        Count {
            estimate: self.estimate.clamp(lower as f64, upper as f64),
            lower,
            upper,
            rows: self.possible,
            groups_touched: self.touched,
        }
    }
}

/// Counts every cell.
pub(super) fn tallies(asked: &Asked<'_>, cancel: &CancelFlag) -> Vec<Tally> {
    let mut tallies = vec![Tally::default(); asked.cells];
    let mut looks = Looks::default();
    let mut decided = Decided::new(asked);
    for class in 0..asked.classes() {
        if class % BLOCK_CLASSES == 0 {
            cancel.heed();
        }
        asked.looks_of(class, &mut looks);
        if !looks.found.is_empty() {
            if asked.is_decided {
                decided.class(class, &looks.found, &mut tallies);
            } else {
                by_row(asked, class, &looks.found, &mut tallies);
            }
        }
        if asked.is_decided && (class + 1) % BLOCK_CLASSES == 0 {
            tallies.iter_mut().for_each(Tally::end_block);
        }
    }
    if asked.is_decided {
        tallies.iter_mut().for_each(Tally::end_block);
    }
    tallies
}

/// Counts classes whose rows decide all that varies by row.
struct Decided<'a> {
    asked: &'a Asked<'a>,
    /// Rows of the class by what they add to the number of a cell.
    rows: Vec<u32>,
    offsets: Vec<u32>,
}

impl<'a> Decided<'a> {
    fn new(asked: &'a Asked<'_>) -> Self {
        Self {
            asked,
            rows: vec![0; asked.cells],
            offsets: Vec::new(),
        }
    }

    fn class(&mut self, class: usize, looks: &[Look], tallies: &mut [Tally]) {
        let run = self.asked.rows(class);
        if self.asked.varying.is_empty() {
            self.rows[0] = run.len() as u32;
            self.offsets.push(0);
        } else {
            for row in run {
                if let Some(offset) = self.offset(row) {
                    let rows = &mut self.rows[offset as usize];
                    if *rows == 0 {
                        self.offsets.push(offset);
                    }
                    *rows += 1;
                }
            }
        }
        for offset in self.offsets.drain(..) {
            let rows = std::mem::take(&mut self.rows[offset as usize]);
            for look in looks {
                for cell in look.cells(offset) {
                    tallies[cell].add(class % LANES, look.share, rows);
                }
            }
        }
    }

    /// What a row adds to the number of a cell; `None` where it is in none.
    fn offset(&self, row: usize) -> Option<u32> {
        let mut offset = 0;
        for &factor in &self.asked.varying {
            let Factor { column, says, .. } = &self.asked.factors[factor];
            match says {
                Says::One(_, _, admitted) => {
                    let (exact, admitted) = (column.exact.as_ref()?, admitted.as_ref()?);
                    if !admitted.marks[exact.ranks.at(row) as usize] {
                        return None;
                    }
                }
                Says::Each(shown, stride) => {
                    let span = shown.spans(column.of_row[row] as usize).first()?;
                    offset += span.from * stride;
                }
            }
        }
        Some(offset)
    }
}

/// Counts a class whose rows may be open.
fn by_row(asked: &Asked<'_>, class: usize, looks: &[Look], tallies: &mut [Tally]) {
    let is_by_row = |factor: &&usize| asked.factors[**factor].column.is_by_row(class);
    let deferred: Vec<&usize> = asked.varying.iter().filter(is_by_row).collect();
    let run = asked.rows(class);
    if deferred.is_empty() {
        let rows = run.len() as u64;
        for look in looks {
            for cell in look.cells(0) {
                let tally = &mut tallies[cell];
                tally.estimate += look.share * rows as f64;
                tally.certain += rows * u64::from(look.share == 1.0);
                tally.possible += rows;
                tally.touched += u64::from(rows > 0);
            }
        }
        return;
    }
    let mut shares = Vec::with_capacity(deferred.len());
    for row in run {
        let mut leaf = |offset: u32, shares: &[f64], is_certain: bool| {
            for look in looks {
                let share = shares
                    .iter()
                    .fold(look.share, |product, share| product * share);
                let is_certain = u64::from(is_certain && look.share == 1.0);
                for cell in look.cells(offset) {
                    let tally = &mut tallies[cell];
                    tally.estimate += share;
                    tally.certain += is_certain;
                    tally.possible += 1;
                    tally.touched += u64::from(tally.last != class as u32 + 1);
                    tally.last = class as u32 + 1;
                }
            }
        };
        each_of_row(asked, (&deferred, row), (0, true), &mut shares, &mut leaf);
    }
}

/// Goes through what a row may be in the deferred factors: what that adds to the
/// number of a cell, the shares, and whether all are certain.
fn each_of_row(
    asked: &Asked<'_>,
    (deferred, row): (&[&usize], usize),
    (offset, is_certain): (u32, bool),
    shares: &mut Vec<f64>,
    leaf: &mut impl FnMut(u32, &[f64], bool),
) {
    let Some((&&factor, rest)) = deferred.split_first() else {
        leaf(offset, shares, is_certain);
        return;
    };
    let Factor { column, says, .. } = &asked.factors[factor];
    let state = column.of_row[row] as usize;
    match says {
        Says::One(_, table, _) => {
            let judgement = table.judgements[state];
            if judgement.possible {
                shares.push(judgement.share);
                let next = (offset, is_certain && judgement.certain);
                each_of_row(asked, (rest, row), next, shares, leaf);
                shares.pop();
            }
        }
        Says::Each(shown, stride) => {
            for Span {
                from,
                to,
                share,
                certain,
            } in shown.spans(state)
            {
                shares.push(*share);
                for value in *from..*to {
                    let next = (offset + value * stride, is_certain && *certain);
                    each_of_row(asked, (rest, row), next, shares, leaf);
                }
                shares.pop();
            }
        }
    }
}
