//! Who may be left out where everyone together decides: nobody whose terms
//! could be met. Each bound is tried where it is met exactly, and one beyond.

use serde_json::{Value, json};
use vizard_anonymizer::microdata::Table;
use vizard_anonymizer::verify::Check;

use super::case::Case;
use super::tables::{preferences, table};

/// City and job of `n0`, `n1`, …: three bakers, three clerks, two nurses; two
/// of Rome, three of Oslo, three of Bern.
const PEOPLE: [(&str, &str); 8] = [
    ("Rome", "baker"),
    ("Rome", "clerk"),
    ("Oslo", "baker"),
    ("Oslo", "nurse"),
    ("Oslo", "clerk"),
    ("Bern", "nurse"),
    ("Bern", "baker"),
    ("Bern", "clerk"),
];

const JOBS: &str = "baker;food;*\nclerk;office;*\nnurse;care;*\n";

fn of(people: &[(&str, &str)]) -> Table {
    let schema = json!({
        "name": "people", "subject_key": "name",
        "attributes": [
            {"name": "name", "role": "identifier"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical"},
            {"name": "job", "role": "sensitive", "type": "categorical", "hierarchy": "jobs"}
        ]
    });
    let mut records = String::from("name,city,job\n");
    for (at, (city, job)) in people.iter().enumerate() {
        records += &format!("n{at},{city},{job}\n");
    }
    table(schema, &[("jobs", JOBS)], &records)
}

/// What an engine publishes; everyone may be left out, as far as the job goes.
fn run(people: &[(&str, &str)], job: (&str, Value), wishes: &Value, seed: u64) -> Case {
    run_on(of(people), job, wishes, seed)
}

fn run_on(table: Table, (name, asked): (&str, Value), wishes: &Value, seed: u64) -> Case {
    let mut parameters = asked;
    parameters["max_excluded"] = json!(1.0);
    let case = Case::run(name, table, &parameters, &preferences(wishes.clone()), seed);
    let case = case.unwrap_or_else(|error| panic!("{name} with {wishes}: {error}"));
    case.drawn_by(seed)
}

fn exclusions(case: &Case) -> Check {
    let mut checks = case.verdict().checks.into_iter();
    let found = checks.find(|check| check.kind == "exclusions_asked_for");
    found.expect("it is always examined")
}

fn could_be_published(check: &Check) -> f64 {
    let mut figures = check.figures.iter();
    let found = figures.find(|(name, _)| *name == "could_be_published");
    found.expect("it is counted").1
}

/// The release without the row of a subject.
fn without(case: &Case, subject: u32) -> Case {
    let rows = 0..case.rows();
    let kept: Vec<usize> = rows
        .filter(|&row| case.subjects()[row].0 != subject)
        .collect();
    let mut left = case.clone();
    left.take_rows(case.row_table(), &kept);
    left.seal();
    left
}

/// Subjects without a row.
fn absent(case: &Case) -> Vec<u32> {
    let there: Vec<u32> = case.subjects().iter().map(|subject| subject.0).collect();
    let all = 0..case.table.subjects() as u32;
    all.filter(|at| !there.contains(at)).collect()
}

/// n3 is published with terms that fit exactly, and may then not be absent;
/// with terms beyond n3 is absent, and that is accepted.
fn fits_and_does_not(job: (&str, Value), fits: &Value, beyond: &Value) {
    of_these(&PEOPLE, job, fits, beyond);
}

fn of_these(people: &[(&str, &str)], job: (&str, Value), fits: &Value, beyond: &Value) {
    let wish = |terms: &Value| {
        let mut wish = terms.clone();
        wish["subject"] = json!("n3");
        json!([wish])
    };
    let case = run(people, job.clone(), &wish(fits), 0);
    assert_eq!(absent(&case), [0_u32; 0], "{job:?} {fits}");
    let check = exclusions(&without(&case, 3));
    assert_eq!(could_be_published(&check), 1.0, "{job:?} {fits}");
    assert!(!check.holds);
    assert_eq!(
        check.note,
        Some("a subject is left out whose terms could be met")
    );

    let case = run(people, job.clone(), &wish(beyond), 0);
    assert_eq!(absent(&case), [3], "{job:?} {beyond}");
    let check = exclusions(&case);
    assert!(check.holds, "{job:?} {beyond}: {check:?}");
    assert_eq!(could_be_published(&check), 0.0);
    assert!(case.verdict().holds());
}

/// The terms of somebody who is to look like `k − 1` others.
fn k(k: u32) -> Value {
    json!({"max_reidentification": 1.0 / f64::from(k)})
}

#[test]
fn of_groups_an_own_k_explains_absence_only_beyond_everyone() {
    fits_and_does_not(("mondrian", json!({"k": 2})), &k(8), &k(9));
    let generalized = json!({"l": 2, "publish": "generalization"});
    fits_and_does_not(("arp", generalized), &k(8), &k(9));
    let sliced = json!({"l": 2, "publish": "slicing"});
    fits_and_does_not(("arp", sliced), &k(8), &k(9));
}

#[test]
fn of_exact_rows_an_own_k_explains_absence_only_beyond_those_who_look_the_same() {
    for engine in ["arp", "aip", "anatomy"] {
        fits_and_does_not((engine, json!({"l": 2})), &k(3), &k(4));
    }
    let drawn = json!({"l": 2, "publish": "randomization", "retention": 0.3});
    fits_and_does_not(("arp", drawn), &k(3), &k(4));
}

/// Of everyone a window of pairs has eight records, whoever asks for seven or
/// eight.
#[test]
fn of_rings_an_own_k_explains_absence_only_beyond_the_window_of_everyone() {
    for fits in [7, 8] {
        fits_and_does_not(("ng", json!({"l": 2})), &k(fits), &k(9));
    }
    // Seven are enough for a k of seven, but have no window of eight.
    let wishes = json!([{"subject": "n3", "max_reidentification": 1.0 / 7.0}]);
    let case = run(&PEOPLE[..7], ("ng", json!({"l": 2})), &wishes, 3);
    assert_eq!(absent(&case), [3]);
    let check = exclusions(&case);
    assert!(check.holds, "{check:?}");
}

/// Two of the first six have each job, which is an l of 3 and no more.
#[test]
fn an_own_l_explains_absence_only_beyond_the_most_frequent_value() {
    let (third, quarter) = (json!({"max_leakage": 0.34}), json!({"max_leakage": 0.25}));
    of_these(
        &PEOPLE[..6],
        ("mondrian", json!({"k": 1})),
        &third,
        &quarter,
    );
    for engine in ["arp", "aip", "anatomy", "ng"] {
        of_these(&PEOPLE[..6], (engine, json!({"l": 1})), &third, &quarter);
    }
}

#[test]
fn an_own_share_explains_absence_only_below_that_of_the_most_frequent_value() {
    let close = json!({"k": 1, "attributes": {"job": {"t_closeness": 1.0}}});
    let share = |share: f64| json!({"max_leakage": {"job": share}});
    fits_and_does_not(("mondrian", close), &share(0.375), &share(0.374_999_999));
}

/// Where every value is the root a nurse's is known with a chance of 2 in 8,
/// and that somebody is a baker or a nurse with 5 in 8.
#[test]
fn of_personalized_groups_a_value_or_guard_explains_absence_only_if_it_is_too_frequent() {
    let job = (
        "personalized",
        json!({"k": 1, "sensitive": "job", "max_leakage": 1.0}),
    );
    let leak = |share: f64| json!({"max_leakage": {"job": share}});
    fits_and_does_not(job.clone(), &leak(0.25), &leak(0.249_999_999));
    let guard =
        |share: f64| json!({"max_leakage": {"job": share}, "guard": {"job": ["food", "nurse"]}});
    fits_and_does_not(job.clone(), &guard(0.625), &guard(0.624_999_999));
    fits_and_does_not(job, &k(8), &k(9));
}

/// Four are bakers and three clerks who ask for nothing. A fifth baker and a
/// nurse ask for an l of 2: with the baker five of nine are bakers, without
/// four of eight. Whoever leaves first, the nurse is published.
#[test]
fn who_left_before_the_one_in_the_way_comes_back() {
    let mut people = vec![("Rome", "baker"); 5];
    people.extend([("Rome", "clerk"); 3]);
    people.push(("Rome", "nurse"));
    let wishes = json!([
        {"subject": "n4", "max_leakage": 0.5}, {"subject": "n8", "max_leakage": 0.5}
    ]);
    let jobs = [
        ("mondrian", json!({"k": 2})),
        ("arp", json!({"l": 1})),
        ("arp", json!({"l": 1, "publish": "generalization"})),
        ("aip", json!({"l": 1})),
        ("anatomy", json!({"l": 1})),
        ("ng", json!({"l": 1})),
    ];
    for job in jobs {
        for seed in 0..16 {
            let case = run(&people, job.clone(), &wishes, seed);
            assert_eq!(absent(&case), [4], "{job:?}, seed {seed}");
            let check = exclusions(&case);
            assert!(check.holds, "{job:?}, seed {seed}: {check:?}");
        }
    }
}

/// n3 asks for something of the sensitive attribute that is not published.
#[test]
fn terms_about_what_is_not_published_explain_nothing() {
    let schema = json!({
        "name": "people", "subject_key": "name",
        "attributes": [
            {"name": "name", "role": "identifier"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical"},
            {"name": "job", "role": "sensitive", "type": "categorical"},
            {"name": "pay", "role": "sensitive", "type": "integer"}
        ]
    });
    let mut records = String::from("name,city,job,pay\n");
    for (at, (city, job)) in PEOPLE.iter().enumerate() {
        records += &format!("n{at},{city},{job},7\n");
    }
    let wishes = json!([{"subject": "n3", "max_leakage": {"pay": 0.01}}]);
    let job = ("arp", json!({"l": 2, "sensitive": ["job"]}));
    let case = run_on(table(schema, &[], &records), job, &wishes, 3);
    assert_eq!(absent(&case), [0_u32; 0]);
    let check = exclusions(&without(&case, 3));
    assert_eq!(could_be_published(&check), 1.0);
    assert!(!check.holds);
}
