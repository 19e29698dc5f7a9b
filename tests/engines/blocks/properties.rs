//! Random tables × preferences × parameters (house.md, Tests).
//!
//! Every run ends in a release that the verifier passes after a trip through
//! its bytes; *infeasible* with a reason that is true; or a parameter that is
//! refused. Never a panic, never a release that fails.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::json;
use vizard::engine::{EngineError, Infeasible};
use vizard::utility;

use crate::case::Case;
use crate::common::cases::property_cases;

use super::scenario::{Plan, Scenario};

/// Steps after which a chain of answers must have ended.
const ANSWERS_MAX: usize = 20;

fn plans() -> impl Strategy<Value = Plan> {
    let records = prop_oneof![1..12_usize, 1..60_usize, 30..=300_usize];
    (any::<u64>(), records, 0..=4_usize, 1..=2_usize).prop_map(
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

/// The verdict holds, and everything that is measured can be.
fn must_hold(case: &Case, what: &str) -> Result<(), TestCaseError> {
    let verdict = case.verdict();
    let failed: Vec<_> = verdict.failed().collect();
    prop_assert!(verdict.holds(), "{what}: {failed:#?}");
    let measured = utility::measure(&utility::Evidence {
        table: &case.table,
        requirements: &case.requirements,
        manifest: &case.manifest,
        tables: &case.tables,
        lineage: &case.lineage,
    });
    prop_assert!(measured.is_ok(), "{what}: {measured:?}");
    Ok(())
}

fn ends_well(engine: &'static str, plan: Plan) -> Result<(), TestCaseError> {
    let scenario = Scenario::of(engine, plan);
    match scenario.publish(&scenario.parameters, plan.seed) {
        Ok(case) => must_hold(&case, "as asked"),
        Err(EngineError::Infeasible(answer)) => is_true(&scenario, plan.seed, *answer),
        Err(EngineError::InvalidParameter { parameter, reason }) => {
            Err(TestCaseError::fail(format!("{parameter}: {reason}")))
        }
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
            "max_excluded" => json!(value),
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

fn threads_do_not_matter(engine: &'static str, plan: Plan) -> Result<(), TestCaseError> {
    let scenario = Scenario::of(engine, plan);
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

#[test]
fn every_run_of_arp_ends_verified_or_infeasible_for_a_true_reason() {
    for_plans(300, |plan| ends_well("arp", plan));
}

#[test]
fn every_run_of_aip_ends_verified_or_infeasible_for_a_true_reason() {
    for_plans(120, |plan| ends_well("aip", plan));
}

#[test]
fn every_run_of_anatomy_ends_verified_or_infeasible_for_a_true_reason() {
    for_plans(120, |plan| ends_well("anatomy", plan));
}

#[test]
fn every_run_of_ng_ends_verified_or_infeasible_for_a_true_reason() {
    for_plans(150, |plan| ends_well("ng", plan));
}

#[test]
fn one_thread_and_three_give_the_same_release_of_ng() {
    for_plans(30, |plan| threads_do_not_matter("ng", plan));
}

#[test]
fn one_thread_and_three_give_the_same_release_of_arp() {
    for_plans(60, |plan| threads_do_not_matter("arp", plan));
}
