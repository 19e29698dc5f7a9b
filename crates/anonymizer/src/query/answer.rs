//! What is answered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the two bounds of an estimate promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bounds {
    /// The true answer over the published records lies between them.
    Certain,
    /// They are the extremes for the expected number of records; the true
    /// answer may lie outside.
    Expected,
}

/// A figure with its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The expected value; `null` for the average of no record.
    pub estimate: Option<f64>,
    /// Lower bound.
    pub lower: Option<f64>,
    /// Upper bound.
    pub upper: Option<f64>,
    /// What the bounds promise.
    pub bounds: Bounds,
}

/// The figures for one combination of the values that are grouped by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnsweredCell {
    /// The values, as they are published, in order of `group_by`.
    pub values: Vec<String>,
    /// Published rows that may count.
    pub rows: u64,
    /// Groups of equal published cells, or buckets, with such a row.
    pub groups: u64,
    /// The number of records, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<Estimate>,
    /// Sums by attribute.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sum: BTreeMap<String, Estimate>,
    /// Averages by attribute.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub avg: BTreeMap<String, Estimate>,
}

/// The answer to a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryAnswer {
    /// The attributes that are grouped by.
    pub group_by: Vec<String>,
    /// One cell for each combination of values that may occur, in order of the
    /// attributes' domains; without `group_by` exactly one.
    pub cells: Vec<AnsweredCell>,
}
