//! The rules of rings (`ng`): rows of a group cover several of its records,
//! and show the value of one of them.
//!
//! - `ring_diversity`: each record is covered by rows of its own group with at
//!   least L different values, L the strictest of the group; and no value is
//!   in more than 1 in L rows of a group, which is all that is left to an
//!   adversary who knows no more than a target's group.
//! - `max_leakage`: each subject's own l in the same two ways, and as many
//!   covering rows as their own k.
//!
//! - `ring_as_drawn` (`drawn`): each group stands in the ring, and with the
//!   shift, that the seed of the run draws. No table shows the shift; that each
//!   of the candidate values is equally likely rests on it.

mod drawn;

use rayon::prelude::*;

use crate::microdata::Role;
use crate::privacy::{ProtectedIndex, Seed};

use super::floor;
use super::rows::{Ways, cover, largest_count, sensitive_exact};
use crate::verify::leakage::{Ratio, Worst};
use crate::verify::verdict::{Check, Place, Section};
use crate::verify::view::{AttributeView, View};

/// Adds the checks of rings.
pub(super) fn verify(
    view: &View,
    ways: &Ways,
    seed: &Seed,
    (worst, checks): (&mut Worst, &mut Vec<Check>),
) {
    checks.extend(cover(view, false));
    checks.push(sensitive_exact(view));
    checks.push(drawn::ring_as_drawn(view, &ways.groups, seed));
    for (index, attribute) in view.protected() {
        checks.push(ring_diversity(view, ways, (index, attribute), worst));
    }
}

/// What covers one record: rows, and different values in them.
struct Candidates {
    row: u32,
    rows: u64,
    values: u64,
}

fn ring_diversity(
    view: &View,
    ways: &Ways,
    (index, attribute): (ProtectedIndex, &AttributeView),
    worst: &mut Worst,
) -> Check {
    let of_known = |l: u32| view.requirements.l_of_known(index, l);
    let claimed = of_known(floor(view.requirements, index));
    let missing = attribute.domain.missing().map(|code| code.0);
    let groups = 0..ways.groups.len();
    let found: Vec<Vec<Candidates>> = groups
        .into_par_iter()
        .map(|group| candidates(view, (index, attribute), ways.groups.rows(group)))
        .collect();
    let mut attained: Option<(bool, u64, u64)> = None;
    let mut short = 0_u64;
    for (group, candidates) in found.iter().enumerate() {
        let rows = ways.groups.rows(group);
        let asked = rows.iter();
        let asked = asked.filter_map(|&row| Some(view.terms(row as usize)?.l[index.at()]));
        let demanded = asked.max().map_or(1, of_known).max(claimed);
        let number = ways.groups.group_number(view.group, group);
        let known = rows.iter().copied();
        let known: Vec<u32> = known
            .filter(|&row| {
                missing.is_none() || attribute.cells.meaning(row as usize).single() != missing
            })
            .collect();
        let share = Ratio {
            attained: u128::from(largest_count(attribute, &known)) * u128::from(demanded),
            accepted: known.len() as u128,
            place: Place::Group(number),
        };
        let is_frequent = share.attained > share.accepted;
        if !known.is_empty() {
            worst.take(share);
        }
        let least = candidates.iter().map(|one| one.values).min().unwrap_or(0);
        // An l of 1 asks for nothing: records may be covered by missing values alone.
        let is_short = demanded > 1 && (is_frequent || least < u64::from(demanded));
        short += u64::from(is_short);
        let entry = (!is_short, least, number);
        attained = Some(attained.map_or(entry, |known| known.min(entry)));
        for one in candidates {
            if let Some(terms) = view.terms(one.row as usize) {
                let place = Place::Row(u64::from(one.row) + 1);
                let mut take = |asked: u32, has: u64| {
                    worst.take(Ratio {
                        attained: u128::from(asked),
                        accepted: u128::from(has),
                        place,
                    });
                };
                take(terms.k, one.rows);
                let l = of_known(terms.l[index.at()]);
                if l > 1 {
                    take(l, one.values);
                }
            }
        }
    }
    Check::new(Section::Guarantee, "ring_diversity")
        .about(attribute.name)
        .claiming(f64::from(claimed))
        .attaining(
            attained.map(|(_, values, _)| values as f64),
            attained.map(|(.., number)| Place::Group(number)),
        )
        .holding(short == 0)
        .with_figure("groups_below_l", short as f64)
        .noting("least number of different values in the rows of a group that cover a record, counted up to what its members ask for")
}

/// The rows of a group that cover each of its records. A look ends as soon as
/// a record has as many rows and values as anyone of the group asks for: large
/// groups have many more, and to find all of them takes the square of their
/// size.
fn candidates(
    view: &View,
    (index, attribute): (ProtectedIndex, &AttributeView),
    rows: &[u32],
) -> Vec<Candidates> {
    let quasi = view.attributes.iter();
    let quasi: Vec<&AttributeView> = quasi
        .filter(|attribute| attribute.role == Role::QuasiIdentifier)
        .collect();
    let asked = rows.iter();
    let asked = asked.filter_map(|&row| view.terms(row as usize));
    let missing = attribute.domain.missing().map(|code| code.0);
    let (mut k, mut l) = (1_u64, u64::from(floor(view.requirements, index)));
    for terms in asked {
        k = k.max(u64::from(terms.k));
        l = l.max(u64::from(terms.l[index.at()]));
    }
    let mut codes = Vec::with_capacity(quasi.len());
    let mut shown: Vec<u32> = Vec::new();
    let records = rows.iter().map(|&row| {
        codes.clear();
        codes.extend(quasi.iter().map(|quasi| view.source(quasi, row as usize)));
        shown.clear();
        let mut number = 0;
        for &other in rows {
            let mut cells = quasi.iter().zip(&codes);
            let covers = cells.all(|(quasi, code)| {
                code.is_some_and(|code| quasi.cells.meaning(other as usize).covers(code))
            });
            if !covers {
                continue;
            }
            number += 1;
            let value = attribute.cells.meaning(other as usize).single();
            let value = value.filter(|&value| Some(value) != missing);
            shown.extend(value.filter(|value| !shown.contains(value)));
            if number >= k && shown.len() as u64 >= l {
                break;
            }
        }
        Candidates {
            row,
            rows: number,
            values: shown.len() as u64,
        }
    });
    records.collect()
}
