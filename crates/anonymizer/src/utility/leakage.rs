//! Leakage: the probability that an adversary who knows everyone's public
//! values gives a subject's own sensitive value.
//!
//! For a cell in a bucket: count of the subject's value / size of the bucket;
//! with `bucket_link: "group"` the mean of that over the cells of the group.
//! A subject's limit is 1/l, or the largest share, of their requirements. A
//! subject is *near* the limit from nine tenths of it on. Masked cells are in
//! no bucket and leak nothing beyond the whole table. The distribution over
//! subjects takes each subject's largest probability.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;
use serde::Serialize;

use crate::microdata::{RecordIndex, Role};
use crate::privacy::{Model, ProtectedIndex, Protection, Requirements};
use crate::release::{Buckets, Link, rounded_to_tens};

use super::coverage::{Coverage, value_codes};
use super::evidence::{JoinedEvidence, PreparedAttribute};
use super::histogram::Histogram;
use super::originals::Originals;
use super::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Leakage",
    audience: Audience::Steward,
    definition: "Distribution over subjects of the probability of their own sensitive value, count / size of its bucket or, without buckets, the mean over the rows that look the same of (value under the cell) × frequency of the value / frequency of the cell; and how many subjects are within a tenth of their limit. Counts are rounded to tens.",
    source: "LGB (leakage); personalized k-anonymity (leakage in a group); limits are those of each subject's preference and the job",
};

/// Bars of the histograms.
const BINS: usize = 20;

/// Leakage of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leakage {
    /// Each subject's largest probability.
    pub subjects: LeakageSummary,
    /// Per sensitive attribute, and per semi-sensitive one with buckets.
    pub attributes: BTreeMap<String, LeakageSummary>,
}

/// Distribution of probabilities.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeakageSummary {
    /// Subjects with a cell in a bucket, or whose value is published in their
    /// group; rounded to tens.
    pub subjects: u64,
    /// Mean probability.
    pub mean: f64,
    /// Largest probability.
    pub max: f64,
    /// Largest probability / limit; at most 1 where everyone's terms hold.
    pub max_of_limit: f64,
    /// Subjects at nine tenths of their limit or above, rounded to tens.
    pub near_limit: u64,
    /// Subjects by probability, rounded to tens.
    pub histogram: Histogram,
}

/// One subject's probability and its share of the limit.
pub(super) type Leak = (f64, f64);

/// Leakage, added up portion by portion.
#[derive(Debug, Default)]
pub(super) struct LeakageSums {
    subjects: LeakSums,
    attributes: BTreeMap<String, LeakSums>,
}

impl LeakageSums {
    /// Adds all bucketized cells, and sensitive ones published in groups. The
    /// originals are those of the whole table.
    pub(super) fn add(&mut self, prepared: &JoinedEvidence<'_>, originals: &Originals) {
        let requirements = prepared.evidence.requirements;
        let is_bucketized = matches!(requirements.policy().model, Model::Bucketized { .. });
        let mut worst: Option<Vec<Leak>> = None;
        for attribute in prepared.attributes() {
            let position = requirements
                .protected()
                .find(|&index| requirements.attribute(index) == attribute.index);
            let Some(position) = position else { continue };
            let leaks = match &attribute.published.buckets {
                Some(buckets) => leaks(prepared, attribute, buckets, position),
                // Without a bucket in the whole table, all its cells are masked.
                None if is_bucketized => continue,
                None if attribute.role == Role::Sensitive => {
                    let counts = originals.all(attribute.index).iter();
                    let frequencies: Vec<f64> = counts.map(|&count| count as f64).collect();
                    leaks_in_group(prepared, attribute, position, &frequencies)
                }
                None => continue,
            };
            let name = attribute.published.name.to_owned();
            self.attributes.entry(name).or_default().add(&leaks);
            match &mut worst {
                None => worst = Some(leaks),
                Some(worst) => {
                    for (worst, leak) in worst.iter_mut().zip(&leaks) {
                        *worst = (worst.0.max(leak.0), worst.1.max(leak.1));
                    }
                }
            }
        }
        self.subjects.add(&worst.unwrap_or_default());
    }

    /// The distributions of all portions.
    pub(super) fn finish(self) -> Leakage {
        let attributes = self.attributes.into_iter();
        Leakage {
            subjects: self.subjects.finish(),
            attributes: attributes
                .map(|(name, sums)| (name, sums.finish()))
                .collect(),
        }
    }
}

/// The leak of each row; probability −1 where its cell is in no bucket.
fn leaks(
    prepared: &JoinedEvidence<'_>,
    attribute: PreparedAttribute<'_>,
    buckets: &Buckets<'_>,
    position: ProtectedIndex,
) -> Vec<Leak> {
    let codes = value_codes(attribute.domain(), buckets);
    let limits = limits(prepared.evidence.requirements, position);
    let terms_of = prepared.evidence.requirements.terms_of_record();
    let own_share = |row: usize, record: RecordIndex| -> Option<f64> {
        let own = Some(attribute.original.code(record).0);
        let pool = buckets.pool_of(row)? as usize;
        let share = |bucket: usize| {
            let count: u32 = buckets
                .coded_run(bucket)
                .filter(|&(value, _)| codes[value as usize] == own)
                .map(|(_, count)| count)
                .sum();
            f64::from(count) / f64::from(buckets.sizes()[bucket])
        };
        match buckets.link() {
            Link::Row(_) => Some(share(pool)),
            Link::Group {
                starts,
                buckets: of_group,
                counts,
                ..
            } => {
                let run = starts[pool] as usize..starts[pool + 1] as usize;
                let total: f64 = counts[run.clone()].iter().map(|&n| f64::from(n)).sum();
                let sum: f64 = run
                    .map(|at| f64::from(counts[at]) * share(of_group[at] as usize))
                    .sum();
                (total > 0.0).then_some(sum / total)
            }
        }
    };
    let rows = prepared.records.par_iter().enumerate();
    rows.map(|(row, &record)| {
        prepared.evidence.cancel.heed();
        match own_share(row, record) {
            None => (-1.0, 0.0),
            Some(share) => (share, share / limits[terms_of.at(record.at()) as usize]),
        }
    })
    .collect()
}

/// What each published cell covers, and how many records have such a value.
fn covered(attribute: PreparedAttribute<'_>, frequencies: &[f64]) -> Vec<(Coverage, f64)> {
    // Records with a code below each.
    let mut up_to = vec![0.0];
    up_to.extend(frequencies.iter().scan(0.0, |sum, frequency| {
        *sum += frequency;
        Some(*sum)
    }));
    let cells = attribute.published.cells.iter();
    let covered = cells.map(|cell| {
        let coverage = Coverage::of(attribute.domain(), cell).unwrap_or(Coverage::Run(0, 0));
        let weights = coverage
            .runs()
            .map(|run| up_to[run.end as usize] - up_to[run.start as usize]);
        let weight = weights.sum();
        (coverage, weight)
    });
    covered.collect()
}

/// The leak of each row whose sensitive value is published in its group, where so
/// many records of the whole table have each code.
fn leaks_in_group(
    prepared: &JoinedEvidence<'_>,
    attribute: PreparedAttribute<'_>,
    position: ProtectedIndex,
    frequencies: &[f64],
) -> Vec<Leak> {
    let published = attribute.published;
    let covered = covered(attribute, frequencies);
    let limits = limits(prepared.evidence.requirements, position);
    let terms_of = prepared.evidence.requirements.terms_of_record();
    let (starts, rows) = prepared.signatures.rows_by_class();
    let leaks_of_class = |known: &mut Known, class: Range<usize>, leaks: &mut Vec<Leak>| {
        prepared.evidence.cancel.heed();
        let rows = &rows[class];
        let mut cells: Vec<u32> = rows
            .iter()
            .map(|&row| published.codes.at(row as usize))
            .collect();
        cells.sort_unstable();
        known.begin_class();
        let mut wide: Vec<(u32, f64)> = Vec::new();
        for run in cells.chunk_by(|one, other| one == other) {
            match covered[run[0] as usize].0.exact() {
                Some(code) => *known.exact.entry(code) += run.len() as f64,
                None => wide.push((run[0], run.len() as f64)),
            }
        }
        leaks.extend(rows.iter().map(|&row| {
            let record = prepared.records[row as usize];
            let own = attribute.original.code(record).0;
            let chances = match known.chances.get(own) {
                Some(known) => known,
                None => {
                    let covering = wide
                        .iter()
                        .filter(|(cell, _)| covered[*cell as usize].0.contains(own));
                    let chances = covering.map(|&(cell, count)| {
                        count * frequencies[own as usize] / covered[cell as usize].1
                    });
                    let exact = known.exact.get(own).unwrap_or(0.0);
                    let sum = exact + chances.sum::<f64>();
                    *known.chances.entry(own) = sum;
                    sum
                }
            };
            let share = chances / rows.len() as f64;
            let limit = limits[terms_of.at(record.at()) as usize];
            (share, share / limit)
        }));
    };
    let leaks_in_order = in_runs_of_classes(&starts, frequencies.len(), leaks_of_class);
    let mut leaks = vec![(-1.0, 0.0); published.codes.len()];
    for (&row, leak) in rows.iter().zip(leaks_in_order.into_iter().flatten()) {
        leaks[row as usize] = leak;
    }
    leaks
}

/// What `leaks_of_class` appends for each class, given its rows' places, in
/// order of classes.
fn in_runs_of_classes(
    starts: &[u32],
    values: usize,
    leaks_of_class: impl Fn(&mut Known, Range<usize>, &mut Vec<Leak>) + Sync,
) -> Vec<Vec<Leak>> {
    let classes = starts.len() - 1;
    let run = |known: &mut Known, first: usize| {
        let ends = &starts[first..=classes.min(first + CLASSES_AT_ONCE)];
        let mut leaks = Vec::with_capacity((ends[ends.len() - 1] - ends[0]) as usize);
        for class in ends.windows(2) {
            leaks_of_class(known, class[0] as usize..class[1] as usize, &mut leaks);
        }
        leaks
    };
    let firsts = (0..classes).into_par_iter().step_by(CLASSES_AT_ONCE);
    firsts.map_init(|| Known::new(values), run).collect()
}

/// Classes that one thread looks at in a row.
const CLASSES_AT_ONCE: usize = 128;

/// What is known of the values in the class at hand.
struct Known {
    /// Rows that show the value itself.
    exact: OfClass,
    /// Expected rows with the value.
    chances: OfClass,
}

impl Known {
    fn new(values: usize) -> Self {
        let none = || OfClass {
            class: 0,
            seen_in: vec![0; values],
            figures: vec![0.0; values],
        };
        Self {
            exact: none(),
            chances: none(),
        }
    }

    fn begin_class(&mut self) {
        self.exact.class += 1;
        self.chances.class += 1;
    }
}

/// A figure for each value; those of the class before are forgotten at once.
struct OfClass {
    class: u32,
    /// For each value the class that its figure is of, from 1.
    seen_in: Vec<u32>,
    figures: Vec<f64>,
}

impl OfClass {
    fn get(&self, value: u32) -> Option<f64> {
        let at = value as usize;
        (self.seen_in[at] == self.class).then(|| self.figures[at])
    }

    /// The figure of a value, at first 0.
    fn entry(&mut self, value: u32) -> &mut f64 {
        let at = value as usize;
        if self.seen_in[at] != self.class {
            self.seen_in[at] = self.class;
            self.figures[at] = 0.0;
        }
        &mut self.figures[at]
    }
}

/// The limit of each distinct set of terms.
fn limits(requirements: &Requirements, position: ProtectedIndex) -> Vec<f64> {
    let terms = requirements.distinct_terms().iter();
    terms
        .map(|terms| match requirements.protection(position) {
            Protection::Diversity { .. } => 1.0 / f64::from(terms.l[position.at()]),
            Protection::Closeness { .. } | Protection::Leakage { .. } => {
                terms.max_share[position.at()].get()
            }
            Protection::InGroup { .. } => {
                let share = terms.max_share[position.at()].get();
                share.min(1.0 / f64::from(terms.l[position.at()]))
            }
        })
        .collect()
}

/// Distribution of leaks; those below 0 count as none.
pub(super) fn sum_up(leaks: &[Leak]) -> LeakageSummary {
    let mut sums = LeakSums::default();
    sums.add(leaks);
    sums.finish()
}

/// Leaks, added up.
#[derive(Debug, Default)]
struct LeakSums {
    subjects: u64,
    near: u64,
    sum: f64,
    max: f64,
    max_of_limit: f64,
    counts: [u64; BINS],
}

impl LeakSums {
    fn add(&mut self, leaks: &[Leak]) {
        let mut sum = 0.0;
        for &(share, of_limit) in leaks.iter().filter(|leak| leak.0 >= 0.0) {
            self.subjects += 1;
            sum += share;
            self.max = self.max.max(share);
            self.max_of_limit = self.max_of_limit.max(of_limit);
            // A hair of slack: 0.9 × 1/3 has no exact form.
            self.near += u64::from(of_limit >= 0.9 - 1e-12);
            self.counts[Histogram::bar_of_share(share, BINS)] += 1;
        }
        self.sum += sum;
    }

    fn finish(self) -> LeakageSummary {
        LeakageSummary {
            subjects: rounded_to_tens(self.subjects),
            mean: self.sum / self.subjects.max(1) as f64,
            max: self.max,
            max_of_limit: self.max_of_limit,
            near_limit: rounded_to_tens(self.near),
            histogram: Histogram::from_share_counts(&self.counts.map(rounded_to_tens)),
        }
    }
}
