//! Histograms of counts and of shares, in the one shape that reports use.

use serde::{Deserialize, Serialize};

/// One bar: values from `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// Lower end, included.
    pub from: f64,
    /// Upper end; included for whole numbers and in the last bin of shares.
    pub to: f64,
    /// How many.
    pub count: u64,
}

/// Bars in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// The bars.
    pub bins: Vec<Bin>,
}

impl Histogram {
    /// Bars that whole numbers are put into at most.
    pub const WHOLE_BINS_MAX: usize = 32;

    /// A histogram of whole numbers: one bar a number where the spread allows
    /// it, else at most [`Histogram::WHOLE_BINS_MAX`] bars of equal width.
    pub fn of_whole(values: impl Iterator<Item = u32> + Clone) -> Self {
        Self::of_counted(values.map(|value| (value, 1)))
    }

    /// The same of whole numbers that come with how often they occur.
    pub fn of_counted(values: impl Iterator<Item = (u32, u64)> + Clone) -> Self {
        let numbers = values.clone().map(|(value, _)| value);
        let (Some(lo), Some(hi)) = (numbers.clone().min(), numbers.max()) else {
            return Self::default();
        };
        let width = (hi - lo) / Self::WHOLE_BINS_MAX as u32 + 1;
        let mut counts = vec![0_u64; ((hi - lo) / width) as usize + 1];
        for (value, count) in values {
            counts[((value - lo) / width) as usize] += count;
        }
        let bar = |(at, &count): (usize, &u64)| {
            let from = lo + at as u32 * width;
            Bin {
                from: f64::from(from),
                to: f64::from(from.saturating_add(width - 1)),
                count,
            }
        };
        Self {
            bins: counts.iter().enumerate().map(bar).collect(),
        }
    }

    /// A histogram of numbers in 0..=1 in `bins` bars of equal width. A value
    /// at a border belongs to the bar above; 1 belongs to the last.
    pub fn of_shares(values: impl Iterator<Item = f64>, bins: usize) -> Self {
        let mut counts = vec![0_u64; bins.max(1)];
        for value in values {
            let bar = Self::bar_of_share(value, counts.len());
            counts[bar] += 1;
        }
        Self::from_share_counts(&counts)
    }

    /// The bar among so many that a number in 0..=1 belongs to.
    pub fn bar_of_share(value: f64, bins: usize) -> usize {
        ((value * bins as f64 + 1e-9) as usize).min(bins - 1)
    }

    /// The histogram of equal bars over 0..=1 with these counts.
    pub fn from_share_counts(counts: &[u64]) -> Self {
        let bins = counts.len() as f64;
        let bar = |(at, &count): (usize, &u64)| Bin {
            from: at as f64 / bins,
            to: (at + 1) as f64 / bins,
            count,
        };
        Self {
            bins: counts.iter().enumerate().map(bar).collect(),
        }
    }

    /// Sum of all bars.
    pub fn total(&self) -> u64 {
        self.bins.iter().map(|bin| bin.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_close_together_have_a_bar_each() {
        let histogram = Histogram::of_whole([5, 6, 5, 8].into_iter());
        let bars: Vec<(f64, u64)> = histogram.bins.iter().map(|b| (b.from, b.count)).collect();
        assert_eq!(bars, [(5.0, 2), (6.0, 1), (7.0, 0), (8.0, 1)]);
    }

    #[test]
    fn whole_numbers_far_apart_share_bars_and_none_is_lost() {
        let histogram = Histogram::of_whole((1..=1000).chain([u32::MAX]));
        assert!(histogram.bins.len() <= Histogram::WHOLE_BINS_MAX);
        assert_eq!(histogram.total(), 1001);
    }

    #[test]
    fn shares_at_borders_belong_to_the_bar_above() {
        let histogram = Histogram::of_shares([0.0, 0.1, 0.3, 0.7, 1.0].into_iter(), 10);
        let filled: Vec<usize> = (0..10).filter(|&at| histogram.bins[at].count > 0).collect();
        assert_eq!(filled, [0, 1, 3, 7, 9]);
    }

    #[test]
    fn nothing_has_no_bars() {
        assert_eq!(Histogram::of_whole(std::iter::empty()).total(), 0);
    }
}
