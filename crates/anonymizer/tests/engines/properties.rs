//! Random tables × schemas × preferences × parameters (house.md, Tests).
//!
//! Every run of `lgb` ends in one of three ways: a release that the verifier
//! passes after a trip through its bytes; *infeasible* with a reason that is
//! true; or a parameter that is refused. Never a panic, never a release that
//! fails. The number of cases is `VIZARD_PROPERTY_CASES`.

mod answers;
pub mod scenario;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;
use vizard_anonymizer::engine::lgb::{Params, run};
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::microdata::Table;
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::release::Release;

use super::case::Case;
use super::random_runs::{for_plans, must_hold, threads_do_not_matter};
use scenario::{Plan, Scenario};

fn plans() -> impl Strategy<Value = Plan> {
    let records = prop_oneof![1..12_usize, 1..60_usize, 30..=200_usize];
    (any::<u64>(), records, 1..=6_usize).prop_map(|(seed, records, attributes)| Plan {
        seed,
        records,
        attributes,
    })
}

fn requirements(
    table: &Table,
    scenario: &Scenario,
    parameters: &Value,
) -> Result<(Params, Requirements), EngineError> {
    let params: Params = serde_json::from_value(parameters.clone()).expect("the shape is right");
    let policy = params.policy(&scenario.schema)?;
    let requirements = Requirements::new(table, policy, &scenario.preferences);
    Ok((params, requirements))
}

fn publish(scenario: &Scenario, parameters: &Value, seed: u64) -> Result<Case, EngineError> {
    let table = scenario.table();
    let (params, requirements) = requirements(&table, scenario, parameters)?;
    let release = run(&table, &requirements, &params, &RunContext::silent(seed))?;
    assert_within_budget(&table, &requirements, &params, &release);
    Ok(Case::of(table, requirements, parameters.clone(), release))
}

/// Subjects whose terms cannot be met are left out within the budget alone.
fn assert_within_budget(
    table: &Table,
    requirements: &Requirements,
    params: &Params,
    release: &Release,
) {
    let records = (0..table.records()).map(vizard_anonymizer::microdata::RecordIndex::from_usize);
    let wishes = records
        .filter(|&record| requirements.of(record).exclude)
        .count();
    let unmet = release.unsatisfiable.len();
    assert_eq!(release.excluded as usize, wishes + unmet);
    assert!(
        unmet as f64 <= params.max_excluded * table.records() as f64,
        "{unmet} beyond the budget"
    );
}

#[test]
fn every_run_ends_verified_or_infeasible_for_a_true_reason_or_refused() {
    for_plans(plans(), 200, |plan| {
        let scenario = Scenario::of(plan);
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
        let scenario = Scenario::of(plan);
        let table = scenario.table();
        let Ok((params, requirements)) = requirements(&table, &scenario, &scenario.parameters)
        else {
            return Ok(());
        };
        threads_do_not_matter(|| {
            let context = RunContext::silent(plan.seed);
            run(&table, &requirements, &params, &context)
        })
    });
}

#[test]
fn another_order_of_records_is_verified_too() {
    for_plans(plans(), 60, |plan| {
        let scenario = Scenario::of(plan).shuffled(plan.seed ^ 1);
        match publish(&scenario, &scenario.parameters, plan.seed) {
            Ok(case) => must_hold(&case, "in another order"),
            Err(EngineError::Infeasible(_) | EngineError::InvalidParameter { .. }) => Ok(()),
            Err(error) => Err(TestCaseError::fail(error.to_string())),
        }
    });
}
