//! Small tables whose answer is known: every bound at equality.

use serde_json::{Value, json};
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::Table;

use super::{publish, text};
use crate::case::Case;
use crate::tables::{preferences, table};

pub const DISEASES: &str = "\
flu;respiratory;any
asthma;respiratory;any
pneumonia;respiratory;any
ulcer;digestive;any
gastritis;digestive;any
angina;heart;any
";

/// Patients of an age with a disease.
pub fn patients(rows: &[(u32, &str)]) -> Table {
    let schema = json!({
        "name": "patients", "subject_key": "name",
        "attributes": [
            {"name": "name", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "disease", "role": "sensitive", "type": "categorical", "hierarchy": "diseases"}
        ]
    });
    let mut records = String::from("name,age,disease\n");
    for (at, (age, disease)) in rows.iter().enumerate() {
        records.push_str(&format!("P{at},{age},{disease}\n"));
    }
    table(schema, &[("diseases", DISEASES)], &records)
}

fn verified(rows: &[(u32, &str)], parameters: Value, wishes: Value) -> Result<Case, EngineError> {
    let case = publish(patients(rows), &parameters, &preferences(wishes), 1)?;
    let verdict = case.verdict();
    let failed: Vec<_> = verdict.failed().collect();
    assert!(verdict.holds(), "{failed:#?}");
    Ok(case)
}

/// Published diseases in order of the source; none for who was left out.
pub fn diseases(case: &Case) -> Vec<Option<String>> {
    let mut found = vec![None; case.table.records()];
    let cells = case.cells("microdata", "disease");
    for (row, cell) in cells.iter().enumerate() {
        found[case.record(row).at()] = Some(text(cell));
    }
    found
}

fn sizes(case: &Case) -> Vec<usize> {
    let mut sizes: Vec<usize> = case.groups().iter().map(Vec::len).collect();
    sizes.sort_unstable();
    sizes
}

fn attained(case: &Case, kind: &str) -> f64 {
    let verdict = case.verdict();
    let check = verdict.checks.iter().find(|check| check.kind == kind);
    check
        .and_then(|check| check.attained)
        .expect("it was measured")
}

const FOUR: [(u32, &str); 4] = [(30, "flu"), (30, "flu"), (30, "ulcer"), (30, "gastritis")];

#[test]
fn a_leak_that_equals_the_bound_is_allowed() {
    let case = verified(
        &FOUR,
        json!({"k": 2, "sensitive": "disease", "max_leakage": 0.5}),
        json!([]),
    );
    let case = case.unwrap();
    let found: Vec<String> = diseases(&case).into_iter().flatten().collect();
    assert_eq!(found, ["flu", "flu", "ulcer", "gastritis"]);
    assert!((attained(&case, "max_leakage") - 1.0).abs() < 1e-12);
}

#[test]
fn a_leak_one_part_above_the_bound_is_not() {
    // Both have flu in half of the group, at every node: one of them leaves.
    let parameters = json!({
        "k": 2, "sensitive": "disease", "max_leakage": 0.499_999_999, "max_excluded": 0.25
    });
    let case = verified(&FOUR, parameters.clone(), json!([])).unwrap();
    assert_eq!((case.excluded, sizes(&case)), (1, vec![3]));
    let mut strict = parameters;
    strict["max_excluded"] = json!(0.24);
    let Err(EngineError::Infeasible(answer)) = verified(&FOUR, strict, json!([])) else {
        panic!("nobody may leave");
    };
    assert_eq!(
        (answer.parameter, answer.strongest_value),
        ("max_leakage", Some(0.5))
    );
    assert!(answer.condition.contains("1 of 4"), "{}", answer.condition);
}

/// Two groups of four, two with flu and two with asthma: each is half of all
/// respiratory records.
const EIGHT: [(u32, &str); 8] = [
    (30, "flu"),
    (30, "flu"),
    (30, "ulcer"),
    (30, "angina"),
    (60, "asthma"),
    (60, "asthma"),
    (60, "gastritis"),
    (60, "angina"),
];

#[test]
fn a_generalized_value_leaks_by_its_frequency_under_the_node() {
    let parameters = json!({"k": 4, "sensitive": "disease", "max_leakage": 0.25});
    for grouping in ["sorted", "mondrian"] {
        let mut parameters = parameters.clone();
        parameters["grouping"] = json!(grouping);
        let case = verified(&EIGHT, parameters, json!([])).unwrap();
        let found: Vec<String> = diseases(&case).into_iter().flatten().collect();
        // 2/4 · 2/4 is the bound, exactly.
        let half = ["respiratory", "respiratory"];
        assert_eq!(found[..2], half, "{grouping}");
        assert_eq!(found[2..4], ["ulcer", "angina"], "{grouping}");
        assert_eq!(found[4..6], half, "{grouping}");
        assert_eq!(sizes(&case), [4, 4], "{grouping}");
    }
}

#[test]
fn only_the_group_of_the_one_who_asks_is_generalized() {
    let wishes = json!([{"subject": "P0", "max_leakage": 0.25}]);
    let case = verified(&EIGHT, json!({"k": 4, "sensitive": "disease"}), wishes).unwrap();
    let found: Vec<String> = diseases(&case).into_iter().flatten().collect();
    assert_eq!(found[..2], ["respiratory", "respiratory"]);
    assert_eq!(found[4..], ["asthma", "asthma", "gastritis", "angina"]);
}

#[test]
fn a_preference_never_weakens_the_bound_of_the_job() {
    let wishes = json!([{"subject": "P0", "max_leakage": 1.0}]);
    let parameters = json!({"k": 4, "sensitive": "disease", "max_leakage": 0.25});
    let case = verified(&EIGHT, parameters, wishes).unwrap();
    assert_eq!(diseases(&case)[0].as_deref(), Some("respiratory"));
}

/// A value under the guarded node leaks whatever the subject's own value is.
#[test]
fn a_guarded_node_is_generalized_although_the_own_value_is_beside_it() {
    let wishes =
        json!([{"subject": "P2", "max_leakage": 0.5, "guard": {"disease": ["respiratory"]}}]);
    let parameters = json!({"k": 4, "sensitive": "disease"});
    // Two of four are respiratory: at the bound, exactly.
    let case = verified(&EIGHT, parameters.clone(), wishes).unwrap();
    assert_eq!(diseases(&case)[0].as_deref(), Some("flu"));
    // Any less is only met where nobody knows: at the root half are, too.
    let wishes =
        json!([{"subject": "P2", "max_leakage": 0.49, "guard": {"disease": ["respiratory"]}}]);
    let mut parameters = parameters;
    parameters["max_excluded"] = json!(0.2);
    let case = verified(&EIGHT, parameters.clone(), wishes).unwrap();
    assert_eq!(diseases(&case)[2], None, "it cannot be met");
    // A group without such values tells nothing of them.
    let wishes = json!([{"subject": "P4", "max_leakage": 0.3, "guard": {"disease": ["flu"]}}]);
    let case = verified(&EIGHT, parameters, wishes).unwrap();
    assert!(diseases(&case)[4].is_some());
}

#[test]
fn several_guarded_nodes_are_guarded_together() {
    // Flu 2/4, angina 1/4: each alone is within the bound.
    let guard =
        |nodes: Value| json!([{"subject": "P2", "max_leakage": 0.6, "guard": {"disease": nodes}}]);
    let parameters = json!({"k": 4, "sensitive": "disease"});
    for (nodes, first) in [
        (json!(["flu"]), "flu"),
        (json!(["angina"]), "flu"),
        (json!(["flu", "angina"]), "respiratory"),
    ] {
        let case = verified(&EIGHT, parameters.clone(), guard(nodes.clone())).unwrap();
        assert_eq!(diseases(&case)[0].as_deref(), Some(first), "{nodes}");
    }
}

#[test]
fn a_guard_that_the_hierarchy_does_not_know_cannot_be_met() {
    let wishes = json!([{"subject": "P2", "max_leakage": 0.5, "guard": {"disease": ["gout"]}}]);
    let parameters = json!({"k": 3, "sensitive": "disease", "max_excluded": 0.125});
    let case = verified(&EIGHT, parameters, wishes).unwrap();
    assert_eq!((diseases(&case)[2].clone(), case.excluded), (None, 1));
}

/// Forty people; one asks for the impossible, one for a group of twenty in
/// which their frequent disease cannot be hidden.
#[test]
fn who_asks_too_much_leaves_and_nobody_else_suffers() {
    let names = ["flu", "ulcer", "angina", "gastritis"];
    let rows: Vec<(u32, &str)> = (0..40)
        .map(|at| (20 + at, names[at as usize % 4]))
        .collect();
    let parameters =
        json!({"k": 4, "sensitive": "disease", "max_leakage": 0.5, "max_excluded": 0.05});
    let before = verified(&rows, parameters.clone(), json!([])).unwrap();
    let wishes = json!([
        {"subject": "P7", "max_leakage": 1e-9},
        {"subject": "P20", "max_leakage": 0.05}
    ]);
    let after = verified(&rows, parameters.clone(), wishes).unwrap();
    let found = diseases(&after);
    assert_eq!((found[7].clone(), found[20].clone()), (None, None));
    assert_eq!(after.excluded, 2);
    assert!(*sizes(&after).last().unwrap() <= 7, "{:?}", sizes(&after));
    let exact = |case: &Case| diseases(case).into_iter().flatten().collect::<Vec<_>>();
    assert!(
        exact(&before)
            .iter()
            .chain(&exact(&after))
            .all(|value| names.contains(&value.as_str()))
    );
}

#[test]
fn a_larger_group_is_made_for_who_asks_for_one() {
    let rows: Vec<(u32, &str)> = (0..20).map(|at| (20 + at, "flu")).collect();
    let wishes = json!([{"subject": "P10", "max_reidentification": 0.1}]);
    let parameters = json!({"k": 2, "sensitive": "disease", "askers_share_max": 1});
    let case = verified(&rows, parameters, wishes).unwrap();
    let groups = case.groups();
    let own = groups
        .iter()
        .find(|rows| rows.iter().any(|&row| case.record(row).0 == 10));
    assert!(own.unwrap().len() >= 10);
    assert!(groups.len() >= 4, "the others keep small groups");
}

#[test]
fn equal_records_join_a_group_and_a_tail_joins_the_one_before() {
    let ages = [30, 30, 30, 30, 30, 70, 71, 72];
    let rows: Vec<(u32, &str)> = ages.iter().map(|&age| (age, "flu")).collect();
    let case = verified(&rows, json!({"k": 3, "sensitive": "disease"}), json!([])).unwrap();
    assert_eq!(sizes(&case), [3, 5]);
    let case = verified(
        &rows[3..],
        json!({"k": 3, "sensitive": "disease"}),
        json!([]),
    )
    .unwrap();
    assert_eq!(
        sizes(&case),
        [5],
        "two and three: the two cannot stand alone"
    );
}

#[test]
fn groups_that_look_the_same_are_one() {
    let rows: Vec<(u32, &str)> = vec![(30, "flu"); 9];
    for grouping in ["sorted", "mondrian"] {
        let parameters = json!({"k": 2, "sensitive": "disease", "grouping": grouping});
        let case = verified(&rows, parameters, json!([])).unwrap();
        assert_eq!(sizes(&case), [9]);
    }
}

#[test]
fn fewer_records_than_k_are_infeasible() {
    let parameters = json!({"k": 5, "sensitive": "disease"});
    let Err(EngineError::Infeasible(answer)) = verified(&FOUR, parameters, json!([])) else {
        panic!("four are fewer than five");
    };
    assert_eq!((answer.parameter, answer.strongest_value), ("k", Some(4.0)));
    let parameters = json!({"k": 2, "sensitive": "disease", "max_leakage": 0.1});
    let different = [(30, "flu"), (31, "asthma"), (32, "ulcer"), (33, "angina")];
    let Err(EngineError::Infeasible(answer)) = verified(&different, parameters, json!([])) else {
        panic!("in a group of four each is a quarter");
    };
    assert_eq!(
        (answer.parameter, answer.strongest_value),
        ("max_leakage", Some(0.25))
    );
}

#[test]
fn a_schema_that_does_not_fit_is_refused() {
    let refused = |attributes: Value, multiplicity: &str| {
        let mut all = vec![
            json!({"name": "name", "role": "identifier"}),
            json!({"name": "age", "role": "quasi_identifier", "type": "integer"}),
        ];
        all.extend(attributes.as_array().unwrap().iter().cloned());
        let schema = json!({
            "name": "p", "subject_key": "name", "multiplicity": multiplicity, "attributes": all
        });
        let names = attributes.as_array().unwrap().iter();
        let names: Vec<&str> = names.map(|one| one["name"].as_str().unwrap()).collect();
        let header = names.join(",");
        let values = vec!["flu"; names.len()].join(",");
        let records = format!("name,age,{header}\nAnn,3,{values}\n");
        let table = table(schema, &[("diseases", DISEASES)], &records);
        match publish(table, &json!({"k": 1, "sensitive": "a"}), &[], 1) {
            Err(EngineError::InvalidParameter { parameter, .. }) => parameter,
            other => panic!("{:?}", other.map(|case| case.manifest)),
        }
    };
    let of = |name: &str, role: &str, hierarchy: Option<&str>| {
        let mut attribute = json!({"name": name, "role": role, "type": "categorical"});
        if let Some(hierarchy) = hierarchy {
            attribute["hierarchy"] = json!(hierarchy);
        }
        attribute
    };
    let tree = Some("diseases");
    let sensitive = of("a", "sensitive", tree);
    assert_eq!(
        refused(json!([of("a", "sensitive", None)]), "one"),
        "sensitive"
    );
    assert_eq!(
        refused(json!([of("a", "quasi_identifier", tree)]), "one"),
        "sensitive"
    );
    assert_eq!(
        refused(json!([of("b", "sensitive", tree)]), "one"),
        "sensitive"
    );
    let second = of("b", "sensitive", None);
    assert_eq!(refused(json!([sensitive, second]), "one"), "sensitive");
    let semi = of("b", "semi_sensitive", tree);
    assert_eq!(refused(json!([sensitive, semi]), "one"), "engine");
    assert_eq!(refused(json!([sensitive]), "many"), "engine");
}
