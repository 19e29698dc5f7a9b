//! k^m-anonymity of the groups of `rmr`.

use serde_json::json;

use super::small::Small;
use crate::verify::Place;

#[test]
fn combinations_are_shared_by_k_of_the_group_and_by_no_more() {
    let small = Small::itemsets(2, 2);
    assert_eq!(small.failed(), [""; 0]);
    // Two of each group had a stroke, and the same two something of the skin.
    assert_eq!(small.attained("km_anonymity"), Some(2.0));
    assert_eq!(small.attained("k_anonymity"), Some(4.0));
    let beyond = Small::itemsets(3, 2);
    assert_eq!(beyond.failed(), ["km_anonymity"]);
}

/// Group 2: stroke with skin, stroke with heart's other, skin with the other.
fn triangle(m: u32) -> Small {
    let mut small = Small::itemsets(2, m);
    let of_group_2 = ["p5", "p6", "p7", "p8"];
    small
        .records
        .retain(|record| !of_group_2.contains(&record.0));
    let has = [
        ("p5", ["stroke", "rash"]),
        ("p6", ["stroke", "angina"]),
        ("p7", ["angina", "rash"]),
        ("p8", ["stroke", "rash"]),
    ];
    for (subject, diseases) in has {
        for disease in diseases {
            small
                .records
                .push((subject, 50, "Oslo", "nurse", disease, "x"));
        }
    }
    let rows = [
        "1,20..29,West,{baker|clerk},resp,*\n",
        "2,50,Oslo,nurse,angina|skin,*\n",
        "1,20..29,West,{baker|clerk},skin|stroke,*\n",
        "2,50,Oslo,nurse,skin|stroke,*\n",
        "1,20..29,West,{baker|clerk},resp,*\n",
        "1,20..29,West,{baker|clerk},skin|stroke,*\n",
        "2,50,Oslo,nurse,skin|stroke,*\n",
        "2,50,Oslo,nurse,angina|stroke,*\n",
    ];
    small.persons = format!("group,age,city,job,disease,drug\n{}", rows.concat());
    small
}

#[test]
fn only_combinations_of_at_most_m_members_count() {
    // Each disease belongs to two or three of group 2, but angina with skin
    // and angina with stroke to one each.
    assert_eq!(triangle(1).failed(), [""; 0]);
    let pairs = triangle(2);
    assert_eq!(pairs.failed(), ["km_anonymity"]);
    let check = pairs.check("km_anonymity");
    assert_eq!(check.attained, Some(1.0));
    assert_eq!(check.worst, Some(Place::Group(2)));
    assert_eq!(check.figures, [("combinations_below_k", 2.0)]);
}

#[test]
fn the_k_of_those_who_have_a_combination_binds() {
    let ask = |subject: &str, k: f64| {
        let ask = json!({"subject": subject, "max_reidentification": 1.0 / k});
        triangle(1).asking(ask)
    };
    // p5 has stroke and skin, which three of group 2 have; angina two have.
    assert_eq!(ask("p5", 3.0).failed(), [""; 0]);
    assert_eq!(ask("p5", 4.0).failed(), ["km_anonymity", "max_leakage"]);
    assert_eq!(ask("p6", 3.0).failed(), ["km_anonymity", "max_leakage"]);
    assert_eq!(ask("p6", 3.0).attained("max_leakage"), Some(1.5));
}

#[test]
fn members_of_different_attributes_combine() {
    // Stroke with {x|y}: p4 has both, nobody else of group 1.
    let small = Small::itemsets(2, 2);
    let mut small = small.replacing(
        "1,20..29,West,{baker|clerk},skin|stroke,*\n2,50..55,*,nurse,skin",
        "1,20..29,West,{baker|clerk},skin|stroke,x|z\n2,50..55,*,nurse,skin",
    );
    assert_eq!(small.failed(), ["km_anonymity"]);
    small.model = Small::itemsets(1, 2).model;
    small.k = 1;
    assert_eq!(small.failed(), [""; 0]);
}

#[test]
fn the_own_l_of_a_subject_counts_without_any_floor() {
    let ask = |l: f64| {
        let ask = json!({"subject": "p1", "max_leakage": 1.0 / l});
        Small::itemsets(2, 2).asking(ask)
    };
    assert_eq!(ask(2.0).failed(), [""; 0]);
    assert_eq!(ask(3.0).failed(), ["max_leakage"]);
}
