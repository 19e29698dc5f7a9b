//! Aggregate queries on a release, with bounds, from the release alone.
//!
//! A query, as `POST /v1/releases/{id}/queries` takes it (unknown fields are
//! refused; several predicates all have to hold):
//!
//! ```json
//! {"select": {"count": true},
//!  "group_by": "sex",
//!  "where": [{"attribute": "age", "op": "between", "lo": 30, "hi": 39},
//!            {"attribute": "diagnosis", "op": "in", "values": ["flu", "J00-J99"]},
//!            {"attribute": "salary", "op": ">=", "value": 40000}]}
//! ```
//! `select` is `{"count": true}`, `{"sum": "a"}` or `{"avg": "a"}` of a number;
//! `group_by` may be left out; `op` is `between`, `in`, `<`, `<=`, `=`, `!=`,
//! `>=` or `>` (`≤ ≠ ≥` too). Days are texts (`"2026-03-01"`). A category may
//! be any node of its hierarchy and stands for all leaves under it; order is
//! for numbers and days alone.
//!
//! The answer is `{estimate, lower, upper, bounds, groups_touched}`, or
//! `{"group_by", "groups": [{"value", …}]}`. What a cell hides is taken as
//! uniform over what is *public*: whole numbers and days of the interval, its
//! length for decimals, the leaves of a node, the members of a set, the values
//! of a bucket. Bounds of a count are `certain`; of a sum or average they are
//! those of the *expected* number of records (docs/DEVIATIONS.md, queries).

mod answer;
mod block;
mod compile;
mod condition;
mod count;
pub mod error;
mod exact;
mod expression;
mod filter;
mod index;
mod knowledge;
mod pairs;
mod places;
mod sliced;
mod sum;
mod table;
mod workload;

pub use answer::{Answer, Bounds, GroupAnswer, QueryAnswer};
pub use condition::{Condition, Judgement};
pub use exact::ExactIndex;
pub use expression::{
    Comparison, InvalidQuery, Literal, PREDICATES_MAX, Predicate, Query, Select, Test, True,
};
pub use index::{GROUPS_MAX, Hierarchies, QueryIndex};
pub use knowledge::PublicDomain;
pub use places::Places;
pub use workload::Workload;
