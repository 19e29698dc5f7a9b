//! Who may be absent from a release: releases in which somebody is left out
//! without a reason, or more than the job allows, though nothing else is wrong.

use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::verify::Check;

use super::case::Case;
use super::tables::{preferences, table};

const JOBS: &str = "baker;food;*\nclerk;office;*\nnurse;care;*\n";

/// Age, city and job of `n0`, `n1`, …
const PEOPLE: [(i64, &str, &str); 8] = [
    (20, "Oslo", "baker"),
    (21, "Oslo", "clerk"),
    (22, "Rome", "baker"),
    (23, "Rome", "nurse"),
    (60, "Oslo", "clerk"),
    (61, "Oslo", "nurse"),
    (62, "Rome", "baker"),
    (63, "Rome", "clerk"),
];

fn published(name: &str, parameters: Value, wishes: Value) -> Case {
    let schema = json!({
        "name": "people", "subject_key": "name",
        "attributes": [
            {"name": "name", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical"},
            {"name": "job", "role": "sensitive", "type": "categorical", "hierarchy": "jobs"}
        ]
    });
    let mut records = String::from("name,age,city,job\n");
    for (at, (age, city, job)) in PEOPLE.iter().enumerate() {
        records += &format!("n{at},{age},{city},{job}\n");
    }
    let table = table(schema, &[("jobs", JOBS)], &records);
    let case = Case::run(name, table, &parameters, &preferences(wishes), 3);
    let case = case.expect("it can be published");
    let check = exclusions(&case);
    assert!(check.holds, "{check:?}");
    case
}

fn exclusions(case: &Case) -> Check {
    let mut checks = case.verdict().checks.into_iter();
    let found = checks.find(|check| check.kind == "exclusions_asked_for");
    found.expect("it is always examined")
}

fn figures(check: &Check) -> [f64; 3] {
    [0, 1, 2].map(|at| check.figures[at].1)
}

/// The case without the rows of these subjects.
fn without(case: &Case, gone: &[u32]) -> Case {
    let stays = |row: &usize| !gone.contains(&case.subjects()[*row].0);
    let rows: Vec<usize> = (0..case.rows()).filter(stays).collect();
    let mut left = case.clone();
    left.take_rows(case.row_table(), &rows);
    left.seal();
    left
}

/// n0 asks for more than anybody can have. Beside Oslo there is then one job
/// too few for the others there; they may leave, and nobody of Rome.
fn sliced() -> Case {
    let parameters = json!({"l": 2, "columns": [["age"], ["city", "job"]], "max_excluded": 0.9});
    published(
        "slicing",
        parameters,
        json!([{"subject": "n0", "max_leakage": 0.2}]),
    )
}

#[test]
fn of_sliced_tables_those_leave_with_somebody_who_share_their_combination() {
    let case = sliced();
    assert_eq!(figures(&exclusions(&case)), [0.0, 1.0, 3.0]);
    for of_rome in [2, 3, 6, 7] {
        let check = exclusions(&without(&case, &[of_rome]));
        assert!(!check.holds, "{of_rome}");
        assert_eq!(check.attained, Some(1.0));
    }
}

#[test]
fn a_release_of_nobody_is_refused_though_somebody_asked_for_too_much() {
    let mut nobody = without(&sliced(), &[2, 3, 6, 7]);
    nobody.ordered.parameters["max_excluded"] = json!(1.0);
    let wishes = (0..8).map(|at| json!({"subject": format!("n{at}"), "max_leakage": 0.01}));
    let wishes: Vec<Value> = wishes.collect();
    let policy = nobody.requirements.ordered().clone();
    nobody.requirements = Requirements::new(&nobody.table, policy, &preferences(json!(wishes)));
    let check = exclusions(&nobody);
    assert_eq!(check.note, Some("nobody is published"));
    assert!(!check.holds);
}

/// Three of eight are bakers and clerks each, two are nurses: under a bound of
/// 0.3 the frequent jobs explain an absence, the nurses' does not.
#[test]
fn where_leakage_is_bounded_a_value_explains_absence_only_if_it_is_frequent() {
    let parameters = json!({"k": 1, "sensitive": "job", "max_leakage": 1.0, "max_excluded": 1.0});
    let mut case = published("personalized", parameters, json!([]));
    let bounded = json!({"k": 1, "sensitive": "job", "max_leakage": 0.3, "max_excluded": 1.0});
    let engine = Engine::parse("personalized", &bounded, case.table.schema()).unwrap();
    let policy = engine.policy(case.table.schema()).unwrap();
    case.requirements = Requirements::new(&case.table, policy, &[]);
    let (baker, nurse) = (without(&case, &[2]), without(&case, &[3]));
    assert!(exclusions(&baker).holds);
    assert!(!exclusions(&nurse).holds);
}

#[test]
fn no_more_are_left_out_than_the_job_allows() {
    let wishes = json!([
        {"subject": "n0", "exclude": true}, {"subject": "n3", "max_reidentification": 0.01}
    ]);
    let parameters = json!({"k": 2, "max_excluded": 0.2});
    let mut case = published("mondrian", parameters, wishes);
    assert_eq!(figures(&exclusions(&case)), [1.0, 1.0, 0.0]);
    // One of the seven who did not ask to be left out.
    for (allowed, holds) in [(1.0 / 7.0, true), (1.0 / 8.0, false), (0.0, false)] {
        case.ordered.parameters["max_excluded"] = json!(allowed);
        assert_eq!(exclusions(&case).holds, holds, "{allowed}");
    }
}

/// What the values of those who asked to be in no release may not move: the
/// size of a spread that follows the scale, and the l that engines keep where
/// values are missing. Both can be read off a release.
#[test]
fn values_of_the_excluded_show_in_no_claim() {
    let publish = |pay: &str| {
        let schema = json!({
            "name": "people", "subject_key": "name", "missing": "category",
            "attributes": [
                {"name": "name", "role": "identifier"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"},
                {"name": "pay", "role": "sensitive", "type": "decimal"}
            ]
        });
        let mut records = format!("name,age,pay\nout,30,{pay}\n");
        for at in 0..18 {
            records += &format!("n{at},{},{}\n", 20 + at, at * 10);
        }
        let table = table(schema, &[], &records);
        let parameters = json!({"k": 2, "l": 2});
        let engine = Engine::parse("mondrian", &parameters, table.schema()).expect("parameters");
        let policy = engine.policy(table.schema()).expect("they fit");
        let wishes = preferences(json!([{"subject": "out", "exclude": true}]));
        let requirements = Requirements::new(&table, policy, &wishes);
        let claimed = format!("{:?}", requirements.ordered());
        (claimed, requirements.lacking())
    };
    let usual = publish("85");
    // Between the 94th and the 95th of a hundred, beyond all others, none.
    for pay in ["157.25", "100000", ""] {
        assert_eq!(publish(pay), usual, "{pay}");
    }
}
