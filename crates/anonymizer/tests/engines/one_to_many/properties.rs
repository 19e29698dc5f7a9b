//! Random 1:M tables × preferences × parameters (house.md, Tests).
//!
//! Every run ends in a release that the verifier passes after a trip through
//! its bytes; *infeasible* with a reason that is true; or a parameter that is
//! refused. Never a panic, never a release that fails.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;
use vizard_anonymizer::engine::EngineError;

use crate::random_runs::{Scope, for_plans, is_true, must_hold, threads_do_not_matter};

use super::scenario::Plan;

fn plans() -> impl Strategy<Value = Plan> {
    let subjects = prop_oneof![1..12_usize, 1..60_usize, 30..=200_usize];
    (any::<u64>(), subjects, 0..=4_usize, 1..=2_usize).prop_map(
        |(seed, subjects, quasi, sensitive)| Plan {
            seed,
            subjects,
            quasi,
            sensitive,
        },
    )
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
        Err(EngineError::InvalidParameter { .. }) => Ok(()),
        Err(error) => Err(TestCaseError::fail(error.to_string())),
    }
}

fn same_with_threads(engine: &'static str, plan: Plan) -> Result<(), TestCaseError> {
    let scenario = plan.scenario(engine);
    threads_do_not_matter(|| scenario.run(&scenario.parameters, plan.seed))
}

#[test]
fn every_run_of_one_to_many_ends_verified_or_infeasible_for_a_true_reason_or_refused() {
    for_plans(plans(), 200, |plan| ends_well("one_to_many", plan));
}

/// Once others have left, the most frequent fingerprint is too frequent even
/// for somebody whose own l is below the job's.
#[test]
fn somebody_may_have_to_leave_for_an_l_below_the_job_s() {
    let plan = Plan {
        seed: 15_969_915_000_829_110_862,
        subjects: 39,
        quasi: 0,
        sensitive: 1,
    };
    ends_well("one_to_many", plan).expect("the release holds");
}

/// Once others are excluded, somebody may ask for more persons than are left:
/// of 18 persons no cluster was formed, and the run panicked.
#[test]
fn nobody_asks_for_more_persons_than_are_left() {
    let plan = Plan {
        seed: 5_246_713_002_626_819_740,
        subjects: 18,
        quasi: 4,
        sensitive: 1,
    };
    ends_well("rmr", plan).expect("the release holds, or there is none");
}

/// Two clusters that were merged came to look alike, and had two numbers.
#[test]
fn merged_clusters_that_look_alike_are_one_group() {
    let plan = Plan {
        seed: 14_468_231_422_375_029_959,
        subjects: 119,
        quasi: 4,
        sensitive: 1,
    };
    ends_well("rmr", plan).expect("the release holds");
}

#[test]
fn every_run_of_rmr_ends_verified_or_infeasible_for_a_true_reason_or_refused() {
    for_plans(plans(), 200, |plan| ends_well("rmr", plan));
}

#[test]
fn one_thread_and_three_give_the_same_release_of_rmr() {
    for_plans(plans(), 40, |plan| same_with_threads("rmr", plan));
}

#[test]
fn one_thread_and_three_give_the_same_release_of_one_to_many() {
    for_plans(plans(), 40, |plan| same_with_threads("one_to_many", plan));
}
