//! Every record once: each published row is about a subject of its own, what
//! is published and what is excluded make up the source, nobody who asked to
//! be left out is there, and nobody is left out who asked for nothing.

use super::evidence::Evidence;
use super::verdict::{Check, Failures, Place};
use crate::microdata::{Multiplicity, RecordIndex, Role, SubjectIndex, Table};
use crate::privacy::{Model, ProtectedIndex, Protection, RecordTerms, Requirements, Share};
use crate::release::rounded_to_tens;

/// `every_record_once`: the lineage gives each row of `table` a subject of its
/// own, and the manifest's counts of published and excluded records are right.
///
/// Needs no view: it speaks even where columns are missing.
pub(super) fn every_record_once(evidence: &Evidence, table: &str) -> Check {
    let mut failures = Failures::none();
    if evidence.table.schema().multiplicity() != Multiplicity::One {
        failures.add("the engine publishes one row a subject, and subjects have many records");
    }
    let rows = rows_of_their_own(evidence, table, &mut failures);
    if evidence.manifest.records != rows as u64 {
        failures.add("the manifest counts more or fewer records than are published");
    }
    excluded_are_the_rest(evidence, &mut failures);
    Check::structure("every_record_once", &failures)
}

/// People of a table: subjects where a subject has many records, else records.
pub(super) fn everyone(table: &Table) -> u64 {
    let people = match table.schema().multiplicity() {
        Multiplicity::One => table.records(),
        Multiplicity::Many => table.subjects(),
    };
    people as u64
}

/// The manifest counts those as excluded who are not published, in tens.
pub(super) fn excluded_are_the_rest(evidence: &Evidence, failures: &mut Failures) {
    let manifest = evidence.manifest;
    let rest = everyone(evidence.table).checked_sub(manifest.records);
    if rest.map(rounded_to_tens) != Some(manifest.excluded) {
        failures.add("published and excluded records are not those of the source");
    }
}

/// `exclusions_asked_for`: whoever is not published asked to be left out, or
/// asked for something beyond the job's floors, which could not be given.
/// Nobody else may be left out: absence would tell of their values.
///
/// Two kinds of policy leave out others too, and their manifests say so
/// (`release::statement`): where leakage is bounded for everyone, whoever's
/// value no group can keep; and where columns are permuted in buckets, whoever
/// meets a distribution that no longer holds once somebody has left for their
/// own terms.
pub(super) fn exclusions_asked_for(evidence: &Evidence) -> Check {
    let mut failures = Failures::none();
    let (table, requirements) = (evidence.table, evidence.requirements);
    let mut is_settled = vec![false; table.subjects()];
    let lineages = evidence.lineage.tables.iter();
    for subject in lineages.flat_map(|lineage| &lineage.subjects) {
        if let Some(settled) = is_settled.get_mut(subject.at()) {
            *settled = true;
        }
    }
    let terms = requirements.distinct_terms().iter();
    let asks: Vec<bool> = terms
        .map(|terms| asks_beyond_floors(table, requirements, terms))
        .collect();
    let (mut askers, mut others) = (0_u64, 0_u64);
    for record in 0..table.records().min(requirements.records()) {
        let record = RecordIndex::from_usize(record);
        let settled = &mut is_settled[table.subject_of(record).at()];
        if !std::mem::replace(settled, true) && !requirements.of(record).exclude {
            match asks[requirements.terms_of_record().at(record.at()) as usize] {
                true => askers += 1,
                false => others += 1,
            }
        }
    }
    if others > 0 && !others_may_leave(requirements, askers) {
        failures.add("a subject is left out who asked for nothing beyond the job's floors");
        failures.count = others;
    }
    Check::structure("exclusions_asked_for", &failures)
}

/// Whether subjects may be left out for their values, where so many leave for
/// their own terms.
fn others_may_leave(requirements: &Requirements, askers: u64) -> bool {
    let policy = requirements.policy();
    let mut protections = policy.protections.iter();
    let bounds_leakage = |protection: &Protection| matches!(protection, Protection::Leakage { max_leakage } if *max_leakage < Share::ALL);
    match policy.model {
        Model::Personalized { .. } => protections.any(|(_, protection)| bounds_leakage(protection)),
        Model::Sliced(_) => askers > 0,
        _ => false,
    }
}

/// Whether a subject asks for more than the job gives everyone.
fn asks_beyond_floors(table: &Table, requirements: &Requirements, terms: &RecordTerms) -> bool {
    let policy = requirements.policy();
    let k_floor = match policy.model {
        Model::Fingerprints { k_group, .. } => policy.k.get().min(k_group.get()),
        _ => policy.k.get(),
    };
    let asks_of = |index: ProtectedIndex| {
        let (own, at) = (&terms.own, index.at());
        let is_stricter = match requirements.protection(index) {
            Protection::Diversity { l, .. } => own.l[at] > l.get(),
            Protection::Closeness { max_posterior, .. } => own.share[at] < max_posterior,
            Protection::Leakage { max_leakage } => terms.max_share[at] < max_leakage,
            Protection::InGroup { .. } => own.l[at] > 1,
        };
        // Who decides whether a value is sensitive, and says so, asks for
        // something too.
        let role = table.schema().attribute(requirements.attribute(index)).role;
        is_stricter || role == Role::SemiSensitive && terms.flags.contains(index)
    };
    terms.own.k > k_floor || !terms.guard.is_empty() || requirements.protected().any(asks_of)
}

/// Number of rows of a table; rows that the lineage gives no subject of their
/// own are failures.
pub(super) fn rows_of_their_own(
    evidence: &Evidence,
    table: &str,
    failures: &mut Failures,
) -> usize {
    let rows = evidence.published(table).map_or(0, |table| table.rows());
    let subjects = evidence.lineage.of(table).unwrap_or_default();
    if subjects.len() != rows {
        failures.add("the lineage has more or fewer rows than the table");
    }
    if evidence.lineage.tables.len() > 1 {
        failures.add("the lineage names a table whose rows are nobody's");
    }
    let mut seen = vec![false; evidence.table.subjects()];
    for (row, subject) in subjects.iter().enumerate() {
        let new = seen
            .get_mut(subject.at())
            .is_some_and(|seen| !std::mem::replace(seen, true));
        if !new {
            failures.add_at(table, Place::Row(row as u64 + 1));
        }
    }
    rows
}

/// `exclusions_honoured`: no row is about a subject who asked to be left out.
///
/// `record_of` is a record of a subject, whose terms are the subject's.
pub(super) fn exclusions_honoured(
    evidence: &Evidence,
    table: &str,
    record_of: impl Fn(SubjectIndex) -> Option<RecordIndex>,
) -> Check {
    let mut failures = Failures::none();
    let requirements = evidence.requirements;
    let subjects = evidence.lineage.of(table).unwrap_or_default();
    for (row, &subject) in subjects.iter().enumerate() {
        let record = record_of(subject).filter(|record| record.at() < requirements.records());
        if record.is_some_and(|record| requirements.of(record).exclude) {
            failures.add_at(table, Place::Row(row as u64 + 1));
        }
    }
    Check::structure("exclusions_honoured", &failures)
}

/// `groups_numbered`: groups are numbered from 1 without gaps, and rows of
/// one group look the same (`groups_look_alike`).
pub(super) fn groups_numbered(group: &[u64], strangers: &[u32]) -> [Check; 2] {
    let mut numbered = Failures::none();
    let mut seen = vec![false; group.len() + 1];
    for (row, &number) in group.iter().enumerate() {
        match usize::try_from(number).ok().filter(|&number| number != 0) {
            Some(number) if number < seen.len() => seen[number] = true,
            _ => numbered.add_at("group", Place::Row(row as u64 + 1)),
        }
    }
    let last = seen.iter().rposition(|&seen| seen).unwrap_or(0);
    for gap in (1..last).filter(|&number| !seen[number]) {
        numbered.add_at("group", Place::Group(gap as u64));
    }
    let mut alike = Failures::none();
    for &row in strangers {
        alike.add_at("group", Place::Row(u64::from(row) + 1));
    }
    [
        Check::structure("groups_numbered", &numbered),
        Check::structure("groups_look_alike", &alike),
    ]
}
