//! l-diversity of the values of groups (Machanavajjhala et al. 2006): distinct,
//! entropy, recursive (c, l).
//!
//! - distinct: attained is the least number of different values in a group;
//! - entropy: attained is the least e^H over groups, H the entropy of the
//!   group's values; claimed is l;
//! - recursive: attained is the largest ratio, over groups, of the most
//!   frequent value to all from the l-th on; claimed is c, which must exceed
//!   it. A group with fewer than l values has no ratio.
//!
//! A missing value is no value here: groups are judged by the values that are
//! known.
//!
//! Distinct and recursive are decided in integers. H is a float; a group less
//! than [`DOUBT`] away from its bound (per record) passes only if it reaches
//! it exactly, n^n = l^n · Π c^c, which is decided by the exponents of primes.

use super::diversity_claim;
use crate::privacy::Diversity;
use crate::verify::classes::Classes;
use crate::verify::verdict::{Check, Section};
use crate::verify::ways::{Worse, worst};

/// Entropy within which a float decides nothing: well above what rounding
/// makes of it, well below what an engine may lean on.
const DOUBT: f64 = 1e-10;

/// The guarantee, in the worse of several ways.
pub(super) fn diversity(claimed: Diversity, ways: &[Classes]) -> Option<Check> {
    let checks = ways.iter().map(|classes| of_way(claimed, classes));
    let worse = match claimed {
        Diversity::Distinct(_) | Diversity::Entropy(_) => Worse::Less,
        Diversity::Recursive { .. } => Worse::More,
    };
    worst(checks.collect(), worse)
}

fn of_way(claimed: Diversity, classes: &Classes) -> Check {
    let mut below = 0_u64;
    // Those that fail first, then by figure: the smallest is the worst.
    let mut worst: Option<(bool, f64, usize)> = None;
    let mut extreme: Option<f64> = None;
    for class in 0..classes.len() {
        let counts = known_counts(classes, class);
        // Only missing values: nothing is said of anybody.
        let holds = counts.is_empty() || holds(claimed, &counts);
        below += u64::from(!holds);
        let figure = (!counts.is_empty())
            .then(|| figure(claimed, &counts))
            .flatten();
        let badness = match claimed {
            Diversity::Recursive { .. } => figure.map_or(f64::NEG_INFINITY, |ratio| -ratio),
            _ => figure.unwrap_or(f64::INFINITY),
        };
        if worst.is_none_or(|worst| (holds, badness) < (worst.0, worst.1)) {
            worst = Some((holds, badness, class));
        }
        extreme = match (claimed, extreme, figure) {
            (_, None, figure) => figure,
            (_, extreme, None) => extreme,
            (Diversity::Recursive { .. }, Some(most), Some(figure)) => Some(most.max(figure)),
            (_, Some(least), Some(figure)) => Some(least.min(figure)),
        };
    }
    let (kind, claim) = diversity_claim(claimed);
    Check::new(Section::Guarantee, kind)
        .about(classes.name)
        .claiming(claim)
        .attaining(extreme, worst.map(|(_, _, class)| classes.place(class)))
        .holding(below == 0)
        .with_figure("l", f64::from(claimed.l().get()))
        .with_figure("groups", classes.len() as f64)
        .with_figure("groups_below", below as f64)
}

/// How often each known value of a class occurs, the most frequent first.
fn known_counts(classes: &Classes, class: usize) -> Vec<u64> {
    let missing = classes.domain.missing().map(|code| code.0);
    let contents = classes.contents(class).iter();
    let contents = contents.filter(|&&(code, _)| Some(code) != missing);
    let mut counts: Vec<u64> = contents.map(|&(_, count)| count).collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    counts
}

/// Whether the counts of a group, which descend, are as diverse as claimed.
fn holds(claimed: Diversity, counts: &[u64]) -> bool {
    let l = claimed.l().get() as usize;
    match claimed {
        Diversity::Distinct(_) => counts.len() >= l,
        Diversity::Entropy(l) => {
            let surplus = entropy(counts) - f64::from(l.get()).ln();
            surplus > DOUBT || (surplus >= -DOUBT && reaches_exactly(counts, l.get().into()))
        }
        Diversity::Recursive { c, .. } => {
            let most = counts.first().copied().unwrap_or(0);
            c.exceeds(most, counts.iter().skip(l - 1).sum())
        }
    }
}

fn figure(claimed: Diversity, counts: &[u64]) -> Option<f64> {
    match claimed {
        Diversity::Distinct(_) => Some(counts.len() as f64),
        Diversity::Entropy(_) => Some(entropy(counts).exp()),
        Diversity::Recursive { l, .. } => {
            let rest: u64 = counts.iter().skip(l.get() as usize - 1).sum();
            (rest > 0).then(|| *counts.first().unwrap_or(&0) as f64 / rest as f64)
        }
    }
}

/// Σ (c/n) · ln(n/c).
fn entropy(counts: &[u64]) -> f64 {
    let all = counts.iter().sum::<u64>() as f64;
    let parts = counts.iter().map(|&count| count as f64);
    parts.map(|count| count / all * (all / count).ln()).sum()
}

/// Whether n^n = l^n · Π c^c: for every prime p, n·v(n) = n·v(l) + Σ c·v(c)
/// with v the exponent of p.
fn reaches_exactly(counts: &[u64], l: u64) -> bool {
    let all: u64 = counts.iter().sum();
    if all == 0 {
        return false;
    }
    let mut primes: Vec<u64> = counts.iter().flat_map(|&count| primes(count)).collect();
    primes.extend(self::primes(all));
    primes.extend(self::primes(l));
    primes.sort_unstable();
    primes.dedup();
    primes.into_iter().all(|prime| {
        let power =
            |number: u64, times: u64| u128::from(times) * u128::from(exponent(number, prime));
        let parts: u128 = counts.iter().map(|&count| power(count, count)).sum();
        power(all, all) == power(l, all) + parts
    })
}

fn exponent(mut number: u64, prime: u64) -> u32 {
    let mut exponent = 0;
    while number > 0 && number.is_multiple_of(prime) {
        number /= prime;
        exponent += 1;
    }
    exponent
}

fn primes(number: u64) -> Vec<u64> {
    let (mut rest, mut primes) = (number, Vec::new());
    for divisor in 2.. {
        if divisor * divisor > rest {
            break;
        }
        if rest.is_multiple_of(divisor) {
            primes.push(divisor);
            while rest.is_multiple_of(divisor) {
                rest /= divisor;
            }
        }
    }
    primes.extend((rest > 1).then_some(rest));
    primes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{C, L};

    #[test]
    fn entropy_is_reached_exactly_and_not_by_rounding() {
        let holds = |counts: &[u64], l: u32| holds(Diversity::Entropy(L::new(l).unwrap()), counts);
        for l in 1..50 {
            for each in [1, 6, 35] {
                let counts = vec![each; l as usize];
                assert!(holds(&counts, l), "{l} values, {each} each");
                assert!(!holds(&counts, l + 1));
            }
        }
        assert!(holds(&[4, 1, 1, 1, 1], 4));
        assert!(!holds(&[500_001, 499_999], 2));
        assert!(!holds(&[], 1));
    }

    #[test]
    fn the_most_frequent_value_stays_strictly_below() {
        let recursive = |c: f64, l: u32| Diversity::Recursive {
            c: C::new(c).unwrap(),
            l: L::new(l).unwrap(),
        };
        assert!(!holds(recursive(2.0, 2), &[4, 1, 1]));
        assert!(holds(recursive(2.000_000_001, 2), &[4, 1, 1]));
        assert!(!holds(recursive(9.0, 4), &[4, 1, 1]));
        assert_eq!(figure(recursive(9.0, 4), &[4, 1, 1]), None);
    }
}
