//! Published values beside each combination, bucket by bucket, and the
//! distributions that a reader can make of them.
//!
//! For a sensitive attribute that one column shows there is one: the values
//! beside the combination of its quasi-identifiers. Where two columns Y and Z
//! show it there are four: beside either combination alone, by the joined rows
//! n_Y(y, s) · n_Z(z, s), and by the expected records, that product over
//! n(k, s), with k what both columns show of the quasi-identifiers.

use crate::microdata::AttributeIndex;

use super::view::{Joint, SlicedView};

/// Values with their weights: of one attribute beside one combination.
pub(super) type Values<'a> = &'a [(u32, u32)];

/// How often each combination of a column occurs in each bucket.
#[derive(Debug)]
pub(super) struct Frequencies {
    /// Combination and bucket, ascending.
    keys: Vec<(u32, u32)>,
    counts: Vec<u32>,
}

impl Frequencies {
    pub(super) fn of(view: &SlicedView, joint: &Joint) -> Self {
        let class = |row: usize| (joint.of_row[row], view.buckets.of_rows()[row]);
        let mut all: Vec<(u32, u32)> = (0..view.rows()).map(class).collect();
        all.sort_unstable();
        let runs = all.chunk_by(|one, other| one == other);
        let (keys, counts) = runs.map(|run| (run[0], run.len() as u32)).unzip();
        Self { keys, counts }
    }

    /// Buckets with a combination, ascending, and how often each has it.
    pub(super) fn buckets(&self, class: u32) -> impl ExactSizeIterator<Item = (u32, u32)> {
        let from = self.keys.partition_point(|key| key.0 < class);
        let to = self.keys.partition_point(|key| key.0 <= class);
        let keys = self.keys[from..to].iter();
        keys.zip(&self.counts[from..to])
            .map(|(key, &count)| (key.1, count))
    }

    /// How often a combination occurs in a bucket.
    pub(super) fn count(&self, class: u32, bucket: u32) -> u32 {
        let found = self.keys.binary_search(&(class, bucket));
        found.map_or(0, |at| self.counts[at])
    }
}

/// Values of one attribute beside each combination of each bucket.
#[derive(Debug)]
pub(super) struct ConditionalCounts {
    keys: Vec<(u32, u32)>,
    starts: Vec<u32>,
    values: Vec<(u32, u32)>,
}

impl ConditionalCounts {
    pub(super) fn of(view: &SlicedView, joint: &Joint, codes: &[u32]) -> Self {
        let entry = |row: usize| (joint.of_row[row], view.buckets.of_rows()[row], codes[row]);
        let mut all: Vec<(u32, u32, u32)> = (0..view.rows()).map(entry).collect();
        all.sort_unstable();
        let mut beside = Self {
            keys: Vec::new(),
            starts: Vec::new(),
            values: Vec::new(),
        };
        for run in all.chunk_by(|one, other| one == other) {
            let (class, bucket, code) = run[0];
            if beside.keys.last() != Some(&(class, bucket)) {
                beside.keys.push((class, bucket));
                beside.starts.push(beside.values.len() as u32);
            }
            beside.values.push((code, run.len() as u32));
        }
        beside.starts.push(beside.values.len() as u32);
        beside
    }

    /// Codes beside a combination of a bucket, ascending, with their numbers.
    pub(super) fn values(&self, class: u32, bucket: u32) -> Values<'_> {
        match self.keys.binary_search(&(class, bucket)) {
            Ok(at) => self.at(at),
            Err(_) => &[],
        }
    }

    fn at(&self, at: usize) -> Values<'_> {
        &self.values[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Every bucket with the values beside each of its combinations.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, Values<'_>)> {
        self.keys
            .iter()
            .enumerate()
            .map(|(at, key)| (key.1, self.at(at)))
    }
}

/// A sensitive attribute as it is shown.
#[derive(Debug)]
pub(super) struct JointTable {
    /// Columns that show it; one or two.
    pub(super) columns: Vec<usize>,
    /// Values beside the combinations of each of them.
    pub(super) beside: Vec<ConditionalCounts>,
    /// Of two columns: the combinations that both show, with the values
    /// beside them.
    shared: Option<(Joint, ConditionalCounts)>,
}

/// One distribution: (code, weight) with exact weights over a common
/// denominator where there is a small one.
#[derive(Debug, Default)]
pub(super) struct Distribution {
    pub(super) weights: Vec<(u32, f64)>,
    exact: Option<(u128, u128)>,
}

/// Common denominators up to this many are exact.
const DENOMINATOR_MAX: u128 = 1 << 40;
/// What floats may be off by, taken against the release.
pub(super) const MARGIN: f64 = 1e-10;

impl Distribution {
    fn of_counts(values: impl Iterator<Item = (u32, u128)> + Clone) -> Self {
        let most = values.clone().map(|(_, count)| count).max().unwrap_or(0);
        Self {
            exact: Some((most, values.clone().map(|(_, count)| count).sum())),
            weights: values.map(|(code, count)| (code, count as f64)).collect(),
        }
    }

    /// Whether no value has more than 1 in `l`, nor more than `parts` per
    /// billion; exact, or erring against the release.
    pub(super) fn allows(&self, l: u32, parts: u64) -> bool {
        const WHOLE: u128 = 1_000_000_000;
        match self.exact {
            Some((most, total)) => {
                most * u128::from(l) <= total && most * WHOLE <= total * u128::from(parts)
            }
            None => {
                let bound = (1.0 / f64::from(l)).min(parts as f64 / WHOLE as f64);
                bound >= 1.0 || self.peak() <= bound * (1.0 - MARGIN)
            }
        }
    }

    /// Largest share of one value.
    pub(super) fn peak(&self) -> f64 {
        let most = self
            .weights
            .iter()
            .map(|&(_, weight)| weight)
            .fold(0.0, f64::max);
        most / self.total()
    }

    pub(super) fn total(&self) -> f64 {
        self.weights.iter().map(|&(_, weight)| weight).sum()
    }
}

impl JointTable {
    /// How a sensitive attribute is shown; `None` where no column or more than
    /// two show it.
    pub(super) fn of(view: &SlicedView, attribute: AttributeIndex) -> Option<Self> {
        let mut columns = Vec::new();
        let mut beside = Vec::new();
        let mut first: Option<&[u32]> = None;
        for (at, column) in view.columns.iter().enumerate() {
            let appearances = &view.exact[column.appearances.clone()];
            let appearance = appearances
                .iter()
                .find(|shown| shown.attribute == attribute);
            if let Some(appearance) = appearance {
                first.get_or_insert(&appearance.codes);
                columns.push(at);
                beside.push(ConditionalCounts::of(
                    view,
                    &column.known,
                    &appearance.codes,
                ));
            }
        }
        let shared = match columns[..] {
            [_] => None,
            [one, other] => {
                let joint = view.shared(one, other);
                let beside = ConditionalCounts::of(view, &joint, first?);
                Some((joint, beside))
            }
            _ => return None,
        };
        Some(Self {
            columns,
            beside,
            shared,
        })
    }

    /// Number of distributions that a reader can make.
    pub(super) fn ways(&self) -> usize {
        match self.shared {
            None => 1,
            Some(_) => 4,
        }
    }

    /// The distributions that a record of the source meets in a bucket;
    /// `None` if it cannot be behind any row there.
    pub(super) fn distributions(
        &self,
        view: &SlicedView,
        record: u32,
        bucket: u32,
    ) -> Option<Vec<Distribution>> {
        let values = |at: usize| {
            let known = &view.columns[self.columns[at]].known;
            self.beside[at].values(known.of_record[record as usize], bucket)
        };
        let exact = |values: Values| {
            let counts: Vec<(u32, u128)> = values
                .iter()
                .map(|&(code, count)| (code, u128::from(count)))
                .collect();
            Distribution::of_counts(counts.into_iter())
        };
        let Some((joint, shared)) = &self.shared else {
            let values = values(0);
            return (!values.is_empty()).then(|| vec![exact(values)]);
        };
        let of_shared = shared.values(joint.of_record[record as usize], bucket);
        let find = |values: Values, code: u32| {
            let found = values.binary_search_by_key(&code, |&(code, _)| code);
            found.map_or(0, |at| u128::from(values[at].1))
        };
        let joined = values(0).iter().filter_map(|&(code, count)| {
            let rows = u128::from(count) * find(values(1), code);
            let all = find(of_shared, code).max(1);
            (rows > 0).then_some((code, rows, all))
        });
        let joined: Vec<(u32, u128, u128)> = joined.collect();
        if joined.is_empty() {
            return None;
        }
        let by_rows = joined.iter().map(|&(code, rows, _)| (code, rows));
        Some(vec![
            exact(values(0)),
            exact(values(1)),
            Distribution::of_counts(by_rows),
            expected(&joined),
        ])
    }
}

/// Expected records of a join: rows over all records with the value.
fn expected(joined: &[(u32, u128, u128)]) -> Distribution {
    let common = joined.iter().try_fold(1_u128, |common, &(_, _, all)| {
        let (mut a, mut b) = (common, all);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        let least = common / a * all;
        (least <= DENOMINATOR_MAX).then_some(least)
    });
    match common {
        Some(common) => {
            let scaled = joined.iter();
            let scaled = scaled.map(|&(code, rows, all)| (code, rows * (common / all)));
            Distribution::of_counts(scaled)
        }
        None => Distribution {
            weights: joined
                .iter()
                .map(|&(code, rows, all)| (code, rows as f64 / all as f64))
                .collect(),
            exact: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_records_are_exact_where_a_small_denominator_exists() {
        let even = expected(&[(0, 2, 2), (1, 3, 3), (2, 5, 5)]);
        assert!(even.allows(3, 1_000_000_000) && !even.allows(4, 1_000_000_000));
        assert!(even.allows(1, 333_333_334) && !even.allows(1, 333_333_333));
    }

    #[test]
    fn what_is_not_exact_errs_against_the_release() {
        let primes = [999_983_u128, 999_979, 999_961, 999_959];
        let joined: Vec<_> = (0..)
            .zip(primes)
            .map(|(code, all)| (code, all, all))
            .collect();
        let even = expected(&joined);
        assert!(even.allows(3, 1_000_000_000) && !even.allows(4, 1_000_000_000));
        assert!(even.allows(1, 1_000_000_000));
    }
}
