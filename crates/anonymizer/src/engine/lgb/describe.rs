//! The parameters as JSON Schema, for `GET /v1/engines`.

use serde_json::{Value, json};

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};
use crate::engine::kernel::acceptance::max_excluded_schema;
use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;

use super::params::{MAX_POSTERIOR_DEFAULT, Params};
use super::run;

impl Engine for Params {
    const INFO: Info = Info {
        name: "lgb",
        title: "Local generalization and bucketization",
        multiplicity: Multiplicity::One,
        parameters: Self::json_schema,
        guarantees: &[
            "k_anonymity",
            "l_diversity",
            "t_closeness",
            "min_spread",
            "max_leakage",
        ],
        tables: &["microdata", "buckets", "group_buckets"],
        papers: &[
            "Local Generalization and Bucketization Technique for Personalized Privacy Preservation",
        ],
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
            "required": ["k"],
            "properties": {
                "k": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX,
                    "description": "Least number of records that look the same."
                },
                "l": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX,
                    "description": "No value in more than 1 in l of a bucket; for every semi-sensitive \
                                    or sensitive attribute that has none of its own."
                },
                "generalization": {
                    "type": "string", "enum": ["mdp", "ncp"], "default": "mdp",
                    "description": "Multi-dimensional partition, or least normalized certainty penalty."
                },
                "assignment": {
                    "type": "string", "enum": ["random", "invariance", "nearest"], "default": "random",
                    "description": "How buckets are filled: by chance, so that no value is paired with \
                                    another again and again; the most frequent values first; or \
                                    values nearest in domain order. Beside min_spread it is by chance."
                },
                "effort": {
                    "type": "string", "enum": ["none", "fast", "best"],
                    "description": "How long groups are refined by local search. Not given: none for \
                                    mdp, fast for ncp."
                },
                "attributes": {
                    "type": "object",
                    "description": "Protection by attribute name.",
                    "additionalProperties": attribute_schema()
                },
                "bucket_link": {
                    "type": "string", "enum": ["row", "group"], "default": "row",
                    "description": "Whether a bucket is named beside each row or beside each group."
                },
                "max_excluded": max_excluded_schema()
            }
        })
    }
}

fn attribute_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "l": {
                "type": "integer", "minimum": 1, "maximum": u32::MAX,
                "description": "l of this attribute."
            },
            "t_closeness": {
                "type": "number", "minimum": 0, "maximum": 1,
                "description": "Largest distance of a bucket's distribution from that of the \
                                attribute's flagged cells; instead of l."
            },
            "max_posterior": {
                "type": "number", "exclusiveMinimum": 0, "maximum": 1,
                "default": MAX_POSTERIOR_DEFAULT,
                "description": "With t_closeness: largest share of one value in a bucket."
            },
            "min_spread": {
                "type": "number", "minimum": 0,
                "description": "With l: numeric range (dates in days), or number of branches of \
                                the hierarchy's root, that each bucket spans at least; 0 asks for \
                                none. A sensitive number or date without it has a tenth of what \
                                lies between the 5th and the 95th of a hundred known values of \
                                the dataset."
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_takes_what_the_parser_takes() {
        let schema = Params::json_schema();
        let validator = jsonschema::validator_for(&schema).expect("a valid JSON Schema");
        let documents = [
            json!({"k": 5, "l": 5}),
            json!({"k": 5, "l": 5, "generalization": "ncp", "assignment": "nearest",
                   "bucket_link": "group", "max_excluded": 0.1, "effort": "best",
                   "attributes": {"sex": {"t_closeness": 0.2, "max_posterior": 0.7},
                                  "age": {"l": 3, "min_spread": 10}}}),
            json!({"l": 5}),
            json!({"k": 0, "l": 5}),
            json!({"k": 5, "attributes": {"sex": {"t": 0.2}}}),
            json!({"k": 5, "l": 5, "generalization": "other"}),
            json!({"k": 5, "l": 5, "more": true}),
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
