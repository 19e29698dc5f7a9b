//! Errors of the layers below, as problems.
//!
//! A failure of the store says to the client only whether to come again; the
//! log gets the rest.

use std::time::Duration;

use chrono::SecondsFormat;
use vizard_anonymizer::microdata::{CellErrorCode, TableError};

use super::problem::{Problem, ProblemKind};
use crate::config::{Limit, Limits};
use crate::job::JobFailure;
use crate::store::{
    Conflict, REIDENTIFICATIONS_A_DAY_MAX, StoreError, WEBHOOKS_MAX, WEBHOOKS_OF_DATASET_MAX,
};

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { what } => Self::not_found(what),
            StoreError::Conflict(conflict) => Self::from(conflict),
            StoreError::Driver(_) if error.is_disk_full() => {
                Self::new(ProblemKind::StoreFull, "nothing was kept of this request")
            }
            StoreError::Driver(_) => {
                tracing::warn!(%error, "the store failed");
                Self::new(ProblemKind::Unavailable, "the store does not answer")
            }
            StoreError::LeaseLost | StoreError::Inconsistent { .. } => {
                tracing::error!(%error, "the store answered what it never should");
                Self::internal()
            }
        }
    }
}

impl From<Conflict> for Problem {
    fn from(conflict: Conflict) -> Self {
        match conflict {
            Conflict::VersionMoved => Self::new(
                ProblemKind::VersionMoved,
                "another change of the dataset was faster; nothing was kept of this one",
            ),
            Conflict::KeyRules => Self::new(
                ProblemKind::SchemaUnfit,
                "the datasets of the population normalize subject keys by other rules, so that one \
                 person would have two keys: name theirs in subject_key_normalization ([] where \
                 their schemas have none)",
            ),
            Conflict::PreconditionFailed => Self::new(
                ProblemKind::PreconditionFailed,
                "read it again, and decide again",
            ),
            Conflict::ReservationLost => Self::new(
                ProblemKind::IdempotencyInProgress,
                "another request took the key over; nothing was kept of this one",
            ),
            Conflict::QueueFull => Self::new(
                ProblemKind::QueueFull,
                "the dataset has as many queued jobs as it may have",
            ),
            Conflict::ReleaseState => {
                Self::new(ProblemKind::ReleaseState, "the release was withdrawn")
            }
            Conflict::SeriesMoved => Self::new(
                ProblemKind::SeriesMoved,
                "another release of the same people became public meanwhile; publish again to have \
                 them compared",
            ),
            Conflict::SecondSteward => Self::new(
                ProblemKind::SecondSteward,
                "you approved this draft; another steward publishes it",
            ),
            Conflict::OwnQuestion => Self::new(
                ProblemKind::SecondSteward,
                "you asked for this re-identification; another steward confirms or refuses it, and \
                 DELETE takes it back",
            ),
            Conflict::ForeignQuestion => Self::new(
                ProblemKind::SecondSteward,
                "another steward asked for this re-identification and may take it back; you refuse it",
            ),
            Conflict::Decided => Self::new(
                ProblemKind::ReleaseState,
                "the re-identification is not pending any more; read it, and ask anew where it is \
                 still needed",
            ),
            other => past_conflict(other),
        }
    }
}

/// A conflict with how many there may be, or how often.
fn past_conflict(conflict: Conflict) -> Problem {
    match conflict {
        Conflict::WebhooksFull => {
            let (name, unit) = ("webhooks_max", "webhooks");
            let value = WEBHOOKS_MAX;
            Problem::past(Limit { name, value, unit })
        }
        Conflict::WebhooksOfDatasetFull => {
            let (name, unit) = ("webhooks_of_dataset_max", "webhooks of a dataset");
            let value = WEBHOOKS_OF_DATASET_MAX;
            Problem::past(Limit { name, value, unit })
        }
        Conflict::SecretBefore { until, after_s } => {
            let until = until.to_rfc3339_opts(SecondsFormat::Secs, true);
            let detail = format!(
                "the secret before signs until {until}, so that receivers change over; to end \
                     both at once, delete the webhook and make another"
            );
            Problem::new(ProblemKind::TooManyRequests, detail)
                .with_retry_after(Duration::from_secs(after_s))
        }
        Conflict::TooManyReidentifications => {
            let detail = format!(
                "{REIDENTIFICATIONS_A_DAY_MAX} re-identifications of a dataset's releases may be \
                     asked for in 24 hours; those that were refused or taken back do not count"
            );
            Problem::new(ProblemKind::TooManyRequests, detail)
                .with_retry_after(Duration::from_secs(3_600))
        }
        // Ids are new random numbers: one that is taken is a fault of ours.
        _ => Problem::internal(),
    }
}

/// What is wrong with a body that is read as a table, preferences or a
/// hierarchy; `misfit` is the kind of problem for what does not fit.
pub fn table_problem(error: &TableError, misfit: ProblemKind) -> Problem {
    match error {
        TableError::Cells { .. } => Problem::new(misfit, error.to_string()).with_errors(error),
        &TableError::PastLimit { name, value, unit } => Problem::past(Limit { name, value, unit }),
        TableError::HierarchyUnknown(name) => {
            Problem::new(ProblemKind::HierarchyUnknown, error.to_string())
                .with_hierarchy(name.as_str())
        }
        TableError::Limit(_) => Problem::new(ProblemKind::LimitExceeded, error.to_string()),
        _ => Problem::new(misfit, error.to_string()),
    }
}

/// [`table_problem`] of what was read under limits: the detail names those
/// that lines were past.
pub fn limited_problem(error: &TableError, misfit: ProblemKind, limits: &Limits) -> Problem {
    let TableError::Cells { summary, .. } = error else {
        return table_problem(error, misfit);
    };
    let mut detail = error.to_string();
    for limit in line_limits(limits) {
        if summary.iter().any(|kind| kind.code == limit.0) {
            detail += &format!("; a limit is {}", limit.1);
        }
    }
    Problem::new(misfit, detail).with_errors(error)
}

/// The limits on lines, by the code of a line that is past one.
fn line_limits(limits: &Limits) -> [(CellErrorCode, Limit); 5] {
    [
        (CellErrorCode::TooManyRecords, limits.records_max()),
        (CellErrorCode::TooManyValues, limits.distinct_values_max()),
        (CellErrorCode::CellTooLong, limits.cell_bytes_max()),
        (CellErrorCode::RecordTooLong, limits.record_bytes_max()),
        (CellErrorCode::NestsTooDeep, limits.json_depth_max()),
    ]
}

impl From<JobFailure> for Problem {
    /// The problem of a job that was refused before it was queued.
    fn from(failure: JobFailure) -> Self {
        let document = failure.problem();
        let kind = ProblemKind::ALL
            .iter()
            .find(|kind| kind.slug() == failure.slug());
        let detail = document["detail"].as_str().unwrap_or_default();
        let problem = Self::new(kind.copied().unwrap_or(ProblemKind::Internal), detail);
        match failure {
            JobFailure::Engine(vizard_anonymizer::engine::EngineError::InvalidParameter {
                parameter,
                ..
            }) => problem.with_parameter(parameter),
            _ => problem,
        }
    }
}
