//! Numbers as exact decimals.
//!
//! Bounds of intervals are computed on the decimal digits that a number is
//! written with: three times 0.1 is 0.3, and a value never lies outside of the
//! interval that its label says.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::error::RuleError;

/// A number of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RuleNumber {
    /// A whole number of 64 bits.
    Integer(i64),
    /// Any other number; it must be finite.
    Decimal(f64),
}

impl RuleNumber {
    /// Shortest text that reads back as the same number.
    pub fn text(self) -> String {
        match self {
            Self::Integer(value) => value.to_string(),
            // Adding 0 takes the sign of the negative zero: one text for one
            // value.
            Self::Decimal(value) => format!("{}", value + 0.0),
        }
    }

    /// Whether the number is neither infinite nor undefined.
    pub fn is_finite(self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Decimal(value) => value.is_finite(),
        }
    }

    /// Whether the number was written with a point or an exponent.
    pub(super) fn is_decimal(self) -> bool {
        matches!(self, Self::Decimal(_))
    }

    /// The number as a column of decimals holds it.
    pub(super) fn as_decimal(self) -> Self {
        Self::Decimal(self.float())
    }

    fn float(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Decimal(value) => value + 0.0,
        }
    }

    /// The order by size; total for numbers of one kind.
    pub(super) fn by_size(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(one), Self::Integer(two)) => one.cmp(two),
            _ => self.float().total_cmp(&other.float()),
        }
    }
}

/// A bound that scaled leaves stop at.
pub(super) const LEAF_BOUND: i128 = 10_i128.pow(37);
/// A bound that scaled widths and cuts must be within. Sums of a few of them
/// and of leaves stay far below the largest number of 128 bits.
const RULE_BOUND: i128 = 10_i128.pow(36);

/// A power of ten by which the numbers of a rule become whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale(usize);

impl Scale {
    /// The smallest scale that makes all numbers whole.
    pub(super) fn of(numbers: impl Iterator<Item = RuleNumber>) -> Self {
        let decimals = numbers.map(|number| {
            let text = number.text();
            text.split_once('.')
                .map_or(0, |(_, fraction)| fraction.len())
        });
        Self(decimals.max().unwrap_or(0))
    }

    /// A width or a cut as a whole number. Refused: one with too many digits.
    pub(super) fn whole(self, number: RuleNumber) -> Result<i128, RuleError> {
        let scaled = self.floor(&number.text());
        if number.is_finite() && scaled.abs() < RULE_BOUND {
            Ok(scaled)
        } else {
            Err(RuleError::unfit(
                "`origin`, `widths` and `cuts` have more than 36 digits together before and \
                 after the point: round them",
            ))
        }
    }

    /// The largest whole number that is not above the scaled number of a text.
    /// It is held within [`LEAF_BOUND`].
    ///
    /// Bounds of intervals are whole at this scale, so digits below it do not
    /// decide in which interval a number lies.
    pub(super) fn floor(self, text: &str) -> i128 {
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(unsigned) => (true, unsigned),
            None => (false, text),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = whole
            .bytes()
            .chain(fraction.bytes().chain(std::iter::repeat(b'0')).take(self.0));
        let size = digits.fold(0_i128, |size, digit| {
            let more = size * 10 + i128::from(digit.saturating_sub(b'0'));
            more.min(LEAF_BOUND)
        });
        let has_rest = fraction.bytes().skip(self.0).any(|digit| digit != b'0');
        match is_negative {
            true if has_rest => -(size + 1).min(LEAF_BOUND),
            true => -size,
            false => size,
        }
    }

    /// The shortest text of a scaled number.
    pub(super) fn text(self, scaled: i128) -> String {
        let sign = if scaled < 0 { "-" } else { "" };
        let size = scaled.unsigned_abs().to_string();
        if self.0 == 0 {
            return format!("{sign}{size}");
        }
        // At least one digit stands before the point.
        let padded = format!("{size:0>width$}", width = self.0 + 1);
        let (whole, fraction) = padded
            .split_at_checked(padded.len() - self.0)
            .unwrap_or((padded.as_str(), ""));
        match fraction.trim_end_matches('0') {
            "" => format!("{sign}{whole}"),
            fraction => format!("{sign}{whole}.{fraction}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_shortest_text() {
        for (number, text) in [
            (RuleNumber::Integer(i64::MIN), "-9223372036854775808"),
            (RuleNumber::Decimal(-0.0), "0"),
            (RuleNumber::Decimal(2.0), "2"),
            (RuleNumber::Decimal(0.1), "0.1"),
            (RuleNumber::Decimal(-1e-7), "-0.0000001"),
        ] {
            assert_eq!(number.text(), text);
        }
    }

    #[test]
    fn scaled_numbers_are_rounded_down_and_come_back_as_texts() {
        let scale = Scale(2);
        for (text, scaled) in [
            ("0", 0),
            ("1.5", 150),
            ("-1.5", -150),
            ("1.239", 123),
            ("-1.231", -124),
            ("-0.001", -1),
        ] {
            assert_eq!(scale.floor(text), scaled, "{text}");
        }
        for (scaled, text) in [(0, "0"), (150, "1.5"), (-5, "-0.05"), (-1200, "-12")] {
            assert_eq!(scale.text(scaled), text);
        }
        assert_eq!(Scale(0).text(-1200), "-1200");
        assert_eq!(scale.floor(&"9".repeat(300)), LEAF_BOUND);
        assert_eq!(
            scale.floor(&format!("-{}.999", "9".repeat(300))),
            -LEAF_BOUND
        );
    }

    #[test]
    fn widths_with_too_many_digits_are_refused() {
        for number in [1e40, f64::NAN, f64::INFINITY] {
            assert!(Scale(0).whole(RuleNumber::Decimal(number)).is_err());
        }
        let tiny = RuleNumber::Decimal(1e-300);
        let scale = Scale::of([tiny, RuleNumber::Integer(1)].into_iter());
        assert_eq!(scale, Scale(300));
        assert_eq!(scale.whole(tiny), Ok(1));
        assert!(scale.whole(RuleNumber::Integer(1)).is_err());
    }
}
