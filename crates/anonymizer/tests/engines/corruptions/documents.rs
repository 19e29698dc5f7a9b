//! Manifests that say more, less or something else than the release they
//! describe, as text: whatever a field can hold besides the one true text is
//! a message, or a promise that is not kept.

use serde_json::{Value, json};

use super::owners::key;
use super::promises;
use crate::case::Case;

/// One way to change a manifest; false where it has no place.
pub struct Falsehood {
    pub name: &'static str,
    pub breaks: &'static str,
    pub apply: fn(&mut Value, &Case) -> bool,
}

pub type Apply = fn(&mut Value, &Case) -> bool;

pub fn table(entries: &[(&'static str, &'static str, Apply)]) -> Vec<Falsehood> {
    let entry = |&(name, breaks, apply): &(&'static str, &'static str, Apply)| Falsehood {
        name,
        breaks,
        apply,
    };
    entries.iter().map(entry).collect()
}

/// Replaces what a path leads to.
pub fn set(manifest: &mut Value, path: &str, new: Value) -> bool {
    match manifest.pointer_mut(path) {
        Some(value) if *value != new => {
            *value = new;
            true
        }
        _ => false,
    }
}

/// Adds a key to the object that a path leads to.
pub fn add(manifest: &mut Value, path: &str, name: &str, new: Value) -> bool {
    let object = manifest.pointer_mut(path).and_then(Value::as_object_mut);
    object.is_some_and(|object| object.insert(name.into(), new).is_none())
}

pub fn change(manifest: &mut Value, path: &str, make: impl Fn(&Value) -> Option<Value>) -> bool {
    let new = manifest.pointer(path).and_then(make);
    new.is_some_and(|new| set(manifest, path, new))
}

/// Changes a field of the first guarantee that has it.
pub fn claim(manifest: &mut Value, field: &str, make: impl Fn(&Value) -> Option<Value>) -> bool {
    let all = manifest["guarantees"].as_array().map_or(0, Vec::len);
    (0..all).any(|at| change(manifest, &format!("/guarantees/{at}/{field}"), &make))
}

pub fn list(manifest: &mut Value, path: &str, make: impl Fn(&mut Vec<Value>)) -> bool {
    let Some(all) = manifest.pointer_mut(path).and_then(Value::as_array_mut) else {
        return false;
    };
    let before = all.clone();
    make(all);
    *all != before
}

fn number(manifest: &mut Value, path: &str, by: u64) -> bool {
    change(manifest, path, |value| Some(json!(value.as_u64()? + by)))
}

fn text(manifest: &mut Value, path: &str, make: impl Fn(&str) -> String) -> bool {
    change(manifest, path, |value| Some(json!(make(value.as_str()?))))
}

pub fn corruptions() -> Vec<Falsehood> {
    let mut all = promises::corruptions();
    all.extend(words());
    all.extend(tables());
    all.extend(numbers());
    all
}

fn words() -> Vec<Falsehood> {
    table(&[
        (
            "a false adversary",
            "The claims hold against less than is said.",
            |m, _| set(m, "/adversary", json!("knows everything about everyone")),
        ),
        (
            "a weaker adversary",
            "The claims are said to hold against less.",
            |m, _| set(m, "/adversary", json!("nobody")),
        ),
        ("no adversary", "Against whom is not said.", |m, _| {
            set(m, "/adversary", json!(""))
        }),
        (
            "an adversary with a letter that no reader shows",
            "Letters hold a message.",
            |m, _| text(m, "/adversary", |text| format!("{text}\u{200b}")),
        ),
        (
            "an adversary in capitals",
            "One bit for each letter.",
            |m, _| text(m, "/adversary", str::to_uppercase),
        ),
        ("a key in the adversary", "Somebody is named.", |m, c| {
            let named = key(c, 0);
            text(m, "/adversary", |text| format!("{text}; is {named}"))
        }),
        (
            "nothing said to be unprotected",
            "What is not protected is not said.",
            |m, _| list(m, "/not_protected", Vec::clear),
        ),
        (
            "one thing less said to be unprotected",
            "What is not protected is not said.",
            |m, _| list(m, "/not_protected", |all| drop(all.pop())),
        ),
        (
            "one thing more said to be unprotected",
            "A text that nobody wrote.",
            |m, _| {
                list(m, "/not_protected", |all| {
                    all.push(json!("nothing of importance"))
                })
            },
        ),
        (
            "keys among what is not protected",
            "Somebody is named.",
            |m, c| {
                let named = key(c, 0);
                list(m, "/not_protected", |all| all.push(json!(named)))
            },
        ),
        (
            "a key within what is not protected",
            "Somebody is named.",
            |m, c| {
                let named = format!(" ({})", key(c, 0));
                text(m, "/not_protected/0", |text| text.to_owned() + &named)
            },
        ),
        (
            "what is not protected the other way round",
            "Their order is a permutation.",
            |m, _| list(m, "/not_protected", |all| all.reverse()),
        ),
        (
            "what is not protected twice",
            "How often is a message.",
            |m, _| list(m, "/not_protected", |all| all.extend(all.first().cloned())),
        ),
        (
            "what is not protected in weaker words",
            "What is not protected is not said.",
            |m, _| text(m, "/not_protected/0", |text| format!("hardly: {text}")),
        ),
        (
            "another format",
            "A reader takes it for something else.",
            |m, _| set(m, "/format", json!("vizard-release/1 ")),
        ),
        (
            "another engine of the same model",
            "How it was made is said falsely.",
            |m, _| {
                change(m, "/engine", |engine| {
                    Some(json!(match engine.as_str()? {
                        "arp" => "anatomy",
                        "anatomy" => "arp",
                        "aip" => "anatomy",
                        "mondrian" => "lgb",
                        "one_to_many" => "rmr",
                        "rmr" => "one_to_many",
                        _ => "mondrian",
                    }))
                })
            },
        ),
        (
            "an engine that nobody knows",
            "No rules are known.",
            |m, _| set(m, "/engine", json!("best")),
        ),
        (
            "an engine's name with a space",
            "Spaces are counted by who knows.",
            |m, _| text(m, "/engine", |text| format!("{text} ")),
        ),
        (
            "a key as the program's version",
            "Somebody is named.",
            |m, c| set(m, "/made_by/vizard", json!(key(c, 0))),
        ),
        (
            "another version of the program",
            "How it was made is said falsely.",
            |m, _| text(m, "/made_by/vizard", |text| format!("{text}.7")),
        ),
        (
            "a key as the dataset's name",
            "Somebody is named.",
            |m, c| set(m, "/input/dataset", json!(key(c, 0))),
        ),
        (
            "another version of the dataset",
            "The number is a message.",
            |m, _| number(m, "/input/version", 7),
        ),
        (
            "a digest of a guess as the input's",
            "A function of unpublished bytes, or a message.",
            |m, _| {
                let guess = json!("5".repeat(64));
                set(m, "/input/sha256", guess.clone()) || add(m, "/input", "sha256", guess)
            },
        ),
        (
            "parts where there were none",
            "How it was made is said falsely, and a number is a message.",
            |m, _| {
                let parts = json!({"sizes": {"records_max": 1000}, "number": 7});
                add(m, "", "parts", parts)
            },
        ),
        (
            "said to be unverified",
            "A release that is verified says that it is not.",
            |m, _| add(m, "", "unverified", json!(true)),
        ),
        (
            "fewer attributes published exactly",
            "The risk of an attribute is hidden.",
            |m, _| {
                let whole = json!({"attributes": []});
                set(m, "/published_exactly", whole)
            },
        ),
        (
            "another share of unique records",
            "The risk is said to be smaller.",
            |m, _| {
                set(
                    m,
                    "/published_exactly/unique_share_with_quasi_identifiers",
                    json!(0.015_625),
                )
            },
        ),
        (
            "an attribute accepted that the job does not accept",
            "The warning is a message.",
            |m, _| {
                let accepted = json!([{"attribute": "ward", "reason": "none"}]);
                set(m, "/accept_exact", accepted.clone()) || add(m, "", "accept_exact", accepted)
            },
        ),
        (
            "the seed said to be chosen",
            "A release whose seed was drawn says that somebody chose it.",
            |m, _| add(m, "", "reproducible_seed", json!(true)),
        ),
    ])
}

fn tables() -> Vec<Falsehood> {
    table(&[
        (
            "tables described the other way round",
            "One bit.",
            |m, _| list(m, "/tables", |all| all.reverse()),
        ),
        ("a table described twice", "Readers read either.", |m, _| {
            list(m, "/tables", |all| all.extend(all.first().cloned()))
        }),
        (
            "a table that is not there",
            "The name is a message.",
            |m, c| {
                let named = json!({"name": key(c, 0), "rows": 0, "sha256": "", "columns": []});
                list(m, "/tables", |all| all.push(named.clone()))
            },
        ),
        (
            "a table not described",
            "A table beside the manifest.",
            |m, _| list(m, "/tables", |all| drop(all.pop())),
        ),
        (
            "one row more described",
            "The number of rows is false.",
            |m, _| number(m, "/tables/0/rows", 1),
        ),
        (
            "a digest in capitals",
            "One bit for each letter of it.",
            |m, _| text(m, "/tables/0/sha256", str::to_uppercase),
        ),
        (
            "another digest",
            "The table is not the one described.",
            |m, _| set(m, "/tables/0/sha256", json!("0".repeat(64))),
        ),
        (
            "a column said to be masked",
            "One bit for each column.",
            |m, _| add(m, "/tables/0/columns/0", "masked", json!(true)),
        ),
        (
            "types of a column that holds no values",
            "Names and types are a message.",
            |m, c| {
                add(
                    m,
                    "/tables/0/columns/0",
                    "types",
                    json!({key(c, 0): "integer"}),
                )
            },
        ),
        (
            "one type more of a column of values",
            "Names and types are a message.",
            |m, c| {
                let all = m["tables"].as_array().map_or(0, Vec::len);
                (0..all).any(|table| {
                    (0..4).any(|column| {
                        let path = format!("/tables/{table}/columns/{column}/types");
                        add(m, &path, &key(c, 0), json!("integer"))
                    })
                })
            },
        ),
        (
            "columns described the other way round",
            "The description is false.",
            |m, _| list(m, "/tables/0/columns", |all| all.reverse()),
        ),
        (
            "a column under another name",
            "The description is false.",
            |m, _| text(m, "/tables/0/columns/1/name", |text| format!("{text}_")),
        ),
        (
            "a column of another content",
            "The description is false.",
            |m, _| {
                change(m, "/tables/0/columns/1/content", |content| {
                    Some(json!(match content.as_str()? {
                        "exact" => "generalized",
                        _ => "exact",
                    }))
                })
            },
        ),
    ])
}

fn numbers() -> Vec<Falsehood> {
    table(&[
        (
            "one record more",
            "The number of records is false.",
            |m, _| number(m, "/records", 1),
        ),
        (
            "one record left out more",
            "The number left out is false.",
            |m, _| number(m, "/excluded", 1),
        ),
        (
            "twenty records left out more",
            "The number left out is false.",
            |m, _| number(m, "/excluded", 20),
        ),
        (
            "a message as the number of records left out at upload",
            "A number that nothing is compared with.",
            |m, _| number(m, "/suppressed", 10_035),
        ),
        (
            "records as a decimal number",
            "Two ways to say one thing are a bit.",
            |m, _| change(m, "/records", |value| Some(json!(value.as_u64()? as f64))),
        ),
        (
            "a claim as a decimal number",
            "Two ways to say one thing are a bit.",
            |m, _| claim(m, "k", |value| Some(json!(value.as_u64()? as f64))),
        ),
    ])
}
