//! A condition looked up: one judgement per state of an attribute.

use crate::release::{Buckets, Link};

use super::attribute::IndexedAttribute;
use super::block::WEIGHT_MIN;
use super::columns::RankedCells;
use super::condition::{Condition, Judgement};
use super::filter::{Admitted, Decided};
use super::knowledge::PublicDomain;

/// How many rows of a pool satisfy a condition, whatever the assignment of
/// values to rows: between `least` and `most` of `size`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PoolMatches {
    /// Rows in the pool.
    pub(super) size: u32,
    /// Rows that satisfy at least.
    pub(super) least: u32,
    /// Rows that satisfy at most.
    pub(super) most: u32,
}

/// Judgements of one condition.
#[derive(Debug, Default)]
pub(super) struct JudgementTable {
    /// One per cell, then one per pool.
    pub(super) judgements: Vec<Judgement>,
    /// The share of each cell, so that a product of them tells as much: 0
    /// where one cannot be, 1 where all are certain, else between. Behind all
    /// cells stands 1: of rows with states of their own the class says nothing.
    pub(super) weights: Vec<f64>,
    /// One per pool.
    pub(super) pools: Vec<PoolMatches>,
    /// Cells of the attribute before the pools.
    pub(super) cells: usize,
    /// Cells in all buckets, and how many of them satisfy.
    pub(super) bucketized: (u64, u64),
}

impl JudgementTable {
    /// Judges every cell and every pool of an attribute, into this table.
    pub(super) fn fill(
        &mut self,
        condition: &Condition,
        attribute: &IndexedAttribute<'_>,
        domain: &PublicDomain,
    ) {
        self.judgements.clear();
        self.pools.clear();
        self.cells = attribute.cells.len();
        self.bucketized = (0, 0);
        condition.judge_all(
            &attribute.cells,
            &domain.cells,
            domain,
            &mut self.judgements,
        );
        self.weights.clear();
        self.weights
            .extend(self.judgements.iter().copied().map(weight));
        self.weights.push(1.0);
        if let Some(buckets) = &attribute.buckets {
            let matches = bucket_matches(condition, buckets, domain);
            for (&size, &matched) in buckets.sizes().iter().zip(&matches) {
                self.bucketized.0 += u64::from(size);
                self.bucketized.1 += u64::from(matched);
            }
            self.judge_pools(buckets, &matches);
        }
    }

    /// Which of these cells satisfy, where each decides its condition: rows
    /// need only be counted.
    pub(super) fn admitted<'c>(&self, cells: &'c RankedCells) -> Option<Decided<'c>> {
        let marks = cells.order.iter().map(|&at| {
            let judgement = self.judgements[at as usize];
            judgement.is_decided().then_some(judgement.certain)
        });
        Some((&cells.ranks, Admitted::of(marks.collect::<Option<_>>()?)))
    }

    fn judge_pools(&mut self, buckets: &Buckets<'_>, matches: &[u32]) {
        let share = |bucket: usize| f64::from(matches[bucket]) / f64::from(buckets.sizes()[bucket]);
        match buckets.link() {
            Link::Row(_) => {
                for (bucket, &matched) in matches.iter().enumerate() {
                    let size = buckets.sizes()[bucket];
                    self.push(
                        share(bucket),
                        PoolMatches {
                            size,
                            least: matched,
                            most: matched,
                        },
                    );
                }
            }
            Link::Group {
                starts,
                buckets: of_group,
                counts,
                ..
            } => {
                for run in starts.windows(2) {
                    let mut pool = PoolMatches::default();
                    let mut expected = 0.0;
                    for at in run[0] as usize..run[1] as usize {
                        let (bucket, cells) = (of_group[at] as usize, counts[at]);
                        let others = buckets.sizes()[bucket] - matches[bucket];
                        pool.size += cells;
                        pool.least += cells.saturating_sub(others);
                        pool.most += cells.min(matches[bucket]);
                        expected += share(bucket) * f64::from(cells);
                    }
                    self.push(expected / f64::from(pool.size.max(1)), pool);
                }
            }
        }
    }

    fn push(&mut self, share: f64, pool: PoolMatches) {
        self.judgements.push(Judgement {
            share,
            certain: pool.least == pool.size,
            possible: pool.most > 0,
        });
        self.pools.push(pool);
    }
}

/// The share, kept from 0 and 1 where it is open.
fn weight(judgement: Judgement) -> f64 {
    match judgement {
        Judgement {
            possible: false, ..
        } => 0.0,
        Judgement { certain: true, .. } => 1.0,
        Judgement { share, .. } => share.clamp(WEIGHT_MIN, 1.0 - f64::EPSILON),
    }
}

/// Number of cells of each bucket that satisfy the condition.
pub(super) fn bucket_matches(
    condition: &Condition,
    buckets: &Buckets<'_>,
    domain: &PublicDomain,
) -> Vec<u32> {
    let mut judgements = Vec::with_capacity(buckets.cells().len());
    condition.judge_all(buckets.cells(), &domain.values, domain, &mut judgements);
    (0..buckets.len())
        .map(|bucket| {
            let run = buckets.coded_run(bucket);
            run.filter(|&(value, _)| judgements[value as usize].certain)
                .map(|(_, count)| count)
                .sum()
        })
        .collect()
}
