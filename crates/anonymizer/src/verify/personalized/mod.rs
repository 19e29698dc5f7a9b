//! The rules of engine `personalized`, which publishes one table, `microdata`:
//! one row a record, with generalized quasi-identifiers and a generalized
//! sensitive value.
//!
//! Order as in `lgb`: the checks that read raw columns and counts come first
//! and always speak. The rest need a [`View`]; where none exists, each
//! guarantee is entered as not examined, which does not hold.
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
use super::claims::claims_match_policy;
use super::conservation::{every_record_once, exclusions_honoured, groups_numbered};
use super::coverage;
use super::evidence::Evidence;
use super::identifiers::no_source_identifier;
use super::k_anonymity::{LargestK, k_anonymity};
use super::meaning::MeaningColumn;
use super::order::canonical_order;
use super::shape::{self, MICRODATA};
use super::signature::{Signatures, Subjects};
use super::verdict::{Check, Section, Verdict};
use super::view::{AttributeView, View};
use crate::microdata::{RecordIndex, Role};
use crate::privacy::{Model, Recoding};
use crate::release::Content;

/// Verifies a release by the rules of `personalized`; `None` if the policy's
/// model is another.
pub(super) fn verify_personalized(evidence: &Evidence) -> Option<Verdict> {
    let Model::Personalized { recoding, .. } = evidence.requirements.policy().model else {
        return None;
    };
    let schema = evidence.table.schema();
    let expected = shape::expected_microdata(schema, Content::Generalized);
    let mut checks = vec![
        shape::tables_and_columns(evidence, &expected),
        claims_match_policy(evidence),
        every_record_once(evidence, MICRODATA),
        // With one record a subject, a subject's position is the record's.
        exclusions_honoured(evidence, MICRODATA, |subject| Some(RecordIndex(subject.0))),
        no_source_identifier(evidence),
    ];
    evidence.cancel.heed();
    checks.extend(canonical_order(evidence));
    let view = View::of(evidence, &expected);
    let shown = view.as_ref().is_some_and(|view| {
        let sensitive = view.protected().next();
        let found = sensitive.map(|(_, sensitive)| with_view(view, sensitive, recoding));
        let is_found = found.is_some();
        checks.extend(found.into_iter().flatten());
        is_found
    });
    if !shown {
        checks.extend(guarantees_not_examined(evidence));
    }
    Some(Verdict { checks })
}

fn with_view(view: &View, sensitive: &AttributeView, recoding: Recoding) -> Vec<Check> {
    let quasi = view.attributes.iter();
    let quasi = quasi.filter(|attribute| attribute.role == Role::QuasiIdentifier);
    let columns: Vec<&MeaningColumn> = quasi.map(|attribute| &attribute.cells).collect();
    let subjects = Subjects {
        of_row: &view.records,
        number: view.table.records(),
    };
    let looks = Signatures::of_columns(view.group, &columns, subjects);
    let mut checks: Vec<Check> = groups_numbered(view.group, &looks).into();
    view.cancel.heed();
    checks.extend(coverage::cells(view, &looks));
    let published = Published::of(view, sensitive, &looks);
    view.cancel.heed();
    checks.push(cut::values_under_their_node(view, sensitive, &published));
    if recoding == Recoding::GroupCut {
        view.cancel.heed();
        checks.push(cut::nodes_do_not_overlap(view, &looks, &published));
    }
    let policy = view.requirements.policy();
    let largest_k = LargestK::of(&looks, policy.k.get(), |row| {
        let terms = view.terms(row)?;
        let bound = terms.max_share.first()?;
        Some(terms.k.max(bound.reciprocal_ceiling()))
    });
    view.cancel.heed();
    checks.push(k_anonymity(view.group, &looks, &largest_k));
    view.cancel.heed();
    checks.push(leakage::max_leakage(view, &looks, &published));
    view.cancel.heed();
    checks.push(linkage(view.group, &looks, &largest_k));
    view.cancel.heed();
    checks.push(compared(view, sensitive, (&looks, &published)));
    if recoding == Recoding::Paper {
        view.cancel.heed();
        checks.push(collision::collision(view, &looks, &published));
    }
    checks
}

/// The attack `equal_vectors`: people with the same quasi-identifiers in groups
/// that look different, over the leaves of what these show. A figure: what is
/// bounded is each subject's leakage in their own group.
fn compared(
    view: &View,
    sensitive: &AttributeView,
    (looks, published): (&Signatures, &Published),
) -> Check {
    let own = view.own(sensitive);
    let l = vec![1; view.rows()];
    let standing = Standing {
        vector: &view.known(|attribute| attribute.role == Role::QuasiIdentifier),
        own: &own,
        class: &looks.class_of_row,
        l: &l,
        home: None,
        shown: &|class, to| {
            // Ascending by first leaf: what stands before `next` is there.
            let mut next = 0;
            for &((first, last), _) in &published.of_class[class as usize] {
                to.extend(first.max(next)..=last);
                next = next.max(last + 1);
            }
        },
        codes: sensitive.domain.len(),
    };
    equal_vectors(sensitive.name, &standing, false)
}

/// Entries for the guarantees that the table is too broken to show.
fn guarantees_not_examined(evidence: &Evidence) -> Vec<Check> {
    let policy = evidence.requirements.policy();
    let check = |kind, claimed| Check::not_examined(Section::Guarantee, kind).claiming(claimed);
    let mut checks = vec![check("k_anonymity", f64::from(policy.k.get()))];
    let names = policy.protections.iter();
    let names = names.map(|&(index, _)| &evidence.table.schema().attribute(index).name);
    checks.extend(names.map(|name| check("max_leakage", 1.0).about(name)));
    checks
}
