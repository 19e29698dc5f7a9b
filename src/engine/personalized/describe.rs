//! The parameters as JSON Schema, for `GET /v1/engines`.

use serde_json::{Value, json};

use crate::engine::kernel::acceptance::max_excluded_schema;

use super::params::Params;

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
                "recoding": {
                    "type": "string", "enum": ["group_cut", "paper"], "default": "group_cut",
                    "description": "group_cut: all values of a group under a node become that node. paper: \
                                    single values are generalized, which tells what they were; to compare."
                },
                "max_excluded": max_excluded_schema()
            }
        })
    }
}
