//! Approvals: the first of two stewards says that a draft may go out, the
//! second one publishes it.
//!
//! An approval is written and read in the transaction that would publish, which
//! holds the release's row: of two calls one comes first. It holds for the
//! grounds and the public releases that were there when it was given.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;
use vizard_anonymizer::privacy::Floors;

use super::{PreferenceChange, PublishCheck, PublishDecision};
use crate::config::SecondSteward;
use crate::job::JobSpec;
use crate::job::approval::Ground;
use crate::job::consent::JobPromise;
use crate::job::floors::{Below, InForce, Made, Ordered};

/// What of a draft is below the floors, given the dataset's own.
pub type FloorCheck = Box<dyn Fn(&Floors) -> Vec<Below> + Send>;

/// What the operator says of every publication.
pub struct OperatorRules {
    /// The service's floors.
    pub floors: Floors,
    /// Which publications need a second steward.
    pub second_steward: SecondSteward,
}

/// The questions that publishing asks of what a job made: do the terms in force
/// by then ask for more than the job promised, and what does the operator ask?
pub fn publish_questions(
    promised: JobPromise,
    spec: &JobSpec,
    made: Made,
    operator: OperatorRules,
) -> (PublishCheck, PublishRules) {
    let promised = Arc::new(promised);
    let (own, engine) = (Arc::clone(&promised), spec.engine.clone());
    let rules = PublishRules {
        below: Box::new(move |floors| {
            let ordered = Ordered {
                engine: &engine,
                schema: own.schema(),
                policy: own.policy(),
                made: Some(&made),
            };
            InForce::of(&operator.floors, floors).below(&ordered)
        }),
        floor_exception: spec.floor_exception.clone(),
        second_steward: operator.second_steward,
    };
    let check = move |changes: &[PreferenceChange], lineage: &[u8]| {
        let changes = changes.iter().map(PreferenceChange::terms);
        if promised.allows(changes, lineage) {
            PublishDecision::Allow
        } else {
            PublishDecision::Refuse
        }
    };
    (Box::new(check), rules)
}

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
    /// because this is below the floors. `is_composed`: other releases share
    /// subjects with it, and do not keep together what each claims.
    pub(super) fn grounds(
        &self,
        floors: &Floors,
        is_composed: bool,
    ) -> Result<Vec<Ground>, Vec<Below>> {
        let below = (self.below)(floors);
        let mut grounds = Vec::new();
        match &self.floor_exception {
            Some(reason) => grounds.push(Ground::floor_exception(reason.clone(), below)),
            None if !below.is_empty() => return Err(below),
            None => {}
        }
        if is_composed {
            grounds.push(Ground::composition());
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
