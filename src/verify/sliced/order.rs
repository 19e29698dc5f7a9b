//! Whether the order of rows tells anything.
//!
//! `row_order_independent` as elsewhere: rank correlation of a row's position
//! with its first column's place in the source and with every published value.
//!
//! `columns_unlinked`: whether rows put together what belongs together. For
//! two columns and a bucket of size n let N(a, b) be the number of its records
//! with these combinations and e = n(a) · n(b) / n. A row that joins a and b,
//! with N(a, b) > 0, counts w = (N(a, b) − e) / (e + 1): much where records
//! have the pair more often than chance. Under independent permutations the sum
//! X over all rows has a mean and a variance that are known exactly (Hoeffding
//! 1951, *A combinatorial central limit theorem*), and strays from the mean by
//! more than t with a probability of about 2 exp(−V/β² · h(βt/V)),
//! h(u) = (1 + u) ln(1 + u) − u, β the range of w (Bennett's bound, as if rows
//! were independent). t is chosen so that a good release fails once in 16,000
//! times over all its pairs of columns; attained is the largest |X − E| as a
//! share of it. Where combinations are too few or too even to tell linked rows
//! from others, nobody else can either.

use rayon::prelude::*;

use super::super::row_order::{ROWS_MIN, of_orders, spearman};
use super::super::verdict::{Check, Section};
use super::super::view::NONE;
use super::view::SlicedView;

/// A good release fails once in so many times.
const ONCE_IN: f64 = 16_000.0;

pub(super) fn row_order_independent(view: &SlicedView) -> Check {
    let records: Vec<u32> = (0..view.rows())
        .filter_map(|row| view.record(row))
        .collect();
    if records.len() < ROWS_MIN {
        return of_orders(records.len(), &[]);
    }
    let mut found = vec![(None, spearman(records.iter().copied(), view.records))];
    let appearances = view.exact.par_iter().chain(&view.generalized);
    found.par_extend(appearances.map(|appearance| {
        // What is no single value goes behind all of them.
        let unknown = appearance.domain.len() as u32;
        let codes = appearance.codes.iter();
        let codes = codes.map(|&code| if code == NONE { unknown } else { code });
        (
            Some(appearance.name),
            spearman(codes, appearance.domain.len() + 1),
        )
    }));
    of_orders(records.len(), &found)
}

pub(super) fn columns_unlinked(view: &SlicedView) -> Check {
    let columns = view.columns.len();
    let pairs: Vec<(usize, usize)> = (0..columns)
        .flat_map(|one| (one + 1..columns).map(move |other| (one, other)))
        .collect();
    let check = Check::new(Section::Structure, "columns_unlinked");
    if pairs.is_empty() {
        return check.noting("one column: nothing is unlinked");
    }
    let rarity = (2.0 * ONCE_IN * pairs.len() as f64).ln();
    let deviations = pairs.par_iter().map(|&(one, other)| {
        let sum = together(view, one, other);
        (sum.share_of_chance(rarity), one)
    });
    let deviations: Vec<(f64, usize)> = deviations.collect();
    let worst = deviations
        .iter()
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let Some(&(attained, at)) = worst else {
        return check;
    };
    check
        .about(view.exact[view.columns[at].appearances.start].name)
        .claiming(1.0)
        .attaining(Some(attained), None)
        .holding(attained <= 1.0)
        .with_figure("pairs_of_columns", pairs.len() as f64)
        .noting(
            "rows that join what one record has, beyond chance, as a share of what chance allows",
        )
}

/// What rows join, and what chance says of it.
#[derive(Clone, Copy, Debug, Default)]
struct Joins {
    found: f64,
    mean: f64,
    variance: f64,
    /// Range of what one row counts.
    range: f64,
}

impl Joins {
    /// The deviation from the mean as a share of what chance allows, where
    /// e^(−`rarity`) is too rare.
    fn share_of_chance(&self, rarity: f64) -> f64 {
        if self.variance <= 0.0 || self.range <= 0.0 {
            return 0.0;
        }
        let wanted = rarity * self.range * self.range / self.variance;
        let h = |u: f64| (1.0 + u) * u.ln_1p() - u;
        let mut most = 1.0;
        while h(most) < wanted {
            most *= 2.0;
        }
        let mut least = 0.0;
        for _ in 0..60 {
            let middle = (least + most) / 2.0;
            match h(middle) < wanted {
                true => least = middle,
                false => most = middle,
            }
        }
        let allowed = most * self.variance / self.range;
        (self.found - self.mean).abs() / allowed
    }
}

/// What the rows of all buckets join of two columns.
fn together(view: &SlicedView, one: usize, other: usize) -> Joins {
    let [one, other] = [one, other].map(|at| &view.columns[at].whole);
    let mut joins = Joins::default();
    for bucket in 0..view.buckets.len() {
        let rows = view.buckets.rows(bucket);
        let published = rows
            .iter()
            .map(|&row| (one.of_row[row as usize], other.of_row[row as usize]));
        let records = rows.iter().filter_map(|&row| view.record(row as usize));
        let source = records.map(|record| {
            let record = record as usize;
            (one.of_record[record], other.of_record[record])
        });
        let of_bucket = of_bucket(published.collect(), source.collect());
        joins.found += of_bucket.found;
        joins.mean += of_bucket.mean;
        joins.variance += of_bucket.variance;
        joins.range = joins.range.max(of_bucket.range);
    }
    joins
}

type Pairs = Vec<(u32, u32)>;

/// What the rows of one bucket join, given the pairs of its records.
fn of_bucket(mut published: Pairs, mut source: Pairs) -> Joins {
    let n = published.len() as f64;
    if n < 2.0 {
        return Joins::default();
    }
    let counts = |values: &mut dyn Iterator<Item = u32>| {
        let mut values: Vec<u32> = values.collect();
        values.sort_unstable();
        let runs = values.chunk_by(|one, other| one == other);
        let runs = runs.map(|run| (run[0], run.len() as f64));
        runs.collect::<Vec<(u32, f64)>>()
    };
    let left = counts(&mut published.iter().map(|pair| pair.0));
    let right = counts(&mut published.iter().map(|pair| pair.1));
    let find = |counts: &[(u32, f64)], class: u32| {
        let found = counts.binary_search_by_key(&class, |&(class, _)| class);
        found.map_or((0, 0.0), |at| (at, counts[at].1))
    };
    published.sort_unstable();
    source.sort_unstable();
    let mut joins = Joins::default();
    let (mut lowest, mut highest) = (0.0_f64, 0.0_f64);
    let mut of_left = vec![0.0; left.len()];
    let mut of_right = vec![0.0; right.len()];
    let mut squares = 0.0;
    for run in source.chunk_by(|one, other| one == other) {
        let pair = run[0];
        let ((at, a), (to, b)) = (find(&left, pair.0), find(&right, pair.1));
        let expected = a * b / n;
        let weight = (run.len() as f64 - expected) / (expected + 1.0);
        (lowest, highest) = (lowest.min(weight), highest.max(weight));
        let from = published.partition_point(|other| *other < pair);
        let upto = published.partition_point(|other| *other <= pair);
        joins.found += weight * (upto - from) as f64;
        squares += a * b * weight * weight;
        if a * b > 0.0 {
            of_left[at] += weight * b / n;
            of_right[to] += weight * a / n;
        }
    }
    // Sums over the matrix of weights of every row's left with every row's right.
    let rows: f64 = left
        .iter()
        .zip(&of_left)
        .map(|(&(_, a), mean)| a * mean)
        .sum();
    let by_left: f64 = left
        .iter()
        .zip(&of_left)
        .map(|(&(_, a), mean)| a * mean * mean)
        .sum();
    let by_right: f64 = right
        .iter()
        .zip(&of_right)
        .map(|(&(_, b), mean)| b * mean * mean)
        .sum();
    joins.mean = rows;
    joins.variance = ((squares - n * by_left - n * by_right + rows * rows) / (n - 1.0)).max(0.0);
    joins.range = highest - lowest;
    joins
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance over all permutations of the right sides.
    fn by_trying(left: &[u32], right: &[u32], source: &Pairs) -> (f64, f64) {
        fn permutations(of: Vec<u32>) -> Vec<Vec<u32>> {
            if of.is_empty() {
                return vec![Vec::new()];
            }
            let firsts = 0..of.len();
            let all = firsts.flat_map(|at| {
                let mut rest = of.clone();
                let first = rest.remove(at);
                permutations(rest)
                    .into_iter()
                    .map(move |tail| [vec![first], tail].concat())
            });
            all.collect()
        }
        let found: Vec<f64> = permutations(right.to_vec())
            .into_iter()
            .map(|right| {
                let pairs = left.iter().copied().zip(right).collect();
                of_bucket(pairs, source.clone()).found
            })
            .collect();
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        let squares = found.iter().map(|found| (found - mean).powi(2));
        (mean, squares.sum::<f64>() / found.len() as f64)
    }

    #[test]
    fn mean_and_variance_are_those_of_all_permutations() {
        let left = [0, 0, 1, 2, 2, 3];
        let right = [5, 6, 5, 7, 7, 6];
        let source: Pairs = left.into_iter().zip(right).collect();
        let joins = of_bucket(source.clone(), source.clone());
        let (mean, variance) = by_trying(&left, &right, &source);
        assert!((joins.mean - mean).abs() < 1e-9, "{} {mean}", joins.mean);
        assert!((joins.variance - variance).abs() < 1e-9);
        assert!(joins.found > mean);
    }

    #[test]
    fn few_rows_allow_anything_and_many_linked_ones_do_not() {
        let joins = |buckets: f64| Joins {
            found: 6.0 * buckets,
            mean: buckets,
            variance: buckets,
            range: 1.0,
        };
        assert!(joins(1.0).share_of_chance(10.0) < 1.0);
        assert!(joins(40.0).share_of_chance(10.0) > 1.0);
        assert_eq!(Joins::default().share_of_chance(10.0), 0.0);
    }
}
