//! How long groups are refined by local search once they are made.
//!
//! The search itself (engines.md, *refinement*) is not built: an engine that
//! takes the parameter refuses anything but `none`, so that a job never gets
//! less than it asked for without being told.

use serde::{Deserialize, Serialize};

use crate::engine::error::EngineError;

use super::acceptance::invalid;

/// How long groups are refined by local search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl Effort {
    /// Refuses any refinement.
    pub fn check(self) -> Result<(), EngineError> {
        match self {
            Self::None => Ok(()),
            Self::Fast | Self::Best => Err(invalid(
                "effort",
                "must be none: refinement is not built yet",
            )),
        }
    }
}
