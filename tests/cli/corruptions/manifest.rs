//! Manifests that say the same in other bytes, or more.

use serde_json::{Value, json};

use super::{Corruption, SOMEBODY, all_are_refused, document, edit};

#[test]
fn no_manifest_is_written_otherwise() {
    let corruptions: [Corruption; 17] = [
        (
            "the lineage under an unknown key of the manifest",
            "Whose each row is.",
            |folder| {
                document(folder, "manifest.json", |manifest| {
                    manifest["rows"] = json!([SOMEBODY])
                });
            },
        ),
        (
            "an unknown key of a described table",
            "Somebody is named.",
            |folder| {
                document(folder, "manifest.json", |manifest| {
                    manifest["tables"][0]["note"] = json!(SOMEBODY)
                });
            },
        ),
        (
            "an unknown key of a described column",
            "Somebody is named.",
            |folder| {
                document(folder, "manifest.json", |manifest| {
                    manifest["tables"][0]["columns"][0]["note"] = json!(SOMEBODY);
                });
            },
        ),
        (
            "an unknown key of a claim",
            "Somebody is named.",
            |folder| {
                document(folder, "manifest.json", |manifest| {
                    manifest["guarantees"][0]["of"] = json!(SOMEBODY)
                });
            },
        ),
        (
            "an unknown key of the input",
            "Somebody is named.",
            |folder| {
                document(folder, "manifest.json", |manifest| {
                    manifest["input"]["of"] = json!(SOMEBODY)
                });
            },
        ),
        (
            "a key twice, the first one a message",
            "Readers that take the last one do not see it.",
            |folder| {
                edit(folder, "manifest.json", |text| {
                    text.replacen('{', &format!("{{\n  \"adversary\": \"{SOMEBODY}\","), 1)
                });
            },
        ),
        ("a manifest on one line", "One bit.", |folder| {
            edit(folder, "manifest.json", |text| {
                serde_json::from_str::<Value>(&text).unwrap().to_string()
            });
        }),
        (
            "a message in spaces behind the manifest",
            "Spaces and lines are a message.",
            |folder| {
                edit(folder, "manifest.json", |text| text + "  \n \n   \n");
            },
        ),
        (
            "a message in spaces within the manifest",
            "One bit for each colon.",
            |folder| {
                edit(folder, "manifest.json", |text| {
                    text.replacen(": ", ":  ", 3)
                });
            },
        ),
        (
            "tabs in place of spaces",
            "One bit for each line.",
            |folder| {
                edit(folder, "manifest.json", |text| {
                    text.replacen("\n  ", "\n\t", 2)
                });
            },
        ),
        (
            "lines that end in another way",
            "One bit for each line.",
            |folder| {
                edit(folder, "manifest.json", |text| text.replace('\n', "\r\n"));
            },
        ),
        ("keys in another order", "A permutation.", |folder| {
            edit(folder, "manifest.json", |text| {
                let value: Value = serde_json::from_str(&text).unwrap();
                let fields = value.as_object().unwrap().iter().rev();
                let fields: Vec<String> = fields
                    .map(|(name, value)| format!("  {}: {value}", json!(name)))
                    .collect();
                format!("{{\n{}\n}}", fields.join(",\n"))
            });
        }),
        ("letters as escapes", "One bit for each letter.", |folder| {
            edit(folder, "manifest.json", |text| {
                text.replacen("anatomy", "\\u0061natomy", 1)
            });
        }),
        (
            "a whole number as a decimal one",
            "One bit for each number.",
            |folder| {
                edit(folder, "manifest.json", |text| {
                    text.replacen("\"l\": 3", "\"l\": 3.0", 1)
                });
            },
        ),
        (
            "a decimal number in another form",
            "As many bits as there are forms.",
            |folder| {
                edit(folder, "manifest.json", |text| {
                    text.replacen("0.1", "1e-1", 1)
                });
            },
        ),
        (
            "a mark of byte order before the manifest",
            "One bit.",
            |folder| {
                edit(folder, "manifest.json", |text| format!("\u{feff}{text}"));
            },
        ),
        ("text behind the manifest", "Somebody is named.", |folder| {
            edit(folder, "manifest.json", |text| {
                format!("{text}{SOMEBODY}\n")
            });
        }),
    ];
    all_are_refused("csv", &corruptions);
}
