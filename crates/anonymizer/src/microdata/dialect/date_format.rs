//! Forms in which days are written, such as `DD.MM.YYYY`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::microdata::value_text::days_of;

/// Characters in a form.
const CHARACTERS_MAX: usize = 40;
/// The names of months, in the languages of the programs that write them, by
/// their first three letters.
const MONTHS: [&[&str]; 12] = [
    &["jan"],
    &["feb"],
    &["mar", "mär", "mrz"],
    &["apr"],
    &["may", "mai"],
    &["jun"],
    &["jul"],
    &["aug"],
    &["sep"],
    &["oct", "okt"],
    &["nov"],
    &["dec", "dez"],
];

/// A form in which days are written.
///
/// `YYYY` is a year of four digits, `YY` of two; `MM` and `DD` are two digits,
/// `M` and `D` one or two; `MMM` is the first three letters of a month's name in
/// English or German. Behind the day a time may stand: `hh`, `h`, `mm`, `ss`,
/// `f` for the digits of a fraction, `AM` for AM or PM. `T`, `Z`, spaces and
/// signs stand for themselves.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DateFormat(String);

impl fmt::Display for DateFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// One part of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Of so many digits.
    Year(usize),
    /// Of two digits, or of one or two.
    Month(bool),
    /// The first letters of its name.
    MonthName,
    Day(bool),
    /// Of an hour, a minute or a second: below a bound, and of two digits or
    /// of one or two.
    Time(u32, bool),
    /// The digits of a fraction.
    Fraction,
    /// AM or PM.
    Half,
    /// A character that stands for itself.
    Is(char),
}

/// A form that cells are read by.
#[derive(Clone, Debug)]
pub struct DatePattern {
    parts: Vec<Part>,
    /// Where everything stands, if every part has its own number of bytes.
    places: Option<Places>,
    /// First year that two digits stand for.
    two_digit_years_from: u32,
}

/// Where the digits of a day stand in a cell.
#[derive(Clone, Debug)]
struct Places {
    length: usize,
    /// First digits of the year, of four, and of month and day, of two.
    year: usize,
    month: usize,
    day: usize,
    /// Bytes that stand for themselves.
    is: Vec<(usize, u8)>,
}

impl Places {
    fn of(parts: &[Part]) -> Option<Self> {
        let mut places = Self {
            length: 0,
            year: 0,
            month: 0,
            day: 0,
            is: Vec::new(),
        };
        for part in parts {
            let at = places.length;
            places.length += match *part {
                Part::Year(4) => {
                    places.year = at;
                    4
                }
                Part::Month(true) => {
                    places.month = at;
                    2
                }
                Part::Day(true) => {
                    places.day = at;
                    2
                }
                Part::Is(one) if one.is_ascii() => {
                    places.is.push((at, one as u8));
                    1
                }
                _ => return None,
            };
        }
        Some(places)
    }

    fn read(&self, cell: &[u8]) -> Option<[u32; 3]> {
        if cell.len() != self.length || self.is.iter().any(|&(at, one)| cell[at] != one) {
            return None;
        }
        let number = |at: usize, digits: usize| {
            cell[at..at + digits].iter().try_fold(0, |number, digit| {
                digit
                    .is_ascii_digit()
                    .then(|| number * 10 + u32::from(digit - b'0'))
            })
        };
        Some([
            number(self.year, 4)?,
            number(self.month, 2)?,
            number(self.day, 2)?,
        ])
    }
}

impl DateFormat {
    /// The form of this text; whether it is one says [`Self::check`].
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether the form has a year of two digits; the error says, behind "a
    /// form", what is wrong with it.
    pub(super) fn check(&self) -> Result<bool, &'static str> {
        let parts = self.parts()?;
        let count = |wanted: fn(&Part) -> bool| parts.iter().filter(|part| wanted(part)).count();
        let years = count(|part| matches!(part, Part::Year(_)));
        let months = count(|part| matches!(part, Part::Month(_) | Part::MonthName));
        let days = count(|part| matches!(part, Part::Day(_)));
        if (years, months, days) == (1, 1, 1) {
            Ok(parts.contains(&Part::Year(2)))
        } else {
            Err("needs year, month and day once each, as in DD.MM.YYYY")
        }
    }

    /// Whether a time stands behind the day.
    pub(super) fn has_time(&self) -> bool {
        let parts = self.parts().unwrap_or_default();
        parts.iter().any(|part| matches!(part, Part::Time(..)))
    }

    /// The form for reading, made once for many cells; `from` is the first year
    /// that two digits mean. `None`: it is no form.
    pub fn pattern(&self, from: Option<u16>) -> Option<DatePattern> {
        let parts = self.parts().ok()?;
        Some(DatePattern {
            places: Places::of(&parts),
            parts,
            two_digit_years_from: u32::from(from.unwrap_or_default()),
        })
    }

    fn parts(&self) -> Result<Vec<Part>, &'static str> {
        if self.0.chars().count() > CHARACTERS_MAX {
            return Err("has more than 40 characters");
        }
        const WORDS: [(&str, Part); 14] = [
            ("YYYY", Part::Year(4)),
            ("YY", Part::Year(2)),
            ("MMM", Part::MonthName),
            ("MM", Part::Month(true)),
            ("M", Part::Month(false)),
            ("DD", Part::Day(true)),
            ("D", Part::Day(false)),
            ("hh", Part::Time(24, true)),
            ("h", Part::Time(24, false)),
            ("mm", Part::Time(60, true)),
            // A second that leaps is the sixty-first.
            ("ss", Part::Time(61, true)),
            ("f", Part::Fraction),
            ("AM", Part::Half),
            ("T", Part::Is('T')),
        ];
        let mut parts = Vec::new();
        let mut rest = self.0.as_str();
        while let Some(first) = rest.chars().next() {
            let word = WORDS.iter().find(|(word, _)| rest.starts_with(word));
            let (length, part) = match word {
                Some((word, part)) => (word.len(), *part),
                None if first == 'Z' || !(first.is_alphanumeric() || first.is_control()) => {
                    (first.len_utf8(), Part::Is(first))
                }
                None => {
                    return Err(
                        "has other parts than YYYY, YY, MMM, MM, M, DD, D, hh, h, mm, ss, f, AM, \
                         T, Z, spaces and signs",
                    );
                }
            };
            let takes_any = |part: &Part| {
                matches!(
                    part,
                    Part::Month(false) | Part::Day(false) | Part::Time(_, false) | Part::Fraction
                )
            };
            let is_digits = !matches!(part, Part::Is(_) | Part::Half | Part::MonthName);
            if is_digits && parts.last().is_some_and(takes_any) {
                return Err("has digits behind a part of one or two digits: write MM, DD and hh");
            }
            parts.push(part);
            rest = &rest[length..];
        }
        Ok(parts)
    }
}

impl DatePattern {
    /// The day of a cell of this form, in days since 1970-01-01, if it is one.
    pub fn day_of(&self, cell: &str) -> Option<i32> {
        days_of(self.read_bytes(cell.as_bytes())?)
    }

    /// The same as [`Self::read`] of bytes that may be no text.
    pub(super) fn read_bytes(&self, cell: &[u8]) -> Option<[u32; 3]> {
        match &self.places {
            Some(places) => places.read(cell),
            None => self.read(std::str::from_utf8(cell).ok()?),
        }
    }

    /// Year, month and day of a cell of this form; whether there is such a day
    /// is not checked.
    fn read(&self, cell: &str) -> Option<[u32; 3]> {
        let [mut year, mut month, mut day] = [0; 3];
        let mut rest = cell;
        for part in &self.parts {
            match *part {
                Part::Is(one) => rest = rest.strip_prefix(one)?,
                Part::Year(digits) => {
                    let number = number(&mut rest, digits, digits)?;
                    year = match digits {
                        4 => number,
                        _ => self.full_year(number),
                    };
                }
                Part::Month(two) => month = number(&mut rest, 1 + usize::from(two), 2)?,
                Part::MonthName => month = month_of(&mut rest)?,
                Part::Day(two) => day = number(&mut rest, 1 + usize::from(two), 2)?,
                Part::Time(bound, two) => {
                    number(&mut rest, 1 + usize::from(two), 2).filter(|&time| time < bound)?;
                }
                Part::Fraction => {
                    number(&mut rest, 1, 9)?;
                }
                Part::Half => {
                    let half = rest.get(..2)?;
                    let is_half =
                        half.eq_ignore_ascii_case("AM") || half.eq_ignore_ascii_case("PM");
                    rest = is_half.then_some(&rest[2..])?;
                }
            }
        }
        rest.is_empty().then_some([year, month, day])
    }

    /// The year of the hundred from the first one on that ends so.
    fn full_year(&self, two_digits: u32) -> u32 {
        let from = self.two_digit_years_from;
        let century = from / 100 * 100;
        if two_digits >= from % 100 {
            century + two_digits
        } else {
            century + 100 + two_digits
        }
    }
}

/// Takes a number of so many digits.
fn number(rest: &mut &str, least: usize, most: usize) -> Option<u32> {
    let bytes = rest.as_bytes().iter();
    let digits = bytes
        .take(most)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits < least {
        return None;
    }
    let (taken, behind) = rest.split_at(digits);
    *rest = behind;
    let taken = taken.bytes();
    Some(taken.fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
}

/// Takes the first three letters of a month's name; its number.
fn month_of(rest: &mut &str) -> Option<u32> {
    let end = rest.char_indices().nth(3).map_or(rest.len(), |(at, _)| at);
    let (name, behind) = rest.split_at(end);
    *rest = behind;
    let name = name.to_lowercase();
    let at = MONTHS
        .iter()
        .position(|names| names.contains(&name.as_str()))?;
    Some(at as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: &str, cell: &str) -> Option<[u32; 3]> {
        let form = DateFormat::new(form);
        form.check().unwrap();
        let pattern = form.pattern(Some(1930)).unwrap();
        let read = pattern.read(cell);
        assert_eq!(pattern.read_bytes(cell.as_bytes()), read, "{cell}");
        read
    }

    #[test]
    fn days_are_read_as_their_form_says_and_no_other() {
        for (form, cell, day) in [
            ("DD.MM.YYYY", "17.03.2026", Some([2026, 3, 17])),
            ("DD.MM.YYYY", "7.3.2026", None),
            ("D.M.YYYY", "7.3.2026", Some([2026, 3, 7])),
            ("D.M.YYYY", "17.03.2026", Some([2026, 3, 17])),
            ("D.M.YYYY", "117.03.2026", None),
            ("DD.MM.YYYY", "17.03.26", None),
            ("DD.MM.YYYY", "17.03.20260", None),
            ("DD.MM.YYYY", "17.03.2026 ", None),
            ("DD.MM.YYYY", "17/03/2026", None),
            ("DD.MM.YY", "17.03.29", Some([2029, 3, 17])),
            ("DD.MM.YY", "17.03.30", Some([1930, 3, 17])),
            ("YYYYMMDD", "20260317", Some([2026, 3, 17])),
            ("YYYYMMDD", "2026031", None),
            ("DDMMMYYYY", "17MAR2026", Some([2026, 3, 17])),
            ("DD. MMM YYYY", "17. Mär 2026", Some([2026, 3, 17])),
            ("DDMMMYYYY", "17MXR2026", None),
            ("D-MMM-YY", "7-Okt-99", Some([1999, 10, 7])),
            ("MM/DD/YYYY", "03/17/2026", Some([2026, 3, 17])),
            (
                "M/D/YYYY h:mm:ss AM",
                "3/7/2026 12:00:00 pm",
                Some([2026, 3, 7]),
            ),
            ("M/D/YYYY h:mm:ss AM", "3/7/2026 12:60:00 AM", None),
            (
                "YYYY-MM-DDThh:mm:ss.fZ",
                "2026-03-17T08:05:00.123Z",
                Some([2026, 3, 17]),
            ),
            ("YYYY-MM-DD hh:mm", "2026-03-17 24:00", None),
            ("YYYY-MM-DD hh:mm", "2026-03-17", None),
            ("DD.MM.YYYY", "", None),
            ("DD.MM.YYYY", "٣7.03.2026", None),
        ] {
            assert_eq!(read(form, cell), day, "{form} {cell}");
        }
    }

    #[test]
    fn forms_that_name_no_day_are_refused() {
        for form in [
            "",
            "MM.YYYY",
            "DD.MM",
            "DD.MM.YYYY YYYY",
            "DD.MM.MMM.YYYY",
            "dd.mm.yyyy",
            "DDth MM YYYY",
            "D.MYYYY",
            "DD.MM.YYYY 10:00",
            "DMMYYYY",
        ] {
            assert!(DateFormat::new(form).check().is_err(), "{form}");
        }
        assert_eq!(DateFormat::new("DD.MM.YY").check(), Ok(true));
        assert_eq!(DateFormat::new("YYYYMMDD").check(), Ok(false));
        assert!(
            DateFormat::new(format!("DD.MM.YYYY{}", " ".repeat(40)))
                .check()
                .is_err()
        );
    }
}
