//! Cells in the dialect of their file as canonical cells.
//!
//! What the dialect does not allow is refused by the column behind: as it is
//! where that would not take it, and as [`REFUSED`] where it would, since a
//! `1.5` in a file of decimal commas may be 15.

use super::date_format::DatePattern;
use super::file_format::{CellFormat, DecimalSign, FileFormat, Thousands};
use crate::microdata::attribute::{Attribute, AttributeType, Role};
use crate::microdata::cell::decimal;
use crate::microdata::index::AttributeIndex;
use crate::microdata::schema::Schema;
use crate::microdata::value_text::date_days;

/// A cell that is no number, no day and no text.
const REFUSED: &[u8] = b"\0";

/// For each attribute what its cells mean, where they are text.
pub(in crate::microdata) struct CellRules {
    /// Empty where every cell stands for itself.
    attributes: Vec<CellRule>,
}

/// What the cells of one attribute mean.
#[derive(Default)]
struct CellRule {
    /// Cells that stand for a missing value.
    missing: Vec<Box<[u8]>>,
    /// Those of the attribute alone, which may be canonical texts too.
    missing_values: Vec<Box<[u8]>>,
    form: Form,
}

/// How a cell becomes canonical.
#[derive(Default)]
enum Form {
    #[default]
    AsItIs,
    Number(NumberForm),
    Day(Vec<DatePattern>),
    /// Words for `true`, and for `false`.
    Truth([Vec<Box<[u8]>>; 2]),
}

struct NumberForm {
    decimal: DecimalSign,
    thousands: Option<Thousands>,
    is_open_ended: bool,
    is_whole: bool,
}

impl CellFormat {
    /// The number that a trimmed cell in this format is, fraction or not.
    pub fn number_of(&self, cell: &str) -> Option<f64> {
        let form = NumberForm {
            decimal: self.decimal.unwrap_or_default(),
            thousands: self.thousands,
            is_open_ended: self.open_ended,
            is_whole: false,
        };
        decimal(form.canonical(cell.as_bytes(), &mut Vec::new()))
    }
}

impl CellRules {
    /// The rules of a schema.
    pub fn of(schema: &Schema) -> Self {
        let file = schema.format();
        let attributes = schema.attributes().iter().zip(0..);
        let rules: Vec<CellRule> = attributes
            .map(|(attribute, at)| {
                // An identifier is text as it stands, but for a day that others
                // are counted from.
                let has_form = attribute.role != Role::Identifier
                    || schema.is_index_date(AttributeIndex::from_usize(at));
                CellRule::of(attribute, file, has_form)
            })
            .collect();
        let says_nothing = rules.iter().all(CellRule::is_nothing);
        Self {
            attributes: if says_nothing { Vec::new() } else { rules },
        }
    }

    /// A trimmed cell of the attribute at `at` in its canonical form, empty
    /// where it stands for a missing value; `room` is for one that is another
    /// text. A cell that is not written, but has its type from its format, is
    /// looked at for missing values alone.
    #[inline]
    pub fn canonical<'c>(
        &self,
        at: usize,
        cell: &'c [u8],
        (is_written, room): (bool, &'c mut Vec<u8>),
    ) -> &'c [u8] {
        match self.attributes.get(at) {
            None => cell,
            Some(rule) => rule.canonical(cell, is_written, room),
        }
    }
}

/// Whether the schema says how the cells of the attribute are written.
pub(in crate::microdata) fn says_form(attribute: &Attribute, file: &FileFormat) -> bool {
    !matches!(Form::of(attribute, file), Form::AsItIs)
}

/// How the cells of a number or a date are written, for people.
pub(in crate::microdata) fn expected_form(
    attribute: &Attribute,
    file: &FileFormat,
) -> Option<String> {
    let format = &attribute.format;
    let (decimal, thousands) = format.numbers(file);
    let group = thousands.map_or("", |thousands| thousands.signs()[0]);
    let sign = match decimal.unwrap_or_default() {
        DecimalSign::Point => ".",
        DecimalSign::Comma => ",",
    };
    let open = if format.open_ended { ", 90+ or <5" } else { "" };
    match attribute.kind? {
        AttributeType::Integer => Some(format!("a whole number, as in 1{group}234{open}")),
        AttributeType::Decimal => Some(format!("a number, as in 1{group}234{sign}5{open}")),
        AttributeType::Date => {
            let (dates, _) = format.days(file);
            let forms: Vec<String> = dates.iter().map(ToString::to_string).collect();
            Some(if forms.is_empty() {
                "a day that exists, as YYYY-MM-DD".into()
            } else {
                format!("a day that exists, as {}", forms.join(" or "))
            })
        }
        AttributeType::Categorical => None,
    }
}

fn bytes_of(words: &[String]) -> Vec<Box<[u8]>> {
    words.iter().map(|word| word.as_bytes().into()).collect()
}

fn is_one_of(words: &[Box<[u8]>], cell: &[u8]) -> bool {
    words.iter().any(|word| **word == *cell)
}

impl CellRule {
    fn of(attribute: &Attribute, file: &FileFormat, has_form: bool) -> Self {
        let missing_values = bytes_of(&attribute.missing_values);
        let mut missing = missing_values.clone();
        missing.extend(bytes_of(&file.missing_values));
        let form = if has_form {
            Form::of(attribute, file)
        } else {
            Form::AsItIs
        };
        Self {
            missing,
            missing_values,
            form,
        }
    }

    fn is_nothing(&self) -> bool {
        self.missing.is_empty() && matches!(self.form, Form::AsItIs)
    }

    fn canonical<'c>(&self, cell: &'c [u8], is_written: bool, room: &'c mut Vec<u8>) -> &'c [u8] {
        if is_one_of(&self.missing, cell) {
            return &[];
        }
        // A number of JSON is a category's text as well.
        let stands = is_written || matches!(self.form, Form::Truth(_));
        if cell.is_empty() || !stands {
            return cell;
        }
        let canonical = match &self.form {
            Form::AsItIs => return cell,
            Form::Number(form) => form.canonical(cell, room),
            Form::Day(patterns) => canonical_day(patterns, cell, room),
            Form::Truth([true_words, false_words]) => match cell {
                _ if is_one_of(true_words, cell) => &b"true"[..],
                _ if is_one_of(false_words, cell) => b"false",
                _ => cell,
            },
        };
        // A word may be the day as it is published; of numbers `1.000` may be two.
        if matches!(self.form, Form::Day(_)) && is_one_of(&self.missing_values, canonical) {
            &[]
        } else {
            canonical
        }
    }
}

impl Form {
    fn of(attribute: &Attribute, file: &FileFormat) -> Self {
        let format = &attribute.format;
        match attribute.kind {
            Some(kind @ (AttributeType::Integer | AttributeType::Decimal)) => {
                let (sign, thousands) = format.numbers(file);
                let form = NumberForm {
                    decimal: sign.unwrap_or_default(),
                    thousands,
                    is_open_ended: format.open_ended,
                    is_whole: kind == AttributeType::Integer,
                };
                if form.is_nothing() {
                    Self::AsItIs
                } else {
                    Self::Number(form)
                }
            }
            Some(AttributeType::Date) => {
                let (dates, from) = format.days(file);
                let patterns: Vec<_> = dates.iter().filter_map(|date| date.pattern(from)).collect();
                if patterns.is_empty() {
                    Self::AsItIs
                } else {
                    Self::Day(patterns)
                }
            }
            Some(AttributeType::Categorical) => {
                let words = [&format.true_words, &format.false_words];
                if words.iter().all(|words| words.is_empty()) {
                    Self::AsItIs
                } else {
                    Self::Truth(words.map(|words| bytes_of(words)))
                }
            }
            None => Self::AsItIs,
        }
    }
}

fn canonical_day<'c>(patterns: &[DatePattern], cell: &'c [u8], room: &'c mut Vec<u8>) -> &'c [u8] {
    let day = patterns.iter().find_map(|pattern| pattern.read_bytes(cell));
    if let Some([year, month, day]) = day {
        let digit = |number: u32| b'0' + (number % 10) as u8;
        room.clear();
        room.extend_from_slice(&[
            digit(year / 1000),
            digit(year / 100),
            digit(year / 10),
            digit(year),
            b'-',
            digit(month / 10),
            digit(month),
            b'-',
            digit(day / 10),
            digit(day),
        ]);
        return room;
    }
    // The form is another one, in which the day may be another one.
    let text = std::str::from_utf8(cell).ok();
    if text.is_some_and(|text| date_days(text).is_some()) {
        REFUSED
    } else {
        cell
    }
}

impl NumberForm {
    fn is_nothing(&self) -> bool {
        let has_signs =
            self.thousands.is_some() || (self.decimal == DecimalSign::Comma && !self.is_whole);
        !has_signs && !self.is_open_ended
    }

    fn canonical<'c>(&self, cell: &'c [u8], room: &'c mut Vec<u8>) -> &'c [u8] {
        let bare = if self.is_open_ended {
            bound(cell)
        } else {
            cell
        };
        if self.push_usual(bare, room) || self.push_plain(bare, room).is_some() {
            room
        } else if decimal(cell).is_some() {
            // It would be read as a number, and perhaps as another one.
            REFUSED
        } else {
            cell
        }
    }

    /// Writes digits, perhaps behind a minus, with one sign of the fraction at
    /// most, as most numbers are; false where it is another one.
    #[inline]
    fn push_usual(&self, cell: &[u8], room: &mut Vec<u8>) -> bool {
        let sign = self.sign();
        room.clear();
        let mut has_sign = false;
        for (at, &byte) in cell.iter().enumerate() {
            match byte {
                b'0'..=b'9' => room.push(byte),
                b'-' if at == 0 => room.push(byte),
                _ if byte == sign && !has_sign => {
                    has_sign = true;
                    room.push(b'.');
                }
                _ => return false,
            }
        }
        true
    }

    fn sign(&self) -> u8 {
        match self.decimal {
            DecimalSign::Point => b'.',
            DecimalSign::Comma => b',',
        }
    }

    /// Writes the number with a point and without thousands, if it is written
    /// so.
    fn push_plain(&self, cell: &[u8], plain: &mut Vec<u8>) -> Option<()> {
        let sign = self.sign();
        let (whole, fraction) = match cell.iter().position(|&byte| byte == sign) {
            Some(at) => (&cell[..at], Some(&cell[at + 1..])),
            None => (cell, None),
        };
        plain.clear();
        match self.thousands {
            None => plain.extend_from_slice(whole),
            Some(thousands) => without(thousands, whole, plain)?,
        }
        if let Some(fraction) = fraction {
            plain.push(b'.');
            plain.extend_from_slice(fraction);
        }
        // What is left of other signs stands in no number.
        let is_plain =
            |&byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
        let points = plain.iter().filter(|&&byte| byte == b'.').count();
        let fits = points <= usize::from(fraction.is_some());
        (fits && plain.iter().all(is_plain)).then_some(())
    }
}

/// Adds the digits of a whole number without the signs between groups of
/// three; `None` where a group has other than three.
fn without(thousands: Thousands, whole: &[u8], plain: &mut Vec<u8>) -> Option<()> {
    let signs = thousands.signs();
    let digits = whole.strip_prefix(b"-").or(whole.strip_prefix(b"+"));
    let digits = digits.unwrap_or(whole);
    let has_sign = signs.iter().any(|sign| {
        digits
            .windows(sign.len())
            .any(|part| part == sign.as_bytes())
    });
    let is_odd = digits.starts_with(b"0") || digits.iter().any(|byte| matches!(byte, b'e' | b'E'));
    if has_sign && is_odd {
        // `0.500` and `1.2E+05` are fractions of another dialect.
        return None;
    }
    let mut rest = whole;
    // Digits since the last sign, of which the first group may have fewer.
    let mut group = 0;
    let mut is_first = true;
    while let [byte, behind @ ..] = rest {
        let sign = signs.iter().find(|sign| rest.starts_with(sign.as_bytes()));
        match sign {
            Some(sign) => {
                if !(group == 3 || (is_first && (1..=3).contains(&group))) {
                    return None;
                }
                is_first = false;
                group = 0;
                rest = &rest[sign.len()..];
            }
            None => {
                group += usize::from(byte.is_ascii_digit());
                plain.push(*byte);
                rest = behind;
            }
        }
    }
    (is_first || group == 3).then_some(())
}

/// The bound of an open-ended number such as `90+` or `<5`; another cell as it
/// is.
fn bound(cell: &[u8]) -> &[u8] {
    let Ok(text) = std::str::from_utf8(cell) else {
        return cell;
    };
    let signs = [">=", "<=", "≥", "≤", ">", "<"];
    let behind = signs.iter().find_map(|sign| text.strip_prefix(sign));
    let bound = behind.or_else(|| text.strip_suffix('+')).map(str::trim);
    match bound {
        Some(bound) if bound.ends_with(|last: char| last.is_ascii_digit()) => bound.as_bytes(),
        _ => cell,
    }
}

#[cfg(test)]
mod tests;
