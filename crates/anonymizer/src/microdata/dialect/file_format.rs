//! What a schema says of the form of its files and of their cells.

use serde::{Deserialize, Deserializer, Serialize};

use super::date_format::DateFormat;
use crate::microdata::attribute::{Attribute, AttributeType, Role, check_words};

/// Formats of days that a file or an attribute may have.
const DATES_MAX: usize = 8;

/// How the bytes of a text file are characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Encoding {
    /// UTF-8.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// Windows-1252, of which ISO 8859-1 is a part.
    #[serde(rename = "windows-1252", alias = "iso-8859-1")]
    Windows1252,
    /// ISO 8859-15.
    #[serde(rename = "iso-8859-15")]
    Latin9,
    /// UTF-16, the byte order as its mark says; little end first without one.
    #[serde(rename = "utf-16")]
    Utf16,
}

/// What stands around a cell that holds a delimiter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quote {
    /// `"`, doubled inside a cell.
    #[default]
    #[serde(rename = "\"")]
    Double,
    /// `'`, doubled inside a cell.
    #[serde(rename = "'")]
    Single,
    /// Nothing: a quote is a character as any other.
    #[serde(rename = "none")]
    None,
}

impl Quote {
    /// The byte, where there is one.
    pub fn byte(self) -> Option<u8> {
        match self {
            Self::Double => Some(b'"'),
            Self::Single => Some(b'\''),
            Self::None => None,
        }
    }
}

/// The sign before the fraction of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecimalSign {
    /// `1.5`.
    #[default]
    #[serde(rename = ".")]
    Point,
    /// `1,5`.
    #[serde(rename = ",")]
    Comma,
}

/// The sign between groups of three digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Thousands {
    /// `1.234`.
    #[serde(rename = ".")]
    Point,
    /// `1,234`.
    #[serde(rename = ",")]
    Comma,
    /// `1 234`, with a plain or a thin space, or one that does not break.
    #[serde(rename = " ")]
    Space,
    /// `1'234`.
    #[serde(rename = "'")]
    Apostrophe,
}

impl Thousands {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Point, Self::Comma, Self::Space, Self::Apostrophe];

    /// The signs that are taken for it, the plain one first.
    pub fn signs(self) -> &'static [&'static str] {
        match self {
            Self::Point => &["."],
            Self::Comma => &[","],
            // Plain, not breaking, thin, and thin and not breaking.
            Self::Space => &[" ", "\u{a0}", "\u{2009}", "\u{202f}"],
            Self::Apostrophe => &["'", "\u{2019}"],
        }
    }
}

/// How a text file of a dataset is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileFormat {
    /// Between cells of CSV; `,` where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// Around cells of CSV.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub quote: Quote,
    /// Of CSV; JSON is UTF-8.
    #[serde(
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "is_default"
    )]
    pub encoding: Encoding,
    /// In numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<DecimalSign>,
    /// In numbers; none where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thousands: Option<Thousands>,
    /// Forms of days, tried in order; `YYYY-MM-DD` where nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dates: Vec<DateFormat>,
    /// First year that two digits stand for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two_digit_years_from: Option<u16>,
    /// Texts of cells that stand for a missing value, beside the empty one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_values: Vec<String>,
}

/// How the cells of one attribute are written, where they differ from the
/// file's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellFormat {
    /// In numbers; the file's where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<DecimalSign>,
    /// In numbers. Where the attribute names its decimal sign, it names this
    /// as well, or there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thousands: Option<Thousands>,
    /// Forms of days; the file's where nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dates: Vec<DateFormat>,
    /// First year that two digits stand for; the file's where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two_digit_years_from: Option<u16>,
    /// Whether `90+` and `<5` stand for their bounds, 90 and 5.
    #[serde(default, skip_serializing_if = "is_default")]
    pub open_ended: bool,
    /// Words that are read as `true`.
    #[serde(rename = "true", default, skip_serializing_if = "Vec::is_empty")]
    pub true_words: Vec<String>,
    /// Words that are read as `false`.
    #[serde(rename = "false", default, skip_serializing_if = "Vec::is_empty")]
    pub false_words: Vec<String>,
}

/// Null says nothing.
pub(in crate::microdata) fn or_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl FileFormat {
    /// The byte between cells.
    pub fn delimiter_byte(&self) -> u8 {
        let byte = self
            .delimiter
            .and_then(|delimiter| u8::try_from(delimiter).ok());
        byte.unwrap_or(b',')
    }

    /// What contradicts itself, in words.
    pub(in crate::microdata) fn check(&self) -> Result<(), String> {
        let is_delimiter = |one: char| match one {
            '\t' => true,
            '"' | '\'' | '.' | '-' | '+' | '_' | ' ' => false,
            one => one.is_ascii_punctuation(),
        };
        if !self.delimiter.is_none_or(is_delimiter) {
            return Err(
                "format: the delimiter is a tab or an ASCII sign that no number, day or quote has"
                    .into(),
            );
        }
        check_numbers("format", self.decimal, self.thousands)?;
        check_dates("format", &self.dates, self.two_digit_years_from)?;
        check_words("format", &self.missing_values)
    }
}

impl CellFormat {
    /// What contradicts itself or does not fit the attribute, in words.
    pub(in crate::microdata) fn check(
        &self,
        place: &str,
        attribute: &Attribute,
        file: &FileFormat,
    ) -> Result<(), String> {
        let kind = match attribute.role {
            Role::Identifier | Role::Ignore => None,
            _ => attribute.kind,
        };
        let is_number = matches!(kind, Some(AttributeType::Integer | AttributeType::Decimal));
        let of_numbers = self.decimal.is_some() || self.thousands.is_some() || self.open_ended;
        let of_days = !self.dates.is_empty() || self.two_digit_years_from.is_some();
        let of_words = !self.true_words.is_empty() || !self.false_words.is_empty();
        for (is_said, fits, what) in [
            (
                of_numbers,
                is_number,
                "decimal, thousands and open_ended are for integers and decimals",
            ),
            (
                of_days,
                kind == Some(AttributeType::Date),
                "dates and two_digit_years_from are for dates",
            ),
            (
                of_words,
                kind == Some(AttributeType::Categorical),
                "true and false are for categories",
            ),
        ] {
            if is_said && !fits {
                return Err(format!("{place}: in format, {what}"));
            }
        }
        let (decimal, thousands) = self.numbers(file);
        check_numbers(place, decimal, thousands)?;
        let (dates, from) = self.days(file);
        check_dates(place, dates, from)?;
        check_words(place, &self.true_words)?;
        check_words(place, &self.false_words)?;
        let both = |word: &String| self.false_words.contains(word);
        if self.true_words.iter().any(both) {
            return Err(format!("{place}: one word is true and false"));
        }
        Ok(())
    }

    /// The signs of numbers, the file's where the attribute says nothing.
    pub(super) fn numbers(&self, file: &FileFormat) -> (Option<DecimalSign>, Option<Thousands>) {
        match self.decimal {
            Some(sign) => (Some(sign), self.thousands),
            None => (file.decimal, self.thousands.or(file.thousands)),
        }
    }

    /// Whether a time behind the day is left out.
    pub(in crate::microdata) fn leaves_out_time(&self, file: &FileFormat) -> bool {
        self.days(file).0.iter().any(DateFormat::has_time)
    }

    /// The forms of days, the file's where the attribute says nothing.
    pub(super) fn days<'f>(&'f self, file: &'f FileFormat) -> (&'f [DateFormat], Option<u16>) {
        let dates = if self.dates.is_empty() {
            &file.dates
        } else {
            &self.dates
        };
        let from = self.two_digit_years_from.or(file.two_digit_years_from);
        (dates, from)
    }
}

fn check_numbers(
    place: &str,
    decimal: Option<DecimalSign>,
    thousands: Option<Thousands>,
) -> Result<(), String> {
    match (decimal.unwrap_or_default(), thousands) {
        (DecimalSign::Point, Some(Thousands::Point))
        | (DecimalSign::Comma, Some(Thousands::Comma)) => Err(format!(
            "{place}: decimal and thousands are one sign; name both, as in \"decimal\": \",\", \
             \"thousands\": \".\""
        )),
        _ => Ok(()),
    }
}

fn check_dates(place: &str, dates: &[DateFormat], from: Option<u16>) -> Result<(), String> {
    if dates.len() > DATES_MAX {
        return Err(format!("{place}: more than {DATES_MAX} dates"));
    }
    for date in dates {
        let needs_from = date
            .check()
            .map_err(|what| format!("{place}: a form in dates {what}"))?;
        if needs_from && from.is_none() {
            return Err(format!(
                "{place}: a form in dates has two digits for the year: name the first year that \
                 they can mean, as in \"two_digit_years_from\": 1930"
            ));
        }
    }
    if from.is_some_and(|from| !(1..=9900).contains(&from)) {
        return Err(format!(
            "{place}: two_digit_years_from is a year from 1 to 9900"
        ));
    }
    Ok(())
}
