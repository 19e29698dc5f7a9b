//! What `lgb` does at its edges: rare patterns, terms that cannot be met,
//! links to groups, threads, order, cancellation.

mod answers;
mod properties;
pub mod scenario;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::engine::lgb::{Params, run};
use vizard_anonymizer::engine::{EngineError, Infeasible, RunContext};
use vizard_anonymizer::microdata::{Preference, Table};
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::release::Release;

use super::naive::release::{bucket_values, check, column};
use super::tables::{preferences, table};

/// Lines of a made-up table: id, age, sex, job, salary.
fn lines(records: usize, seed: u64) -> Vec<String> {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let line = |at: usize| {
        let (age, sex) = (random.random_range(18..80), random.random_range(0..2));
        let (job, salary) = (random.random_range(0..9), random.random_range(10..60));
        format!(
            "s{at},{age},{},job {job},{}",
            ["female", "male"][sex],
            1000 * salary
        )
    };
    (0..records).map(line).collect()
}

fn people(lines: &[String]) -> Table {
    let schema = json!({
        "name": "people", "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "semi_sensitive", "type": "integer"},
            {"name": "sex", "role": "semi_sensitive", "type": "categorical"},
            {"name": "job", "role": "quasi_identifier", "type": "categorical", "hierarchy": "job"},
            {"name": "salary", "role": "sensitive", "type": "integer"}
        ]
    });
    let jobs: String = (0..9)
        .map(|job| format!("job {job};field {};*\n", job / 3))
        .collect();
    let records = format!("id,age,sex,job,salary\n{}\n", lines.join("\n"));
    table(schema, &[("job", &jobs)], &records)
}

fn publish_with(
    table: &Table,
    parameters: &Value,
    terms: &[Preference],
    seed: u64,
) -> Result<(Requirements, Release), EngineError> {
    let params: Params = serde_json::from_value(parameters.clone()).expect("the shape is right");
    let requirements = Requirements::new(table, params.policy(table.schema())?, terms);
    let release = run(table, &requirements, &params, &RunContext::silent(seed))?;
    Ok((requirements, release))
}

fn publish(table: &Table, parameters: &Value, terms: Value) -> (Requirements, Release) {
    let published = publish_with(table, parameters, &preferences(terms), 3);
    let (requirements, release) = published.expect("it can be published");
    if parameters["bucket_link"] != json!("group") {
        check(table, &requirements, &release);
    }
    (requirements, release)
}

fn infeasible(table: &Table, parameters: &Value, terms: Value) -> Infeasible {
    match publish_with(table, parameters, &preferences(terms), 3) {
        Err(EngineError::Infeasible(answer)) => *answer,
        other => panic!("expected infeasible, got {:?}", other.map(|_| "a release")),
    }
}

fn everyone_flags(attributes: &[&str], records: usize, share: usize) -> Value {
    let subjects = (0..records).filter(|at| at % share == 0);
    let documents =
        subjects.map(|at| json!({"subject": format!("s{at}"), "sensitive": attributes}));
    documents.collect::<Vec<_>>().into()
}

fn join(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Array(mut one), Value::Array(other)) => {
            one.extend(other);
            Value::Array(one)
        }
        _ => panic!("both are lists"),
    }
}

#[test]
fn a_rare_pattern_is_masked_together_with_the_records_it_borrows() {
    let table = people(&lines(200, 1));
    // Three people flag sex, too few for k=5; nobody else flags anything.
    let terms = everyone_flags(&["sex"], 3, 1);
    let (_, release) = publish(&table, &json!({"k": 5, "l": 2}), terms);
    let sexes = column(&release.tables[0], "sex");
    assert_eq!(sexes.iter().filter(|cell| *cell == "*").count(), 5);
    assert!(bucket_values(&release, "sex").is_empty());
    assert_eq!(release.excluded, 0);
}

#[test]
fn a_pattern_whose_partner_cannot_lend_is_merged_with_all_of_it() {
    let table = people(&lines(8, 2));
    let (_, release) = publish(
        &table,
        &json!({"k": 5, "l": 1}),
        everyone_flags(&["sex"], 4, 1),
    );
    let sexes = column(&release.tables[0], "sex");
    assert!(sexes.iter().all(|cell| cell == "*"));
}

#[test]
fn terms_that_cannot_be_met_leave_their_subject_out_and_nobody_else() {
    let table = people(&lines(300, 3));
    let terms = json!([
        {"subject": "s7", "max_leakage": {"salary": 0.001}},
        {"subject": "s9", "max_reidentification": 0.001}
    ]);
    let (_, release) = publish(&table, &json!({"k": 5, "l": 5}), terms);
    let mut unsatisfiable: Vec<u32> = release
        .unsatisfiable
        .iter()
        .map(|subject| subject.0)
        .collect();
    unsatisfiable.sort_unstable();
    assert_eq!(unsatisfiable, [7, 9]);
    assert_eq!(release.excluded, 2);
}

#[test]
fn a_wish_to_be_left_out_counts_against_no_budget() {
    let table = people(&lines(100, 4));
    let leave = (0..50).map(|at| json!({"subject": format!("s{at}"), "exclude": true}));
    let terms = Value::Array(leave.collect());
    let parameters = json!({"k": 5, "l": 5, "max_excluded": 0});
    let (_, release) = publish(&table, &parameters, terms);
    assert_eq!(release.excluded, 50);
    assert!(release.unsatisfiable.is_empty());
}

#[test]
fn more_unmet_terms_than_the_budget_are_infeasible_with_the_budget_that_holds() {
    let table = people(&lines(100, 5));
    let strict =
        (0..7).map(|at| json!({"subject": format!("s{at}"), "max_leakage": {"salary": 0.001}}));
    let terms = Value::Array(strict.collect());
    let answer = infeasible(&table, &json!({"k": 5, "l": 5}), terms.clone());
    assert_eq!(answer.parameter, "max_excluded");
    assert_eq!(answer.strongest_value, Some(0.07));
    let (_, release) = publish(
        &table,
        &json!({"k": 5, "l": 5, "max_excluded": 0.07}),
        terms,
    );
    assert_eq!(release.unsatisfiable.len(), 7);
}

#[test]
fn too_strong_an_l_names_the_attribute_and_the_strongest_that_holds() {
    let table = people(&lines(60, 6));
    let answer = infeasible(&table, &json!({"k": 2, "l": 40}), json!([]));
    assert_eq!(
        (answer.attribute.as_deref(), answer.parameter),
        (Some("salary"), "l")
    );
    assert!(
        answer
            .condition
            .starts_with("salary: l=40 needs at most 1 in 40 records")
    );
    let strongest = answer.strongest_value.expect("some l holds") as u32;
    publish(&table, &json!({"k": 2, "l": strongest}), json!([]));
    infeasible(&table, &json!({"k": 2, "l": strongest + 1}), json!([]));
}

#[test]
fn an_l_beyond_the_values_of_an_attribute_proposes_t_closeness() {
    let schema = json!({
        "name": "tests", "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "positive", "role": "sensitive", "type": "categorical"}
        ]
    });
    let made = |words: [&str; 4]| {
        let line = |at: usize| format!("s{at},{},{}\n", 20 + at, words[at % 4]);
        let records: String = (0..24).map(line).collect();
        table(schema.clone(), &[], &format!("id,age,positive\n{records}"))
    };
    let table = made(["yes", "no", "no", "no"]);
    let answer = infeasible(&table, &json!({"k": 2, "l": 3}), json!([]));
    let attribute = answer.attribute.as_deref();
    assert_eq!((attribute, answer.parameter), (Some("positive"), "l"));
    assert_eq!(answer.instead, Some("t_closeness"));
    let instead = json!({"k": 2, "l": 1, "attributes": {"positive": {"t_closeness": 0.3}}});
    publish(&table, &instead, json!([]));
    // Where there are values enough, another l is all that is proposed.
    let three = made(["yes", "no", "no", "open"]);
    let answer = infeasible(&three, &json!({"k": 2, "l": 3}), json!([]));
    assert_eq!((answer.parameter, answer.instead), ("l", None));
}

#[test]
fn too_strong_a_k_names_the_number_of_records() {
    let table = people(&lines(20, 7));
    let answer = infeasible(&table, &json!({"k": 21, "l": 1}), json!([]));
    assert_eq!(
        (answer.parameter, answer.strongest_value),
        ("k", Some(20.0))
    );
    let terms = json!([{"subject": "s0", "exclude": true}]);
    let answer = infeasible(&table, &json!({"k": 20, "l": 1}), terms);
    assert_eq!(
        (answer.parameter, answer.strongest_value),
        ("k", Some(19.0))
    );
}

#[test]
fn few_who_flag_an_attribute_leave_rather_than_block_everyone() {
    // One cell cannot be hidden among others: the flag cannot be met. Masking
    // would hide it, but ten people flag it, which is no rare pattern.
    let table = people(&lines(1000, 8));
    let terms = everyone_flags(&["age"], 10, 1);
    let (_, release) = publish(&table, &json!({"k": 5, "l": 11}), terms);
    assert_eq!(release.unsatisfiable.len(), 10);
    assert!(bucket_values(&release, "age").is_empty());
}

#[test]
fn buckets_under_t_closeness_are_close_and_hold_both_values() {
    let table = people(&lines(500, 9));
    let parameters = json!({"k": 5, "l": 2, "attributes": {"sex": {"t_closeness": 0.2}}});
    let (_, release) = publish(&table, &parameters, everyone_flags(&["sex"], 500, 4));
    let contents = bucket_values(&release, "sex");
    let all: Vec<&String> = contents.values().flatten().collect();
    let share_of = |values: &[&String]| {
        let female = values
            .iter()
            .filter(|value| value.as_str() == "female")
            .count();
        female as f64 / values.len() as f64
    };
    assert!(contents.len() > 5, "{} buckets", contents.len());
    for values in contents.values() {
        let values: Vec<&String> = values.iter().collect();
        assert!((share_of(&values) - share_of(&all)).abs() <= 0.2 + 1e-12);
    }
}

#[test]
fn ages_under_t_closeness_are_close_by_the_ordered_distance() {
    let table = people(&lines(400, 10));
    let parameters = json!({"k": 4, "l": 2, "attributes": {"age": {"t_closeness": 0.1}}});
    let (_, release) = publish(&table, &parameters, everyone_flags(&["age"], 400, 2));
    let contents = bucket_values(&release, "age");
    let ages: std::collections::BTreeSet<String> = lines(400, 10)
        .iter()
        .filter_map(|line| line.split(',').nth(1).map(|age| format!("{age}..{age}")))
        .collect();
    let all: Vec<String> = contents.values().flatten().cloned().collect();
    assert!(contents.len() > 5);
    for values in contents.values() {
        let upto = |values: &[String], age: &String| {
            values.iter().filter(|value| *value <= age).count() as f64 / values.len() as f64
        };
        // All ages have two digits, so their order as text is that as numbers.
        let gaps = ages
            .iter()
            .map(|age| (upto(values, age) - upto(&all, age)).abs());
        let distance = gaps.sum::<f64>() / (ages.len() - 1) as f64;
        assert!(distance <= 0.1 + 1e-9, "{distance}");
    }
}

#[test]
fn a_named_share_that_t_closeness_cannot_give_leaves_its_subject_out() {
    let table = people(&lines(300, 11));
    let parameters = json!({"k": 5, "l": 2, "attributes": {"sex": {"t_closeness": 0.2}}});
    let own = json!([{"subject": "s1", "sensitive": ["sex"], "max_leakage": {"sex": 0.1}}]);
    let terms = everyone_flags(&["sex"], 300, 4);
    let (_, release) = publish(&table, &parameters, join(terms, own));
    let unsatisfiable: Vec<u32> = release
        .unsatisfiable
        .iter()
        .map(|subject| subject.0)
        .collect();
    assert_eq!(unsatisfiable, [1]);
}

#[test]
fn nearest_buckets_are_narrower_than_those_of_invariance() {
    let table = people(&lines(600, 12));
    let mean_range = |assignment: &str| {
        let parameters = json!({
            "k": 5, "l": 6, "assignment": assignment, "attributes": {"salary": {"min_spread": 0}}
        });
        let (_, release) = publish(&table, &parameters, json!([]));
        let ranges: Vec<f64> = bucket_values(&release, "salary")
            .into_values()
            .map(|values| {
                let numbers = values
                    .iter()
                    .filter_map(|text| text.split("..").next()?.parse().ok());
                let numbers: Vec<f64> = numbers.collect();
                let highest = numbers.iter().copied().fold(f64::MIN, f64::max);
                highest - numbers.iter().copied().fold(f64::MAX, f64::min)
            })
            .collect();
        ranges.iter().sum::<f64>() / ranges.len() as f64
    };
    assert!(mean_range("nearest") <= mean_range("invariance"));
}

#[test]
fn with_links_to_groups_no_row_names_a_bucket() {
    let table = people(&lines(200, 13));
    let parameters = json!({"k": 5, "l": 3, "bucket_link": "group"});
    let (_, release) = publish(&table, &parameters, everyone_flags(&["age"], 200, 2));
    let microdata = &release.tables[0];
    assert!(
        microdata
            .columns
            .iter()
            .all(|column| !column.name.ends_with("_bucket"))
    );
    let links = &release.tables[2];
    assert_eq!(links.name, "group_buckets");
    let counts: Vec<usize> = column(links, "count")
        .iter()
        .map(|count| count.parse().unwrap())
        .collect();
    assert_eq!(counts.iter().sum::<usize>(), 200 + 100);
    let groups: std::collections::BTreeSet<String> =
        column(microdata, "group").into_iter().collect();
    let linked: std::collections::BTreeSet<String> = column(links, "group").into_iter().collect();
    assert_eq!(groups, linked);
}

#[test]
fn ncp_leaves_no_group_of_twice_k() {
    let table = people(&lines(500, 14));
    let parameters = json!({"k": 5, "l": 3, "generalization": "ncp"});
    let (_, release) = publish(&table, &parameters, json!([]));
    let mut sizes = std::collections::BTreeMap::new();
    for group in column(&release.tables[0], "group") {
        *sizes.entry(group).or_insert(0) += 1;
    }
    assert!(
        sizes.values().all(|size| (5..10).contains(size)),
        "{sizes:?}"
    );
}

#[test]
fn threads_do_not_change_the_release_and_seeds_do() {
    let table = people(&lines(20_000, 15));
    let terms = preferences(everyone_flags(&["age", "sex"], 20_000, 3));
    for generalization in ["mdp", "ncp"] {
        let parameters = json!({"k": 5, "l": 5, "generalization": generalization,
                                "attributes": {"sex": {"t_closeness": 0.3}}});
        let release = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("a pool starts");
            let published = pool.install(|| publish_with(&table, &parameters, &terms, seed));
            published.expect("it can be published").1
        };
        let one = release(1, 1);
        assert!(
            one == release(4, 1),
            "{generalization}: threads change the release"
        );
        assert!(
            one != release(1, 2),
            "{generalization}: the seed changes nothing"
        );
    }
}

#[test]
fn the_order_of_records_does_not_change_who_is_kept() {
    let mut lines = lines(300, 16);
    // One in more people than there are.
    let too_strict = json!([
        {"subject": "s7", "max_reidentification": 0.003},
        {"subject": "s70", "max_reidentification": 0.002}
    ]);
    let terms = join(everyone_flags(&["age"], 300, 3), too_strict);
    let kept_in_order = |lines: &[String]| {
        let table = people(lines);
        let parameters = json!({"k": 7, "l": 4, "generalization": "ncp"});
        let (_, release) = publish(&table, &parameters, terms.clone());
        let subjects = release.lineage.of("microdata").expect("rows have subjects");
        let keys = table.subject_keys();
        let mut kept: Vec<String> = subjects
            .iter()
            .map(|subject| keys.get(subject.at()).to_owned())
            .collect();
        kept.sort_unstable();
        kept
    };
    let kept = kept_in_order(&lines);
    assert_eq!(kept.len(), 298);
    assert!(!kept.iter().any(|key| key == "s7" || key == "s70"));
    for seed in 0..5 {
        lines.shuffle(&mut ChaCha12Rng::seed_from_u64(seed));
        assert!(kept_in_order(&lines) == kept, "order {seed} keeps others");
    }
}

#[test]
fn a_cancelled_run_says_so() {
    let table = people(&lines(100, 17));
    let params: Params =
        serde_json::from_value(json!({"k": 2, "l": 2})).expect("the shape is right");
    let policy = params.policy(table.schema()).expect("the parameters fit");
    let requirements = Requirements::new(&table, policy, &[]);
    let context = RunContext::silent(1);
    context.cancel.cancel();
    let outcome = run(&table, &requirements, &params, &context);
    assert!(matches!(outcome, Err(EngineError::Cancelled)));
}

#[test]
fn a_dataset_with_many_records_a_subject_is_refused() {
    let schema = json!({
        "name": "visits", "subject_key": "id", "multiplicity": "many",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "salary", "role": "sensitive", "type": "integer"}
        ]
    });
    let table = table(schema, &[], "id,salary\na,1\na,2\n");
    let outcome = publish_with(&table, &json!({"k": 1, "l": 1}), &[], 1);
    assert!(matches!(outcome, Err(EngineError::InvalidParameter { .. })));
}
