//! Random tables × preferences × parameters (house.md, Tests).
//!
//! Every run ends in a release that the verifier passes after a trip through
//! its bytes; *infeasible* with a reason that is true; or a parameter that is
//! refused. Never a panic, never a release that fails.

use std::cell::Cell as Count;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Value, json};
use vizard::engine::{EngineError, Infeasible};

use crate::case::Case;
use crate::common::cases::property_cases;

use super::publish;
use super::scenario::{Plan, Scenario};

/// Steps after which a chain of answers must have ended.
const ANSWERS_MAX: usize = 20;

fn plans() -> impl Strategy<Value = Plan> {
    let records = prop_oneof![0..12_usize, 1..60_usize, 30..=300_usize];
    (any::<u64>(), records, 0..=5_usize, 0..=3_usize).prop_map(
        |(seed, records, quasi, sensitive)| Plan {
            seed,
            records,
            quasi,
            sensitive,
        },
    )
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

fn run(scenario: &Scenario, parameters: &Value, seed: u64) -> Result<Case, EngineError> {
    publish(scenario.table(), parameters, &scenario.preferences, seed)
}

fn must_hold(case: &Case, what: &str) -> Result<(), TestCaseError> {
    let verdict = case.verdict();
    let failed: Vec<_> = verdict.failed().collect();
    prop_assert!(verdict.holds(), "{what}: {failed:#?}");
    Ok(())
}

/// With the strongest setting that it names the run succeeds and verifies, or
/// meets another condition, never at once the same one of the same attribute.
fn is_true(scenario: &Scenario, seed: u64, first: Infeasible) -> Result<(), TestCaseError> {
    let mut parameters = scenario.parameters.clone();
    let mut answer = first;
    for _ in 0..ANSWERS_MAX {
        let Some(value) = answer.strongest_value else {
            return Ok(());
        };
        let number = match answer.parameter {
            "max_excluded" | "c" => json!(value),
            _ => json!(value as u64),
        };
        match &answer.attribute {
            Some(name) => parameters["attributes"][name][answer.parameter] = number,
            None => parameters[answer.parameter] = number,
        }
        match run(scenario, &parameters, seed) {
            Ok(case) => return must_hold(&case, "with the strongest setting"),
            Err(EngineError::Infeasible(next)) => {
                let same = next.parameter == answer.parameter && next.attribute == answer.attribute;
                prop_assert!(!same, "{answer:#?} {next:#?}");
                answer = *next;
            }
            Err(error) => return Err(TestCaseError::fail(format!("{answer:#?}: {error}"))),
        }
    }
    Err(TestCaseError::fail(format!("endless: {answer:#?}")))
}

#[test]
fn every_run_of_mondrian_ends_verified_or_infeasible_for_a_true_reason_or_refused() {
    let ends = [(); 3].map(|()| Count::new(0_u32));
    for_plans(300, |plan| {
        let scenario = Scenario::of(plan);
        match run(&scenario, &scenario.parameters, plan.seed) {
            Ok(case) => {
                ends[0].set(ends[0].get() + 1);
                must_hold(&case, "as asked")
            }
            Err(EngineError::Infeasible(answer)) => {
                ends[1].set(ends[1].get() + 1);
                is_true(&scenario, plan.seed, *answer)
            }
            Err(EngineError::InvalidParameter { .. }) => {
                ends[2].set(ends[2].get() + 1);
                Ok(())
            }
            Err(error) => Err(TestCaseError::fail(error.to_string())),
        }
    });
    let [released, infeasible, refused] = ends.map(Count::into_inner);
    println!("{released} released, {infeasible} infeasible, {refused} refused");
    assert!(released > refused && infeasible > 0, "cases of every kind");
}

#[test]
fn one_thread_and_three_give_the_same_release_of_mondrian() {
    for_plans(60, |plan| {
        let scenario = Scenario::of(plan);
        let with_threads = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let run = || match run(&scenario, &scenario.parameters, plan.seed) {
                Ok(case) => Ok((case.tables, case.lineage)),
                Err(error) => Err(error),
            };
            pool.expect("a pool starts").install(run)
        };
        prop_assert!(
            with_threads(1) == with_threads(3),
            "threads change the release"
        );
        Ok(())
    });
}
