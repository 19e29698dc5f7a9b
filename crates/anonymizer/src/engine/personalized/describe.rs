//! The parameters as JSON Schema, for `GET /v1/engines`.

use serde_json::{Value, json};

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};
use crate::engine::kernel::acceptance::{askers_share_max_schema, max_excluded_schema};
use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;

use super::params::Params;
use super::run;

impl Engine for Params {
    const INFO: Info = Info {
        name: "personalized",
        title: "k-anonymization satisfying personalized privacy",
        multiplicity: Multiplicity::One,
        parameters: Self::json_schema,
        guarantees: &["k_anonymity", "max_leakage"],
        tables: &["microdata"],
        papers: &["The k-anonymization method satisfying personalized privacy preservation"],
    };

    fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        Self::policy(self, schema)
    }

    fn run(
        &self,
        table: &Table,
        requirements: &Requirements,
        context: &RunContext<'_>,
    ) -> Result<Release, EngineError> {
        run(table, requirements, self, context)
    }
}

impl Params {
    /// JSON Schema (2020-12) of the parameters.
    pub fn json_schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["k", "sensitive"],
            "properties": {
                "k": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX,
                    "description": "Least number of records that look the same."
                },
                "sensitive": {
                    "type": "string",
                    "description": "The sensitive attribute, the only one: a category with a hierarchy."
                },
                "max_leakage": {
                    "type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 1,
                    "description": "Largest probability of a subject's own value, given what is published. \
                                    The stricter of this and the subject's own max_leakage holds."
                },
                "grouping": {
                    "type": "string", "enum": ["sorted", "mondrian"], "default": "sorted",
                    "description": "Groups are runs of the records in order of their quasi-identifiers, \
                                    or come from splits at medians."
                },
                "effort": {
                    "type": "string", "enum": ["none", "fast", "best"], "default": "none",
                    "description": "How long groups are refined by local search."
                },
                "recoding": {
                    "type": "string", "enum": ["group_cut", "paper"], "default": "group_cut",
                    "description": "group_cut: all values of a group under a node become that node. paper: \
                                    single values are generalized, which tells what they were; to compare."
                },
                "askers_share_max": askers_share_max_schema(),
                "max_excluded": max_excluded_schema()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_takes_what_the_parser_takes() {
        let schema = Params::json_schema();
        let validator = jsonschema::validator_for(&schema).expect("a valid JSON Schema");
        let mut documents = vec![
            json!({"k": 5, "sensitive": "s"}),
            json!({"k": 5}),
            json!({"sensitive": "s"}),
        ];
        let more = json!({
            "k": [0, 1], "max_leakage": [0, 0.5, 1, 1.5], "grouping": ["sorted", "mondrian", "other"],
            "effort": ["none", "fast", "best", "most", 3, null], "recoding": ["group_cut", "paper", "other"],
            "askers_share_max": [0, 0.5, 1, 2], "max_excluded": [0.1], "more": [true]
        });
        for (name, values) in more.as_object().expect("an object") {
            for value in values.as_array().expect("a list") {
                let mut document = documents[0].clone();
                document[name] = value.clone();
                documents.push(document);
            }
        }
        for document in documents {
            let parsed = serde_json::from_value::<Params>(document.clone());
            assert_eq!(validator.is_valid(&document), parsed.is_ok(), "{document}");
        }
    }

    #[test]
    fn defaults_in_the_schema_are_those_of_the_parser() {
        let params: Params = serde_json::from_value(json!({"k": 2, "sensitive": "s"})).unwrap();
        let written = serde_json::to_value(&params).unwrap();
        let schema = Params::json_schema();
        for (name, property) in schema["properties"].as_object().unwrap() {
            if let Some(default) = property.get("default") {
                // 1 and 1.0 are one number.
                let number = |value: &Value| value.as_f64();
                match number(default) {
                    Some(default) => assert_eq!(number(&written[name]), Some(default), "{name}"),
                    None => assert_eq!(&written[name], default, "{name}"),
                }
            }
        }
    }
}
