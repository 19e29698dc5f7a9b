//! How long groups are refined by local search once they are made
//! ([`super::refine`]).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long groups are refined by local search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all.
    #[default]
    None,
    /// Shortly.
    Fast,
    /// As long as it pays.
    Best,
}
