//! The groups of all parts in one order.
//!
//! The groups of a part are in order already, each with its rows sorted by what they
//! show: the first group of all is the first of one of the parts. Where groups show the
//! same, the draw of the run's seed for their first subjects decides, as in a part.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::io;
use std::ops::Range;

use crate::microdata::{Codes, SubjectIndex};
use crate::release::order::tie_draw;

use super::joined::Joined;
use super::queue::{Run, merge};
use super::room::{Column, Room};
use super::stored::StoredTable;
use super::whole::Whole;

/// Rows grouped and in order: those of a part, or of groups of several parts.
pub(super) struct Source<'a> {
    pub room: &'a Room,
    pub table: &'a StoredTable,
    pub subjects: Column,
    pub sizes: Column,
    pub groups: u32,
    pub origin: Origin,
    /// Groups, from 0 and ascending, whose rows stand in another source.
    pub taken: &'a [u32],
}

/// The part, by position, whose numbers rows have.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// The same for all rows.
    Part(u32),
    /// A column says it.
    OfRow(Column),
}

/// What is read of rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// What they show.
    Keys,
    /// Their other numbers, subjects and parts as well.
    Rows,
}

/// Some rows of a source in memory.
struct Window {
    rows: Range<u32>,
    /// The key of each row.
    keys: Vec<u64>,
    /// The other numbers of each row, by its part.
    numbers: Vec<u64>,
    subjects: Vec<u32>,
    origins: Vec<u32>,
    bytes: Vec<u8>,
}

/// Goes through the groups of a source.
pub(super) struct Cursor<'a> {
    whole: &'a Whole,
    source: &'a Source<'a>,
    depth: Depth,
    /// Rows in memory, at most.
    at_once: u32,
    /// The group, from 0, and its rows.
    group: u32,
    rows: Range<u32>,
    next: u32,
    taken: usize,
    /// Sizes of groups from the first on.
    sizes: (u32, Vec<u32>),
    window: Window,
    draw: OnceCell<u64>,
}

impl<'a> Cursor<'a> {
    /// Before the first group; holds at most `at_once` rows in memory.
    pub fn new(whole: &'a Whole, source: &'a Source<'a>, (depth, at_once): (Depth, usize)) -> Self {
        Self {
            whole,
            source,
            depth,
            at_once: at_once.clamp(1, u32::MAX as usize) as u32,
            group: 0,
            rows: 0..0,
            next: 0,
            taken: 0,
            sizes: (0, Vec::new()),
            window: Window::empty(),
            draw: OnceCell::new(),
        }
    }

    /// The group's number in its source, from 0.
    pub fn group(&self) -> u32 {
        self.group
    }

    /// The group's rows in its source.
    pub fn rows(&self) -> Range<u32> {
        self.rows.clone()
    }

    /// What a row shows; [`Cursor::see`] has looked at it or at the group's first.
    pub fn key(&self, row: u32) -> &[u64] {
        let at = (row - self.window.rows.start) as usize * self.whole.words;
        &self.window.keys[at..at + self.whole.words]
    }

    /// The other numbers, the subject and the part of such a row.
    pub fn others(&self, row: u32) -> (&[u64], SubjectIndex, u32) {
        let at = (row - self.window.rows.start) as usize;
        let others = self.whole.others.len();
        let numbers = &self.window.numbers[at * others..(at + 1) * others];
        let origin = match self.source.origin {
            Origin::Part(part) => part,
            Origin::OfRow(_) => self.window.origins[at],
        };
        (numbers, SubjectIndex(self.window.subjects[at]), origin)
    }

    /// Reads a row of the group into memory, and those behind it.
    pub fn see(&mut self, row: u32) -> io::Result<()> {
        if self.window.rows.contains(&row) {
            return Ok(());
        }
        self.load(row)
    }

    fn load(&mut self, first: u32) -> io::Result<()> {
        let end = self
            .source
            .table
            .rows
            .min(first.saturating_add(self.at_once));
        let Self { whole, source, .. } = *self;
        let window = &mut self.window;
        window.rows = first..end;
        window.read_keys(whole, source)?;
        if self.depth == Depth::Rows {
            window.read_others(whole, source)?;
        }
        Ok(())
    }

    fn size(&mut self, group: u32) -> io::Result<u32> {
        let (first, sizes) = &mut self.sizes;
        if sizes.len() as u32 <= group - *first {
            let end = self.source.groups.min(group.saturating_add(self.at_once));
            *first = group;
            *sizes = self
                .source
                .sizes
                .small_numbers(self.source.room, group..end)?;
        }
        Ok(sizes[(group - *first) as usize])
    }

    /// What the first rows of the group show, those in memory, one behind the other.
    fn head(&self) -> &[u64] {
        let first = self.rows.start - self.window.rows.start;
        let end = self.rows.end.min(self.window.rows.end) - self.window.rows.start;
        let words = self.whole.words;
        &self.window.keys[first as usize * words..end as usize * words]
    }

    /// Compares what the rows behind show that are not in memory: those from `seen` on.
    fn compare_behind(&self, other: &Self, mut seen: u32) -> io::Result<Ordering> {
        let shared = self.rows.len().min(other.rows.len()) as u32;
        let (mut own, mut others) = (Window::empty(), Window::empty());
        while seen < shared {
            let end = shared.min(seen.saturating_add(self.at_once));
            for (window, cursor) in [(&mut own, self), (&mut others, other)] {
                let start = cursor.rows.start;
                window.rows = start + seen..start + end;
                window.read_keys(cursor.whole, cursor.source)?;
            }
            let order = own.keys.cmp(&others.keys);
            if order.is_ne() {
                return Ok(order);
            }
            seen = end;
        }
        Ok(self.rows.len().cmp(&other.rows.len()))
    }

    /// What decides between groups that show the same.
    fn draw(&self) -> io::Result<u64> {
        if let Some(&draw) = self.draw.get() {
            return Ok(draw);
        }
        let (mut first, mut bytes) = (u32::MAX, Vec::new());
        for start in self.rows.clone().step_by(self.at_once as usize) {
            let rows = start..self.rows.end.min(start.saturating_add(self.at_once));
            let subjects = self.source.subjects;
            subjects.read(self.source.room, rows, &mut bytes, |_, subject| {
                first = first.min(subject as u32);
            })?;
        }
        let draw = || tie_draw(&self.whole.seed, 0, SubjectIndex(first));
        Ok(*self.draw.get_or_init(draw))
    }
}

impl Run for Cursor<'_> {
    fn advance(&mut self) -> io::Result<bool> {
        self.draw.take();
        loop {
            self.rows.start = self.rows.end;
            if self.next == self.source.groups {
                return Ok(false);
            }
            self.group = self.next;
            self.next += 1;
            self.rows.end += self.size(self.group)?;
            if self.source.taken.get(self.taken) == Some(&self.group) {
                self.taken += 1;
                continue;
            }
            let head = self
                .rows
                .end
                .min(self.rows.start.saturating_add(self.at_once));
            if self.rows.start < self.window.rows.start || head > self.window.rows.end {
                self.load(self.rows.start)?;
            }
            return Ok(true);
        }
    }

    fn compare(&self, other: &Self) -> io::Result<Ordering> {
        let (own, others) = (self.head(), other.head());
        let shared = own.len().min(others.len());
        let mut order = own[..shared].cmp(&others[..shared]);
        if order.is_eq() {
            order = self.compare_behind(other, (shared / self.whole.words) as u32)?;
        }
        if order.is_eq() {
            order = self.draw()?.cmp(&other.draw()?);
        }
        Ok(order)
    }
}

impl Window {
    fn empty() -> Self {
        Self {
            rows: 0..0,
            keys: Vec::new(),
            numbers: Vec::new(),
            subjects: Vec::new(),
            origins: Vec::new(),
            bytes: Vec::new(),
        }
    }

    fn read_keys(&mut self, whole: &Whole, source: &Source<'_>) -> io::Result<()> {
        let (words, keys) = (whole.words, &mut self.keys);
        keys.clear();
        keys.resize(self.rows.len() * words, 0);
        for &(column, place) in &whole.shown {
            let put = |row: usize, number: u64| {
                let value = whole.value((whole.main, column), number);
                place.put(&mut keys[row * words..(row + 1) * words], value);
            };
            let rows = self.rows.clone();
            source.table.columns[column].read(source.room, rows, &mut self.bytes, put)?;
        }
        Ok(())
    }

    fn read_others(&mut self, whole: &Whole, source: &Source<'_>) -> io::Result<()> {
        let (others, numbers) = (whole.others.len(), &mut self.numbers);
        numbers.resize(self.rows.len() * others, 0);
        for (place, &column) in whole.others.iter().enumerate() {
            let put = |row: usize, number| numbers[row * others + place] = number;
            let rows = self.rows.clone();
            source.table.columns[column].read(source.room, rows, &mut self.bytes, put)?;
        }
        self.subjects = source
            .subjects
            .small_numbers(source.room, self.rows.clone())?;
        if let Origin::OfRow(column) = source.origin {
            self.origins = column.small_numbers(source.room, self.rows.clone())?;
        }
        Ok(())
    }
}

/// The numbers of groups in the whole release.
pub(super) struct Groups {
    /// The source of each group, by number from 1; the first stands at 0.
    pub source_of: Codes,
    /// The number of each group of each part, from its number 1 on.
    pub of_parts: Vec<Vec<u32>>,
}

/// Merges the groups of all parts.
pub(super) fn first_numbers(whole: &Whole, joined: &Joined) -> io::Result<Groups> {
    let sources = joined.sources(whole);
    let at_once = whole.blocks.rows_of_run(sources.len());
    let cursors = sources.iter();
    let cursors = cursors.map(|source| Cursor::new(whole, source, (Depth::Keys, at_once)));
    let mut cursors: Vec<Cursor<'_>> = cursors.collect();
    let of_parts = whole.parts.iter().map(|part| vec![0; part.groups as usize]);
    let mut groups = Groups {
        source_of: Codes::default(),
        of_parts: of_parts.collect(),
    };
    merge(&mut cursors, &mut |source, cursor| {
        groups.source_of.push(source as u32);
        let number = groups.source_of.len() as u32;
        joined.each_member((source, cursor.group()), &mut |part, group| {
            groups.of_parts[part as usize][group as usize] = number;
        });
        Ok(())
    })?;
    Ok(groups)
}
