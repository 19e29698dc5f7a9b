//! The parameters as JSON Schema, for `GET /v1/engines`.

use serde_json::{Value, json};

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};
use crate::engine::kernel::acceptance::{max_excluded_schema, spreads_schema};
use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;

use super::params::Params;
use super::run;

impl Engine for Params {
    const INFO: Info = Info {
        name: "slicing",
        title: "Slicing: columns permuted inside buckets",
        multiplicity: Multiplicity::One,
        parameters: Self::json_schema,
        guarantees: &[
            "k_anonymity",
            "l_diversity",
            "min_spread",
            "t_closeness",
            "max_leakage",
        ],
        tables: &["sliced", "columns"],
        papers: &["Slicing: A New Approach for Privacy Preserving Data Publishing"],
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
        let names = |description: &str| {
            json!({
                "type": "array", "items": {"type": "string"}, "uniqueItems": true, "default": [],
                "description": description
            })
        };
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "variant": {
                    "type": "string", "enum": ["slicing", "overlap", "generalized"], "default": "slicing",
                    "description": "Every attribute in one column; attributes in two columns, joined on \
                                    them; or some quasi-identifiers generalized over each bucket."
                },
                "k": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX, "default": 1,
                    "description": "Least number of records of a bucket, among which the columns are \
                                    permuted."
                },
                "l": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX,
                    "description": "Whatever an adversary knows of the quasi-identifiers, no sensitive \
                                    value is anyone's with more than 1 in l. Or t_closeness."
                },
                "t_closeness": {
                    "type": "number", "minimum": 0, "maximum": 1,
                    "description": "In every bucket the sensitive values beside one combination of \
                                    quasi-identifiers are within this distance of the whole table's. Or l."
                },
                "columns": {
                    "type": "array", "minItems": 1,
                    "items": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": true},
                    "description": "Attributes that stay linked: every quasi-identifier and sensitive \
                                    attribute that is not generalized or dropped. Or clusters."
                },
                "clusters": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX,
                    "description": "Number of clusters of attributes that go together (k-medoids on the \
                                    contingency of pairs); quasi-identifiers beside which the sensitive \
                                    values would not hold leave their column. Or columns."
                },
                "generalize": names("Quasi-identifiers that are generalized over each bucket."),
                "drop": names("Quasi-identifiers that are not published."),
                "split": {
                    "type": "string", "enum": ["widest", "gain"], "default": "widest",
                    "description": "Which attribute a set of records is cut by: the one with the widest \
                                    range, or the one whose cut leaves least loss."
                },
                "min_spread": spreads_schema("one combination of quasi-identifiers in a bucket"),
                "max_excluded": max_excluded_schema()
            }
        })
    }
}
