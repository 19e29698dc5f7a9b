//! The two values of an attribute that share buckets most.
//!
//! Of two values the share of one's buckets that the other is in stands beside the
//! share of all buckets that it is in, which chance would bring. Counted are the
//! most frequent values, and buckets that are not so large that they hold most
//! values anyway.
//!
//! Which values are frequent is known when all buckets were seen ([`Shared`]);
//! with which others they stand together is counted after that ([`Together`]).

use serde::Serialize;

use super::coverage::value_codes;
use crate::microdata::Domain;
use crate::release::Buckets;

/// Values whose pairs are counted at most, and values of a bucket that is read.
const PAIRED_VALUES_MAX: usize = 64;
/// Buckets that a value must be in: in fewer, chance alone pairs it with another.
const PAIRED_BUCKETS_MIN: u64 = 20;

/// How often one value shares the buckets of another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pairing {
    /// Share of the buckets of a value in which the other is too.
    pub share: f64,
    /// Share of all buckets that the other is in: what chance would bring.
    pub chance: f64,
}

/// How many buckets the values of an attribute are in.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    /// Buckets that are read.
    buckets: u64,
    /// Place in `of_value` of each code, and of what is no value of the domain.
    position: Vec<u32>,
    /// Buckets of each value, in the order in which values were first listed.
    of_value: Vec<u64>,
}

const UNSEEN: u32 = u32::MAX;

impl Shared {
    /// No bucket yet of an attribute of this domain.
    pub(super) fn new(domain: &Domain) -> Self {
        Self {
            buckets: 0,
            position: vec![UNSEEN; domain.len() + 1],
            of_value: Vec::new(),
        }
    }

    /// Sees the buckets of a portion.
    pub(super) fn see(&mut self, domain: &Domain, buckets: &Buckets<'_>) {
        for code in value_codes(domain, buckets) {
            let position = &mut self.position[place(domain, code)];
            if *position == UNSEEN {
                *position = self.of_value.len() as u32;
                self.of_value.push(0);
            }
        }
        let positions = self.positions(domain, buckets);
        for bucket in small(buckets) {
            self.buckets += 1;
            for (value, _) in buckets.coded_run(bucket) {
                self.of_value[positions[value as usize] as usize] += 1;
            }
        }
    }

    /// The place of each value of the dictionary of buckets that were seen.
    pub(super) fn positions(&self, domain: &Domain, buckets: &Buckets<'_>) -> Vec<u32> {
        let codes = value_codes(domain, buckets).into_iter();
        codes
            .map(|code| self.position[place(domain, code)])
            .collect()
    }
}

/// Where a code's place is kept; all cells of other attributes share the last.
fn place(domain: &Domain, code: Option<u32>) -> usize {
    code.map_or(domain.len(), |code| code as usize)
}

/// The buckets that are read.
fn small(buckets: &Buckets<'_>) -> impl Iterator<Item = usize> {
    (0..buckets.len()).filter(|&at| buckets.coded_run(at).count() <= PAIRED_VALUES_MAX)
}

/// How many buckets the most frequent values share with each other value.
#[derive(Debug)]
pub(super) struct Together {
    shared: Shared,
    /// Places of the most frequent values, those in the most buckets first.
    frequent: Vec<u32>,
    /// For each place its number among the frequent, if it is one of them.
    number: Vec<u32>,
    /// For each of the frequent the buckets with each value.
    together: Vec<Vec<u32>>,
}

impl Together {
    /// Nothing is counted yet of buckets that were all seen.
    pub(super) fn of(shared: &Shared) -> Self {
        let mut frequent: Vec<u32> = (0..shared.of_value.len() as u32).collect();
        let buckets = |place: u32| shared.of_value[place as usize];
        frequent.sort_by_key(|&place| std::cmp::Reverse(buckets(place)));
        frequent.truncate(PAIRED_VALUES_MAX);
        frequent.retain(|&place| buckets(place) >= PAIRED_BUCKETS_MIN);
        let mut number = vec![UNSEEN; shared.of_value.len()];
        for (at, &place) in (0..).zip(&frequent) {
            number[place as usize] = at;
        }
        Self {
            together: vec![vec![0; shared.of_value.len()]; frequent.len()],
            shared: shared.clone(),
            frequent,
            number,
        }
    }

    /// Adds the buckets of a portion, with the place of each value.
    pub(super) fn add(&mut self, buckets: &Buckets<'_>, positions: &[u32]) {
        for bucket in small(buckets) {
            for (value, _) in buckets.coded_run(bucket) {
                let number = self.number[positions[value as usize] as usize];
                if number == UNSEEN {
                    continue;
                }
                let together = &mut self.together[number as usize];
                for (other, _) in buckets.coded_run(bucket) {
                    together[positions[other as usize] as usize] += 1;
                }
            }
        }
    }

    /// The pair of values of which one is in the most buckets of the other beyond
    /// the share of all buckets that it is in.
    pub(super) fn finish(&self) -> Option<Pairing> {
        let beyond = |pairing: &Pairing| pairing.share - pairing.chance;
        let mut worst: Option<Pairing> = None;
        for (&value, together) in self.frequent.iter().zip(&self.together) {
            let own = self.shared.of_value[value as usize];
            let others = (0..).zip(together).filter(|&(at, _)| at != value);
            for (other, &count) in others {
                let chance = self.shared.of_value[other as usize];
                let found = Pairing {
                    share: f64::from(count) / own as f64,
                    chance: chance as f64 / self.shared.buckets as f64,
                };
                if worst.is_none_or(|worst| beyond(&found) > beyond(&worst)) {
                    worst = Some(found);
                }
            }
        }
        worst
    }
}
