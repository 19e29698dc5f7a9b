//! Why nothing can be published: which condition fails, in counts.

use crate::engine::kernel::feasibility::OverBudget;
use crate::privacy::ProtectedIndex;

/// A condition of one attribute that does not hold, in counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shortfall {
    pub index: ProtectedIndex,
    pub condition: BucketCondition,
    /// Flagged, unmasked cells of the attribute.
    pub size: u64,
    /// How many of them hold the most frequent value.
    pub most: u64,
}

/// Which condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BucketCondition {
    /// l-diversity.
    Diversity,
    /// The share of one value.
    Posterior,
    /// Two values in a bucket.
    TwoValues,
    /// Spread; the widest that the cells allow.
    Spread { widest: f64 },
}

/// Why there is no release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Refusal {
    /// Fewer records than k.
    TooFew { left: u64 },
    /// A condition of an attribute.
    Shortfall(Shortfall),
    /// More records would be excluded than may be; the condition for which
    /// most are excluded who only flagged an attribute.
    Budget {
        over: OverBudget,
        culprit: Option<Shortfall>,
    },
}

/// A refusal, or the run was stopped.
pub(super) type Failure = crate::engine::error::Failure<Refusal>;

impl From<Shortfall> for Failure {
    fn from(shortfall: Shortfall) -> Self {
        Self::Refused(Refusal::Shortfall(shortfall))
    }
}
