//! Whether everyone together is a group that holds; if not, the answer: which
//! condition failed, and the strongest parameter with which it holds.
//!
//! Every condition of a job holds for a union of groups for which it holds,
//! so where everyone together fails, no partition succeeds, and where they
//! hold there is one. What is named was tried on those who are left.

use crate::engine::error::Infeasible;
use crate::engine::kernel::Present;
use crate::engine::kernel::acceptance::{instead_of_l, over_budget, too_narrow};
use crate::engine::kernel::diversity::{entropy, is_diverse};
use crate::engine::kernel::eligibility::is_within;
use crate::engine::kernel::known::known_ends;
use crate::engine::kernel::present::SensitiveColumn;
use crate::microdata::Code;
use crate::privacy::{C, Diversity, L, Protection, Share};

/// Why there is no release with these records present; `left_out` of those
/// who did not opt out had to leave.
pub(super) fn refusal(
    present: &Present<'_>,
    left_out: usize,
    max_excluded: f64,
) -> Option<Infeasible> {
    let of = (present.records.len() + left_out) as u64;
    let needed = left_out as u64;
    if !is_within(needed, of, max_excluded) {
        return Some(over_budget(needed, of));
    }
    let (k, left) = (present.requirements.policy().k.get(), present.records.len());
    if (k as usize) > left {
        return Some(too_few(k, left));
    }
    let mut attributes = present.sensitive.iter();
    attributes.find_map(|attribute| {
        not_diverse(present, attribute).or_else(|| not_spread(present, attribute))
    })
}

fn not_spread(present: &Present<'_>, attribute: &SensitiveColumn<'_>) -> Option<Infeasible> {
    let protection = present.requirements.protection(attribute.index);
    let wanted = protection.min_spread()?;
    let domain = &attribute.column.domain;
    let codes = present.records.iter();
    let codes = codes.map(|&record| attribute.column.codes.at(record as usize));
    let (low, high) = known_ends(codes, domain.missing().map(|code| code.0))?;
    let widest = domain.number(Code(high)) - domain.number(Code(low));
    let schema = present.table.schema();
    let name = schema.attribute(attribute.attribute).name.clone();
    (widest < wanted).then(|| too_narrow(name, wanted, widest))
}

fn too_few(k: u32, left: usize) -> Infeasible {
    Infeasible {
        instead: None,
        attribute: None,
        parameter: "k",
        condition: format!("k={k} needs as many records; there are {left}"),
        strongest: match left {
            0 => "no k".into(),
            _ => format!("k ≤ {left}"),
        },
        strongest_value: (left > 0).then_some(left as f64),
    }
}

fn not_diverse(present: &Present<'_>, attribute: &SensitiveColumn<'_>) -> Option<Infeasible> {
    let protection = present.requirements.protection(attribute.index);
    let Protection::InGroup {
        diversity: Some(diversity),
        ..
    } = protection
    else {
        return None;
    };
    let mut counts = vec![0_u64; attribute.column.domain.len()];
    for &record in &present.records {
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
    let name = present
        .table
        .schema()
        .attribute(attribute.attribute)
        .name
        .clone();
    let strongest_l = strongest_l(diversity, &mut counts);
    let weaker_c = weaker_c(diversity, &counts);
    let (parameter, value) = match (strongest_l, weaker_c) {
        (Some(l), _) => ("l", Some(f64::from(l))),
        (None, Some(c)) => ("c", Some(c)),
        (None, None) => ("l", None),
    };
    let records = present.records.iter().copied();
    Some(Infeasible {
        instead: instead_of_l(attribute.column, records, diversity.l().get()),
        parameter,
        condition: format!("{name}: {}", condition(diversity, &counts)),
        strongest: match (strongest_l, weaker_c) {
            (Some(l), Some(c)) => format!("l ≤ {l}, or c ≥ {c},"),
            (Some(l), None) => format!("l ≤ {l}"),
            (None, Some(c)) => format!("c ≥ {c}"),
            (None, None) => "no l".into(),
        },
        strongest_value: value,
        attribute: Some(name),
    })
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
