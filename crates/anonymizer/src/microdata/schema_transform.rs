//! What the schema of transformed records is, and which dates are none.

use super::attribute::{Attribute, AttributeType, Doubt};
use super::index::AttributeIndex;
use super::schema::Schema;
use super::value_text::DAYS_FOR_NONE;

/// 1970-01-01, and 1899-12-30 and 1899-12-31, which programs write for a zero.
const ZEROS: [i32; 3] = [0, -25_569, -25_568];
/// Days on which something of a living person may have been: 1820 to 2169.
const PLAUSIBLE: std::ops::Range<i32> = -54_787..73_050;

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
