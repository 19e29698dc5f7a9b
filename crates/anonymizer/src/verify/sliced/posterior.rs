//! p(t, s): what an adversary who knows all quasi-identifiers of a subject t
//! gives each sensitive value s (`[Slicing]` section 3.2).
//!
//! `p(t, s) = Σ_B p(t, B) · D(t, B)[s]`, over the buckets that t matches: every
//! combination that t has in a column occurs in the bucket, and every
//! generalized cell covers t's value. The paper weighs a bucket by its matching
//! degree Π_columns (share of the bucket's rows with t's combination); one who
//! counts records weighs it by size times that. Both are worked out, for every
//! distribution D that a reader can make (`views`), and the largest counts.
//!
//! A bound holds exactly where every matching bucket keeps it, in integers:
//! then it does under any weights. Only where one does not are the sums asked,
//! in floats, and they must stay below the bound by [`MARGIN`].
//!
//! Records that look the same to an adversary are one *profile*. Work: for each
//! profile the buckets of its rarest combination.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::privacy::Share;

use super::view::SlicedView;
use super::views::{Distribution, Frequencies, JointTable, MARGIN};

/// What is found about the subjects of one profile and one attribute.
#[derive(Clone, Debug, Default)]
pub(super) struct Finding {
    /// Largest p(t, s) over values, weights and distributions; none where no
    /// bucket matches.
    pub(super) most: Option<f64>,
    /// Every matching bucket keeps this l, with the strictest share asked for.
    pub(super) is_kept: bool,
    /// Every matching bucket keeps the l of the job alone.
    pub(super) floor_is_kept: bool,
}

impl Finding {
    /// Whether no value has more than 1/l, given what buckets keep.
    pub(super) fn allows(&self, is_kept: bool, bound: f64) -> bool {
        is_kept || bound >= 1.0 || self.most.is_none_or(|most| most <= bound * (1.0 - MARGIN))
    }
}

/// Subjects who look the same to an adversary.
#[derive(Debug)]
pub(super) struct Profile {
    /// One of their records.
    pub(super) record: u32,
    /// A row of theirs.
    pub(super) row: u32,
    /// The strictest l and share that they ask for, by sensitive attribute.
    pub(super) asked: Vec<(u32, Share)>,
}

/// The profiles of the records that are published.
pub(super) fn profiles(view: &SlicedView) -> Vec<Profile> {
    let mut number_of: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
    let mut profiles: Vec<Profile> = Vec::new();
    for row in 0..view.rows() {
        let (Some(record), Some(terms)) = (view.record(row), view.terms(row)) else {
            continue;
        };
        let at = record as usize;
        let known = view.columns.iter().map(|column| column.known.of_record[at]);
        let generalized = view
            .generalized
            .iter()
            .map(|attribute| attribute.source.at(at));
        let key: Vec<u32> = known.chain(generalized).collect();
        let asked = (0..terms.l.len()).map(|index| (terms.l[index], terms.max_share[index]));
        let next = profiles.len();
        let number = *number_of.entry(key).or_insert(next);
        if number == next {
            profiles.push(Profile {
                record,
                row: row as u32,
                asked: asked.collect(),
            });
            continue;
        }
        for (strictest, asked) in profiles[number].asked.iter_mut().zip(asked) {
            *strictest = (strictest.0.max(asked.0), strictest.1.min(asked.1));
        }
    }
    profiles
}

/// Buckets and what they show.
pub(super) struct Adversary<'v, 'a> {
    view: &'v SlicedView<'a>,
    frequencies: Vec<Frequencies>,
    /// By sensitive attribute.
    pub(super) shown: Vec<JointTable>,
    /// The job's l of each.
    floors: Vec<u32>,
}

/// A bucket that a subject matches, with its two weights.
#[derive(Clone, Copy, Debug)]
struct Match {
    bucket: u32,
    weights: [f64; 2],
}

impl<'v, 'a> Adversary<'v, 'a> {
    /// `None` where a sensitive attribute is not shown in one or two columns.
    pub(super) fn of(view: &'v SlicedView<'a>, floors: Vec<u32>) -> Option<Self> {
        let protected = 0..view.requirements.policy().model.protected();
        let shown = protected.map(|at| JointTable::of(view, view.protected(at)));
        let columns = view.columns.iter();
        Some(Self {
            view,
            frequencies: columns
                .map(|column| Frequencies::of(view, &column.known))
                .collect(),
            shown: shown.collect::<Option<_>>()?,
            floors,
        })
    }

    /// What is found about each profile, by sensitive attribute.
    pub(super) fn findings(&self, profiles: &[Profile]) -> Vec<Vec<Finding>> {
        profiles
            .par_iter()
            .map(|profile| self.look_for(profile))
            .collect()
    }

    /// Buckets that a record of the source matches.
    fn matches(&self, record: u32) -> Vec<Match> {
        let class = |at: usize| self.view.columns[at].known.of_record[record as usize];
        let occurrences = |at: &usize| self.frequencies[*at].buckets(class(*at)).len();
        let Some(rarest) = (0..self.frequencies.len()).min_by_key(occurrences) else {
            return Vec::new();
        };
        let buckets = self.frequencies[rarest].buckets(class(rarest));
        let matches = buckets.filter_map(|(bucket, _)| {
            let rows = self.view.buckets.rows(bucket as usize);
            let mut degree = 1.0_f64;
            for at in 0..self.frequencies.len() {
                let count = self.frequencies[at].count(class(at), bucket);
                degree *= f64::from(count) / rows.len() as f64;
            }
            let first = *rows.first()? as usize;
            let mut generalized = self.view.generalized.iter();
            let covered = generalized.all(|attribute| {
                let code = attribute.source.at(record as usize);
                attribute.cells.meaning(first).covers(code)
            });
            (covered && degree > 0.0).then_some(Match {
                bucket,
                weights: [degree, degree * rows.len() as f64],
            })
        });
        matches.collect()
    }

    fn look_for(&self, profile: &Profile) -> Vec<Finding> {
        let matches = self
            .matches(profile.record)
            .into_iter()
            .filter_map(|found| {
                let shown = self.shown.iter();
                let met =
                    shown.map(|shown| shown.distributions(self.view, profile.record, found.bucket));
                Some((found, met.collect::<Option<Vec<_>>>()?))
            });
        let matches: Vec<(Match, Vec<Vec<Distribution>>)> = matches.collect();
        let attributes = 0..self.shown.len();
        let finding = attributes.map(|at| {
            let (l, share) = profile.asked[at];
            let keeps = |l: u32, parts: u32| {
                let mut met = matches.iter().flat_map(|(_, met)| &met[at]);
                met.all(|distribution| distribution.allows(l, u64::from(parts)))
            };
            let ways = 0..self.shown[at].ways();
            let shares = ways.flat_map(|way| [0, 1].map(|weight| (way, weight)));
            let shares = shares.filter_map(|(way, weight)| {
                let parts = matches.iter();
                let parts = parts.map(|(found, met)| (found.weights[weight], &met[at][way]));
                largest_share(parts)
            });
            Finding {
                most: shares.reduce(f64::max),
                is_kept: keeps(l, share.parts()),
                floor_is_kept: keeps(self.floors[at], Share::ALL.parts()),
            }
        });
        finding.collect()
    }
}

/// The largest share of one value in a weighted mean of distributions.
fn largest_share<'d>(parts: impl Iterator<Item = (f64, &'d Distribution)>) -> Option<f64> {
    let mut all = 0.0;
    let mut shares: Vec<(u32, f64)> = Vec::new();
    for (weight, distribution) in parts {
        all += weight;
        let scale = weight / distribution.total();
        let values = distribution.weights.iter();
        shares.extend(values.map(|&(code, weight)| (code, weight * scale)));
    }
    shares.sort_by_key(|share| share.0);
    let sums = shares.chunk_by(|one, other| one.0 == other.0);
    let sums = sums.map(|run| run.iter().map(|&(_, share)| share).sum::<f64>());
    let most = sums.fold(0.0, f64::max);
    (all > 0.0).then(|| most / all)
}
