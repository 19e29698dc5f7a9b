//! The rules of engines `one_to_many` and `rmr`, which publish one table,
//! `persons`: one row a subject of 1:M data, with a group, generalized
//! quasi-identifiers and generalized fingerprints (sets of sensitive values).
//!
//! Which guarantees there are is the policy's to say ([`Model`]), never the
//! manifest's: `claims_match_policy` holds the manifest to the policy.

mod conservation;
mod coverage;
mod diversity;
mod fingerprints;
mod items;
mod km;
mod known_items;
mod leakage;
mod partition;
mod source;
mod values;
mod view;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::microdata::{AttributeIndex, Role, Schema, SubjectRecords};
use crate::privacy::{L, Model, QidConflict};

pub(super) use self::conservation::every_subject_once;
pub(super) use self::items::item_is_known;
use self::partition::Partition;
use self::view::PersonsView;
use super::attack::linkage;
use super::claims::fingerprint_l;
use super::conservation::groups_numbered;
use super::equivalence::EquivalenceClasses;
use super::evidence::Evidence;
use super::k_anonymity::{LargestK, k_anonymity};
use super::meaning::MeaningColumn;
use super::rules::{Rows, Rules};
use super::shape;
use super::verdict::Check;
use super::ways::{Worse, worst};

/// What the policy asks of groups and fingerprints.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Fingerprints { k_group: u32, value_l: L },
    Itemsets { m: u32 },
}

/// The rules of `one_to_many` or `rmr`, whichever the policy's model belongs
/// to; `None` if it belongs to neither.
pub(super) fn rules<'e>(evidence: &'e Evidence<'e>) -> Option<Rules<'e>> {
    let (asked, rule) = asked(evidence)?;
    let expected = shape::expected_persons(evidence.table.schema());
    let records = Arc::new(SubjectRecords::of(evidence.table));
    let rows = Rows::Subjects(Arc::clone(&records));
    Some(Rules::new(expected.into(), rows, move |expected| {
        let mut checks = Vec::new();
        let table = expected.first();
        if let Some(view) = table.and_then(|table| PersonsView::of(evidence, table, rule, &records))
        {
            with_view(&view, asked, &mut checks);
        }
        checks
    }))
}

/// Names of the attributes in the table, in schema order.
fn published_attributes(schema: &Schema) -> Vec<AttributeIndex> {
    schema.select(|attribute| matches!(attribute.role, Role::QuasiIdentifier | Role::Sensitive))
}

fn asked(evidence: &Evidence) -> Option<(Asked, QidConflict)> {
    match evidence.requirements.policy().model {
        Model::Fingerprints {
            k_group,
            value_l,
            qid_conflict,
            ..
        } => {
            let k_group = k_group.get();
            Some((Asked::Fingerprints { k_group, value_l }, qid_conflict))
        }
        Model::Itemsets {
            m, qid_conflict, ..
        } => Some((Asked::Itemsets { m }, qid_conflict)),
        _ => None,
    }
}

fn with_view(view: &PersonsView, asked: Asked, checks: &mut Vec<Check>) {
    let columns: Vec<&MeaningColumn> = view.quasi.iter().map(|quasi| &quasi.cells).collect();
    let groups = EquivalenceClasses::of_groups(view.group, view.subjects());
    let alike = EquivalenceClasses::of_columns(view.group, &columns, view.subjects());
    view.cancel.heed();
    checks.extend(groups_numbered(view.group, &alike));
    view.cancel.heed();
    checks.extend(coverage::cells(view, &groups));
    view.cancel.heed();
    checks.extend(fingerprints::fingerprints(view));
    // Where all groups can be told apart, both ways to see them are one.
    let same = alike.mismatched.is_empty() && alike.len() == groups.len();
    let ways = if same {
        vec![&groups]
    } else {
        vec![&groups, &alike]
    };
    let partitions: Vec<Partition> = ways
        .into_iter()
        .map(|classes| Partition::of(view, classes))
        .collect();
    let policy = view.requirements.policy();
    let k = policy.k.get();
    let k_floor = match asked {
        Asked::Fingerprints { k_group, .. } => k_group,
        Asked::Itemsets { .. } => k,
    };
    view.cancel.heed();
    checks.extend(sizes(view, &partitions, k_floor));
    let claim = match asked {
        Asked::Fingerprints { value_l, .. } => value_l.get(),
        Asked::Itemsets { .. } => 1,
    };
    let shares = values::shares(view, &partitions, claim);
    match asked {
        Asked::Fingerprints { value_l, .. } => {
            let sharers = diversity::sharers(view);
            view.cancel.heed();
            checks.push(diversity::fingerprint_k(view, &sharers));
            let l = fingerprint_l(policy);
            view.cancel.heed();
            checks.push(diversity::l_diversity(
                view,
                &partitions,
                l,
                fingerprint_l(view.requirements.ordered()),
            ));
            if value_l > L::NONE {
                view.cancel.heed();
                checks.push(values::value_l(&shares, value_l.get()));
            }
            let worst = Default::default();
            view.cancel.heed();
            checks.push(leakage::max_leakage(
                view,
                &partitions,
                Some(&sharers),
                worst,
            ));
        }
        Asked::Itemsets { m } => {
            let mut combinations = km::Combinations::of(view, &partitions, (k, m));
            view.cancel.heed();
            checks.push(combinations.km_anonymity());
            let worst = combinations.own_terms();
            view.cancel.heed();
            checks.push(leakage::max_leakage(view, &partitions, None, worst));
        }
    }
    view.cancel.heed();
    checks.extend(values::value_shares(view, &partitions, &shares));
    checks.extend(known_items::known_items(view, &partitions, k_floor));
}

/// `k_anonymity` and the linkage attack on it, by the worst partition.
fn sizes(view: &PersonsView, partitions: &[Partition], floor: u32) -> Vec<Check> {
    let both = partitions.iter().map(|partition| {
        let asked = |row: usize| Some(view.terms(row)?.own.k);
        let largest_k = LargestK::of(partition.classes, floor, asked);
        (
            k_anonymity(view.group, partition.classes, &largest_k),
            linkage(view.group, partition.classes, &largest_k),
        )
    });
    let (sizes, risks): (Vec<Check>, Vec<Check>) = both.unzip();
    let worst_size = worst(sizes, Worse::Less);
    let worst_risk = worst(risks, Worse::More);
    worst_size.into_iter().chain(worst_risk).collect()
}
