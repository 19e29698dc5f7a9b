//! Leakage of a sliced release: p(t, s_t), the probability that an adversary
//! who knows all quasi-identifiers gives a subject's own sensitive value.
//!
//! `Σ_B p(t, B) · D(t, B)[s_t]` over the buckets that the subject matches, p by
//! matching degree (`[Slicing]` section 3.2). Where two columns show the
//! attribute, D is that of the expected records of their join. A subject's
//! limit is 1/l, or the largest share, of their requirements. Which buckets a
//! generalized cell rules out is not looked at: that only adds buckets.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::microdata::Role;

use super::prepared::PreparedSliced;
use crate::utility::leakage::{Leak, LeakageSummary, sum_up};
use crate::utility::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Leakage",
    audience: Audience::Steward,
    definition: "Distribution over subjects of the probability p(t, s) of their own sensitive value, by the matching degree of each bucket and the values beside their own quasi-identifiers there, and how many subjects are within a tenth of their limit. Counts are rounded to tens.",
    source: "Slicing: Li et al. 2012, section 3.2; limits are those of each subject's preference and the job",
};

/// Leakage of a sliced release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlicedLeakage {
    /// Each subject's largest probability.
    pub subjects: LeakageSummary,
    /// Per sensitive attribute.
    pub attributes: BTreeMap<String, LeakageSummary>,
}

/// How often each combination occurs in each bucket, ascending.
struct Frequencies(Vec<((u32, u32), u32)>);

impl Frequencies {
    fn of(keys: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut keys: Vec<(u32, u32)> = keys.collect();
        keys.sort_unstable();
        let runs = keys.chunk_by(|one, other| one == other);
        Self(runs.map(|run| (run[0], run.len() as u32)).collect())
    }

    fn buckets(&self, class: u32) -> &[((u32, u32), u32)] {
        let from = self.0.partition_point(|(key, _)| key.0 < class);
        let to = self.0.partition_point(|(key, _)| key.0 <= class);
        &self.0[from..to]
    }

    fn count(&self, class: u32, bucket: u32) -> u32 {
        let found = self
            .0
            .binary_search_by_key(&(class, bucket), |(key, _)| *key);
        found.map_or(0, |at| self.0[at].1)
    }
}

/// Values with their numbers, by combination and bucket.
type ConditionalCounts = FxHashMap<(u32, u32), Vec<(u32, u32)>>;
/// Rows by combination, bucket and value.
type Counts = FxHashMap<(u32, u32, u32), u32>;

/// A sensitive attribute in the columns that show it.
struct JointTable<'p> {
    at: usize,
    columns: Vec<usize>,
    /// By column: values beside each combination of each bucket.
    beside: Vec<ConditionalCounts>,
    /// Of two columns: combination of each record in the quasi-identifiers
    /// that both show, and rows with each, by bucket and value.
    shared: Option<(Vec<u32>, Counts)>,
    prepared: &'p PreparedSliced<'p>,
}

/// Rows with each combination of the quasi-identifiers that two columns both
/// show, by bucket and value of the attribute in the first.
fn shared(
    prepared: &PreparedSliced<'_>,
    (one, at): (usize, usize),
    other: usize,
) -> (Vec<u32>, Counts) {
    let index = |at: usize| prepared.attributes[at].index;
    let mut both = prepared.columns[one].attributes.clone();
    let others = &prepared.columns[other].attributes;
    both.retain(|&of| others.iter().any(|&other| index(other) == index(of)));
    let (of_row, of_record) = prepared.combinations(&both);
    let shown = &prepared.attributes[at];
    let values = shown.values();
    let mut counts = Counts::default();
    for (row, &class) in of_row.iter().enumerate() {
        if let Some(value) = values[shown.codes.at(row) as usize] {
            let key = (class, prepared.bucket_of_row[row], value);
            *counts.entry(key).or_insert(0) += 1;
        }
    }
    (of_record, counts)
}

/// Measures all sensitive attributes.
pub fn measure(prepared: &PreparedSliced<'_>) -> SlicedLeakage {
    let frequencies = prepared.columns.iter().map(|column| {
        let keys = column.known_of_row.iter().zip(&prepared.bucket_of_row);
        Frequencies::of(keys.map(|(&class, &bucket)| (class, bucket)))
    });
    let frequencies: Vec<Frequencies> = frequencies.collect();
    let mut worst: Vec<Leak> = vec![(-1.0, 0.0); prepared.rows];
    let mut attributes = BTreeMap::new();
    let requirements = prepared.evidence.requirements;
    for index in requirements.protected() {
        let attribute = requirements.attribute(index);
        let Some(shown) = JointTable::of(prepared, attribute) else {
            continue;
        };
        let leaks = prepared.records.par_iter().map(|&record| {
            let terms = requirements.of(crate::microdata::RecordIndex(record));
            let limit =
                (1.0 / f64::from(terms.l[index.at()])).min(terms.max_share[index.at()].get());
            match shown.own_value(record, &frequencies) {
                Some(share) => (share, share / limit),
                None => (-1.0, 0.0),
            }
        });
        let leaks: Vec<Leak> = leaks.collect();
        for (worst, leak) in worst.iter_mut().zip(&leaks) {
            *worst = (worst.0.max(leak.0), worst.1.max(leak.1));
        }
        let name = prepared.attributes[shown.at].name.to_owned();
        attributes.insert(name, sum_up(&leaks));
    }
    SlicedLeakage {
        subjects: sum_up(&worst),
        attributes,
    }
}

impl<'p> JointTable<'p> {
    fn of(
        prepared: &'p PreparedSliced<'p>,
        attribute: crate::microdata::AttributeIndex,
    ) -> Option<Self> {
        let appearances = prepared.linked();
        let appearances = appearances.filter(|&(_, at)| {
            let shown = &prepared.attributes[at];
            shown.index == attribute && shown.role == Role::Sensitive
        });
        let appearances: Vec<(usize, usize)> = appearances.collect();
        let beside = appearances.iter().map(|&(column, at)| {
            let shown = &prepared.attributes[at];
            let values = shown.values();
            let known = &prepared.columns[column].known_of_row;
            let mut all: Vec<((u32, u32), u32)> = (0..prepared.rows)
                .filter_map(|row| {
                    let value = values[shown.codes.at(row) as usize]?;
                    Some(((known[row], prepared.bucket_of_row[row]), value))
                })
                .collect();
            all.sort_unstable();
            let mut beside = ConditionalCounts::default();
            for run in all.chunk_by(|one, other| one == other) {
                let (key, value) = run[0];
                beside
                    .entry(key)
                    .or_default()
                    .push((value, run.len() as u32));
            }
            beside
        });
        Some(Self {
            at: appearances.first()?.1,
            beside: beside.collect(),
            columns: appearances.iter().map(|&(column, _)| column).collect(),
            shared: match appearances[..] {
                [one, other] => Some(shared(prepared, one, other.0)),
                _ => None,
            },
            prepared,
        })
    }

    /// The probability of a record's own value; none where no bucket matches.
    fn own_value(&self, record: u32, frequencies: &[Frequencies]) -> Option<f64> {
        let class = |at: usize| self.prepared.columns[at].known_of_record[record as usize];
        let occurrences = |at: &usize| frequencies[*at].buckets(class(*at)).len();
        let rarest = (0..frequencies.len()).min_by_key(occurrences)?;
        let own = self.prepared.attributes[self.at]
            .original
            .codes
            .at(record as usize);
        let (mut sum, mut weights) = (0.0, 0.0);
        for &((_, bucket), _) in frequencies[rarest].buckets(class(rarest)) {
            let size = f64::from(self.prepared.sizes[bucket as usize]);
            let shares = frequencies.iter().enumerate();
            let shares = shares.map(|(at, all)| f64::from(all.count(class(at), bucket)) / size);
            let degree: f64 = shares.product();
            if degree <= 0.0 {
                continue;
            }
            let Some(share) = self.share(record, bucket, own) else {
                continue;
            };
            sum += degree * share;
            weights += degree;
        }
        (weights > 0.0).then(|| sum / weights)
    }

    /// Share of a value beside a subject's combinations in a bucket.
    fn share(&self, record: u32, bucket: u32, own: u32) -> Option<f64> {
        let values = |at: usize| {
            let column = &self.prepared.columns[self.columns[at]];
            self.beside[at].get(&(column.known_of_record[record as usize], bucket))
        };
        let first = values(0)?;
        let weigh = |&(code, count): &(u32, u32)| -> Option<(u32, f64)> {
            if self.columns.len() == 1 {
                return Some((code, f64::from(count)));
            }
            let found = values(1)?.iter().find(|(other, _)| *other == code)?;
            let (of_record, counts) = self.shared.as_ref()?;
            let all = counts.get(&(of_record[record as usize], bucket, code))?;
            Some((
                code,
                f64::from(count) * f64::from(found.1) / f64::from(*all),
            ))
        };
        let weighed: Vec<(u32, f64)> = first.iter().filter_map(weigh).collect();
        let all: f64 = weighed.iter().map(|(_, weight)| weight).sum();
        let own = weighed.iter().filter(|(code, _)| *code == own);
        (all > 0.0).then(|| own.map(|(_, weight)| weight).sum::<f64>() / all)
    }
}
