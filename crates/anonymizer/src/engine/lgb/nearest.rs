//! Buckets of values that lie near each other in domain order (*ours*).
//!
//! The same eligibility as [`assignment`](super::assignment), one bucket at a
//! time: with n′ cells left, the smallest β ≥ L for which at most β values
//! are critical (c·L > n′ − β: leaving one out would make the rest
//! ineligible) and the most frequent of them fits afterwards. The bucket takes
//! the critical values and fills up with the lowest remaining ones, so that
//! buckets sweep the domain from its lower end.

use std::collections::BinaryHeap;
use std::ops::Range;

use super::runs::Runs;

/// Buffers that one task reuses from set to set.
#[derive(Debug, Default)]
pub(super) struct NearestBuffers {
    /// Values by count; entries whose count has changed are stale.
    heap: BinaryHeap<(u32, u32)>,
    counts: Vec<u32>,
    /// Remaining values in domain order, linked both ways; the entry past the
    /// values closes the ring.
    after: Vec<u32>,
    before: Vec<u32>,
    critical: Vec<u32>,
    chosen: Vec<u32>,
}

/// As [`assign_by_invariance`](super::assignment::assign_by_invariance).
pub(super) fn assign_nearest(
    runs: &Runs,
    set: Range<usize>,
    l: u32,
    heads: &mut [u32],
    buffers: &mut NearestBuffers,
) {
    let base = runs.starts[set.start];
    buffers.begin(runs, set.clone());
    let mut remaining = heads.len() as u64;
    while remaining > 0 {
        buffers.choose(remaining, u64::from(l));
        let head = {
            let value = buffers.chosen[0] as usize;
            runs.starts[set.start + value + 1] - buffers.counts[value]
        };
        for &value in &buffers.chosen {
            let value = value as usize;
            let cell = runs.starts[set.start + value + 1] - buffers.counts[value];
            heads[(cell - base) as usize] = head;
            buffers.counts[value] -= 1;
        }
        remaining -= buffers.chosen.len() as u64;
        buffers.put_back();
    }
}

impl NearestBuffers {
    fn begin(&mut self, runs: &Runs, set: Range<usize>) {
        let values = set.len() as u32;
        self.counts.clear();
        self.counts.extend(set.map(|run| runs.count(run)));
        self.after.clear();
        self.after.extend(1..=values);
        self.after.push(0);
        self.before.clear();
        self.before.push(values);
        self.before.extend(0..values);
        self.heap.clear();
        let counts = self.counts.iter().enumerate();
        self.heap
            .extend(counts.map(|(value, &count)| (count, value as u32)));
    }

    /// Chooses the values of the next bucket.
    fn choose(&mut self, remaining: u64, l: u64) {
        self.critical.clear();
        let mut beta = l;
        loop {
            self.gather_critical(remaining.saturating_sub(beta), l);
            let most = self
                .critical
                .first()
                .map_or(0, |&v| self.counts[v as usize]);
            let rest = remaining.saturating_sub(beta);
            let fits = u64::from(most.saturating_sub(1)) * l <= rest;
            if (self.critical.len() as u64 <= beta && fits) || beta >= remaining {
                break;
            }
            beta += 1;
        }
        self.chosen.clear();
        self.chosen.extend_from_slice(&self.critical);
        let end = self.counts.len() as u32;
        let mut value = self.after[end as usize];
        while value != end && (self.chosen.len() as u64) < beta {
            if !self.critical.contains(&value) {
                self.chosen.push(value);
            }
            value = self.after[value as usize];
        }
    }

    /// Moves every value that must be taken from the heap to the list of
    /// critical ones; `rest` is the number of cells after this bucket.
    fn gather_critical(&mut self, rest: u64, l: u64) {
        while let Some(&(count, value)) = self.heap.peek() {
            if u64::from(count) * l <= rest {
                return;
            }
            self.heap.pop();
            if self.counts[value as usize] == count {
                self.critical.push(value);
            }
        }
    }

    /// Returns the chosen values to the heap, or unlinks them where no cell
    /// remains.
    fn put_back(&mut self) {
        for &value in &self.chosen {
            let count = self.counts[value as usize];
            if count > 0 {
                self.heap.push((count, value));
            } else {
                let (before, after) = (self.before[value as usize], self.after[value as usize]);
                self.after[before as usize] = after;
                self.before[after as usize] = before;
            }
        }
    }
}
