//! Takes canonical CSV apart into fields.
//!
//! Stricter than RFC 4180: lines end in LF, and a field is quoted exactly if
//! it holds a comma, a quote or a line end (or is the only, empty, field of
//! its line, which would otherwise be a blank line).

use crate::release::error::WireFault;

/// What stands behind a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::release) enum End {
    /// Another field of the line.
    Comma,
    /// The end of the line.
    Line,
}

/// A cursor over canonical CSV.
pub(in crate::release) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether an empty field is quoted: it is alone in its line.
    quote_empty: bool,
    /// Line feeds passed so far, those inside quotes included.
    line_feeds: u64,
}

/// Whether a byte of an unquoted field ends it or is not allowed in it.
const STOPS: [bool; 256] = {
    let mut stops = [false; 256];
    stops[b',' as usize] = true;
    stops[b'\n' as usize] = true;
    stops[b'"' as usize] = true;
    stops[b'\r' as usize] = true;
    stops
};

/// Whether a field of these bytes must be quoted.
pub(super) fn needs_quotes(field: &[u8]) -> bool {
    field.iter().any(|&byte| STOPS[usize::from(byte)])
}

impl<'a> Scanner<'a> {
    /// A cursor over lines of `columns` fields each.
    pub(in crate::release) fn new(bytes: &'a [u8], columns: usize) -> Self {
        Self {
            bytes,
            at: 0,
            quote_empty: columns == 1,
            line_feeds: 0,
        }
    }

    /// Whether all bytes were taken.
    pub(in crate::release) fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Bytes taken.
    pub(in crate::release) fn position(&self) -> usize {
        self.at
    }

    /// Line feeds passed so far.
    pub(in crate::release) fn line_feeds(&self) -> u64 {
        self.line_feeds
    }

    /// The next field, and what stands behind it. `scratch` is overwritten
    /// where the field has to be put together.
    pub(in crate::release) fn field<'s>(
        &mut self,
        scratch: &'s mut Vec<u8>,
    ) -> Result<(&'s [u8], End), WireFault>
    where
        'a: 's,
    {
        let bytes = self.bytes;
        let start = self.at;
        if bytes.get(start) == Some(&b'"') {
            return self.quoted(scratch);
        }
        let length = bytes[start..]
            .iter()
            .position(|&byte| STOPS[usize::from(byte)])
            .ok_or(WireFault::Malformed)?;
        if length == 0 && self.quote_empty {
            return Err(WireFault::Malformed);
        }
        self.at = start + length;
        let end = self.end()?;
        Ok((&bytes[start..start + length], end))
    }

    fn quoted<'s>(&mut self, scratch: &'s mut Vec<u8>) -> Result<(&'s [u8], End), WireFault> {
        let bytes = self.bytes;
        scratch.clear();
        self.at += 1;
        loop {
            let rest = &bytes[self.at..];
            let length = rest
                .iter()
                .position(|&byte| byte == b'"')
                .ok_or(WireFault::Malformed)?;
            scratch.extend_from_slice(&rest[..length]);
            self.at += length + 1;
            if bytes.get(self.at) != Some(&b'"') {
                break;
            }
            scratch.push(b'"');
            self.at += 1;
        }
        let bare = match scratch.as_slice() {
            [] => !self.quote_empty,
            field => !needs_quotes(field),
        };
        if bare {
            return Err(WireFault::Malformed);
        }
        let inside = scratch.iter().filter(|&&byte| byte == b'\n').count();
        self.line_feeds += inside as u64;
        let end = self.end()?;
        Ok((scratch, end))
    }

    fn end(&mut self) -> Result<End, WireFault> {
        let end = match self.bytes.get(self.at) {
            Some(b',') => End::Comma,
            Some(b'\n') => End::Line,
            _ => return Err(WireFault::Malformed),
        };
        self.at += 1;
        self.line_feeds += u64::from(end == End::Line);
        Ok(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str, columns: usize) -> Result<Vec<(String, End)>, WireFault> {
        let mut scanner = Scanner::new(text.as_bytes(), columns);
        let mut scratch = Vec::new();
        let mut found = Vec::new();
        while !scanner.is_done() {
            let (field, end) = scanner.field(&mut scratch)?;
            found.push((String::from_utf8(field.to_vec()).unwrap(), end));
        }
        Ok(found)
    }

    #[test]
    fn quoted_fields_come_back_without_their_quotes() {
        let found = fields("a,\"b\"\"\n,\",\n,x,y\n", 3).unwrap();
        let expected = [
            ("a", End::Comma),
            ("b\"\n,", End::Comma),
            ("", End::Line),
            ("", End::Comma),
            ("x", End::Comma),
            ("y", End::Line),
        ];
        let expected = expected.map(|(field, end)| (field.to_owned(), end));
        assert_eq!(found, expected);
        let alone = fields("\"\"\nx\n", 1).unwrap();
        assert_eq!(alone, [("".into(), End::Line), ("x".into(), End::Line)]);
    }

    #[test]
    fn text_that_no_encoder_writes_is_refused() {
        let texts = [
            "a",
            "a\r\n",
            "a\"b\n",
            "\"a\"\n",
            "\"a,\"b\n",
            "\"a,",
            "\"",
            "\"\",a\n",
        ];
        for text in texts {
            assert_eq!(fields(text, 2), Err(WireFault::Malformed), "{text:?}");
        }
        assert_eq!(fields("a\n\nb\n", 1), Err(WireFault::Malformed));
    }
}
