//! l-diversity of the values of one group (Machanavajjhala et al. 2006), in
//! its three forms, decided on counts.
//!
//! *Distinct* and *recursive* compare integers. *Entropy*, with counts c of n
//! values, asks for n ln n − Σ c ln c ≥ n ln l. The sums are floats; within
//! [`TOLERANCE`] of equality the answer is yes only where both sides are
//! *equal*, which prime factors decide exactly (n^n = l^n · Π c^c), and no
//! otherwise. So a group of l values, each as frequent as the others, is
//! l-diverse, and no group is by rounding.
//!
//! All three hold for the union of groups for which they hold (entropy is
//! concave, the sum from the l-th value on superadditive): if everyone
//! together is not diverse, no partition is.

use std::collections::BTreeMap;

use crate::privacy::Diversity;

/// Share of n ln n within which sums of logarithms are not trusted: a hundred
/// times what rounding can make of the sum of a million of them.
const TOLERANCE: f64 = 1e-8;

/// Whether a group with these counts, each at least 1, is diverse. Sorts the
/// counts.
pub fn is_diverse(diversity: Diversity, counts: &mut [u64]) -> bool {
    let l = diversity.l().get();
    if counts.len() < l as usize {
        return false;
    }
    match diversity {
        Diversity::Distinct(_) => true,
        Diversity::Entropy(_) => has_entropy(counts, l),
        Diversity::Recursive { c, .. } => {
            counts.sort_unstable_by(|one, other| other.cmp(one));
            let rest = counts[l as usize - 1..].iter().sum();
            c.exceeds(counts.first().copied().unwrap_or(0), rest)
        }
    }
}

/// The entropy of counts, to be shown; decisions are [`is_diverse`]'s.
pub fn entropy(counts: &[u64]) -> f64 {
    let all: u64 = counts.iter().sum();
    let bits = counts.iter().map(|&count| {
        let share = count as f64 / all.max(1) as f64;
        -share * share.ln()
    });
    bits.sum()
}

fn has_entropy(counts: &[u64], l: u32) -> bool {
    let all: u64 = counts.iter().sum();
    if l == 1 || all == 0 {
        return all > 0;
    }
    let weighed = |count: u64| count as f64 * (count as f64).ln();
    let have = weighed(all) - counts.iter().map(|&count| weighed(count)).sum::<f64>();
    let wanted = all as f64 * f64::from(l).ln();
    let doubt = TOLERANCE * weighed(all).max(1.0);
    match have - wanted {
        surplus if surplus > doubt => true,
        surplus if surplus < -doubt => false,
        _ => is_equal(counts, all, l),
    }
}

/// Whether n^n = l^n · Π c^c, by the exponents of every prime.
fn is_equal(counts: &[u64], all: u64, l: u32) -> bool {
    let mut exponents: BTreeMap<u64, i128> = BTreeMap::new();
    let whole = i128::from(all);
    let sides = [(all, whole), (u64::from(l), -whole)];
    let parts = counts.iter().map(|&count| (count, -i128::from(count)));
    for (number, times) in sides.into_iter().chain(parts) {
        for (prime, power) in factors(number) {
            *exponents.entry(prime).or_default() += times * i128::from(power);
        }
    }
    exponents.iter().all(|(_, &exponent)| exponent == 0)
}

fn factors(mut number: u64) -> Vec<(u64, u32)> {
    let mut factors = Vec::new();
    let mut candidate = 2;
    while candidate * candidate <= number {
        let mut power = 0;
        while number.is_multiple_of(candidate) {
            number /= candidate;
            power += 1;
        }
        if power > 0 {
            factors.push((candidate, power));
        }
        candidate += 1;
    }
    if number > 1 {
        factors.push((number, 1));
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{C, L};

    fn l(l: u32) -> L {
        L::new(l).unwrap()
    }

    fn entropy_l(counts: &[u64], of: u32) -> bool {
        is_diverse(Diversity::Entropy(l(of)), &mut counts.to_vec())
    }

    #[test]
    fn equal_shares_have_exactly_their_entropy() {
        for of in 1..40 {
            for each in [1, 3, 7, 1000] {
                let counts = vec![each; of as usize];
                assert!(entropy_l(&counts, of), "{of} values, {each} each");
                assert!(!entropy_l(&counts, of + 1));
            }
        }
    }

    #[test]
    fn unequal_shares_may_reach_a_whole_number_too() {
        // Shares 1/2, 1/8, 1/8, 1/8, 1/8: entropy ln 4.
        assert!(entropy_l(&[4, 1, 1, 1, 1], 4));
        assert!(!entropy_l(
            &[4_000_001, 1_000_000, 1_000_000, 1_000_000, 1_000_000],
            4
        ));
        assert!(!entropy_l(&[2, 1], 2));
        assert!(entropy_l(&[2, 1, 1], 2));
    }

    #[test]
    fn what_is_short_by_less_than_can_be_told_does_not_hold() {
        assert!(!entropy_l(&[500_001, 499_999], 2));
    }

    #[test]
    fn the_most_frequent_value_stays_strictly_below_c_times_the_rest() {
        let holds = |counts: &[u64], c: f64, of: u32| {
            let c = C::new(c).unwrap();
            is_diverse(Diversity::Recursive { c, l: l(of) }, &mut counts.to_vec())
        };
        assert!(!holds(&[1, 4, 1], 2.0, 2));
        assert!(holds(&[1, 4, 2], 2.0, 2));
        assert!(!holds(&[4, 2, 1], 4.0, 3));
        assert!(holds(&[4, 2, 1], 4.000_000_001, 3));
        assert!(!holds(&[3, 3], 100.0, 3));
    }

    #[test]
    fn distinct_values_are_counted() {
        let distinct = |of| is_diverse(Diversity::Distinct(l(of)), &mut [9, 1, 1]);
        assert!(distinct(3));
        assert!(!distinct(4));
    }

    #[test]
    fn entropy_is_that_of_the_definition() {
        assert!((entropy(&[1, 1, 1, 1]) - 4.0_f64.ln()).abs() < 1e-12);
        assert!((entropy(&[2, 1, 1]) - 1.5 * 2.0_f64.ln()).abs() < 1e-12);
    }
}
