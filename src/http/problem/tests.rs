//! The list of problems: no word twice, and every failure of a job in it.

use super::*;
use crate::job::JobFailure;
use vizard_anonymizer::engine::{EngineError, Infeasible};
use vizard_anonymizer::release::Unkept;

#[test]
fn every_slug_is_named_once() {
    let mut slugs: Vec<_> = ProblemKind::ALL.iter().map(|kind| kind.slug()).collect();
    slugs.sort_unstable();
    slugs.dedup();
    assert_eq!(slugs.len(), ProblemKind::ALL.len());
}

#[test]
fn every_failure_of_a_job_is_a_kind_with_the_same_title_and_status() {
    let infeasible = Infeasible {
        instead: None,
        attribute: None,
        parameter: "l",
        condition: String::new(),
        strongest: String::new(),
        strongest_value: None,
    };
    let parameter = EngineError::InvalidParameter {
        parameter: "k".into(),
        reason: String::new(),
    };
    let failures = [
        JobFailure::Engine(infeasible.into()),
        JobFailure::Engine(parameter),
        JobFailure::Misfit {
            parameter: "k".into(),
        },
        JobFailure::Engine(EngineError::LimitExceeded(String::new())),
        JobFailure::Engine(EngineError::Cancelled),
        JobFailure::Input(TableError::Chunk(String::new())),
        JobFailure::VerificationFailed { checks: Vec::new() },
        JobFailure::NothingNew,
        JobFailure::SeriesUnknown,
        JobFailure::SeriesUnsafe(Unkept {
            attribute: "illness".into(),
            reason: "a public release shows it otherwise than in buckets of rows",
        }),
        JobFailure::AttemptsExhausted,
        JobFailure::Internal,
    ];
    for failure in failures {
        let kind = ProblemKind::ALL
            .iter()
            .find(|kind| kind.slug() == failure.slug())
            .unwrap_or_else(|| panic!("{} is not in the list", failure.slug()));
        let problem = failure.problem();
        assert_eq!(problem["status"], kind.status().as_u16());
        assert_eq!(problem["type"], kind.urn());
    }
}
