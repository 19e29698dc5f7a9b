//! The ordered domain of an attribute.
//!
//! Numbers and dates are ordered by value; categories by the depth-first
//! order of their hierarchy's leaves, or by bytes where there is no
//! hierarchy. A [`Code`] is a position in that order. With a hierarchy every
//! leaf has a code, whether or not it occurs; otherwise every value of the
//! dataset version has one and no other does.
//!
//! A missing number or date is a value of its own: its code is the last one,
//! behind all numbers, as the missing leaf is the last of a hierarchy. It has
//! no distance to any number.

use std::sync::Arc;

use super::attribute::AttributeType;
use super::hierarchy::{Hierarchy, NodeIndex};
use super::index::Code;
use super::value_text::{MISSING_LABEL, date_text, decimal_text};

/// The values of a domain, ascending.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Finite numbers.
    Decimal(Vec<f64>),
    /// Days since 1970-01-01.
    Date(Vec<i32>),
    /// Texts; with a hierarchy, its leaves in depth-first order.
    Category(Vec<String>),
}

impl Values {
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Integer(values) => values.len(),
            Self::Decimal(values) => values.len(),
            Self::Date(values) => values.len(),
            Self::Category(values) => values.len(),
        }
    }
}

/// The ordered domain of one attribute.
#[derive(Clone, Debug)]
pub struct Domain {
    values: Values,
    hierarchy: Option<Arc<Hierarchy>>,
    /// Whether a number or date is missing; a missing category is a label.
    lacks_numbers: bool,
}

impl Domain {
    /// A domain of values in ascending order without repeats. A hierarchy has
    /// its leaves in the order of `values` (for numbers: one leaf a value).
    pub fn new(values: Values, hierarchy: Option<Arc<Hierarchy>>) -> Self {
        Self {
            values,
            hierarchy,
            lacks_numbers: false,
        }
    }

    /// The domain of numbers or dates some of which are missing. A hierarchy
    /// has the missing value as its last leaf.
    #[must_use]
    pub fn with_missing(mut self) -> Self {
        self.lacks_numbers = self.is_numeric();
        self
    }

    /// The code of the missing value, where the domain has one.
    pub fn missing(&self) -> Option<Code> {
        match &self.values {
            Values::Category(_) => self.code_of_label(MISSING_LABEL),
            _ => self.missing_number(),
        }
    }

    /// The code of the missing number or date, where the domain has one.
    pub fn missing_number(&self) -> Option<Code> {
        let missing = self.lacks_numbers.then(|| self.known_len());
        missing.map(Code::from_usize)
    }

    /// Whether `code` is that of a missing number or date.
    pub fn is_missing_number(&self, code: Code) -> bool {
        self.lacks_numbers && code.at() == self.known_len()
    }

    /// The values, ascending.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The hierarchy over the values, where there is one.
    pub fn hierarchy(&self) -> Option<&Arc<Hierarchy>> {
        self.hierarchy.as_ref()
    }

    /// Number of codes, the missing value's among them.
    pub fn len(&self) -> usize {
        self.known_len() + usize::from(self.lacks_numbers)
    }

    /// Number of values that are numbers, dates or labels: the codes below it
    /// are all but that of a missing number.
    pub fn known_len(&self) -> usize {
        self.values.count()
    }

    /// Whether the domain has no value (the table has no record).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the values are.
    pub fn kind(&self) -> AttributeType {
        match self.values {
            Values::Integer(_) => AttributeType::Integer,
            Values::Decimal(_) => AttributeType::Decimal,
            Values::Date(_) => AttributeType::Date,
            Values::Category(_) => AttributeType::Categorical,
        }
    }

    /// Whether values are numbers or dates, whose distance counts.
    pub fn is_numeric(&self) -> bool {
        !matches!(self.values, Values::Category(_))
    }

    /// The value of `code` as a number (dates in days), for distances.
    /// Categories give their code, the missing value gives NaN.
    pub fn number(&self, code: Code) -> f64 {
        match &self.values {
            _ if self.is_missing_number(code) => f64::NAN,
            Values::Integer(values) => values[code.at()] as f64,
            Values::Decimal(values) => values[code.at()],
            Values::Date(values) => f64::from(values[code.at()]),
            Values::Category(_) => f64::from(code.0),
        }
    }

    /// The value of `code` as it is published.
    pub fn text(&self, code: Code) -> String {
        match &self.values {
            _ if self.is_missing_number(code) => MISSING_LABEL.into(),
            Values::Integer(values) => values[code.at()].to_string(),
            Values::Decimal(values) => decimal_text(values[code.at()]),
            Values::Date(values) => date_text(values[code.at()]),
            Values::Category(values) => values[code.at()].clone(),
        }
    }

    /// The code of a category, by its label. With a hierarchy only leaves
    /// have one. Numbers have none, but a missing one has.
    pub fn code_of_label(&self, label: &str) -> Option<Code> {
        match (&self.hierarchy, &self.values) {
            (Some(hierarchy), Values::Category(_)) => hierarchy.leaf(label),
            (None, Values::Category(values)) => {
                let at = values
                    .binary_search_by(|value| value.as_str().cmp(label))
                    .ok()?;
                Some(Code::from_usize(at))
            }
            _ if label == MISSING_LABEL => self.missing_number(),
            _ => None,
        }
    }

    /// Range of the domain: max − min for numbers (dates in days), the number
    /// of leaves or values for categories. At least 0.
    pub fn range(&self) -> f64 {
        match self.known_len() {
            0 => 0.0,
            n if !self.is_numeric() => n as f64,
            n => self.number(Code::from_usize(n - 1)) - self.number(Code(0)),
        }
    }

    /// Steps from one number to the next of the ordered distance from the first
    /// number to the last, at least 1. The missing value lies as many steps
    /// behind the last number, as far as numbers are apart at most.
    pub fn steps(&self) -> u64 {
        (self.known_len() as u64).saturating_sub(1).max(1)
    }

    /// Loss of publishing the interval of codes `lo..=hi` for one cell
    /// (engines.md, rule 6), in 0..=1: (hi − lo)/range for numbers and dates,
    /// leaves(lowest common ancestor)/leaves(root) with a hierarchy; the missing
    /// value beside numbers loses all. For
    /// categories without a hierarchy the published set decides; use
    /// [`Domain::set_loss`].
    pub fn interval_loss(&self, lo: Code, hi: Code) -> f64 {
        if lo == hi {
            return 0.0;
        }
        if self.is_missing_number(hi) {
            return 1.0;
        }
        if self.is_numeric() {
            return (self.number(hi) - self.number(lo)) / self.range();
        }
        match &self.hierarchy {
            Some(hierarchy) => self.node_loss(hierarchy, hierarchy.common_ancestor(lo, hi)),
            None => f64::from(hi.0 - lo.0 + 1) / self.len() as f64,
        }
    }

    /// Loss of publishing a set of `size` values of a category without a
    /// hierarchy: 0 for one value, else size/|domain|.
    pub fn set_loss(&self, size: usize) -> f64 {
        if size <= 1 {
            0.0
        } else {
            size as f64 / self.len() as f64
        }
    }

    fn node_loss(&self, hierarchy: &Hierarchy, node: NodeIndex) -> f64 {
        let leaves = hierarchy.node(node).leaf_count;
        if leaves <= 1 {
            0.0
        } else {
            f64::from(leaves) / hierarchy.leaf_count() as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_in_their_shortest_form() {
        for (value, text) in [(-0.0, "0"), (0.1, "0.1"), (1e3, "1000"), (-2.50, "-2.5")] {
            assert_eq!(decimal_text(value), text);
        }
    }
}
