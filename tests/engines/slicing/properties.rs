//! Random tables × preferences × parameters (house.md, Tests).
//!
//! Every run ends in a release that the verifier passes after a trip through
//! its bytes; *infeasible* with a reason that is true; or a parameter that is
//! refused. Never a panic, never a release that fails.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::json;
use vizard::engine::{EngineError, Infeasible};

use crate::case::Case;
use crate::common::cases::property_cases;

use super::naive;
use super::scenario::{Plan, Scenario};

/// Steps after which a chain of answers must have ended.
const ANSWERS_MAX: usize = 20;

fn plans() -> impl Strategy<Value = Plan> {
    let records = prop_oneof![0..12_usize, 1..60_usize, 30..=250_usize];
    let shape = (0..=4_usize, 1..=2_usize, 0..=1_usize);
    (any::<u64>(), records, shape).prop_map(|(seed, records, (quasi, sensitive, insensitive))| {
        Plan {
            seed,
            records,
            quasi,
            sensitive,
            insensitive,
        }
    })
}

/// Runs `check` on as many plans as asked for, always the same ones.
fn for_plans(by_default: u32, check: impl Fn(Plan) -> Result<(), TestCaseError>) {
    let config = Config {
        cases: property_cases(by_default),
        failure_persistence: None,
        ..Config::default()
    };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, random);
    if let Err(error) = runner.run(&plans(), check) {
        panic!("{error}");
    }
}

fn must_hold(case: &Case, what: &str) -> Result<(), TestCaseError> {
    let verdict = case.verdict();
    let failed: Vec<_> = verdict.failed().collect();
    prop_assert!(verdict.holds(), "{what}: {failed:#?}");
    Ok(())
}

fn ends_well(plan: Plan) -> Result<(), TestCaseError> {
    let scenario = Scenario::of(plan);
    match scenario.publish(&scenario.parameters, plan.seed) {
        Ok(case) => must_hold(&case, "as asked"),
        Err(EngineError::Infeasible(answer)) => is_true(&scenario, plan.seed, *answer),
        Err(EngineError::InvalidParameter { .. }) => Ok(()),
        Err(error) => Err(TestCaseError::fail(error.to_string())),
    }
}

/// With the strongest setting that it names the run succeeds and verifies, or
/// meets another condition, never at once the same one.
fn is_true(scenario: &Scenario, seed: u64, first: Infeasible) -> Result<(), TestCaseError> {
    let mut parameters = scenario.parameters.clone();
    let mut answer = first;
    for _ in 0..ANSWERS_MAX {
        let Some(value) = answer.strongest_value else {
            return Ok(());
        };
        parameters[answer.parameter] = match answer.parameter {
            "max_excluded" | "t_closeness" => json!(value),
            _ => json!(value as u64),
        };
        match scenario.publish(&parameters, seed) {
            Ok(case) => return must_hold(&case, "with the strongest setting"),
            Err(EngineError::Infeasible(next)) => {
                prop_assert!(next.parameter != answer.parameter, "{answer:#?} {next:#?}");
                answer = *next;
            }
            Err(error) => return Err(TestCaseError::fail(format!("{answer:#?}: {error}"))),
        }
    }
    Err(TestCaseError::fail(format!("endless: {answer:#?}")))
}

fn threads_do_not_matter(plan: Plan) -> Result<(), TestCaseError> {
    let scenario = Scenario::of(plan);
    let with_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let run = || scenario.run(&scenario.parameters, plan.seed);
        pool.expect("a pool starts").install(run)
    };
    prop_assert!(
        with_threads(1) == with_threads(3),
        "threads change the release"
    );
    Ok(())
}

/// The verifier's figures are those of the definition, worked out over all
/// buckets and values.
fn agrees_with_the_definition(plan: Plan) -> Result<(), TestCaseError> {
    let scenario = Scenario::of(plan);
    let Ok(case) = scenario.publish(&scenario.parameters, plan.seed) else {
        return Ok(());
    };
    for check in case.verdict().checks {
        if check.kind != "l_diversity" {
            continue;
        }
        let name = check.attribute.as_deref().expect("it is of an attribute");
        let most = naive::largest_probability(&case, name);
        let attained = check.attained.map(|l| 1.0 / l);
        match (most, attained) {
            (Some(most), Some(attained)) => {
                prop_assert!((most - attained).abs() < 1e-9, "{most} {attained}");
            }
            (most, attained) => prop_assert_eq!(most, attained),
        }
    }
    Ok(())
}

#[test]
fn every_run_of_slicing_ends_verified_or_infeasible_for_a_true_reason_or_refused() {
    for_plans(400, ends_well);
}

#[test]
fn one_thread_and_three_give_the_same_release_of_slicing() {
    for_plans(60, threads_do_not_matter);
}

#[test]
fn probabilities_of_sliced_values_are_those_of_the_definition() {
    for_plans(120, agrees_with_the_definition);
}
