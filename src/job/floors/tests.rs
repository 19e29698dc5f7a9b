//! Floors at exact equality, for every engine.

use vizard_anonymizer::catalog::Engine;

use super::*;

fn schema(multiplicity: &str, sensitive: &[&str]) -> Schema {
    let mut attributes = vec![
        json!({"name": "id", "role": "identifier"}),
        json!({"name": "age", "role": "quasi_identifier", "type": "integer"}),
    ];
    for name in sensitive {
        attributes.push(
            json!({"name": name, "role": "sensitive", "type": "categorical",
            "hierarchy": "illness"}),
        );
    }
    let document = json!({"name": "made-up", "subject_key": "id",
        "multiplicity": multiplicity, "attributes": attributes});
    serde_json::from_value(document).expect("a schema")
}

fn floors(document: Value) -> Floors {
    serde_json::from_value(document).expect("floors")
}

/// Each entry as `floor/parameter/attribute`.
fn names(below: &[Below]) -> Vec<String> {
    let name = |one: &Below| {
        let attribute = one.attribute.as_deref().unwrap_or("-");
        format!("{}/{}/{attribute}", one.floor, one.parameter)
    };
    below.iter().map(name).collect()
}

/// What is below the service's floors in a job on a schema.
fn below_of(floor: Value, engine: &str, parameters: Value) -> Vec<String> {
    let many = matches!(engine, "one_to_many" | "rmr");
    let schema = schema(if many { "many" } else { "one" }, &["illness"]);
    below_on(&schema, floor, (engine, parameters), None)
}

fn below_on(
    schema: &Schema,
    floor: Value,
    (engine, parameters): (&str, Value),
    made: Option<Made>,
) -> Vec<String> {
    let parsed = Engine::parse(engine, &parameters, schema).expect("an engine");
    let policy = parsed.policy(schema).expect("a policy");
    let ordered = Ordered {
        engine,
        schema,
        policy: &policy,
        made: made.as_ref(),
    };
    let in_force = InForce::of(&floors(floor), &Floors::default());
    names(&in_force.below(&ordered))
}

const NOTHING: [&str; 0] = [];

#[test]
fn k_equal_to_the_floor_holds_and_one_less_does_not() {
    for (engine, below, at) in [
        ("lgb", json!({"k": 2, "l": 2}), json!({"k": 3, "l": 2})),
        ("mondrian", json!({"k": 2}), json!({"k": 3})),
        (
            "personalized",
            json!({"k": 2, "sensitive": "illness"}),
            json!({"k": 3, "sensitive": "illness"}),
        ),
        (
            "rmr",
            json!({"k": 2, "m": 1, "delta": 0.5}),
            json!({"k": 3, "m": 1, "delta": 0.5}),
        ),
        (
            "slicing",
            json!({"k": 2, "l": 2, "clusters": 2}),
            json!({"k": 3, "l": 2, "clusters": 2}),
        ),
        (
            "one_to_many",
            json!({"k": 2, "l": 3}),
            json!({"k": 3, "l": 3}),
        ),
    ] {
        let floor = || json!({"k_min": 3});
        assert_eq!(below_of(floor(), engine, below), ["k_min/k/-"], "{engine}");
        assert_eq!(below_of(floor(), engine, at), NOTHING, "{engine}");
    }
}

#[test]
fn engines_without_a_k_hide_records_in_blocks_of_l() {
    for engine in ["arp", "aip", "anatomy", "ng"] {
        let below = |l| below_of(json!({"k_min": 3}), engine, json!({"l": l}));
        assert_eq!(below(2), ["k_min/l/-"], "{engine}");
        assert_eq!(below(3), NOTHING, "{engine}");
    }
    // A bucket of slices has at least l records.
    let below = |l| {
        let parameters = json!({"l": l, "clusters": 2});
        below_of(json!({"k_min": 3}), "slicing", parameters)
    };
    assert_eq!(below(2), ["k_min/k/-"]);
    assert_eq!(below(3), NOTHING);
    let close = json!({"t_closeness": 0.5, "clusters": 2});
    let below = below_of(json!({"k_min": 2}), "slicing", close);
    assert_eq!(below, ["k_min/k/-"]);
}

#[test]
fn both_of_the_ks_of_fingerprints_are_compared() {
    let below = |k: u32, k_group: u32| {
        let parameters = json!({"k": k, "l": 2, "k_group": k_group});
        below_of(json!({"k_min": 3}), "one_to_many", parameters)
    };
    assert_eq!(below(3, 3), NOTHING);
    assert_eq!(below(2, 3), ["k_min/k/-"]);
    assert_eq!(below(3, 2), ["k_min/k_group/-"]);
}

#[test]
fn l_equal_to_the_floor_holds_and_one_less_does_not() {
    let with_l = |engine: &str, l: u32| match engine {
        "lgb" | "mondrian" | "one_to_many" => json!({"k": 5, "l": l}),
        "slicing" => json!({"k": 5, "l": l, "clusters": 2}),
        _ => json!({"l": l}),
    };
    for engine in [
        "lgb",
        "mondrian",
        "one_to_many",
        "slicing",
        "arp",
        "aip",
        "anatomy",
        "ng",
    ] {
        let below = |l| below_of(json!({"l_min": 4}), engine, with_l(engine, l));
        assert_eq!(below(3), ["l_min/l/illness"], "{engine}");
        assert_eq!(below(4), NOTHING, "{engine}");
    }
}

#[test]
fn engines_without_an_l_are_below_every_l_but_one() {
    for (engine, parameters) in [
        ("rmr", json!({"k": 5, "m": 2, "delta": 0.5})),
        ("mondrian", json!({"k": 5})),
        ("mondrian", json!({"k": 5, "t_closeness": 0.1})),
        (
            "lgb",
            json!({"k": 5, "attributes": {"illness": {"t_closeness": 0.1}}}),
        ),
        (
            "slicing",
            json!({"k": 5, "t_closeness": 0.1, "clusters": 2}),
        ),
    ] {
        let below = |l| below_of(json!({"l_min": l}), engine, parameters.clone());
        assert_eq!(below(2), ["l_min/l/illness"], "{engine} {parameters}");
        assert_eq!(below(1), NOTHING, "{engine} {parameters}");
    }
}

#[test]
fn a_bound_on_leakage_is_an_l() {
    let below = |leakage: f64| {
        let parameters = json!({"k": 5, "sensitive": "illness", "max_leakage": leakage});
        below_of(json!({"l_min": 4}), "personalized", parameters)
    };
    assert_eq!(below(0.25), NOTHING);
    assert_eq!(below(0.250_000_001), ["l_min/max_leakage/illness"]);
    let all = json!({"k": 5, "sensitive": "illness"});
    let below = below_of(json!({"l_min": 2}), "personalized", all);
    assert_eq!(below, ["l_min/max_leakage/illness"]);
}

#[test]
fn randomization_is_compared_by_its_posterior_and_not_by_its_l() {
    let below = |retention: f64| {
        let parameters = json!({"l": 10, "publish": "randomization", "retention": retention});
        below_of(json!({"l_min": 3}), "arp", parameters)
    };
    assert_eq!(below(0.5), ["l_min/max_posterior/illness"]);
    assert_eq!(below(0.1), NOTHING);
}

#[test]
fn t_equal_to_the_floor_holds_and_more_does_not() {
    let engines = [
        (
            "lgb",
            json!({"k": 5, "attributes": {"illness": {"t_closeness": 0.0}}}),
        ),
        ("mondrian", json!({"k": 5, "t_closeness": 0.0})),
        (
            "slicing",
            json!({"k": 5, "t_closeness": 0.0, "clusters": 2}),
        ),
    ];
    for (engine, parameters) in engines {
        let below = |floor: Value, t: f64| {
            let mut parameters = parameters.clone();
            match engine {
                "lgb" => parameters["attributes"]["illness"]["t_closeness"] = json!(t),
                _ => parameters["t_closeness"] = json!(t),
            }
            below_of(floor, engine, parameters)
        };
        let alone = || json!({"t_max": 0.2});
        assert_eq!(below(alone(), 0.2), NOTHING, "{engine}");
        let beyond = below(alone(), 0.200_000_001);
        assert_eq!(beyond, ["t_max/t_closeness/illness"], "{engine}");
        // With an l beside it, a t that holds is protection enough.
        let both = || json!({"t_max": 0.2, "l_min": 3});
        assert_eq!(below(both(), 0.2), NOTHING, "{engine}");
        let beyond = below(both(), 0.3);
        let expected = ["l_min/l/illness", "t_max/t_closeness/illness"];
        assert_eq!(beyond, expected, "{engine}");
    }
    // A largest t asks nothing of what is protected by an l.
    let diverse = below_of(json!({"t_max": 0.2}), "lgb", json!({"k": 5, "l": 2}));
    assert_eq!(diverse, NOTHING);
}

#[test]
fn an_attribute_that_is_not_published_needs_no_l() {
    let schema = schema("one", &["illness", "allergy"]);
    let below = |parameters: Value| {
        let floor = json!({"k_min": 2, "l_min": 3});
        below_on(&schema, floor, ("anatomy", parameters), None)
    };
    assert_eq!(below(json!({"l": 3, "sensitive": ["allergy"]})), NOTHING);
    let both = below(json!({"l": 2}));
    assert_eq!(both, ["l_min/l/illness", "l_min/l/allergy"]);
}

#[test]
fn every_attribute_is_compared_by_its_own_l() {
    let schema = schema("one", &["illness", "allergy"]);
    let parameters = json!({"k": 5, "l": 3, "attributes": {"allergy": {"l": 2}}});
    let below = below_on(&schema, json!({"l_min": 3}), ("lgb", parameters), None);
    assert_eq!(below, ["l_min/l/allergy"]);
}

#[test]
fn a_risk_equal_to_the_floor_holds_promised_and_measured() {
    let schema = schema("one", &["illness"]);
    let below = |k: u32, made: Option<f64>| {
        let report = made.map(|risk| {
            json!({"measures": {"reidentification_risk": {"value": {"prosecutor_max": risk}}}})
        });
        let made = report.as_ref().map(|report| Made::of(report, &Value::Null));
        let job = ("mondrian", json!({"k": k}));
        below_on(&schema, json!({"risk_max": 0.2}), job, made)
    };
    assert_eq!(below(5, None), NOTHING);
    assert_eq!(below(4, None), ["risk_max/promised_risk/-"]);
    // The release is what it is, whatever was promised.
    assert_eq!(below(4, Some(1.0 / 5.0)), NOTHING);
    assert_eq!(below(5, Some(1.0 / 4.0)), ["risk_max/prosecutor_max/-"]);
    assert_eq!(below(5, Some(0.0)), NOTHING);
    for unknown in [-1.0, 1.5] {
        let found = below(5, Some(unknown));
        assert_eq!(found, ["risk_max/prosecutor_max/-"]);
    }
    assert_eq!(Made::of(&Value::Null, &Value::Null).alike, None);
}

#[test]
fn a_lift_counts_where_it_is_beyond_chance() {
    let schema = schema("one", &["illness"]);
    let below = |right: f64, lift: f64, people: u32| {
        let verification = json!({"attacks": [
            {"kind": "linkage", "attained": 0.9, "figures": {"lift": 9.0, "people": 1000.0}},
            {"kind": "inference", "attribute": "illness", "attained": right,
             "figures": {"lift": lift, "people": people}},
        ]});
        let made = Made::of(&Value::Null, &verification);
        let job = ("mondrian", json!({"k": 5}));
        below_on(&schema, json!({"lift_max": 1.5}), job, Some(made))
    };
    assert_eq!(below(0.6, 2.0, 10_000), ["lift_max/lift/illness"]);
    assert_eq!(below(0.6, 2.0, 20), NOTHING);
    assert_eq!(below(0.6, 1.5, 10_000), NOTHING);
    assert_eq!(below(0.6, 1.4, 10_000_000), NOTHING);
    // Before there is a release nothing is measured.
    let job = ("mondrian", json!({"k": 5}));
    assert_eq!(
        below_on(&schema, json!({"lift_max": 1}), job, None),
        NOTHING
    );
    for no_floor in [0.9, 1001.0] {
        assert!(serde_json::from_value::<Floors>(json!({"lift_max": no_floor})).is_err());
    }
}

#[test]
fn a_size_is_read_back_from_its_risk() {
    for size in 1_u32..100_000 {
        let risk = json!({"prosecutor_max": 1.0 / f64::from(size)});
        let report = json!({"measures": {"reidentification_risk": {"value": risk}}});
        let alike = Some(size.into());
        assert_eq!(Made::of(&report, &Value::Null).alike, alike);
    }
}

#[test]
fn engines_that_show_quasi_identifiers_promise_no_risk_below_one() {
    let floor = || json!({"risk_max": 0.5});
    for (engine, parameters) in [
        ("anatomy", json!({"l": 9})),
        ("aip", json!({"l": 9})),
        ("arp", json!({"l": 9})),
        ("ng", json!({"l": 9})),
        ("slicing", json!({"k": 9, "l": 9, "clusters": 2})),
    ] {
        let below = below_of(floor(), engine, parameters);
        assert_eq!(below, ["risk_max/promised_risk/-"], "{engine}");
    }
    let generalized = json!({"l": 2, "publish": "generalization"});
    assert_eq!(below_of(floor(), "arp", generalized), NOTHING);
    let persons = json!({"k": 9, "l": 2, "k_group": 1});
    let below = below_of(floor(), "one_to_many", persons);
    assert_eq!(below, ["risk_max/promised_risk/-"]);
}

#[test]
fn an_engine_must_be_on_both_lists() {
    let schema = schema("one", &["illness"]);
    let policy = Engine::parse("lgb", &json!({"k": 5, "l": 2}), &schema)
        .and_then(|engine| engine.policy(&schema))
        .expect("a policy");
    let ordered = Ordered {
        engine: "lgb",
        schema: &schema,
        policy: &policy,
        made: None,
    };
    let below = |service: Value, dataset: Value| {
        let in_force = InForce::of(&floors(service), &floors(dataset));
        let found = in_force.below(&ordered);
        found.first().map(|one| one.set_by)
    };
    let (with, without) = (
        json!({"engines": ["lgb"]}),
        json!({"engines": ["mondrian"]}),
    );
    assert_eq!(below(json!({}), json!({})), None);
    assert_eq!(below(with.clone(), with.clone()), None);
    assert_eq!(below(without.clone(), with.clone()), Some(SetBy::Service));
    assert_eq!(below(with.clone(), without.clone()), Some(SetBy::Dataset));
    let in_force = InForce::of(&floors(with), &floors(without));
    assert_eq!(in_force.floors().engines, Some(Vec::new()));
}

#[test]
fn the_stricter_of_the_two_holds() {
    let own = json!({"k_min": 3, "l_min": 3, "t_max": 0.3, "risk_max": 0.3});
    for (other, expected, set_by) in [
        (
            json!({"k_min": 2, "l_min": 2, "t_max": 0.4, "risk_max": 0.4}),
            own.clone(),
            SetBy::Service,
        ),
        (
            json!({"k_min": 4, "l_min": 4, "t_max": 0.2, "risk_max": 0.2}),
            json!({"k_min": 4, "l_min": 4, "t_max": 0.2, "risk_max": 0.2}),
            SetBy::Dataset,
        ),
    ] {
        let in_force = InForce::of(&floors(own.clone()), &floors(other));
        assert_eq!(in_force.floors(), floors(expected));
        assert_eq!(in_force.k_min.map(|(_, by)| by), Some(set_by));
        assert_eq!(in_force.risk_max.map(|(_, by)| by), Some(set_by));
    }
}

#[test]
fn a_sentence_names_parameter_value_floor_and_who_set_it() {
    let below = Below {
        floor: "l_min".into(),
        asked: json!(3),
        set_by: SetBy::Dataset,
        parameter: "l".into(),
        attribute: Some("illness".into()),
        value: Value::Null,
    };
    let said = "l of `illness` is not given, and l_min of the dataset is 3";
    assert_eq!(below.sentence(), said);
}
