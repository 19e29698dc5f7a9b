//! The members of NDJSON as they are written, before there is a schema.
//!
//! A member has its name, the text of its value, and what JSON says that the
//! value is; numbers are taken digit by digit, as a reader with a schema does.

use std::io::Read;
use std::ops::Range;

use super::super::error::TableError;
use super::super::json_text::{JsonText, Refusal, malformed};
use super::super::lines::{Line, Lines};

/// What JSON says that a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`.
    Null,
    /// A string.
    Text,
    /// A number without a fraction or an exponent.
    Whole,
    /// Any other number.
    Fraction,
    /// `true` or `false`.
    Truth,
    /// An object or an array.
    Nested,
}

/// A member of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'l> {
    /// Its name.
    pub name: &'l str,
    /// The text of a string or a number; empty for everything else.
    pub text: &'l [u8],
    /// What its value is.
    pub kind: JsonKind,
}

/// A line of NDJSON.
pub enum ScannedObject<'l> {
    /// Its number, from 1, and its members.
    Members(u64, &'l mut dyn Iterator<Item = Member<'l>>),
    /// A line that is no object; its number.
    Malformed(u64),
    /// A line that is too long, behind which nothing is read; its number.
    TooLong(u64),
}

/// A member in the text of its line.
struct Span {
    name: Range<usize>,
    value: Range<usize>,
    kind: JsonKind,
}

/// Hands the lines of `input` to `each` until it says false; a record has at
/// most so many bytes, and nests so deep.
///
/// # Errors
/// What `input` answers.
pub fn scan_objects(
    input: impl Read,
    (record_bytes_max, json_depth_max): (usize, usize),
    each: &mut dyn FnMut(ScannedObject<'_>) -> bool,
) -> Result<(), TableError> {
    let mut lines = Lines::new(input, record_bytes_max)?;
    let (mut text, mut spans) = (Vec::new(), Vec::new());
    loop {
        let line = match lines.next_line()? {
            Line::Here(line) => line,
            Line::TooLong(line) => {
                each(ScannedObject::TooLong(line));
                return Ok(());
            }
            Line::End => return Ok(()),
        };
        text.clear();
        spans.clear();
        let mut json = JsonText {
            rest: lines.bytes(),
            text: &mut text,
        };
        let goes_on = match members(&mut json, json_depth_max, &mut spans) {
            Ok(()) => {
                let text = text.as_slice();
                let mut members = spans.iter().filter_map(|span| {
                    Some(Member {
                        name: std::str::from_utf8(&text[span.name.clone()]).ok()?,
                        text: &text[span.value.clone()],
                        kind: span.kind,
                    })
                });
                each(ScannedObject::Members(line, &mut members))
            }
            Err(_) => each(ScannedObject::Malformed(line)),
        };
        if !goes_on {
            return Ok(());
        }
    }
}

/// Reads the members of one object.
fn members(
    json: &mut JsonText<'_>,
    json_depth_max: usize,
    spans: &mut Vec<Span>,
) -> Result<(), Refusal> {
    json.demand(b'{', "no object: `{` is due")?;
    if json.peek() != Some(b'}') {
        loop {
            spans.push(member(json, json_depth_max)?);
            match json.peek() {
                Some(b',') => json.rest = &json.rest[1..],
                _ => break,
            }
        }
    }
    json.demand(b'}', "`,` or `}` is due")?;
    match json.peek() {
        None => Ok(()),
        Some(_) => Err(malformed("something behind the object")),
    }
}

fn member(json: &mut JsonText<'_>, json_depth_max: usize) -> Result<Span, Refusal> {
    if json.peek() != Some(b'"') {
        return Err(malformed("a name in quotes is due"));
    }
    let start = json.text.len();
    json.string()?;
    let middle = json.text.len();
    if std::str::from_utf8(&json.text[start..middle]).is_err() {
        return Err(malformed("a name that is no text"));
    }
    let rest = json.rest;
    json.demand(b':', "`:` is due")?;
    let kind = match json.peek() {
        Some(b'"') => {
            json.string()?;
            JsonKind::Text
        }
        Some(b'-' | b'0'..=b'9') => {
            let is_whole = json.number()?;
            if is_whole {
                JsonKind::Whole
            } else {
                JsonKind::Fraction
            }
        }
        first => {
            json.rest = rest;
            json.pass_value(json_depth_max)?;
            match first {
                Some(b'{' | b'[') => JsonKind::Nested,
                Some(b'n') => JsonKind::Null,
                _ => JsonKind::Truth,
            }
        }
    };
    Ok(Span {
        name: start..middle,
        value: middle..json.text.len(),
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_as_they_are_written() {
        let text = b"{\"a\": \"x\\ty\", \"b\": 1.50, \"c\": -7, \"d\": null, \"e\": true, \
                     \"f\": {\"g\": [1]}}\n\n{\"a\": 01}\n{}\n[1]\n";
        let mut said = Vec::new();
        scan_objects(&text[..], (1000, 10), &mut |object| {
            said.push(match object {
                ScannedObject::Members(line, members) => {
                    let members = members.map(|one| {
                        let text = String::from_utf8_lossy(one.text);
                        format!("{}={text}:{:?}", one.name, one.kind)
                    });
                    format!("{line} {}", members.collect::<Vec<_>>().join(" "))
                }
                ScannedObject::Malformed(line) => format!("{line} malformed"),
                ScannedObject::TooLong(line) => format!("{line} too long"),
            });
            true
        })
        .unwrap();
        assert_eq!(
            said,
            [
                "1 a=x\ty:Text b=1.50:Fraction c=-7:Whole d=:Null e=:Truth f=:Nested",
                "3 malformed",
                "4 ",
                "5 malformed"
            ]
        );
    }
}
