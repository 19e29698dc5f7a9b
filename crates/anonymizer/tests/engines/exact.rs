//! Attributes that are published exactly: counted in the manifest and in the
//! risk, refused where they let a record stand out, accepted by name alone.

use std::fmt::Write;

use serde_json::{Value, json};
use vizard_anonymizer::catalog::{
    Assignment, Engine, Identifying, IdentifyingBy, ProduceError, Produced, Unobserved, in_memory,
    produce,
};
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::microdata::{DirectIdentifier, Table};
use vizard_anonymizer::privacy::{CancelFlag, Requirements};
use vizard_anonymizer::release::{AcceptedExact, InputDescription, PublishedTable};
use vizard_anonymizer::verify::{AtOnce, Evidence, Ordered, Section, State, verify};

use crate::tables::{preferences, table};

const PEOPLE: u32 = 240;

/// Four ages, a ward and a laboratory value, and six diagnoses; `code` is the
/// attribute that the test is about.
fn people(role: &str, code: impl Fn(u32) -> String) -> Table {
    let mut records = String::from("id,age,sex,ill,code,ward\n");
    for at in 0..PEOPLE {
        let (age, sex) = (20 + at % 40, ["f", "m"][(at / 40 % 2) as usize]);
        let ill = ["flu", "gout", "cough", "asthma", "ulcer", "gastritis"][(at * 7 % 6) as usize];
        let ward = ["north", "south"][usize::from(at >= PEOPLE / 2)];
        writeln!(records, "p{at},{age},{sex},{ill},{},{ward}", code(at)).expect("a String");
    }
    let schema = json!({
        "name": "people", "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "sex", "role": "quasi_identifier", "type": "categorical"},
            {"name": "ill", "role": "sensitive", "type": "categorical"},
            {"name": "code", "role": role, "type": "categorical"},
            {"name": "ward", "role": "insensitive", "type": "categorical"}]
    });
    table(schema, &[], &records)
}

fn run(
    table: &Table,
    (engine, parameters): (&str, Value),
    accepted: &[(&str, &str)],
    terms: Value,
) -> Result<Produced, ProduceError> {
    let engine = Engine::parse(engine, &parameters, table.schema()).expect("the job is sound");
    let accept_exact: Vec<AcceptedExact> = accepted
        .iter()
        .map(|&(attribute, reason)| AcceptedExact {
            attribute: attribute.into(),
            reason: reason.into(),
        })
        .collect();
    let assignment = Assignment {
        table,
        preferences: &preferences(terms),
        engine: &engine,
        input: InputDescription {
            dataset: "made-up".into(),
            version: 1,
            series: None,
        },
        history: None,
        public: &[],
        suppressed: 0,
        reproducible_seed: false,
        accept_exact: &accept_exact,
        queries: 10,
        fit: None,
        population_table: None,
        reruns: 0,
        keeps_shown: true,
        rows_at_once: AtOnce::ROWS,
        verify: true,
        report: true,
    };
    let context = RunContext::silent(5);
    produce(&assignment, &context, &mut in_memory, &mut Unobserved)
}

/// Engines that claim k of records.
fn engines() -> [(&'static str, Value); 2] {
    [
        ("lgb", json!({"k": 5, "l": 2})),
        ("mondrian", json!({"k": 5, "l": 2})),
    ]
}

fn named(refused: Result<Produced, ProduceError>) -> Vec<Identifying> {
    match refused {
        Err(ProduceError::Identifying(found)) => found,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was published"),
    }
}

#[test]
fn a_value_of_ones_own_is_refused_in_every_role_but_identifier() {
    for role in ["insensitive", "sensitive", "quasi_identifier"] {
        let table = people(role, |at| format!("AB {at:04}"));
        for engine in engines() {
            let name = engine.0;
            let accepted = [("ward", "a made-up ward")];
            let found = named(run(&table, engine, &accepted, json!([])));
            let own_text = IdentifyingBy::Form(DirectIdentifier::OwnText);
            let is_named = found.len() == 1 && found[0].attribute == "code";
            assert!(
                is_named && found[0].by == own_text,
                "{name} {role}: {found:?}"
            );
        }
    }
}

#[test]
fn an_exact_value_that_sets_records_below_their_k_is_refused_with_its_count() {
    // Four people share each code: fewer than k.
    let table = people("insensitive", |at| format!("c{}", at / 4));
    for engine in engines() {
        let name = engine.0;
        let found = named(run(&table, engine, &[("ward", "made up")], json!([])));
        let by: Vec<(&str, IdentifyingBy)> = found
            .iter()
            .map(|one| (one.attribute.as_str(), one.by))
            .collect();
        assert!(
            matches!(by[..], [("code", IdentifyingBy::Records(records))] if records > 0),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn accepted_attributes_are_named_with_their_reason_and_counted_in_the_risk() {
    let table = people("insensitive", |at| format!("c{}", at / 2));
    for engine in engines() {
        let name = engine.0;
        let accepted = [("code", "the public price list"), ("ward", "on every door")];
        let made = run(&table, engine, &accepted, json!([])).expect("a release exists");
        let manifest = serde_json::to_value(&made.manifest).expect("JSON");
        assert_eq!(manifest["accept_exact"][0]["attribute"], "code", "{name}");
        let said = &made.manifest.not_protected;
        let wanted = "code is published as it is although it may identify people; the reason \
                      given: the public price list";
        assert!(said.iter().any(|text| text == wanted), "{name}: {said:?}");
        let exact = &made.manifest.published_exactly;
        let code = exact.attributes.iter().find(|one| one.attribute == "code");
        assert_eq!(code.map(|one| one.distinct), Some(120), "{name}");
        assert!(
            exact.unique_share_with_quasi_identifiers > Some(0.2),
            "{name}: {exact:?}"
        );
        let report = made.report.expect("a report");
        let risk = &report["measures"]["reidentification_risk"]["value"];
        // Pairs with one code: who knows it takes the right row every other time at least.
        assert!(
            risk["prosecutor_max"].as_f64() >= Some(0.5),
            "{name}: {risk}"
        );
        assert!(
            risk["by_quasi_identifiers"]["max"].as_f64() <= Some(0.2),
            "{name}: {risk}"
        );
        let verdict = made.verdict.expect("a verdict");
        assert!(verdict.holds(), "{name}: {:?}", verdict.failed_kinds());
        let attack = verdict
            .section(Section::Attack)
            .find(|check| check.kind == "linkage_exact")
            .expect("the attack was tried");
        assert_eq!(attack.state(), State::NoBound, "{name}");
    }
}

#[test]
fn a_record_is_held_to_the_k_of_its_own() {
    // Two ages of 120 people, half of each in either ward.
    let mut records = String::from("id,age,ill,ward\n");
    for at in 0..PEOPLE {
        let (age, ward) = (20 + at % 2, ["north", "south"][(at / 2 % 2) as usize]);
        let ill = ["flu", "gout", "cough"][(at % 3) as usize];
        writeln!(records, "p{at},{age},{ill},{ward}").expect("a String");
    }
    let schema = json!({
        "name": "people", "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "ill", "role": "sensitive", "type": "categorical"},
            {"name": "ward", "role": "insensitive", "type": "categorical"}]
    });
    let table = table(schema, &[], &records);
    let engine = || ("mondrian", json!({"k": 2, "effort": "none"}));
    assert!(run(&table, engine(), &[], json!([])).is_ok());
    // One subject asks for 80: more than share age and ward, fewer than share the age.
    let asks = json!([{"subject": "p7", "max_reidentification": 0.0125}]);
    let found = named(run(&table, engine(), &[], asks.clone()));
    assert_eq!(found[0].attribute, "ward");
    let accepted = [("ward", "on every door")];
    assert!(run(&table, engine(), &accepted, asks).is_ok());
}

#[test]
fn the_verifier_refuses_what_the_job_did_not_accept() {
    let table = people("insensitive", |at| format!("p{at}@example.org"));
    let accepted = [("code", "made up"), ("ward", "made up")];
    for (name, parameters) in engines() {
        let made = run(&table, (name, parameters.clone()), &accepted, json!([]));
        let made = made.expect("a release exists");
        let engine = Engine::parse(name, &parameters, table.schema()).expect("sound");
        let policy = engine.policy(table.schema()).expect("sound");
        let tables = made.tables.iter().map(|table| table.read_back());
        let tables: Vec<PublishedTable> = tables.collect::<Result<_, _>>().expect("readable");
        let verdict = verify(&Evidence {
            table: &table,
            requirements: &Requirements::new(&table, policy, &[]),
            ordered: Ordered {
                engine: name,
                parameters: engine.parameters(),
                input: &made.manifest.input,
                suppressed: 0,
                reproducible_seed: false,
                accept_exact: &[],
                parts: None,
            },
            manifest: &made.manifest,
            tables: &tables,
            lineage: &made.lineage,
            seed: &RunContext::silent(5).seed,
            dataset_secret: &RunContext::silent(5).dataset_secret,
            cancel: CancelFlag::never(),
            at_once: AtOnce::default(),
        });
        let failed = verdict.failed_kinds();
        for kind in [
            "direct_identifiers",
            "linkage_exact",
            "manifest_as_rendered",
        ] {
            assert!(failed.iter().any(|one| one == kind), "{name}: {failed:?}");
        }
    }
}

#[test]
fn only_published_attributes_are_accepted_once_and_with_a_reason() {
    let table = people("sensitive", |at| format!("c{}", at % 3));
    for accepted in [
        [("id", "why not"), ("ward", "x")],
        [("nobody", "x"), ("ward", "x")],
        [("ward", "x"), ("ward", "y")],
        [("code", " "), ("ward", "x")],
        [("code", "a\nb"), ("ward", "x")],
    ] {
        let refused = run(&table, ("mondrian", json!({"k": 2})), &accepted, json!([]));
        let Err(ProduceError::Engine(error)) = refused else {
            panic!("{accepted:?} was taken");
        };
        assert!(error.to_string().contains("accept_exact"), "{error}");
    }
}
