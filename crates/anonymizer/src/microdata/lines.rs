//! Lines of a stream, one at a time, for formats with one record a line.

use std::io::Read;

use super::error::TableError;
use super::window::{More, Window};

/// What came of asking for the next line.
pub(super) enum Line {
    /// A line is at hand; its number, from 1.
    Here(u64),
    /// The line is longer than a record may be; there is no way behind it.
    TooLong(u64),
    /// There is no further line.
    End,
}

/// The lines of a stream that say something, without their ends.
pub(super) struct Lines<R> {
    window: Window<R>,
    /// Bytes of the line at hand, and with its end.
    length: usize,
    taken: usize,
    number: u64,
    record_bytes_max: usize,
}

impl<R: Read> Lines<R> {
    /// Lines of `input`, behind a byte order mark if there is one.
    pub fn new(input: R, record_bytes_max: usize) -> Result<Self, TableError> {
        Ok(Self {
            // One byte more tells the longest line from a longer one.
            window: Window::behind_mark(input, record_bytes_max.saturating_add(1))?,
            length: 0,
            taken: 0,
            number: 0,
            record_bytes_max,
        })
    }

    /// Goes to the next line that holds more than white space.
    pub fn next_line(&mut self) -> Result<Line, TableError> {
        loop {
            self.window.consume(std::mem::take(&mut self.taken));
            let end = loop {
                let end = self.window.bytes().iter().position(|&byte| byte == b'\n');
                if end.is_some() {
                    break end;
                }
                match self.window.more()? {
                    More::Grown => {}
                    More::Ended => break None,
                    More::Full => return Ok(Line::TooLong(self.number + 1)),
                }
            };
            let all = self.window.bytes().len();
            if all == 0 {
                return Ok(Line::End);
            }
            self.number += 1;
            self.length = end.unwrap_or(all);
            self.taken = end.map_or(all, |end| end + 1);
            if self.taken > self.record_bytes_max {
                return Ok(Line::TooLong(self.number));
            }
            if !self.bytes().trim_ascii().is_empty() {
                return Ok(Line::Here(self.number));
            }
        }
    }

    /// The line at hand.
    pub fn bytes(&self) -> &[u8] {
        &self.window.bytes()[..self.length]
    }
}
