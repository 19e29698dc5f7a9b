//! Queries and their answers, described for openapi.yaml: the anonymizer's
//! `query` knows nothing of OpenAPI.

use std::collections::BTreeMap;

use serde::Deserialize;
use utoipa::ToSchema;

/// What is asked of a release: at least one of `count`, `sum` and `avg`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Query, examples(json!({"count": true, "avg": ["age"], "group_by": ["ward"],
    "where": [{"attribute": "age", "op": "between", "lo": 30, "hi": 39}]})))]
pub struct QueryDocument {
    /// Whether the number of records is asked for.
    #[serde(default)]
    #[schema(required = false)]
    pub count: bool,
    /// Integers and decimals whose sums are asked for.
    #[serde(default)]
    #[schema(required = false, max_items = 16)]
    pub sum: Vec<String>,
    /// Integers and decimals whose averages are asked for.
    #[serde(default)]
    #[schema(required = false, max_items = 16)]
    pub avg: Vec<String>,
    /// One cell for each combination of values of these attributes.
    #[serde(default)]
    #[schema(required = false, max_items = 8)]
    pub group_by: Vec<String>,
    /// All of these have to hold.
    #[serde(default)]
    #[schema(required = false, max_items = 64)]
    pub r#where: Vec<QueryConditionDocument>,
}

/// A condition on one attribute.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = QueryCondition)]
pub enum QueryConditionDocument {
    /// Its value lies between two, both included.
    Between(BetweenDocument),
    /// Its value is one of these.
    In(InDocument),
    /// Its value is in this relation to another.
    Compare(CompareDocument),
}

/// A value between two, both included.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = QueryBetween)]
pub struct BetweenDocument {
    /// The attribute: a number or a date.
    pub attribute: String,
    /// `between`.
    pub op: BetweenWord,
    /// The lower end.
    pub lo: LiteralDocument,
    /// The upper end.
    pub hi: LiteralDocument,
}

/// One of some values.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = QueryIn)]
pub struct InDocument {
    /// The attribute.
    pub attribute: String,
    /// `in`.
    pub op: InWord,
    /// The values; a node of a hierarchy stands for all leaves under it.
    #[schema(max_items = 1000)]
    pub values: Vec<LiteralDocument>,
}

/// A relation to a value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = QueryCompare)]
pub struct CompareDocument {
    /// The attribute; categories know `=` and `!=` alone.
    pub attribute: String,
    /// The relation.
    // A pattern, not a list: YAML reads a bare `=` as something else.
    #[schema(pattern = "^(<|<=|=|!=|>=|>)$")]
    pub op: String,
    /// The value.
    pub value: LiteralDocument,
}

/// The word of a range.
#[derive(Deserialize, ToSchema)]
#[schema(as = QueryBetweenWord)]
pub enum BetweenWord {
    /// `between`.
    #[serde(rename = "between")]
    Between,
}

/// The word of a list.
#[derive(Deserialize, ToSchema)]
#[schema(as = QueryInWord)]
pub enum InWord {
    /// `in`.
    #[serde(rename = "in")]
    In,
}

/// A number; or a category or a day (`2026-03-01`) as a text.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[schema(as = QueryLiteral)]
pub enum LiteralDocument {
    /// A number.
    Number(f64),
    /// A category or a day.
    Text(String),
}

/// The figures for one combination of values.
#[derive(Deserialize, ToSchema)]
#[schema(as = QueryCell)]
pub struct AnsweredCellDocument {
    /// The values, in order of `group_by`.
    pub values: Vec<String>,
    /// Published rows that may count.
    pub rows: u64,
    /// Groups of equal published cells, or buckets, with such a row.
    pub groups: u64,
    /// The number of records, where it was asked for.
    #[serde(default)]
    #[schema(nullable = false)]
    pub count: Option<EstimateDocument>,
    /// Sums by attribute, where any was asked for.
    #[serde(default)]
    #[schema(required = false)]
    pub sum: BTreeMap<String, EstimateDocument>,
    /// Averages by attribute, where any was asked for.
    #[serde(default)]
    #[schema(required = false)]
    pub avg: BTreeMap<String, EstimateDocument>,
}

/// A figure with its bounds.
#[derive(Deserialize, ToSchema)]
#[schema(as = QueryEstimate)]
pub struct EstimateDocument {
    /// The expected value; null for the average of no record.
    pub estimate: Option<f64>,
    /// Lower bound.
    pub lower: Option<f64>,
    /// Upper bound.
    pub upper: Option<f64>,
    /// What the bounds promise.
    pub bounds: BoundsWord,
}

/// What bounds promise.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = QueryBounds)]
pub enum BoundsWord {
    /// The true figure over the published records lies between them.
    Certain,
    /// They are the extremes for the expected number of records; the true figure
    /// may lie outside.
    Expected,
}
