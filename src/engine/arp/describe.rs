//! What releases of `arp` and its comparators claim and do not, and their
//! parameters as JSON Schema.

use serde_json::{Value, json};

use crate::engine::kernel::acceptance::max_excluded_schema;
use crate::microdata::Schema;
use crate::privacy::{BlockForm, Model, Policy, Protection};
use crate::release::Guarantee;

use super::params::{AnatomyParams, InitialParams, Params};

/// Against whom the claims hold.
pub(super) const ADVERSARY: &str = "knows every quasi-identifier value of everyone and who is in the table; knows no sensitive \
     value";

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
        if let Protection::Diversity { l, .. } = protection {
            let l = l.get();
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

/// What a release in this form does not protect.
pub(super) fn not_protected(form: BlockForm) -> Vec<String> {
    let own: &[&str] = match form {
        BlockForm::Distinct | BlockForm::Eligible => &[
            "identity: rows show quasi-identifiers as they are, so whoever knows them finds the \
             row of a person who asked for no max_reidentification",
            "correlation between sensitive attributes of one row, for whoever knows one of them",
        ],
        BlockForm::Randomized { .. } => &[
            "identity: rows show quasi-identifiers as they are, so whoever knows them finds the \
             row of a person who asked for no max_reidentification",
            "sensitive values are not those of their rows: each was kept with the retention named, \
             else drawn from the values of its group",
        ],
        BlockForm::Ring => &[
            "whoever takes every row of a group that covers a person for equally likely theirs may \
             give one value more than 1 in l: which rows were made to cover them is not published",
        ],
        BlockForm::Generalized => &[],
        BlockForm::Sliced => &[
            "identity: values stand as they are, so a rare combination in one column is recognized; \
             it tells nothing of sensitive values",
        ],
    };
    let common = [
        "adversaries who know sensitive values of other people in a block",
        "inference from models learned on the release or elsewhere",
        "comparison with other releases about the same people",
    ];
    let all = own.iter().chain(&common);
    all.map(|text| (*text).into()).collect()
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
                "max_excluded": max_excluded_schema()
            }
        })
    }
}

impl InitialParams {
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
                "max_excluded": max_excluded_schema()
            }
        })
    }
}
