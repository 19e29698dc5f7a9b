//! Companions: others who are treated as if they asked for what somebody asks
//! for (*ours*).
//!
//! A group that is larger or more diverse than its neighbours shows that
//! somebody in it asked for that. Companions ask for the same, so that anyone who
//! is in such a group asked for something with a probability that the job
//! states. They are not told apart by the terms that groups are made for:
//! [`Requirements::lent`](crate::privacy::Requirements::lent) gives them those of the one they accompany.
//!
//! Who accompanies whom is decided by the dataset's secret and by subject keys
//! alone, never by a run's seed: releases of one dataset have the same
//! companions, and cannot be intersected. Everyone has a place on a ring, the
//! keyed number of their key. Anyone who asks for something draws as many further
//! places, and the next one on the ring behind each who asks for nothing and
//! accompanies nobody is the companion (consistent hashing, Karger et al.
//! 1997). A subject who comes, leaves or changes their mind changes few companions
//! but their own.
//!
//! Each has as many as the job's share needs, and where people who are alike
//! ask more often than others, everyone has more ([`super::bands`]).

use rayon::prelude::*;

use crate::microdata::RecordIndex;
use crate::privacy::{Companion, RecordTerms, Seed, Share};

use super::Included;
use super::bands::Bands;

/// Numbers that the dataset's secret gives.
mod stage {
    /// The place of a subject on the ring.
    pub const PLACE: u32 = 1;
    /// The places behind which a subject's companions are looked for.
    pub const PROBE: u32 = 2;
}

/// Companions of those included who ask for something, out of the others: as
/// many each as keep the share of askers at `askers_share_max`, also among
/// those alike in a quasi-identifier, or all others where that is more. One
/// record a subject; `secret` is the dataset's. Where that was decided for the
/// whole table of which these are a part, it is so.
pub fn companions(
    included: &Included<'_>,
    askers_share_max: Share,
    secret: &Seed,
) -> Vec<Companion> {
    if let Some(decided) = included.requirements.companions() {
        return decided.to_vec();
    }
    let policy = included.requirements.policy();
    let each = u64::from(askers_share_max.reciprocal_ceiling() - 1);
    let silent = RecordTerms::of_subject(included.table.schema(), policy, None);
    let nobody_asks = || included.whatever_is_asked(|terms| !terms.asks_beyond(&silent));
    if each == 0 || nobody_asks() {
        return Vec::new();
    }
    let records = included.records.iter();
    let (askers, others): (Vec<u32>, Vec<u32>) =
        records.partition(|&&record| included.terms(record).asks_beyond(&silent));
    let mut bands = Bands::new(included.quasi_columns());
    askers.iter().for_each(|&record| bands.count(record, true));
    let mut ring = Ring::of(in_order(included, others, secret));
    let askers = in_order(included, askers, secret);
    let mut companions = Vec::new();
    let terms = included.requirements.terms_of_record();
    for probe in 0.. {
        if probe >= each && bands.are_hidden(askers_share_max) {
            break;
        }
        for &(_, asker) in &askers {
            let place = number(included, asker, secret, (stage::PROBE, probe));
            let Some(record) = ring.take_from(place) else {
                return companions;
            };
            bands.count(record, false);
            companions.push((RecordIndex(record), terms.at(asker as usize)));
        }
    }
    companions
}

/// Records in the order of their places on the ring, with these.
pub fn in_order(included: &Included<'_>, records: Vec<u32>, secret: &Seed) -> Vec<(u64, u32)> {
    let places = records.into_par_iter();
    let places = places.map(|record| (number(included, record, secret, (stage::PLACE, 0)), record));
    let mut places: Vec<(u64, u32)> = places.collect();
    places.par_sort_unstable();
    places
}

fn number(included: &Included<'_>, record: u32, secret: &Seed, place: (u32, u64)) -> u64 {
    let subject = included.table.subject_of(RecordIndex(record));
    let keys = included.table.subject_keys();
    secret.number(place, keys.get(subject.at()))
}

/// Those who are free, by place.
struct Ring {
    places: Vec<(u64, u32)>,
    /// A position at or behind each that may be free; the number of places
    /// where there is none.
    next: Vec<u32>,
    free: usize,
}

impl Ring {
    fn of(places: Vec<(u64, u32)>) -> Self {
        Self {
            next: (0..=places.len() as u32).collect(),
            free: places.len(),
            places,
        }
    }

    /// Takes the first who is free at or behind a place, around the ring.
    fn take_from(&mut self, place: u64) -> Option<u32> {
        if self.free == 0 {
            return None;
        }
        let start = self.places.partition_point(|&(at, _)| at < place);
        let mut found = self.first_free(start);
        if found == self.places.len() {
            found = self.first_free(0);
        }
        self.next[found] = found as u32 + 1;
        self.free -= 1;
        Some(self.places[found].1)
    }

    /// The first free position from `at` on; the paths to it become short.
    fn first_free(&mut self, at: usize) -> usize {
        let mut end = at;
        while self.next[end] as usize != end {
            end = self.next[end] as usize;
        }
        let mut at = at;
        while at != end {
            at = std::mem::replace(&mut self.next[at], end as u32) as usize;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_gives_everyone_once_and_goes_around() {
        let mut ring = Ring::of(vec![(10, 0), (20, 1), (30, 2)]);
        assert_eq!(ring.take_from(11), Some(1));
        assert_eq!(ring.take_from(20), Some(2));
        assert_eq!(ring.take_from(15), Some(0), "around the ring");
        assert_eq!(ring.take_from(0), None);
        assert_eq!(Ring::of(Vec::new()).take_from(0), None);
    }
}
