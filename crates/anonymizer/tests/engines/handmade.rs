//! A release made by hand, twelve records in four groups, whose attained
//! values can be worked out on paper: what the verifier says must be those.

use serde_json::json;
use vizard_anonymizer::microdata::{
    AttributeType, ChunkColumn, HierarchySet, Preference, Schema, SubjectIndex, Table,
};
use vizard_anonymizer::privacy::{InBucket, K, L, Model, Policy, Requirements, Share, Spread, T};
use vizard_anonymizer::release::{
    Cells, ColumnDescription, Content, CsvDecoder, Lineage, PublishedTable, Release, TableLineage,
};
use vizard_anonymizer::verify::{Check, Place};

use super::case::Case;
use super::made;

const MICRODATA: &str = "\
group,age,age_bucket,sex,sex_bucket,city,pay,pay_bucket
1,20..24,,{F|M},,X,,1
1,20..24,,{F|M},,X,,1
1,20..24,,{F|M},,X,,1
2,30..35,,{F|M},,Y,,2
2,30..35,,{F|M},,Y,,2
2,30..35,,{F|M},,Y,,4
3,,1,{F|M},,any,,3
3,,1,{F|M},,any,,3
3,,1,{F|M},,any,,3
4,50..52,,,1,any,,4
4,50..52,,,1,any,,4
4,50..52,,,1,any,,2
";

const BUCKETS: &str = "\
attribute,bucket,value,count
age,1,40,1
age,1,41,1
age,1,42,1
sex,1,F,1
sex,1,M,2
pay,1,10,1
pay,1,20,1
pay,1,30,1
pay,2,40,1
pay,2,50,1
pay,2,60,1
pay,3,10,1
pay,3,20,1
pay,3,30,1
pay,4,40,1
pay,4,50,1
pay,4,60,1
";

fn table() -> Table {
    let document = json!({
        "name": "handmade", "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "semi_sensitive", "type": "integer"},
            {"name": "sex", "role": "semi_sensitive", "type": "categorical"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical", "hierarchy": "city"},
            {"name": "pay", "role": "sensitive", "type": "integer"}
        ]
    });
    let schema: Schema = serde_json::from_value(document).expect("the schema is sound");
    let mut hierarchies = HierarchySet::new();
    let tree = made::tree("a;X;any\nb;X;any\nc;Y;any\nd;Y;any\n");
    hierarchies.insert("city".into(), tree);
    let keys = "ABCDEFGHIJKL".split("").filter(|key| !key.is_empty());
    let letters = |text: &'static str| made::categories(text.split(' '));
    let pay = [10, 20, 30, 40, 50, 60, 10, 20, 30, 40, 50, 60];
    let columns = vec![
        ChunkColumn::Text(keys.collect()),
        ChunkColumn::Integer(vec![20, 22, 24, 30, 31, 35, 40, 41, 42, 50, 51, 52]),
        letters("F M F M F M F M F M F M"),
        letters("a a b c c d a b c a b d"),
        ChunkColumn::Integer(pay.to_vec()),
    ];
    made::table(&schema, &hierarchies, columns)
}

/// What the twelve ask for; `of_l` is the leak that L accepts.
fn requirements(table: &Table, of_l: Option<f64>) -> Requirements {
    let diversity = InBucket::Diversity {
        l: L::new(3).unwrap(),
        min_spread: Spread::Nothing,
    };
    let closeness = InBucket::Closeness {
        t: T::new(0.4).unwrap(),
        max_posterior: Share::new(0.8).unwrap(),
    };
    let protectable = table.schema().protectable();
    let policy = Policy {
        model: Model::Bucketized {
            protections: protectable
                .into_iter()
                .zip([diversity, closeness, diversity])
                .collect(),
        },
        k: K::new(2).unwrap(),
        apply_preferences: true,
    };
    let flags = [
        ("G", "age"),
        ("H", "age"),
        ("I", "age"),
        ("J", "sex"),
        ("K", "sex"),
        ("L", "sex"),
    ];
    let preferences = flags.map(|(subject, name)| -> Preference {
        let mut document = json!({"subject": subject, "sensitive": [name]});
        if let Some(bound) = of_l.filter(|_| subject == "L") {
            document["max_leakage"] = json!(bound);
        }
        serde_json::from_value(document).expect("a preference")
    });
    Requirements::new(table, policy, &preferences)
}

fn decode(name: &str, text: &str, contents: &[(Content, Option<AttributeType>)]) -> PublishedTable {
    let header = text.lines().next().unwrap().split(',');
    let columns: Vec<ColumnDescription> = header
        .zip(contents)
        .map(|(name, &(content, kind))| ColumnDescription {
            name: name.into(),
            content,
            kind,
            types: match content {
                Content::Value => [
                    ("age".into(), AttributeType::Integer),
                    ("pay".into(), AttributeType::Integer),
                    ("sex".into(), AttributeType::Categorical),
                ]
                .into(),
                _ => std::collections::BTreeMap::new(),
            },
            masked: false,
            missing: false,
            sets: false,
        })
        .collect();
    let mut decoder = CsvDecoder::new(&columns);
    decoder
        .piece(text.as_bytes())
        .expect("the text is canonical");
    decoder.finish(name).expect("the table is whole")
}

fn handmade() -> Case {
    handmade_with(|_| {})
}

/// The release with something else in its tables.
fn handmade_with(change: impl FnOnce(&mut [PublishedTable])) -> Case {
    use AttributeType::{Categorical, Integer};
    use Content::{Attribute, Bucket, Count, Generalized, Group, Value};
    let microdata = [
        (Group, None),
        (Generalized, Some(Integer)),
        (Bucket, None),
        (Generalized, Some(Categorical)),
        (Bucket, None),
        (Generalized, Some(Categorical)),
        (Generalized, Some(Integer)),
        (Bucket, None),
    ];
    let buckets = [
        (Attribute, None),
        (Bucket, None),
        (Value, None),
        (Count, None),
    ];
    // Records 6 and 12 change places in the buckets of pay: both earn 60.
    let mut tables = vec![
        decode("microdata", MICRODATA, &microdata),
        decode("buckets", BUCKETS, &buckets),
    ];
    change(&mut tables);
    let release = Release {
        tables,
        lineage: Lineage {
            tables: vec![TableLineage {
                table: "microdata".into(),
                subjects: (0..12).map(SubjectIndex).collect(),
            }],
        },
        excluded: 0,
        unsatisfiable: Vec::new(),
        kept: None,
        parts: None,
    };
    let table = table();
    let requirements = requirements(&table, None);
    Case::of(table, requirements, json!({"k": 2}), release)
}

fn check(checks: &[Check], kind: &str, attribute: Option<&str>) -> Check {
    let found = checks
        .iter()
        .find(|check| check.kind == kind && check.attribute.as_deref() == attribute);
    found.unwrap_or_else(|| panic!("{kind} is checked")).clone()
}

fn figure(check: &Check, name: &str) -> f64 {
    let found = check.figures.iter().find(|(known, _)| *known == name);
    found.expect("the figure is there").1
}

#[test]
fn a_release_made_by_hand_holds_with_the_values_worked_out_on_paper() {
    let verdict = handmade().verdict();
    assert!(
        verdict.holds(),
        "{:#?}",
        verdict.failed().collect::<Vec<_>>()
    );
    let checks = &verdict.checks;
    let attained = |kind, attribute| check(checks, kind, attribute).attained.unwrap();
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;

    // Four groups of three; 2 was asked for.
    assert_eq!(attained("k_anonymity", None), 3.0);
    assert!(near(attained("linkage", None), 1.0 / 3.0));
    assert_eq!(attained("l_diversity", Some("age")), 3.0);
    assert_eq!(attained("l_diversity", Some("pay")), 3.0);
    assert_eq!(attained("candidates_remain", None), 2.0);

    // The only bucket of sex is all there is of it: F, M, M.
    let sex = check(checks, "t_closeness", Some("sex"));
    assert_eq!(sex.attained, Some(0.0));
    assert!(near(figure(&sex, "max_posterior_attained"), 2.0 / 3.0));

    // Terms: l = 3 of 3 cells is the tightest; 2/3 of 0.8 and 2 of 3 are not.
    assert_eq!(attained("max_leakage", Some("*")), 1.0);

    // {10, 20, 30} against six even values: (1 + 2 + 3 + 2 + 1)/6 over 5 steps.
    assert!(near(attained("skewness", Some("pay")), 0.3));
    assert!(near(attained("similarity", Some("pay")), 20.0 / 50.0));
    assert!(near(attained("homogeneity", Some("sex")), 2.0 / 3.0));

    // All rows of a group hold the values of its members, whichever of the
    // buckets 2 and 4 they are in.
    assert_eq!(attained("joint_knowledge", Some("pay")), 3.0);
    assert_eq!(attained("group_leakage", Some("pay")), 1.0);
}

#[test]
fn buckets_of_weaker_terms_in_a_group_are_reported_as_its_leakage() {
    // L asks for l = 6 on pay, and is in a bucket of six with A to E; the two
    // others of L's group are in a bucket of three that also holds L's value.
    let mut case = handmade_with(|tables| {
        let of_rows = vec![1, 1, 1, 1, 1, 3, 2, 2, 2, 3, 3, 1];
        tables[0].columns[7].cells = Cells::Numbers(of_rows);
        let of_values = vec![1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3];
        tables[1].columns[1].cells = Cells::Numbers(of_values);
    });
    case.requirements = requirements(&case.table, Some(1.0 / 6.0));
    let verdict = case.verdict();
    assert!(
        verdict.holds(),
        "{:#?}",
        verdict.failed().collect::<Vec<_>>()
    );
    let terms = check(&verdict.checks, "max_leakage", Some("*"));
    assert_eq!(terms.attained, Some(1.0));
    // (1/6 + 1/3 + 1/3) / 3 = 5/18 instead of 1/6.
    let leakage = check(&verdict.checks, "group_leakage", Some("pay"));
    assert!((leakage.attained.unwrap() - 5.0 / 3.0).abs() < 1e-12);
    assert_eq!(leakage.worst, Some(Place::Group(4)));
}

#[test]
fn the_verdict_is_written_as_the_design_has_it() {
    let mut case = handmade();
    case.set_numbers(
        "microdata",
        "group",
        vec![1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 1],
    );
    case.seal();
    let written = serde_json::to_value(case.verdict()).expect("a verdict is JSON");
    assert_eq!(written["holds"], json!(false));
    let mut keys: Vec<&String> = written.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["attacks", "guarantees", "holds", "structure"]);
    let guarantee = &written["guarantees"][0];
    assert_eq!(guarantee["kind"], json!("k_anonymity"));
    assert_eq!(guarantee["claimed"], json!(2.0));
    // Row 12 still looks like its group; the number alone is wrong.
    assert_eq!(guarantee["attained"], json!(3.0));
    let alike = written["structure"].as_array().unwrap().iter();
    let alike = alike
        .clone()
        .find(|check| check["kind"] == json!("groups_look_alike"))
        .unwrap();
    assert_eq!(
        (&alike["holds"], &alike["worst"]),
        (&json!(false), &json!({"row": 12}))
    );
    assert_eq!(
        case.verdict().failed().next().unwrap().worst,
        Some(Place::Row(12))
    );
}
