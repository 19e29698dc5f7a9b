//! What another schema may take from those whose terms bind.

use serde_json::{Value, json};

use super::*;
use crate::microdata::HierarchyFormat;

fn schema(role: &str) -> Schema {
    let attributes = json!([
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": role, "type": "integer"},
        {"name": "sex", "role": "sensitive", "type": "categorical"},
    ]);
    let document = json!({"name": "t", "subject_key": "id", "attributes": attributes});
    serde_json::from_value(document).expect("a schema")
}

/// How many of these terms bind to what another role of `age` would not keep.
fn bound((before, after): (&str, &str), terms: &[Value]) -> u64 {
    let (before, after) = (schema(before), schema(after));
    let none = HierarchySet::new();
    let mut bound = BoundTerms::new((&before, &none), (&after, &none));
    for terms in terms {
        bound.add(&serde_json::from_value(terms.clone()).expect("terms"));
    }
    let misfits = bound.misfits();
    misfits.iter().filter_map(|misfit| misfit.count).sum()
}

/// A semi-sensitive value is kept of those alone who name it.
#[test]
fn what_is_sensitive_for_everybody_stays_so_for_those_who_bound_its_leak() {
    let terms = [
        json!({"max_leakage": {"age": 0.2}}),
        json!({"max_leakage": 0.2}),
        json!({"guard": {"age": ["old"]}}),
        json!({"max_leakage": {"age": 0.2}, "sensitive": ["age"]}),
        json!({"max_leakage": {"sex": 0.2}}),
        json!({"max_reidentification": 0.1}),
    ];
    assert_eq!(bound(("sensitive", "semi_sensitive"), &terms), 3);
    assert_eq!(bound(("sensitive", "insensitive"), &terms), 4);
    assert_eq!(bound(("semi_sensitive", "sensitive"), &terms), 0);
    let beyond = |now: &str, then: &str| {
        let (now, then) = (schema(now), schema(then));
        now.protects_beyond(&then).len()
    };
    assert_eq!(beyond("sensitive", "semi_sensitive"), 1);
    assert_eq!(beyond("semi_sensitive", "sensitive"), 0);
    assert_eq!(beyond("sensitive", "sensitive"), 0);
}

/// A guard is for the values under a node, whatever it is called.
#[test]
fn a_guarded_node_keeps_its_leaves() {
    let read = |text: &str| {
        let source = HierarchySource::read(text.as_bytes(), HierarchyFormat::Csv);
        HierarchySet::from([("sex".to_owned(), source.expect("a tree"))])
    };
    let mut document = serde_json::to_value(schema("sensitive")).expect("a document");
    document["attributes"][2]["hierarchy"] = json!("sex");
    let schema: Schema = serde_json::from_value(document).expect("a schema");
    let earlier = read("a;warm;*\nb;warm;*\nc;cold;*\n");
    let guards = |later: &str, node: &str| {
        let later = read(later);
        let mut bound = BoundTerms::new((&schema, &earlier), (&schema, &later));
        let terms = json!({"guard": {"sex": [node]}});
        bound.add(&serde_json::from_value(terms).expect("terms"));
        bound.misfits().len()
    };
    let moved = "a;warm;*\nb;cold;*\nc;cold;*\n";
    assert_eq!(guards(moved, "warm"), 1);
    assert_eq!(guards(moved, "cold"), 0, "it guards more than before");
    assert_eq!(
        guards("a;hot;warm;*\nb;hot;warm;*\nc;cold;cold;*\n", "warm"),
        0
    );
    assert_eq!(
        guards("a;warm;*\nc;cold;*\n", "warm"),
        0,
        "no record has `b`"
    );
    assert_eq!(guards("a;*\nb;*\nc;*\n", "warm"), 1);
}
