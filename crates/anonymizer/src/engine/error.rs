//! Why an engine gave no release.

use crate::privacy::ParameterError;

/// An answer, not an accident: the condition that cannot hold and the
/// strongest parameter that would.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{condition}; {strongest} holds{}", in_words(*.instead))]
pub struct Infeasible {
    /// The attribute concerned, where one is.
    pub attribute: Option<String>,
    /// Name of the parameter that is too strong (`k`, `l`, `t_closeness`,
    /// `max_excluded`, …).
    pub parameter: &'static str,
    /// The condition that failed, in counts, never in values
    /// (`salary: l=12 needs at most 1 in 12 records with one value; 1 in 9 has it`).
    pub condition: String,
    /// The strongest setting that would hold, in words (`l ≤ 9`).
    pub strongest: String,
    /// The same as a number, to run again with; `None` where no value of the
    /// parameter would hold.
    pub strongest_value: Option<f64>,
    /// A parameter to set in place of this one, where it bounds what this one
    /// cannot.
    pub instead: Option<&'static str>,
}

/// What to set in place of a parameter, behind what holds of it.
fn in_words(instead: Option<&'static str>) -> String {
    instead.map_or(String::new(), |other| {
        format!("; or set {other} in its place")
    })
}

/// Why an engine gave no release.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// A parameter does not fit the dataset.
    #[error("parameter `{parameter}`: {reason}")]
    InvalidParameter {
        /// Name of the parameter.
        parameter: String,
        /// What is wrong with it; never a cell value.
        reason: String,
    },
    /// No release with these parameters exists (or the engine cannot find
    /// one); never lowered silently.
    #[error(transparent)]
    Infeasible(Box<Infeasible>),
    /// The run would need more than it may use.
    #[error("limit exceeded: {0}")]
    LimitExceeded(String),
    /// The room for what parts of the table gave failed.
    #[error("what parts of the table gave could not be kept: {0}")]
    Room(std::io::ErrorKind),
    /// Whoever counts or publishes parts of the table elsewhere gave no answer; another
    /// attempt may have one.
    #[error("no answer from elsewhere: {0}")]
    Elsewhere(String),
    /// Someone asked the run to stop.
    #[error("cancelled")]
    Cancelled,
}

/// Why a stage gave nothing: a condition that does not hold, to which the
/// engine has yet to find the answer, or the run was stopped.
#[derive(Debug)]
pub enum Failure<R> {
    /// What does not hold.
    Refused(R),
    /// Nothing that an answer could be given to.
    Stopped(EngineError),
}

impl<R> Failure<R> {
    /// Why a trial was refused, if it was; an error where it was stopped.
    pub fn refusal<T>(outcome: Result<T, Self>) -> Result<Option<R>, EngineError> {
        match outcome {
            Ok(_) => Ok(None),
            Err(Self::Refused(refusal)) => Ok(Some(refusal)),
            Err(Self::Stopped(error)) => Err(error),
        }
    }

    /// The error: what stopped the run, or the `diagnosis` of a refusal.
    pub fn diagnosed(self, diagnosis: impl FnOnce(R) -> EngineError) -> EngineError {
        match self {
            Self::Refused(refusal) => diagnosis(refusal),
            Self::Stopped(error) => error,
        }
    }
}

impl<R> From<EngineError> for Failure<R> {
    fn from(error: EngineError) -> Self {
        Self::Stopped(error)
    }
}

impl EngineError {
    /// The error of a diagnosis, or of the stop that ended its search.
    pub fn of_diagnosis(found: Result<Infeasible, Self>) -> Self {
        found.map_or_else(|stopped| stopped, Self::from)
    }
}

impl From<std::io::Error> for EngineError {
    fn from(error: std::io::Error) -> Self {
        Self::Room(error.kind())
    }
}

impl From<Infeasible> for EngineError {
    fn from(answer: Infeasible) -> Self {
        Self::Infeasible(Box::new(answer))
    }
}

impl From<ParameterError> for EngineError {
    fn from(error: ParameterError) -> Self {
        Self::InvalidParameter {
            parameter: error.name.into(),
            reason: format!("must be {}", error.bounds),
        }
    }
}
