//! What releases of `arp` and its comparators claim, and their parameters as
//! JSON Schema.

use serde_json::{Value, json};

use crate::engine::kernel::acceptance::{max_excluded_schema, spreads_schema};
use crate::microdata::Schema;
use crate::privacy::{BlockForm, Model, Policy, Protection};
use crate::release::Guarantee;

use super::params::{AnatomyParams, InitialParams, Params};

/// What a release of this policy claims.
pub(super) fn guarantees(schema: &Schema, policy: &Policy) -> Vec<Guarantee> {
    let Model::Blocks { form, sensitive } = policy.model else {
        return Vec::new();
    };
    let mut guarantees = Vec::new();
    for (at, &(attribute, protection)) in (0..).zip(&policy.protections) {
        if !sensitive.contains(crate::privacy::ProtectedIndex(at)) {
            continue;
        }
        let attribute = schema.attribute(attribute).name.clone();
        if let Protection::Diversity { l, min_spread } = protection {
            let l = l.get();
            let spread = min_spread.get().map(|min_spread| Guarantee::MinSpread {
                attribute: attribute.clone(),
                min_spread,
            });
            guarantees.push(match form {
                BlockForm::Randomized {
                    retention,
                    max_posterior,
                } => Guarantee::RandomizedResponse {
                    attribute,
                    retention: retention.get(),
                    max_posterior: max_posterior.get(),
                },
                BlockForm::Ring => Guarantee::RingDiversity { attribute, l },
                _ => Guarantee::LDiversity { attribute, l },
            });
            guarantees.extend(spread);
        }
    }
    if policy.apply_preferences {
        guarantees.push(Guarantee::MaxLeakage {
            attribute: "*".into(),
            scope: "each subject's own preference".into(),
        });
    }
    guarantees
}

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
