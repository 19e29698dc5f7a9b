//! Random tables × preferences × parameters (house.md, Tests).
//!
//! Every run ends in a release that the verifier passes after a trip through
//! its bytes; *infeasible* with a reason that is true; or a parameter that is
//! refused. Never a panic, never a release that fails.

use std::cell::Cell as Count;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;
use vizard_anonymizer::engine::EngineError;

use crate::random_runs::{Scope, for_plans, is_true, must_hold, threads_do_not_matter};

use super::scenario::Plan;

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

#[test]
fn every_run_of_mondrian_ends_verified_or_infeasible_for_a_true_reason_or_refused() {
    let ends = [(); 3].map(|()| Count::new(0_u32));
    for_plans(plans(), 300, |plan| {
        let scenario = plan.scenario();
        match scenario.publish(&scenario.parameters, plan.seed) {
            Ok(case) => {
                ends[0].set(ends[0].get() + 1);
                must_hold(&case, "as asked")
            }
            Err(EngineError::Infeasible(answer)) => {
                ends[1].set(ends[1].get() + 1);
                let parameters = (&scenario.parameters, Scope::Attribute);
                let again = |parameters: &Value| scenario.publish(parameters, plan.seed);
                is_true(parameters, *answer, again, must_hold)
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
    for_plans(plans(), 60, |plan| {
        let scenario = plan.scenario();
        threads_do_not_matter(|| scenario.run(&scenario.parameters, plan.seed))
    });
}
