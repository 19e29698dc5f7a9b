//! How a command ends when it does not end well: a sentence and a code.

use std::path::Path;
use std::process::ExitCode;

use vizard_anonymizer::catalog::ProduceError;
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::{ReadSummary, TableError};

use super::telemetry::tell_end;
use crate::http::line_errors::{LineError, LineErrors};

/// An end other than success. The codes are part of the contract (api.md).
#[derive(Debug)]
pub enum Exit {
    /// A fault of the program or its surroundings.
    Internal(anyhow::Error),
    /// Options that contradict each other.
    Usage(String),
    /// Input that cannot be taken, with line errors.
    Input(String, TableError),
    /// Files that are not the records that they should be, and what they are instead.
    NoTable(String, String),
    /// What a server refused: what it was, why, and what is wrong with its lines.
    Refused(String, String, Box<LineErrors>),
    /// Input of which too much would be left out, and the missing values of it.
    Loss(String, ReadSummary),
    /// No release with these parameters exists.
    Infeasible(String),
    /// A release does not hold what it claims.
    VerificationFailed(Vec<String>),
    /// A draft that stays one, and the figures that are not as asked for.
    Threshold(Vec<String>),
    /// A draft that stays one until two stewards have published it.
    Stewards(String),
}

impl Exit {
    /// Prints what happened to standard error and gives the exit code.
    pub fn report(&self) -> ExitCode {
        match self {
            Self::Internal(error) => tell_end(&format!("{error:#}")),
            Self::Usage(text) => tell_end(text),
            Self::Input(source, error) => print_input(source, error),
            Self::NoTable(source, what) => eprintln!("{source}: {what}"),
            Self::Loss(source, summary) => print_loss(source, summary),
            Self::Infeasible(text) => eprintln!("infeasible: {text}"),
            Self::VerificationFailed(checks) => {
                eprintln!("verification failed: {}", checks.join(", "));
            }
            Self::Refused(what, why, lines) => {
                eprintln!("{what}: {why}");
                print_lines(lines);
            }
            Self::Threshold(figures) => {
                eprintln!("left as a draft: {}", figures.join("; "));
            }
            Self::Stewards(text) => eprintln!("two stewards are needed: {text}"),
        }
        ExitCode::from(self.code())
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Internal(_) => 1,
            Self::Usage(_) => 2,
            Self::Input(..) | Self::NoTable(..) | Self::Refused(..) | Self::Loss(..) => 3,
            Self::Infeasible(_) => 4,
            Self::VerificationFailed(_) => 5,
            Self::Threshold(_) => 6,
            Self::Stewards(_) => 7,
        }
    }
}

fn print_input(source: &str, error: &TableError) {
    eprintln!("{source}: {error}");
    if let Some(lines) = LineErrors::of(error) {
        print_lines(&lines);
    }
}

fn print_lines(lines: &LineErrors) {
    let LineErrors {
        errors,
        total,
        summary,
        hints,
    } = lines;
    hints.iter().for_each(|hint| eprintln!("  hint: {hint}"));
    for kind in summary {
        let attribute = kind.attribute.as_deref().unwrap_or("-");
        let lines: Vec<String> = kind.first_lines.iter().map(u64::to_string).collect();
        let (code, lines) = (&kind.code, lines.join(", "));
        let part = kind
            .part
            .map_or_else(String::new, |part| format!("part {part}, line "));
        let expected = kind.expected.as_ref();
        let expected = expected.map_or_else(String::new, |form| format!("; expected {form}"));
        eprintln!(
            "  {attribute}: {} × {code}, first in {part}{lines}{expected}",
            kind.count
        );
    }
    for error in errors {
        eprintln!("  {}", error_line(error));
    }
    let listed = errors.len() as u64;
    if *total > listed {
        eprintln!("  and {} more", total - listed);
    }
}

/// One error: where it stands, its code, and how the form of the line is wrong.
fn error_line(error: &LineError) -> String {
    let column = error.column.map(|at| format!(", column {at}"));
    let attribute = error.attribute.as_deref().unwrap_or("-");
    let reason = error.reason.as_ref().map(|reason| format!(" ({reason})"));
    let part = error.part.map(|part| format!("part {part}, "));
    format!(
        "{}line {}{}, {attribute}: {}{}",
        part.unwrap_or_default(),
        error.line,
        column.unwrap_or_default(),
        error.code,
        reason.unwrap_or_default()
    )
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
