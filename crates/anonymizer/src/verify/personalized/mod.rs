//! The rules of engine `personalized`, which publishes one table, `microdata`:
//! one row a record, with generalized quasi-identifiers and a generalized
//! sensitive value.
//!
//! Groups are what looks the same on the quasi-identifiers, whatever their
//! numbers. How values were generalized is the policy's to say, never the
//! manifest's.

mod collision;
mod cut;
mod guards;
mod leakage;
mod needless;
mod published;

pub(super) use self::needless::without_need;
use self::published::Published;
use super::attack::{Standing, equal_vectors, linkage};
use super::conservation::groups_numbered;
use super::coverage;
use super::equivalence::EquivalenceClasses;
use super::evidence::Evidence;
use super::k_anonymity::{LargestK, k_anonymity};
use super::rules::Rules;
use super::shape;
use super::verdict::Check;
use super::view::{AttributeView, View};
use crate::microdata::Role;
use crate::privacy::Recoding;
use crate::release::Content;

/// The rules of `personalized`.
pub(super) fn rules<'e>(evidence: &'e Evidence<'e>, recoding: Recoding) -> Rules<'e> {
    let schema = evidence.table.schema();
    let expected = shape::expected_microdata(schema, Content::Generalized);
    Rules::by_portions(expected.into(), move |evidence, expected| {
        let checks = View::of(evidence, expected).and_then(|view| {
            let (_, sensitive) = view.protected().next()?;
            Some(with_view(&view, sensitive, recoding))
        });
        checks.unwrap_or_default()
    })
}

fn with_view(view: &View, sensitive: &AttributeView, recoding: Recoding) -> Vec<Check> {
    let alike = EquivalenceClasses::of_quasi_identifiers(view);
    let mut checks: Vec<Check> = groups_numbered(view.group, &alike).into();
    view.cancel.heed();
    checks.extend(coverage::cells(view, &alike));
    let published = Published::of(view, sensitive, &alike);
    view.cancel.heed();
    checks.push(cut::values_under_their_node(view, sensitive, &published));
    if recoding == Recoding::GroupCut {
        view.cancel.heed();
        checks.push(cut::nodes_do_not_overlap(view, &alike, &published));
    }
    let policy = view.requirements.policy();
    let largest_k = LargestK::of(&alike, policy.k.get(), |row| {
        let terms = view.terms(row)?;
        let bound = terms.max_share.first()?;
        Some(terms.k.max(bound.reciprocal_ceiling()))
    });
    view.cancel.heed();
    checks.push(k_anonymity(view.group, &alike, &largest_k));
    view.cancel.heed();
    checks.push(leakage::max_leakage(view, &alike, &published));
    view.cancel.heed();
    checks.push(linkage(view.group, &alike, &largest_k));
    view.cancel.heed();
    checks.push(compared(view, sensitive, (&alike, &published)));
    if recoding == Recoding::Paper {
        view.cancel.heed();
        checks.push(collision::collision(view, &alike, &published));
    }
    checks
}

/// The attack `equal_vectors`: people with the same quasi-identifiers in groups
/// that look different, over the leaves of what these show. A figure: what is
/// bounded is each subject's leakage in their own group.
fn compared(
    view: &View,
    sensitive: &AttributeView,
    (alike, published): (&EquivalenceClasses, &Published),
) -> Check {
    let own = view.own(sensitive);
    let standing = Standing {
        vector: &view.known(|attribute| attribute.role == Role::QuasiIdentifier),
        own: &own,
        class: alike.of_rows(),
        l: None,
        home: None,
        shown: Box::new(|class, to| {
            // Ascending by first leaf: what stands before `next` is there.
            let mut next = 0;
            for &((first, last), _) in &published.of_class[class as usize] {
                to.extend(first.max(next)..=last);
                next = next.max(last + 1);
            }
        }),
        codes: sensitive.domain.len(),
    };
    equal_vectors(sensitive.name, &standing, false)
}
