//! Why publishing a draft takes two stewards.
//!
//! The first one approves, the second one publishes. What they agree on are
//! the same grounds: where a ground, its reason or what is below the floors
//! changes in between, the approval is void.

use serde::{Deserialize, Serialize};

use super::floors::{Below, sentences};

/// What kind of publication needs two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroundKind {
    /// The job asked for an exception from the operator's floors.
    FloorException,
    /// Releases that are or were public share subjects with the draft.
    Composition,
    /// The service asks for two stewards at every publication.
    EveryPublication,
}

impl GroundKind {
    /// The word used in the store and the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FloorException => "floor_exception",
            Self::Composition => "composition",
            Self::EveryPublication => "every_publication",
        }
    }
}

/// Why a publication needs two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Ground {
    /// What kind it is.
    pub kind: GroundKind,
    /// The reason that was given, where one is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is below the operator's floors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<Below>,
}

impl Ground {
    /// An exception from the floors, for a reason.
    pub fn floor_exception(reason: String, below: Vec<Below>) -> Self {
        Self {
            kind: GroundKind::FloorException,
            reason: Some(reason),
            below,
        }
    }

    /// Other releases of the same people. Their figures and the reason are kept
    /// beside both releases (`composition`), and the manifest repeats them.
    pub fn composition() -> Self {
        Self::of_kind(GroundKind::Composition)
    }

    /// The service's own rule.
    pub fn every_publication() -> Self {
        Self::of_kind(GroundKind::EveryPublication)
    }

    fn of_kind(kind: GroundKind) -> Self {
        Self {
            kind,
            reason: None,
            below: Vec::new(),
        }
    }

    /// What the manifest says of it; `None`: nothing.
    pub fn sentence(&self) -> Option<String> {
        let reason = match self.kind {
            GroundKind::FloorException => self.reason.as_deref().unwrap_or_default(),
            GroundKind::Composition | GroundKind::EveryPublication => return None,
        };
        let what = match self.below.as_slice() {
            [] => String::new(),
            below => format!(" ({})", sentences(below)),
        };
        Some(format!(
            "the release is an exception from the operator's floors{what}; the reason given: {reason}"
        ))
    }
}
