//! Manifests whose parameters or claims are others than those of the job.

use serde_json::{Value, json};

use super::documents::{Falsehood, add, change, claim, list, set, table};
use super::owners::key;
use crate::case::Case;

/// Writes the first whole number of the parameters as a decimal one.
fn decimal(manifest: &mut Value) -> bool {
    let names = ["k", "l", "m"];
    names.iter().any(|name| {
        change(manifest, &format!("/parameters/{name}"), |value| {
            Some(json!(value.as_u64()? as f64))
        })
    })
}

fn lineage(case: &Case) -> Value {
    (0..case.rows()).map(|row| key(case, row)).collect()
}

pub fn corruptions() -> Vec<Falsehood> {
    let mut all = parameters();
    all.extend(claims());
    all
}

fn parameters() -> Vec<Falsehood> {
    table(&[
        (
            "the lineage among the parameters",
            "Whose each row is.",
            |m, c| add(m, "/parameters", "lineage", lineage(c)),
        ),
        (
            "the lineage under an unknown key",
            "Whose each row is.",
            |m, c| add(m, "", "lineage", lineage(c)),
        ),
        (
            "the lineage under an unknown key of the input",
            "Whose each row is.",
            |m, c| add(m, "/input", "rows", lineage(c)),
        ),
        (
            "a key under an unknown key of a table",
            "Somebody is named.",
            |m, c| add(m, "/tables/0", "note", json!(key(c, 0))),
        ),
        (
            "a key under an unknown key of a column",
            "Somebody is named.",
            |m, c| add(m, "/tables/0/columns/0", "note", json!(key(c, 0))),
        ),
        (
            "a key under an unknown key of a claim",
            "Somebody is named.",
            |m, c| add(m, "/guarantees/0", "note", json!(key(c, 0))),
        ),
        (
            "a key under an unknown key of the program",
            "Somebody is named.",
            |m, c| add(m, "/made_by", "by", json!(key(c, 0))),
        ),
        (
            "k of 100 among the parameters",
            "What was asked for is said to be more.",
            |m, _| set(m, "/parameters/k", json!(100)),
        ),
        (
            "l of 100 among the parameters",
            "What was asked for is said to be more.",
            |m, _| set(m, "/parameters/l", json!(100)),
        ),
        (
            "k of 1 among the parameters",
            "What was asked for is said to be less.",
            |m, _| set(m, "/parameters/k", json!(1)),
        ),
        (
            "a decimal number for a whole one among the parameters",
            "One bit for each number.",
            |m, _| decimal(m),
        ),
        (
            "an unknown parameter",
            "A name and a value that nobody asked for.",
            |m, _| add(m, "/parameters", "effort_of_friends", json!("best")),
        ),
        (
            "the seed among the parameters",
            "Draws can be undone.",
            |m, _| add(m, "/parameters", "seed", json!(3)),
        ),
        (
            "the seed under another name",
            "Draws can be undone.",
            |m, _| add(m, "/parameters", "rng", json!("3")),
        ),
        (
            "the share that may be left out said to be none",
            "What was asked for is said to be more.",
            |m, _| set(m, "/parameters/max_excluded", json!(0.0)),
        ),
        (
            "a share in more digits",
            "Digits hold a message.",
            |m, _| {
                change(m, "/parameters/max_excluded", |value| {
                    Some(json!(value.as_f64()? + 1e-12))
                })
            },
        ),
        (
            "a parameter left out",
            "How it was made is not said.",
            |m, _| {
                let object = m.pointer_mut("/parameters").and_then(Value::as_object_mut);
                object.is_some_and(|object| object.remove("max_excluded").is_some())
            },
        ),
        ("no parameters", "How it was made is not said.", |m, _| {
            set(m, "/parameters", json!({}))
        }),
        (
            "no object as the parameters",
            "How it was made is not said.",
            |m, _| set(m, "/parameters", Value::Null),
        ),
        (
            "an empty text as a parameter",
            "A parameter that says nothing.",
            |m, _| add(m, "/parameters", "", json!("")),
        ),
        (
            "protection of an attribute that is not there",
            "The name is a message.",
            |m, c| add(m, "/parameters", "attributes", json!({key(c, 0): {"l": 2}})),
        ),
        (
            "another effort",
            "How it was made is said falsely.",
            |m, _| {
                [
                    "/parameters/effort",
                    "/parameters/optimize",
                    "/parameters/split",
                    "/parameters/partitioning",
                ]
                .iter()
                .any(|path| set(m, path, json!("best")))
            },
        ),
        (
            "another way to partition",
            "How it was made is said falsely.",
            |m, _| {
                change(m, "/parameters/partitioning", |value| {
                    Some(json!(match value.as_str()? {
                        "strict" => "relaxed",
                        "relaxed" => "strict",
                        "recursive" => "paper",
                        _ => "recursive",
                    }))
                })
            },
        ),
    ])
}

fn claims() -> Vec<Falsehood> {
    table(&[
        ("k of 100 claimed", "The claim is not kept.", |m, _| {
            claim(m, "k", |_| Some(json!(100)))
        }),
        (
            "k of 1 claimed",
            "Less is claimed than was asked for.",
            |m, _| claim(m, "k", |_| Some(json!(1))),
        ),
        ("l of 100 claimed", "The claim is not kept.", |m, _| {
            claim(m, "l", |_| Some(json!(100)))
        }),
        ("a claim in other words", "The scope is false.", |m, _| {
            claim(m, "scope", |_| {
                Some(json!("everyone, against everybody, for ever"))
            })
        }),
        (
            "a claim of no scope",
            "Of what the claim is made is not said.",
            |m, _| claim(m, "scope", |_| Some(json!(""))),
        ),
        (
            "keys in the scope of a claim",
            "Somebody is named.",
            |m, c| {
                let named = format!("quasi-identifiers as published, not {}", key(c, 0));
                claim(m, "scope", |_| Some(json!(named)))
            },
        ),
        (
            "a claim's scope with a space behind it",
            "Spaces are counted by who knows.",
            |m, _| {
                claim(m, "scope", |scope| {
                    Some(json!(format!("{} ", scope.as_str()?)))
                })
            },
        ),
        (
            "claims the other way round",
            "Their order is a permutation.",
            |m, _| list(m, "/guarantees", |all| all.reverse()),
        ),
        ("the first two claims exchanged", "One bit.", |m, _| {
            list(m, "/guarantees", |all| {
                if all.len() > 1 {
                    all.swap(0, 1);
                }
            })
        }),
        ("no claim", "Nothing is promised.", |m, _| {
            list(m, "/guarantees", Vec::clear)
        }),
        (
            "one claim less",
            "Less is promised than was asked for.",
            |m, _| list(m, "/guarantees", |all| drop(all.pop())),
        ),
        ("a claim twice", "How often is a message.", |m, _| {
            list(m, "/guarantees", |all| all.extend(all.last().cloned()))
        }),
        (
            "one claim more",
            "More is promised than was kept.",
            |m, _| {
                list(m, "/guarantees", |all| {
                    all.push(json!({"kind": "value_l", "l": 7}))
                })
            },
        ),
        (
            "terms said to be kept of one attribute",
            "More is promised than was asked for.",
            |m, _| {
                list(m, "/guarantees", |all| {
                    all.push(
                        json!({"kind": "max_leakage", "attribute": "ward", "scope": "everyone"}),
                    );
                })
            },
        ),
        (
            "a smaller distance claimed",
            "The claim is not kept.",
            |m, _| claim(m, "t", |_| Some(json!(0.001))),
        ),
        (
            "a distance in more digits",
            "Digits hold a message.",
            |m, _| claim(m, "t", |t| Some(json!(t.as_f64()? + 1e-13))),
        ),
        (
            "a smaller probability claimed",
            "The claim is not kept.",
            |m, _| claim(m, "max_posterior", |_| Some(json!(0.01))),
        ),
        (
            "a probability in more digits",
            "Digits hold a message.",
            |m, _| {
                claim(m, "max_posterior", |share| {
                    Some(json!(share.as_f64()? - 1e-13))
                })
            },
        ),
        (
            "a claim of another attribute",
            "What is claimed is said of something else.",
            |m, _| claim(m, "attribute", |_| Some(json!("ward"))),
        ),
    ])
}
