//! A query as a program asks it: JSON, curl, Python and R.
//!
//! What was typed goes into quoted texts of four languages. Each is written so
//! that no value ends its text, whatever characters it has.

use maud::{Markup, html};
use serde_json::Value;

use super::super::frame::program_text;

/// The JSON of a query, and the same as code.
pub fn code(release: &str, query: &Value) -> Markup {
    html! {
        details {
            summary { "The same as JSON and as code" }
            p.note { code { "VIZARD" } " is the address of this service, and " code { "KEY" } " a key that may read the release. DuckDB reads downloaded tables instead: the page of the release has programs for that." }
            h3 { "JSON" }
            (program_text("JSON", &format!("{query:#}")))
            h3 { "curl" }
            (program_text("curl", &curl(release, query)))
            h3 { "Python" }
            (program_text("Python", &python(release, query)))
            h3 { "R" }
            (program_text("R", &r(release, query)))
        }
    }
}

fn curl(release: &str, query: &Value) -> String {
    // A single quote ends the text of a shell, whatever stands before it.
    let body = query.to_string().replace('\'', r"'\''");
    format!(
        "curl \"$VIZARD/v1/releases/{release}/query\" -H \"Authorization: Bearer $KEY\" \\\n  \
         -H 'Content-Type: application/json' -d '{body}'\n"
    )
}

fn python(release: &str, query: &Value) -> String {
    let fields = query.as_object().into_iter().flatten();
    let fields: String = fields
        .map(|(name, value)| format!("        \"{name}\": {},\n", literal(value)))
        .collect();
    format!(
        "import os\n\nfrom vizard import Client\n\n\
         with Client(os.environ[\"VIZARD\"], os.environ[\"KEY\"]) as client:\n    \
         answer = client.query(\"{release}\", **{{\n{fields}    }})\n    \
         for cell in answer[\"cells\"]:\n        print(cell)\n"
    )
}

/// A value as Python writes it: texts are those of JSON.
fn literal(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Null => "None".into(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields: Vec<String> = fields
                .map(|(name, value)| format!("{}: {}", Value::from(name.as_str()), literal(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

fn r(release: &str, query: &Value) -> String {
    // The sign inside the brackets is one that JSON never has behind a `]`.
    let body = query.to_string().replace("]---\"", "\\u005d---\"");
    format!(
        "library(httr2)\n\nanswer <- request(paste0(Sys.getenv(\"VIZARD\"), \"/v1/releases/{release}/query\")) |>\n  \
         req_auth_bearer_token(Sys.getenv(\"KEY\")) |>\n  \
         req_body_raw(r\"---[{body}]---\", \"application/json\") |>\n  \
         req_perform() |>\n  resp_body_json()\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_value_ends_the_text_that_it_stands_in() {
        let odd = json!({"count": true, "where": [{"attribute": "x", "op": "=", "value": "'; rm -rf / #\"]---\"\n"}]});
        let shell = curl("release_1", &odd);
        let quoted = shell.split("-d ").nth(1).expect("a body").trim_end();
        // What a shell makes of it: texts between single quotes, and escaped ones.
        let told = quoted.trim_matches('\'').replace(r"'\''", "'");
        assert_eq!(serde_json::from_str::<Value>(&told).ok(), Some(odd.clone()));
        assert_eq!(r("release_1", &odd).matches("]---\"").count(), 1);
        let python = python("release_1", &odd);
        assert!(python.contains(r#""count": True"#));
        assert!(python.contains(r#""'; rm -rf / #\"]---\"\n""#), "{python}");
        let turned = json!({"count": true, "group_by": ["a\u{202e}b"]});
        let shown = code("release_1", &turned).into_string();
        // In each of the four: a program is shown in the order that it has.
        assert!(!shown.contains('\u{202e}') && shown.matches("a\\u202eb").count() == 4);
    }
}
