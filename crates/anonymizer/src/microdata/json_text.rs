//! The text of one JSON object, piece by piece: strings, numbers as they are
//! written, and values that are passed over.
//!
//! Readers of NDJSON know which members they look for; how JSON is written is
//! here.

use serde::de::IgnoredAny;

use super::error::CellErrorCode;
use super::index::AttributeIndex;
use super::json_shape::json_shape;

/// Why an object is no record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    pub attribute: Option<AttributeIndex>,
    pub code: CellErrorCode,
    pub reason: Option<&'static str>,
}

impl Refusal {
    pub fn of(attribute: Option<AttributeIndex>, code: CellErrorCode) -> Self {
        Self {
            attribute,
            code,
            reason: None,
        }
    }
}

pub(super) const fn malformed(reason: &'static str) -> Refusal {
    Refusal {
        attribute: None,
        code: CellErrorCode::Malformed,
        reason: Some(reason),
    }
}

const OPEN_STRING: Refusal = malformed("a string that is never closed");
const ESCAPE: Refusal = malformed("an escape that JSON does not know");
const NUMBER: Refusal = malformed("a number that JSON does not know");
pub(super) const NO_CELL: Refusal = malformed("neither a string nor a number nor null");

/// One line on its way into texts.
pub(super) struct JsonText<'a> {
    /// What was not read yet.
    pub rest: &'a [u8],
    /// What was read, text behind text.
    pub text: &'a mut Vec<u8>,
}

impl JsonText<'_> {
    /// The next byte that is not white space.
    pub fn peek(&mut self) -> Option<u8> {
        while let [b' ' | b'\t' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    pub fn demand(&mut self, byte: u8, reason: &'static str) -> Result<(), Refusal> {
        if self.peek() != Some(byte) {
            return Err(malformed(reason));
        }
        self.rest = &self.rest[1..];
        Ok(())
    }

    /// Passes the value of a member, and the colon before it.
    pub fn pass_value(&mut self, json_depth_max: usize) -> Result<(), Refusal> {
        self.demand(b':', "`:` is due")?;
        let first = self.peek();
        let value = self.rest;
        let mut values = serde_json::Deserializer::from_slice(value).into_iter::<IgnoredAny>();
        if !matches!(values.next(), Some(Ok(_))) {
            return Err(malformed("a value that is no JSON"));
        }
        let (value, rest) = value.split_at(values.byte_offset());
        self.rest = rest;
        // The record is a level too.
        let is_nested = matches!(first, Some(b'{' | b'['));
        if is_nested && json_shape(value).levels >= json_depth_max {
            Err(Refusal::of(None, CellErrorCode::NestsTooDeep))
        } else {
            Ok(())
        }
    }

    /// Appends a string, whose opening quote is next, to the text. Where it is
    /// none, what is left begins behind what is wrong.
    pub fn string(&mut self) -> Result<(), Refusal> {
        let quoted = self.rest;
        self.rest = &quoted[1..];
        let (mut at, mut is_escaped) = (1, false);
        let stop = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < 0x20;
        loop {
            let behind = quoted.get(at..).ok_or(OPEN_STRING)?;
            at += behind.iter().position(stop).ok_or(OPEN_STRING)?;
            match quoted[at] {
                b'"' => break,
                b'\\' => (is_escaped, at) = (true, at + 2),
                _ => {
                    self.rest = &quoted[at + 1..];
                    return Err(malformed("a control character in a string"));
                }
            }
        }
        let (quoted, rest) = quoted.split_at(at + 1);
        let written = &quoted[1..at];
        // Bytes that are no text are refused with the cell that they are in.
        if is_escaped && std::str::from_utf8(written).is_ok() {
            let text: Result<String, _> = serde_json::from_slice(quoted);
            let text = text.map_err(|error| {
                self.rest = self
                    .rest
                    .get(error.column().saturating_sub(1)..)
                    .unwrap_or_default();
                ESCAPE
            })?;
            self.text.extend_from_slice(text.as_bytes());
        } else {
            self.text.extend_from_slice(written);
        }
        self.rest = rest;
        Ok(())
    }

    /// Appends a number as it is written to the text; whether it is whole.
    pub fn number(&mut self) -> Result<bool, Refusal> {
        let start = self.rest;
        self.rest = self.rest.strip_prefix(b"-").unwrap_or(self.rest);
        let starts_with_zero = self.rest.first() == Some(&b'0');
        if self.digits()? > 1 && starts_with_zero {
            return Err(NUMBER);
        }
        let whole = self.rest;
        if let Some(rest) = self.rest.strip_prefix(b".") {
            self.rest = rest;
            self.digits()?;
        }
        if let [b'e' | b'E', rest @ ..] = self.rest {
            self.rest = match rest {
                [b'+' | b'-', rest @ ..] => rest,
                rest => rest,
            };
            self.digits()?;
        }
        let length = start.len() - self.rest.len();
        self.text.extend_from_slice(&start[..length]);
        Ok(whole.len() == self.rest.len())
    }

    fn digits(&mut self) -> Result<usize, Refusal> {
        let is_digit = |byte: &&u8| byte.is_ascii_digit();
        let count = self.rest.iter().take_while(is_digit).count();
        self.rest = &self.rest[count..];
        if count == 0 { Err(NUMBER) } else { Ok(count) }
    }
}
