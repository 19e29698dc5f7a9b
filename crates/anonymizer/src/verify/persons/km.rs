//! k^m-anonymity of the fingerprints of a group (`[RMR]`; Terrovitis et al.
//! 2008): k subjects of the group share every combination of at most m
//! members that one of them has, k the largest that policy or one of those
//! subjects asks for.
//!
//! Combinations are grown one member at a time from those that occur, each
//! with the distinct fingerprints that hold it. Two cuts keep that short, and
//! lose nothing: a member that every fingerprint of a combination has tells
//! nobody apart, so what holds without it holds with it; and where a single
//! fingerprint is left every larger combination has the same subjects.

use rayon::prelude::*;

use super::partition::Partition;
use super::view::PersonsView;
use crate::verify::leakage::{Ratio, Worst};
use crate::verify::verdict::{Check, Section};
use crate::verify::ways::{self, Worse};

/// Steps after which a group's combinations are given up.
const STEPS_MAX: u64 = 1 << 25;

/// A distinct fingerprint of a group.
struct Kind {
    /// What its members cover, ascending.
    spans: Vec<u32>,
    /// Subjects who have it.
    subjects: u64,
    /// The largest k that one of them asks for.
    k: u32,
}

/// What the combinations of one group attain.
#[derive(Clone, Copy, Debug, Default)]
struct Attained {
    least: Option<u64>,
    /// Combinations with too few subjects.
    below: u64,
    /// The combination that falls short of its own subjects' k most: k, and
    /// how many share it.
    worst: Option<(u64, u64)>,
    steps: u64,
}

/// What the combinations of all groups attain.
pub(super) struct Combinations {
    check: Option<Check>,
    worst: Worst,
}

impl Combinations {
    /// Looks at every combination of at most `m` members in every class.
    pub(super) fn of(view: &PersonsView, partitions: &[Partition], (k, m): (u32, u32)) -> Self {
        let mut worst = Worst::default();
        let checks: Vec<Check> = partitions
            .iter()
            .map(|partition| {
                let classes = (0..partition.classes.len()).into_par_iter();
                let attained: Vec<Attained> = classes
                    .map(|class| {
                        let kinds = kinds(view, partition.classes.rows(class));
                        let mut search = Search {
                            kinds: &kinds,
                            floor: k,
                            attained: Attained::default(),
                        };
                        let all: Vec<u32> = (0..kinds.len() as u32).collect();
                        search.grow(&all, None, m);
                        search.attained
                    })
                    .collect();
                for (class, attained) in attained.iter().enumerate() {
                    if let Some((asked, subjects)) = attained.worst {
                        worst.take(Ratio {
                            attained: u128::from(asked),
                            accepted: u128::from(subjects),
                            place: partition.place(view, class),
                        });
                    }
                }
                check(view, partition, &attained, k)
            })
            .collect();
        Self {
            check: ways::worst(checks, Worse::Less),
            worst,
        }
    }

    /// The guarantee `km_anonymity`: attained is the least number of subjects
    /// of a group who share a combination.
    pub(super) fn km_anonymity(&mut self) -> Check {
        let check = self.check.take();
        check.unwrap_or_else(|| Check::not_examined(Section::Guarantee, "km_anonymity"))
    }

    /// The ratios of subjects' own k to those who share a combination.
    pub(super) fn own_terms(&self) -> Worst {
        self.worst
    }
}

fn check(view: &PersonsView, partition: &Partition, attained: &[Attained], k: u32) -> Check {
    let least = attained
        .iter()
        .enumerate()
        .filter_map(|(class, attained)| Some((attained.below == 0, attained.least?, class)))
        .min();
    let below: u64 = attained.iter().map(|attained| attained.below).sum();
    let complete = attained.iter().all(|attained| attained.steps <= STEPS_MAX);
    let fewest = attained.iter().filter_map(|attained| attained.least).min();
    let check = Check::new(Section::Guarantee, "km_anonymity")
        .claiming(f64::from(k))
        .attaining(
            fewest.map(|subjects| subjects as f64),
            least.map(|(_, _, class)| partition.place(view, class)),
        )
        .holding(below == 0 && complete)
        .with_figure("combinations_below_k", below as f64);
    if complete {
        check
    } else {
        check.noting("not examined to the end: too many combinations in a group")
    }
}

/// The distinct fingerprints of a group's subjects.
fn kinds(view: &PersonsView, rows: &[u32]) -> Vec<Kind> {
    let mut rows: Vec<(u32, usize, u32)> = rows
        .iter()
        .filter_map(|&row| {
            let row = row as usize;
            Some((view.meaning_of_row[row], row, view.terms(row)?.own.k))
        })
        .collect();
    rows.sort_unstable();
    let kinds = rows.chunk_by(|a, b| a.0 == b.0).map(|same| {
        let attributes = view.sensitive.iter();
        let spans = attributes.flat_map(|attribute| &attribute.fingerprint(same[0].1).spans);
        let mut spans: Vec<u32> = spans.copied().collect();
        spans.sort_unstable();
        Kind {
            spans,
            subjects: same.len() as u64,
            k: same.iter().map(|&(_, _, k)| k).max().unwrap_or(1),
        }
    });
    kinds.collect()
}

/// Grows combinations within one group.
struct Search<'a> {
    kinds: &'a [Kind],
    floor: u32,
    attained: Attained,
}

impl Search<'_> {
    /// `holding` are the fingerprints that hold the combination so far, whose
    /// last member is `last`; up to `more` members may join.
    fn grow(&mut self, holding: &[u32], last: Option<u32>, more: u32) {
        if more == 0 || self.attained.steps > STEPS_MAX {
            return;
        }
        let mut joining: Vec<(u32, u32)> = Vec::new();
        for &kind in holding {
            let spans = &self.kinds[kind as usize].spans;
            let from = last.map_or(0, |last| spans.partition_point(|&span| span <= last));
            joining.extend(spans[from..].iter().map(|&span| (span, kind)));
        }
        self.attained.steps += (joining.len() + holding.len()) as u64;
        joining.sort_unstable();
        for same in joining.chunk_by(|a, b| a.0 == b.0) {
            let everyone = same.len() == holding.len();
            if everyone && last.is_some() {
                continue;
            }
            self.record(same);
            if !everyone && same.len() > 1 {
                let held: Vec<u32> = same.iter().map(|&(_, kind)| kind).collect();
                self.grow(&held, Some(same[0].0), more - 1);
            }
        }
    }

    fn record(&mut self, holding: &[(u32, u32)]) {
        let kinds = holding.iter().map(|&(_, kind)| &self.kinds[kind as usize]);
        let subjects: u64 = kinds.clone().map(|kind| kind.subjects).sum();
        let own = u64::from(kinds.map(|kind| kind.k).max().unwrap_or(1));
        let attained = &mut self.attained;
        attained.below += u64::from(subjects < own.max(u64::from(self.floor)));
        attained.least = Some(attained.least.map_or(subjects, |least| least.min(subjects)));
        let worse = |(asked, sharing): (u64, u64)| {
            u128::from(own) * u128::from(sharing) > u128::from(asked) * u128::from(subjects)
        };
        if attained.worst.is_none_or(worse) {
            attained.worst = Some((own, subjects));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Attained, Kind, Search};

    /// A linear congruence: the same numbers every time.
    fn next(state: &mut u64) -> u64 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        *state >> 33
    }

    fn kinds(state: &mut u64) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = (0..1 + next(state) % 7)
            .map(|_| {
                let bits = 1 + next(state) % 127;
                Kind {
                    spans: (0..7).filter(|at| bits >> at & 1 == 1).collect(),
                    subjects: 1 + next(state) % 4,
                    k: 1 + (next(state) % 5) as u32,
                }
            })
            .collect();
        kinds.sort_by(|a, b| a.spans.cmp(&b.spans));
        kinds.dedup_by(|a, b| a.spans == b.spans);
        kinds
    }

    /// Least support, whether all hold, and the worst ratio of k to support,
    /// by looking at every subset of seven members.
    fn naive(kinds: &[Kind], floor: u64, m: u32) -> (Option<u64>, bool, Option<(u64, u64)>) {
        let (mut least, mut holds, mut worst) = (None::<u64>, true, None::<(u64, u64)>);
        for bits in (1_u32..128).filter(|bits| bits.count_ones() <= m) {
            let members: Vec<u32> = (0..7).filter(|at| bits >> at & 1 == 1).collect();
            let holding = |kind: &&Kind| members.iter().all(|member| kind.spans.contains(member));
            let support: u64 = kinds.iter().filter(holding).map(|kind| kind.subjects).sum();
            if support == 0 {
                continue;
            }
            let k = kinds.iter().filter(holding).map(|kind| kind.k).max();
            let k = u64::from(k.unwrap_or(1));
            least = Some(least.map_or(support, |least| least.min(support)));
            holds &= support >= k.max(floor);
            if worst.is_none_or(|(asked, sharing)| k * sharing > asked * support) {
                worst = Some((k, support));
            }
        }
        (least, holds, worst)
    }

    #[test]
    fn grown_combinations_attain_what_all_combinations_do() {
        let mut state = 7;
        let mut failing = 0;
        for _ in 0..3_000 {
            let kinds = kinds(&mut state);
            let floor = 1 + (next(&mut state) % 4) as u32;
            let m = 1 + (next(&mut state) % 4) as u32;
            let mut search = Search {
                kinds: &kinds,
                floor,
                attained: Attained::default(),
            };
            let all: Vec<u32> = (0..kinds.len() as u32).collect();
            search.grow(&all, None, m);
            let (least, holds, worst) = naive(&kinds, u64::from(floor), m);
            let found = search.attained;
            assert_eq!(found.least, least);
            assert_eq!(found.below == 0, holds);
            let ratio = |worst: Option<(u64, u64)>| worst.map(|(k, of)| k as f64 / of as f64);
            assert_eq!(ratio(found.worst), ratio(worst));
            failing += u32::from(!holds);
        }
        assert!((500..2_500).contains(&failing), "{failing}");
    }
}
