//! Groups that are one: their rows are taken out of their parts and stand together, in
//! runs that are in order as parts are.

use std::cmp::Ordering;
use std::io;
use std::ops::Range;

use crate::microdata::SubjectIndex;
use crate::release::order::tie_draw;

use super::alike::Alike;
use super::groups::{Origin, Source};
use super::part::{PartNumber, Rooms, unfit};
use super::room::{Column, Room};
use super::stored::StoredTable;
use super::whole::Whole;

/// The groups that are one, and all groups that are not.
pub(super) struct Joined {
    room: Option<Room>,
    runs: Vec<JoinedRun>,
    /// The parts, by position, and groups from 0 of each joined group, one behind the
    /// other.
    members: Vec<(u32, u32)>,
    /// Groups of each part whose rows are in runs, from 0 and ascending.
    taken: Vec<Vec<u32>>,
}

/// Joined groups in order, with the rows of each.
struct JoinedRun {
    table: StoredTable,
    subjects: Column,
    origins: Column,
    sizes: Column,
    /// The members of each group.
    members: Vec<Range<usize>>,
}

/// A group of a part whose rows are to be joined with others.
struct Segment {
    joined: u32,
    part: u32,
    group: u32,
    rows: Range<u32>,
}

impl Joined {
    /// Takes the groups that are one out of the parts, which are `numbers` in order.
    pub fn of(
        whole: &Whole,
        (numbers, alike): (&[PartNumber], &[Alike]),
        rooms: &mut Rooms<'_>,
    ) -> io::Result<Self> {
        let (segments, taken) = segments(whole, numbers, alike)?;
        let members = segments.iter();
        let mut made = Self {
            room: None,
            runs: Vec::new(),
            members: members.map(|one| (one.part, one.group)).collect(),
            taken,
        };
        if segments.is_empty() {
            return Ok(made);
        }
        let mut room = Room::of(rooms()?);
        let mut batch = Batch::of(whole);
        let mut first = 0;
        for segments in segments.chunk_by(|one, other| one.joined == other.joined) {
            let members = first..first + segments.len();
            first = members.end;
            batch.add(segments, members)?;
            if batch.subjects.len() >= whole.blocks.joined_rows {
                made.runs.push(batch.write(&mut room)?);
                batch = Batch::of(whole);
            }
        }
        if !batch.groups.is_empty() {
            made.runs.push(batch.write(&mut room)?);
        }
        made.room = Some(room);
        Ok(made)
    }

    /// All groups in order, source by source: first the parts.
    pub fn sources<'a>(&'a self, whole: &'a Whole) -> Vec<Source<'a>> {
        let parts = (0..).zip(&whole.parts).zip(&self.taken);
        let parts = parts.map(|((at, part), taken)| Source {
            room: &whole.room,
            table: &part.tables[whole.main],
            subjects: part.subjects,
            sizes: part.sizes,
            groups: part.groups,
            origin: Origin::Part(at),
            taken,
        });
        let runs = self.room.iter().flat_map(|room| {
            self.runs.iter().map(move |run| Source {
                room,
                table: &run.table,
                subjects: run.subjects,
                sizes: run.sizes,
                groups: run.members.len() as u32,
                origin: Origin::OfRow(run.origins),
                taken: &[],
            })
        });
        parts.chain(runs).collect()
    }

    /// Gives the parts, by position, and groups, from 0, whose rows a group of a source
    /// has.
    pub fn each_member(&self, (source, group): (usize, u32), take: &mut dyn FnMut(u32, u32)) {
        match source.checked_sub(self.taken.len()) {
            None => take(source as u32, group),
            Some(run) => {
                let members = self.runs[run].members[group as usize].clone();
                let members = self.members[members].iter();
                members.for_each(|&(part, group)| take(part, group));
            }
        }
    }
}

/// The groups to be joined, those of one behind each other, and for each part those of
/// its own.
fn segments(
    whole: &Whole,
    numbers: &[PartNumber],
    alike: &[Alike],
) -> io::Result<(Vec<Segment>, Vec<Vec<u32>>)> {
    let mut position: Vec<Option<u32>> = Vec::new();
    for (at, number) in (0..).zip(numbers) {
        let number = number.0 as usize;
        position.resize(position.len().max(number + 1), None);
        position[number] = Some(at);
    }
    let mut of_parts: Vec<Vec<(u32, u32)>> = vec![Vec::new(); whole.parts.len()];
    for (joined, alike) in (0_u32..).zip(alike) {
        for group in &alike.groups {
            let part = position.get(group.part.0 as usize).copied().flatten();
            let (Some(part), Some(at)) = (part, group.group.checked_sub(1)) else {
                return Err(unfit("a joined group is not there"));
            };
            of_parts[part as usize].push((at, joined));
        }
    }
    let mut segments = Vec::with_capacity(of_parts.iter().map(Vec::len).sum());
    let mut taken = Vec::with_capacity(of_parts.len());
    for ((at, part), mut own) in (0..).zip(&whole.parts).zip(of_parts) {
        own.sort_unstable();
        if own.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(unfit("a group is joined twice"));
        }
        if own.last().is_some_and(|&(last, _)| last >= part.groups) {
            return Err(unfit("a joined group is not there"));
        }
        taken.push(own.iter().map(|&(group, _)| group).collect());
        if own.is_empty() {
            continue;
        }
        let (mut start, mut own) = (0, own.into_iter().peekable());
        let sizes = part.sizes.small_numbers(&whole.room, 0..part.groups)?;
        for (group, size) in (0..).zip(sizes) {
            if let Some((_, joined)) = own.next_if(|&(next, _)| next == group) {
                segments.push(Segment {
                    joined,
                    part: at,
                    group,
                    rows: start..start + size,
                });
            }
            start += size;
        }
    }
    segments.sort_unstable_by_key(|one| (one.joined, one.part, one.group));
    Ok((segments, taken))
}

/// Joined groups in memory.
struct Batch<'a> {
    whole: &'a Whole,
    /// What rows have in room, column after column, as in their parts.
    columns: Vec<Vec<u64>>,
    keys: Vec<u64>,
    subjects: Vec<SubjectIndex>,
    /// The part of each row, and which row of it it was.
    before: Vec<(u32, u32)>,
    /// Rows in order, group by group.
    rows: Vec<u32>,
    groups: Vec<JoinedGroup>,
}

/// A group of a batch.
struct JoinedGroup {
    /// Places in the rows in order.
    rows: Range<usize>,
    members: Range<usize>,
}

impl<'a> Batch<'a> {
    fn of(whole: &'a Whole) -> Self {
        Self {
            whole,
            columns: vec![Vec::new(); whole.tables[whole.main].columns.len()],
            keys: Vec::new(),
            subjects: Vec::new(),
            before: Vec::new(),
            rows: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Adds a group of all rows of these, and sorts its rows.
    fn add(&mut self, segments: &[Segment], members: Range<usize>) -> io::Result<()> {
        let first = self.subjects.len();
        for segment in segments {
            self.read(segment)?;
        }
        let words = self.whole.words;
        self.keys.resize(self.subjects.len() * words, 0);
        for row in first..self.subjects.len() {
            let key = &mut self.keys[row * words..(row + 1) * words];
            for &(column, place) in &self.whole.shown {
                let number = self.columns[column][row];
                place.put(key, self.whole.value((self.whole.main, column), number));
            }
        }
        let mut rows: Vec<u32> = (first as u32..self.subjects.len() as u32).collect();
        rows.sort_unstable_by(|&one, &other| {
            let before = |row: u32| self.before[row as usize];
            let keys = self.key(one).cmp(self.key(other));
            keys.then_with(|| before(one).cmp(&before(other)))
        });
        self.rows.extend(rows);
        self.groups.push(JoinedGroup {
            rows: first..self.rows.len(),
            members,
        });
        Ok(())
    }

    fn read(&mut self, segment: &Segment) -> io::Result<()> {
        let whole = self.whole;
        let part = &whole.parts[segment.part as usize];
        let stored = &part.tables[whole.main].columns;
        let mut bytes = Vec::new();
        for (column, stored) in self.columns.iter_mut().zip(stored) {
            let take = |_, number| column.push(number);
            stored.read(&whole.room, segment.rows.clone(), &mut bytes, take)?;
        }
        let take = |_, subject: u64| self.subjects.push(SubjectIndex(subject as u32));
        part.subjects
            .read(&whole.room, segment.rows.clone(), &mut bytes, take)?;
        let take = |_, row: u64| self.before.push((segment.part, row as u32));
        part.before
            .read(&whole.room, segment.rows.clone(), &mut bytes, take)
    }

    fn key(&self, row: u32) -> &[u64] {
        let at = row as usize * self.whole.words;
        &self.keys[at..at + self.whole.words]
    }

    fn compare(&self, one: &JoinedGroup, other: &JoinedGroup) -> Ordering {
        let shown = |group: &JoinedGroup| self.rows[group.rows.clone()].iter();
        let own = shown(one).map(|&row| self.key(row));
        own.cmp(shown(other).map(|&row| self.key(row)))
    }

    /// What decides between groups that show the same.
    fn draw(&self, group: &JoinedGroup) -> u64 {
        let rows = self.rows[group.rows.clone()].iter();
        let subjects = rows.map(|&row| self.subjects[row as usize].0);
        let first = subjects.min().unwrap_or(u32::MAX);
        tie_draw(&self.whole.seed, 0, SubjectIndex(first))
    }

    /// Puts the groups into room in order.
    fn write(mut self, room: &mut Room) -> io::Result<JoinedRun> {
        let mut groups = std::mem::take(&mut self.groups);
        groups.sort_unstable_by(|one, other| self.compare(one, other));
        for alike in groups.chunk_by_mut(|one, other| self.compare(one, other).is_eq()) {
            if alike.len() > 1 {
                alike.sort_by_cached_key(|group| self.draw(group));
            }
        }
        let rows = groups
            .iter()
            .flat_map(|group| &self.rows[group.rows.clone()]);
        let rows = rows.map(|&row| row as usize);
        let mut columns = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            columns.push(write(room, rows.clone().map(|row| column[row]))?);
        }
        let subjects = rows.clone().map(|row| u64::from(self.subjects[row].0));
        let subjects = write(room, subjects)?;
        let origins = write(room, rows.map(|row| u64::from(self.before[row].0)))?;
        let sizes = write(room, groups.iter().map(|group| group.rows.len() as u64))?;
        Ok(JoinedRun {
            table: StoredTable {
                rows: self.rows.len() as u32,
                columns,
            },
            subjects,
            origins,
            sizes,
            members: groups.into_iter().map(|group| group.members).collect(),
        })
    }
}

fn write(room: &mut Room, numbers: impl Iterator<Item = u64> + Clone) -> io::Result<Column> {
    let largest = numbers.clone().max().unwrap_or(0);
    Column::write(room, numbers, largest)
}
