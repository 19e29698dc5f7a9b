//! What is answered.

use serde::{Deserialize, Serialize};

/// What the two bounds of an answer promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bounds {
    /// The true answer over the published records lies between them.
    Certain,
    /// They are the extremes for the expected number of records; the true
    /// answer may lie outside.
    Expected,
}

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The expected value; `null` for the average of no record.
    pub estimate: Option<f64>,
    /// Lower bound.
    pub lower: Option<f64>,
    /// Upper bound.
    pub upper: Option<f64>,
    /// What the bounds promise.
    pub bounds: Bounds,
    /// Groups of equal published cells with a record that may count.
    pub groups_touched: u64,
}

/// The answer for one value of the attribute that is grouped by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupAnswer {
    /// The value, as it is published.
    pub value: String,
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
}

/// The answer to a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum QueryAnswer {
    /// One answer per value that may occur.
    Grouped {
        /// The attribute grouped by.
        group_by: String,
        /// Answers in order of the attribute's domain.
        groups: Vec<GroupAnswer>,
    },
    /// One answer.
    Single(Answer),
}
