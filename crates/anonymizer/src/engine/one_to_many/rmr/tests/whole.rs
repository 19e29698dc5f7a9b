//! Whole plans and runs against their promise.

use std::collections::BTreeMap;

use serde_json::json;

use crate::engine::context::{InMemory, RunContext, Silent};
use crate::engine::error::{EngineError, Infeasible};
use crate::engine::one_to_many::rmr::bounds::RowLayout;
use crate::engine::one_to_many::rmr::diagnosis::plan_or_diagnosis;
use crate::engine::one_to_many::rmr::plan::{Frame, Plan};
use crate::engine::one_to_many::rmr::{Params, run};
use crate::privacy::{CancelFlag, K, Seed};

use super::made::{Made, made, params};
use super::parts::holds;

fn plan(made: &Made, params: &Params) -> Result<Plan, EngineError> {
    made.frame(params, |frame| {
        let plan = plan_or_diagnosis(frame, params.max_excluded)?;
        keeps_its_promise(frame, &plan);
        Ok(plan)
    })
}

/// Everybody is in one cluster or left out, and every cluster holds.
fn keeps_its_promise(frame: &Frame<'_>, plan: &Plan) {
    let (space, rows) = RowLayout::lay_out(frame.persons);
    let (mut loss, mut size) = (0.0, 0);
    let mut seen = plan.unsatisfiable.clone();
    for (members, cut) in &plan.clusters {
        seen.extend(members);
        let width = space.width();
        let row = |person: u32| &rows[person as usize * width..][..width];
        let mut hull = row(members[0]).to_vec();
        let mut fingerprints: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        for &person in members {
            assert!(members.len() >= frame.persons.k[person as usize].max(frame.k) as usize);
            space.join(&mut hull, row(person));
            let mut nodes = Vec::new();
            cut.fingerprint(frame.persons.items(person), &mut nodes);
            *fingerprints.entry(nodes).or_default() += 1;
        }
        assert!(holds(frame, members, cut));
        let most = fingerprints.values().max().copied().unwrap_or(0);
        let l = members
            .iter()
            .map(|&person| frame.persons.l[person as usize]);
        assert!(most * l.max().unwrap_or(1) <= members.len() as u32);
        loss += f64::from(space.loss(&hull)) / 4.0 * members.len() as f64;
        size += members.len();
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..frame.persons.len() as u32).collect::<Vec<_>>());
    assert!(loss / size as f64 <= frame.delta + 1e-9);
}

fn infeasible(result: Result<Plan, EngineError>) -> Infeasible {
    match result {
        Err(EngineError::Infeasible(answer)) => *answer,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a plan"),
    }
}

#[test]
fn clusters_hold_for_every_k_m_and_delta() {
    for (seed, k, m, delta) in [
        (1, 2, 1, 0.5),
        (2, 5, 2, 0.6),
        (3, 3, 3, 0.9),
        (4, 7, 2, 1.0),
    ] {
        let plan = plan(&made(seed, 250, 3), &params(k, m, delta)).expect("a plan");
        assert!(plan.unsatisfiable.is_empty());
    }
}

#[test]
fn a_wider_delta_saves_items() {
    let made = made(6, 400, 3);
    let loss = |delta| -> f64 {
        let plan = plan(&made, &params(4, 2, delta)).expect("a plan");
        plan.clusters.iter().map(|(_, cut)| cut.loss).sum()
    };
    assert!(loss(0.9) < 0.7 * loss(0.45));
}

#[test]
fn own_k_and_own_l_hold_and_nobody_is_left_out_for_terms_that_can_be_met() {
    let mut made = made(8, 400, 3);
    for person in [3, 50, 120] {
        made.ask(person, json!({"max_reidentification": 0.05}));
    }
    for person in [4, 51, 200, 300] {
        made.ask(person, json!({"max_leakage": 0.25}));
    }
    made.ask(77, json!({"exclude": true}));
    let whole = plan(&made, &params(4, 2, 1.0)).expect("a plan");
    assert!(whole.unsatisfiable.is_empty());
    let persons: usize = whole
        .clusters
        .iter()
        .map(|(members, _)| members.len())
        .sum();
    assert_eq!(persons, 399);
    // Within less, some l cannot be met; those who ask for a k only stay.
    let within = plan(&made, &params(4, 2, 0.7)).expect("a plan");
    assert!((1..=4).contains(&within.unsatisfiable.len()));
}

#[test]
fn terms_that_cannot_be_met_leave_alone_and_within_max_excluded() {
    let mut made = made(9, 200, 3);
    made.ask(1, json!({"max_reidentification": 0.001}));
    made.ask(2, json!({"max_leakage": 0.0001}));
    let mut params = params(4, 2, 0.8);
    let held = plan(&made, &params).expect("a plan");
    assert_eq!(held.unsatisfiable.len(), 2);
    params.max_excluded = 0.005;
    let answer = infeasible(plan(&made, &params));
    assert_eq!(
        (answer.parameter, answer.strongest_value),
        ("max_excluded", Some(0.01))
    );
    params.max_excluded = 0.01;
    assert!(plan(&made, &params).is_ok());
}

#[test]
fn too_few_subjects_name_the_largest_k() {
    let made = made(10, 9, 2);
    let mut params = params(10, 2, 1.0);
    let answer = infeasible(plan(&made, &params));
    assert_eq!((answer.parameter, answer.strongest_value), ("k", Some(9.0)));
    params.k = K::new(9).expect("a k");
    assert!(plan(&made, &params).is_ok());
}

#[test]
fn a_delta_below_the_smallest_clusters_names_the_least_that_holds() {
    let made = made(12, 200, 2);
    let mut params = params(5, 2, 0.01);
    let answer = infeasible(plan(&made, &params));
    assert_eq!(answer.parameter, "delta");
    params.delta = answer.strongest_value.expect("some delta holds");
    assert!(plan(&made, &params).is_ok());
    params.delta -= 0.0002;
    assert!(plan(&made, &params).is_err());
}

#[test]
fn one_strict_subject_does_not_block_everybody() {
    let mut made = made(13, 300, 3);
    // As many as there are: their cluster would be everybody.
    made.ask(5, json!({"max_reidentification": 0.0034}));
    let plan = plan(&made, &params(4, 2, 0.5)).expect("a plan");
    assert_eq!(plan.unsatisfiable.len(), 1);
}

#[test]
fn threads_do_not_matter_and_the_seed_does() {
    let mut made = made(14, 500, 3);
    made.ask(5, json!({"max_leakage": 0.25}));
    let params = params(4, 2, 0.7);
    let release = |seed, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.expect("threads");
        let requirements = made.requirements(&params);
        let context = RunContext::silent(seed);
        let release = pool.install(|| run(&made.table, &requirements, &params, &context));
        let release = release.expect("a release");
        (release.tables, release.lineage)
    };
    let (one, four) = (release(1, 1), release(1, 4));
    assert!(one.0 == four.0 && one.1 == four.1);
    assert!(release(2, 1).0 != one.0);
}

#[test]
fn a_cancelled_run_stops() {
    let made = made(15, 100, 2);
    let params = params(4, 2, 0.7);
    let cancel = CancelFlag::default();
    cancel.cancel();
    let context = RunContext {
        seed: Seed::of_number(1),
        dataset_secret: Seed::of_number(0),
        progress: &Silent,
        cancel,
        part: None,
        scratch: &InMemory,
    };
    let result = run(&made.table, &made.requirements(&params), &params, &context);
    assert_eq!(result.err(), Some(EngineError::Cancelled));
}
