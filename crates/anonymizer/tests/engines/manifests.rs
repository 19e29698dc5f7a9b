//! What manifests say: the words of every engine, and that nothing else can
//! be said, wherever in a manifest it is.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use vizard_anonymizer::catalog::descriptions;
use vizard_anonymizer::release::Manifest;

use crate::case::Case;
use crate::corruptions::bases::{self, Base};

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().expect("a list of texts").iter();
    all.map(|text| text.as_str().expect("a text").to_owned())
        .collect()
}

fn bases_of(engine: &str) -> Vec<&'static Base> {
    let all = bases::all().iter();
    all.filter(|base| base.case.manifest.engine == engine)
        .collect()
}

#[test]
fn releases_of_every_engine_say_what_the_list_of_engines_says() {
    let descriptions = descriptions();
    let engines = descriptions.as_array().expect("a list of engines");
    assert_eq!(engines.len(), 10);
    for engine in engines {
        let name = engine["name"].as_str().expect("a name");
        let open = texts(&engine["not_protected"]);
        let bases = bases_of(name);
        assert!(!bases.is_empty(), "{name} has no release here");
        for base in bases {
            let manifest = &base.case.manifest;
            let adversary = engine["adversary"].as_str().expect("a text");
            let m = manifest.parameters["m"].to_string();
            assert_eq!(
                manifest.adversary,
                adversary.replace(" m ", &format!(" {m} "))
            );
            for text in &manifest.not_protected {
                let is_bare = text.contains("that a whole group shares");
                let is_accepted = text.ends_with("the reason given: made up");
                let is_known = is_bare || is_accepted || open.contains(text);
                assert!(is_known, "{}: {text}", base.name);
            }
        }
    }
}

#[test]
fn releases_of_every_engine_name_what_no_engine_protects() {
    for base in bases::all() {
        let said = &base.case.manifest.not_protected;
        let schema = base.case.table.schema();
        let insensitive = vizard_anonymizer::microdata::Role::Insensitive;
        let mut attributes = schema.attributes().iter();
        let shows_insensitive = attributes.any(|attribute| attribute.role == insensitive);
        let is_exact = matches!(
            base.name,
            "arp" | "arp two" | "arp randomization" | "arp slicing" | "aip" | "anatomy"
        );
        let mut wanted = vec!["minimality", "singling out", "who asked for something"];
        wanted.extend(shows_insensitive.then_some("insensitive attributes"));
        wanted.extend((is_exact || base.name.starts_with("slicing")).then_some("presence"));
        for start in wanted {
            let times = said.iter().filter(|text| text.starts_with(start)).count();
            assert_eq!(times, 1, "{}: {start}", base.name);
        }
        let share = "is a share of the published values, not a bound on what can be inferred";
        assert!(
            said.iter().any(|text| text.ends_with(share)),
            "{}",
            base.name
        );
        let once: BTreeSet<&String> = said.iter().collect();
        assert_eq!(once.len(), said.len(), "{}", base.name);
    }
}

/// Paths to everything in a document, the document itself first.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                paths(field, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(all) => {
            for (at, one) in all.iter().enumerate() {
                paths(one, &format!("{path}/{at}"), found);
            }
        }
        _ => {}
    }
}

/// Says something else at the place.
fn flip(value: &mut Value) {
    *value = match &*value {
        Value::Null => json!(0),
        Value::Bool(is) => json!(!is),
        Value::Number(number) => match number.as_u64() {
            Some(whole) => json!(whole + 1),
            None => json!(number.as_f64().unwrap_or_default() * 0.5),
        },
        Value::String(text) => json!(format!("{text} ")),
        Value::Array(_) => json!([]),
        Value::Object(_) => json!({}),
    };
}

/// Says something more at the place; false where nothing can be added.
fn add(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .insert("note".into(), json!("row 1 is P-10000"))
            .is_none(),
        Value::Array(all) => {
            all.push(all.last().cloned().unwrap_or(json!("row 1 is P-10000")));
            true
        }
        _ => false,
    }
}

fn delete(document: &mut Value, path: &str) {
    let (parent, name) = path.rsplit_once('/').expect("a place in a document");
    match document.pointer_mut(parent).expect("it was found before") {
        Value::Object(fields) => drop(fields.remove(name)),
        Value::Array(all) => drop(all.remove(name.parse().expect("a position"))),
        _ => panic!("nothing is within"),
    }
}

/// Whether the verifier says that the manifest is not the one of the release;
/// a document that is no manifest is refused before.
fn is_refused(case: &Case, document: &Value) -> bool {
    let Ok(manifest) = serde_json::from_str::<Manifest>(&document.to_string()) else {
        return true;
    };
    let mut case = case.clone();
    case.manifest = manifest;
    let verdict = case.verdict();
    let mut failed = verdict.failed();
    failed.any(|check| check.kind == "manifest_as_rendered")
}

#[test]
fn no_part_of_a_manifest_can_say_something_else_or_more_or_less() {
    let families = [
        "lgb group",
        "one_to_many",
        "arp",
        "mondrian",
        "personalized",
        "slicing",
    ];
    let bases = bases::all().iter();
    let bases: Vec<&Base> = bases.filter(|base| families.contains(&base.name)).collect();
    assert_eq!(bases.len(), families.len());
    for base in bases {
        let document = serde_json::to_value(&base.case.manifest).expect("it is JSON");
        assert!(!is_refused(&base.case, &document), "{}", base.name);
        let mut found = Vec::new();
        paths(&document, "", &mut found);
        assert!(found.len() > 60, "{}: {found:?}", base.name);
        for path in found {
            let at = |document: &mut Value, change: fn(&mut Value) -> bool| {
                let changed = change(document.pointer_mut(&path).expect("it was found"));
                changed.then(|| assert!(is_refused(&base.case, document), "{}: {path}", base.name));
            };
            at(&mut document.clone(), add);
            if path.is_empty() {
                continue;
            }
            at(&mut document.clone(), |value| {
                let before = value.clone();
                flip(value);
                before != *value
            });
            let mut less = document.clone();
            delete(&mut less, &path);
            assert!(
                is_refused(&base.case, &less),
                "{}: {path} deleted",
                base.name
            );
        }
    }
}
