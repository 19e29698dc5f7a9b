//! The rules of bucketized releases (engine `lgb`, local generalization and
//! bucketization): what their tables must be, what they claim and attain.
//!
//! Where no [`View`] exists, or no buckets can be read, the guarantees are not
//! examined (`rules`).

mod candidates;
mod closeness;
mod joint;
mod leakage;
mod links;
mod membership;

use rayon::prelude::*;

use self::candidates::candidates_remain;
use self::closeness::t_closeness;
use self::joint::joint_knowledge;
use self::leakage::max_leakage;
use super::attack::{self, Standing, equal_vectors, linkage};
use super::buckets;
use super::classes::{Classes, Counts, Members, Numbering};
use super::conservation::groups_numbered;
use super::coverage;
use super::diversity::{self, Asked, Repeats, l_diversity, min_spread};
use super::equivalence::EquivalenceClasses;
use super::evidence::Evidence;
use super::k_anonymity::{LargestK, k_anonymity};
use super::rules::Rules;
use super::shape;
use super::verdict::{Check, Failures};
use super::view::{AttributeView, View};
use crate::microdata::{AttributeIndex, Role};
use crate::privacy::InBucket;

/// One attribute in its buckets.
pub(super) struct Bucketized<'a> {
    attribute: &'a AttributeView<'a>,
    protection: InBucket,
    classes: Classes<'a>,
}

/// What the job ordered of buckets.
#[derive(Clone, Copy)]
struct Order<'e> {
    /// The protection of each attribute, by its position.
    protections: &'e [(AttributeIndex, InBucket)],
    /// Whether groups name their buckets, not rows.
    links_groups: bool,
}

/// The rules of a bucketized release.
pub(super) fn rules<'e>(
    evidence: &'e Evidence<'e>,
    protections: &'e [(AttributeIndex, InBucket)],
) -> Rules<'e> {
    let links_groups = shape::links_groups(evidence);
    let expected = shape::expected(evidence.table.schema(), links_groups);
    let order = Order {
        protections,
        links_groups,
    };
    Rules::by_portions(expected, move |evidence, expected| {
        let mut checks = Vec::new();
        if let Some(view) = View::of(evidence, expected) {
            with_view(evidence, &view, order, &mut checks);
        }
        checks
    })
}

/// What every release must be, and k-anonymity.
fn with_view(evidence: &Evidence, view: &View, order: Order, checks: &mut Vec<Check>) {
    let alike = EquivalenceClasses::of_roles(view, |role| role != Role::Insensitive);
    view.cancel.heed();
    checks.extend(groups_numbered(view.group, &alike));
    view.cancel.heed();
    checks.extend(coverage::cells(view, &alike));
    view.cancel.heed();
    checks.push(membership::flagged_cells(view));
    view.cancel.heed();
    checks.push(membership::unflagged_cells(view));
    view.cancel.heed();
    checks.push(membership::masks(view, &alike));
    let largest_k = LargestK::of(&alike, view.requirements.policy().k.get(), |row| {
        Some(view.terms(row)?.k)
    });
    view.cancel.heed();
    checks.push(k_anonymity(view.group, &alike, &largest_k));
    view.cancel.heed();
    checks.push(linkage(view.group, &alike, &largest_k));
    let Some((counts, members)) = read_buckets(evidence, view, order, checks) else {
        return;
    };
    let parts = view.protected().zip(&counts).zip(&members);
    let bucketized = parts.map(|(((index, attribute), counts), members)| Bucketized {
        attribute,
        protection: order.protections[index.at()].1,
        classes: Classes {
            index,
            name: attribute.name,
            domain: attribute.domain,
            members,
            counts,
            numbering: Numbering::Buckets,
            of_all: view.whole.map(|whole| whole.published(index)),
        },
    });
    let bucketized: Vec<_> = bucketized.collect();
    view.cancel.heed();
    checks.push(candidates_remain(view, &bucketized));
    view.cancel.heed();
    checks.push(max_leakage(view, &alike, &bucketized));
    let parts = bucketized.par_iter();
    let parts: Vec<_> = parts
        .map(|parts| of_attribute(view, &alike, parts))
        .collect();
    view.cancel.heed();
    checks.extend(parts.into_iter().flatten());
}

/// The buckets and who is in them, with the checks of both.
fn read_buckets(
    evidence: &Evidence,
    view: &View,
    order: Order,
    checks: &mut Vec<Check>,
) -> Option<(Vec<Counts>, Vec<Members>)> {
    let (buckets, well_formed) = buckets::read(evidence, view)?;
    checks.push(well_formed);
    let (members, failures) = if order.links_groups {
        links::by_group(evidence, (view, order.protections), &buckets)?
    } else {
        let mut failures = Failures::none();
        let mut all = Vec::with_capacity(buckets.len());
        for ((_, attribute), buckets) in view.protected().zip(&buckets) {
            let (members, unknown) = membership::by_row(attribute, buckets, view.rows());
            failures = failures.and(unknown);
            all.push(members);
        }
        let wrong = membership::contents(view, &buckets, &all);
        (all, failures.and(wrong))
    };
    checks.push(Check::structure("bucket_contents_match", &failures));
    Some((buckets, members))
}

/// The guarantees of one attribute, and the attacks on its buckets.
fn of_attribute(view: &View, alike: &EquivalenceClasses, parts: &Bucketized) -> Vec<Check> {
    let mut checks = Vec::new();
    let classes = &parts.classes;
    match parts.protection {
        InBucket::Diversity {
            l,
            min_spread: least,
        } => {
            view.cancel.heed();
            let asked = Asked {
                requirements: view.requirements,
                l: l.get(),
                repeats: Repeats::Refused,
                of_row: &|row| Some(view.terms(row)?.l[classes.index.at()]),
            };
            checks.push(l_diversity(classes, &asked, diversity::BUCKETS));
            view.cancel.heed();
            let all = 0..classes.len();
            checks.extend(least.get().map(|least| min_spread(classes, least, all)));
        }
        InBucket::Closeness { t, max_posterior } => {
            view.cancel.heed();
            checks.push(t_closeness(view, (t, max_posterior), classes));
        }
    }
    view.cancel.heed();
    checks.push(homogeneity(parts));
    checks.push(attack::similarity(classes).with_mean());
    checks.push(attack::skewness(classes).with_mean());
    view.cancel.heed();
    checks.extend(joint_knowledge(view, alike, parts));
    view.cancel.heed();
    checks.push(compared(view, alike, parts));
    checks
}

/// The attack `homogeneity`, which the protection bounds.
fn homogeneity(parts: &Bucketized) -> Check {
    let classes = &parts.classes;
    let holds = (0..classes.len()).all(|class| {
        let (most, size) = classes.largest(class);
        match parts.protection {
            InBucket::Diversity { l, .. } => most * u64::from(l.get()) <= size,
            InBucket::Closeness { max_posterior, .. } => max_posterior.allows(most, size),
        }
    });
    let bound = match parts.protection {
        InBucket::Diversity { l, .. } => 1.0 / f64::from(l.get()),
        InBucket::Closeness { max_posterior, .. } => max_posterior.get(),
    };
    let found = attack::homogeneity(classes).with_mean();
    found.claiming(bound).holding(holds)
}

/// The attack `equal_vectors`: rows that cannot be told apart and name
/// different buckets. Bounded where they name them and l-diversity is claimed.
fn compared(view: &View, alike: &EquivalenceClasses, parts: &Bucketized) -> Check {
    let own = view.own(parts.attribute);
    let l = view.asked_l(parts.classes.index);
    let standing = Standing {
        l: Some(&l),
        ..Standing::of(parts.classes, alike.of_rows(), &own)
    };
    let is_diverse = matches!(parts.protection, InBucket::Diversity { .. });
    let names_bucket = parts.attribute.bucket.is_some();
    equal_vectors(parts.attribute.name, &standing, is_diverse && names_bucket)
}
