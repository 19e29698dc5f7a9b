//! Rows of the parts in room beside the memory, and an index of subjects.
//!
//! A row is packed: its length, its table, its line, then each cell behind its
//! length, whose lowest bit says whether the cell is text that somebody wrote.
//! In memory stays, for each row of a table of one row a subject, a keyed hash of
//! 128 bits and where the row begins: 25 bytes. *Ours.*

use std::io;

use crate::microdata::error::TableError;
use crate::microdata::spill::Spill;

/// Bytes that are gathered before they are appended, and read at a time where
/// rows come one behind the other.
const PAGE_BYTES: usize = 256 << 10;
/// Bytes that are read for a row that is looked up; a longer one is read twice.
const LOOK_BYTES: usize = 512;
/// Most bytes of a packed number.
const NUMBER_BYTES_MAX: usize = 10;
/// Entries that share a place of the index's directory, on average.
const ENTRIES_PER_PLACE: usize = 8;

/// Room that rows are appended to.
pub(super) struct Room<'r> {
    spill: &'r mut dyn Spill,
    open: Vec<u8>,
    spilled: u64,
    row: Vec<u8>,
}

impl<'r> Room<'r> {
    /// Empty room.
    pub fn new(spill: &'r mut dyn Spill) -> Self {
        Self {
            spill,
            open: Vec::new(),
            spilled: 0,
            row: Vec::new(),
        }
    }

    /// Appends a row; where it begins.
    pub fn push<'c>(
        &mut self,
        (table, line): (usize, u64),
        cells: impl Iterator<Item = (&'c [u8], bool)>,
    ) -> Result<u64, TableError> {
        self.row.clear();
        put(&mut self.row, table as u64);
        put(&mut self.row, line);
        for (cell, is_written) in cells {
            put(
                &mut self.row,
                (cell.len() as u64) << 1 | u64::from(is_written),
            );
            self.row.extend_from_slice(cell);
        }
        let start = self.spilled + self.open.len() as u64;
        put(&mut self.open, self.row.len() as u64);
        self.open.extend_from_slice(&self.row);
        if self.open.len() >= PAGE_BYTES {
            self.flush()?;
        }
        Ok(start)
    }

    fn flush(&mut self) -> Result<(), TableError> {
        self.spill.append(&self.open).map_err(room_error)?;
        self.spilled += self.open.len() as u64;
        self.open.clear();
        Ok(())
    }

    /// The rows, to be read; none is appended any more.
    pub fn sealed(mut self) -> Result<Sealed<'r>, TableError> {
        self.flush()?;
        Ok(Sealed {
            spill: self.spill,
            end: self.spilled,
        })
    }
}

/// Room whose rows are read.
pub(super) struct Sealed<'r> {
    spill: &'r dyn Spill,
    end: u64,
}

impl Sealed<'_> {
    /// Where the last row ends.
    pub fn end(&self) -> u64 {
        self.end
    }
}

/// A row, unpacked.
#[derive(Default)]
pub(super) struct PackedRow {
    bytes: Vec<u8>,
    /// First byte, end, and whether it is written.
    cells: Vec<(usize, usize, bool)>,
    /// Its line.
    pub line: u64,
}

impl PackedRow {
    /// A cell; empty where there is none.
    pub fn cell(&self, at: usize) -> &[u8] {
        match self.cells.get(at) {
            Some(&(start, end, _)) => &self.bytes[start..end],
            None => &[],
        }
    }

    /// Whether a cell is text that somebody wrote.
    pub fn is_written(&self, at: usize) -> bool {
        self.cells.get(at).is_none_or(|cell| cell.2)
    }

    /// Takes the bytes of a row behind its table.
    fn unpack(&mut self, bytes: &[u8]) -> Option<()> {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.cells.clear();
        let (line, mut at) = take(bytes)?;
        self.line = line;
        while at < bytes.len() {
            let (length, used) = take(&bytes[at..])?;
            let start = at + used;
            let end = start.checked_add((length >> 1) as usize)?;
            if end > bytes.len() {
                return None;
            }
            self.cells.push((start, end, length & 1 == 1));
            at = end;
        }
        Some(())
    }
}

/// Reads rows, a page at a time.
pub(super) struct Pages {
    page: Vec<u8>,
    start: u64,
    page_bytes: usize,
}

impl Pages {
    /// For rows one behind the other.
    pub fn in_order() -> Self {
        Self::of(PAGE_BYTES)
    }

    /// For single rows anywhere.
    pub fn anywhere() -> Self {
        Self::of(LOOK_BYTES)
    }

    fn of(page_bytes: usize) -> Self {
        Self {
            page: Vec::new(),
            start: 0,
            page_bytes,
        }
    }

    /// At least `length` bytes from `offset` on, or those to the end.
    fn bytes(
        &mut self,
        room: &Sealed<'_>,
        offset: u64,
        length: usize,
    ) -> Result<&[u8], TableError> {
        let length = (room.end - offset).min(length as u64);
        let has = |start: u64, page: &[u8]| {
            offset >= start && offset + length <= start + page.len() as u64
        };
        if !has(self.start, &self.page) {
            let size = (room.end - offset).min(length.max(self.page_bytes as u64));
            self.page.resize(size as usize, 0);
            room.spill
                .read_at(offset, &mut self.page)
                .map_err(room_error)?;
            self.start = offset;
        }
        Ok(&self.page[(offset - self.start) as usize..])
    }

    /// Reads the row at `offset` into `row` where it is of the table that is
    /// wanted, of any where none is; whether it is, and where it ends.
    pub fn read(
        &mut self,
        room: &Sealed<'_>,
        offset: u64,
        (wanted, row): (Option<usize>, &mut PackedRow),
    ) -> Result<(bool, u64), TableError> {
        let head = self.bytes(room, offset, 2 * NUMBER_BYTES_MAX)?;
        let (length, used) = take(head).ok_or_else(broken)?;
        let (table, of_table) = take(&head[used..]).ok_or_else(broken)?;
        let end = offset + used as u64 + length;
        if end > room.end {
            return Err(broken());
        }
        if wanted.is_some_and(|wanted| wanted as u64 != table) {
            return Ok((false, end));
        }
        let length = length as usize;
        let bytes = self.bytes(room, offset, used + length)?;
        let packed = bytes.get(used + of_table..used + length);
        packed
            .and_then(|packed| row.unpack(packed))
            .ok_or_else(broken)?;
        Ok((true, end))
    }
}

fn broken() -> TableError {
    TableError::Read("room for parts: not what was written".into())
}

fn room_error(error: io::Error) -> TableError {
    TableError::Read(format!("room for parts: {error}"))
}

/// Appends a number, seven bits a byte.
fn put(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(0x80 | (number & 0x7F) as u8);
        number >>= 7;
    }
    to.push(number as u8);
}

/// The number that `bytes` begin with, and its bytes.
fn take(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0_u64;
    for (at, byte) in bytes.iter().take(NUMBER_BYTES_MAX).enumerate() {
        number |= u64::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, at + 1));
        }
    }
    None
}

/// The rows of a table of one row a subject, by the hash of the subject's key.
#[derive(Default)]
pub(super) struct SubjectRows {
    /// Both halves of the hash, and where the row begins.
    entries: Vec<(u64, u64, u64)>,
    /// For each beginning of a hash, the first entry with it or behind it.
    directory: Vec<u64>,
    /// Bits of a hash's beginning.
    bits: u32,
    /// One bit an entry: whether a record was made of it.
    seen: Vec<u64>,
}

impl SubjectRows {
    /// Adds a row.
    pub fn add(&mut self, [high, low]: [u64; 2], offset: u64) {
        self.entries.push((high, low, offset));
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Puts the rows in order, to be found; hands those of subjects who have one
    /// before to `repeated`, and forgets them.
    pub fn close(&mut self, repeated: &mut dyn FnMut(u64)) {
        self.entries.sort_unstable();
        // Equal hashes come in the order in which they were read.
        self.entries.dedup_by(|later, first| {
            let is_repeated = (later.0, later.1) == (first.0, first.1);
            if is_repeated {
                repeated(later.2);
            }
            is_repeated
        });
        let places = (self.entries.len() / ENTRIES_PER_PLACE).max(1);
        self.bits = places.ilog2().max(1);
        self.directory = Vec::with_capacity((1 << self.bits) + 1);
        for (at, &(high, ..)) in self.entries.iter().enumerate() {
            let place = (high >> (64 - self.bits)) as usize;
            while self.directory.len() <= place {
                self.directory.push(at as u64);
            }
        }
        let all = self.entries.len() as u64;
        self.directory.resize((1 << self.bits) + 1, all);
        self.seen = vec![0; self.entries.len().div_ceil(64)];
    }

    /// The entry of a subject.
    pub fn find(&self, [high, low]: [u64; 2]) -> Option<usize> {
        let place = (high >> (64 - self.bits)) as usize;
        let start = *self.directory.get(place)? as usize;
        let end = *self.directory.get(place + 1)? as usize;
        let near = &self.entries[start..end];
        let at = near.partition_point(|entry| (entry.0, entry.1) < (high, low));
        let is_it = near
            .get(at)
            .is_some_and(|entry| (entry.0, entry.1) == (high, low));
        is_it.then_some(start + at)
    }

    /// Where the row of an entry begins; the entry is seen from now on.
    pub fn see(&mut self, entry: usize) -> u64 {
        self.seen[entry / 64] |= 1 << (entry % 64);
        self.entries[entry].2
    }

    /// Where the rows begin that were not seen, in the order in which they were
    /// read.
    pub fn unseen(&self) -> Vec<u64> {
        let is_seen = |at: usize| self.seen[at / 64] & (1 << (at % 64)) != 0;
        let entries = self.entries.iter().enumerate();
        let unseen = entries.filter(|(at, _)| !is_seen(*at));
        let mut offsets: Vec<u64> = unseen.map(|(_, entry)| entry.2).collect();
        offsets.sort_unstable();
        offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_length_are_read_back_in_order_and_anywhere() {
        let mut spill = Vec::new();
        let mut room = Room::new(&mut spill);
        let long = vec![b'x'; PAGE_BYTES + 7];
        let cells = |at: u64| -> Vec<(Vec<u8>, bool)> {
            let text = at.to_string().into_bytes();
            let long = if at % 1000 == 5 {
                long.clone()
            } else {
                Vec::new()
            };
            vec![
                (text, true),
                (Vec::new(), false),
                (long, at.is_multiple_of(2)),
            ]
        };
        let offsets: Vec<u64> = (0..20_000_u64)
            .map(|at| {
                let cells = cells(at);
                let cells = cells.iter().map(|(cell, written)| (&cell[..], *written));
                room.push(((at % 3) as usize, at << 20), cells).unwrap()
            })
            .collect();
        let room = room.sealed().unwrap();
        let (mut pages, mut row) = (Pages::in_order(), PackedRow::default());
        let mut offset = 0;
        for at in (0..20_000_u64).filter(|at| at % 3 == 1) {
            loop {
                let (is_it, end) = pages.read(&room, offset, (Some(1), &mut row)).unwrap();
                offset = end;
                if is_it {
                    break;
                }
            }
            assert_eq!(
                (row.line, row.cell(0)),
                (at << 20, at.to_string().as_bytes())
            );
        }
        let mut pages = Pages::anywhere();
        for at in [19_999_u64, 5, 0, 1005, 6, 5] {
            let offset = offsets[at as usize];
            pages.read(&room, offset, (None, &mut row)).unwrap();
            for (nth, (cell, is_written)) in cells(at).iter().enumerate() {
                assert_eq!(
                    (row.cell(nth), row.is_written(nth)),
                    (&cell[..], *is_written)
                );
            }
        }
        assert_eq!(row.cell(3), b"");
    }

    #[test]
    fn numbers_of_any_size_are_packed() {
        for number in [0, 1, 127, 128, 1 << 44, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(take(&bytes), Some((number, bytes.len())));
        }
        assert_eq!(take(&[0x80; 3]), None);
    }

    #[test]
    fn subjects_are_found_and_second_rows_are_told() {
        let hash = |at: u64| [at.wrapping_mul(0x9E37_79B9_7F4A_7C15), at];
        for count in [0_u64, 1, 7, 1000, 5000] {
            let mut rows = SubjectRows::default();
            (0..count).for_each(|at| rows.add(hash(at), at * 10));
            rows.add(hash(3), 99_999);
            let mut repeated = Vec::new();
            rows.close(&mut |offset| repeated.push(offset));
            assert_eq!(repeated.len(), usize::from(count > 3));
            for at in 0..count {
                let entry = rows.find(hash(at)).unwrap();
                if at % 2 == 0 {
                    assert_eq!(rows.see(entry), at * 10);
                }
            }
            assert_eq!(rows.find(hash(count + 9)), None);
            let unseen = rows.unseen();
            let odd = (0..count).filter(|at| at % 2 == 1).map(|at| at * 10);
            let alone = (count <= 3).then_some(99_999);
            assert_eq!(unseen, odd.chain(alone).collect::<Vec<u64>>());
        }
    }
}
