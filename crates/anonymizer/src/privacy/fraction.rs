//! Sums of fractions compared with a share, exactly.
//!
//! The probability of a value in a group is a sum of fractions whose
//! denominators are counts of records (engines.md, `personalized`). Over a
//! common denominator most of them fit 128 bits; those that do not are
//! compared in numbers of any length. Either way the answer is exact: no
//! rounding decides on privacy.

use super::parameter::Share;

impl Share {
    /// Whether the sum of `numerator / denominator` is at most this share of
    /// `size`. A fraction whose denominator is 0 counts for nothing.
    pub fn allows_sum(self, fractions: &[(u64, u64)], size: u64) -> bool {
        match short(self, fractions, size) {
            Some(answer) => answer,
            None => long(self, fractions, size),
        }
    }
}

fn real(fractions: &[(u64, u64)]) -> impl Iterator<Item = (u64, u64)> {
    let all = fractions.iter().copied();
    all.filter(|&(_, denominator)| denominator > 0)
}

/// The comparison in 128 bits; `None` where they are too few.
fn short(share: Share, fractions: &[(u64, u64)], size: u64) -> Option<bool> {
    let (mut numerator, mut denominator) = (0_u128, 1_u128);
    for (above, below) in real(fractions) {
        let (above, below) = (u128::from(above), u128::from(below));
        let common = greatest_divisor(denominator, below);
        let by = below / common;
        let added = above.checked_mul(denominator / common)?;
        numerator = numerator.checked_mul(by)?.checked_add(added)?;
        denominator = denominator.checked_mul(by)?;
    }
    let allowed = u128::from(share.parts()) * u128::from(size);
    let sum = numerator.checked_mul(u128::from(Share::WHOLE_PARTS))?;
    Some(sum <= allowed.checked_mul(denominator)?)
}

fn greatest_divisor(mut one: u128, mut other: u128) -> u128 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// The comparison in numbers of any length.
fn long(share: Share, fractions: &[(u64, u64)], size: u64) -> bool {
    let (mut numerator, mut denominator) = (Long(vec![0]), Long(vec![1]));
    for (above, below) in real(fractions) {
        numerator = numerator.times(below).plus(&denominator.times(above));
        denominator = denominator.times(below);
    }
    let allowed = denominator.times(u64::from(share.parts())).times(size);
    numerator.times(Share::WHOLE_PARTS).is_at_most(&allowed)
}

/// A whole number of any length, lowest 64 bits first.
struct Long(Vec<u64>);

impl Long {
    fn times(&self, by: u64) -> Self {
        let mut carry = 0_u128;
        let mut words: Vec<u64> = Vec::with_capacity(self.0.len() + 1);
        for &word in &self.0 {
            carry += u128::from(word) * u128::from(by);
            words.push(carry as u64);
            carry >>= 64;
        }
        words.push(carry as u64);
        Self(words)
    }

    fn plus(&self, other: &Self) -> Self {
        let length = self.0.len().max(other.0.len());
        let word = |of: &Self, at: usize| u128::from(of.0.get(at).copied().unwrap_or(0));
        let mut carry = 0_u128;
        let mut words: Vec<u64> = Vec::with_capacity(length + 1);
        for at in 0..length {
            carry += word(self, at) + word(other, at);
            words.push(carry as u64);
            carry >>= 64;
        }
        words.push(carry as u64);
        Self(words)
    }

    fn is_at_most(&self, other: &Self) -> bool {
        let length = self.0.len().max(other.0.len());
        let word = |of: &Self, at: usize| of.0.get(at).copied().unwrap_or(0);
        let differing = (0..length)
            .rev()
            .find(|&at| word(self, at) != word(other, at));
        differing.is_none_or(|at| word(self, at) < word(other, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_allowed_at_equality_and_not_one_part_above() {
        // 1/2 + 1/4 + 1/4 = 1 of 4.
        let fractions = [(1, 2), (1, 4), (1, 4)];
        assert!(Share::new(0.25).unwrap().allows_sum(&fractions, 4));
        assert!(!Share::new(0.249_999_999).unwrap().allows_sum(&fractions, 4));
        assert!(Share::LEAST.allows_sum(&[], 1));
        assert!(Share::LEAST.allows_sum(&[(7, 0)], 1));
    }

    #[test]
    fn long_sums_are_exact_where_short_ones_overflow() {
        // Denominators without a common divisor: their product has 200 bits.
        let primes = [
            4_294_967_291_u64,
            4_294_967_279,
            4_294_967_231,
            4_294_967_197,
            4_294_967_189,
            4_294_967_161,
        ];
        // p/p six times is 6, exactly half of 12.
        let whole: Vec<(u64, u64)> = primes.iter().map(|&prime| (prime, prime)).collect();
        let half = Share::new(0.5).unwrap();
        assert_eq!(short(half, &whole, 12), None);
        assert!(half.allows_sum(&whole, 12));
        let mut above = whole.clone();
        above[5].0 += 1;
        assert!(!half.allows_sum(&above, 12));
        let mut below = whole;
        below[5].0 -= 1;
        assert!(half.allows_sum(&below, 12));
    }

    #[test]
    fn long_and_short_agree_where_both_answer() {
        let (mut state, mut both) = (7_u64, 0);
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..2_000 {
            let fractions: Vec<(u64, u64)> =
                (0..next(5)).map(|_| (next(40), next(60) + 1)).collect();
            let share = Share::of_parts(next(1_000_000_000) as u32 + 1);
            let size = next(9) + 1;
            if let Some(answer) = short(share, &fractions, size) {
                assert_eq!(answer, long(share, &fractions, size));
                both += 1;
            }
        }
        assert!(both > 1_000);
    }

    #[test]
    fn the_reciprocal_of_a_share_is_rounded_up() {
        for (share, expected) in [(1.0, 1), (0.5, 2), (0.25, 4), (0.3, 4), (0.1667, 6)] {
            assert_eq!(Share::new(share).unwrap().reciprocal_ceiling(), expected);
        }
        assert_eq!(Share::LEAST.reciprocal_ceiling(), 1_000_000_000);
    }
}
