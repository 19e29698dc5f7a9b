//! Whole numbers in room beside the memory: columns of one width, written once and
//! read block by block.

use std::io;
use std::ops::Range;

use crate::microdata::Spill;

/// Bytes that are put together before they go into room.
const BLOCK_BYTES: usize = 1 << 18;

/// Room that says where what was put into it begins.
pub(super) struct Room {
    spill: Box<dyn Spill + Send + Sync>,
    end: u64,
    /// An append failed: nobody knows how much of it stands there.
    is_broken: bool,
}

impl Room {
    /// Room that is empty.
    pub fn of(spill: Box<dyn Spill + Send + Sync>) -> Self {
        Self {
            spill,
            end: 0,
            is_broken: false,
        }
    }

    /// Bytes in it.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Puts bytes behind all others.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.is_broken {
            return Err(io::Error::other("room that failed takes nothing more"));
        }
        self.is_broken = true;
        self.spill.append(bytes)?;
        self.is_broken = false;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Forgets everything.
    pub fn clear(&mut self) -> io::Result<()> {
        self.is_broken = true;
        self.spill.clear()?;
        self.is_broken = false;
        self.end = 0;
        Ok(())
    }

    fn read(&self, start: u64, bytes: &mut [u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.spill.read_at(start, bytes)
    }
}

/// A column of whole numbers in room, each of 0, 1, 2, 4 or 8 bytes; those of 0 bytes
/// are all 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Column {
    start: u64,
    width: usize,
}

impl Column {
    /// Puts numbers into room, none of which is larger than `largest`.
    pub fn write(
        room: &mut Room,
        numbers: impl Iterator<Item = u64>,
        largest: u64,
    ) -> io::Result<Self> {
        let width = match largest {
            0 => 0,
            1..=0xff => 1,
            0x100..=0xffff => 2,
            0x1_0000..=0xffff_ffff => 4,
            _ => 8,
        };
        let start = room.end();
        if width > 0 {
            let mut bytes = Vec::with_capacity(BLOCK_BYTES + size_of::<u64>());
            for number in numbers {
                bytes.extend_from_slice(&number.to_le_bytes()[..width]);
                if bytes.len() >= BLOCK_BYTES {
                    room.append(&bytes)?;
                    bytes.clear();
                }
            }
            room.append(&bytes)?;
        }
        Ok(Self { start, width })
    }

    /// Reads the numbers of some rows; `take` is given the position of each among
    /// these, from 0. `bytes` is kept from one call to the next.
    pub fn read(
        self,
        room: &Room,
        rows: Range<u32>,
        bytes: &mut Vec<u8>,
        mut take: impl FnMut(usize, u64),
    ) -> io::Result<()> {
        bytes.resize(rows.len() * self.width, 0);
        room.read(
            self.start + u64::from(rows.start) * self.width as u64,
            bytes,
        )?;
        match self.width {
            0 => (0..rows.len()).for_each(|at| take(at, 0)),
            1 => each::<1>(bytes, take),
            2 => each::<2>(bytes, take),
            4 => each::<4>(bytes, take),
            _ => each::<8>(bytes, take),
        }
        Ok(())
    }

    /// The numbers of some rows.
    pub fn numbers(self, room: &Room, rows: Range<u32>) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::with_capacity(rows.len());
        self.read(room, rows, &mut Vec::new(), |_, number| {
            numbers.push(number)
        })?;
        Ok(numbers)
    }

    /// The same of numbers that are all below 2³².
    pub fn small_numbers(self, room: &Room, rows: Range<u32>) -> io::Result<Vec<u32>> {
        let mut numbers = Vec::with_capacity(rows.len());
        let take = |_, number: u64| numbers.push(number as u32);
        self.read(room, rows, &mut Vec::new(), take)?;
        Ok(numbers)
    }
}

fn each<const WIDTH: usize>(bytes: &[u8], mut take: impl FnMut(usize, u64)) {
    for (at, number) in bytes.chunks_exact(WIDTH).enumerate() {
        let mut whole = [0; size_of::<u64>()];
        whole[..WIDTH].copy_from_slice(number);
        take(at, u64::from_le_bytes(whole));
    }
}

/// Numbers of 64 bits in room, one behind the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordRange {
    start: u64,
    end: u64,
}

/// Puts records of such numbers into room.
pub(super) struct WordWriter<'r> {
    room: &'r mut Room,
    start: u64,
    bytes: Vec<u8>,
}

impl<'r> WordWriter<'r> {
    /// Begins behind all that is there.
    pub fn new(room: &'r mut Room) -> Self {
        Self {
            start: room.end(),
            room,
            bytes: Vec::with_capacity(BLOCK_BYTES),
        }
    }

    /// Puts numbers behind those before.
    pub fn put(&mut self, words: impl Iterator<Item = u64>) -> io::Result<()> {
        for word in words {
            self.bytes.extend_from_slice(&word.to_le_bytes());
            if self.bytes.len() >= BLOCK_BYTES {
                self.room.append(&self.bytes)?;
                self.bytes.clear();
            }
        }
        Ok(())
    }

    /// Where all of them stand.
    pub fn finish(self) -> io::Result<WordRange> {
        self.room.append(&self.bytes)?;
        Ok(WordRange {
            start: self.start,
            end: self.room.end(),
        })
    }
}

/// Reads records of such numbers, one after the other.
pub(super) struct WordReader<'r> {
    room: &'r Room,
    left: WordRange,
    at_once: usize,
    words: Vec<u64>,
    at: usize,
}

impl<'r> WordReader<'r> {
    /// A reader that holds `at_once` numbers, or one record where this has more.
    pub fn new(room: &'r Room, range: WordRange, at_once: usize) -> Self {
        Self {
            room,
            left: range,
            at_once,
            words: Vec::new(),
            at: 0,
        }
    }

    /// Reads until `words` numbers stand in memory; false where there are fewer.
    pub fn has(&mut self, words: usize) -> io::Result<bool> {
        let known = self.words.len() - self.at;
        if known >= words {
            return Ok(true);
        }
        let left = (self.left.end - self.left.start) / size_of::<u64>() as u64;
        if known as u64 + left < words as u64 {
            return Ok(false);
        }
        self.words.drain(..self.at);
        self.at = 0;
        // No more than what is left, which is at least what is asked for.
        let more = left.min(self.at_once.max(words - known) as u64) as usize;
        let mut bytes = vec![0; more * size_of::<u64>()];
        self.room.read(self.left.start, &mut bytes)?;
        self.left.start += bytes.len() as u64;
        each::<8>(&bytes, |_, word| self.words.push(word));
        Ok(true)
    }

    /// Numbers that stand in memory, from the next on.
    pub fn get(&self, words: Range<usize>) -> &[u64] {
        &self.words[self.at + words.start..self.at + words.end]
    }

    /// Goes on behind so many.
    pub fn skip(&mut self, words: usize) {
        self.at += words;
    }
}
