//! Buckets of values that chance brings together (*ours*).
//!
//! The assignment of m-invariance makes many buckets of the same most frequent
//! values at once. An average over the buckets of a value is then always
//! one over the same other values: their means are mistaken for its own.
//! Here the n cells of an eligible set are dealt to m = ⌊n/L⌋ buckets, value by
//! value in random order, each cell to a bucket drawn among those with the
//! fewest cells that lack the value. A value has at most n/L cells, so at most
//! m, and there always is one; the sizes of buckets differ by one at most, so
//! each has L cells. Which other values share a bucket with a value is up to
//! chance.

use std::ops::Range;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;

use super::runs::Runs;

/// Buffers that one task reuses from set to set.
#[derive(Debug, Default)]
pub(super) struct ScatterBuffers {
    order: Vec<usize>,
    /// Buckets with the fewest cells.
    open: Vec<u32>,
    /// Which run last had a cell in each bucket.
    last: Vec<usize>,
    /// First cell of each bucket.
    head: Vec<u32>,
}

/// Deals the cells of an eligible set. `heads` as in
/// [`assign_by_invariance`](super::assignment::assign_by_invariance).
pub(super) fn scatter(
    runs: &Runs,
    set: Range<usize>,
    l: u32,
    heads: &mut [u32],
    (buffers, random): (&mut ScatterBuffers, &mut ChaCha12Rng),
) {
    let base = runs.starts[set.start];
    let buckets = (heads.len() as u32 / l).max(1);
    buffers.begin(set, buckets, random);
    let order = std::mem::take(&mut buffers.order);
    for &run in &order {
        for cell in runs.cells(run..run + 1) {
            let bucket = buffers.draw(run, random);
            // The bucket for now; its first cell below.
            heads[cell - base as usize] = bucket;
            let head = &mut buffers.head[bucket as usize];
            *head = (*head).min(cell as u32);
        }
    }
    for head in heads {
        *head = buffers.head[*head as usize];
    }
    buffers.order = order;
}

impl ScatterBuffers {
    fn begin(&mut self, set: Range<usize>, buckets: u32, random: &mut ChaCha12Rng) {
        self.order.clear();
        self.order.extend(set);
        self.order.shuffle(random);
        self.open.clear();
        self.last.clear();
        self.last.resize(buckets as usize, usize::MAX);
        self.head.clear();
        self.head.resize(buckets as usize, u32::MAX);
    }

    /// A bucket without the value of a run, among those with the fewest cells.
    fn draw(&mut self, run: usize, random: &mut ChaCha12Rng) -> u32 {
        if self.open.is_empty() {
            // Every bucket gets one cell more. Those that have the value
            // stand in front of the others.
            self.open.extend(0..self.last.len() as u32);
            let last = &self.last;
            self.open.sort_by_key(|&at| last[at as usize] != run);
        }
        // A value has at most as many cells as there are buckets, so one is left.
        let lacks = self
            .open
            .partition_point(|&at| self.last[at as usize] == run);
        let at = random.random_range(lacks..self.open.len());
        let bucket = self.open.swap_remove(at);
        self.last[bucket as usize] = run;
        bucket
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng;

    use super::*;
    use crate::engine::lgb::runs::tests::runs;

    /// Values of each bucket.
    fn buckets(counts: &[u32], l: u32, seed: u64) -> Vec<Vec<usize>> {
        let runs = runs(counts);
        let mut heads = vec![0; runs.records.len()];
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let how = (&mut ScatterBuffers::default(), &mut random);
        scatter(&runs, 0..counts.len(), l, &mut heads, how);
        let mut of_head = std::collections::BTreeMap::<u32, Vec<usize>>::new();
        for run in 0..counts.len() {
            for cell in runs.cells(run..run + 1) {
                assert!(heads[cell] <= cell as u32, "the first cell names a bucket");
                of_head.entry(heads[cell]).or_default().push(run);
            }
        }
        of_head.into_values().collect()
    }

    #[test]
    fn every_bucket_has_l_values_and_none_twice() {
        for (counts, l) in [
            (&[1, 1][..], 2),
            (&[3, 3, 3], 3),
            (&[5, 1, 1, 1, 1, 1], 2),
            (&[4, 4, 2, 2, 1], 3),
            (&[7, 6, 5, 4, 3, 2, 1], 4),
            (&[1, 1, 1, 1, 1], 1),
        ] {
            for seed in 0..50 {
                for mut values in buckets(counts, l, seed) {
                    assert!(values.len() >= l as usize, "{counts:?}");
                    values.dedup();
                    assert!(values.len() >= l as usize, "{counts:?}: twice");
                }
            }
        }
    }

    /// Twenty values of fifty cells, l 2: m-invariance pairs each value with
    /// one other throughout.
    #[test]
    fn no_two_values_are_paired_again_and_again() {
        let found = buckets(&[50; 20], 2, 1);
        let mut together = vec![[0; 20]; 20];
        for values in &found {
            for &one in values {
                for &other in values.iter().filter(|&&other| other != one) {
                    together[one][other] += 1;
                }
            }
        }
        let most = together.iter().flatten().max();
        assert!(most < Some(&16), "{most:?} of 50 buckets");
    }
}
