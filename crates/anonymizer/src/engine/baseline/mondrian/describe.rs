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
        name: "mondrian",
        title: "Generalization by multi-dimensional partition",
        multiplicity: Multiplicity::One,
        parameters: Self::json_schema,
        guarantees: &[
            "k_anonymity",
            "distinct_l_diversity",
            "entropy_l_diversity",
            "recursive_l_diversity",
            "t_closeness",
            "min_spread",
            "max_leakage",
        ],
        tables: &["microdata"],
        papers: &["Mondrian multidimensional k-anonymity"],
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
        let own = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "l": l_schema("l of this attribute."),
                "diversity": diversity_schema("What its l says; the job's if absent."),
                "c": c_schema("c of recursive diversity; the job's if absent."),
                "t_closeness": t_schema("t of this attribute, beside l."),
                "min_spread": {
                    "type": "number", "minimum": 0,
                    "description": "What the known values of a number or date span at least in \
                                    every group, in its unit (days for dates); 0 asks for nothing. \
                                    With l and without it: a tenth of what lies between the 5th \
                                    and the 95th of a hundred known values of the dataset."
                }
            }
        });
        let mut diversity = diversity_schema(
            "What l says of the values of a group: l different ones, an entropy of at least ln l, \
             or (c, l): the most frequent one occurs less than c times as often as all from the \
             l-th most frequent one on.",
        );
        diversity["default"] = json!("distinct");
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["k"],
            "properties": {
                "k": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX,
                    "description": "Least number of records that look the same."
                },
                "l": l_schema("l of every sensitive attribute that has none of its own; without it \
                               nothing is asked of their values."),
                "diversity": diversity,
                "c": c_schema("c of recursive diversity."),
                "t_closeness": t_schema("Largest distance of a group's values from those of the whole \
                                         published table, for every sensitive attribute that has none \
                                         of its own."),
                "attributes": {
                    "type": "object",
                    "description": "Protection of sensitive attributes by name.",
                    "additionalProperties": own
                },
                "split": {
                    "type": "string", "enum": ["widest", "gain"], "default": "widest",
                    "description": "Which attribute a set is cut by: the one with the largest normalized \
                                    range, or the one whose cut leaves least loss."
                },
                "partitioning": {
                    "type": "string", "enum": ["strict", "relaxed"], "default": "strict",
                    "description": "Whether records equal to a median stay together, or go to either \
                                    side so that both are of one size."
                },
                "effort": {
                    "type": "string", "enum": ["none", "fast", "best"], "default": "none",
                    "description": "How long groups are refined by local search."
                },
                "askers_share_max": askers_share_max_schema(),
                "max_excluded": max_excluded_schema()
            }
        })
    }
}

fn l_schema(description: &str) -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": u32::MAX, "description": description})
}

fn diversity_schema(description: &str) -> Value {
    let kinds = ["distinct", "entropy", "recursive"];
    json!({"type": "string", "enum": kinds, "description": description})
}

fn c_schema(description: &str) -> Value {
    json!({
        "type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000, "description": description
    })
}

fn t_schema(description: &str) -> Value {
    json!({"type": "number", "minimum": 0, "maximum": 1, "description": description})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_takes_what_the_parser_takes() {
        let schema = Params::json_schema();
        let validator = jsonschema::validator_for(&schema).expect("a valid JSON Schema");
        let documents = [
            json!({"k": 5}),
            json!({"k": 5, "l": 3, "diversity": "recursive", "c": 2.5, "t_closeness": 0.2,
                   "split": "gain", "partitioning": "relaxed", "effort": "fast",
                   "attributes": {"a": {"l": 2, "diversity": "entropy", "c": 1, "t_closeness": 1}},
                   "askers_share_max": 0.5, "max_excluded": 0.1}),
            json!({"k": 5, "askers_share_max": 0}),
            json!({"l": 5}),
            json!({"k": 5, "diversity": "other"}),
            json!({"k": 5, "l": 0}),
            json!({"k": 5, "c": 0}),
            json!({"k": 5, "partitioning": "loose"}),
            json!({"k": 5, "attributes": {"a": {"t": 0.2}}}),
            json!({"k": 5, "more": true}),
        ];
        for document in documents {
            let parsed = serde_json::from_value::<Params>(document.clone());
            assert_eq!(validator.is_valid(&document), parsed.is_ok(), "{document}");
        }
    }

    #[test]
    fn defaults_in_the_schema_are_those_of_the_parser() {
        let params: Params = serde_json::from_value(json!({"k": 2})).unwrap();
        let written = serde_json::to_value(&params).unwrap();
        let schema = Params::json_schema();
        for (name, property) in schema["properties"].as_object().unwrap() {
            if let Some(default) = property.get("default") {
                assert_eq!(&written[name], default, "{name}");
            }
        }
    }
}
