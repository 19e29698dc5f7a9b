//! From the bytes of one cell to its value.
//!
//! Every function takes a cell that was trimmed. A value has one canonical
//! text: integers without `+` and leading zeros, decimals in their shortest
//! form, days as `YYYY-MM-DD`. Digest and hierarchies know a value by that
//! text, so that two ways of writing it are one value.

use super::error::CellErrorCode;
use super::value_text::decimal_text;

/// The cell without white space at its ends.
#[inline]
pub(super) fn trimmed(cell: &[u8]) -> &[u8] {
    match (cell.first(), cell.last()) {
        (Some(first), Some(last)) if first.is_ascii_graphic() && last.is_ascii_graphic() => cell,
        (None, _) => cell,
        _ => match std::str::from_utf8(cell) {
            Ok(text) => text.trim().as_bytes(),
            Err(_) => cell.trim_ascii(),
        },
    }
}

/// A cell as text: UTF-8 without control characters.
pub(super) fn text(cell: &[u8], bytes_max: usize) -> Result<&str, CellErrorCode> {
    if cell.len() > bytes_max {
        return Err(CellErrorCode::CellTooLong);
    }
    let text = std::str::from_utf8(cell).map_err(|_| CellErrorCode::NotUtf8)?;
    let holds_control = if text.is_ascii() {
        cell.iter().any(u8::is_ascii_control)
    } else {
        text.chars().any(char::is_control)
    };
    if holds_control {
        Err(CellErrorCode::ControlCharacter)
    } else {
        Ok(text)
    }
}

/// A whole number of 64 bits: an optional sign and decimal digits.
#[inline]
pub(super) fn integer(cell: &[u8]) -> Option<i64> {
    let (negative, digits) = match cell {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Eighteen digits cannot overflow.
    if digits.len() <= 18 {
        let size = digits
            .iter()
            .fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        return Some(if negative { -size } else { size });
    }
    // Counted downwards, since the smallest number has no positive twin.
    let below = digits.iter().try_fold(0_i64, |sum, digit| {
        sum.checked_mul(10)?.checked_sub(i64::from(digit - b'0'))
    })?;
    if negative {
        Some(below)
    } else {
        below.checked_neg()
    }
}

/// A finite number; the negative zero becomes zero.
#[inline]
pub(super) fn decimal(cell: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(cell).ok()?.parse().ok()?;
    match value.is_finite() {
        true if value == 0.0 => Some(0.0),
        true => Some(value),
        false => None,
    }
}

/// The canonical text of an integer, where `cell` is another.
#[inline]
pub(super) fn integer_rewritten(cell: &[u8], value: i64) -> Option<String> {
    let digits = cell.strip_prefix(b"-").unwrap_or(cell);
    let is_canonical = match digits {
        [b'0'] => cell.len() == 1,
        [b'1'..=b'9', ..] => true,
        _ => false,
    };
    (!is_canonical).then(|| value.to_string())
}

/// Whether an integer is written with a zero before its digits.
pub(super) fn has_leading_zero(cell: &[u8]) -> bool {
    let digits = cell.strip_prefix(b"-").or(cell.strip_prefix(b"+"));
    matches!(digits.unwrap_or(cell), [b'0', _, ..])
}

/// The canonical text of a decimal, where `cell` may be another.
#[inline]
pub(super) fn decimal_rewritten(cell: &[u8], value: f64) -> Option<String> {
    (!is_shortest_decimal(cell)).then(|| decimal_text(value))
}

/// Whether a decimal is surely written in its shortest form: no exponent, no
/// superfluous zero, and at most 15 digits, which no other text of as few
/// digits shares its number with.
fn is_shortest_decimal(cell: &[u8]) -> bool {
    let unsigned = cell.strip_prefix(b"-").unwrap_or(cell);
    let is_plain = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let point = unsigned.iter().position(|&byte| byte == b'.');
    let (whole, fraction) = match point {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let whole_fits = match whole {
        [b'0'] => fraction.is_some() || cell.len() == 1,
        [b'1'..=b'9', rest @ ..] => is_plain(rest),
        _ => false,
    };
    let fraction_fits = match fraction {
        Some([digits @ .., last]) => matches!(last, b'1'..=b'9') && is_plain(digits),
        Some([]) => false,
        None => true,
    };
    whole_fits && fraction_fits && unsigned.len() <= 15
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_up_to_their_bounds_and_not_beyond() {
        for (cell, value) in [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("+7", Some(7)),
            ("007", Some(7)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("-9223372036854775809", None),
            ("00000000000000000000000012", Some(12)),
            ("", None),
            ("-", None),
            ("1.0", None),
            ("1e3", None),
            ("1 2", None),
            ("٣", None),
        ] {
            assert_eq!(integer(cell.as_bytes()), value, "{cell:?}");
        }
    }

    #[test]
    fn decimals_are_finite_and_zero_has_no_sign() {
        for cell in ["nan", "inf", "-infinity", "1e400", "", ".", "1,5", "0x1p3"] {
            assert_eq!(decimal(cell.as_bytes()), None, "{cell:?}");
        }
        assert_eq!(decimal(b"-0.0").unwrap().to_bits(), 0);
        assert_eq!(decimal(b"1.7976931348623157e308"), Some(f64::MAX));
        assert_eq!(decimal(b"5e-324"), Some(5e-324));
    }

    #[test]
    fn white_space_of_every_kind_is_trimmed() {
        assert_eq!(trimmed(" \t a b\u{a0}".as_bytes()), b"a b");
        assert_eq!(trimmed("é ".as_bytes()), "é".as_bytes());
        assert_eq!(trimmed(b" \xff "), b"\xff");
        assert_eq!(trimmed(b"   "), b"");
    }

    #[test]
    fn text_that_cannot_be_published_is_refused() {
        assert_eq!(text(b"a\nb", 9), Err(CellErrorCode::ControlCharacter));
        assert_eq!(
            text("ä\u{85}b".as_bytes(), 9),
            Err(CellErrorCode::ControlCharacter)
        );
        assert_eq!(text(b"\xc3", 9), Err(CellErrorCode::NotUtf8));
        assert_eq!(text(b"abcd", 3), Err(CellErrorCode::CellTooLong));
        assert_eq!(text(b"abc", 3), Ok("abc"));
    }

    proptest::proptest! {
        #[test]
        fn one_integer_has_one_text(value: i64, zeros in 0_usize..4) {
            let sign = if value < 0 { "-" } else { "" };
            let written = format!("{sign}{}{}", "0".repeat(zeros), value.unsigned_abs());
            let read = integer(written.as_bytes());
            proptest::prop_assert_eq!(read, Some(value));
            let text = integer_rewritten(written.as_bytes(), value).unwrap_or(written);
            proptest::prop_assert_eq!(text, value.to_string());
        }

        #[test]
        fn one_decimal_has_one_text(digits in "-?[0-9]{1,9}(\\.[0-9]{0,9})?(e-?[0-9]{1,2})?") {
            let value = decimal(digits.as_bytes()).unwrap();
            let text = decimal_rewritten(digits.as_bytes(), value).unwrap_or(digits);
            proptest::prop_assert_eq!(text, decimal_text(value));
        }
    }
}
