//! A window over a stream: the bytes of one record at a time, contiguous.
//!
//! The window grows only as far as one record may be long, so that a cell of
//! a hundred megabytes costs no memory.

use std::io::{ErrorKind, Read};

use super::error::TableError;

const WINDOW_BYTES: usize = 256 << 10;

/// What came of asking for more bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    /// There are more bytes than before.
    Grown,
    /// The stream has ended.
    Ended,
    /// The window is as large as a record may be.
    Full,
}

/// Bytes read from a stream and not yet consumed.
pub(super) struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    bytes_max: usize,
}

impl<R: Read> Window<R> {
    /// A window over `input` for records of up to `record_bytes_max` bytes.
    pub fn new(input: R, record_bytes_max: usize) -> Self {
        Self {
            input,
            buffer: vec![0; WINDOW_BYTES],
            start: 0,
            end: 0,
            ended: false,
            bytes_max: record_bytes_max.max(WINDOW_BYTES),
        }
    }

    /// The same, behind a byte order mark if one stands first.
    pub fn behind_mark(input: R, record_bytes_max: usize) -> Result<Self, TableError> {
        let mut window = Self::new(input, record_bytes_max);
        window.more()?;
        if window.bytes().starts_with(b"\xef\xbb\xbf") {
            window.consume(3);
        }
        Ok(window)
    }

    /// The bytes at hand.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The bytes at hand, to be changed in place.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..self.end]
    }

    /// Bytes at hand may be consumed; what follows stays.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        debug_assert!(self.start + count <= self.end);
        self.start += count;
    }

    /// Reads until the window is full, growing it if it was, or the stream
    /// has ended.
    ///
    /// Filling the window before anyone looks again keeps the work linear
    /// even if the stream yields single bytes.
    pub fn more(&mut self) -> Result<More, TableError> {
        if self.ended {
            return Ok(More::Ended);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            if self.end >= self.bytes_max {
                return Ok(More::Full);
            }
            let size = (self.end * 2).min(self.bytes_max);
            self.buffer.resize(size, 0);
        }
        let before = self.end;
        while self.end < self.buffer.len() && !self.ended {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(TableError::Read(error.to_string())),
            }
        }
        if self.end > before {
            Ok(More::Grown)
        } else {
            Ok(More::Ended)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Yields one byte at a time, and an interruption between any two.
    struct Drip(u64, bool);

    impl Read for Drip {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::Interrupted.into());
            }
            if self.0 == 0 {
                return Ok(0);
            }
            buffer[0] = (self.0 % 251) as u8;
            self.0 -= 1;
            Ok(1)
        }
    }

    #[test]
    fn every_byte_comes_through_in_order() {
        let mut window = Window::new(Drip(600_000, false), 1 << 20);
        let mut seen = Vec::new();
        while window.more().unwrap() == More::Grown {
            let half = window.bytes().len() / 2;
            seen.extend_from_slice(&window.bytes()[..half]);
            window.consume(half);
        }
        seen.extend_from_slice(window.bytes());
        let expected: Vec<u8> = (1..=600_000_u64).rev().map(|n| (n % 251) as u8).collect();
        assert!(seen == expected);
    }

    #[test]
    fn a_record_without_end_fills_the_window_and_no_more() {
        let without_end = std::io::repeat(b'x').take(4 << 20);
        let mut window = Window::new(without_end, 1 << 20);
        while window.more().unwrap() == More::Grown {}
        assert_eq!(window.more().unwrap(), More::Full);
        assert_eq!(window.bytes().len(), 1 << 20);
    }
}
