//! Tables written down by hand: every bound at exact equality, and what a
//! group looks like.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vizard_anonymizer::engine::{EngineError, Infeasible};
use vizard_anonymizer::microdata::Table;
use vizard_anonymizer::release::Cell;

use super::publish;
use crate::case::Case;
use crate::tables::{preferences, table};

/// Patients by age, with a disease each.
fn patients(rows: &[(u32, &str)]) -> Table {
    let mut records = String::from("name,age,disease\n");
    for (at, (age, disease)) in rows.iter().enumerate() {
        records += &format!("p{at},{age},{disease}\n");
    }
    let schema = json!({
        "name": "patients", "subject_key": "name",
        "attributes": [
            {"name": "name", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "disease", "role": "sensitive", "type": "categorical"}
        ]
    });
    table(schema, &[], &records)
}

fn verified(table: Table, parameters: Value, wishes: Value) -> Case {
    let case = publish(table, &parameters, &preferences(wishes), 0).expect("it can be published");
    let verdict = case.verdict();
    let failed: Vec<_> = verdict.failed().collect();
    assert!(verdict.holds(), "{failed:#?}");
    case
}

fn refused(table: Table, parameters: Value, wishes: Value) -> Infeasible {
    match publish(table, &parameters, &preferences(wishes), 0) {
        Err(EngineError::Infeasible(answer)) => *answer,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it cannot comply"),
    }
}

/// Rows of each published age interval.
fn ages(case: &Case) -> BTreeMap<(i64, i64), usize> {
    let mut ages = BTreeMap::new();
    for cell in case.cells("microdata", "age") {
        let Cell::Integer(low, high) = cell else {
            panic!("an age is an interval");
        };
        *ages.entry((low, high)).or_insert(0) += 1;
    }
    ages
}

const FOUR: [(u32, &str); 4] = [(20, "flu"), (30, "ulcer"), (40, "flu"), (50, "ulcer")];

#[test]
fn a_median_splits_as_long_as_both_parts_have_k() {
    let case = verified(patients(&FOUR), json!({"k": 2}), json!([]));
    assert_eq!(ages(&case), BTreeMap::from([((20, 30), 2), ((40, 50), 2)]));
    let case = verified(patients(&FOUR), json!({"k": 3}), json!([]));
    assert_eq!(ages(&case), BTreeMap::from([((20, 50), 4)]));
}

#[test]
fn sensitive_values_stay_with_their_record() {
    let case = verified(patients(&FOUR), json!({"k": 2}), json!([]));
    for row in 0..4 {
        let exact = case.exact("disease", case.code("disease", row));
        assert_eq!(case.cells("microdata", "disease")[row], exact);
    }
}

#[test]
fn relaxed_parts_are_even_and_strict_ones_keep_equal_values_together() {
    let rows: Vec<(u32, &str)> = [20, 30, 30, 30, 30, 40].map(|age| (age, "flu")).into();
    let strict = verified(patients(&rows), json!({"k": 2}), json!([]));
    assert_eq!(ages(&strict), BTreeMap::from([((20, 40), 6)]));
    let parameters = json!({"k": 3, "partitioning": "relaxed"});
    let relaxed = verified(patients(&rows), parameters, json!([]));
    assert_eq!(
        ages(&relaxed),
        BTreeMap::from([((20, 30), 3), ((30, 40), 3)])
    );
}

#[test]
fn groups_that_look_the_same_are_published_as_one() {
    // Relaxed cuts leave several groups of age 30.
    let rows: Vec<(u32, &str)> = (0..24).map(|at| (30 + at / 12, "flu")).collect();
    let parameters = json!({"k": 2, "partitioning": "relaxed"});
    let case = verified(patients(&rows), parameters, json!([]));
    let looks = ages(&case).len();
    assert_eq!(case.groups().len(), looks);
}

#[test]
fn the_l_of_one_member_holds_over_all_who_look_the_same() {
    // A relaxed cut parts the 24 of age 30, who look the same. A part may have
    // few flus, all of them together have 14: too many for p0's half.
    let flus = |at: usize| matches!(at, 1..=14 | 24 | 25);
    let rows = (0..32).map(|at| {
        let age = if at < 24 { 30 } else { 31 };
        (
            age,
            if flus(at) {
                "flu"
            } else {
                ["ulcer", "angina", "stroke"][at % 3]
            },
        )
    });
    let rows: Vec<(u32, &str)> = rows.collect();
    let wishes = preferences(json!([{"subject": "p0", "max_leakage": 0.5}]));
    let parameters = json!({"k": 1, "partitioning": "relaxed", "max_excluded": 0.0});
    for seed in 0..20 {
        let case = publish(patients(&rows), &parameters, &wishes, seed).expect("it is published");
        let verdict = case.verdict();
        let failed: Vec<_> = verdict.failed().collect();
        assert!(verdict.holds(), "{failed:#?}");
        assert_eq!(case.groups().len(), ages(&case).len());
    }
}

#[test]
fn a_strict_member_does_not_keep_everyone_else_together() {
    // Half of the records have the flu, all of the older ones: no cut leaves
    // half of both parts, and yet p0 only needs a neighbour without it.
    let rows = (0..64).map(|at| (20 + at, if at >= 32 { "flu" } else { "ulcer" }));
    let rows: Vec<(u32, &str)> = rows.collect();
    let wishes = json!([{"subject": "p0", "max_leakage": 0.5}]);
    let case = verified(
        patients(&rows),
        json!({"k": 1, "max_excluded": 0.0, "askers_share_max": 1}),
        wishes,
    );
    assert!(case.groups().len() > 48, "{} groups", case.groups().len());
}

#[test]
fn distinct_values_are_held_at_equality() {
    let l = |l: u32| json!({"k": 1, "l": l});
    let case = verified(patients(&FOUR), l(2), json!([]));
    assert_eq!(ages(&case).len(), 2);
    let answer = refused(patients(&FOUR), l(3), json!([]));
    assert_eq!((answer.parameter, answer.strongest_value), ("l", Some(2.0)));
    assert_eq!(answer.attribute.as_deref(), Some("disease"));
    // Two values cannot be three: t-closeness bounds what they tell.
    assert_eq!(answer.instead, Some("t_closeness"));
    assert!(
        answer
            .to_string()
            .ends_with("; or set t_closeness in its place")
    );
    let closeness = json!({"k": 1, "t_closeness": 0.3});
    verified(patients(&FOUR), closeness, json!([]));
}

#[test]
fn entropy_is_held_at_equality() {
    let entropy = json!({"k": 1, "l": 2, "diversity": "entropy"});
    let case = verified(patients(&FOUR), entropy.clone(), json!([]));
    // Two values, as frequent as each other: exactly ln 2.
    assert_eq!(ages(&case).len(), 2);
    let rows = [(20, "flu"), (30, "ulcer"), (40, "flu"), (50, "flu")];
    let answer = refused(patients(&rows), entropy, json!([]));
    assert_eq!((answer.parameter, answer.strongest_value), ("l", Some(1.0)));
    // There are two values; one is too frequent.
    assert_eq!(answer.instead, None);
}

#[test]
fn recursive_diversity_is_strict() {
    // flu 2, ulcer 1, angina 1: 2 < c · (1 + 1) for l = 2 needs c above 1.
    let rows = [(20, "flu"), (30, "ulcer"), (40, "flu"), (50, "angina")];
    let c = |c: f64| json!({"k": 4, "l": 2, "diversity": "recursive", "c": c});
    verified(patients(&rows), c(1.000_000_001), json!([]));
    let answer = refused(patients(&rows), c(1.0), json!([]));
    assert_eq!((answer.parameter, answer.strongest_value), ("l", Some(1.0)));
    assert!(
        answer.strongest.contains("c ≥ 1.000000001"),
        "{}",
        answer.strongest
    );
}

#[test]
fn closeness_is_held_at_equality() {
    // Halves of one disease each are ½ from the whole.
    let rows = [(20, "flu"), (30, "flu"), (40, "ulcer"), (50, "ulcer")];
    let t = |t: f64| json!({"k": 2, "t_closeness": t});
    assert_eq!(ages(&verified(patients(&rows), t(0.5), json!([]))).len(), 2);
    let case = verified(patients(&rows), t(0.499_999_999), json!([]));
    assert_eq!(ages(&case).len(), 1);
}

#[test]
fn personal_terms_bound_the_group_of_their_subject_only() {
    let rows: Vec<(u32, &str)> = (0..18)
        .map(|at| (20 + at, if at % 2 == 0 { "flu" } else { "ulcer" }))
        .collect();
    let wishes = json!([
        {"subject": "p0", "max_reidentification": 0.25},
        {"subject": "p17", "max_leakage": 0.5},
        {"subject": "p8", "exclude": true},
        {"subject": "p9", "exclude": true},
    ]);
    let case = verified(
        patients(&rows),
        json!({"k": 1, "max_excluded": 0.0}),
        wishes,
    );
    assert_eq!((case.manifest.records, case.excluded), (16, 2));
    let sizes: Vec<usize> = case.groups().iter().map(Vec::len).collect();
    let alone = sizes.iter().filter(|&&size| size == 1).count();
    assert!(alone >= 4 && sizes.len() >= 7, "{sizes:?}");
}

#[test]
fn terms_that_cannot_be_met_leave_only_their_subject_out() {
    let wishes = json!([
        {"subject": "p0", "max_leakage": 0.25},
        {"subject": "p1", "max_leakage": 0.5},
    ]);
    let parameters = |share: f64| json!({"k": 1, "max_excluded": share});
    // Without p0 flu has one of three: p1's half does not hold, and p1 leaves.
    let case = verified(patients(&FOUR), parameters(0.5), wishes.clone());
    assert_eq!(case.excluded, 2);
    let answer = refused(patients(&FOUR), parameters(0.25), wishes);
    assert_eq!(
        (answer.parameter, answer.strongest_value),
        ("max_excluded", Some(0.5))
    );
}

#[test]
fn a_plain_leakage_speaks_where_values_are_diverse_and_a_named_one_everywhere() {
    let wishes = |bound: Value| json!([{"subject": "p0", "max_leakage": bound}]);
    let t = json!({"k": 1, "t_closeness": 1.0, "max_excluded": 0.0});
    verified(patients(&FOUR), t.clone(), wishes(json!(0.1)));
    let answer = refused(patients(&FOUR), t, wishes(json!({"disease": 0.1})));
    assert_eq!(answer.parameter, "max_excluded");
    let both = json!({"k": 1, "l": 1, "t_closeness": 1.0, "max_excluded": 0.0});
    let answer = refused(patients(&FOUR), both, wishes(json!(0.1)));
    assert_eq!(answer.parameter, "max_excluded");
}

#[test]
fn more_than_everyone_is_infeasible_with_the_number_there_is() {
    let answer = refused(patients(&FOUR), json!({"k": 5}), json!([]));
    assert_eq!((answer.parameter, answer.strongest_value), ("k", Some(4.0)));
}

#[test]
fn semi_sensitive_attributes_are_refused() {
    let schema = json!({
        "name": "s", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "semi_sensitive", "type": "integer"}]
    });
    let semi = table(schema, &[], "id,age\na,1\nb,2\n");
    let error = publish(semi, &json!({"k": 1}), &[], 1).err();
    let Some(EngineError::InvalidParameter { parameter, .. }) = error else {
        panic!("nobody can say whether an age is sensitive");
    };
    assert_eq!(parameter, "engine");
}

#[test]
fn leakage_is_that_of_every_class_however_many_there_are() {
    // Two of each age; at every third age both have the flu.
    let rows: Vec<(u32, &str)> = (0..4_096)
        .flat_map(|age| {
            let other = if age % 3 == 0 { "flu" } else { "ulcer" };
            [(age, "flu"), (age, other)]
        })
        .collect();
    let case = verified(patients(&rows), json!({"k": 2}), json!([]));
    assert_eq!(ages(&case).len(), 4_096);
    let report = serde_json::to_value(case.report().unwrap()).unwrap();
    let leakage = &report["measures"]["leakage"]["value"]["subjects"];
    let sure = f64::from(4_096_u32.div_ceil(3)) / 4_096.0;
    assert!((leakage["mean"].as_f64().unwrap() - (1.0 + sure) / 2.0).abs() < 1e-12);
    assert_eq!(leakage["max"], 1.0);
    assert_eq!(leakage["subjects"], 8_190, "rounded to tens");
}
