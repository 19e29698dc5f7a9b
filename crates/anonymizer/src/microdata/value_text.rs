//! Numbers, days and missing values as texts.

use chrono::NaiveDate;

/// 1900-01-01 and 9999-12-31, which many programs write where no day is known or
/// nothing ends, in days since 1970-01-01.
pub const DAYS_FOR_NONE: [i32; 2] = [-25_567, 2_932_896];

/// The value that stands for an empty cell under the policy `category`, in
/// attributes of every type.
pub const MISSING_LABEL: &str = "(missing)";

/// Shortest text that reads back as the same number.
pub fn decimal_text(value: f64) -> String {
    // Negative zero equals zero; one text for one value.
    if value == 0.0 {
        "0".into()
    } else {
        format!("{value}")
    }
}

/// ISO 8601 text of a day counted from 1970-01-01.
pub fn date_text(days: i32) -> String {
    match NaiveDate::from_epoch_days(days) {
        Some(date) => date.format("%Y-%m-%d").to_string(),
        None => format!("day {days}"),
    }
}

/// Days since 1970-01-01 of an ISO 8601 day (`YYYY-MM-DD`) of the years 0001
/// to 9999.
pub fn date_days(text: &str) -> Option<i32> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
        return None;
    };
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0_u32, |sum, digit| {
            digit
                .is_ascii_digit()
                .then(|| sum * 10 + u32::from(digit - b'0'))
        })
    };
    days_of([
        number(&[y1, y2, y3, y4])?,
        number(&[m1, m2])?,
        number(&[d1, d2])?,
    ])
}

/// Days since 1970-01-01 of a year from 1 to 9999, a month and a day, if there is
/// such a day.
pub fn days_of([year, month, day]: [u32; 3]) -> Option<i32> {
    let year = i32::try_from(year)
        .ok()
        .filter(|year| (1..=9999).contains(year))?;
    let date = NaiveDate::from_ymd_opt(year, month, day)?;
    Some(date.to_epoch_days())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_in_one_form_only_and_come_back_in_it() {
        for text in ["0001-01-01", "1969-12-31", "2024-02-29", "9999-12-31"] {
            assert_eq!(date_text(date_days(text).unwrap()), text);
        }
        assert_eq!(date_days("1970-01-01"), Some(0));
        for text in [
            "",
            "2023-02-29",
            "0000-01-01",
            "12024-1-01",
            "-2024-1-01",
            "2024-1-001",
            "2024/01/01",
            "2024-13-01",
            "2024-01-00",
            "20240101",
            "2024-01-01T",
            "２024-01-1",
        ] {
            assert_eq!(date_days(text), None, "{text}");
        }
    }
}
