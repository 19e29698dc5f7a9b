//! Tables without a row a subject, sorted by their columns from the left.

use std::cmp::Ordering;
use std::io;

use crate::release::order::keys::Place;
use crate::release::order::spaces::ListColumn;
use crate::release::table::Content;

use super::chunk::Chunk;
use super::numbers::Numbers;
use super::part::{Chunks, Rooms};
use super::queue::{Run, merge};
use super::room::{Room, WordRange, WordReader, WordWriter};
use super::stored::StoredPart;
use super::whole::Whole;

/// Gives the rows of the table at a position.
pub(super) fn write(
    (whole, table): (&Whole, usize),
    numbers: &Numbers,
    rooms: &mut Rooms<'_>,
    take: &mut Chunks<'_>,
) -> io::Result<()> {
    let list = List::of(whole, table, numbers);
    let mut room = Room::of(rooms()?);
    let mut runs = Vec::with_capacity(whole.parts.len());
    for (at, part) in (0..).zip(&whole.parts) {
        runs.push(list.write_part((at, part), &mut room)?);
    }
    let at_once = whole.blocks.rows_of_run(runs.len()) * list.words;
    let runs = runs.into_iter().map(|range| ListRun {
        words: WordReader::new(&room, range, at_once),
        key: list.words,
        is_begun: false,
    });
    let mut chunk = Chunk::of(&whole.tables[table], whole.blocks.chunk_rows, take);
    let mut row = vec![0; list.places.len()];
    merge(&mut runs.collect::<Vec<_>>(), &mut |_, run| {
        for (value, place) in row.iter_mut().zip(&list.places) {
            *value = place.get(run.key());
        }
        chunk.push(&row, None)
    })?;
    chunk.finish()
}

/// A list, and where its columns stand in the key of a row.
struct List<'a> {
    whole: &'a Whole,
    numbers: &'a Numbers,
    table: usize,
    places: Vec<Place>,
    words: usize,
}

impl<'a> List<'a> {
    fn of(whole: &'a Whole, table: usize, numbers: &'a Numbers) -> Self {
        let columns = whole.tables[table].columns.iter().enumerate();
        let bits = columns.map(|(column, described)| {
            if described.content.is_number() {
                let spaces = 0..whole.spaces.spaces.len();
                let largest = spaces.map(|space| numbers.largest(space)).max();
                u64::BITS - largest.unwrap_or(0).leading_zeros()
            } else {
                whole.bits(table, column)
            }
        });
        let (places, words) = Place::of(bits);
        Self {
            whole,
            numbers,
            table,
            places,
            words,
        }
    }

    /// Puts the rows of a part into room in order.
    fn write_part(&self, (at, part): (u32, &StoredPart), room: &mut Room) -> io::Result<WordRange> {
        let words = self.words;
        let rows = part.tables[self.table].rows;
        let mut keys = vec![0_u64; rows as usize * words];
        for (column, &place) in self.places.iter().enumerate() {
            let values = self.values((at, part), column)?;
            for (key, value) in keys.chunks_exact_mut(words).zip(values) {
                place.put(key, value);
            }
        }
        let key = |row: u32| &keys[row as usize * words..(row as usize + 1) * words];
        let mut rows: Vec<u32> = (0..rows).collect();
        rows.sort_unstable_by(|&one, &other| key(one).cmp(key(other)));
        let mut writer = WordWriter::new(room);
        for row in rows {
            writer.put(key(row).iter().copied())?;
        }
        writer.finish()
    }

    /// What the rows of a part have in a column: ranks of cells, or numbers as they are
    /// in the whole release.
    fn values(&self, (at, part): (u32, &StoredPart), column: usize) -> io::Result<Vec<u64>> {
        let read = |column: usize| self.whole.values_of_list(part, (self.table, column));
        let mut values = read(column)?;
        let mut lists = self.whole.spaces.lists.iter();
        let is_this = |list: &&ListColumn| list.table == self.table && list.column == column;
        let Some(list) = lists.find(is_this) else {
            return Ok(values);
        };
        let mut columns = self.whole.tables[self.table].columns.iter();
        let attributes = columns.position(|column| column.content == Content::Attribute);
        let attributes = match attributes {
            Some(column) => read(column)?,
            None => vec![0; values.len()],
        };
        for (number, attribute) in values.iter_mut().zip(attributes) {
            let space = list.space(attribute as u32);
            *number = self.numbers.of_part((space, at), *number);
        }
        Ok(values)
    }
}

/// The rows of a part in order.
struct ListRun<'a> {
    words: WordReader<'a>,
    /// Numbers of 64 bits of the key of a row.
    key: usize,
    is_begun: bool,
}

impl ListRun<'_> {
    fn key(&self) -> &[u64] {
        self.words.get(0..self.key)
    }
}

impl Run for ListRun<'_> {
    fn advance(&mut self) -> io::Result<bool> {
        if self.is_begun {
            self.words.skip(self.key);
        }
        self.is_begun = true;
        self.words.has(self.key)
    }

    fn compare(&self, other: &Self) -> io::Result<Ordering> {
        Ok(self.key().cmp(other.key()))
    }
}
