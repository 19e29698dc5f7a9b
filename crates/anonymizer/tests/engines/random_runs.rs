//! What the properties of every engine share: plans that are always the same
//! ones, verdicts that must hold, answers that must be true, threads that must
//! not matter.

use std::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Value, json};
use vizard_anonymizer::engine::{EngineError, Infeasible};

use super::case::Case;
use super::common::cases::property_cases;

/// Steps after which a chain of answers must have ended.
const ANSWERS_MAX: usize = 20;

/// Runs `check` on as many plans as asked for, always the same ones.
pub fn for_plans<P: Debug>(
    plans: impl Strategy<Value = P>,
    by_default: u32,
    check: impl Fn(P) -> Result<(), TestCaseError>,
) {
    let config = Config {
        cases: property_cases(by_default),
        failure_persistence: None,
        ..Config::default()
    };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, random);
    if let Err(error) = runner.run(&plans, check) {
        panic!("{error}");
    }
}

/// The verdict holds.
pub fn must_hold(case: &Case, what: &str) -> Result<(), TestCaseError> {
    let verdict = case.verdict();
    let failed: Vec<_> = verdict.failed().collect();
    prop_assert!(verdict.holds(), "{what}: {failed:#?}");
    Ok(())
}

/// Where an answer's parameter is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// For the whole job, whichever attribute the answer is about.
    Job,
    /// For the attribute that the answer is about, where it is about one.
    Attribute,
}

/// With the strongest setting that it names the run succeeds and what is
/// published passes `check`, or the run meets another condition, never at once
/// the same one.
pub fn is_true(
    (parameters, scope): (&Value, Scope),
    first: Infeasible,
    publish: impl Fn(&Value) -> Result<Case, EngineError>,
    check: impl Fn(&Case, &str) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut parameters = parameters.clone();
    let mut answer = first;
    for _ in 0..ANSWERS_MAX {
        let Some(value) = answer.strongest_value else {
            return Ok(());
        };
        let number = match answer.parameter {
            "k" | "l" | "k_group" | "value_l" | "m" => json!(value as u64),
            _ => json!(value),
        };
        let own = answer.attribute.as_deref();
        match own.filter(|_| scope == Scope::Attribute) {
            Some(name) => parameters["attributes"][name][answer.parameter] = number,
            None if answer.parameter == "min_spread" => {
                parameters["min_spread"][own.expect("it is of one")] = number;
            }
            None => parameters[answer.parameter] = number,
        }
        match publish(&parameters) {
            Ok(case) => return check(&case, "with the strongest setting"),
            Err(EngineError::Infeasible(next)) => {
                let by_attribute = scope == Scope::Attribute || answer.parameter == "min_spread";
                let elsewhere = by_attribute && next.attribute != answer.attribute;
                let is_other = elsewhere || next.parameter != answer.parameter;
                prop_assert!(is_other, "{answer:#?} {next:#?}");
                answer = *next;
            }
            Err(error) => return Err(TestCaseError::fail(format!("{answer:#?}: {error}"))),
        }
    }
    Err(TestCaseError::fail(format!("endless: {answer:#?}")))
}

/// One thread and three give the same.
pub fn threads_do_not_matter<R: PartialEq + Send>(
    run: impl Fn() -> R + Sync,
) -> Result<(), TestCaseError> {
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool starts").install(&run)
    };
    prop_assert!(
        with_threads(1) == with_threads(3),
        "threads change the release"
    );
    Ok(())
}
