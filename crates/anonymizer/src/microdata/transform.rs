//! What a schema says is changed of values before any engine sees them.
//!
//! Records are stored as they came. A job works on what its schema makes of
//! them: [`Schema::transformed`] is what these columns are, and
//! [`Transformation`](crate::privacy::Transformation) makes them.

use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::attribute::{Attribute, AttributeType, Doubt, Role};
use super::index::AttributeIndex;
use super::schema::Schema;
use super::value_text::DAYS_FOR_NONE;

/// Most days by which dates are moved: ten years.
const SHIFT_DAYS_MAX: u32 = 3653;

/// 1970-01-01, and 1899-12-30 and 1899-12-31, which programs write for a zero.
const ZEROS: [i32; 3] = [0, -25_569, -25_568];
/// Days on which something of a living person may have been: 1820 to 2169.
const PLAUSIBLE: std::ops::Range<i32> = -54_787..73_050;

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

    /// What contradicts itself for an attribute, in words that begin with `place`.
    pub(super) fn check(&self, place: &str, attribute: &Attribute) -> Result<(), String> {
        if self.is_nothing() {
            return Ok(());
        }
        let says = |what: &str| Err(format!("{place}: transform: {what}"));
        if matches!(attribute.role, Role::Identifier | Role::Ignore) {
            return says("identifiers and ignored attributes are not published: take it away");
        }
        let is_date = attribute.kind == Some(AttributeType::Date);
        if !is_date && (self.shift_days.is_some() || self.days_since.is_some()) {
            return says("shift_days and days_since are for dates");
        }
        if self.shift_days.is_some() && self.days_since.is_some() {
            return says("days_since needs no shift_days: both dates are moved by the same days");
        }
        if self
            .shift_days
            .is_some_and(|days| !(1..=SHIFT_DAYS_MAX).contains(&days))
        {
            return Err(format!(
                "{place}: transform: shift_days lies between 1 and {SHIFT_DAYS_MAX}"
            ));
        }
        let bounds = [&self.bottom, &self.top].map(Option::as_ref);
        let fits = match attribute.kind {
            Some(AttributeType::Decimal) => bounds.iter().flatten().all(|bound| {
                let bound = bound.as_f64();
                bound.is_some_and(f64::is_finite)
            }),
            Some(AttributeType::Integer) => bounds.iter().flatten().all(|one| one.is_i64()),
            Some(AttributeType::Date) if self.days_since.is_some() => {
                bounds.iter().flatten().all(|one| one.is_i64())
            }
            _ => bounds.iter().all(Option::is_none),
        };
        if !fits {
            return says(
                "top and bottom are for integers, decimals and days_since, and are numbers of that \
                 type",
            );
        }
        let is_above = match bounds {
            [Some(bottom), Some(top)] => match (bottom.as_i64(), top.as_i64()) {
                (Some(bottom), Some(top)) => bottom >= top,
                _ => bottom.as_f64() >= top.as_f64(),
            },
            _ => false,
        };
        if is_above {
            return says("bottom lies below top");
        }
        Ok(())
    }
}

/// What contradicts itself in what attributes together are changed by.
pub(super) fn check_together(attributes: &[Attribute]) -> Result<(), String> {
    let find = |name: &str| attributes.iter().find(|one| one.name == name);
    for (position, attribute) in attributes.iter().enumerate() {
        let Some(index) = &attribute.transform.days_since else {
            continue;
        };
        let says = |what: &str| Err(format!("attribute {}: days_since {what}", position + 1));
        match find(index) {
            None => return says("names no attribute"),
            Some(index) if index.name == attribute.name => {
                return says("names the attribute itself");
            }
            Some(index) if index.kind != Some(AttributeType::Date) => {
                return says("names an attribute that is not of the type date");
            }
            Some(index) if index.role == Role::Ignore => {
                return says(
                    "names an ignored attribute, which is not stored: make it an identifier",
                );
            }
            Some(index) if index.transform.days_since.is_some() => {
                return says("names an attribute that is days itself");
            }
            Some(_) => {}
        }
    }
    let mut shifts = attributes.iter().filter_map(|one| one.transform.shift_days);
    let Some(days) = shifts.next() else {
        return Ok(());
    };
    if shifts.any(|other| other != days) {
        return Err(
            "transform: all dates of a subject are moved by the same days: give each the same \
             shift_days"
                .into(),
        );
    }
    // One date as it is beside one that was moved tells by how many days.
    let is_as_it_is = |attribute: &Attribute| {
        attribute.kind == Some(AttributeType::Date)
            && !matches!(attribute.role, Role::Identifier | Role::Ignore)
            && attribute.transform.is_nothing()
    };
    match attributes.iter().position(is_as_it_is) {
        None => Ok(()),
        Some(position) => Err(format!(
            "attribute {}: other dates are moved by shift_days, and a date as it is would tell by \
             how many days: give it shift_days or days_since too, or make it an identifier",
            position + 1
        )),
    }
}

impl Attribute {
    /// Whether a day is one that programs write where no date is known, and the
    /// schema does not say that it is meant: moved, it would tell by how much.
    pub fn stands_for_no_date(&self, day: i32) -> bool {
        let is_meant = day == DAYS_FOR_NONE[0] && self.meant.contains(&Doubt::FirstDay);
        let is_written_for_none = DAYS_FOR_NONE.contains(&day) || ZEROS.contains(&day);
        !PLAUSIBLE.contains(&day) || (is_written_for_none && !is_meant)
    }
}

impl Schema {
    /// Whether some attribute is changed before an engine sees it.
    pub fn is_transformed(&self) -> bool {
        let mut attributes = self.attributes().iter();
        attributes.any(|attribute| !attribute.transform.is_nothing())
    }

    /// The schema of the columns that engines see: days since another date are
    /// whole numbers.
    #[must_use]
    pub fn transformed(&self) -> Self {
        self.with_attributes(|attribute| {
            if attribute.transform.days_since.is_some() {
                attribute.kind = Some(AttributeType::Integer);
            }
        })
    }

    /// Whether days are counted from the dates of this attribute.
    pub fn is_index_date(&self, index: AttributeIndex) -> bool {
        let name = Some(&self.attribute(index).name);
        let mut attributes = self.attributes().iter();
        attributes.any(|attribute| attribute.transform.days_since.as_ref() == name)
    }
}

#[cfg(test)]
mod tests;
