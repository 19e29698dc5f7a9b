//! t-closeness (Li et al. 2007) of the values of one group to those of a whole
//! table, in integers.
//!
//! Distance is the earth mover's: for numbers and dates the ordered distance,
//! (1/(D−1)) · Σᵢ |Pᵢ − Qᵢ| over the D values of the domain with cumulative
//! shares P and Q; for categories the equal distance, ½ · Σᵥ |pᵥ − qᵥ|, which
//! is the sum of what is above q.
//!
//! A missing number or date lies a whole range behind the last number: the step
//! from there to it counts D−1 times, D the numbers of the domain (*ours*; never
//! less than the earth mover's distance with the missing value at distance 1
//! from every number).

use std::ops::Range;

use crate::microdata::Domain;
use crate::privacy::T;

/// The distribution that groups are held against.
#[derive(Clone, Debug)]
pub struct Reference {
    ordered: bool,
    /// How often each code occurs.
    counts: Vec<u64>,
    all: u64,
    /// Values with at most each code; empty where order does not count.
    cumulative: Vec<u64>,
    /// Sum of `cumulative` before each code.
    sums: Vec<u128>,
    /// Steps between the first and the last number.
    steps: u128,
    /// The code of the missing value, where order counts.
    missing: Option<u32>,
}

impl Reference {
    /// Counts the codes of a whole table.
    pub fn new(domain: &Domain, codes: impl Iterator<Item = u32>) -> Self {
        let mut counts = vec![0_u64; domain.len()];
        codes.for_each(|code| counts[code as usize] += 1);
        Self::of_counts(domain, counts)
    }

    /// A whole table in which each code of the domain occurs so often.
    pub fn of_counts(domain: &Domain, counts: Vec<u64>) -> Self {
        let mut reference = Self {
            ordered: domain.is_numeric(),
            all: counts.iter().sum(),
            counts,
            cumulative: Vec::new(),
            sums: vec![0],
            steps: domain.steps().into(),
            missing: domain.missing_number().map(|code| code.0),
        };
        if reference.ordered {
            let (mut below, mut sum) = (0, 0_u128);
            for &count in &reference.counts {
                below += count;
                sum += u128::from(below);
                reference.cumulative.push(below);
                reference.sums.push(sum);
            }
        }
        reference
    }

    /// Whether values with these codes, ascending with their counts, `size`
    /// in all, are within t of the whole. Time O(codes · log D).
    pub fn is_within(&self, t: T, contents: &[(u32, u64)], size: u64) -> bool {
        let (size, all) = (u128::from(size), u128::from(self.all));
        if !self.ordered {
            let above = contents.iter().map(|&(code, count)| {
                let whole = u128::from(self.counts[code as usize]) * size;
                (u128::from(count) * all).saturating_sub(whole)
            });
            return t.allows(above.sum(), size * all);
        }
        let mut distance = 0;
        let (mut from, mut inside) = (0, 0_u64);
        for &(code, count) in contents {
            distance += self.between(from..code as usize, u128::from(inside) * all, size);
            inside += count;
            from = code as usize;
        }
        distance += self.between(from..self.counts.len(), u128::from(inside) * all, size);
        if let Some(missing) = self.missing {
            let own = contents.last().filter(|&&(code, _)| code == missing);
            let own = own.map_or(0, |&(_, count)| u128::from(count)) * all;
            let whole = u128::from(self.counts[missing as usize]) * size;
            // One of the steps is counted above.
            distance += own.abs_diff(whole) * (self.steps - 1);
        }
        t.allows(distance, size * all * self.steps)
    }

    /// Σ over a run of codes of |level − C·size|, C the values of the whole up
    /// to the code: `level` is constant there and C grows.
    fn between(&self, codes: Range<usize>, level: u128, size: u128) -> u128 {
        let run = &self.cumulative[codes.clone()];
        let turn = codes.start + run.partition_point(|&below| u128::from(below) * size < level);
        let sum = |from: usize, to: usize| (self.sums[to] - self.sums[from]) * size;
        let before = level * (turn - codes.start) as u128 - sum(codes.start, turn);
        let after = sum(turn, codes.end) - level * (codes.end - turn) as u128;
        before + after
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microdata::Values;

    /// Whether the distance is exactly `numerator / denominator`.
    fn is_exactly(reference: &Reference, contents: &[(u32, u64)], distance: (u32, u32)) -> bool {
        let size = contents.iter().map(|&(_, count)| count).sum();
        let exact = f64::from(distance.0) / f64::from(distance.1);
        let t = |value: f64| T::new(value).unwrap();
        reference.is_within(t(exact), contents, size)
            && (distance.0 == 0 || !reference.is_within(t(exact - 1e-9), contents, size))
    }

    #[test]
    fn the_papers_salaries_are_as_far_apart_as_the_paper_says() {
        // [Li 2007] section 5: nine salaries 3k..11k, once each.
        let domain = Domain::new(Values::Integer((3..12).collect()), None);
        let reference = Reference::new(&domain, 0..9);
        assert!(is_exactly(&reference, &[(0, 1), (1, 1), (2, 1)], (3, 8)));
        assert!(is_exactly(&reference, &[(3, 1), (5, 1), (8, 1)], (1, 6)));
    }

    #[test]
    fn categories_are_as_far_apart_as_what_is_too_frequent() {
        let labels = ["a", "b", "c"].map(String::from);
        let domain = Domain::new(Values::Category(labels.into()), None);
        let reference = Reference::new(&domain, [0, 0, 1, 2].into_iter());
        assert!(is_exactly(&reference, &[(0, 1), (1, 1)], (1, 4)));
        assert!(is_exactly(&reference, &[(0, 2), (1, 1), (2, 1)], (0, 1)));
    }

    #[test]
    fn the_whole_is_at_no_distance_from_itself_even_with_one_value() {
        let domain = Domain::new(Values::Integer(vec![5]), None);
        let reference = Reference::new(&domain, [0, 0].into_iter());
        assert!(reference.is_within(T::new(0.0).unwrap(), &[(0, 2)], 2));
    }
}
