//! How a command ends when it does not end well: a sentence and a code.

use std::path::Path;
use std::process::ExitCode;

use super::telemetry::tell_end;
use crate::catalog::ProduceError;
use crate::engine::EngineError;
use crate::microdata::{ReadSummary, TableError};

/// An end other than success. The codes are part of the contract (api.md).
#[derive(Debug)]
pub enum Exit {
    /// A fault of the program or its surroundings.
    Internal(anyhow::Error),
    /// Options that contradict each other.
    Usage(String),
    /// Input that cannot be taken, with line errors.
    Input(String, TableError),
    /// Input of which too much would be left out, and the missing values of it.
    Loss(String, ReadSummary),
    /// No release with these parameters exists.
    Infeasible(String),
    /// A release does not hold what it claims.
    VerificationFailed(Vec<String>),
}

impl Exit {
    /// Prints what happened to standard error and gives the exit code.
    pub fn report(&self) -> ExitCode {
        match self {
            Self::Internal(error) => tell_end(&format!("{error:#}")),
            Self::Usage(text) => tell_end(text),
            Self::Input(source, error) => print_input(source, error),
            Self::Loss(source, summary) => print_loss(source, summary),
            Self::Infeasible(text) => eprintln!("infeasible: {text}"),
            Self::VerificationFailed(checks) => {
                eprintln!("verification failed: {}", checks.join(", "));
            }
        }
        ExitCode::from(self.code())
    }

    fn code(&self) -> u8 {
        match self {
            Self::Internal(_) => 1,
            Self::Usage(_) => 2,
            Self::Input(..) | Self::Loss(..) => 3,
            Self::Infeasible(_) => 4,
            Self::VerificationFailed(_) => 5,
        }
    }
}

fn print_input(source: &str, error: &TableError) {
    eprintln!("{source}: {error}");
    if let TableError::Cells { errors, total } = error {
        for cell in errors {
            let attribute = cell.attribute.as_deref().unwrap_or("-");
            // The code's word on the wire: stable, and never a value.
            let code = serde_json::to_value(cell.code).unwrap_or_default();
            eprintln!(
                "  line {}, {attribute}: {}",
                cell.line,
                code.as_str().unwrap_or_default()
            );
        }
        let listed = errors.len() as u64;
        if *total > listed {
            eprintln!("  and {} more", total - listed);
        }
    }
}

fn print_loss(source: &str, summary: &ReadSummary) {
    let read = summary.records + summary.dropped;
    eprintln!(
        "{source}: {} of {read} records lack a value and would be left out",
        summary.dropped
    );
    for count in summary.attributes.iter().filter(|count| count.missing > 0) {
        eprintln!(
            "  {}: missing in {} records",
            count.attribute, count.missing
        );
    }
    eprintln!("  mend the records, or say --allow-loss where this is meant");
}

impl<E: Into<anyhow::Error>> From<E> for Exit {
    fn from(error: E) -> Self {
        Self::Internal(error.into())
    }
}

impl Exit {
    /// The end that a run without a release leads to.
    pub fn of_run(error: ProduceError, folder: &Path) -> Self {
        match error {
            ProduceError::Engine(error) => Self::of_engine(error),
            identifying @ ProduceError::Identifying(_) => {
                Self::Input("job".into(), TableError::Schema(identifying.to_string()))
            }
            room @ ProduceError::Room(_) => {
                Self::Internal(anyhow::Error::from(room).context(folder.display().to_string()))
            }
        }
    }

    /// The end that an engine's error leads to.
    pub fn of_engine(error: EngineError) -> Self {
        match error {
            EngineError::Infeasible(answer) => Self::Infeasible(answer.to_string()),
            EngineError::InvalidParameter { .. } => {
                Self::Input("job".into(), TableError::Schema(error.to_string()))
            }
            other => Self::Internal(other.into()),
        }
    }
}
