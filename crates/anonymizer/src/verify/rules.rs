//! What every release must be, whatever its family, and how a family adds its
//! own rules.
//!
//! A family says which tables a release has and whom their rows are about. The
//! checks of that are made here for all families: tables and columns, claims,
//! each subject once, exclusions, identifiers, order. They read raw columns
//! and counts, so they always speak. The family's own checks need a view of
//! the tables. A guarantee that they say nothing of, because the tables are too
//! broken or the family forgot it, is not examined, which does not hold.

use std::sync::Arc;

use crate::microdata::{RecordIndex, SubjectIndex, SubjectRecords};

use super::claims::{claims_match_policy, must_be_shown};
use super::conservation::{every_record_once, exclusions_honoured};
use super::evidence::Evidence;
use super::identifiers::no_source_identifier;
use super::order::canonical_order;
use super::persons::every_subject_once;
use super::portions;
use super::shape::{ExpectedTable, MICRODATA, PERSONS, tables_and_columns};
use super::verdict::Check;

/// Whom the rows of a release are about.
pub(super) enum Rows {
    /// Each row of the table with this name is about a record, the only one of
    /// its subject.
    Records(&'static str),
    /// Each row of `persons` is about a subject with many records.
    Subjects(Arc<SubjectRecords>),
}

/// The own checks of a family, given the tables that a release must have.
enum Own<'e> {
    /// Of the whole release.
    Whole(Box<OfWholeRelease<'e>>),
    /// Of the whole, or of one portion of it after the other.
    Portions(Box<OfPortion<'e>>),
}

type OfWholeRelease<'e> = dyn FnOnce(&[ExpectedTable]) -> Vec<Check> + Send + 'e;
type OfPortion<'e> = dyn Fn(&Evidence, &[ExpectedTable]) -> Vec<Check> + Send + 'e;

/// The rules that one release is held to.
pub(super) struct Rules<'e> {
    expected: Vec<ExpectedTable>,
    rows: Rows,
    declared: Option<Check>,
    own: Own<'e>,
    last: Option<Check>,
}

impl<'e> Rules<'e> {
    /// Rules of a release with these tables and rows; `own` makes the family's
    /// own checks.
    pub(super) fn new(
        expected: Vec<ExpectedTable>,
        rows: Rows,
        own: impl FnOnce(&[ExpectedTable]) -> Vec<Check> + Send + 'e,
    ) -> Self {
        Self {
            expected,
            rows,
            declared: None,
            own: Own::Whole(Box::new(own)),
            last: None,
        }
    }

    /// Rules of a release with a row a record; `own` makes the family's own checks of
    /// the whole or of a portion, whichever it is given.
    pub(super) fn by_portions(
        expected: Vec<ExpectedTable>,
        own: impl Fn(&Evidence, &[ExpectedTable]) -> Vec<Check> + Send + 'e,
    ) -> Self {
        Self {
            own: Own::Portions(Box::new(own)),
            ..Self::new(expected, Rows::Records(MICRODATA), |_| Vec::new())
        }
    }

    /// The same, with the check of a table that says what others are.
    pub(super) fn declaring(self, check: Check) -> Self {
        Self {
            declared: Some(check),
            ..self
        }
    }

    /// The same, with one more check at the end.
    pub(super) fn ending(self, last: Option<Check>) -> Self {
        Self { last, ..self }
    }

    /// All checks: those of every release first.
    pub(super) fn checks(self, evidence: &Evidence) -> Vec<Check> {
        let Self {
            expected,
            rows,
            declared,
            own,
            last,
        } = self;
        let (mut checks, own) = evidence.join(
            || of_every_release(evidence, &expected, &rows, declared),
            || match own {
                Own::Whole(own) => own(&expected),
                Own::Portions(own) => {
                    portions::checks(evidence, &|portion| own(portion, &expected))
                }
            },
        );
        let unsaid = not_examined(evidence, &own);
        checks.extend(own.into_iter().chain(unsaid).chain(last));
        checks
    }
}

/// Entries for the guarantees of the policy that no check speaks of.
fn not_examined(evidence: &Evidence, checks: &[Check]) -> Vec<Check> {
    let policy = evidence.requirements.ordered();
    let wanted = must_be_shown(evidence.table.schema(), policy);
    let is_said = |wanted: &Check| {
        let mut checks = checks.iter();
        checks.any(|check| (check.kind, &check.attribute) == (wanted.kind, &wanted.attribute))
    };
    wanted
        .into_iter()
        .filter(|wanted| !is_said(wanted))
        .collect()
}

fn of_every_release(
    evidence: &Evidence,
    expected: &[ExpectedTable],
    rows: &Rows,
    declared: Option<Check>,
) -> Vec<Check> {
    let mut checks = vec![
        tables_and_columns(evidence, expected),
        claims_match_policy(evidence),
    ];
    checks.extend(declared);
    checks.extend(match rows {
        Rows::Records(table) => [
            every_record_once(evidence, table),
            // With one record a subject, a subject's position is the record's.
            exclusions_honoured(evidence, table, |subject| Some(RecordIndex(subject.0))),
        ],
        Rows::Subjects(records) => [
            every_subject_once(evidence),
            exclusions_honoured(evidence, PERSONS, |subject: SubjectIndex| {
                let known = subject.at() < records.subjects();
                let records = known.then(|| records.of_subject(subject))?;
                records.first().copied()
            }),
        ],
    });
    checks.push(no_source_identifier(evidence));
    evidence.cancel.heed();
    checks.extend(canonical_order(evidence));
    checks
}
