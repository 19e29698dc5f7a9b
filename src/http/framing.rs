//! Where a request of HTTP/1 ends must be beyond doubt.
//!
//! A proxy in front and this server must agree on it, or a client can hide a
//! second request inside a first one. The HTTP library takes some requests on
//! which others may disagree: without `Host` or with two, with lines that end
//! in a bare LF, with a coding of the body other than one `chunked`, with
//! `chunked` beside `Content-Length`. By the time a handler sees such a
//! request, what was in doubt is gone. So the bytes are followed here, before
//! the library has them; at the first doubt one of them is replaced by NUL,
//! which it answers with 400, and closes the connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::connection::Connection;

/// The first line of HTTP/2, which frames its requests itself.
const PREFACE: &[u8] = b"PRI * HTTP/2.0";
/// Hexadecimal digits of the largest chunk.
const CHUNK_DIGITS_MAX: u32 = 15;

/// A connection on whose requests nobody can disagree.
pub struct Framed<S> {
    stream: S,
    connection: Arc<Connection>,
    scanner: Scanner,
}

impl<S> Framed<S> {
    /// Follows HTTP/1 on a stream, unless it turns out to be HTTP/2. A line of
    /// a header may have so many bytes.
    pub fn new(stream: S, connection: Arc<Connection>, line_bytes_max: usize) -> Self {
        Self {
            stream,
            connection,
            scanner: Scanner::new(line_bytes_max),
        }
    }
}

/// A doubt about where the request ends.
#[derive(Debug, PartialEq, Eq)]
struct Doubt;

/// What the next byte belongs to.
#[derive(Debug)]
enum Part {
    /// The header, or the trailer of a body in chunks.
    Line,
    /// So many bytes of a body, or of a chunk.
    Bytes(u64),
    /// The size of a chunk, of which so many digits were seen.
    Size(u32),
    /// What stands behind a chunk's size on its line.
    Extension,
    /// The end of a chunk.
    ChunkEnd,
    /// Nothing of HTTP/1.
    Nothing,
}

/// Follows the bytes of a connection.
struct Scanner {
    part: Part,
    line: Vec<u8>,
    line_bytes_max: usize,
    /// Whether this is the connection's first line.
    is_first: bool,
    /// Whether the byte before was a CR.
    after_cr: bool,
    /// Size of the chunk whose size is being read.
    chunk: u64,
    head: Head,
}

/// What a header says about the end of its request.
#[derive(Default)]
struct Head {
    /// Whether the request's first line was read.
    is_begun: bool,
    is_http_1_0: bool,
    hosts: u32,
    length: Option<u64>,
    is_chunked: bool,
    /// Whether this is the trailer of a body.
    is_trailer: bool,
}

impl Scanner {
    fn new(line_bytes_max: usize) -> Self {
        Self {
            part: Part::Line,
            line: Vec::new(),
            line_bytes_max,
            is_first: true,
            after_cr: false,
            chunk: 0,
            head: Head::default(),
        }
    }

    /// Whether a header, or the trailer of a body, has begun and is not at its end.
    fn is_in_header(&self) -> bool {
        let is_begun = self.head.is_begun || !self.line.is_empty();
        matches!(self.part, Part::Line) && is_begun
    }

    /// Looks at the next bytes; where among them the first doubt is.
    fn look(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            match &mut self.part {
                Part::Nothing => return None,
                Part::Bytes(left) => {
                    let here = usize::try_from(*left).unwrap_or(usize::MAX);
                    let taken = here.min(bytes.len() - at);
                    *left -= taken as u64;
                    at += taken;
                    if *left == 0 {
                        self.end_of_bytes();
                    }
                }
                _ => {
                    if self.byte(bytes[at]).is_err() {
                        return Some(at);
                    }
                    at += 1;
                }
            }
        }
        None
    }

    fn byte(&mut self, byte: u8) -> Result<(), Doubt> {
        let was_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
        let is_end = byte == b'\n';
        // A line ends in CR LF, and neither stands anywhere else.
        if is_end != was_cr {
            return Err(Doubt);
        }
        match self.part {
            Part::Line if is_end => return self.line(),
            Part::Line if byte != b'\r' => {
                if self.line.len() >= self.line_bytes_max {
                    return Err(Doubt);
                }
                self.line.push(byte);
            }
            Part::Size(digits) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0);
                self.chunk = self.chunk << 4 | u64::from(digit);
                if digits >= CHUNK_DIGITS_MAX {
                    return Err(Doubt);
                }
                self.part = Part::Size(digits + 1);
            }
            Part::Size(0) => return Err(Doubt),
            Part::Size(_) => self.part = Part::Extension,
            Part::Extension if is_end => self.end_of_size(),
            Part::ChunkEnd if is_end => self.part = Part::Size(0),
            Part::ChunkEnd if byte != b'\r' => return Err(Doubt),
            _ => {}
        }
        Ok(())
    }

    /// Behind a body comes the next request, behind a chunk its end.
    fn end_of_bytes(&mut self) {
        if self.head.is_chunked {
            (self.part, self.chunk) = (Part::ChunkEnd, 0);
        } else {
            self.next_request();
        }
    }

    fn end_of_size(&mut self) {
        self.part = if self.chunk > 0 {
            Part::Bytes(self.chunk)
        } else {
            self.head.is_trailer = true;
            Part::Line
        };
    }

    fn next_request(&mut self) {
        (self.part, self.head, self.chunk) = (Part::Line, Head::default(), 0);
    }

    /// A line of a header or trailer was read.
    fn line(&mut self) -> Result<(), Doubt> {
        let line = std::mem::take(&mut self.line);
        let is_first = std::mem::replace(&mut self.is_first, false);
        if is_first && line == PREFACE {
            self.part = Part::Nothing;
            return Ok(());
        }
        match (line.is_empty(), self.head.is_trailer) {
            (false, true) => {}
            (true, true) => self.next_request(),
            (false, false) => self.head.line(&line)?,
            // Empty lines before a request say nothing.
            (true, false) if !self.head.is_begun => {}
            (true, false) => {
                self.head.end()?;
                match self.head.length {
                    _ if self.head.is_chunked => self.part = Part::Size(0),
                    Some(length @ 1..) => self.part = Part::Bytes(length),
                    _ => self.next_request(),
                }
            }
        }
        Ok(())
    }
}

impl Head {
    fn line(&mut self, line: &[u8]) -> Result<(), Doubt> {
        if !self.is_begun {
            self.is_begun = true;
            self.is_http_1_0 = line.ends_with(b" HTTP/1.0");
            return Ok(());
        }
        // A line without a colon is the library's to refuse.
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            return Ok(());
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"host") {
            self.hosts += 1;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let length = std::str::from_utf8(value).ok();
            let length = length.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            let length = length.and_then(|text| text.parse().ok()).ok_or(Doubt)?;
            if self.length.replace(length).is_some() {
                return Err(Doubt);
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            let is_known = value.eq_ignore_ascii_case(b"chunked");
            if !is_known || std::mem::replace(&mut self.is_chunked, true) {
                return Err(Doubt);
            }
        }
        Ok(())
    }

    fn end(&self) -> Result<(), Doubt> {
        let is_addressed = self.hosts == 1 || (self.hosts == 0 && self.is_http_1_0);
        let is_bounded = !(self.is_chunked && (self.length.is_some() || self.is_http_1_0));
        if is_addressed && is_bounded {
            Ok(())
        } else {
            Err(Doubt)
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Framed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let new = &mut buffer.filled_mut()[before..];
        let was_in_header = self.scanner.is_in_header();
        if let Some(at) = self.scanner.look(new) {
            new[at] = 0;
            // The connection is over: what follows is nobody's request.
            self.scanner.part = Part::Nothing;
        }
        let is_in_header = self.scanner.is_in_header();
        if is_in_header != was_in_header {
            self.connection.header(is_in_header);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Framed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::http::near::cases;

    /// Where the doubt is, if the bytes come in pieces of this size.
    fn doubt(bytes: &[u8], piece: usize) -> Option<usize> {
        let mut scanner = Scanner::new(1 << 10);
        let mut pieces = bytes.chunks(piece).enumerate();
        pieces.find_map(|(number, bytes)| Some(number * piece + scanner.look(bytes)?))
    }

    fn assert_certain(text: &str) {
        for piece in [1, 2, 7, text.len()] {
            assert_eq!(doubt(text.as_bytes(), piece), None, "{text:?}");
        }
    }

    const GOOD: [&str; 6] = [
        "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "POST / HTTP/1.1\r\nHOST:x\r\nContent-Length: 5\r\n\r\na\nb\rc",
        "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: Chunked\r\n\r\n\
         5\r\na\nb\rc\r\na;x=1\r\n0123456789\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n",
        "\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n",
    ];

    #[test]
    fn requests_whose_end_is_certain_are_let_through_one_behind_the_other() {
        for first in GOOD {
            assert_certain(first);
            for second in GOOD {
                assert_certain(&format!("{first}{second}{first}"));
            }
        }
    }

    #[test]
    fn a_doubt_is_found_behind_any_other_request() {
        for bad in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nhost: x\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.0\r\nhost: x\r\nHost: y\r\n\r\n",
            "GET / HTTP/1.1\nhost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nhost: x\n\r\n",
            "GET / HTTP/1.1\r\nhost: x\r\n\n",
            "GET / HTTP/1.1\r\nhost: x\r\na: b\rc: d\r\n\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked, chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ncontent-length: 4\r\n\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: +4\r\n\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4, 4\r\n\r\n",
            "POST / HTTP/1.0\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\nx\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nxy\r\n",
            "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n11111111111111111\r\n",
        ] {
            for good in ["", GOOD[0], GOOD[2], GOOD[3]] {
                let text = format!("{good}{bad}");
                let found = doubt(text.as_bytes(), text.len());
                assert!(
                    found.is_some_and(|at| at >= good.len()),
                    "{text:?}: {found:?}"
                );
                assert_eq!(doubt(text.as_bytes(), 1), found, "{text:?}");
            }
        }
    }

    #[test]
    fn http_2_is_not_looked_at() {
        assert_certain("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\n\n\0");
        let late = format!("{}PRI * HTTP/2.0\r\n\r\n", GOOD[0]);
        assert!(
            doubt(late.as_bytes(), 1).is_some(),
            "only at the begin of a connection"
        );
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn pieces_make_no_difference(
            text in crate::http::near::near(&GOOD),
            piece in 1..40_usize,
        ) {
            let bytes = text.as_bytes();
            prop_assert_eq!(doubt(bytes, piece), doubt(bytes, bytes.len().max(1)));
        }
    }
}
