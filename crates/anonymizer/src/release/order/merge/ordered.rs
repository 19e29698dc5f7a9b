//! The parts of a release: each is put into order as it comes, and all of them at the
//! end.

use std::io;

use crate::privacy::Seed;
use crate::release::lineage::Lineage;
use crate::release::order::order_rows;
use crate::release::table::{PublishedColumn, PublishedTable};

use super::alike::{Alike, alike};
use super::groups::first_numbers;
use super::joined::Joined;
use super::numbers::Numbers;
use super::part::{Blocks, Chunks, PartNumber, Rooms, unfit};
use super::room::Room;
use super::stored::{Shape, StoredPart};
use super::whole::Whole;
use super::{lists, rows};

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

    /// The same with so much in memory at once.
    pub(super) fn in_blocks(seed: &Seed, blocks: Blocks) -> Self {
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
                alike((room, shape.main), &parts.collect::<Vec<_>>(), &looked_at)
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
        let whole = Whole::of(shape, (room, in_order), (self.seed, self.blocks))?;
        let joined = Joined::of(&whole, (parts, joined), rooms)?;
        let groups = first_numbers(&whole, &joined)?;
        let last = groups.source_of.len() as u64;
        let numbers = Numbers::of(&whole, (groups.of_parts, last), rooms)?;
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
