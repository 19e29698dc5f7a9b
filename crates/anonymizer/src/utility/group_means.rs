//! Error of group means: what an analyst finds who averages over the release.
//!
//! For a number or date Y and another attribute A, at least one of the two
//! sensitive: the mean of Y among the records of each interval of A, in the
//! original and as the release shows it. A row counts for an interval of A with
//! the share of its cell or bucket that lies in it, and with the middle of its
//! cell, or the mean of its bucket, for Y. Middles and buckets pull the means of
//! groups towards each other; both figures say by how much.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use crate::microdata::{Code, Domain, Role};

use super::coverage::{Coverage, pool_shares, value_codes};
use super::evidence::{JoinedEvidence, PreparedAttribute};
use super::mean::{Mean, OfRow, ROUNDING, deviation};
use super::report::{Audience, Description};
use super::spread::Spread;
use super::whole::Whole;

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Error of group means",
    audience: Audience::Steward,
    definition: "For each number or date and each other attribute of which one is sensitive: means of the number by at most 16 intervals of the other, in the original and as the release shows them (middles of cells, means of buckets). `error`: mean difference over records, in standard deviations of the number; `kept`: slope of the published means on the true ones, 1 where differences between groups are shown in full and 0 where none is left.",
    source: "ours; the slope is regression dilution (Spearman 1904)",
};

/// Pairs that are measured at most.
const PAIRS_MAX: usize = 512;

/// Errors of group means, by sensitive attribute.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GroupMeans {
    /// By sensitive attribute, the largest error first.
    pub attributes: BTreeMap<String, Vec<PairMeans>>,
    /// Pairs that are left out: there are too many.
    pub pairs_left_out: usize,
}

/// The means of one attribute by the intervals of another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairMeans {
    /// Whose means.
    pub of: String,
    /// By whose intervals.
    pub by: String,
    /// Mean difference over records, in standard deviations of the first.
    pub error: f64,
    /// Slope of the published means on the true ones; none where the true
    /// means are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<f64>,
}

/// The attribute whose means are taken.
pub(super) struct Averaged<'g> {
    /// Its name.
    pub name: &'g str,
    /// Whether it is sensitive for anybody.
    pub is_sensitive: bool,
    /// The number of a row's record; NaN where it is missing.
    pub original: OfRow<'g, f64>,
    /// What a row shows; NaN where it shows no number.
    pub shown: OfRow<'g, f64>,
}

/// The attribute whose intervals are the groups.
pub(super) struct Grouping<'g> {
    /// Its name.
    pub name: &'g str,
    /// Whether it is sensitive for anybody.
    pub is_sensitive: bool,
    /// Number of intervals.
    pub bins: usize,
    /// Interval of a row's record.
    pub original: OfRow<'g, usize>,
    /// What a row shows, as a position in `shares`.
    pub shown: OfRow<'g, usize>,
    /// Intervals of each thing shown, with their shares.
    pub shares: Vec<&'g [(u32, f32)]>,
}

/// Measures a release of rows at once.
pub(super) fn measure(
    prepared: &JoinedEvidence<'_>,
    spreads: &[Spread<'_>],
    whole: &Whole,
) -> GroupMeans {
    let mut sums = GroupMeansSums::default();
    sums.add(prepared, spreads, whole);
    sums.finish(whole)
}

/// Sums of the numbers of all pairs, added up portion by portion.
#[derive(Debug, Default)]
pub(super) struct GroupMeansSums {
    pairs: Vec<(PairNames, PairSums)>,
    pairs_left_out: usize,
    /// The squared distances of each number from the mean of all.
    squares: BTreeMap<String, Mean>,
}

impl GroupMeansSums {
    /// Adds a portion of a release of rows; of the whole the means are taken.
    pub(super) fn add(
        &mut self,
        prepared: &JoinedEvidence<'_>,
        spreads: &[Spread<'_>],
        whole: &Whole,
    ) {
        let averaged: Vec<Averaged<'_>> = prepared
            .attributes()
            .filter(|attribute| attribute.domain().is_numeric())
            .map(|attribute| averaged(prepared, attribute))
            .collect();
        let groupings: Vec<Grouping<'_>> = spreads.iter().map(Spread::grouping).collect();
        let rows = prepared.joined.rows();
        for of in &averaged {
            if let Some(middle) = whole.mean(of.name) {
                let squares = self.squares.entry(of.name.to_owned()).or_default();
                squares.add_all(Mean::of_squares(rows, &of.original, middle));
            }
        }
        let (pairs, left_out) = pairs(&averaged, &groupings);
        let sums = pairs.par_iter();
        let sums: Vec<PairSums> = sums.map(|&(of, by)| PairSums::of(rows, (of, by))).collect();
        self.pairs_left_out = left_out;
        if self.pairs.is_empty() {
            let names = pairs.iter().map(|&(of, by)| PairNames::of(of, by));
            self.pairs = names.zip(sums).collect();
        } else {
            for ((_, all), more) in self.pairs.iter_mut().zip(sums) {
                all.add(&more);
            }
        }
    }

    /// The errors of all portions.
    pub(super) fn finish(self, whole: &Whole) -> GroupMeans {
        let deviation = |of: &str| self.squares.get(of)?.root(whole.mean(of)?);
        let found = self.pairs.into_iter().map(|(names, sums)| {
            let found = sums.error(&names, deviation(&names.of));
            (names.sensitive, found)
        });
        of_attributes(found, self.pairs_left_out)
    }
}

/// Measures all pairs of which one is sensitive; `are_linked` says of which
/// the release shows every record's pair of values, so that nothing is lost.
pub(super) fn of_pairs(
    rows: usize,
    (averaged, groupings): (&[Averaged<'_>], &[Grouping<'_>]),
    are_linked: impl Fn(&str, &str) -> bool + Sync,
) -> GroupMeans {
    let (pairs, pairs_left_out) = pairs(averaged, groupings);
    let found = pairs.par_iter();
    let found: Vec<(String, Option<PairMeans>)> = found
        .map(|&(of, by)| {
            let names = PairNames::of(of, by);
            let mut sums = PairSums::of(rows, (of, by));
            if are_linked(of.name, by.name) {
                sums.published.clone_from(&sums.truth);
            }
            let found = sums.error(&names, deviation(rows, &of.original));
            (names.sensitive, found)
        })
        .collect();
    of_attributes(found.into_iter(), pairs_left_out)
}

/// The pairs of which one is sensitive, and how many are too many.
fn pairs<'p, 'g>(
    averaged: &'p [Averaged<'g>],
    groupings: &'p [Grouping<'g>],
) -> (Vec<(&'p Averaged<'g>, &'p Grouping<'g>)>, usize) {
    let all = averaged.iter().flat_map(|of| {
        let others = groupings.iter().filter(|by| by.name != of.name);
        others.map(move |by| (of, by))
    });
    let sensitive = all.filter(|(of, by)| of.is_sensitive || by.is_sensitive);
    let mut pairs: Vec<(&Averaged<'_>, &Grouping<'_>)> = sensitive.collect();
    let left_out = pairs.len().saturating_sub(PAIRS_MAX);
    pairs.truncate(PAIRS_MAX);
    (pairs, left_out)
}

/// Errors by sensitive attribute, the largest first.
fn of_attributes(
    found: impl Iterator<Item = (String, Option<PairMeans>)>,
    pairs_left_out: usize,
) -> GroupMeans {
    let mut attributes: BTreeMap<String, Vec<PairMeans>> = BTreeMap::new();
    for (sensitive, found) in found {
        attributes.entry(sensitive).or_default().extend(found);
    }
    for pairs in attributes.values_mut() {
        pairs.sort_by(|one, other| other.error.total_cmp(&one.error));
    }
    attributes.retain(|_, pairs| !pairs.is_empty());
    GroupMeans {
        attributes,
        pairs_left_out,
    }
}

/// What a pair is called.
#[derive(Clone, Debug)]
struct PairNames {
    of: String,
    by: String,
    /// The one of both that is sensitive; the first of two.
    sensitive: String,
}

impl PairNames {
    fn of(of: &Averaged<'_>, by: &Grouping<'_>) -> Self {
        let sensitive = if of.is_sensitive { of.name } else { by.name };
        Self {
            of: of.name.to_owned(),
            by: by.name.to_owned(),
            sensitive: sensitive.to_owned(),
        }
    }
}

/// The numbers of a pair by interval.
#[derive(Clone, Debug)]
struct PairSums {
    truth: Vec<Mean>,
    published: Vec<Mean>,
}

impl PairSums {
    fn of(rows: usize, (of, by): (&Averaged<'_>, &Grouping<'_>)) -> Self {
        let mut truth = vec![Mean::default(); by.bins];
        let mut of_shown = vec![Mean::default(); by.shares.len()];
        for row in 0..rows {
            truth[(by.original)(row)].add((of.original)(row), 1.0);
            of_shown[(by.shown)(row)].add((of.shown)(row), 1.0);
        }
        let mut published = vec![Mean::default(); by.bins];
        for (mean, shares) in of_shown.iter().zip(&by.shares) {
            for &(bin, share) in *shares {
                published[bin as usize].add_share(mean, f64::from(share));
            }
        }
        Self { truth, published }
    }

    fn add(&mut self, other: &Self) {
        let sides = [
            (&mut self.truth, &other.truth),
            (&mut self.published, &other.published),
        ];
        for (all, more) in sides {
            let bins = all.iter_mut().zip(more);
            bins.for_each(|(all, more)| all.add_all(*more));
        }
    }

    /// The error, in these standard deviations; none where either side shows no
    /// number.
    fn error(&self, names: &PairNames, deviation: Option<f64>) -> Option<PairMeans> {
        let deviation = deviation?;
        let groups = self.truth.iter().zip(&self.published);
        let groups =
            groups.filter_map(|(truth, shown)| Some((truth.get()?, shown.get()?, truth.weight())));
        let groups: Vec<(f64, f64, f64)> = groups.collect();
        let records: f64 = groups.iter().map(|&(.., weight)| weight).sum();
        let centre = |pick: fn(&(f64, f64, f64)) -> f64| -> f64 {
            groups
                .iter()
                .map(|group| pick(group) * group.2)
                .sum::<f64>()
                / records
        };
        let (mean, mean_shown) = (centre(|group| group.0), centre(|group| group.1));
        let (mut off, mut with, mut own) = (0.0, 0.0, 0.0);
        for &(truth, shown, weight) in &groups {
            off += (truth - shown).abs() * weight;
            with += (truth - mean) * (shown - mean_shown) * weight;
            own += (truth - mean).powi(2) * weight;
        }
        // True means that differ by less are equal.
        let least = records * (ROUNDING * deviation).powi(2);
        (records > 0.0).then(|| PairMeans {
            of: names.of.clone(),
            by: names.by.clone(),
            error: off / records / deviation,
            kept: (own > least).then(|| with / own),
        })
    }
}

/// The number of each code; NaN for the missing one.
pub(super) fn numbers(domain: &Domain) -> Vec<f64> {
    let codes = (0..domain.len()).map(Code::from_usize);
    codes.map(|code| domain.number(code)).collect()
}

/// A numeric attribute as its rows show it, and as it was.
pub(super) fn averaged<'g>(
    prepared: &'g JoinedEvidence<'_>,
    attribute: PreparedAttribute<'g>,
) -> Averaged<'g> {
    let (domain, published) = (attribute.domain(), attribute.published);
    let numbers = numbers(domain);
    let by_code = numbers.clone();
    let number = |code: u32| by_code[code as usize];
    let of_cell: Vec<f64> = published
        .cells
        .iter()
        .map(|cell| middle(Coverage::of(domain, cell), number))
        .collect();
    let buckets = published.buckets.as_ref();
    let of_pool: Vec<f64> = buckets.map_or_else(Vec::new, |buckets| {
        let codes = value_codes(domain, buckets);
        let pools = 0..buckets.pools();
        let mean = |pool| {
            let mut mean = Mean::default();
            let shares = pool_shares(buckets, &codes, pool).into_iter();
            shares.for_each(|(code, share)| mean.add(number(code), share));
            mean.get().unwrap_or(f64::NAN)
        };
        pools.map(mean).collect()
    });
    let shown = move |row: usize| match buckets.and_then(|buckets| buckets.pool_of(row)) {
        Some(pool) => of_pool[pool as usize],
        None => of_cell[published.codes.at(row) as usize],
    };
    let original = move |row: usize| {
        let record = prepared.records[row];
        numbers[attribute.original.code(record).at()]
    };
    Averaged {
        name: published.name,
        is_sensitive: matches!(attribute.role, Role::Sensitive | Role::SemiSensitive),
        original: Box::new(original),
        shown: Box::new(shown),
    }
}

/// The middle of the numbers that a cell covers.
pub(super) fn middle(coverage: Option<Coverage>, number: impl Fn(u32) -> f64) -> f64 {
    match coverage {
        Some(Coverage::Run(from, to) | Coverage::RunAnd(from, to, _)) if from < to => {
            // The missing value is last; a cell of everything covers it.
            let last = number(to - 1);
            let last = if last.is_nan() && to - from > 1 {
                number(to - 2)
            } else {
                last
            };
            (number(from) + last) / 2.0
        }
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: [f64; 4] = [1.0, 3.0, 9.0, 11.0];

    fn of(original: [f64; 4], shown: [f64; 4]) -> Averaged<'static> {
        Averaged {
            name: "cost",
            is_sensitive: true,
            original: Box::new(move |row| original[row]),
            shown: Box::new(move |row| shown[row]),
        }
    }

    fn by(shares: [&'static [(u32, f32)]; 2]) -> Grouping<'static> {
        Grouping {
            name: "ward",
            is_sensitive: false,
            bins: 2,
            original: Box::new(|row| row / 2),
            shown: Box::new(|row| row / 2),
            shares: shares.to_vec(),
        }
    }

    fn pair(of: &Averaged<'_>, by: &Grouping<'_>) -> Option<PairMeans> {
        let sums = PairSums::of(4, (of, by));
        sums.error(&PairNames::of(of, by), deviation(4, &of.original))
    }

    fn measured(of: &Averaged<'_>, by: &Grouping<'_>) -> PairMeans {
        pair(of, by).expect("both show numbers")
    }

    const EXACT: [&[(u32, f32)]; 2] = [&[(0, 1.0)], &[(1, 1.0)]];

    #[test]
    fn exact_values_have_no_error() {
        let found = measured(&of(COSTS, COSTS), &by(EXACT));
        assert_eq!((found.error, found.kept), (0.0, Some(1.0)));
    }

    /// Buckets of one value of each group: (1, 9) and (3, 11). Both groups show
    /// a mean of 6 instead of 2 and 10.
    #[test]
    fn buckets_across_groups_leave_no_difference() {
        let found = measured(&of(COSTS, [5.0, 7.0, 5.0, 7.0]), &by(EXACT));
        assert_eq!(found.kept, Some(0.0));
        // 4 from the truth, in standard deviations of √17.
        assert!((found.error - 4.0 / 17.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn groups_that_are_shown_in_shares_are_pulled_together() {
        let by = by([&[(0, 0.75), (1, 0.25)], &[(0, 0.25), (1, 0.75)]]);
        let found = measured(&of(COSTS, COSTS), &by);
        // Means of 4 and 8 instead of 2 and 10.
        assert!((found.kept.expect("the true means differ") - 0.5).abs() < 1e-12);
    }

    #[test]
    fn missing_numbers_are_in_no_mean_and_equal_numbers_have_no_error() {
        let lacking = [1.0, f64::NAN, 9.0, 11.0];
        let found = measured(&of(lacking, lacking), &by(EXACT));
        assert_eq!((found.error, found.kept), (0.0, Some(1.0)));
        assert_eq!(pair(&of([2.0; 4], [2.0; 4]), &by(EXACT)), None);
    }
}
