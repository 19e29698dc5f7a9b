//! Why a job failed, as the problem document that its view shows.
//!
//! The slugs are part of the API (docs/PROBLEMS.md); `http` names the same.

use serde_json::{Value, json};

use crate::catalog::ProduceError;
use crate::engine::EngineError;
use crate::microdata::TableError;

/// Why a job ended without a release, for good.
#[derive(Clone, Debug, PartialEq)]
pub enum JobFailure {
    /// The engine answered that the parameters cannot hold, or refused them.
    Engine(EngineError),
    /// The stored dataset cannot be read as its schema says.
    Input(TableError),
    /// The release did not pass the verifier; it was thrown away.
    VerificationFailed {
        /// Kinds of the checks that failed.
        checks: Vec<String>,
    },
    /// The job needs more memory than the service may use.
    TooLarge {
        /// Bytes it is estimated to need.
        needed_bytes: u64,
        /// Bytes that may be used.
        memory_bytes_max: u64,
    },
    /// The job killed its worker too often.
    AttemptsExhausted,
    /// A fault of the service; its log knows more under the job's id.
    Internal,
}

impl JobFailure {
    /// Last part of the problem's `type`.
    pub fn slug(&self) -> &'static str {
        match self {
            Self::Engine(EngineError::Infeasible(_)) => "infeasible",
            Self::Engine(EngineError::InvalidParameter { .. }) => "invalid-parameter",
            Self::Engine(EngineError::LimitExceeded(_)) | Self::TooLarge { .. } => "limit-exceeded",
            Self::Engine(EngineError::Cancelled) => "cancelled",
            Self::Input(_) => "invalid-data",
            Self::VerificationFailed { .. } => "verification-failed",
            Self::AttemptsExhausted => "attempts-exhausted",
            Self::Internal => "internal",
        }
    }

    fn title(&self) -> &'static str {
        match self.slug() {
            "infeasible" => "The parameters cannot hold on this dataset",
            "invalid-parameter" => "A parameter does not fit the dataset",
            "limit-exceeded" => "The job needs more than it may use",
            "cancelled" => "The job was cancelled",
            "invalid-data" => "The dataset cannot be read as its schema says",
            "verification-failed" => "The release did not pass verification",
            "attempts-exhausted" => "The job ended its worker too often",
            _ => "The service failed",
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::Engine(error) => error.to_string(),
            Self::Input(error) => error.to_string(),
            Self::VerificationFailed { checks } => format!("failed checks: {}", checks.join(", ")),
            Self::TooLarge {
                needed_bytes,
                memory_bytes_max,
            } => {
                format!(
                    "needs about {needed_bytes} bytes of memory; memory_bytes_max is {memory_bytes_max} bytes"
                )
            }
            Self::AttemptsExhausted => "the lease ran out on every attempt".into(),
            Self::Internal => "the job's log knows more".into(),
        }
    }

    /// The problem document (RFC 9457). An infeasible job names the strongest
    /// parameter that would hold.
    pub fn problem(&self) -> Value {
        let mut problem = json!({
            "type": format!("urn:vizard:problem:{}", self.slug()),
            "title": self.title(),
            "status": if matches!(self, Self::Internal | Self::AttemptsExhausted | Self::VerificationFailed { .. }) { 500 } else { 422 },
            "detail": self.detail(),
        });
        if let Self::Engine(EngineError::Infeasible(answer)) = self {
            problem["parameter"] = json!(answer.parameter);
            problem["attribute"] = json!(answer.attribute);
            problem["strongest"] = json!(answer.strongest);
            problem["strongest_value"] = json!(answer.strongest_value);
        }
        problem
    }
}

impl From<EngineError> for JobFailure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<ProduceError> for JobFailure {
    fn from(error: ProduceError) -> Self {
        match error {
            ProduceError::Engine(error) => Self::Engine(error),
            ProduceError::Room(_) => Self::Internal,
        }
    }
}

impl From<TableError> for JobFailure {
    fn from(error: TableError) -> Self {
        Self::Input(error)
    }
}
