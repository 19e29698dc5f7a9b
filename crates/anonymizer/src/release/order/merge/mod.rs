//! The order of a release whose parts come one after the other and are never in memory
//! together.
//!
//! Each part is put into the order of a release by itself and stands in room beside the
//! memory. What the whole release looks like follows by merging, since what a part's
//! rows show compares in the whole as it does in the part: cells of all parts have one
//! dictionary, and groups get their numbers as those of all parts are merged by content.
//! Groups that several parts show alike are one group; they are taken out of their parts
//! first, since their content is that of all their rows. Later numbers, those of buckets,
//! come next, by the numbers of the groups: from here on a part's numbers are looked up.
//! At last the rows are read once more, now in their order.
//!
//! The tables are those that [`order`](super::order) makes of the union of all parts,
//! and so is the lineage. In memory are the dictionaries, for each group and bucket a
//! number and for each group its part, blocks of rows of each part, and one part's lists
//! and buckets at a time; of joined groups also what is known of them beforehand.
//!
//! `stored` writes parts, `dictionary` has the cells, `alike` finds groups that are one,
//! `whole` is what holds for all rows, `groups` merges groups, `joined` makes runs of
//! those of several parts, `numbers` ranks later numbers, `rows` and `lists` give the
//! tables in chunks (`chunk`); `queue` merges, `room` reads and writes.

mod alike;
mod chunk;
mod dictionary;
mod groups;
mod joined;
mod lists;
mod numbers;
mod queue;
mod room;
mod rows;
mod stored;
mod whole;

#[cfg(test)]
mod tests;

use std::io;

use crate::microdata::{Spill, SubjectIndex};
use crate::privacy::Seed;
use crate::release::lineage::Lineage;
use crate::release::table::{PublishedColumn, PublishedTable};

use super::order_rows;
use room::Room;
use stored::{Shape, StoredPart};

pub use alike::Alike;

/// Gives empty room beside the memory.
pub type Rooms<'r> = dyn FnMut() -> io::Result<Box<dyn Spill + Send + Sync>> + 'r;

/// Takes rows of a table, which follow those before, and their subjects; no subjects
/// where a row is of none. Every table comes at least once, without rows if it has none.
pub type Chunks<'c> = dyn FnMut(PublishedTable, &[SubjectIndex]) -> io::Result<()> + 'c;

/// A part, by the order in which parts were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartNumber(pub u32);

/// A group of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartGroup {
    /// The part.
    pub part: PartNumber,
    /// Number of the group in the part, from 1, by the part's own order.
    pub group: u32,
}

/// How much is in memory at once.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    /// Rows of a chunk, at most.
    chunk_rows: usize,
    /// Rows of all parts together that are merged at once, about.
    merged_rows: usize,
    /// Rows of groups of several parts that are sorted at once, or one group.
    joined_rows: usize,
}

impl Blocks {
    const USUAL: Self = Self {
        chunk_rows: 1 << 16,
        merged_rows: 1 << 20,
        joined_rows: 1 << 18,
    };

    /// Rows in memory of each of so many runs.
    fn rows_of_run(self, runs: usize) -> usize {
        (self.merged_rows / runs.max(1)).clamp(1, self.merged_rows.max(1))
    }
}

/// The parts of a release, each in order by itself, in room beside the memory.
///
/// After an error of the room nothing more is to be asked of them.
pub struct OrderedParts {
    seed: Seed,
    blocks: Blocks,
    room: Option<Room>,
    /// What the tables of all parts have in common; known with the first.
    shape: Option<Shape>,
    /// By number; none where a part was removed.
    parts: Vec<Option<StoredPart>>,
}

impl OrderedParts {
    /// No parts; `seed` is the run's, and decides between groups that show the same.
    pub fn new(seed: &Seed) -> Self {
        Self::in_blocks(seed, Blocks::USUAL)
    }

    fn in_blocks(seed: &Seed, blocks: Blocks) -> Self {
        Self {
            seed: seed.clone(),
            blocks,
            room: None,
            shape: None,
            parts: Vec::new(),
        }
    }

    /// Puts a part into order by itself and then into room; all parts share one.
    /// The subjects of `lineage` are those of the whole table. One table has a row a
    /// subject and numbers of groups; all others are lists, which may name them.
    ///
    /// # Errors
    /// What the room says. `InvalidInput` for tables of another form than those of the
    /// parts before, of sliced releases, without numbers of groups or with rows that
    /// have none.
    pub fn add(
        &mut self,
        mut tables: Vec<PublishedTable>,
        mut lineage: Lineage,
        rooms: &mut Rooms<'_>,
    ) -> io::Result<PartNumber> {
        let rows_before = order_rows(&mut tables, &mut lineage, &self.seed);
        let (Some(Some(rows_before)), [lineage]) = (rows_before.first(), &*lineage.tables) else {
            return Err(unfit(
                "a part needs one table with a row a subject and groups",
            ));
        };
        if self.shape.is_none() {
            self.shape = Some(Shape::of(&tables, &lineage.table)?);
        }
        if self.room.is_none() {
            self.room = Some(Room::of(rooms()?));
        }
        let (Some(shape), Some(room)) = (&mut self.shape, &mut self.room) else {
            return Err(unfit("a part needs room"));
        };
        let part = shape.store(room, &tables, (&lineage.subjects, rows_before))?;
        self.parts.push(Some(part));
        Ok(PartNumber(self.parts.len() as u32 - 1))
    }

    /// Forgets a part, which is made anew together with others. Room is given back only
    /// when no part is left.
    ///
    /// # Errors
    /// What the room says.
    pub fn remove(&mut self, part: PartNumber) -> io::Result<()> {
        if let Some(part) = self.parts.get_mut(part.0 as usize) {
            *part = None;
        }
        if let Some(room) = &mut self.room
            && self.parts.iter().all(Option::is_none)
        {
            room.clear()?;
        }
        Ok(())
    }

    /// What several groups show alike in the columns chosen, of one part or of several,
    /// by the first row of each such look. Takes 8 bytes a group, and the looks, groups
    /// and subjects that it gives.
    ///
    /// # Errors
    /// What the room says.
    pub fn alike(&self, is_looked_at: &dyn Fn(&PublishedColumn) -> bool) -> io::Result<Vec<Alike>> {
        match (&self.shape, &self.room) {
            (Some(shape), Some(room)) => {
                let parts = (0..).zip(&self.parts);
                let parts = parts.filter_map(|(at, part)| Some((PartNumber(at), part.as_ref()?)));
                let looked_at = shape.shown_columns(is_looked_at);
                alike::alike((room, shape.main), &parts.collect::<Vec<_>>(), &looked_at)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Whether parts have a table of this name.
    pub fn has(&self, table: &str) -> bool {
        let tables = self.shape.iter().flat_map(|shape| &shape.tables);
        tables.into_iter().any(|one| one.name == table)
    }

    /// A table without a row a subject, part by part. Numbers are those of the part:
    /// of different parts they mean different groups and buckets.
    ///
    /// # Errors
    /// What the room says.
    pub fn list(
        &self,
        table: &str,
        take: &mut dyn FnMut(PartNumber, PublishedTable),
    ) -> io::Result<()> {
        let (Some(shape), Some(room)) = (&self.shape, &self.room) else {
            return Ok(());
        };
        let mut tables = shape.tables.iter();
        let Some(at) = tables
            .position(|one| one.name == table)
            .filter(|&at| at != shape.main)
        else {
            return Ok(());
        };
        for (number, part) in (0..).zip(&self.parts) {
            if let Some(part) = part {
                take(PartNumber(number), shape.read_list(room, part, at)?);
            }
        }
        Ok(())
    }

    /// Gives the whole release, table after table, in chunks of rows in the published
    /// order. `parts` are all parts in the order of the union: of people whose rows
    /// nothing tells apart, the lineage names those of the first part first. The groups
    /// of each of `joined` are one group.
    ///
    /// # Errors
    /// What a room or `take` says. `InvalidInput` for a part or a group that is not
    /// there, and for one that is named twice.
    pub fn write(
        mut self,
        parts: &[PartNumber],
        joined: &[Alike],
        rooms: &mut Rooms<'_>,
        take: &mut Chunks<'_>,
    ) -> io::Result<()> {
        let mut in_order = Vec::with_capacity(parts.len());
        for &part in parts {
            let stored = self.parts.get_mut(part.0 as usize);
            let stored = stored.and_then(Option::take);
            in_order.push(stored.ok_or_else(|| unfit("a part is not there, or named twice"))?);
        }
        if self.parts.iter().any(Option::is_some) {
            return Err(unfit("a part is not named"));
        }
        let (Some(shape), Some(room), false) = (self.shape, self.room, parts.is_empty()) else {
            return Ok(());
        };
        let whole = whole::Whole::of(shape, (room, in_order), (self.seed, self.blocks))?;
        let joined = joined::Joined::of(&whole, (parts, joined), rooms)?;
        let groups = groups::first_numbers(&whole, &joined)?;
        let last = groups.source_of.len() as u64;
        let numbers = numbers::Numbers::of(&whole, (groups.of_parts, last), rooms)?;
        for table in 0..whole.tables.len() {
            if table == whole.main {
                rows::write(&whole, &joined, (&groups.source_of, &numbers), take)?;
            } else {
                lists::write((&whole, table), &numbers, rooms, take)?;
            }
        }
        Ok(())
    }
}

/// What a caller did that does not fit.
fn unfit(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}
