//! t-closeness (Li et al. 2007) for one attribute: buckets whose distribution
//! is within t of that of the attribute's flagged cells.
//!
//! Distance is the earth mover's: for numbers and dates the ordered distance,
//! (1/(D−1)) · Σᵢ |Pᵢ − Qᵢ| over the D values of the domain with cumulative
//! shares P and Q; for categories the equal distance, ½ · Σᵥ |pᵥ − qᵥ|.
//!
//! The sorted cells are dealt round and round into B buckets. Each bucket then
//! holds each value, and each prefix of the domain, in proportion up to one
//! cell: what largest remainders give, with exact totals. The size m/B is the
//! smallest from K on for which every bucket is within t, holds two values and
//! no value above the strictest share that a member allows. One bucket of all
//! cells always is, so the search ends. Everything is compared in integers.

use crate::engine::error::EngineError;
use crate::privacy::{ProtectedIndex, Protection, Share, T};

use super::frame::Frame;
use super::runs::Runs;

/// Deals all cells of an attribute; the head of each cell's bucket.
pub(super) fn deal(
    frame: &Frame<'_>,
    index: ProtectedIndex,
    runs: &Runs,
) -> Result<Vec<u32>, EngineError> {
    let size = runs.records.len();
    let Protection::Closeness { t, .. } = frame.requirements.protection(index) else {
        return Ok(Vec::new());
    };
    if size == 0 {
        return Ok(Vec::new());
    }
    let target = Target::new(frame, (index, t), runs);
    let k = runs.records.iter().map(|&record| frame.terms(record).k);
    let least = k.max().unwrap_or(1).min(size as u32) as usize;
    let mut buckets = size / least;
    while buckets > 1 && !target.holds_for_all(buckets) {
        frame.context.check()?;
        // The next larger size: sizes that give as many buckets are the same deal.
        let size_now = size / buckets;
        buckets = (size / (size_now + 1)).min(buckets - 1);
    }
    // The first cell of each bucket is its head.
    Ok((0..size).map(|cell| (cell % buckets) as u32).collect())
}

/// What every bucket is measured against.
struct Target<'a> {
    runs: &'a Runs,
    ordered: bool,
    t: T,
    share: Share,
    size: u64,
    /// D − 1.
    steps: u64,
    /// The code of the missing value.
    missing: Option<u32>,
    /// Σ of cumulative counts over the codes below each run's code, where the
    /// distance is ordered.
    cumulative_sums: Vec<u128>,
    /// Number of codes.
    domain: u64,
}

impl<'a> Target<'a> {
    fn new(frame: &Frame<'_>, (index, t): (ProtectedIndex, T), runs: &'a Runs) -> Self {
        let domain = &frame.protected_column(index).domain;
        let terms = runs.records.iter().map(|&record| frame.terms(record));
        let share = terms.map(|terms| terms.max_share[index.at()]).min();
        let mut target = Self {
            runs,
            ordered: domain.is_numeric(),
            t,
            share: share.unwrap_or(Share::ALL),
            size: runs.records.len() as u64,
            steps: domain.steps(),
            missing: domain.missing_number().map(|code| code.0),
            cumulative_sums: Vec::new(),
            domain: domain.len() as u64,
        };
        if target.ordered {
            target.cumulative_sums = target.sum_cumulative_counts();
        }
        target
    }

    /// Entry r: Σ over codes c < code of run r of the number of cells with a
    /// code ≤ c.
    fn sum_cumulative_counts(&self) -> Vec<u128> {
        let mut sums = Vec::with_capacity(self.runs.len() + 1);
        let mut sum = 0_u128;
        for run in 0..self.runs.len() {
            if run > 0 {
                let gap = self.runs.codes[run] - self.runs.codes[run - 1];
                sum += u128::from(self.runs.starts[run]) * u128::from(gap);
            }
            sums.push(sum);
        }
        sums
    }

    fn holds_for_all(&self, buckets: usize) -> bool {
        (0..buckets).all(|bucket| self.holds_for(bucket, buckets))
    }

    /// Whether bucket `bucket` of `buckets` is good. Its cells are those at
    /// positions `bucket`, `bucket + buckets`, ….
    fn holds_for(&self, bucket: usize, buckets: usize) -> bool {
        let mut members: Vec<(usize, u64)> = Vec::new();
        let mut run = 0;
        for cell in (bucket..self.size as usize).step_by(buckets) {
            let ends = &self.runs.starts[run + 1..];
            run += ends.partition_point(|&end| end as usize <= cell);
            match members.last_mut() {
                Some((last, count)) if *last == run => *count += 1,
                _ => members.push((run, 1)),
            }
        }
        let size: u64 = members.iter().map(|(_, count)| count).sum();
        let most = members.iter().map(|&(_, count)| count).max().unwrap_or(0);
        if members.len() < 2 || !self.share.allows(most, size) {
            return false;
        }
        if self.ordered {
            self.is_close_in_order(&members, size)
        } else {
            self.is_close_as_sets(&members, size)
        }
    }

    /// ½ Σ |p − q| is the sum of what is above q, and only values of the
    /// bucket can be: Σ max(0, count·m − c·s) / (s·m).
    fn is_close_as_sets(&self, members: &[(usize, u64)], size: u64) -> bool {
        let above = members.iter().map(|&(run, count)| {
            let here = u128::from(count) * u128::from(self.size);
            let whole = u128::from(self.runs.count(run)) * u128::from(size);
            here.saturating_sub(whole)
        });
        self.t
            .allows(above.sum(), u128::from(size) * u128::from(self.size))
    }

    /// Σ over codes of |a·m − C·s| / (s·m·(D−1)): a cells of the bucket and C
    /// of all cells have at most that code. Between two of the bucket's values
    /// a is constant and C grows, so the terms change their sign once.
    fn is_close_in_order(&self, members: &[(usize, u64)], size: u64) -> bool {
        let (all, size) = (u128::from(self.size), u128::from(size));
        let mut distance = 0_u128;
        let mut inside = 0_u128;
        let mut from = 0;
        for at in 0..=members.len() {
            let to = match members.get(at) {
                Some(&(run, _)) => u64::from(self.runs.codes[run]),
                None => self.domain,
            };
            // Codes from `from` to `to - 1`, with `inside` cells below or at.
            distance += self.distance_between((from, to), inside * all, size);
            if let Some(&(_, count)) = members.get(at) {
                inside += u128::from(count);
                from = to;
            }
        }
        distance += self.distance_of_missing(members, size);
        self.t.allows(distance, size * all * u128::from(self.steps))
    }

    /// What the missing value adds, which lies a whole range behind the last
    /// number: one of those steps is counted as any other.
    fn distance_of_missing(&self, members: &[(usize, u64)], size: u128) -> u128 {
        let last = self.runs.len().checked_sub(1);
        let Some(run) = last.filter(|&run| Some(self.runs.codes[run]) == self.missing) else {
            return 0;
        };
        let own = members.last().filter(|&&(of, _)| of == run);
        let own = own.map_or(0, |&(_, count)| u128::from(count)) * u128::from(self.size);
        let whole = u128::from(self.runs.count(run)) * size;
        own.abs_diff(whole) * u128::from(self.steps - 1)
    }

    /// Σ over codes c in from..to of |level − C(c)·size|.
    fn distance_between(&self, (from, to): (u64, u64), level: u128, size: u128) -> u128 {
        // First code whose C·size exceeds the level.
        let starts = &self.runs.starts[1..];
        let over = starts.partition_point(|&end| u128::from(end) * size <= level);
        let crossing = if over < self.runs.len() {
            u64::from(self.runs.codes[over]).clamp(from, to)
        } else {
            to
        };
        let below = level * u128::from(crossing - from) - size * self.cumulative(from, crossing);
        let above = size * self.cumulative(crossing, to) - level * u128::from(to - crossing);
        below + above
    }

    /// Σ over codes c in from..to of C(c).
    fn cumulative(&self, from: u64, to: u64) -> u128 {
        self.cumulative_below(to) - self.cumulative_below(from)
    }

    /// Σ over codes c < code of C(c).
    fn cumulative_below(&self, code: u64) -> u128 {
        let runs = self.runs.codes.partition_point(|&of| u64::from(of) <= code);
        if runs == 0 {
            return 0;
        }
        let gap = code - u64::from(self.runs.codes[runs - 1]);
        self.cumulative_sums[runs - 1] + u128::from(self.runs.starts[runs]) * u128::from(gap)
    }
}
