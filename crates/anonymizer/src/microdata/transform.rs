//! What a schema says is changed of values before any engine sees them.
//!
//! Records are stored as they came. A job works on what its schema makes of
//! them: `Schema::transformed` is what these columns are, and
//! `privacy::Transformation` makes them.

use serde::{Deserialize, Serialize};
use serde_json::Number;

/// What is changed of an attribute's values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transform {
    /// Larger numbers become this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<Number>,
    /// Smaller numbers become this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom: Option<Number>,
    /// All dates of a subject are moved by the same number of days, drawn for the
    /// subject from 1 to this many, back or forth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift_days: Option<u32>,
    /// A date becomes the days since the record's date of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days_since: Option<String>,
}

impl Transform {
    /// Whether nothing is changed.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// A whole number between bottom and top.
    pub fn whole(&self, value: i64) -> i64 {
        let bound = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_i64);
        let value = bound(&self.bottom).map_or(value, |bottom| value.max(bottom));
        bound(&self.top).map_or(value, |top| value.min(top))
    }

    /// A number between bottom and top.
    pub fn fraction(&self, value: f64) -> f64 {
        let bound = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
        let value = bound(&self.bottom).map_or(value, |bottom| value.max(bottom));
        // The negative zero is no value of its own.
        bound(&self.top).map_or(value, |top| value.min(top)) + 0.0
    }
}
