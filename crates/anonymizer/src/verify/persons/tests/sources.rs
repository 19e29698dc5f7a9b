//! Who is published, and what cells say about them.

use serde_json::json;

use super::small::{Small, fingerprints};
use crate::privacy::QidConflict;

#[test]
fn subjects_are_published_or_excluded_once_each() {
    let mut small = Small::new();
    small.subjects[3] = "p1";
    assert!(small.failed().contains(&"every_subject_once"));
    let mut small = Small::new();
    small.excluded = 10;
    let failed = ["every_subject_once", "manifest_as_rendered"];
    assert_eq!(small.failed(), failed);
    let left_out = Small::new().asking(json!({"subject": "p8", "exclude": true}));
    assert_eq!(left_out.failed(), ["exclusions_honoured"]);
}

#[test]
fn the_rule_for_subjects_whose_records_disagree_decides_what_is_covered() {
    // Of p5 the first record says 50 and Oslo, the last 55 and Bergen.
    let by = |rule| Small {
        model: fingerprints(4, 2, rule),
        ..Small::new()
    };
    assert_eq!(by(QidConflict::Hull).failed(), [""; 0]);
    assert_eq!(by(QidConflict::Reject).failed(), [""; 0]);
    // Without 55 the oldest is 54; without Bergen all are of the East.
    assert_eq!(by(QidConflict::First).failed(), ["cells_span_their_group"]);
    let mut first = by(QidConflict::First);
    first.persons = first.persons.replace("50..55,*", "50..54,East");
    assert_eq!(first.failed(), [""; 0]);
    // Without 50 the youngest is 51.
    assert_eq!(by(QidConflict::Latest).failed(), ["cells_span_their_group"]);
    let mut latest = by(QidConflict::Latest);
    latest.persons = latest.persons.replace("50..55,*", "51..55,*");
    assert_eq!(latest.failed(), [""; 0]);
    latest.model = fingerprints(4, 2, QidConflict::Hull);
    let failed = ["cells_cover_their_source", "cells_span_their_group"];
    assert_eq!(latest.failed(), failed);
}

#[test]
fn cells_are_the_least_that_cover_their_group() {
    let broken = [
        ("20..29", "20..50", vec!["cells_span_their_group"]),
        (
            "20..29",
            "22..29",
            vec!["cells_cover_their_source", "cells_span_their_group"],
        ),
        ("West", "*", vec!["cells_span_their_group"]),
        (
            "West",
            "Bergen",
            vec!["cells_cover_their_source", "cells_span_their_group"],
        ),
        (
            "{baker|clerk}",
            "{baker|clerk|nurse}",
            vec!["cells_span_their_group"],
        ),
        ("{baker|clerk}", "*", vec!["cells_span_their_group"]),
        (
            "{baker|clerk}",
            "baker",
            vec!["cells_cover_their_source", "cells_span_their_group"],
        ),
        ("nurse", "{clerk|nurse}", vec!["cells_span_their_group"]),
    ];
    for (from, to, failed) in broken {
        let mut small = Small::new();
        small.persons = small.persons.replace(from, to);
        assert_eq!(small.failed(), failed, "{from} to {to}");
    }
}

#[test]
fn a_set_covers_every_value_of_a_subject() {
    let mut small = Small::new();
    small.records.push(("p5", 50, "Oslo", "clerk", "flu", "x"));
    small.persons = small.persons.replace("nurse", "{clerk|nurse}");
    assert_eq!(small.failed(), [""; 0]);
    small.persons = small.persons.replace("{clerk|nurse}", "nurse");
    let failed = ["cells_cover_their_source", "cells_span_their_group"];
    assert_eq!(small.failed(), failed);
}

#[test]
fn fingerprints_cover_all_and_nothing_else_of_their_subjects() {
    let cover = "fingerprints_cover_their_source";
    let invent = "fingerprints_invent_nothing";
    let structural = |small: Small| -> Vec<&'static str> {
        let failed = small.failed().into_iter();
        failed
            .filter(|kind| kind.starts_with("fingerprints_"))
            .collect()
    };
    let change = |from: &str, to: &str| structural(Small::new().replacing(from, to));
    // The second row is p7, of a stroke and a burn.
    assert_eq!(
        change("2,50..55,*,nurse,skin|stroke", "2,50..55,*,nurse,skin"),
        [cover]
    );
    assert_eq!(
        change(
            "2,50..55,*,nurse,skin|stroke",
            "2,50..55,*,nurse,heart|skin"
        ),
        [""; 0]
    );
    assert_eq!(
        change(
            "2,50..55,*,nurse,skin|stroke",
            "2,50..55,*,nurse,angina|skin"
        ),
        [cover, invent]
    );
    assert_eq!(
        change(
            "2,50..55,*,nurse,skin|stroke",
            "2,50..55,*,nurse,flu|skin|stroke"
        ),
        [invent]
    );
    assert_eq!(
        change(
            "2,50..55,*,nurse,skin|stroke",
            "2,50..55,*,nurse,burn|stroke"
        ),
        [""; 0]
    );
    assert_eq!(
        change("2,50..55,*,nurse,skin|stroke", "2,50..55,*,nurse,*"),
        [""; 0]
    );
    assert_eq!(
        change(
            "2,50..55,*,nurse,skin|stroke",
            "2,50..55,*,nurse,burn|skin|stroke"
        ),
        ["fingerprints_are_antichains"]
    );
    assert_eq!(
        change(
            "2,50..55,*,nurse,skin|stroke",
            "2,50..55,*,nurse,nothing|stroke"
        ),
        ["fingerprints_well_formed"]
    );
    // A union that does not hold the drug of p1.
    assert_eq!(change("resp,{x|y}", "resp,{y|z}"), [cover, invent]);
}
