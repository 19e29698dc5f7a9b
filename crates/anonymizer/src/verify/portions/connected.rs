//! Which numbers of a release belong together.

use crate::microdata::{Multiplicity, Role, refine_by_code};
use crate::release::{Cells, PublishedTable};

use super::{Numbered, Portions};
use crate::verify::evidence::Evidence;
use crate::verify::meaning::categories;
use crate::verify::shape::{MICRODATA, is_readable};

/// The groups and buckets of a release, and which of them no portion may part.
pub(super) struct Connected<'a> {
    table: &'a PublishedTable,
    group: &'a [u64],
    spaces: Vec<Space>,
    /// Another number that each belongs to, or itself; numbers of all spaces, one
    /// space behind the other.
    above: Vec<u32>,
}

/// Numbers from 1 on that belong to each other.
struct Space {
    name: String,
    /// Where its numbers begin among those of all spaces; the first is 0, which is none.
    start: usize,
    /// The largest number.
    last: u64,
}

impl<'a> Connected<'a> {
    /// None of a release in which anything is irregular.
    pub(super) fn of(evidence: &Evidence<'a>) -> Option<Self> {
        let table = evidence.published(MICRODATA)?;
        if !is_regular(evidence, table) {
            return None;
        }
        let mut found = Self {
            group: match &table.columns.first()?.cells {
                Cells::Numbers(numbers) => numbers,
                Cells::Dictionary { .. } => return None,
            },
            table,
            spaces: Vec::new(),
            above: Vec::new(),
        };
        for table in evidence.tables {
            found.add_spaces(table)?;
        }
        let numbers: usize = found
            .spaces
            .iter()
            .map(|space| space.last as usize + 1)
            .sum();
        found.above = (0..u32::try_from(numbers).ok()?).collect();
        let mut is_used = vec![false; numbers];
        for table in evidence.tables {
            found.connect_rows(table, &mut is_used)?;
        }
        let mut spaces = found.spaces.iter();
        let has_gap = spaces.any(|space| {
            let (first, end) = (space.start + 1, space.start + space.last as usize + 1);
            is_used[first..end].iter().any(|is_used| !is_used)
        });
        if has_gap {
            return None;
        }
        found.connect_looks(evidence)?;
        Some(found)
    }

    /// Finds the spaces of the numbers of a table, and how far they go.
    fn add_spaces(&mut self, table: &PublishedTable) -> Option<()> {
        let most = self.table.rows() as u64;
        for column in &table.columns {
            let found = Numbered::of((table, column), |name| {
                let known = self.spaces.iter().position(|space| space.name == name);
                Some(known.unwrap_or_else(|| {
                    self.spaces.push(Space {
                        name: name.into(),
                        start: 0,
                        last: 0,
                    });
                    self.spaces.len() - 1
                }))
            });
            let Some(found) = found else {
                continue;
            };
            for row in 0..table.rows() {
                let (space, number) = found.at(row);
                let last = &mut self.spaces[space].last;
                *last = number.max(*last);
            }
        }
        let mut start = 0;
        for space in &mut self.spaces {
            if space.last > most {
                return None;
            }
            space.start = start;
            start += space.last as usize + 1;
        }
        Some(())
    }

    /// Numbers that one row names belong together; the first column of numbers names
    /// one in every row.
    fn connect_rows(&mut self, table: &PublishedTable, is_used: &mut [bool]) -> Option<()> {
        let spaces = &self.spaces;
        let space = |name: &str| spaces.iter().position(|space| space.name == name);
        let columns = table.columns.iter();
        let columns = columns.filter_map(|column| Numbered::of((table, column), space));
        let columns: Vec<Numbered> = columns.collect();
        let starts: Vec<usize> = spaces.iter().map(|space| space.start).collect();
        let (first, others) = columns.split_first()?;
        let node = |(space, number): (usize, u64)| starts[space] + number as usize;
        for row in 0..table.rows() {
            let (space, number) = first.at(row);
            if number == 0 {
                return None;
            }
            let own = node((space, number));
            is_used[own] = true;
            for column in others {
                let (space, number) = column.at(row);
                if number > 0 {
                    let other = node((space, number));
                    is_used[other] = true;
                    self.unite(own, other);
                }
            }
        }
        Some(())
    }

    /// Groups that show the same quasi-identifiers belong together; none where a row
    /// does not look like the first of its group.
    fn connect_looks(&mut self, evidence: &Evidence) -> Option<()> {
        let groups = self.spaces.first()?.last as usize;
        let mut leaders = vec![u32::MAX; groups];
        for (row, &group) in (0..).zip(self.group) {
            let leader = &mut leaders[group as usize - 1];
            *leader = row.min(*leader);
        }
        // A list may name a group without rows.
        if leaders.contains(&u32::MAX) {
            return None;
        }
        let schema = evidence.table.schema();
        let mut looks = vec![0_u32; groups];
        for column in &self.table.columns {
            let role = schema
                .find(&column.name)
                .map(|at| schema.attribute(at).role);
            if role != Some(Role::QuasiIdentifier) {
                continue;
            }
            let Cells::Dictionary { codes, cells } = &column.cells else {
                return None;
            };
            let category = categories(cells);
            let of_row = |row: usize| category[codes.at(row) as usize];
            let leader = |group: u64| leaders[group as usize - 1] as usize;
            let mut rows = self.group.iter().enumerate();
            if rows.any(|(row, &group)| of_row(row) != of_row(leader(group))) {
                return None;
            }
            refine_by_code(&mut looks, |group| of_row(leaders[group] as usize));
        }
        let mut first = vec![usize::MAX; groups];
        for (group, &look) in looks.iter().enumerate() {
            let first = &mut first[look as usize];
            if *first == usize::MAX {
                *first = group;
            }
            self.unite(*first + 1, group + 1);
        }
        Some(())
    }

    fn root(&self, mut number: usize) -> usize {
        while self.above[number] as usize != number {
            number = self.above[number] as usize;
        }
        number
    }

    fn unite(&mut self, one: usize, other: usize) {
        let root = self.root(one).min(self.root(other));
        // Both paths end there now: they stay short.
        for mut number in [one, other] {
            while self.above[number] as usize != root {
                let above = self.above[number] as usize;
                self.above[number] = root as u32;
                number = above;
            }
        }
    }

    /// Portions of at most so many rows, where those that belong together are not
    /// more; none where there would be a single one.
    pub(super) fn portions(self, rows_max: usize) -> Option<Portions> {
        let mut rows_of = vec![0_usize; self.above.len()];
        for &group in self.group {
            rows_of[self.root(group as usize)] += 1;
        }
        const NONE: u16 = u16::MAX;
        let mut portion_of = vec![NONE; self.above.len()];
        let (mut portion, mut rows) = (0_u16, 0);
        for &group in self.group {
            let root = self.root(group as usize);
            if portion_of[root] != NONE {
                continue;
            }
            if rows > 0 && rows + rows_of[root] > rows_max {
                portion = portion.checked_add(1).filter(|&portion| portion < NONE)?;
                rows = 0;
            }
            rows += rows_of[root];
            portion_of[root] = portion;
        }
        if portion == 0 {
            return None;
        }
        let of_number = self.spaces.iter().map(|space| {
            let numbers = space.start..=space.start + space.last as usize;
            let of_number = numbers.map(|number| portion_of[self.root(number)]);
            of_number.collect::<Vec<u16>>()
        });
        let of_number: Vec<Vec<u16>> = of_number.collect();
        // A bucket that no row leads to is in no portion, and would not be looked at.
        let is_left = |of: &Vec<u16>| of.iter().skip(1).any(|&portion| portion == NONE);
        if of_number.iter().any(is_left) {
            return None;
        }
        Some(Portions {
            number: portion + 1,
            spaces: self.spaces.into_iter().map(|space| space.name).collect(),
            of_number,
        })
    }
}

/// Whether rows and records fit together, and every row can be read.
fn is_regular(evidence: &Evidence, table: &PublishedTable) -> bool {
    let subjects = evidence.lineage.of(MICRODATA).unwrap_or_default();
    let records = evidence.table.records();
    evidence.tables.iter().all(is_readable)
        && evidence.tables.first().map(|first| &first.name) == Some(&table.name)
        && evidence.table.schema().multiplicity() == Multiplicity::One
        && evidence.requirements.history().is_none()
        && evidence.requirements.records() == records
        && subjects.len() == table.rows()
        && subjects.iter().all(|subject| subject.at() < records)
}
