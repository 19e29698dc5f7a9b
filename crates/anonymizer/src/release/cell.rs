//! One published cell and its text form.
//!
//! Text (releases.md): interval `lo..hi` (`v` when both ends are equal), a
//! hierarchy node by its label, a set as `{a|b}`, a missing number or date as
//! `(missing)`, one that is missing or in an interval as `{(missing)|lo..hi}`,
//! masked `*`, nothing where
//! the value is in a bucket, a fingerprint as `A|b2`, where neighbouring nodes
//! that were joined stand as a set, `{A|B}|c`. So that every text
//! reads back as one cell, the characters `\ { | }` inside members of sets
//! and fingerprints, a leading `{` or `\` of a label, and a *leaf* called `*`
//! are written with a backslash before them.
//!
//! The text is canonical: a cell has one text, and [`Cell::parse`] takes no
//! other (no `007`, no `5..5`, no set out of order), so that nothing can hide
//! in the way a value is written. Labels are never empty.

use crate::microdata::AttributeType;
use crate::microdata::value_text::{MISSING_LABEL, date_days, date_text, decimal_text};

use super::error::{WireError, WireFault};
use super::table::Content;

/// What stands before the interval of a value that may be missing instead.
pub(super) const OR_MISSING: &str = "{(missing)|";

/// One published cell.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum Cell {
    /// The value is in the bucket named beside the cell, or there is none.
    Empty,
    /// Any value (also the hierarchy root labelled `*`).
    Masked,
    /// Whole numbers from lo to hi, both included.
    Integer(i64, i64),
    /// Numbers from lo to hi, both included.
    Decimal(f64, f64),
    /// Days (since 1970-01-01) from lo to hi, both included.
    Date(i32, i32),
    /// A category: a leaf, or a node of the hierarchy; in columns of numbers
    /// and days nothing but [`MISSING_LABEL`].
    Label(String),
    /// Categories, one of which is the value; ascending by bytes, at least two.
    Set(Vec<String>),
    /// A fingerprint: nodes that all belong to the subject; ascending.
    Items(Vec<Item>),
    /// A number or day that is missing, or lies in the interval inside.
    OrMissing(Box<Cell>),
}

/// One member of a fingerprint: the subject has a value under it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// A node of the hierarchy.
    Node(String),
    /// Neighbouring nodes that were joined: the value lies under one of them.
    /// Ascending by bytes, at least two.
    Union(Vec<String>),
}

impl Item {
    /// The member's text as it stands alone, in formats with lists: a node by
    /// its label, a union as a set. A label that begins like a set has a
    /// backslash before it.
    pub fn text(&self) -> String {
        let mut out = String::new();
        match self {
            Self::Node(label) => {
                if label.starts_with(['{', '\\']) {
                    out.push('\\');
                }
                out.push_str(label);
            }
            Self::Union(labels) => {
                out.push('{');
                write_members(&mut out, labels);
                out.push('}');
            }
        }
        out
    }

    /// Reads what [`Item::text`] writes; none for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_prefix('\\') {
            Some(label) if label.starts_with(['{', '\\']) => Some(Self::Node(label.into())),
            Some(_) => None,
            None if text.starts_with('{') => read_set(text).ok().map(Self::Union),
            None if text.is_empty() => None,
            None => Some(Self::Node(text.into())),
        }
    }
}

impl Cell {
    /// Appends the cell's text form, without any quoting of CSV or JSON.
    pub fn text(&self, out: &mut String) {
        match self {
            Self::Empty => {}
            Self::Masked => out.push('*'),
            Self::Integer(lo, hi) => interval(out, lo, hi, lo == hi),
            Self::Decimal(lo, hi) => {
                interval(out, decimal_text(*lo), decimal_text(*hi), lo == hi);
            }
            Self::Date(lo, hi) => interval(out, date_text(*lo), date_text(*hi), lo == hi),
            Self::Label(label) => {
                if label == "*" || label.starts_with(['{', '\\']) {
                    out.push('\\');
                }
                out.push_str(label);
            }
            Self::Set(labels) => {
                out.push('{');
                write_members(out, labels);
                out.push('}');
            }
            Self::Items(items) => match items.as_slice() {
                [Item::Node(only)] if only == "*" => out.push_str("\\*"),
                _ => write_items(out, items),
            },
            Self::OrMissing(interval) => {
                out.push_str(OR_MISSING);
                interval.text(out);
                out.push('}');
            }
        }
    }

    /// The missing value of numbers and dates.
    pub fn missing() -> Self {
        Self::Label(MISSING_LABEL.into())
    }

    /// Whether the cell says that the value is missing.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Label(label) if label == MISSING_LABEL)
    }

    /// The interval of numbers or days that the cell names, and whether the
    /// value may be missing instead; `None` for any other cell.
    pub fn interval(&self) -> Option<(&Self, bool)> {
        match self {
            Self::Integer(..) | Self::Decimal(..) | Self::Date(..) => Some((self, false)),
            Self::OrMissing(interval) => Some((interval, true)),
            _ => None,
        }
    }

    /// Reads a cell's text in a column of `content` whose attribute has the
    /// type `kind` (none: categorical).
    ///
    /// # Errors
    /// A fault without a place if the text is not the one that
    /// [`Cell::text`] writes for a cell of such a column. Columns of numbers
    /// (groups, blocks, buckets, counts) hold no cells: `CellUnfit`.
    pub fn parse(
        text: &str,
        content: Content,
        kind: Option<AttributeType>,
    ) -> Result<Self, WireError> {
        match (content, text) {
            (
                Content::Group
                | Content::Block
                | Content::Bucket
                | Content::Count
                | Content::Counterfeits
                | Content::Column,
                _,
            ) => Err(WireFault::CellUnfit.into()),
            (_, "") => Ok(Self::Empty),
            (_, "*") => Ok(Self::Masked),
            (Content::Fingerprint, _) => Ok(Self::Items(read_items(text)?)),
            (Content::Attribute, _) => Ok(Self::Label(read_label(text)?)),
            (Content::Generalized | Content::Exact | Content::Value, _) => {
                Self::parse_attribute(text, kind)
            }
        }
    }

    fn parse_attribute(text: &str, kind: Option<AttributeType>) -> Result<Self, WireError> {
        let is_number = !matches!(kind, Some(AttributeType::Categorical) | None);
        if is_number && text == MISSING_LABEL {
            return Ok(Self::missing());
        }
        let inside = text.strip_prefix(OR_MISSING);
        if let Some(interval) = inside.and_then(|rest| rest.strip_suffix('}'))
            && is_number
        {
            let interval = Self::parse_interval(interval, kind)?;
            return Ok(Self::OrMissing(Box::new(interval)));
        }
        Self::parse_interval(text, kind)
    }

    fn parse_interval(text: &str, kind: Option<AttributeType>) -> Result<Self, WireError> {
        match kind {
            Some(AttributeType::Integer) => {
                let (lo, hi) = read_interval(text, read_integer).ok_or(WireFault::NotAnInteger)?;
                Ok(Self::Integer(lo, hi))
            }
            Some(AttributeType::Decimal) => {
                let (lo, hi) = read_interval(text, read_decimal).ok_or(WireFault::NotADecimal)?;
                Ok(Self::Decimal(lo, hi))
            }
            Some(AttributeType::Date) => {
                let (lo, hi) = read_interval(text, date_days).ok_or(WireFault::NotADate)?;
                Ok(Self::Date(lo, hi))
            }
            Some(AttributeType::Categorical) | None if text.starts_with('{') => {
                Ok(Self::Set(read_set(text)?))
            }
            Some(AttributeType::Categorical) | None => Ok(Self::Label(read_label(text)?)),
        }
    }
}

fn interval<T: ToString>(out: &mut String, lo: T, hi: T, one: bool) {
    out.push_str(&lo.to_string());
    if !one {
        out.push_str("..");
        out.push_str(&hi.to_string());
    }
}

fn write_members(out: &mut String, labels: &[String]) {
    for (position, label) in labels.iter().enumerate() {
        if position > 0 {
            out.push('|');
        }
        write_member(out, label);
    }
}

fn write_member(out: &mut String, label: &str) {
    for character in label.chars() {
        if matches!(character, '\\' | '{' | '|' | '}') {
            out.push('\\');
        }
        out.push(character);
    }
}

fn write_items(out: &mut String, items: &[Item]) {
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            out.push('|');
        }
        match item {
            Item::Node(label) => write_member(out, label),
            Item::Union(_) => out.push_str(&item.text()),
        }
    }
}

fn read_interval<T: PartialOrd>(text: &str, end: impl Fn(&str) -> Option<T>) -> Option<(T, T)> {
    match text.split_once("..") {
        None => Some((end(text)?, end(text)?)),
        Some((lo, hi)) => {
            let (lo, hi) = (end(lo)?, end(hi)?);
            (lo < hi).then_some((lo, hi))
        }
    }
}

fn read_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let padded = digits.starts_with('0') && text != "0";
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    if padded || !plain {
        return None;
    }
    text.parse().ok()
}

fn read_decimal(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    (value.is_finite() && decimal_text(value) == text).then_some(value)
}

fn read_label(text: &str) -> Result<String, WireFault> {
    match text.strip_prefix('\\') {
        Some(label) if label == "*" || label.starts_with(['{', '\\']) => Ok(label.into()),
        None if !text.starts_with('{') => Ok(text.into()),
        _ => Err(WireFault::NotALabel),
    }
}

fn read_set(text: &str) -> Result<Vec<String>, WireFault> {
    let inside = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    inside
        .and_then(read_members)
        .filter(|labels| labels.len() >= 2)
        .ok_or(WireFault::NotASet)
}

fn read_items(text: &str) -> Result<Vec<Item>, WireFault> {
    match text {
        "\\*" => Ok(vec![Item::Node("*".into())]),
        _ => read_each_item(text).ok_or(WireFault::NotAFingerprint),
    }
}

/// Items parted by `|`; none unless they ascend strictly.
fn read_each_item(text: &str) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    let mut rest = text;
    loop {
        let length = item_length(rest);
        let (own, behind) = rest.split_at(length);
        items.push(if own.starts_with('{') {
            Item::Union(read_set(own).ok()?)
        } else {
            Item::Node(match read_members(own)?.as_slice() {
                [only] => only.clone(),
                _ => return None,
            })
        });
        match behind.strip_prefix('|') {
            Some(next) => rest = next,
            None => break,
        }
    }
    items
        .windows(2)
        .all(|pair| pair[0] < pair[1])
        .then_some(items)
}

/// Bytes up to the first `|` that is neither escaped nor inside a set.
fn item_length(text: &str) -> usize {
    let (mut is_escaped, mut is_inside) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'{' => is_inside = true,
            b'}' => is_inside = false,
            b'|' if !is_inside => return at,
            _ => {}
        }
    }
    text.len()
}

/// Members parted by `|`, unescaped; none unless they ascend strictly and
/// none is empty.
fn read_members(text: &str) -> Option<Vec<String>> {
    let mut labels = Vec::new();
    let mut label = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next()? {
                escaped @ ('\\' | '{' | '|' | '}') => label.push(escaped),
                _ => return None,
            },
            '|' => labels.push(std::mem::take(&mut label)),
            '{' | '}' => return None,
            plain => label.push(plain),
        }
    }
    labels.push(label);
    let ascending = labels.windows(2).all(|pair| pair[0] < pair[1]);
    let filled = labels.iter().all(|label| !label.is_empty());
    (ascending && filled).then_some(labels)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::release::tests::strategies::{any_cell, hostile_label};
    use AttributeType::{Categorical, Date, Decimal, Integer};

    fn text(cell: &Cell) -> String {
        let mut out = String::new();
        cell.text(&mut out);
        out
    }

    proptest! {
        #[test]
        fn every_cell_reads_back_as_itself((cell, content, kind) in any_cell()) {
            let text = text(&cell);
            prop_assert_eq!(Cell::parse(&text, content, kind), Ok(cell));
        }

        #[test]
        fn every_text_that_reads_is_the_one_text_of_its_cell(
            written in prop_oneof![hostile_label(), "[0-9.-]{1,8}", "[0-9]{4}-[0-9]{2}-[0-9]{2}"],
            content in prop::sample::select(
                vec![Content::Generalized, Content::Fingerprint, Content::Attribute]),
            kind in prop::sample::select(
                vec![None, Some(Integer), Some(Decimal), Some(Date), Some(Categorical)]),
        ) {
            if let Ok(cell) = Cell::parse(&written, content, kind) {
                prop_assert_eq!(text(&cell), written);
            }
        }
    }

    #[test]
    fn cells_are_written_as_the_design_says() {
        let labels = |names: &[&str]| names.iter().map(|&name| name.into()).collect();
        let node = |name: &str| Item::Node(name.into());
        let cases = [
            (Cell::Empty, ""),
            (Cell::Masked, "*"),
            (Cell::Integer(-5, 30), "-5..30"),
            (Cell::Integer(7, 7), "7"),
            (Cell::Decimal(0.5, 2.0), "0.5..2"),
            (Cell::Decimal(-0.0, 0.0), "0"),
            (Cell::Date(0, 31), "1970-01-01..1970-02-01"),
            (Cell::Label("Bachelors".into()), "Bachelors"),
            (Cell::Label("a|b}".into()), "a|b}"),
            (Cell::Label("{a".into()), "\\{a"),
            (Cell::Label("\\a".into()), "\\\\a"),
            (Cell::Label("*".into()), "\\*"),
            (Cell::Label("*b".into()), "*b"),
            (Cell::Set(labels(&["a", "b|c"])), "{a|b\\|c}"),
            (Cell::missing(), "(missing)"),
            (
                Cell::OrMissing(Box::new(Cell::Integer(-5, 30))),
                "{(missing)|-5..30}",
            ),
            (
                Cell::OrMissing(Box::new(Cell::Date(0, 0))),
                "{(missing)|1970-01-01}",
            ),
            (Cell::Items(vec![node("A"), node("b2")]), "A|b2"),
            (Cell::Items(vec![node("*")]), "\\*"),
            (
                Cell::Items(vec![node("c"), Item::Union(labels(&["A", "B|"]))]),
                "c|{A|B\\|}",
            ),
        ];
        for (cell, expected) in cases {
            assert_eq!(text(&cell), expected);
        }
    }

    #[test]
    fn texts_in_another_form_are_refused() {
        let refused = [
            ("007", Some(Integer), WireFault::NotAnInteger),
            ("+7", Some(Integer), WireFault::NotAnInteger),
            ("-0", Some(Integer), WireFault::NotAnInteger),
            ("5..5", Some(Integer), WireFault::NotAnInteger),
            ("6..5", Some(Integer), WireFault::NotAnInteger),
            (
                "9223372036854775808",
                Some(Integer),
                WireFault::NotAnInteger,
            ),
            ("1.50", Some(Decimal), WireFault::NotADecimal),
            ("-0", Some(Decimal), WireFault::NotADecimal),
            ("1e3", Some(Decimal), WireFault::NotADecimal),
            ("NaN", Some(Decimal), WireFault::NotADecimal),
            ("inf", Some(Decimal), WireFault::NotADecimal),
            ("2020-02-30", Some(Date), WireFault::NotADate),
            ("{(missing)}", Some(Integer), WireFault::NotAnInteger),
            ("{(missing)|}", Some(Integer), WireFault::NotAnInteger),
            ("{5|(missing)}", Some(Integer), WireFault::NotAnInteger),
            ("{(missing)|007}", Some(Integer), WireFault::NotAnInteger),
            ("{(missing)|5..5}", Some(Decimal), WireFault::NotADecimal),
            ("{(missing)|(missing)}", Some(Date), WireFault::NotADate),
            (
                "{(missing)|{(missing)|5}}",
                Some(Integer),
                WireFault::NotAnInteger,
            ),
            ("\\a", Some(Categorical), WireFault::NotALabel),
            ("{a}", Some(Categorical), WireFault::NotASet),
            ("{b|a}", Some(Categorical), WireFault::NotASet),
            ("{a|a}", Some(Categorical), WireFault::NotASet),
            ("{a|}", Some(Categorical), WireFault::NotASet),
            ("{a|b\\}", Some(Categorical), WireFault::NotASet),
        ];
        for (text, kind, fault) in refused {
            let parsed = Cell::parse(text, Content::Generalized, kind);
            assert_eq!(parsed, Err(fault.into()), "{text}");
        }
        for text in [
            "b|a", "a|", "{a}", "{b|a}", "{a|b}|c", "a{b", "{a|b}c", "{a|b",
        ] {
            let items = Cell::parse(text, Content::Fingerprint, None);
            assert_eq!(items, Err(WireFault::NotAFingerprint.into()), "{text}");
        }
        let number = Cell::parse("1", Content::Group, None);
        assert_eq!(number, Err(WireFault::CellUnfit.into()));
    }
}
