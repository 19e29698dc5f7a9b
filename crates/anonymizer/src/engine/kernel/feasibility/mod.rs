//! Whether a release can exist, whom that excludes, and what would help.
//!
//! Every engine asks the same three questions before it forms groups:
//! - Whose own terms cannot be met? They are excluded, the strictest first,
//!   equals in random order ([`exclude`], [`everyone`]), as long as no more
//!   are excluded than the job allows ([`OverBudget`]).
//! - Which condition of the job does not hold for everyone together?
//! - Which parameter would hold? It is tried, not estimated ([`search`]), and
//!   named in a [`Infeasible`](crate::engine::error::Infeasible)
//!   ([`diagnosis`]).

pub mod diagnosis;
pub mod everyone;
pub mod exclude;
pub mod search;
pub mod unmet;

pub use diagnosis::{OverBudget, instead_of_l, name_of, span_of_known, too_narrow};
pub use everyone::Everyone;
pub use exclude::{TooFrequent, exclude_by_frequency, exclude_until, tie_breakers, without};
pub use search::{largest, least, most_left};
pub use unmet::exclude_unmet;
