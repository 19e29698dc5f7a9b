//! The rules of engines `one_to_many` and `rmr`, which publish one table,
//! `persons`: one row a subject of 1:M data, with a group, generalized
//! quasi-identifiers and generalized fingerprints (sets of sensitive values).
//!
//! Order as in `lgb`: the checks that read raw columns and counts come first
//! and always speak. The rest need a [`view::PersonsView`]; where none exists,
//! each guarantee is entered as not examined, which does not hold.
//!
//! Which guarantees there are is the policy's to say ([`Model`]), never the
//! manifest's: `claims_match_policy` holds the manifest to the policy.

mod conservation;
mod coverage;
mod diversity;
mod fingerprints;
mod items;
mod km;
mod leakage;
mod partition;
mod source;
mod values;
mod view;

#[cfg(test)]
mod tests;

use crate::microdata::{AttributeIndex, Role, Schema, SubjectRecords};
use crate::privacy::{L, Model, QidConflict};

pub(super) use self::items::item_is_known;
use self::partition::Partition;
use self::view::PersonsView;
use super::attack::linkage;
use super::claims::{claims_match_policy, fingerprint_l};
use super::conservation::{exclusions_honoured, groups_numbered};
use super::evidence::Evidence;
use super::identifiers::no_source_identifier;
use super::k_anonymity::{LargestK, k_anonymity};
use super::meaning::MeaningColumn;
use super::order::canonical_order;
use super::shape::{self, PERSONS};
use super::signature::Signatures;
use super::verdict::{Check, Section, Verdict};

/// What the policy asks of groups and fingerprints.
#[derive(Clone, Copy, Debug)]
enum Rules {
    Fingerprints { k_group: u32, value_l: L },
    Itemsets { m: u32 },
}

/// Verifies a release by the rules of `one_to_many` or `rmr`, whichever the
/// policy's model belongs to; `None` if it belongs to neither.
pub(super) fn verify_persons(evidence: &Evidence) -> Option<Verdict> {
    let (rules, rule) = rules(evidence)?;
    let expected = shape::expected_persons(evidence.table.schema());
    let records = SubjectRecords::of(evidence.table);
    let mut checks = vec![
        shape::tables_and_columns(evidence, &expected),
        claims_match_policy(evidence),
        conservation::every_subject_once(evidence),
        exclusions_honoured(evidence, PERSONS, |subject| {
            let known = subject.at() < records.subjects();
            let records = known.then(|| records.of_subject(subject))?;
            records.first().copied()
        }),
        no_source_identifier(evidence),
    ];
    evidence.cancel.heed();
    checks.extend(canonical_order(evidence));
    let view = expected
        .first()
        .and_then(|expected| PersonsView::of(evidence, expected, rule, &records));
    match view {
        Some(view) => with_view(&view, rules, &mut checks),
        None => checks.extend(guarantees_not_examined(evidence, rules)),
    }
    Some(Verdict { checks })
}

/// Names of the attributes in the table, in schema order.
fn published_attributes(schema: &Schema) -> Vec<AttributeIndex> {
    schema.select(|attribute| matches!(attribute.role, Role::QuasiIdentifier | Role::Sensitive))
}

fn rules(evidence: &Evidence) -> Option<(Rules, QidConflict)> {
    match evidence.requirements.policy().model {
        Model::Fingerprints {
            k_group,
            value_l,
            qid_conflict,
        } => {
            let k_group = k_group.get();
            Some((Rules::Fingerprints { k_group, value_l }, qid_conflict))
        }
        Model::Itemsets { m, qid_conflict } => Some((Rules::Itemsets { m }, qid_conflict)),
        _ => None,
    }
}

fn with_view(view: &PersonsView, rules: Rules, checks: &mut Vec<Check>) {
    let columns: Vec<&MeaningColumn> = view.quasi.iter().map(|quasi| &quasi.cells).collect();
    let groups = Signatures::of_groups(view.group, view.subjects());
    let looks = Signatures::of_columns(view.group, &columns, view.subjects());
    view.cancel.heed();
    checks.extend(groups_numbered(view.group, &looks));
    view.cancel.heed();
    checks.extend(coverage::cells(view, &groups));
    view.cancel.heed();
    checks.extend(fingerprints::fingerprints(view));
    // Where no two groups look the same, both ways to see them are one.
    let same = looks.strangers.is_empty() && looks.len() == groups.len();
    let ways = match same {
        true => vec![&groups],
        false => vec![&groups, &looks],
    };
    let partitions: Vec<Partition> = ways
        .into_iter()
        .map(|classes| Partition::of(view, classes))
        .collect();
    let policy = view.requirements.policy();
    let k = policy.k.get();
    let k_floor = match rules {
        Rules::Fingerprints { k_group, .. } => k_group,
        Rules::Itemsets { .. } => k,
    };
    view.cancel.heed();
    checks.extend(sizes(view, &partitions, k_floor));
    let claim = match rules {
        Rules::Fingerprints { value_l, .. } => value_l.get(),
        Rules::Itemsets { .. } => 1,
    };
    let shares = values::shares(view, &partitions, claim);
    match rules {
        Rules::Fingerprints { value_l, .. } => {
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
        Rules::Itemsets { m } => {
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
    let worst_size = partition::least(sizes.into_iter());
    // Of a risk the largest is the worst.
    let worst_risk = risks.into_iter().min_by(|a, b| {
        let figure = |check: &Check| check.attained.unwrap_or(0.0);
        a.holds.cmp(&b.holds).then(figure(b).total_cmp(&figure(a)))
    });
    worst_size.into_iter().chain(worst_risk).collect()
}

/// Entries for the guarantees that the table is too broken to show.
fn guarantees_not_examined(evidence: &Evidence, rules: Rules) -> Vec<Check> {
    let policy = evidence.requirements.policy();
    let check = |kind, claimed: u32| {
        Check::not_examined(Section::Guarantee, kind).claiming(f64::from(claimed))
    };
    let k = policy.k.get();
    let mut checks = match rules {
        Rules::Fingerprints { k_group, value_l } => {
            let mut checks = vec![
                check("k_anonymity", k_group),
                check("fingerprint_k", k),
                check("l_diversity", fingerprint_l(policy)).about("*"),
            ];
            checks.extend((value_l > L::NONE).then(|| check("value_l", value_l.get())));
            checks
        }
        Rules::Itemsets { .. } => vec![check("k_anonymity", k), check("km_anonymity", k)],
    };
    checks.push(check("max_leakage", 1).about("*"));
    checks
}
