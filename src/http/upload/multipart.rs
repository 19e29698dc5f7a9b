//! A body of several parts (`multipart/form-data`, RFC 7578), read while it
//! arrives.
//!
//! Between parts stands a boundary; each part begins with a header of its own.
//! The reader holds a window of a part at a time, never a part: the size of a
//! body does not matter. What stands before the first boundary and behind the
//! last says nothing and is read past.

use std::io::{self, Read};

/// Bytes that are read ahead.
const WINDOW_BYTES: usize = 64 << 10;
/// Bytes of a part's header.
const HEADER_BYTES_MAX: usize = 8 << 10;
/// Characters of a boundary, as RFC 2046 says.
const BOUNDARY_MAX: usize = 70;

/// What parts one part from the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary(String);

impl Boundary {
    /// The boundary that a media type names; `None` where it names none, or one
    /// that no body can have.
    pub fn of_media_type(text: &str) -> Option<Self> {
        let (_, parameters) = text.split_once(';')?;
        let boundary = parameter(parameters, "boundary")?;
        let is_sign = |one: char| one.is_ascii_alphanumeric() || "'()+_,-./:=? ".contains(one);
        let is_one = (1..=BOUNDARY_MAX).contains(&boundary.len())
            && boundary.chars().all(is_sign)
            && !boundary.ends_with(' ');
        is_one.then_some(Self(boundary))
    }
}

/// The header of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The part's name.
    pub name: String,
    /// Its media type in small letters, without parameters; empty where it says
    /// none.
    pub media_type: String,
}

/// Why a body is none of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormFault {
    /// It ended too early.
    #[error("the body ends before its closing boundary")]
    Ended,
    /// A part's header is larger than is read.
    #[error("the header of a part has more than 8 KiB")]
    LongHeader,
    /// A part's header is none.
    #[error("a part has no header `content-disposition: form-data` with a name")]
    Header,
    /// Behind a boundary stands something else than a line end.
    #[error("something stands behind a boundary")]
    Boundary,
}

/// Why the next part is not there.
#[derive(Debug)]
pub enum FormError {
    /// The form is wrong.
    Form(FormFault),
    /// The body could not be read.
    Body(io::Error),
}

impl From<FormFault> for FormError {
    fn from(fault: FormFault) -> Self {
        Self::Form(fault)
    }
}

/// The parts of a body. What is read from it is the content of the part at hand.
pub struct Multipart<R> {
    input: R,
    /// A line end, two hyphens and the boundary.
    delimiter: Vec<u8>,
    window: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes of content at hand, from `start` on.
    content: usize,
    /// Whether the part at hand ends behind these bytes.
    is_last: bool,
    has_ended: bool,
    /// Whether the closing boundary was passed.
    is_over: bool,
}

impl<R: Read> Multipart<R> {
    /// The parts of `input`; none is at hand yet.
    pub fn new(input: R, boundary: &Boundary) -> Self {
        // The first boundary may stand at the first byte: a line end before it
        // makes it as the others.
        let mut window = vec![0; WINDOW_BYTES];
        window[..2].copy_from_slice(b"\r\n");
        Self {
            input,
            delimiter: format!("\r\n--{}", boundary.0).into_bytes(),
            window,
            start: 0,
            end: 2,
            content: 0,
            is_last: false,
            has_ended: false,
            is_over: false,
        }
    }

    /// Passes what is left of the part at hand, and reads the header of the next.
    pub fn next_head(&mut self) -> Result<Option<Head>, FormError> {
        if self.is_over {
            return Ok(None);
        }
        loop {
            self.start += std::mem::take(&mut self.content);
            if self.is_last {
                break;
            }
            self.find_content().map_err(|error| self.told(error))?;
        }
        self.start += self.delimiter.len();
        self.need(2)?;
        if self.at_hand().starts_with(b"--") {
            self.is_over = true;
            return Ok(None);
        }
        let end = self.find_within(b"\r\n", FormFault::Boundary)?;
        if !self.at_hand()[..end]
            .iter()
            .all(|byte| matches!(byte, b' ' | b'\t'))
        {
            return Err(FormFault::Boundary.into());
        }
        // The line end before the header is a part of what ends it, where it is
        // empty.
        self.start += end;
        let end = self.find_within(b"\r\n\r\n", FormFault::LongHeader)?;
        let head = Head::read(&self.at_hand()[..end]).ok_or(FormFault::Header)?;
        self.start += end + 4;
        self.is_last = false;
        // The line end of an empty part's boundary is that behind its header.
        self.start -= 2;
        let is_empty = self.begins_with_delimiter()?;
        if is_empty {
            self.is_last = true;
        } else {
            self.start += 2;
        }
        Ok(Some(head))
    }

    fn told(&self, error: io::Error) -> FormError {
        match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(&fault) => FormError::Form(fault),
            None => FormError::Body(error),
        }
    }

    fn at_hand(&self) -> &[u8] {
        &self.window[self.start..self.end]
    }

    /// Reads more behind the bytes at hand; whether there was any.
    fn more(&mut self) -> io::Result<bool> {
        self.window.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while !self.has_ended && self.end < self.window.len() {
            match self.input.read(&mut self.window[self.end..]) {
                Ok(0) => self.has_ended = true,
                Ok(count) => {
                    self.end += count;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Has so many bytes at hand.
    fn need(&mut self, count: usize) -> Result<(), FormError> {
        while self.at_hand().len() < count {
            if !self.more().map_err(FormError::Body)? {
                return Err(FormFault::Ended.into());
            }
        }
        Ok(())
    }

    /// Where `text` begins in the bytes at hand, of which so many are looked at
    /// as a header may have.
    fn find_within(&mut self, text: &[u8], too_long: FormFault) -> Result<usize, FormError> {
        loop {
            if let Some(at) = find(self.at_hand(), text) {
                return if at > HEADER_BYTES_MAX {
                    Err(too_long.into())
                } else {
                    Ok(at)
                };
            }
            if self.at_hand().len() > HEADER_BYTES_MAX {
                return Err(too_long.into());
            }
            let count = self.at_hand().len() + 1;
            self.need(count)?;
        }
    }

    fn begins_with_delimiter(&mut self) -> Result<bool, FormError> {
        // A body that ends here is told by who reads the content.
        while self.at_hand().len() < self.delimiter.len() {
            if !self.more().map_err(FormError::Body)? {
                return Ok(false);
            }
        }
        Ok(self.at_hand().starts_with(&self.delimiter))
    }

    /// Finds content of the part at hand, at least a byte unless it ends.
    fn find_content(&mut self) -> io::Result<()> {
        loop {
            if let Some(at) = find(self.at_hand(), &self.delimiter) {
                self.content = at;
                self.is_last = true;
                return Ok(());
            }
            // What may be the beginning of a boundary is kept back.
            let sure = (self.at_hand().len() + 1).saturating_sub(self.delimiter.len());
            if sure > 0 {
                self.content = sure;
                return Ok(());
            }
            if !self.more()? {
                return Err(io::Error::new(io::ErrorKind::InvalidData, FormFault::Ended));
            }
        }
    }
}

impl<R: Read> Read for Multipart<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.content == 0 && !self.is_last {
            self.find_content()?;
        }
        let count = self.content.min(buffer.len());
        buffer[..count].copy_from_slice(&self.window[self.start..][..count]);
        self.start += count;
        self.content -= count;
        Ok(count)
    }
}

impl Head {
    /// Reads a header, from the line end before it on.
    fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut head = None;
        let mut media_type = String::new();
        for line in text.split("\r\n").filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':')?;
            if name.eq_ignore_ascii_case("content-disposition") {
                let (kind, parameters) = value.split_once(';')?;
                if !kind.trim().eq_ignore_ascii_case("form-data") || head.is_some() {
                    return None;
                }
                head = Some(parameter(parameters, "name")?);
            } else if name.eq_ignore_ascii_case("content-type") {
                let value = value.split(';').next().unwrap_or_default();
                media_type = value.trim().to_ascii_lowercase();
            }
        }
        Some(Self {
            name: head?,
            media_type,
        })
    }
}

/// The value of a parameter, of which quotes are taken away.
fn parameter(parameters: &str, wanted: &str) -> Option<String> {
    let mut rest = parameters;
    loop {
        let (name, behind) = rest.split_once('=')?;
        let is_wanted = name
            .trim_matches([' ', '\t', ';'])
            .eq_ignore_ascii_case(wanted);
        let behind = behind.trim_start();
        let (value, left) = match behind.strip_prefix('"') {
            Some(quoted) => {
                let mut value = String::new();
                let mut letters = quoted.char_indices();
                let end = loop {
                    match letters.next()? {
                        (at, '"') => break at,
                        (_, '\\') => value.push(letters.next()?.1),
                        (_, letter) => value.push(letter),
                    }
                };
                (value, &quoted[end + 1..])
            }
            None => {
                let end = behind.find(';').unwrap_or(behind.len());
                (behind[..end].trim().to_owned(), &behind[end..])
            }
        };
        if is_wanted {
            return Some(value);
        }
        rest = left;
    }
}

/// Where `text` begins in `bytes`.
fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + bytes[from..].iter().position(|byte| *byte == text[0])?;
        if bytes[at..].starts_with(text) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Yields the bytes in pieces of at most `.1`.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    type Parsed = Result<Vec<(String, String, String)>, FormFault>;

    fn parts(body: &[u8], piece: usize) -> Parsed {
        let boundary = Boundary("x-1".into());
        let mut form = Multipart::new(Pieces(body, piece), &boundary);
        let mut parts = Vec::new();
        let fault = |error| match error {
            FormError::Form(fault) => fault,
            FormError::Body(error) => panic!("{error}"),
        };
        while let Some(head) = form.next_head().map_err(fault)? {
            let mut text = Vec::new();
            let read = form.read_to_end(&mut text);
            read.map_err(|error| fault(form.told(error)))?;
            let text = String::from_utf8(text).unwrap();
            parts.push((head.name, head.media_type, text));
        }
        // Who asks again is told again.
        assert_eq!(form.next_head().map_err(fault)?, None);
        Ok(parts)
    }

    fn owned(parts: &[(&str, &str, &str)]) -> Parsed {
        let parts = parts.iter();
        Ok(parts
            .map(|(name, media, text)| ((*name).into(), (*media).into(), (*text).into()))
            .collect())
    }

    const BODY: &str = "before\r\n--x-1\r\nContent-Disposition: form-data; filename=\"name=q\"; name=\"a \\\"b\"\r\n\
        Content-Type: Text/CSV; charset=utf-8\r\n\r\np,age\r\n--x-2\r\n\r\n--x-1  \r\n\
        content-disposition: form-data; name=c\r\n\r\n\r\n--x-1\r\ncontent-disposition: form-data;name=d\r\n\r\n\
        \r\n\r\n--x-1--\r\nbehind\r\n--x-1\r\n";

    #[test]
    fn parts_are_read_in_pieces_of_any_size() {
        let read = owned(&[
            ("a \"b", "text/csv", "p,age\r\n--x-2\r\n"),
            ("c", "", ""),
            ("d", "", "\r\n"),
        ]);
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(parts(BODY.as_bytes(), piece), read, "{piece}");
        }
        let large = "y\r\n--x".repeat(60_000);
        let body =
            format!("--x-1\r\ncontent-disposition: form-data; name=a\r\n\r\n{large}\r\n--x-1--");
        assert_eq!(parts(body.as_bytes(), 4096), owned(&[("a", "", &large)]));
    }

    #[test]
    fn a_part_that_nobody_reads_is_passed() {
        let mut form = Multipart::new(Pieces(BODY.as_bytes(), 5), &Boundary("x-1".into()));
        let mut names = Vec::new();
        while let Some(head) = form.next_head().unwrap() {
            names.push(head.name);
        }
        assert_eq!(names, ["a \"b", "c", "d"]);
    }

    #[test]
    fn a_body_that_is_cut_off_anywhere_is_no_shorter_body() {
        let closing = BODY.find("--x-1--").unwrap() + 7;
        for end in 0..closing {
            let cut = parts(&BODY.as_bytes()[..end], 1000);
            assert_eq!(cut, Err(FormFault::Ended), "{end}");
        }
    }

    #[test]
    fn what_is_no_part_is_refused() {
        let long = format!(
            "--x-1\r\ncontent-disposition: {}\r\n\r\n",
            "a".repeat(100_000)
        );
        for (body, fault) in [
            ("--x-1 a\r\n\r\n", FormFault::Boundary),
            ("--x-1\r\n\r\nno header\r\n--x-1--", FormFault::Header),
            (
                "--x-1\r\ncontent-disposition: form-data; filename=a\r\n\r\n\r\n--x-1--",
                FormFault::Header,
            ),
            (
                "--x-1\r\ncontent-disposition: attachment; name=a\r\n\r\n\r\n--x-1--",
                FormFault::Header,
            ),
            (&long, FormFault::LongHeader),
            ("", FormFault::Ended),
            ("p,age\n1,2\n", FormFault::Ended),
        ] {
            assert_eq!(parts(body.as_bytes(), 100), Err(fault), "{body:.60}");
        }
    }

    #[test]
    fn a_boundary_is_read_from_the_media_type() {
        let read = |text| Boundary::of_media_type(text).map(|boundary| boundary.0);
        assert_eq!(
            read("multipart/form-data; boundary=a-b").as_deref(),
            Some("a-b")
        );
        assert_eq!(
            read("multipart/form-data; charset=x; boundary=\"a b\"").as_deref(),
            Some("a b")
        );
        for none in [
            "multipart/form-data",
            "a; boundary=",
            "a; boundary=\"x\\\"\"",
            "a; boundary=ä",
        ] {
            assert_eq!(read(none), None, "{none}");
        }
        assert_eq!(read(&format!("a; boundary={}", "b".repeat(71))), None);
    }
}
