//! Preconditions: what a change demands of the thing as it is.
//!
//! Decided inside the transaction of the change, after the row that orders all
//! changes of the thing is held: of two who saw the same, one is too late. An
//! act carries the precondition, and a write whose operation has not looked at
//! it takes everything back, so none can be forgotten.

use super::{Conflict, StoreError};

/// Which tags of a thing are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tags {
    /// Any: there is such a thing.
    Any,
    /// One of these.
    Listed(Vec<String>),
}

impl Tags {
    /// Whether the thing with this tag is meant; `None`: there is no such thing.
    pub fn have(&self, tag: Option<&str>) -> bool {
        match (self, tag) {
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::Listed(listed), Some(tag)) => listed.iter().any(|one| one == tag),
        }
    }
}

/// What a change demands of the thing as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Precondition {
    /// Tags of which the thing must have one.
    pub matching: Option<Tags>,
    /// Tags of which the thing must have none.
    pub not_matching: Option<Tags>,
}

impl Precondition {
    /// `Conflict::PreconditionFailed` unless the demand is met; `tag` is the
    /// present tag, without quotes, `None` where there is no such thing.
    pub fn require(&self, tag: Option<&str>) -> Result<(), StoreError> {
        let matches = self.matching.as_ref().is_none_or(|tags| tags.have(tag));
        let differs = !self
            .not_matching
            .as_ref()
            .is_some_and(|tags| tags.have(tag));
        if matches && differs {
            Ok(())
        } else {
            Err(Conflict::PreconditionFailed.into())
        }
    }
}
