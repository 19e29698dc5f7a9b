//! Random tables × schemas × preferences × parameters (house.md, Tests).
//!
//! Every run of `lgb` ends in one of three ways: a release that the verifier
//! passes after a trip through its bytes; *infeasible* with a reason that is
//! true; or a parameter that is refused. Never a panic, never a release that
//! fails. The number of cases is `VIZARD_PROPERTY_CASES`.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::RecordIndex;

use super::answers;
use super::scenario::Plan;
use crate::case::Case;
use crate::random_runs::{for_plans, must_hold, threads_do_not_matter};
use crate::scenario::Scenario;

fn plans() -> impl Strategy<Value = Plan> {
    let records = prop_oneof![1..12_usize, 1..60_usize, 30..=200_usize];
    (any::<u64>(), records, 1..=6_usize).prop_map(|(seed, records, attributes)| Plan {
        seed,
        records,
        attributes,
    })
}

pub(super) fn publish(
    scenario: &Scenario,
    parameters: &Value,
    seed: u64,
) -> Result<Case, EngineError> {
    let case = scenario.publish(parameters, seed)?;
    assert_within_budget(&case);
    Ok(case)
}

/// Subjects whose terms cannot be met are left out within the budget alone.
fn assert_within_budget(case: &Case) {
    let records = (0..case.table.records()).map(RecordIndex::from_usize);
    let wishes = records.filter(|&record| case.requirements.of(record).exclude);
    let unmet = case.excluded - wishes.count() as u64;
    let budget = case.manifest.parameters["max_excluded"]
        .as_f64()
        .expect("a share");
    assert!(
        unmet as f64 <= budget * case.table.records() as f64,
        "{unmet} beyond the budget"
    );
}

#[test]
fn every_run_ends_verified_or_infeasible_for_a_true_reason_or_refused() {
    for_plans(plans(), 200, |plan| {
        let scenario = plan.scenario();
        match publish(&scenario, &scenario.parameters, plan.seed) {
            Ok(case) => must_hold(&case, "as asked"),
            Err(EngineError::Infeasible(answer)) => {
                answers::are_true(&scenario, plan.seed, &answer)
            }
            Err(EngineError::InvalidParameter { .. }) => Ok(()),
            Err(error) => Err(TestCaseError::fail(error.to_string())),
        }
    });
}

#[test]
fn one_thread_and_three_give_the_same_release() {
    for_plans(plans(), 60, |plan| {
        let scenario = plan.scenario();
        threads_do_not_matter(|| scenario.run(&scenario.parameters, plan.seed))
    });
}

#[test]
fn another_order_of_records_is_verified_too() {
    for_plans(plans(), 60, |plan| {
        let scenario = plan.scenario().shuffled(plan.seed ^ 1);
        match publish(&scenario, &scenario.parameters, plan.seed) {
            Ok(case) => must_hold(&case, "in another order"),
            Err(EngineError::Infeasible(_) | EngineError::InvalidParameter { .. }) => Ok(()),
            Err(error) => Err(TestCaseError::fail(error.to_string())),
        }
    });
}
