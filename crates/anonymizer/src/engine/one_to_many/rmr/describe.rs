//! The parameters as JSON Schema, for `GET /v1/engines`.

use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;
use serde_json::{Value, json};

use super::params::{M_MAX, Params};
use super::run;
use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};
use crate::engine::kernel::acceptance::max_excluded_schema;
use crate::engine::one_to_many::describe::qid_conflict_schema;

impl Engine for Params {
    const INFO: Info = Info {
        name: "rmr",
        title: "(k, k^m)-anonymity of quasi-identifiers and sets of values",
        multiplicity: Multiplicity::Many,
        parameters: Self::json_schema,
        guarantees: &["k_anonymity", "km_anonymity", "max_leakage"],
        tables: &["persons"],
        papers: &["Anonymizing data with relational and transaction attributes"],
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
            "required": ["k", "m", "delta"],
            "properties": {
                "k": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX,
                    "description": "Least number of subjects in a cluster, and of those in it who \
                                    share any combination of at most m values."
                },
                "m": {
                    "type": "integer", "minimum": 1, "maximum": M_MAX,
                    "description": "Number of sensitive values of a subject that an adversary knows."
                },
                "delta": {
                    "type": "number", "minimum": 0, "maximum": 1,
                    "description": "Largest mean loss of quasi-identifiers, up to which clusters are \
                                    merged to keep more of the sensitive values."
                },
                "qid_conflict": qid_conflict_schema(),
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
        let documents = [
            json!({"k": 10, "m": 2, "delta": 0.65}),
            json!({"k": 10, "m": 5, "delta": 0, "qid_conflict": "hull", "max_excluded": 0.1}),
            json!({"k": 10, "m": 2}),
            json!({"k": 0, "m": 2, "delta": 0.65}),
            json!({"k": 10, "m": 2, "delta": 0.65, "qid_conflict": "other"}),
            json!({"k": 10, "m": 2, "delta": 0.65, "l": 2}),
        ];
        for document in documents {
            let parsed = serde_json::from_value::<Params>(document.clone());
            assert_eq!(validator.is_valid(&document), parsed.is_ok(), "{document}");
        }
    }

    #[test]
    fn defaults_in_the_schema_are_those_of_the_parser() {
        let params = json!({"k": 2, "m": 2, "delta": 0.5});
        let params: Params = serde_json::from_value(params).expect("parameters");
        let written = serde_json::to_value(&params).expect("JSON");
        let schema = Params::json_schema();
        let properties = schema["properties"].as_object().expect("properties");
        let with_default = properties
            .iter()
            .filter_map(|(name, property)| property.get("default").map(|default| (name, default)));
        for (name, default) in with_default {
            assert_eq!(&written[name], default, "{name}");
        }
    }
}
