//! The table with a row a subject, row by row in the published order.

use std::io;

use crate::microdata::{Codes, SubjectIndex};

use super::chunk::Chunk;
use super::groups::{Cursor, Depth};
use super::joined::Joined;
use super::numbers::Numbers;
use super::part::Chunks;
use super::queue::Run;
use super::whole::Whole;

/// Gives the rows, group by group; `source_of` are the sources of all groups in order.
pub(super) fn write(
    whole: &Whole,
    joined: &Joined,
    (source_of, numbers): (&Codes, &Numbers),
    take: &mut Chunks<'_>,
) -> io::Result<()> {
    let table = &whole.tables[whole.main];
    let sources = joined.sources(whole);
    let at_once = whole.blocks.rows_of_run(sources.len());
    let cursors = sources.iter();
    let cursors = cursors.map(|source| Cursor::new(whole, source, (Depth::Rows, at_once)));
    let mut cursors: Vec<Cursor<'_>> = cursors.collect();
    let mut alike = AlikeRows {
        whole,
        group: 0,
        key: vec![0; whole.words],
        numbers: Vec::new(),
        subjects: Vec::new(),
        order: Vec::new(),
        row: vec![0; table.columns.len()],
        chunk: Chunk::of(table, whole.blocks.chunk_rows, take),
    };
    for (number, source) in (1..).zip(source_of) {
        let cursor = &mut cursors[source as usize];
        cursor.advance()?;
        for row in cursor.rows() {
            cursor.see(row)?;
            alike.meet((number, cursor.key(row)))?;
            let (others, subject, part) = cursor.others(row);
            let others = (1..).zip(others);
            let others = others.map(|(space, &other)| numbers.of_part((space, part), other));
            alike.numbers.extend(others);
            alike.subjects.push(subject);
        }
    }
    alike.give()?;
    alike.chunk.finish()
}

/// Rows of a group that show the same: their other numbers decide.
struct AlikeRows<'a, 'c> {
    whole: &'a Whole,
    group: u64,
    key: Vec<u64>,
    /// The other numbers of each.
    numbers: Vec<u64>,
    subjects: Vec<SubjectIndex>,
    order: Vec<u32>,
    /// What is published of one row.
    row: Vec<u64>,
    chunk: Chunk<'a, 'c>,
}

impl AlikeRows<'_, '_> {
    /// Gives the rows before, if they are of another group or show something else.
    fn meet(&mut self, (group, key): (u64, &[u64])) -> io::Result<()> {
        if self.group == group && self.key == key {
            return Ok(());
        }
        self.give()?;
        self.group = group;
        self.key.copy_from_slice(key);
        self.row[self.whole.group] = group;
        for &(column, place) in &self.whole.shown {
            self.row[column] = place.get(key);
        }
        Ok(())
    }

    fn give(&mut self) -> io::Result<()> {
        let others = self.whole.others.len();
        let numbers = |row: u32| &self.numbers[row as usize * others..][..others];
        self.order.clear();
        self.order.extend(0..self.subjects.len() as u32);
        // Rows that nothing tells apart stay as they are.
        self.order
            .sort_by(|&one, &other| numbers(one).cmp(numbers(other)));
        for &row in &self.order {
            for (&column, &number) in self.whole.others.iter().zip(numbers(row)) {
                self.row[column] = number;
            }
            let subject = self.subjects[row as usize];
            self.chunk.push(&self.row, Some(subject))?;
        }
        self.numbers.clear();
        self.subjects.clear();
        Ok(())
    }
}
