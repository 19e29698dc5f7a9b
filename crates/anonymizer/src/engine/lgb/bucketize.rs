//! Stage 2: local bucketization of one attribute (`[LGB]` Alg. 2).
//!
//! The flagged, unmasked cells of all subsets are one set in domain order. It
//! is split at the lower median as long as both halves can still be divided
//! into buckets under their own L; a set that cannot be split further is
//! divided into buckets. Categories without a hierarchy have no such order:
//! where buckets are drawn they are split only as far as some of them ask for
//! more than others (*ours*). Under t-closeness all cells are dealt at once.

use std::ops::Range;

use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;

use crate::engine::error::EngineError;
use crate::engine::kernel::{Descent, SplitPosition, Splitter, descend};
use crate::microdata::CodedColumn;
use crate::privacy::{ProtectedIndex, Protection};

use super::assignment::{AssignmentBuffers, assign_by_invariance};
use super::closeness;
use super::frame::{Frame, STEPS, stage};
use super::nearest::{NearestBuffers, assign_nearest};
use super::params::Assignment;
use super::patterns::Division;
use super::runs::Runs;
use super::scattered::{ScatterBuffers, scatter};
use super::spread;

/// Buckets of one attribute, numbered from 1 in random order.
#[derive(Debug)]
pub(super) struct NumberedBuckets {
    /// The flagged, unmasked cells.
    pub runs: Runs,
    /// Bucket of each of them.
    pub numbers: Vec<u32>,
}

impl NumberedBuckets {
    /// Bucket of each record of a table with so many; 0 for none.
    pub fn of_records(&self, records: usize) -> Vec<u32> {
        let mut of_record = vec![0; records];
        for (&record, &bucket) in self.runs.records.iter().zip(&self.numbers) {
            of_record[record as usize] = bucket;
        }
        of_record
    }
}

/// Buckets of every protectable attribute.
pub(super) fn bucketize(
    frame: &Frame<'_>,
    division: &Division,
) -> Result<Vec<NumberedBuckets>, EngineError> {
    let indexes: Vec<ProtectedIndex> = frame.requirements.protected().collect();
    let runs: Vec<Runs> = indexes
        .par_iter()
        .map(|&index| {
            let mut random = stream(frame, index, 0);
            let records = division.flagged_records(index).collect();
            Runs::new(frame, index, records, &mut random)
        })
        .collect();
    let descent = Descent {
        context: frame.context,
        step: (2, STEPS),
        label: "bucketize",
        done: 0.into(),
        total: runs.iter().map(Runs::len).sum(),
    };
    let all = indexes.into_par_iter().zip(runs);
    all.map(|(index, runs)| bucketize_one(frame, index, runs, &descent))
        .collect()
}

fn stream(frame: &Frame<'_>, index: ProtectedIndex, part: u64) -> ChaCha12Rng {
    // By the dataset's secret: the same records stand in the same buckets in
    // every release, and releases tell no more together than one alone.
    let place = u64::from(index.0) << 8 | part;
    frame.context.stream(stage::BUCKETS, place)
}

fn bucketize_one(
    frame: &Frame<'_>,
    index: ProtectedIndex,
    runs: Runs,
    descent: &Descent<'_>,
) -> Result<NumberedBuckets, EngineError> {
    let heads = match frame.requirements.protection(index) {
        Protection::Closeness { .. } | Protection::Leakage { .. } => {
            closeness::deal(frame, index, &runs)?
        }
        Protection::Diversity { min_spread, .. } => {
            let filler = Filler {
                runs: &runs,
                column: frame.protected_column(index),
                assignment: frame.params.assignment,
                min_spread: min_spread.get(),
                stream: &|first| {
                    let place = u64::from(index.0) << 32 | first as u64;
                    frame.context.stream(stage::SCATTER, place)
                },
            };
            filler.fill(descent)?
        }
        // No job of lgb asks for it: each cell in a bucket of its own would
        // be named by the verifier.
        Protection::InGroup { .. } => (0..runs.records.len() as u32).collect(),
    };
    let numbers = number(heads);
    Ok(NumberedBuckets { runs, numbers })
}

/// Bucket of each cell, numbered from 1; `heads` names the first cell of its
/// bucket.
fn number(mut heads: Vec<u32>) -> Vec<u32> {
    let mut number_of_head = vec![0; heads.len()];
    let firsts = (0..heads.len()).filter(|&at| heads[at] as usize == at);
    for (first, number) in firsts.zip(1..) {
        number_of_head[first] = number;
    }
    for head in &mut heads {
        *head = number_of_head[*head as usize];
    }
    heads
}

/// Splits the cells of one attribute under l-diversity and fills buckets.
struct Filler<'a> {
    runs: &'a Runs,
    column: &'a CodedColumn,
    assignment: Assignment,
    min_spread: Option<f64>,
    /// The stream of the set that begins with a run.
    stream: &'a (dyn Fn(usize) -> ChaCha12Rng + Sync),
}

impl Filler<'_> {
    fn fill(&self, descent: &Descent<'_>) -> Result<Vec<u32>, EngineError> {
        let mut order: Vec<u32> = (0..self.runs.len() as u32).collect();
        let mut starts = vec![false; order.len()];
        descend(
            self,
            &mut order,
            &mut starts,
            descent.context.root(0),
            descent,
        )?;
        let mut heads = vec![0_u32; self.runs.records.len()];
        let sets = self.sets(&starts, &mut heads);
        sets.into_par_iter().for_each_init(
            || {
                let nearest = NearestBuffers::default();
                let scattered = ScatterBuffers::default();
                (AssignmentBuffers::default(), nearest, scattered)
            },
            |(invariance, nearest, scattered), (set, heads)| {
                let l = self.runs.l(set.clone());
                if let Some(wanted) = self.min_spread {
                    let random = &mut (self.stream)(set.start);
                    let (own, terms) = ((self.runs, set), (l, wanted));
                    spread::deal(self.column, own, terms, (heads, random));
                    return;
                }
                match self.assignment {
                    Assignment::Nearest => assign_nearest(self.runs, set, l, heads, nearest),
                    Assignment::Invariance => {
                        assign_by_invariance(self.runs, set, l, heads, invariance);
                    }
                    Assignment::Random => {
                        let random = &mut (self.stream)(set.start);
                        scatter(self.runs, set, l, heads, (scattered, random));
                    }
                }
            },
        );
        Ok(heads)
    }

    /// The sets that stayed whole, each with the heads of its cells.
    fn sets<'h>(
        &self,
        starts: &[bool],
        mut heads: &'h mut [u32],
    ) -> Vec<(Range<usize>, &'h mut [u32])> {
        let firsts = starts.iter().enumerate().filter(|(_, start)| **start);
        let mut bounds: Vec<usize> = firsts.map(|(at, _)| at).collect();
        bounds.push(starts.len());
        let mut sets = Vec::with_capacity(bounds.len());
        for pair in bounds.windows(2) {
            let set = pair[0]..pair[1];
            let (own, rest) = heads.split_at_mut(self.runs.cells(set.clone()).len());
            sets.push((set, own));
            heads = rest;
        }
        sets
    }

    /// Whether what is near in domain order is near in nothing else: the
    /// alphabet would pair the same labels again and again. Only where buckets
    /// are drawn; the paper's assignment splits the paper's sets.
    fn has_no_order(&self) -> bool {
        let domain = &self.column.domain;
        let is_nominal = !domain.is_numeric() && domain.hierarchy().is_none();
        is_nominal && self.assignment == Assignment::Random && self.min_spread.is_none()
    }

    /// Whether no value of a set asks for more than another: a set that is
    /// split serves those who ask for less with smaller buckets.
    fn asks_alike(&self, set: Range<usize>) -> bool {
        let asked = &self.runs.ls[set];
        asked.iter().all(|&l| l == asked[0])
    }

    fn can_be_filled(&self, set: Range<usize>) -> bool {
        let runs = self.runs;
        if !runs.is_eligible(set.clone()) {
            return false;
        }
        self.min_spread.is_none_or(|wanted| {
            let l = runs.l(set.clone());
            spread::widest_of_runs(self.column, (runs, set), l) >= wanted
        })
    }
}

/// Splits runs, which stay in domain order.
impl Splitter<&mut [u32]> for Filler<'_> {
    type Buffers = ();

    fn buffers(&self) {}

    fn split(&self, order: &mut &mut [u32], _: SplitPosition, _: &mut ()) -> Option<usize> {
        let set = order[0] as usize..order[0] as usize + order.len();
        if self.has_no_order() && self.asks_alike(set.clone()) {
            return None;
        }
        let cut = self.runs.cut(set.clone())?;
        let both = self.can_be_filled(set.start..cut) && self.can_be_filled(cut..set.end);
        both.then_some(cut - set.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_one_head_get_one_number_and_no_number_is_left_out() {
        let numbers = number(vec![2, 1, 2, 1, 4, 2]);
        assert!(numbers[0] == numbers[2] && numbers[2] == numbers[5] && numbers[1] == numbers[3]);
        let mut distinct = numbers;
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct, [1, 2, 3]);
    }
}
