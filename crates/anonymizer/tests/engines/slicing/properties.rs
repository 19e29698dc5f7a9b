//! Random tables × preferences × parameters (house.md, Tests).
//!
//! Every run ends in a release that the verifier passes after a trip through
//! its bytes; *infeasible* with a reason that is true; or a parameter that is
//! refused. Never a panic, never a release that fails.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::privacy::Protection;

use crate::random_runs::{Scope, for_plans, is_true, must_hold, threads_do_not_matter};

use super::naive;
use super::scenario::Plan;

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

fn ends_well(plan: Plan) -> Result<(), TestCaseError> {
    let scenario = plan.scenario();
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

/// The verifier's figures are those of the definition, worked out over all
/// buckets and values.
fn agrees_with_the_definition(plan: Plan) -> Result<(), TestCaseError> {
    let scenario = plan.scenario();
    let Ok(case) = scenario.publish(&scenario.parameters, plan.seed) else {
        return Ok(());
    };
    for check in case.verdict().checks {
        if check.kind != "l_diversity" {
            continue;
        }
        let name = check.attribute.as_deref().expect("it is of an attribute");
        let most = naive::largest_probability(&case, name);
        // With missing values the l of known ones is one less than is kept.
        let about = case.attribute(name);
        let mut all = case.requirements.protected();
        let index = all.find(|&index| case.requirements.attribute(index) == about);
        let index = index.expect("it is protected");
        let kept = case.requirements.protection(index);
        let one_less = match kept {
            Protection::Diversity { l, .. } => {
                f64::from(l.get() - case.requirements.l_of_known(index, l.get()))
            }
            _ => 0.0,
        };
        let attained = check.attained.map(|l| 1.0 / (l + one_less));
        match (most, attained) {
            (Some(most), Some(attained)) => {
                prop_assert!((most - attained).abs() < 1e-9, "{most} {attained}");
            }
            (most, attained) => prop_assert_eq!(most, attained),
        }
    }
    Ok(())
}

/// An l as it is ordered is named, where only one of two attributes keeps one
/// more because values are missing.
#[test]
fn an_answer_on_l_counts_the_missing_values_of_every_attribute() {
    let plan = Plan {
        seed: 5_776_417_655_455_631_152,
        records: 32,
        quasi: 1,
        sensitive: 2,
        insensitive: 0,
    };
    ends_well(plan).expect("the answer is true");
}

#[test]
fn every_run_of_slicing_ends_verified_or_infeasible_for_a_true_reason_or_refused() {
    for_plans(plans(), 400, ends_well);
}

#[test]
fn one_thread_and_three_give_the_same_release_of_slicing() {
    for_plans(plans(), 60, |plan| {
        let scenario = plan.scenario();
        threads_do_not_matter(|| scenario.run(&scenario.parameters, plan.seed))
    });
}

#[test]
fn probabilities_of_sliced_values_are_those_of_the_definition() {
    for_plans(plans(), 120, agrees_with_the_definition);
}
