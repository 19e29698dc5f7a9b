//! Buckets with a least spread, shaken (*ours*).
//!
//! Dealing sorted cells round and round keeps the spread, and brings the i-th
//! lowest cell together with the i-th of every round: of values with many cells
//! always the same ones. So each cell is exchanged once with one drawn from
//! another bucket, wherever both buckets keep the spread and distinct values.
//! Sizes stay as they are.

use std::ops::Range;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;

use crate::microdata::{Code, Domain};

use super::runs::Runs;

/// Larger buckets stay as they were dealt: an exchange reads both, and where
/// each holds so many values most pairs are in most buckets.
const CELLS_MAX: usize = 64;

/// Exchanges the cells of a set between its buckets; `bucket_of` has one entry
/// a cell, and every bucket spans `wanted` before and after.
pub(super) fn shake(
    domain: &Domain,
    (runs, set): (&Runs, Range<usize>),
    wanted: f64,
    (bucket_of, random): (&mut [u32], &mut ChaCha12Rng),
) {
    let buckets = bucket_of.iter().max().map_or(0, |&last| last as usize + 1);
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); buckets];
    for (cell, &bucket) in (0..).zip(&*bucket_of) {
        members[bucket as usize].push(cell);
    }
    if buckets < 2 || members.iter().any(|cells| cells.len() > CELLS_MAX) {
        return;
    }
    let codes = set.flat_map(|run| std::iter::repeat_n(runs.codes[run], runs.count(run) as usize));
    let shaking = Shaking {
        domain,
        codes: codes.collect(),
        wanted,
    };
    let mut order: Vec<u32> = (0..bucket_of.len() as u32).collect();
    order.shuffle(random);
    for cell in order {
        let own = bucket_of[cell as usize] as usize;
        let other = (own + random.random_range(1..buckets)) % buckets;
        let at = random.random_range(0..members[other].len());
        let partner = members[other][at];
        let both = shaking.takes(&members[own], cell, partner)
            && shaking.takes(&members[other], partner, cell);
        if !both {
            continue;
        }
        members[other][at] = cell;
        for member in &mut members[own] {
            if *member == cell {
                *member = partner;
            }
        }
        bucket_of.swap(cell as usize, partner as usize);
    }
}

struct Shaking<'a> {
    domain: &'a Domain,
    /// Code of each cell.
    codes: Vec<u32>,
    wanted: f64,
}

impl Shaking<'_> {
    /// Whether a bucket keeps its conditions with another cell in place of one.
    fn takes(&self, bucket: &[u32], out: u32, new: u32) -> bool {
        let code = self.codes[new as usize];
        let mut codes = bucket.iter().filter(|&&cell| cell != out);
        if codes.any(|&cell| self.codes[cell as usize] == code) {
            return false;
        }
        let kept = bucket.iter().filter(|&&cell| cell != out);
        let kept = kept.map(|&cell| self.codes[cell as usize]);
        let mut known: Vec<Code> = kept.chain([code]).map(Code).collect();
        known.retain(|&code| Some(code) != self.domain.missing());
        self.spread(&known) >= self.wanted
    }

    /// What known values span: a range, or branches of the root.
    fn spread(&self, known: &[Code]) -> f64 {
        if self.domain.is_numeric() {
            let ends = known.iter().min().zip(known.iter().max());
            return ends.map_or(0.0, |(&low, &high)| {
                self.domain.number(high) - self.domain.number(low)
            });
        }
        let Some(hierarchy) = self.domain.hierarchy() else {
            return known.len() as f64;
        };
        let mut branches: Vec<_> = known
            .iter()
            .map(|&code| hierarchy.branch_of(code))
            .collect();
        branches.sort_unstable();
        branches.dedup();
        branches.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng;

    use super::*;
    use crate::engine::lgb::runs::tests::runs;
    use crate::microdata::Values;

    /// Ten numbers of forty cells each, dealt round and round to 200 buckets of
    /// two: each number stands with the one five further on, and with no other.
    #[test]
    fn numbers_that_were_dealt_to_one_another_are_parted_and_keep_their_spread() {
        let domain = Domain::new(Values::Integer((0..10).collect()), None);
        let runs = runs(&[40; 10]);
        let mut bucket_of: Vec<u32> = (0..400).map(|cell| cell % 200).collect();
        let mut random = ChaCha12Rng::seed_from_u64(1);
        shake(&domain, (&runs, 0..10), 3.0, (&mut bucket_of, &mut random));
        let mut held = vec![Vec::new(); 200];
        for (cell, bucket) in bucket_of.into_iter().enumerate() {
            held[bucket as usize].push(cell / 40);
        }
        let mut with_zero = [0; 10];
        for numbers in &held {
            let &[one, other] = numbers.as_slice() else {
                panic!("sizes stay as they are: {numbers:?}");
            };
            assert!(one.abs_diff(other) >= 3, "{one} and {other}");
            if one.min(other) == 0 {
                with_zero[one.max(other)] += 1;
            }
        }
        assert!(with_zero.iter().all(|&times| times < 30), "{with_zero:?}");
    }

    #[test]
    fn buckets_that_allow_no_exchange_stay_as_they_were() {
        let domain = Domain::new(Values::Integer(vec![0, 10]), None);
        let mut bucket_of = vec![0, 1, 0, 1];
        let mut random = ChaCha12Rng::seed_from_u64(1);
        let all = (&runs(&[2, 2]), 0..2);
        shake(&domain, all, 10.0, (&mut bucket_of, &mut random));
        for bucket in 0..2 {
            let low = bucket_of[..2].iter().filter(|&&one| one == bucket).count();
            assert_eq!(low, 1, "each bucket has one 0 and one 10");
        }
    }
}
