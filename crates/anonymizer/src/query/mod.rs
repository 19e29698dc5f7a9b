//! Aggregate queries on a release, with bounds, from the release alone.
//!
//! A query, as `POST /v1/releases/{id}/query` and `vizard query` take it (unknown fields are
//! refused; several predicates all have to hold):
//!
//! ```json
//! {"count": true, "sum": ["salary"], "avg": ["salary", "age"],
//!  "group_by": ["sex", "ward"],
//!  "where": [{"attribute": "age", "op": "between", "lo": 30, "hi": 39},
//!            {"attribute": "diagnosis", "op": "in", "values": ["flu", "J00-J99"]},
//!            {"attribute": "salary", "op": ">=", "value": 40000}]}
//! ```
//! At least one of `count`, `sum` and `avg` (of numbers) is asked for; the rest
//! may be left out; `op` is `between`, `in`, `<`, `<=`, `=`, `!=`, `>=` or `>`
//! (`≤ ≠ ≥` too). Days are texts (`"2026-03-01"`). A category may be any node of
//! its hierarchy and stands for all leaves under it; order is for numbers and
//! days alone.
//!
//! The answer has a cell for each combination of values grouped by (one cell
//! without `group_by`), of figures `{estimate, lower, upper, bounds}`, the rows
//! that may count, and the groups that they are in. What a cell hides is taken as
//! uniform over what is *public*: whole numbers and days of the interval, its
//! length for decimals, the leaves of a node, the members of a set, the values
//! of a bucket. Bounds of a count are `certain`; of a sum or average they are
//! those of the *expected* number of records (docs/DEVIATIONS.md, queries).

mod answer;
mod ask;
mod asking;
mod attribute;
mod block;
mod columns;
mod compile;
mod condition;
mod count;
mod drawing;
pub mod error;
mod exact;
mod expression;
mod filter;
mod grouped;
mod index;
mod knowledge;
mod pairs;
mod places;
mod released;
mod sliced;
mod sum;
mod table;
mod tally;
mod workload;

pub use answer::{AnsweredCell, Bounds, Estimate, QueryAnswer};
pub use attribute::Closed;
pub use condition::{Condition, Judgement};
pub use exact::ExactIndex;
pub use expression::{
    CELLS_MAX, Comparison, GROUPS_MAX, InvalidQuery, List, Literal, MEASURES_MAX, PREDICATES_MAX,
    Place, Predicate, Query, Test, VALUES_MAX,
};
pub use index::{Hierarchies, QueryIndex};
pub use knowledge::PublicDomain;
pub use places::Places;
pub use workload::Workload;
