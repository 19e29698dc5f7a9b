//! l-eligibility (Xiao & Tao 2006): a multiset of values can be divided into
//! parts with at least l distinct values each, every value at most once, if
//! and only if no value has more than 1/l of it: `count * l <= size`.

use crate::privacy::Share;

/// Whether a multiset of `size` values, `most` of them equal, is l-eligible.
#[inline]
pub fn is_eligible(most: u64, size: u64, l: u32) -> bool {
    u128::from(most) * u128::from(l) <= u128::from(size)
}

/// Whether `count` is at most the share of `of`, compared in integers.
pub fn is_within(count: u64, of: u64, share: f64) -> bool {
    let parts = (share * Share::WHOLE_PARTS as f64).round() as u128;
    u128::from(count) * u128::from(Share::WHOLE_PARTS) <= parts * u128::from(of)
}

/// The least share, in the precision in which shares are compared, of which
/// `count` of `of` are within: [`is_within`] holds for it and for nothing
/// below. `of` is not 0.
pub fn least_share(count: u64, of: u64) -> f64 {
    let parts = (u128::from(count) * u128::from(Share::WHOLE_PARTS)).div_ceil(u128::from(of));
    parts as f64 / Share::WHOLE_PARTS as f64
}

/// How often each code occurs, following removals; knows the highest count
/// at any time.
#[derive(Clone, Debug)]
pub struct Tally {
    counts: Vec<u32>,
    /// Number of codes that occur `at` times.
    codes_with: Vec<u32>,
    most: u32,
    size: u64,
    distinct: u32,
}

impl Tally {
    /// Counts codes below `domain`.
    pub fn new(domain: usize, codes: impl Iterator<Item = u32>) -> Self {
        let mut counts = vec![0_u32; domain];
        let mut size = 0;
        for code in codes {
            counts[code as usize] += 1;
            size += 1;
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let mut codes_with = vec![0_u32; most as usize + 1];
        for &count in &counts {
            codes_with[count as usize] += 1;
        }
        let distinct = domain as u32 - codes_with[0];
        Self {
            counts,
            codes_with,
            most,
            size,
            distinct,
        }
    }

    /// How often each code occurs.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The highest count.
    pub fn most(&self) -> u64 {
        u64::from(self.most)
    }

    /// Number of values counted.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Number of different codes.
    pub fn distinct(&self) -> u32 {
        self.distinct
    }

    /// Takes one occurrence of `code` out; it has one.
    pub fn remove(&mut self, code: u32) {
        let count = self.counts[code as usize];
        debug_assert!(count > 0);
        self.counts[code as usize] = count - 1;
        self.codes_with[count as usize] -= 1;
        self.codes_with[count as usize - 1] += 1;
        self.size -= 1;
        self.distinct -= u32::from(count == 1);
        while self.most > 0 && self.codes_with[self.most as usize] == 0 {
            self.most -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eligibility_is_exact_at_its_bound() {
        assert!(is_eligible(2, 10, 5));
        assert!(!is_eligible(3, 14, 5));
        assert!(is_eligible(0, 0, 9));
        assert!(!is_eligible(u64::MAX / 2, u64::MAX, 3));
    }

    #[test]
    fn the_least_share_is_within_and_one_part_less_is_not() {
        for of in (1..=400).chain([30_103, 999_983]) {
            for count in [1, 2, of / 7, of / 3, of - 1, of] {
                let share = least_share(count, of);
                assert!(is_within(count, of, share), "{count} of {of}");
                let less = share - 1.0 / Share::WHOLE_PARTS as f64;
                assert!(count == 0 || !is_within(count, of, less), "{count} of {of}");
            }
        }
    }

    #[test]
    fn a_tally_follows_removals() {
        let mut tally = Tally::new(4, [0, 0, 0, 1, 1, 3].into_iter());
        assert_eq!((tally.most(), tally.size(), tally.distinct()), (3, 6, 3));
        tally.remove(0);
        tally.remove(3);
        assert_eq!((tally.most(), tally.size(), tally.distinct()), (2, 4, 2));
        for code in [0, 0, 1, 1] {
            tally.remove(code);
        }
        assert_eq!((tally.most(), tally.size(), tally.distinct()), (0, 0, 0));
    }
}
