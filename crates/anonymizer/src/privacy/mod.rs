//! What is promised: parameter types that are valid by construction, a job's
//! policy, and the requirements of every record once policy and preferences
//! are joined.
//!
//! Decisions on privacy are made in integers ([`Share`], `count * l <= size`),
//! never in floats.

mod cancel;
mod documents;
mod floors;
mod fraction;
mod history;
mod join;
mod kept_groups;
mod parameter;
mod parts;
mod policy;
mod protected;
mod protection;
mod requirements;
mod retention;
mod scale;
mod seed;
mod slicing;
mod stated;
mod subject_finder;
mod transformation;

pub use cancel::{CancelFlag, Cancelled};
pub use floors::Floors;
pub use history::{Changes, History, KeptSets, are_apart};
pub use kept_groups::{KeptClass, KeptGroups, KeptMember, NO_KEPT_CLASS};
pub use parameter::{C, K, L, Lift, ParameterError, Share, T};
pub use parts::{Parts, PartsRule};
pub use policy::{BlockForm, Model, Policy, Protections, QidConflict, Recoding};
pub use protected::{ProtectedIndex, ProtectedSet};
pub use protection::{Diversity, InBlock, InBucket, InGroup, Protection, Spread};
pub use requirements::{Companion, OwnTerms, RecordTerms, Requirements};
pub use seed::Seed;
pub use slicing::{ColumnRule, SliceVariant, Slicing};
pub use stated::StatedRequirements;
pub use transformation::Transformation;
