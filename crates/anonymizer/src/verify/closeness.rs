//! t-closeness of classes (Li et al. 2007), in exact integers.
//!
//! The distribution that classes are held against is that of all cells that
//! are *published in classes*: of buckets the flagged, unmasked cells
//! (engines.md, stage 2), of groups the whole published table. It is the best
//! that anyone can learn from the release about such values as a whole.
//!
//! Distance over a domain of m values in order (all of the dataset version):
//! - numbers and dates, ordered distance: Σ_i |P_i − Q_i| / (m − 1) with P and
//!   Q the cumulated shares; a missing value lies a whole range behind the last
//!   number, so that the step from there to it counts m − 1 times, m the numbers;
//! - categories, equal distance: Σ max(0, p − q).
//!
//! With A/s and C/N for cumulated counts over sizes, |A/s − C/N| is
//! |A·N − C·s| / (s·N): the numerators are summed, the denominator kept.
//! Between two values of a bucket A is constant and C grows, so each run is
//! two differences of prefix sums, found by halving: a bucket costs its own
//! number of values times log m, not m.

use crate::microdata::Domain;
use crate::privacy::T;

use super::classes::Classes;
use super::verdict::{Check, Section};

/// An exact distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distance {
    pub(super) numerator: u128,
    pub(super) denominator: u128,
}

impl Distance {
    /// The distance as a number, at most 1 where no number is missing.
    pub(super) fn get(self) -> f64 {
        self.numerator as f64 / self.denominator.max(1) as f64
    }
}

/// The distribution that classes of an attribute are held against.
#[derive(Debug)]
pub(super) struct Reference<'a> {
    ordered: bool,
    totals: &'a [u64],
    cells: u64,
    /// Cells with at most each code.
    cumulated: Vec<u64>,
    /// Sum of `cumulated` before each code.
    prefix: Vec<u128>,
    /// The code of the missing value, where order counts, and the steps
    /// between the first and the last number.
    missing: Option<(u32, u128)>,
}

impl<'a> Reference<'a> {
    /// The values of all classes.
    pub(super) fn of(classes: &Classes<'a>) -> Self {
        Self::of_totals(classes.domain, classes.totals())
    }

    /// The distribution in which each code occurs so often.
    pub(super) fn of_totals(domain: &Domain, totals: &'a [u64]) -> Self {
        let missing = domain.missing_number();
        let mut cumulated = Vec::new();
        let mut prefix = vec![0_u128];
        let (mut cells, mut sum) = (0_u64, 0_u128);
        if domain.is_numeric() {
            for &count in totals {
                cells += count;
                sum += u128::from(cells);
                cumulated.push(cells);
                prefix.push(sum);
            }
        }
        Self {
            ordered: domain.is_numeric(),
            totals,
            cells: totals.iter().sum(),
            cumulated,
            prefix,
            missing: missing.map(|code| (code.0, domain.steps().into())),
        }
    }

    /// Whether a code is one of the domain's.
    pub(super) fn knows(&self, code: u32) -> bool {
        (code as usize) < self.totals.len()
    }

    /// Distance of a class from the whole.
    pub(super) fn distance(&self, contents: &[(u32, u64)]) -> Distance {
        let size: u64 = contents.iter().map(|&(_, count)| count).sum();
        let scale = u128::from(size) * u128::from(self.cells);
        if !self.ordered {
            let above = contents.iter().map(|&(code, count)| {
                let own = u128::from(count) * u128::from(self.cells);
                own.saturating_sub(u128::from(self.totals[code as usize]) * u128::from(size))
            });
            return Distance {
                numerator: above.sum(),
                denominator: scale,
            };
        }
        let mut numerator = 0_u128;
        let (mut start, mut below) = (0_usize, 0_u64);
        for &(code, count) in contents {
            numerator += self.run(start..code as usize, below, size);
            start = code as usize;
            below += count;
        }
        numerator += self.run(start..self.totals.len(), below, size);
        let mut steps = self.totals.len().saturating_sub(1) as u128;
        if let Some((missing, between)) = self.missing {
            let own = contents.last().filter(|&&(code, _)| code == missing);
            let own = own.map_or(0, |&(_, count)| u128::from(count));
            let whole = u128::from(self.totals[missing as usize]) * u128::from(size);
            // The run up to the last number counts one of the steps behind it.
            numerator += (own * u128::from(self.cells)).abs_diff(whole) * (between - 1);
            steps = between;
        }
        Distance {
            numerator,
            denominator: scale * steps,
        }
    }

    /// Σ |A·N − C_i·s| over the codes of a run, where A cells of the class
    /// of size s lie at or below it.
    fn run(&self, codes: std::ops::Range<usize>, below: u64, size: u64) -> u128 {
        let own = u128::from(below) * u128::from(self.cells);
        let size = u128::from(size);
        let whole = &self.cumulated[codes.clone()];
        let middle = codes.start + whole.partition_point(|&c| u128::from(c) * size < own);
        let sum = |from: usize, to: usize| (self.prefix[to] - self.prefix[from]) * size;
        let before = own * (middle - codes.start) as u128 - sum(codes.start, middle);
        let after = sum(middle, codes.end) - own * (codes.end - middle) as u128;
        before + after
    }
}

/// How far the classes of an attribute are from all of them.
pub(super) struct Distances {
    /// The largest distance, with the first class that has it.
    pub(super) farthest: Option<(f64, usize)>,
    /// Whether each class is beyond t.
    pub(super) is_beyond: Vec<bool>,
}

impl Distances {
    /// Those of all classes from the values of all.
    pub(super) fn of(classes: &Classes, t: T) -> Self {
        let reference = Reference::of(classes);
        let mut farthest: Option<(f64, usize)> = None;
        let is_beyond = (0..classes.len()).map(|class| {
            let distance = reference.distance(classes.contents(class));
            if farthest.is_none_or(|(most, _)| distance.get() > most) {
                farthest = Some((distance.get(), class));
            }
            !t.allows(distance.numerator, distance.denominator)
        });
        let is_beyond = is_beyond.collect();
        Self {
            farthest,
            is_beyond,
        }
    }

    /// Number of classes beyond t.
    pub(super) fn beyond(&self) -> usize {
        self.is_beyond.iter().filter(|&&beyond| beyond).count()
    }

    /// The guarantee `t_closeness`: attained is the largest distance.
    pub(super) fn check(&self, classes: &Classes, t: T, worst: Option<usize>) -> Check {
        Check::new(Section::Guarantee, "t_closeness")
            .about(classes.name)
            .claiming(t.get())
            .attaining(
                self.farthest.map(|(distance, _)| distance),
                worst.map(|class| classes.place(class)),
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microdata::Values;

    /// The definition, code by code.
    fn naive(ordered: bool, totals: &[u64], bucket: &[u64]) -> f64 {
        let share =
            |counts: &[u64], code: usize| counts[code] as f64 / counts.iter().sum::<u64>() as f64;
        let differences = (0..totals.len()).map(|code| share(bucket, code) - share(totals, code));
        if !ordered {
            return differences.map(f64::abs).sum::<f64>() / 2.0;
        }
        let mut cumulated = 0.0;
        let steps = differences.map(|difference| {
            cumulated += difference;
            f64::abs(cumulated)
        });
        steps.sum::<f64>() / (totals.len() - 1) as f64
    }

    #[test]
    fn distances_are_those_of_the_definition() {
        let totals = vec![3, 0, 5, 1, 0, 7, 2];
        let bucket = [1, 0, 0, 1, 0, 2, 0];
        let contents: Vec<(u32, u64)> =
            (0..7).zip(bucket).filter(|&(_, count)| count > 0).collect();
        let numbers = Domain::new(Values::Integer((0..7).collect()), None);
        let texts = Domain::new(
            Values::Category((0..7).map(|n| n.to_string()).collect()),
            None,
        );
        for (domain, ordered) in [(&numbers, true), (&texts, false)] {
            let distance = Reference::of_totals(domain, &totals)
                .distance(&contents)
                .get();
            assert!((distance - naive(ordered, &totals, &bucket)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_missing_number_lies_a_whole_range_behind_the_last() {
        let domain = Domain::new(Values::Integer(vec![1, 2, 9]), None).with_missing();
        let reference = Reference::of_totals(&domain, &[1, 1, 1, 1]);
        // Cumulated 0 0 0 against 1/4 2/4 3/4: (1/4 + 2/4) / 2 + 3/4.
        assert_eq!(reference.distance(&[(3, 2)]).get(), 1.125);
        // Cumulated 0 1/2 1/2: (1/4 + 0) / 2 + 1/4.
        assert_eq!(reference.distance(&[(1, 1), (3, 1)]).get(), 0.375);
        let alone = Domain::new(Values::Integer(vec![]), None).with_missing();
        let distance = Reference::of_totals(&alone, &[3]).distance(&[(0, 2)]);
        assert_eq!(distance.get(), 0.0);
    }

    #[test]
    fn a_bucket_like_the_whole_is_at_distance_nothing() {
        let domain = Domain::new(Values::Integer(vec![1, 2]), None);
        let distance = Reference::of_totals(&domain, &[8, 12]).distance(&[(0, 2), (1, 3)]);
        assert_eq!(distance.numerator, 0);
    }
}
