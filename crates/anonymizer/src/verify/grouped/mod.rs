//! The rules of engine `mondrian`, which publishes one table, `microdata`: one
//! row a record, with a group, generalized quasi-identifiers and exact
//! sensitive values.
//!
//! What holds of groups must hold in both ways to see them ([`ways`]): by
//! published number, and by what the quasi-identifiers show. Which guarantees
//! there are is the policy's to say, never the manifest's:
//! `claims_match_policy` holds the manifest to the policy.

mod attacks;
mod closeness;
mod compared;
mod diversity;
mod exact;
mod leakage;
mod matching;
mod spread;
mod values;
mod ways;

use rayon::prelude::*;

use super::attack::linkage;
use super::conservation::groups_numbered;
use super::coverage;
use super::evidence::Evidence;
use super::k_anonymity::{LargestK, k_anonymity};
use super::meaning::MeaningColumn;
use super::rules::{Rows, Rules};
use super::shape::{self, MICRODATA};
use super::signature::{Signatures, Subjects};
use super::verdict::{Check, Section};
use super::view::View;
use crate::microdata::Role;
use crate::privacy::{Diversity, Protection};
use crate::release::Content;

use self::values::Values;

/// The rules of `mondrian`.
pub(super) fn rules<'e>(evidence: &'e Evidence<'e>) -> Rules<'e> {
    let expected = shape::expected_microdata(evidence.table.schema(), Content::Exact);
    Rules::new(expected.into(), Rows::Records(MICRODATA), |expected| {
        let view = View::of(evidence, expected);
        let checks = view.map(|view| with_view(&view));
        checks.unwrap_or_else(|| guarantees_not_examined(evidence))
    })
}

fn with_view(view: &View) -> Vec<Check> {
    let quasi = view.attributes.iter();
    let quasi = quasi.filter(|attribute| attribute.role == Role::QuasiIdentifier);
    let columns: Vec<&MeaningColumn> = quasi.map(|attribute| &attribute.cells).collect();
    let subjects = Subjects {
        of_row: &view.records,
        number: view.table.records(),
    };
    let (groups, looks) = rayon::join(
        || Signatures::of_groups(view.group, subjects),
        || Signatures::of_columns(view.group, &columns, subjects),
    );
    let mut checks = Vec::new();
    view.cancel.heed();
    checks.extend(groups_numbered(view.group, &looks));
    let (cells, exact) = rayon::join(
        || coverage::cells(view, &looks),
        || exact::sensitive_exact(view),
    );
    view.cancel.heed();
    checks.extend(cells);
    view.cancel.heed();
    checks.push(exact);
    // Where no two groups look the same, both ways to see them are one.
    let same = looks.strangers.is_empty() && looks.len() == groups.len();
    let ways: Vec<&Signatures> = match same {
        true => vec![&looks],
        false => vec![&looks, &groups],
    };
    view.cancel.heed();
    checks.extend(sizes(view, &ways));
    let attributes: Vec<_> = view.protected().collect();
    let attributes = attributes.into_par_iter();
    let values: Vec<Vec<Values>> = attributes
        .map(|(index, attribute)| {
            let ways = ways.iter();
            ways.map(|&classes| Values::of(view, (index, attribute), classes))
                .collect()
        })
        .collect();
    view.cancel.heed();
    checks.push(leakage::max_leakage(view, &ways, &values));
    let parts = values.par_iter();
    let parts: Vec<_> = parts
        .map(|values| of_attribute(view, values, &looks))
        .collect();
    view.cancel.heed();
    checks.extend(parts.into_iter().flatten());
    checks
}

/// `k_anonymity` and the linkage attack on it, by the worse way.
fn sizes(view: &View, ways: &[&Signatures]) -> Vec<Check> {
    let floor = view.requirements.policy().k.get();
    let both = ways.iter().map(|classes| {
        let largest_k = LargestK::of(classes, floor, |row| Some(view.terms(row)?.k));
        (
            k_anonymity(view.group, classes, &largest_k),
            linkage(view.group, classes, &largest_k),
        )
    });
    let (sizes, risks): (Vec<Check>, Vec<Check>) = both.unzip();
    let size = ways::worst(sizes, ways::Worse::Less);
    let risk = ways::worst(risks, ways::Worse::More);
    size.into_iter().chain(risk).collect()
}

/// The guarantees of one attribute, seen in either way, and the attacks on
/// what looks the same.
fn of_attribute(view: &View, ways: &[Values], looks: &Signatures) -> Vec<Check> {
    let Some(seen) = ways.first() else {
        return Vec::new();
    };
    let mut checks = Vec::new();
    let mut bound = None;
    if let Protection::InGroup {
        diversity,
        closeness,
        min_spread,
    } = view.requirements.protection(seen.index)
    {
        bound = closeness;
        view.cancel.heed();
        checks.extend(diversity.and_then(|kind| diversity::diversity(view, kind, ways)));
        view.cancel.heed();
        checks.extend(
            min_spread
                .get()
                .and_then(|least| spread::min_spread(view, least, ways)),
        );
        view.cancel.heed();
        checks.extend(closeness.and_then(|t| closeness::t_closeness(view, t, ways)));
    }
    view.cancel.heed();
    checks.extend(attacks::attacks(view, bound, seen));
    view.cancel.heed();
    checks.push(matching::matching_groups(view, seen, looks));
    view.cancel.heed();
    checks.push(compared::equal_vectors(view, seen, looks));
    checks
}

/// Name of the guarantee that values are diverse, and what it claims.
fn diversity_claim(diversity: Diversity) -> (&'static str, f64) {
    let l = f64::from(diversity.l().get());
    match diversity {
        Diversity::Distinct(_) => ("distinct_l_diversity", l),
        Diversity::Entropy(_) => ("entropy_l_diversity", l),
        Diversity::Recursive { c, .. } => ("recursive_l_diversity", c.get()),
    }
}

/// Entries for the guarantees that the tables are too broken to show.
fn guarantees_not_examined(evidence: &Evidence) -> Vec<Check> {
    let policy = evidence.requirements.policy();
    let check = |kind, claimed| Check::not_examined(Section::Guarantee, kind).claiming(claimed);
    let mut checks = vec![check("k_anonymity", f64::from(policy.k.get()))];
    for &(index, protection) in &policy.protections {
        let name = &evidence.table.schema().attribute(index).name;
        if let Protection::InGroup {
            diversity,
            closeness,
            min_spread,
        } = protection
        {
            checks.extend(diversity.map(|kind| {
                let (kind, claimed) = diversity_claim(kind);
                check(kind, claimed).about(name)
            }));
            let least = min_spread.get();
            checks.extend(least.map(|least| check("min_spread", least).about(name)));
            checks.extend(closeness.map(|t| check("t_closeness", t.get()).about(name)));
        }
    }
    checks.push(check("max_leakage", 1.0).about("*"));
    checks
}
