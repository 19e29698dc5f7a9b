//! Groups refined by local search: less is lost, every promise is kept, and
//! nothing but the seed decides.

use std::sync::Mutex;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{CancelFlag, EngineError, InMemory, Progress, RunContext};
use vizard_anonymizer::microdata::{Preference, Table};
use vizard_anonymizer::privacy::{Requirements, Seed};

use crate::case::Case;
use crate::random_runs::{for_plans, must_hold, threads_do_not_matter};
use crate::tables::{preferences, table};

use super::handmade::DISEASES;
use super::publish;
use super::scenario::Plan;

/// Records of the larger table: more than one region of the search.
const RECORDS: u32 = 4_000;

const CITIES: &str = "\
Bergen;West;*
Stavanger;West;*
Oslo;East;*
Hamar;East;*
Tromso;North;*
";

/// Patients who differ in age, city, sex and the ward they lie in, with a
/// skew; one in twenty asks for a larger group or less leakage.
fn patients() -> (Table, Vec<Preference>) {
    let schema = json!({
        "name": "patients", "subject_key": "name",
        "attributes": [
            {"name": "name", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical", "hierarchy": "cities"},
            {"name": "sex", "role": "quasi_identifier", "type": "categorical"},
            {"name": "ward", "role": "quasi_identifier", "type": "categorical"},
            {"name": "disease", "role": "sensitive", "type": "categorical", "hierarchy": "diseases"}
        ]
    });
    let mut random = ChaCha12Rng::seed_from_u64(11);
    let mut below = |end: usize| (random.random::<f64>().powi(2) * end as f64) as usize;
    let mut records = String::from("name,age,city,sex,ward,disease\n");
    let mut wishes = Vec::new();
    for at in 0..RECORDS {
        let age = 20 + below(70);
        let city = ["Oslo", "Bergen", "Stavanger", "Tromso", "Hamar"][below(5)];
        let (sex, ward) = (["f", "m"][below(2)], below(6));
        let diseases = ["flu", "asthma", "ulcer", "angina", "pneumonia", "gastritis"];
        let disease = diseases[below(diseases.len())];
        records.push_str(&format!("P{at},{age},{city},{sex},{ward},{disease}\n"));
        let wish = match at % 40 {
            7 => json!({"subject": format!("P{at}"), "max_reidentification": 0.05}),
            23 => json!({"subject": format!("P{at}"), "max_leakage": 0.3}),
            _ => continue,
        };
        wishes.push(wish);
    }
    let hierarchies = [("cities", CITIES), ("diseases", DISEASES)];
    let table = table(schema, &hierarchies, &records);
    (table, preferences(Value::Array(wishes)))
}

/// Mean loss of a cell of a quasi-identifier, as the report has it.
fn loss(case: &Case) -> f64 {
    let report = case.report();
    let report = report.expect("the release fits its originals");
    let ncp = report.value("ncp").expect("it is measured");
    ncp["mean"].as_f64().expect("a number")
}

fn with_effort(parameters: &Value, effort: &str) -> Value {
    let mut parameters = parameters.clone();
    parameters["effort"] = json!(effort);
    parameters
}

#[test]
fn more_effort_loses_less_in_either_grouping_and_every_term_is_kept() {
    let (table, wishes) = patients();
    for grouping in ["sorted", "mondrian"] {
        let parameters = json!({
            "k": 5, "sensitive": "disease", "max_leakage": 0.8, "grouping": grouping,
            "max_excluded": 0.05
        });
        let run = |effort: &str| {
            let parameters = with_effort(&parameters, effort);
            let case = publish(table.clone(), &parameters, &wishes, 3).expect("there is a release");
            must_hold(&case, effort).expect("the verifier passes it");
            assert_eq!(case.manifest.parameters["effort"], effort);
            loss(&case)
        };
        let (none, fast, best) = (run("none"), run("fast"), run("best"));
        assert!(fast < 0.95 * none, "{grouping}: {fast} after {none}");
        assert!(best < fast, "{grouping}: {best} after {fast}");
    }
}

/// The search begins with the groups that are published without it; where it
/// makes nobody leave, the same records are published with no more loss.
#[test]
fn an_effort_never_loses_more_where_it_makes_nobody_leave() {
    let plans = (any::<u64>(), 1..150_usize, 1..=4_usize);
    let plans = plans.prop_map(|(seed, records, quasi)| Plan {
        seed,
        records,
        quasi,
    });
    for_plans(plans, 60, loses_no_more);
}

/// A table so small that the search ends higher than it began.
#[test]
fn a_search_that_ends_worse_than_it_began_changes_nothing() {
    let plan = Plan {
        seed: 14_061_424_733_528_007_262,
        records: 70,
        quasi: 1,
    };
    loses_no_more(plan).expect("no more is lost");
}

/// Groups that mix numbers with the missing value lose the whole range, no more.
#[test]
fn a_search_among_missing_numbers_counts_the_loss_that_is_reported() {
    let plan = Plan {
        seed: 2_678_677_668_908_923_621,
        records: 133,
        quasi: 3,
    };
    loses_no_more(plan).expect("no more is lost");
}

fn loses_no_more(plan: Plan) -> Result<(), TestCaseError> {
    let scenario = plan.scenario();
    let run = |effort: &str| {
        let parameters = with_effort(&scenario.parameters, effort);
        let case = scenario.publish(&parameters, plan.seed).ok()?;
        Some((case.excluded, loss(&case)))
    };
    if let Some((excluded, none)) = run("none") {
        for effort in ["fast", "best"] {
            let Some((also, refined)) = run(effort) else {
                continue;
            };
            prop_assert!(also >= excluded, "{effort}: {also} after {excluded}");
            let is_no_worse = also > excluded || refined <= none + 1e-5;
            prop_assert!(is_no_worse, "{effort}: {refined} after {none}");
        }
    }
    Ok(())
}

#[test]
fn one_thread_and_three_refine_to_the_same_release() {
    let (table, wishes) = patients();
    for grouping in ["sorted", "mondrian"] {
        let parameters = json!({
            "k": 5, "sensitive": "disease", "max_leakage": 0.5, "grouping": grouping,
            "max_excluded": 0.2, "effort": "fast"
        });
        let engine = Engine::parse("personalized", &parameters, table.schema()).expect("they fit");
        let policy = engine.policy(table.schema()).expect("they fit the schema");
        let requirements = Requirements::new(&table, policy, &wishes);
        let same = threads_do_not_matter(|| {
            let release = engine.run(&table, &requirements, &RunContext::silent(5));
            release.expect("there is a release")
        });
        same.expect("threads do not matter");
    }
}

#[test]
fn without_an_effort_groups_are_as_they_were_gathered() {
    let (table, wishes) = patients();
    let parameters = json!({"k": 5, "sensitive": "disease"});
    let release = |parameters: &Value| {
        let case = publish(table.clone(), parameters, &wishes, 2).expect("there is a release");
        case.manifest.tables
    };
    let none = release(&with_effort(&parameters, "none"));
    assert_eq!(release(&parameters), none);
    assert_ne!(release(&with_effort(&parameters, "fast")), none);
}

/// Cancels the run as soon as a round of the search is done.
#[derive(Default)]
struct Impatient {
    flag: CancelFlag,
    heard: Mutex<Vec<(u32, u32, f64)>>,
}

impl Progress for Impatient {
    fn report(&self, step: u32, steps: u32, label: &'static str, fraction: f64) {
        if label == "refine" {
            self.heard.lock().unwrap().push((step, steps, fraction));
            self.flag.cancel();
        }
    }
}

#[test]
fn a_search_that_is_cancelled_ends_the_run_before_its_next_round() {
    let (table, wishes) = patients();
    for grouping in ["sorted", "mondrian"] {
        let parameters = json!({
            "k": 5, "sensitive": "disease", "grouping": grouping, "effort": "best"
        });
        let engine = Engine::parse("personalized", &parameters, table.schema()).expect("they fit");
        let policy = engine.policy(table.schema()).expect("they fit the schema");
        let requirements = Requirements::new(&table, policy, &wishes);
        let impatient = Impatient::default();
        let context = RunContext {
            seed: Seed::of_number(1),
            dataset_secret: Seed::of_number(0),
            progress: &impatient,
            cancel: impatient.flag.clone(),
            part: None,
            scratch: &InMemory,
        };
        let outcome = engine.run(&table, &requirements, &context);
        assert!(matches!(outcome, Err(EngineError::Cancelled)), "{grouping}");
        let heard = impatient.heard.lock().unwrap();
        let [(3, 4, fraction)] = heard[..] else {
            panic!("{grouping}: one round, of step 3 of 4: {heard:?}");
        };
        assert!(0.0 < fraction && fraction < 1.0, "{grouping}: {fraction}");
    }
}

#[test]
fn an_effort_that_there_is_not_is_refused() {
    let (table, _) = patients();
    let parameters = json!({"k": 5, "sensitive": "disease", "effort": "most"});
    let refused = Engine::parse("personalized", &parameters, table.schema());
    let Err(EngineError::InvalidParameter { reason, .. }) = refused else {
        panic!("`most` is no effort");
    };
    assert!(reason.contains("none"), "the choices are named: {reason}");
}
