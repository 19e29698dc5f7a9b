//! Random tables × hierarchies × preferences × parameters (house.md, Tests).
//!
//! Every run ends in a release that the verifier passes after a trip through
//! its bytes; *infeasible* with a reason that is true; or a parameter that is
//! refused. Leakage is worked out anew by a naive program, and must be what
//! verifier and report say.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Value, json};
use vizard::catalog::Engine;
use vizard::engine::{EngineError, Infeasible, RunContext};
use vizard::privacy::Requirements;
use vizard::query::{self, Workload};
use vizard::utility;

use crate::case::Case;
use crate::common::cases::property_cases;
use crate::naive::personalized::{leaks, overlaps};

use super::publish;
use super::scenario::{Plan, Scenario};

/// Steps after which a chain of answers must have ended.
const ANSWERS_MAX: usize = 20;

fn plans() -> impl Strategy<Value = Plan> {
    let records = prop_oneof![1..12_usize, 1..60_usize, 30..=200_usize];
    (any::<u64>(), records, 0..=4_usize).prop_map(|(seed, records, quasi)| Plan {
        seed,
        records,
        quasi,
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

fn run(scenario: &Scenario, parameters: &Value, seed: u64) -> Result<Case, EngineError> {
    publish(scenario.table(), parameters, &scenario.preferences, seed)
}

fn must_hold(case: &Case, what: &str) -> Result<(), TestCaseError> {
    let verdict = case.verdict();
    let failed: Vec<_> = verdict.failed().collect();
    prop_assert!(verdict.holds(), "{what}: {failed:#?}");
    let parameters = &case.manifest.parameters;
    if parameters["recoding"] == json!("group_cut") {
        prop_assert!(!overlaps(case), "nodes of a group overlap");
    }
    let wishes = (0..case.table.records()).map(vizard::microdata::RecordIndex::from_usize);
    let wishes = wishes.filter(|&record| case.requirements.of(record).exclude);
    let opted_out = wishes.count() as u64;
    let unmet = (case.manifest.excluded - opted_out) as f64;
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
    let report = utility::measure(&utility::Evidence {
        table: &case.table,
        requirements: &case.requirements,
        manifest: &case.manifest,
        tables: &case.tables,
        lineage: &case.lineage,
    });
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
            "k" => json!(value as u64),
            _ => json!(value),
        };
        match run(scenario, &parameters, seed) {
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

#[test]
fn every_run_of_personalized_ends_verified_or_infeasible_for_a_true_reason() {
    for_plans(300, |plan| {
        let scenario = Scenario::of(plan);
        match run(&scenario, &scenario.parameters, plan.seed) {
            Ok(case) => {
                must_hold(&case, "as asked")?;
                leaks_as_measured(&case)?;
                answers_queries(&case)
            }
            Err(EngineError::Infeasible(answer)) => is_true(&scenario, plan.seed, *answer),
            Err(error) => Err(TestCaseError::fail(error.to_string())),
        }
    });
}

#[test]
fn one_thread_and_three_give_the_same_release_of_personalized() {
    for_plans(60, |plan| {
        let scenario = Scenario::of(plan);
        let table = scenario.table();
        let engine = Engine::parse("personalized", &scenario.parameters, &scenario.schema);
        let engine = engine.expect("the parameters fit");
        let policy = engine
            .policy(&scenario.schema)
            .expect("they fit the schema");
        let requirements = Requirements::new(&table, policy, &scenario.preferences);
        let with_threads = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let context = RunContext::silent(plan.seed);
            let run = || engine.run(&table, &requirements, &context);
            pool.expect("a pool starts").install(run)
        };
        prop_assert!(
            with_threads(1) == with_threads(3),
            "threads change the release"
        );
        Ok(())
    });
}
