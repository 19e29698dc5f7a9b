//! Excludes subjects whose own terms cannot be met, the strictest first.

use std::cmp::Reverse;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;

use crate::engine::kernel::included::SensitiveColumn;
use crate::engine::kernel::{Included, Tally, is_eligible};
use crate::microdata::Codes;
use crate::privacy::{ProtectedIndex, RecordTerms};

/// `members` without those excluded.
pub fn without(members: &mut Vec<u32>, excluded: &[u32]) {
    let mut excluded = excluded.to_vec();
    excluded.sort_unstable();
    members.retain(|member| excluded.binary_search(member).is_err());
}

/// A random number for each of `members` members, no two alike, which decides
/// between equals.
pub fn tie_breakers(members: usize, mut random: ChaCha12Rng) -> Vec<u32> {
    let mut tie_breakers: Vec<u32> = (0..members as u32).collect();
    tie_breakers.shuffle(&mut random);
    tie_breakers
}

/// The members to exclude, the strictest first, until the strictest one that
/// stays is content with how many stay. `members` stand in random order,
/// which decides between equals.
pub fn exclude_until<K: Ord>(
    mut members: Vec<u32>,
    strictness: impl Fn(u32) -> K,
    is_content: impl Fn(u32, usize) -> bool,
) -> Vec<u32> {
    let all = members.len();
    members.sort_by_key(|&member| Reverse(strictness(member)));
    let stop = (0..all).find(|&before| is_content(members[before], all - before));
    members.truncate(stop.unwrap_or(all));
    members
}

/// The members to exclude, the first of `strict` first, until one accepts the
/// values of those who stay. `accepts` may refuse to exclude a member.
pub fn exclude_by_frequency<E>(
    strict: Vec<u32>,
    codes: &Codes,
    tally: &mut Tally,
    mut accepts: impl FnMut(u32, &Tally) -> Result<bool, E>,
) -> Result<Vec<u32>, E> {
    let mut excluded = Vec::new();
    for member in strict {
        if accepts(member, tally)? {
            break;
        }
        tally.remove(codes.at(member as usize));
        excluded.push(member);
    }
    Ok(excluded)
}

/// A value of an attribute is too frequent for the l of the job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooFrequent {
    /// The attribute.
    pub index: ProtectedIndex,
    /// Records with the most frequent value.
    pub most: u64,
    /// Records.
    pub of: u64,
}

impl Included<'_> {
    /// Excludes records, the strictest first, equals in the order that
    /// `random` gives, until each one that stays is content with how many
    /// stay. Returns those excluded.
    pub fn exclude_until<K: Ord>(
        &mut self,
        mut random: ChaCha12Rng,
        strictness: impl Fn(u32) -> K,
        is_content: impl Fn(u32, usize) -> bool,
    ) -> Vec<u32> {
        let all = self.records.len();
        if self.records.iter().all(|&record| is_content(record, all)) {
            return Vec::new();
        }
        let mut order = self.records.clone();
        order.shuffle(&mut random);
        let excluded = exclude_until(order, strictness, is_content);
        without(&mut self.records, &excluded);
        excluded
    }

    /// Excludes records, the strictest first, until the most frequent value
    /// of a column is rare enough for each one that stays. `floor` is the l
    /// that the job asks of everyone: nobody is excluded for it.
    pub fn exclude_by_frequency(
        &mut self,
        sensitive: &SensitiveColumn<'_>,
        floor: u32,
        mut random: ChaCha12Rng,
    ) -> Result<Vec<u32>, TooFrequent> {
        let at = sensitive.index.at();
        let column = sensitive.column;
        let records = self.records.iter();
        let values = records.map(|&record| column.codes.at(record as usize));
        let mut tally = Tally::new(column.domain.len(), values);
        let accepts = |terms: &RecordTerms, tally: &Tally| {
            is_eligible(tally.most(), tally.size(), terms.l[at])
                && terms.max_share[at].allows(tally.most(), tally.size())
        };
        let accept = |record: u32, tally: &Tally| accepts(self.terms(record), tally);
        if self.whatever_is_asked(|terms| accepts(terms, &tally))
            || self
                .records
                .par_iter()
                .all(|&record| accept(record, &tally))
        {
            return Ok(Vec::new());
        }
        let mut strict = self.records.clone();
        strict.shuffle(&mut random);
        strict.sort_by_key(|&record| {
            let terms = self.terms(record);
            (terms.max_share[at], Reverse(terms.l[at]))
        });
        let excluded = exclude_by_frequency(strict, &column.codes, &mut tally, |record, tally| {
            let accepts = accept(record, tally);
            if !accepts && self.terms(record).l[at] <= floor {
                return Err(TooFrequent {
                    index: sensitive.index,
                    most: tally.most(),
                    of: tally.size(),
                });
            }
            Ok(accepts)
        })?;
        without(&mut self.records, &excluded);
        Ok(excluded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_are_excluded_until_the_next_is_content() {
        // Each asks for as many members as its own number.
        let content = |member: u32, left: usize| member as usize <= left;
        let excluded = exclude_until(vec![3, 9, 1, 4, 5], |member| member, content);
        assert_eq!(
            excluded,
            [9, 5, 4, 3],
            "each one excluded asks less of the others"
        );
        assert_eq!(exclude_until(vec![7, 8], |member| member, content), [8, 7]);
        assert_eq!(exclude_until(Vec::new(), |member| member, content), [0; 0]);
    }

    #[test]
    fn equals_are_excluded_in_the_order_given() {
        let excluded = exclude_until(vec![2, 7, 4], |_| 0, |_, left| left <= 1);
        assert_eq!(excluded, [2, 7]);
        let mut members = vec![2, 4, 7];
        without(&mut members, &excluded);
        assert_eq!(members, [4]);
    }
}
