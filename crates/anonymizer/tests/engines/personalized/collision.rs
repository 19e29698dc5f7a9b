//! What the paper's recoding tells, and ours does not.
//!
//! *A reconstruction* of the paper's tables of patients, which were not at
//! hand: three people of one group have flu and accept a leak of a half.
//! Generalizing colliding values one at a time publishes `flu` beside
//! `respiratory`, which passes the paper's measure: (1 + 2 · 1/4)/3 = 1/2.
//! Whoever reads it knows that all three have flu.

use serde_json::{Value, json};
use vizard_anonymizer::microdata::Preference;
use vizard_anonymizer::privacy::{Model, Recoding, Requirements};

use super::handmade::{diseases, patients};
use super::publish;
use crate::case::Case;
use crate::tables::preferences;

fn rows() -> Vec<(u32, &'static str)> {
    let flu = (0..3).map(|_| (30, "flu"));
    let asthma = (0..9).map(|_| (60, "asthma"));
    flu.chain(asthma).collect()
}

fn wishes() -> Vec<Preference> {
    let half = |name: &str| json!({"subject": name, "max_leakage": 0.5});
    preferences(json!([half("P0"), half("P1"), half("P2")]))
}

fn published(recoding: &str) -> Case {
    let parameters: Value = json!({"k": 3, "sensitive": "disease", "recoding": recoding});
    publish(patients(&rows()), &parameters, &wishes(), 1).unwrap()
}

fn of_flu(case: &Case) -> Vec<String> {
    let mut found: Vec<String> = diseases(case).into_iter().take(3).flatten().collect();
    found.sort();
    found
}

#[test]
fn the_paper_publishes_flu_beside_respiratory_and_names_all_three() {
    let case = published("paper");
    assert_eq!(of_flu(&case), ["flu", "respiratory", "respiratory"]);
    let verdict = case.verdict();
    assert!(verdict.holds(), "by the paper's measure it holds");
    let check = |kind: &str| {
        verdict
            .checks
            .iter()
            .find(|check| check.kind == kind)
            .unwrap()
    };
    assert!((check("max_leakage").attained.unwrap() - 1.0).abs() < 1e-12);
    let collision = check("collision");
    assert!((collision.attained.unwrap() - 1.0).abs() < 1e-12);
    let named = collision
        .figures
        .iter()
        .find(|figure| figure.0 == "subjects_named_with_certainty");
    // The nine of the other group have one disease and accept it.
    assert_eq!(named.unwrap().1, 12.0);
    let said = case.manifest.not_protected.iter();
    assert_eq!(
        said.filter(|text| text.contains("more specific")).count(),
        1
    );
}

#[test]
fn a_group_cut_publishes_one_node_for_all_three() {
    let case = published("group_cut");
    assert_eq!(of_flu(&case), ["respiratory"; 3]);
    let verdict = case.verdict();
    assert!(verdict.holds());
    assert!(
        case.manifest
            .not_protected
            .iter()
            .all(|text| !text.contains("more specific"))
    );
}

/// The same table under a policy that asks for a cut: the verifier says so.
#[test]
fn the_paper_s_table_is_no_group_cut() {
    let mut case = published("paper");
    let mut policy = case.requirements.policy().clone();
    if let Model::Personalized { recoding, .. } = &mut policy.model {
        *recoding = Recoding::GroupCut;
    }
    case.requirements = Requirements::new(&case.table, policy, &wishes());
    let failed = case.verdict().failed_kinds();
    // Its manifest claims what the paper's recoding keeps, and no more.
    let of_claims = ["claims_match_policy", "manifest_as_rendered"];
    let others = failed
        .iter()
        .filter(|kind| !of_claims.contains(&kind.as_str()));
    let others: Vec<&String> = others.collect();
    assert_eq!(others, ["sensitive_nodes_do_not_overlap"]);
}
