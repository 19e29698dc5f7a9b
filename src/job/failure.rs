//! Why a job failed, as the problem document that its view shows.
//!
//! An engine's own words name frequencies of the records ("1 in 9 has it"),
//! which nobody published. They are for the terminal of the offline command
//! alone. The service tells which parameter and which attribute, and
//! stewards how far the parameter has to give way, on the scale of `coarse`.
//!
//! The slugs are part of the API (docs/PROBLEMS.md); `http` names the same.

use serde_json::{Value, json};
use vizard_anonymizer::catalog::{Identifying, IdentifyingBy, ProduceError, how_to_mend};
use vizard_anonymizer::engine::{EngineError, Infeasible};
use vizard_anonymizer::microdata::TableError;
use vizard_anonymizer::release::{Unkept, rounded_to_tens};

use super::coarse;

/// Why a job ended without a release, for good.
#[derive(Clone, Debug, PartialEq)]
pub enum JobFailure {
    /// The engine answered that the parameters cannot hold, or refused them
    /// by what the schema says.
    Engine(EngineError),
    /// The engine refused a parameter by what the records are.
    Misfit {
        /// Name of the parameter.
        parameter: String,
    },
    /// Attributes that would be published as they are identify people.
    Identifying(Vec<Identifying>),
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
    /// Every subject is in a public release, and the job asked for others.
    NothingNew,
    /// Who is in a public release is not kept, and the job asked for others.
    SeriesUnknown,
    /// Public releases show subjects otherwise than the job's mode can go on.
    SeriesUnsafe(Unkept),
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
            Self::Engine(EngineError::InvalidParameter { .. }) | Self::Misfit { .. } => {
                "invalid-parameter"
            }
            Self::Engine(EngineError::LimitExceeded(_)) | Self::TooLarge { .. } => "limit-exceeded",
            Self::Engine(EngineError::Cancelled) => "cancelled",
            Self::Engine(EngineError::Elsewhere(_)) => "internal",
            Self::Identifying(_) => "exact-attributes-identify",
            Self::Input(_) => "invalid-data",
            Self::VerificationFailed { .. } => "verification-failed",
            Self::NothingNew => "nothing-new",
            Self::SeriesUnknown => "series-unknown",
            Self::SeriesUnsafe(_) => "series-unsafe",
            Self::AttemptsExhausted => "attempts-exhausted",
            Self::Internal | Self::Engine(EngineError::Room(_)) => "internal",
        }
    }

    fn title(&self) -> &'static str {
        match self.slug() {
            "infeasible" => "The parameters cannot hold on this dataset",
            "invalid-parameter" => "A parameter does not fit the dataset",
            "limit-exceeded" => "The job needs more than it may use",
            "cancelled" => "The job was cancelled",
            "exact-attributes-identify" => "Attributes published as they are identify people",
            "invalid-data" => "The dataset cannot be read as its schema says",
            "verification-failed" => "The release did not pass verification",
            "nothing-new" => "Every subject is in a public release",
            "series-unknown" => "Who is in a public release is not known",
            "series-unsafe" => "The series cannot go on in this mode",
            "attempts-exhausted" => "The job ended its worker too often",
            _ => "The service failed",
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::Engine(EngineError::Infeasible(_)) => {
                "a parameter is too strong for the records".into()
            }
            Self::Engine(error) => error.to_string(),
            Self::Misfit { parameter } => {
                format!("parameter `{parameter}` does not fit the records")
            }
            Self::Identifying(found) => how_to_mend(found.iter().map(Identifying::words)),
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
            Self::NothingNew => {
                "the version has no subject who is not in a public release; upload records of \
                 others first"
                    .into()
            }
            Self::SeriesUnknown => {
                "who is in a public release of the same people is not kept; leave out series, and \
                 publish with two stewards"
                    .into()
            }
            Self::SeriesUnsafe(unkept) => {
                format!(
                    "{unkept}, so a release that keeps sets of values cannot go on; take the mode \
                     increments, which leaves these subjects out"
                )
            }
            Self::AttemptsExhausted => "the lease ran out on every attempt".into(),
            Self::Internal => "the job's log knows more".into(),
        }
    }

    /// The problem document (RFC 9457), without any figure of the records.
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
        }
        if let Self::Identifying(found) = self {
            let names = found.iter().map(|one| one.attribute.as_str());
            problem["parameter"] = json!("accept_exact");
            problem["attributes"] = json!(names.collect::<Vec<_>>());
        }
        if let Self::SeriesUnsafe(unkept) = self {
            problem["attribute"] = json!(unkept.attribute);
        }
        if let Self::Misfit { parameter }
        | Self::Engine(EngineError::InvalidParameter { parameter, .. }) = self
        {
            problem["parameter"] = json!(parameter);
        }
        problem
    }

    /// The same for stewards, where there are figures: an infeasible job names
    /// a setting that may hold, rounded to the weaker side.
    pub fn problem_with_figures(&self) -> Option<Value> {
        if let Self::Identifying(found) = self {
            let mut problem = self.problem();
            problem["detail"] = json!(how_to_mend(
                found.iter().map(Identifying::words_with_figures)
            ));
            problem["records"] = json!(found.iter().map(records).collect::<Vec<_>>());
            return Some(problem);
        }
        let Self::Engine(EngineError::Infeasible(answer)) = self else {
            return None;
        };
        let weaker = weaker(answer);
        if weaker.is_none() && answer.instead.is_none() {
            return None;
        }
        let (mut problem, mut detail) = (self.problem(), self.detail());
        if let Some((sign, value)) = weaker {
            let strongest = format!("{} {sign} {value}", answer.parameter);
            detail += &format!("; try {strongest}");
            problem["strongest"] = json!(strongest);
            problem["strongest_value"] = json!(value);
        }
        if let Some(other) = answer.instead {
            let parameter = answer.parameter;
            detail += &format!(
                "; or set {other} in place of {parameter}: the attribute has too few values"
            );
            problem["instead"] = json!(other);
        }
        problem["detail"] = json!(detail);
        Some(problem)
    }
}

/// Records that an attribute lets stand out, in tens; none where its form
/// tells.
fn records(found: &Identifying) -> Option<u64> {
    match found.by {
        IdentifyingBy::Form(_) => None,
        IdentifyingBy::Records(records) => Some(rounded_to_tens(records)),
    }
}

/// The setting that would hold, one coarse step weaker at most, and on which
/// side of it weaker settings are; `None` where none would hold.
fn weaker(answer: &Infeasible) -> Option<(&'static str, f64)> {
    let value = answer.strongest_value?;
    let weaker = match answer.parameter {
        "k" | "l" | "min_spread" => ("≤", coarse::down(value)),
        "c" | "delta" => ("≥", coarse::up(value)),
        // Shares.
        _ => ("≥", coarse::up(value).min(1.0)),
    };
    Some(weaker)
}

impl From<EngineError> for JobFailure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<ProduceError> for JobFailure {
    fn from(error: ProduceError) -> Self {
        match error {
            // Reasons may tell of records; those of a series say what is public.
            ProduceError::Engine(EngineError::InvalidParameter { parameter, .. })
                if !parameter.starts_with("series.") =>
            {
                Self::Misfit { parameter }
            }
            ProduceError::Engine(error) => Self::Engine(error),
            ProduceError::Identifying(found) => Self::Identifying(found),
            ProduceError::Room(_) => Self::Internal,
        }
    }
}

impl From<TableError> for JobFailure {
    fn from(error: TableError) -> Self {
        Self::Input(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infeasible(parameter: &'static str, value: Option<f64>) -> JobFailure {
        JobFailure::from(EngineError::from(Infeasible {
            instead: None,
            attribute: Some("salary".into()),
            parameter,
            condition: "salary: l=12 needs at most 1 in 12; 1 in 9137 has it".into(),
            strongest: format!("{parameter} ≤ {value:?} of 9137"),
            strongest_value: value,
        }))
    }

    #[test]
    fn the_problem_of_an_infeasible_job_says_nothing_of_the_records() {
        let one = infeasible("l", Some(9.0)).problem();
        let other = infeasible("l", Some(119.0)).problem();
        assert_eq!(one, other);
        assert_eq!(one["parameter"], "l");
        assert_eq!(one["attribute"], "salary");
        assert!(!one.to_string().contains("9137"), "{one}");
    }

    #[test]
    fn figures_for_stewards_are_steps_on_the_weaker_side() {
        for (parameter, exact, told) in [
            ("l", 9.0, "l ≤ 5"),
            ("k", 119.0, "k ≤ 100"),
            ("t_closeness", 0.23, "t_closeness ≥ 0.5"),
            ("max_excluded", 0.7, "max_excluded ≥ 1"),
            ("delta", 1.3, "delta ≥ 2"),
        ] {
            let failure = infeasible(parameter, Some(exact));
            let problem = failure.problem_with_figures().expect("a figure");
            assert_eq!(problem["strongest"], told);
            assert!(!problem.to_string().contains("9137"), "{problem}");
        }
        assert_eq!(infeasible("l", None).problem_with_figures(), None);
        assert_eq!(JobFailure::Internal.problem_with_figures(), None);
    }

    #[test]
    fn another_parameter_is_proposed_to_stewards_alone() {
        for value in [None, Some(2.0)] {
            let failure = JobFailure::from(EngineError::from(Infeasible {
                instead: Some("t_closeness"),
                attribute: Some("positive".into()),
                parameter: "l",
                condition: "l=3 needs 3 different values; there are 2".into(),
                strongest: String::new(),
                strongest_value: value,
            }));
            assert_eq!(failure.problem()["instead"], Value::Null);
            let problem = failure.problem_with_figures().expect("a proposal");
            assert_eq!(problem["instead"], "t_closeness");
            assert_eq!(problem["strongest"].is_null(), value.is_none());
            let detail = problem["detail"].as_str().expect("a text");
            assert!(detail.contains("set t_closeness in place of l"), "{detail}");
        }
    }

    #[test]
    fn what_a_run_finds_wrong_with_a_parameter_is_named_without_figures() {
        let refused = EngineError::InvalidParameter {
            parameter: "qid_conflict".into(),
            reason: "9137 subjects have records that differ".into(),
        };
        let failure = JobFailure::from(ProduceError::Engine(refused));
        let problem = failure.problem();
        assert_eq!(problem["parameter"], "qid_conflict");
        assert!(!problem.to_string().contains("9137"), "{problem}");
    }
}
