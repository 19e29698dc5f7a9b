//! The parameters of `arp` and its comparators as JSON Schema.

use serde_json::{Value, json};

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::info::{Engine, Info};
use crate::engine::kernel::acceptance::{max_excluded_schema, spreads_schema};
use crate::microdata::{Multiplicity, Schema, Table};
use crate::privacy::{BlockForm, Policy, Requirements};
use crate::release::Release;

use super::comparators::{aip, anatomy};
use super::params::{
    AipParams, AnatomyParams, InitialParams, Params, RingParams, refuse_withdrawn,
};
use super::{ring, run};

fn l_schema() -> Value {
    json!({
        "type": "integer", "minimum": 1, "maximum": u32::MAX,
        "description": "No sensitive value belongs to more than 1 in l of a block."
    })
}

fn sensitive_schema() -> Value {
    json!({
        "type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": true,
        "description": "Sensitive attributes to publish, each in blocks of its own; all of them if \
                        absent. Others are not published."
    })
}

fn partitioning_schema() -> Value {
    json!({
        "type": "string", "enum": ["paper", "recursive"], "default": "recursive",
        "description": "Whether blocks that had to be merged are left as they are, or split by the \
                        remaining attributes."
    })
}

impl Engine for Params {
    const INFO: Info = Info {
        name: "arp",
        title: "Anonymization on refining partition",
        multiplicity: Multiplicity::One,
        parameters: Self::json_schema,
        guarantees: &[
            "l_diversity",
            "min_spread",
            "randomized_response",
            "max_leakage",
        ],
        tables: &["quasi", "sensitive", "microdata"],
        papers: &["Anonymization on refining partition: same privacy, more utility"],
    };

    fn refuse_withdrawn(parameters: &Value) -> Result<(), EngineError> {
        refuse_withdrawn(parameters)
    }

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

impl Engine for AipParams {
    const INFO: Info = Info {
        name: "aip",
        title: "Bucketization of the initial partition",
        multiplicity: Multiplicity::One,
        parameters: InitialParams::json_schema,
        guarantees: &["l_diversity", "min_spread", "max_leakage"],
        tables: &["quasi", "sensitive"],
        papers: &["Anonymization on refining partition: same privacy, more utility"],
    };

    fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        self.0.policy(schema, BlockForm::Eligible)
    }

    fn run(
        &self,
        table: &Table,
        requirements: &Requirements,
        context: &RunContext<'_>,
    ) -> Result<Release, EngineError> {
        aip::run(table, requirements, &self.0, context)
    }
}

impl Engine for AnatomyParams {
    const INFO: Info = Info {
        name: "anatomy",
        title: "Anatomy",
        multiplicity: Multiplicity::One,
        parameters: Self::json_schema,
        guarantees: &["l_diversity", "min_spread", "max_leakage"],
        tables: &["quasi", "sensitive"],
        papers: &["Anatomy: simple and effective privacy preservation"],
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
        anatomy::run(table, requirements, self, context)
    }
}

impl Engine for RingParams {
    const INFO: Info = Info {
        name: "ng",
        title: "Ring generalization of the initial partition",
        multiplicity: Multiplicity::One,
        parameters: InitialParams::ring_json_schema,
        guarantees: &["ring_diversity", "max_leakage"],
        tables: &["microdata"],
        papers: &["Non-homogeneous generalization in privacy preserving data publishing"],
    };

    fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        self.0.policy(schema, BlockForm::Ring)
    }

    fn run(
        &self,
        table: &Table,
        requirements: &Requirements,
        context: &RunContext<'_>,
    ) -> Result<Release, EngineError> {
        ring::run(table, requirements, &self.0, context)
    }
}

impl Params {
    /// JSON Schema (2020-12) of the parameters.
    pub fn json_schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["l"],
            "properties": {
                "l": l_schema(),
                "sensitive": sensitive_schema(),
                "partitioning": partitioning_schema(),
                "publish": {
                    "type": "string", "default": "anatomy",
                    "enum": ["anatomy", "generalization", "slicing", "randomization"],
                    "description": "How blocks are published."
                },
                "retention": {
                    "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1,
                    "description": "Probability that a sensitive value is kept rather than drawn \
                                    from its block; for randomization, which needs it."
                },
                "min_spread": spreads_schema("a block"),
                "max_excluded": max_excluded_schema()
            }
        })
    }
}

impl InitialParams {
    /// JSON Schema (2020-12) of the parameters of `aip`.
    pub fn json_schema() -> Value {
        let mut schema = Self::ring_json_schema();
        schema["properties"]["min_spread"] = spreads_schema("a block");
        schema
    }

    /// JSON Schema (2020-12) of the parameters of `ng`, whose rings keep no
    /// least spread.
    pub fn ring_json_schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["l"],
            "properties": {
                "l": l_schema(),
                "sensitive": sensitive_schema(),
                "partitioning": partitioning_schema(),
                "max_excluded": max_excluded_schema()
            }
        })
    }
}

impl AnatomyParams {
    /// JSON Schema (2020-12) of the parameters.
    pub fn json_schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["l"],
            "properties": {
                "l": l_schema(),
                "sensitive": sensitive_schema(),
                "min_spread": spreads_schema("a block"),
                "max_excluded": max_excluded_schema()
            }
        })
    }
}
