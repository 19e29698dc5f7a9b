//! The rules of engine `lgb` (local generalization and bucketization), put
//! together: what its tables must look like, what they claim and attain.
//!
//! Where no [`View`] exists, or no buckets can be read, each guarantee is
//! entered as not examined, which does not hold.

use rayon::prelude::*;

use crate::privacy::Protection;

use super::attack::{
    Standing, equal_vectors, homogeneity, joint_knowledge, linkage, similarity, skewness,
};
use super::buckets::{self, Buckets};
use super::candidates::candidates_remain;
use super::closeness::t_closeness;
use super::conservation::groups_numbered;
use super::coverage;
use super::diversity::{l_diversity, min_spread};
use super::evidence::Evidence;
use super::k_anonymity::{LargestK, k_anonymity};
use super::leakage::max_leakage;
use super::links;
use super::membership::{self, Bucketized, Members};
use super::rules::{Rows, Rules};
use super::shape::{self, MICRODATA};
use super::signature::Signatures;
use super::verdict::{Check, Failures, Section};
use super::view::View;

/// The rules of `lgb`.
pub(super) fn rules<'e>(evidence: &'e Evidence<'e>) -> Rules<'e> {
    let links_groups = shape::links_groups(evidence);
    let expected = shape::expected(evidence.table.schema(), links_groups);
    Rules::new(expected, Rows::Records(MICRODATA), move |expected| {
        let mut checks = Vec::new();
        match View::of(evidence, expected) {
            Some(view) => with_view(evidence, &view, links_groups, &mut checks),
            None => checks.extend(guarantees_not_examined(evidence, true)),
        }
        checks
    })
}

/// What every release must be, and k-anonymity.
fn with_view(evidence: &Evidence, view: &View, links_groups: bool, checks: &mut Vec<Check>) {
    let signatures = Signatures::of(view);
    view.cancel.heed();
    checks.extend(groups_numbered(view.group, &signatures));
    view.cancel.heed();
    checks.extend(coverage::cells(view, &signatures));
    view.cancel.heed();
    checks.push(membership::flagged_cells(view));
    view.cancel.heed();
    checks.push(membership::unflagged_cells(view));
    view.cancel.heed();
    checks.push(membership::masks(view, &signatures));
    let largest_k = LargestK::of(&signatures, view.requirements.policy().k.get(), |row| {
        Some(view.terms(row)?.k)
    });
    view.cancel.heed();
    checks.push(k_anonymity(view.group, &signatures, &largest_k));
    view.cancel.heed();
    checks.push(linkage(view.group, &signatures, &largest_k));
    match read_buckets(evidence, view, links_groups, checks) {
        Some((buckets, members)) => {
            let parts = view.protected().zip(&buckets).zip(&members);
            let bucketized = parts.map(|(((index, attribute), buckets), members)| Bucketized {
                index,
                attribute,
                buckets,
                members,
            });
            let bucketized: Vec<_> = bucketized.collect();
            view.cancel.heed();
            checks.push(candidates_remain(view, &bucketized));
            view.cancel.heed();
            checks.push(max_leakage(view, &signatures, &bucketized));
            let parts = bucketized.par_iter();
            let parts: Vec<_> = parts
                .map(|parts| of_attribute(view, &signatures, parts))
                .collect();
            view.cancel.heed();
            checks.extend(parts.into_iter().flatten());
        }
        None => checks.extend(guarantees_not_examined(evidence, false)),
    }
}

/// The buckets and who is in them, with the checks of both.
fn read_buckets(
    evidence: &Evidence,
    view: &View,
    links_groups: bool,
    checks: &mut Vec<Check>,
) -> Option<(Vec<Buckets>, Vec<Members>)> {
    let (buckets, well_formed) = buckets::read(evidence, view)?;
    checks.push(well_formed);
    let (members, failures) = if links_groups {
        links::by_group(evidence, view, &buckets)?
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
fn of_attribute(view: &View, signatures: &Signatures, parts: &Bucketized) -> Vec<Check> {
    let mut checks = Vec::new();
    match view.requirements.protection(parts.index) {
        Protection::Diversity {
            l,
            min_spread: least,
        } => {
            view.cancel.heed();
            checks.push(l_diversity(view, l.get(), parts));
            view.cancel.heed();
            checks.extend(least.get().map(|least| min_spread(least, parts)));
        }
        Protection::Closeness { t, max_posterior } => {
            view.cancel.heed();
            checks.push(t_closeness(view, (t, max_posterior), parts));
        }
        // Not a protection of buckets: no rule shows that it holds.
        Protection::Leakage { .. } | Protection::InGroup { .. } => {
            let check = Check::not_examined(Section::Guarantee, "max_leakage");
            view.cancel.heed();
            checks.push(check.about(parts.attribute.name));
        }
    }
    view.cancel.heed();
    checks.extend([homogeneity(view, parts), similarity(parts), skewness(parts)]);
    view.cancel.heed();
    checks.extend(joint_knowledge(view, signatures, parts));
    view.cancel.heed();
    checks.push(compared(view, signatures, parts));
    checks
}

/// The attack `equal_vectors`: rows that look the same and name different
/// buckets. Bounded where they name them and l-diversity is claimed.
fn compared(view: &View, signatures: &Signatures, parts: &Bucketized) -> Check {
    let own = view.own(parts.attribute);
    let l = (0..view.rows()).map(|row| {
        let terms = view.terms(row);
        terms.map_or(1, |terms| terms.l[parts.index.at()])
    });
    let l: Vec<u32> = l.collect();
    let standing = Standing {
        vector: &signatures.class_of_row,
        own: &own,
        class: &parts.members.bucket_of_row,
        l: &l,
        home: None,
        shown: &|class, to| {
            let contents = parts.buckets.contents(class as usize).iter();
            to.extend(contents.map(|&(code, _)| code));
        },
        codes: parts.attribute.domain.len(),
    };
    let protection = view.requirements.protection(parts.index);
    let is_diverse = matches!(protection, Protection::Diversity { .. });
    let names_bucket = parts.attribute.bucket.is_some();
    equal_vectors(parts.attribute.name, &standing, is_diverse && names_bucket)
}

/// Entries for the guarantees that the tables are too broken to show.
fn guarantees_not_examined(evidence: &Evidence, with_k: bool) -> Vec<Check> {
    let policy = evidence.requirements.policy();
    let mut checks = Vec::new();
    if with_k {
        let k = f64::from(policy.k.get());
        checks.push(Check::not_examined(Section::Guarantee, "k_anonymity").claiming(k));
    }
    for &(index, protection) in &policy.protections {
        let name = &evidence.table.schema().attribute(index).name;
        let (kind, claimed) = match protection {
            Protection::Diversity { l, .. } => ("l_diversity", f64::from(l.get())),
            Protection::Closeness { t, .. } => ("t_closeness", t.get()),
            Protection::Leakage { max_leakage } => ("max_leakage", max_leakage.get()),
            Protection::InGroup { .. } => ("l_diversity", 1.0),
        };
        let check = Check::not_examined(Section::Guarantee, kind);
        checks.push(check.about(name).claiming(claimed));
    }
    checks.push(
        Check::not_examined(Section::Guarantee, "max_leakage")
            .about("*")
            .claiming(1.0),
    );
    checks
}
