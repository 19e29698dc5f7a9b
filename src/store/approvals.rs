//! Approvals: the first of two stewards says that a draft may go out, the
//! second one publishes it.
//!
//! An approval is written and read in the transaction that would publish, which
//! holds the release's row: of two calls one comes first. It holds for the
//! grounds and the public releases that were there when it was given.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::config::SecondSteward;
use crate::job::approval::Ground;
use crate::job::floors::Below;
use crate::privacy::Floors;

/// What of a draft is below the floors, given the dataset's own.
pub type FloorCheck = Box<dyn Fn(&Floors) -> Vec<Below> + Send>;

/// What the operator asks of a publication.
pub struct PublishRules {
    /// Compares the draft with the floors.
    pub below: FloorCheck,
    /// The reason of the exception that the job asked for.
    pub floor_exception: Option<String>,
    /// Which publications need a second steward.
    pub second_steward: SecondSteward,
}

impl PublishRules {
    /// Why the draft would be no plain publication; `Err`: it may not go out,
    /// because this is below the floors.
    pub(super) fn grounds(&self, floors: &Floors) -> Result<Vec<Ground>, Vec<Below>> {
        let below = (self.below)(floors);
        let mut grounds = Vec::new();
        match &self.floor_exception {
            Some(reason) => grounds.push(Ground::floor_exception(reason.clone(), below)),
            None if !below.is_empty() => return Err(below),
            None => {}
        }
        if self.second_steward == SecondSteward::Always {
            grounds.push(Ground::every_publication());
        }
        Ok(grounds)
    }

    /// Whether a publication on these grounds takes two.
    pub(super) fn need_two(&self, grounds: &[Ground]) -> bool {
        self.second_steward != SecondSteward::Never && !grounds.is_empty()
    }
}

/// What the first of two stewards said of a draft.
#[derive(Debug, Clone, PartialEq)]
pub struct Approval {
    /// Who.
    pub by: String,
    /// When.
    pub at: DateTime<Utc>,
    /// Why two are needed.
    pub grounds: Vec<Ground>,
    /// The releases beside which it may go out, with the reason; null: none.
    pub acknowledged: Value,
}
