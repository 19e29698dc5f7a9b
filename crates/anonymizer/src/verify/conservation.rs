//! Every record once: each published row is about a subject of its own, what
//! is published and what is excluded make up the source, and nobody who asked
//! to be left out is there.

use super::equivalence::EquivalenceClasses;
use super::evidence::Evidence;
use super::verdict::{Check, Failures, Place};
use crate::microdata::{Multiplicity, RecordIndex, SubjectIndex, Table};
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

/// `groups_numbered`: groups are numbered from 1 without gaps.
/// `groups_look_alike`: rows of one group look the same, and rows that look
/// the same are of one group: two numbers would tell them apart.
pub(super) fn groups_numbered(group: &[u64], alike: &EquivalenceClasses) -> [Check; 2] {
    groups_of_cohorts(group, alike, &|_| None)
}

/// The same where a series keeps groups, `kept` of each row: those who are new
/// stand in groups of their own, also where these look like public ones.
pub(super) fn groups_of_cohorts(
    group: &[u64],
    alike: &EquivalenceClasses,
    kept: &dyn Fn(u32) -> Option<usize>,
) -> [Check; 2] {
    let [numbered, mut differing] = rows_numbered(group, &alike.mismatched);
    // The number of each cohort of one look; there is mostly one.
    let mut known: Vec<(Option<usize>, u64)> = Vec::new();
    for class in 0..alike.len() {
        known.clear();
        let rows = alike.rows(class).iter();
        let other = rows.filter(|&&row| {
            let (cohort, number) = (kept(row), group[row as usize]);
            match known.iter().find(|(known, _)| *known == cohort) {
                Some(&(_, known)) => known != number,
                None => {
                    known.push((cohort, number));
                    false
                }
            }
        });
        // Strangers may share a look with another group, and are named above.
        for &row in other.filter(|row| alike.mismatched.binary_search(row).is_err()) {
            differing.add_at("group", Place::Row(u64::from(row) + 1));
        }
    }
    [
        Check::structure("groups_numbered", &numbered),
        Check::structure("groups_look_alike", &differing),
    ]
}

/// As [`groups_numbered`] where rows that look the same may be of several
/// blocks.
pub(super) fn blocks_numbered(group: &[u64], mismatched: &[u32]) -> [Check; 2] {
    let [numbered, differing] = rows_numbered(group, mismatched);
    [
        Check::structure("groups_numbered", &numbered),
        Check::structure("groups_look_alike", &differing),
    ]
}

fn rows_numbered(group: &[u64], mismatched: &[u32]) -> [Failures; 2] {
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
    let mut differing = Failures::none();
    for &row in mismatched {
        differing.add_at("group", Place::Row(u64::from(row) + 1));
    }
    [numbered, differing]
}
