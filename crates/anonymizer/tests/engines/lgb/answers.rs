//! Whether an infeasible answer is true.
//!
//! With the strongest setting that it names the run succeeds and verifies, or
//! meets another condition, never at once the same one; one step stronger it
//! is infeasible as before; and where it says that no setting would hold, the
//! weakest does not.
//!
//! A later step may meet an earlier condition again, since following one
//! answer changes what others have to hold on (a larger `max_excluded` leaves
//! fewer records for k); then it must name another setting than before.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};
use vizard_anonymizer::engine::{EngineError, Infeasible};
use vizard_anonymizer::microdata::AttributeType;

use super::properties::publish;
use crate::random_runs::must_hold;
use crate::scenario::Scenario;

/// Steps after which a chain of answers must have ended.
const ANSWERS_MAX: usize = 20;

/// Follows an answer to the end.
pub fn are_true(scenario: &Scenario, seed: u64, first: &Infeasible) -> Result<(), TestCaseError> {
    let mut parameters = scenario.parameters.clone();
    let mut answers = vec![first.clone()];
    loop {
        let answer = answers[answers.len() - 1].clone();
        let Some(value) = answer.strongest_value else {
            let weakest = weakest(&answer, branches(scenario, &answer));
            return must_be_infeasible(scenario, &parameters, seed, (&answer, weakest));
        };
        let stronger = a_step_stronger(&answer, value, branches(scenario, &answer));
        must_be_infeasible(scenario, &parameters, seed, (&answer, stronger))?;
        parameters = with(&parameters, &answer, value);
        let next = match publish(scenario, &parameters, seed) {
            Ok(case) => return must_hold(&case, "with the strongest setting"),
            Err(EngineError::Infeasible(next)) => *next,
            Err(error) => return Err(TestCaseError::fail(format!("{answers:#?}: {error}"))),
        };
        let before = answers.iter().rfind(|other| place(other) == place(&next));
        let named = before.and_then(|before| before.strongest_value);
        let progress = named.is_none() || named != next.strongest_value;
        let at_once = place(&answer) == place(&next);
        answers.push(next);
        prop_assert!(progress && !at_once, "not true: {answers:#?} {parameters}");
        prop_assert!(answers.len() < ANSWERS_MAX, "endless: {answers:#?}");
    }
}

fn must_be_infeasible(
    scenario: &Scenario,
    parameters: &Value,
    seed: u64,
    (answer, setting): (&Infeasible, Option<f64>),
) -> Result<(), TestCaseError> {
    let Some(setting) = setting else {
        return Ok(());
    };
    let ended = publish(scenario, &with(parameters, answer, setting), seed);
    match ended {
        Err(EngineError::Infeasible(_)) => Ok(()),
        other => {
            let other = other.map(|_| "published");
            let text = format!("{setting} ends {other:?}: {answer:#?} {parameters}");
            Err(TestCaseError::fail(text))
        }
    }
}

/// The parameters with what an answer names set to `value`.
fn with(parameters: &Value, answer: &Infeasible, value: f64) -> Value {
    let mut changed = parameters.clone();
    let value = match answer.parameter {
        "k" | "l" => json!(value as u64),
        _ => json!(value),
    };
    match &answer.attribute {
        Some(name) => changed["attributes"][name][answer.parameter] = value,
        None => changed[answer.parameter] = value,
    }
    changed
}

/// What an answer is about.
fn place(answer: &Infeasible) -> (&'static str, Option<&str>) {
    (answer.parameter, answer.attribute.as_deref())
}

/// Whether an answer is about a category, whose spread is a whole number.
fn branches(scenario: &Scenario, answer: &Infeasible) -> bool {
    let index = answer
        .attribute
        .as_ref()
        .and_then(|name| scenario.schema.find(name));
    let kind = index.and_then(|index| scenario.schema.attribute(index).kind);
    kind == Some(AttributeType::Categorical)
}

/// A setting just stronger than one that holds; none where it cannot be told.
fn a_step_stronger(answer: &Infeasible, value: f64, branches: bool) -> Option<f64> {
    match answer.parameter {
        "k" | "l" => Some(value + 1.0),
        "min_spread" if branches => Some(value + 1.0),
        "min_spread" => Some(value * (1.0 + 1e-6)),
        "max_excluded" | "max_posterior" => Some(value * (1.0 - 1e-6)),
        _ => None,
    }
}

/// The setting that asks for least.
fn weakest(answer: &Infeasible, branches: bool) -> Option<f64> {
    match answer.parameter {
        "k" | "l" | "max_excluded" | "max_posterior" | "t_closeness" => Some(1.0),
        "min_spread" if branches => Some(1.0),
        "min_spread" => Some(1e-9),
        _ => None,
    }
}
