//! Whether everyone together is a group that holds; if not, the answer: which
//! condition failed, and the strongest parameter with which it holds.
//!
//! Every condition of a job holds for a union of groups for which it holds,
//! so where everyone together fails, no partition succeeds, and where they
//! hold there is one. What is named was tried on those who are left.

use crate::engine::error::Infeasible;
use crate::engine::kernel::Included;
use crate::engine::kernel::diversity::{entropy, is_diverse};
use crate::engine::kernel::feasibility::{OverBudget, instead_of_l, name_of, too_narrow};
use crate::engine::kernel::included::SensitiveColumn;
use crate::privacy::{C, Diversity, L, Protection, Share};

/// Why there is no release with these records; `excluded` subjects who did
/// not opt out are not among them.
pub(super) fn infeasible(
    included: &Included<'_>,
    excluded: usize,
    max_excluded: f64,
) -> Option<Infeasible> {
    let left = included.records.len();
    if let Err(over) = OverBudget::check(excluded, left + excluded, max_excluded) {
        return Some(over.infeasible());
    }
    let k = included.requirements.policy().k.get();
    if k as usize > left {
        let condition = format!("k={k} needs as many records; there are {left}");
        let strongest = (left > 0).then_some(left as f64);
        return Some(Infeasible::at_most("k", strongest, condition));
    }
    let mut attributes = included.sensitive.iter();
    attributes.find_map(|sensitive| {
        not_diverse(included, sensitive).or_else(|| too_narrow(included, sensitive))
    })
}

fn not_diverse(included: &Included<'_>, attribute: &SensitiveColumn<'_>) -> Option<Infeasible> {
    let protection = included.requirements.protection(attribute.index);
    let Protection::InGroup {
        diversity: Some(diversity),
        ..
    } = protection
    else {
        return None;
    };
    let mut counts = vec![0_u64; attribute.column.domain.len()];
    for &record in &included.records {
        counts[attribute.column.codes.at(record as usize) as usize] += 1;
    }
    if let Some(missing) = attribute.column.domain.missing() {
        counts[missing.at()] = 0;
    }
    counts.retain(|&count| count > 0);
    if counts.is_empty() || is_diverse(diversity, &mut counts) {
        return None;
    }
    counts.sort_unstable_by(|one, other| other.cmp(one));
    let name = name_of(included.table, attribute.attribute);
    let condition = format!("{name}: {}", condition(diversity, &counts));
    let strongest_l = strongest_l(diversity, &mut counts);
    let answer = match (strongest_l, weaker_c(diversity, &counts)) {
        (Some(l), Some(c)) => Infeasible::at_most("l", Some(f64::from(l)), condition)
            .strongest_with(&format!(", or c ≥ {c},")),
        (None, Some(c)) => Infeasible::at_least("c", Some(c), condition),
        (l, None) => Infeasible::at_most("l", l.map(f64::from), condition),
    };
    let records = included.records.iter().copied();
    let instead = instead_of_l(attribute.column, records, diversity.l().get());
    Some(answer.of(name).or_instead(instead))
}

/// The largest smaller l that holds for these counts.
fn strongest_l(diversity: Diversity, counts: &mut [u64]) -> Option<u32> {
    let top = (diversity.l().get() - 1).min(counts.len() as u32);
    (1..=top).rev().find(|&l| {
        let with = L::new(l).map(|l| match diversity {
            Diversity::Distinct(_) => Diversity::Distinct(l),
            Diversity::Entropy(_) => Diversity::Entropy(l),
            Diversity::Recursive { c, .. } => Diversity::Recursive { c, l },
        });
        with.is_ok_and(|diversity| is_diverse(diversity, counts))
    })
}

/// The smallest c that holds for these descending counts, in parts per
/// billion.
fn weaker_c(diversity: Diversity, counts: &[u64]) -> Option<f64> {
    let Diversity::Recursive { l, .. } = diversity else {
        return None;
    };
    let rest: u64 = counts.get(l.get() as usize - 1..)?.iter().sum();
    let most = u128::from(*counts.first()?);
    let parts = most * u128::from(Share::WHOLE_PARTS) / u128::from(rest.max(1)) + 1;
    let c = C::new(parts as f64 / Share::WHOLE_PARTS as f64).ok()?;
    (rest > 0 && c.exceeds(*counts.first()?, rest)).then(|| c.get())
}

/// What failed, in counts that descend.
fn condition(diversity: Diversity, counts: &[u64]) -> String {
    let (l, values) = (diversity.l().get(), counts.len());
    match diversity {
        Diversity::Distinct(_) => format!("l={l} needs {l} different values; there are {values}"),
        Diversity::Entropy(_) => format!(
            "l={l} needs as much entropy as {l} values of one frequency; all records together \
             have that of {:.3}",
            entropy(counts).exp()
        ),
        Diversity::Recursive { c, .. } => {
            let rest = counts.get(l as usize - 1..).unwrap_or_default();
            format!(
                "l={l} with c={} needs the most frequent value, in {} records, to occur less than \
                 c times as often as all from number {l} on, in {}",
                c.get(),
                counts.first().copied().unwrap_or(0),
                rest.iter().sum::<u64>()
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weaker_c_is_the_least_that_holds() {
        let l = L::new(2).unwrap();
        let recursive = |c| Diversity::Recursive {
            c: C::new(c).unwrap(),
            l,
        };
        let c = weaker_c(recursive(1.0), &[10, 3]).unwrap();
        assert!((c - 3.333_333_334).abs() < 1e-12);
        assert!(is_diverse(recursive(c), &mut [10, 3]));
        assert!(!is_diverse(recursive(c - 1e-9), &mut [10, 3]));
        assert_eq!(weaker_c(recursive(1.0), &[10]), None);
    }

    #[test]
    fn the_strongest_l_holds_and_the_next_does_not() {
        let entropy = |l| Diversity::Entropy(L::new(l).unwrap());
        assert_eq!(strongest_l(entropy(9), &mut [1, 1, 1, 1]), Some(4));
        assert_eq!(strongest_l(entropy(4), &mut [8, 1, 1, 1]), Some(2));
        let recursive = Diversity::Recursive {
            c: C::new(0.5).unwrap(),
            l: L::new(3).unwrap(),
        };
        assert_eq!(strongest_l(recursive, &mut [5, 1, 1]), None);
    }
}
