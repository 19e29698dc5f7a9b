//! Random tables × preferences × parameters (house.md, Tests).
//!
//! Every run ends in a release that the verifier passes after a trip through
//! its bytes; *infeasible* with a reason that is true; or a parameter that is
//! refused. Never a panic, never a release that fails.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;
use vizard_anonymizer::engine::EngineError;

use crate::case::Case;
use crate::random_runs::{self, Scope, for_plans, is_true, threads_do_not_matter};

use super::scenario::Plan;

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

/// The verdict holds, and everything that is measured can be.
fn must_hold(case: &Case, what: &str) -> Result<(), TestCaseError> {
    random_runs::must_hold(case, what)?;
    let measured = case.report();
    prop_assert!(measured.is_ok(), "{what}: {measured:?}");
    Ok(())
}

fn ends_well(engine: &'static str, plan: Plan) -> Result<(), TestCaseError> {
    let scenario = plan.scenario(engine);
    match scenario.publish(&scenario.parameters, plan.seed) {
        Ok(case) => must_hold(&case, "as asked"),
        Err(EngineError::Infeasible(answer)) => {
            let parameters = (&scenario.parameters, Scope::Job);
            let publish = |parameters: &Value| scenario.publish(parameters, plan.seed);
            is_true(parameters, *answer, publish, must_hold)
        }
        Err(EngineError::InvalidParameter { parameter, reason }) => {
            Err(TestCaseError::fail(format!("{parameter}: {reason}")))
        }
        Err(error) => Err(TestCaseError::fail(error.to_string())),
    }
}

fn same_with_threads(engine: &'static str, plan: Plan) -> Result<(), TestCaseError> {
    let scenario = plan.scenario(engine);
    threads_do_not_matter(|| scenario.run(&scenario.parameters, plan.seed))
}

#[test]
fn every_run_of_arp_ends_verified_or_infeasible_for_a_true_reason() {
    for_plans(plans(), 300, |plan| ends_well("arp", plan));
}

#[test]
fn every_run_of_aip_ends_verified_or_infeasible_for_a_true_reason() {
    for_plans(plans(), 120, |plan| ends_well("aip", plan));
}

#[test]
fn every_run_of_anatomy_ends_verified_or_infeasible_for_a_true_reason() {
    for_plans(plans(), 120, |plan| ends_well("anatomy", plan));
}

#[test]
fn every_run_of_ng_ends_verified_or_infeasible_for_a_true_reason() {
    for_plans(plans(), 150, |plan| ends_well("ng", plan));
}

#[test]
fn one_thread_and_three_give_the_same_release_of_ng() {
    for_plans(plans(), 30, |plan| same_with_threads("ng", plan));
}

#[test]
fn one_thread_and_three_give_the_same_release_of_arp() {
    for_plans(plans(), 60, |plan| same_with_threads("arp", plan));
}
