//! The rules of engine `mondrian`, which publishes one table, `microdata`: one
//! row a record, with a group, generalized quasi-identifiers and exact
//! sensitive values.
//!
//! What holds of groups must hold in both ways to see them ([`ways`](crate::verify::ways)): by
//! published number, and by what the quasi-identifiers show. Which guarantees
//! there are is the policy's to say, never the manifest's:
//! `claims_match_policy` holds the manifest to the policy.

mod diversity;
mod exact;
mod leakage;
mod matching;
mod values;

use rayon::prelude::*;

use super::attack::{self, Standing, linkage};
use super::classes::Classes;
use super::closeness::Distances;
use super::conservation::groups_of_cohorts;
use super::coverage;
use super::diversity::min_spread;
use super::equivalence::{EquivalenceClasses, Subjects, number_of_groups};
use super::evidence::Evidence;
use super::k_anonymity::{LargestK, k_anonymity};
use super::rules::Rules;
use super::shape;
use super::verdict::Check;
use super::view::View;
use super::ways::{Worse, worst};
use crate::microdata::{AttributeIndex, Role};
use crate::privacy::{Diversity, InGroup, T};
use crate::release::Content;

use self::values::Values;

/// The rules of `mondrian`.
pub(super) fn rules<'e>(
    evidence: &'e Evidence<'e>,
    protections: &'e [(AttributeIndex, InGroup)],
) -> Rules<'e> {
    let expected = shape::expected_microdata(evidence.table.schema(), Content::Exact);
    Rules::by_portions(expected.into(), move |evidence, expected| {
        let view = View::of(evidence, expected);
        view.map_or_else(Vec::new, |view| with_view(&view, protections))
    })
}

fn with_view(view: &View, protections: &[(AttributeIndex, InGroup)]) -> Vec<Check> {
    let alike = EquivalenceClasses::of_quasi_identifiers(view);
    let mut checks = Vec::new();
    view.cancel.heed();
    let groups_kept = view.requirements.groups_shown_again();
    let kept = |row: u32| groups_kept?.class(view.records[row as usize]);
    checks.extend(groups_of_cohorts(view.group, &alike, &kept));
    let (cells, exact) = rayon::join(
        || coverage::cells(view, &alike),
        || exact::sensitive_exact(view),
    );
    view.cancel.heed();
    checks.extend(cells);
    view.cancel.heed();
    checks.push(exact);
    // Where all groups can be told apart, both ways to see them are one.
    let same = alike.mismatched.is_empty() && alike.len() == number_of_groups(view.group);
    let groups = (!same).then(|| EquivalenceClasses::of_groups(view.group, Subjects::of(view)));
    let ways: Vec<&EquivalenceClasses> = std::iter::once(&alike).chain(&groups).collect();
    view.cancel.heed();
    checks.extend(sizes(view, &ways));
    let attributes: Vec<_> = view.protected().collect();
    let attributes = attributes.into_par_iter();
    let values: Vec<Vec<Values>> = attributes
        .map(|protected| {
            let ways = ways.iter();
            ways.map(|&members| Values::of(view, protected, members))
                .collect()
        })
        .collect();
    let classes = values.iter().map(|ways| ways.iter().map(Values::classes));
    let classes: Vec<Vec<Classes>> = classes.map(Iterator::collect).collect();
    view.cancel.heed();
    checks.push(leakage::max_leakage(view, &ways, &classes));
    let parts = values.par_iter().zip(&classes);
    let parts: Vec<_> = parts
        .map(|(values, classes)| {
            let protection = protections[classes[0].index.at()].1;
            of_attribute(view, (protection, values, classes), &alike)
        })
        .collect();
    view.cancel.heed();
    checks.extend(parts.into_iter().flatten());
    checks
}

/// `k_anonymity` and the linkage attack on it, by the worse way.
fn sizes(view: &View, ways: &[&EquivalenceClasses]) -> Vec<Check> {
    let floor = view.requirements.policy().k.get();
    let both = ways.iter().map(|classes| {
        let largest_k = LargestK::of(classes, floor, |row| Some(view.terms(row)?.k));
        (
            k_anonymity(view.group, classes, &largest_k),
            linkage(view.group, classes, &largest_k),
        )
    });
    let (sizes, risks): (Vec<Check>, Vec<Check>) = both.unzip();
    let size = worst(sizes, Worse::Less);
    let risk = worst(risks, Worse::More);
    size.into_iter().chain(risk).collect()
}

/// The guarantees of one attribute, seen in either way, and the attacks on
/// rows that cannot be told apart.
fn of_attribute(
    view: &View,
    (protection, values, ways): (InGroup, &[Values], &[Classes]),
    alike: &EquivalenceClasses,
) -> Vec<Check> {
    let (Some(values), Some(seen)) = (values.first(), ways.first()) else {
        return Vec::new();
    };
    let mut checks = Vec::new();
    let InGroup {
        diversity,
        closeness,
        min_spread,
    } = protection;
    view.cancel.heed();
    checks.extend(diversity.and_then(|kind| diversity::diversity(kind, ways)));
    view.cancel.heed();
    let least = min_spread.get();
    checks.extend(least.and_then(|least| spread(least, ways)));
    view.cancel.heed();
    checks.extend(closeness.and_then(|t| t_closeness(t, ways)));
    view.cancel.heed();
    checks.extend(attacks(seen, closeness));
    view.cancel.heed();
    checks.push(matching::matching_groups(view, values, alike));
    view.cancel.heed();
    checks.push(compared(view, values));
    checks
}

/// `min_spread` of groups with a known value ((k, e)-anonymity, Zhang et al.
/// 2007): one without says nothing of anybody.
fn spread(claimed: f64, ways: &[Classes]) -> Option<Check> {
    let of_way = |classes: &Classes| min_spread(classes, claimed, classes.with_known_values());
    worst(ways.iter().map(of_way).collect(), Worse::Less)
}

/// `t_closeness` of groups: attained is the largest distance from the values of
/// the whole published table.
fn t_closeness(t: T, ways: &[Classes]) -> Option<Check> {
    let of_way = |classes: &Classes| {
        let distances = Distances::of(classes, t);
        let beyond = distances.beyond();
        let first = distances.is_beyond.iter().position(|&beyond| beyond);
        let worst = distances.farthest.map(|(_, class)| class).or(first);
        distances
            .check(classes, t, worst)
            .holding(beyond == 0)
            .with_figure("groups", classes.len() as f64)
            .with_figure("groups_beyond_t", beyond as f64)
    };
    worst(ways.iter().map(of_way).collect(), Worse::More)
}

/// The attacks on the values of single groups. Diversity and each subject's own
/// terms have checks of their own, so only skewness is bounded here.
fn attacks(classes: &Classes, bound: Option<T>) -> [Check; 3] {
    let entries = [
        attack::homogeneity(classes),
        attack::similarity(classes),
        attack::skewness(classes),
    ];
    let [homogeneity, similarity, skewness] = entries.map(|found| {
        let mean = found.mean.unwrap_or(0.0);
        found.check.with_figure("mean", mean)
    });
    let skewness = match bound {
        Some(t) => {
            let is_close = Distances::of(classes, t).beyond() == 0;
            skewness.claiming(t.get()).holding(is_close)
        }
        None => skewness,
    };
    [homogeneity, similarity, skewness]
}

/// The attack `equal_vectors` on groups: people with the same quasi-identifiers
/// in rows that read differently. A figure without a bound: diversity of values
/// does not bound the share of one.
fn compared(view: &View, values: &Values) -> Check {
    let own = view.own(values.attribute);
    let vector = view.known(|attribute| attribute.role == Role::QuasiIdentifier);
    let standing = Standing::of(values.classes(), &vector, &own);
    attack::equal_vectors(values.attribute.name, &standing, false)
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
