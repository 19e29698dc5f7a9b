//! Random tables × hierarchies × preferences × parameters (house.md, Tests).
//!
//! Every run ends in a release that the verifier passes after a trip through
//! its bytes; *infeasible* with a reason that is true; or a parameter that is
//! refused. Leakage is worked out anew by a naive program, and must be what
//! verifier and report say.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::query::{self, Workload};

use crate::case::Case;
use crate::naive::personalized::{leaks, overlaps};
use crate::random_runs::{self, Scope, for_plans, is_true, threads_do_not_matter};

use super::scenario::Plan;

fn plans() -> impl Strategy<Value = Plan> {
    let records = prop_oneof![1..12_usize, 1..60_usize, 30..=200_usize];
    (any::<u64>(), records, 0..=4_usize).prop_map(|(seed, records, quasi)| Plan {
        seed,
        records,
        quasi,
    })
}

fn must_hold(case: &Case, what: &str) -> Result<(), TestCaseError> {
    random_runs::must_hold(case, what)?;
    let parameters = &case.manifest.parameters;
    if parameters["recoding"] == json!("group_cut") {
        prop_assert!(!overlaps(case), "nodes of a group overlap");
    }
    let wishes =
        (0..case.table.records()).map(vizard_anonymizer::microdata::RecordIndex::from_usize);
    let wishes = wishes.filter(|&record| case.requirements.of(record).exclude);
    let opted_out = wishes.count() as u64;
    let unmet = (case.excluded - opted_out) as f64;
    let of = (case.table.records() as u64 - opted_out) as f64;
    let budget = parameters["max_excluded"].as_f64().expect("a share");
    prop_assert!(unmet <= budget * of + 1e-9, "{unmet} beyond the budget");
    Ok(())
}

/// What verifier and report say of leakage is what a naive program finds.
fn leaks_as_measured(case: &Case) -> Result<(), TestCaseError> {
    let leaks = leaks(case);
    let worst = leaks.iter().map(|leak| leak.ratio()).fold(0.0, f64::max);
    let verdict = case.verdict();
    let mut checks = verdict.checks.iter();
    let check = checks.find(|check| check.kind == "max_leakage");
    let attained = check.and_then(|check| check.attained).unwrap_or(0.0);
    prop_assert!((attained - worst).abs() < 1e-9, "{attained} is not {worst}");
    prop_assert!(worst <= 1.0 + 1e-9);
    let report = case.report();
    let report = report.expect("the release fits its originals");
    let reported = &report.value("leakage").expect("it is measured")["subjects"];
    let mean = leaks.iter().map(|leak| leak.own).sum::<f64>() / leaks.len() as f64;
    let most = leaks.iter().map(|leak| leak.own).fold(0.0, f64::max);
    prop_assert!((reported["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    prop_assert!((reported["max"].as_f64().unwrap() - most).abs() < 1e-9);
    let groups = report.value("group_sizes").expect("it is measured")["groups"].as_u64();
    prop_assert_eq!(groups, Some(case.groups().len() as u64));
    Ok(())
}

/// Counts lie within their bounds, also where the sensitive value is
/// generalized.
fn answers_queries(case: &Case) -> Result<(), TestCaseError> {
    let workload = Workload::standard(20);
    let error = query::error::measure(&case.table, &case.tables, &case.lineage, workload);
    let error = error.expect("the release fits its originals");
    prop_assert_eq!(error.within_bounds, error.queries);
    Ok(())
}

#[test]
fn every_run_of_personalized_ends_verified_or_infeasible_for_a_true_reason() {
    for_plans(plans(), 300, |plan| {
        let scenario = plan.scenario();
        match scenario.publish(&scenario.parameters, plan.seed) {
            Ok(case) => {
                must_hold(&case, "as asked")?;
                leaks_as_measured(&case)?;
                answers_queries(&case)
            }
            Err(EngineError::Infeasible(answer)) => {
                let parameters = (&scenario.parameters, Scope::Job);
                let again = |parameters: &Value| scenario.publish(parameters, plan.seed);
                is_true(parameters, *answer, again, must_hold)
            }
            Err(error) => Err(TestCaseError::fail(error.to_string())),
        }
    });
}

#[test]
fn one_thread_and_three_give_the_same_release_of_personalized() {
    for_plans(plans(), 60, |plan| {
        let scenario = plan.scenario();
        threads_do_not_matter(|| scenario.run(&scenario.parameters, plan.seed))
    });
}
