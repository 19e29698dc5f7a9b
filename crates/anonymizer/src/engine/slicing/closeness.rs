//! Distance of the values beside one combination from those of all records
//! (t-closeness, Li et al. 2007), in integers: for numbers and dates the
//! ordered distance Σ |P_i − Q_i| / (m − 1) over cumulated shares, for
//! categories the equal distance Σ max(0, p − q).
//!
//! Between two values of a combination its own cumulated share stands still
//! while that of the whole rises: each gap is cut where the two cross, so that
//! a combination costs its own values times log m.

use crate::microdata::CodedColumn;

/// A distance as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Distance {
    pub numerator: u128,
    pub denominator: u128,
}

/// The values of all records.
#[derive(Debug)]
pub(super) struct Whole {
    is_ordered: bool,
    size: u128,
    /// How often each value occurs.
    counts: Vec<u32>,
    /// Records up to each value, the value included; of ordered values.
    upto: Vec<u64>,
    /// Sum of `upto` below each value.
    sums: Vec<u128>,
    /// Steps between the first and the last number.
    steps: u128,
    /// The missing one of ordered values.
    missing: Option<u32>,
}

impl Whole {
    /// Counts the values of some rows of a column.
    pub fn of(column: &CodedColumn, codes: impl Iterator<Item = u32>) -> Self {
        let mut counts = vec![0_u32; column.domain.len()];
        let mut size = 0_u64;
        for code in codes {
            counts[code as usize] += 1;
            size += 1;
        }
        let is_ordered = column.domain.is_numeric();
        let (mut upto, mut sums) = (Vec::new(), vec![0]);
        if is_ordered {
            let (mut before, mut sum) = (0_u64, 0_u128);
            for &count in &counts {
                before += u64::from(count);
                sum += u128::from(before);
                upto.push(before);
                sums.push(sum);
            }
        }
        Self {
            is_ordered,
            size: u128::from(size),
            counts,
            upto,
            sums,
            steps: column.domain.steps().into(),
            missing: column.domain.missing_number().map(|code| code.0),
        }
    }

    /// Distance of some records with these values, ascending, each with its
    /// number.
    pub fn distance(&self, values: &[(u32, u32)]) -> Distance {
        let own: u128 = values.iter().map(|&(_, count)| u128::from(count)).sum();
        let scale = (own * self.size).max(1);
        if !self.is_ordered {
            let excess = values.iter().map(|&(code, count)| {
                let ours = u128::from(count) * self.size;
                ours.saturating_sub(u128::from(self.counts[code as usize]) * own)
            });
            return Distance {
                numerator: excess.sum(),
                denominator: scale,
            };
        }
        let (mut numerator, mut from, mut below) = (0, 0, 0_u128);
        for &(code, count) in values {
            numerator += self.gap(from, code as usize, below * self.size, own);
            from = code as usize;
            below += u128::from(count);
        }
        numerator += self.gap(from, self.counts.len(), below * self.size, own);
        if let Some(missing) = self.missing {
            // It lies a whole range behind the last number; one of the steps
            // is counted above.
            let ours = values.last().filter(|&&(code, _)| code == missing);
            let ours = ours.map_or(0, |&(_, count)| u128::from(count)) * self.size;
            let whole = u128::from(self.counts[missing as usize]) * own;
            numerator += ours.abs_diff(whole) * (self.steps - 1);
        }
        Distance {
            numerator,
            denominator: scale * self.steps,
        }
    }

    /// Σ |still − upto · own| over the values from `from` up to `to`.
    fn gap(&self, from: usize, to: usize, still: u128, own: u128) -> u128 {
        let rising = &self.upto[from..to];
        let cross = from + rising.partition_point(|&upto| u128::from(upto) * own < still);
        let area = |from: usize, to: usize| (self.sums[to] - self.sums[from]) * own;
        let below = still * (cross - from) as u128 - area(from, cross);
        below + area(cross, to) - still * (to - cross) as u128
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::microdata::{Codes, Domain, Values};

    fn column(values: Values) -> CodedColumn {
        CodedColumn {
            domain: Arc::new(Domain::new(values, None)),
            codes: Codes::default(),
        }
    }

    fn is_near(distance: Distance, expected: f64) -> bool {
        (distance.numerator as f64 / distance.denominator as f64 - expected).abs() < 1e-12
    }

    #[test]
    fn numbers_are_compared_by_cumulated_shares() {
        let numbers = column(Values::Integer(vec![1, 2, 3]));
        let whole = Whole::of(&numbers, [0, 1, 2].into_iter());
        // Cumulated 1 1 1 against 1/3 2/3 1: (2/3 + 1/3) / 2.
        assert!(is_near(whole.distance(&[(0, 5)]), 0.5));
        assert!(is_near(whole.distance(&[(2, 5)]), 0.5));
        assert!(is_near(whole.distance(&[(0, 2), (1, 2), (2, 2)]), 0.0));
        assert!(is_near(whole.distance(&[(1, 1)]), 1.0 / 3.0));
    }

    #[test]
    fn categories_are_compared_value_by_value() {
        let labels = column(Values::Category(vec!["a".into(), "b".into()]));
        let whole = Whole::of(&labels, [0, 0, 0, 1].into_iter());
        assert!(is_near(whole.distance(&[(1, 2)]), 0.75));
        assert!(is_near(whole.distance(&[(0, 1), (1, 1)]), 0.25));
    }
}
