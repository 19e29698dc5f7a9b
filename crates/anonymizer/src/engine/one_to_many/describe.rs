//! The parameters as JSON Schema, for `GET /v1/engines`.

use serde_json::{Value, json};

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};
use crate::engine::kernel::acceptance::max_excluded_schema;
use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{Policy, Requirements};
use crate::release::Release;

use super::params::Params;
use super::run;

impl Engine for Params {
    const INFO: Info = Info {
        name: "one_to_many",
        title: "1:M-generalization with (k, l)-diversity",
        multiplicity: Multiplicity::Many,
        parameters: Self::json_schema,
        guarantees: &[
            "k_anonymity",
            "fingerprint_k",
            "l_diversity",
            "value_l",
            "max_leakage",
        ],
        tables: &["persons"],
        papers: &["Anonymizing 1:M microdata with high utility"],
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
            "required": ["k", "l"],
            "properties": {
                "k": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX,
                    "description": "Least number of subjects who share a published fingerprint."
                },
                "l": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX,
                    "description": "No published fingerprint belongs to more than 1 in l subjects of a group."
                },
                "k_group": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX,
                    "description": "Least number of subjects in a group; l if absent."
                },
                "value_l": {
                    "type": "integer", "minimum": 1, "maximum": u32::MAX, "default": 1,
                    "description": "No exactly published value belongs to more than 1 in value_l subjects \
                                    of a group; 1 asks for nothing."
                },
                "qid_conflict": qid_conflict_schema(),
                "sibling_unions": {
                    "type": "string", "enum": ["never", "when_needed", "always"], "default": "when_needed",
                    "description": "Whether neighbouring children of a hierarchy's node may be published as \
                                    one set: never, where its own nodes allow no release, or wherever \
                                    that saves loss."
                },
                "effort": {
                    "type": "string", "enum": ["none", "fast", "best"], "default": "none",
                    "description": "How long groups are refined by local search; not where a subject \
                                    covers several values (qid_conflict hull)."
                },
                "max_excluded": max_excluded_schema()
            }
        })
    }
}

/// Schema of `qid_conflict`.
pub(super) fn qid_conflict_schema() -> Value {
    json!({
        "type": "string", "enum": ["reject", "latest", "first", "hull"], "default": "reject",
        "description": "Quasi-identifiers of a subject whose records disagree: refuse the table, those of \
                        the last or first record, or whatever covers all of them."
    })
}
