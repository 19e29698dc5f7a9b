//! Manifests that say the same in other bytes, or more.

use std::path::Path;

use serde_json::{Value, json};

use super::{Corruption, SOMEBODY, all_are_refused, edit};

/// Where the first column of the manifest begins.
const COLUMN: &str = "\"columns\": [\n        {";

/// Puts text into the manifest behind what first begins so; all else, the
/// order of keys among it, stays as it was.
fn behind(folder: &Path, begins: &str, text: &str) {
    edit(folder, "manifest.json", |manifest| {
        let with = format!("{begins}\n  {text}");
        manifest.replacen(begins, &with, 1)
    });
}

#[test]
fn no_manifest_is_written_otherwise() {
    let corruptions: [Corruption; 21] = [
        (
            "the lineage under an unknown key of the manifest",
            "Whose each row is.",
            |folder| behind(folder, "{", "\"rows\": [\"P-10035\"],"),
        ),
        (
            "an unknown key of a described table",
            "Somebody is named.",
            |folder| behind(folder, "\"tables\": [\n    {", "\"note\": \"P-10035\","),
        ),
        (
            "an unknown key of a described column",
            "Somebody is named.",
            |folder| behind(folder, COLUMN, "\"note\": \"P-10035\","),
        ),
        (
            "an unknown key of a claim",
            "Somebody is named.",
            |folder| {
                behind(folder, "\"guarantees\": [\n    {", "\"of\": \"P-10035\",");
            },
        ),
        (
            "an unknown key of the input",
            "Somebody is named.",
            |folder| behind(folder, "\"input\": {", "\"of\": \"P-10035\","),
        ),
        (
            "verified said where nothing is said",
            "Two ways to say one thing are a bit.",
            |folder| behind(folder, "{", "\"unverified\": false,"),
        ),
        (
            "a column said not to be masked",
            "Two ways to say one thing are a bit.",
            |folder| behind(folder, COLUMN, "\"masked\": false,"),
        ),
        (
            "no type written out",
            "Two ways to say one thing are a bit.",
            |folder| behind(folder, COLUMN, "\"type\": null,"),
        ),
        (
            "types of none written out",
            "Two ways to say one thing are a bit.",
            |folder| behind(folder, COLUMN, "\"types\": {},"),
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
