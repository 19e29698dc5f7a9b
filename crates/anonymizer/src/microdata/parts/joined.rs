//! Rows of several tables as the rows of one.
//!
//! First the rows of the table of many rows, in their order, each with the row
//! that its subject has in each other table. Then, in the order in which they
//! were read, the subjects of those tables who had none: one row each, without
//! the attributes of the table of many. Without such a table, those are all.

use std::collections::BTreeMap;
use std::vec;

use super::TableCount;
use super::gather::Gathered;
use super::key::Keys;
use super::mapping::Plan;
use super::room::{PackedRow, Pages, Sealed, SubjectRows};
use crate::microdata::error::{CellErrorCode, TableError};
use crate::microdata::index::AttributeIndex;
use crate::microdata::limits::Target;
use crate::microdata::row::{Fault, Row, Rows};

/// The rows of all tables, joined; columns are attributes in schema order.
pub(super) struct Joined<'t, 'r> {
    plan: Plan,
    keys: Keys<'t>,
    key: AttributeIndex,
    room: Sealed<'r>,
    subjects: Vec<SubjectRows>,
    others: BTreeMap<&'static str, u64>,
    /// Whether unknown subjects are told.
    tells_unknown: bool,
    /// Whether subjects of whom no record was made are told.
    tells_left: bool,
    /// Table and place of each attribute.
    places: Vec<Option<(usize, usize)>>,
    /// The table of many rows.
    many: Option<usize>,
    /// For each table, the row at hand or one that was at hand before.
    rows: Vec<PackedRow>,
    /// Where that row begins.
    loaded: Vec<Option<u64>>,
    /// Whether it is at hand.
    is_here: Vec<bool>,
    /// The table that the record's key is of.
    origin: usize,
    /// Rows one behind the other, and where the next one begins.
    pages: Pages,
    at: u64,
    /// Rows that are looked up.
    looks: Pages,
    /// The table whose subjects without a record are next, and their rows.
    left_of: usize,
    left: vec::IntoIter<u64>,
}

impl<'t, 'r> Joined<'t, 'r> {
    /// The first row is not yet read.
    pub fn new(gathered: Gathered<'t, 'r>, target: &Target<'t>) -> Self {
        let count = gathered.plan.tables.len();
        let many = gathered
            .plan
            .tables
            .iter()
            .position(|table| table.has_many());
        let mut joined = Self {
            places: gathered.plan.places(target.schema),
            tells_unknown: !gathered.plan.drops_unknown && !gathered.lost.subjects,
            tells_left: !gathered.lost.rows,
            plan: gathered.plan,
            keys: gathered.keys,
            key: target.schema.subject_key(),
            room: gathered.room,
            subjects: gathered.subjects,
            others: gathered.others,
            many,
            rows: Vec::new(),
            loaded: vec![None; count],
            is_here: vec![false; count],
            origin: 0,
            pages: Pages::in_order(),
            at: 0,
            looks: Pages::anywhere(),
            left_of: 0,
            left: Vec::new().into_iter(),
        };
        joined.rows.resize_with(count, PackedRow::default);
        joined
    }

    /// For each attribute, the table that it is of.
    pub fn tables_of_attributes(&self) -> Vec<Option<usize>> {
        let places = self.places.iter();
        places.map(|place| place.map(|(table, _)| table)).collect()
    }

    /// What each table brought, and the resources that nobody mapped.
    pub fn counts(self) -> (Vec<TableCount>, Vec<(&'static str, u64)>) {
        let tables = self.plan.tables.into_iter().map(|table| TableCount {
            table: table.name,
            rows: table.read,
            unknown_subjects: table.unknown,
        });
        (tables.collect(), self.others.into_iter().collect())
    }

    /// Goes to the next row of the table of many rows.
    fn next_of_many(&mut self, many: usize) -> Result<Option<Row>, TableError> {
        while self.at < self.room.end() {
            let wanted = (Some(many), &mut self.rows[many]);
            let (is_it, end) = self.pages.read(&self.room, self.at, wanted)?;
            self.at = end;
            if !is_it {
                continue;
            }
            self.begin(many);
            let has_others = self.plan.tables.len() > 1;
            let line = self.rows[many].line;
            if self.attach(0)? || !has_others {
                return Ok(Some(Row::Cells(line)));
            }
            self.plan.tables[many].unknown += 1;
            if !self.tells_unknown {
                continue;
            }
            let row = &self.rows[many];
            let code = match self.keys.hash(row.cell(0), row.is_written(0)) {
                Some(_) => CellErrorCode::SubjectUnknown,
                None => CellErrorCode::Missing,
            };
            return Ok(Some(Row::Fault(Fault::of_attribute(line, self.key, code))));
        }
        Ok(None)
    }

    /// Goes to the next subject of whom no record was made.
    fn next_left(&mut self) -> Result<Row, TableError> {
        loop {
            if let Some(offset) = self.left.next() {
                let table = self.left_of - 1;
                let row = (None, &mut self.rows[table]);
                self.pages.read(&self.room, offset, row)?;
                self.loaded[table] = Some(offset);
                self.begin(table);
                self.attach(self.left_of)?;
                return Ok(Row::Cells(self.rows[table].line));
            }
            let Some(table) = self.plan.tables.get(self.left_of) else {
                return Ok(Row::End);
            };
            if !table.has_many() {
                self.left = self.subjects[self.left_of].unseen().into_iter();
            }
            self.left_of += 1;
        }
    }

    /// A row of a table is at hand, and none of another.
    fn begin(&mut self, table: usize) {
        self.is_here.fill(false);
        self.is_here[table] = true;
        self.origin = table;
    }

    /// Takes to the row at hand those that its subject has in the tables from
    /// `first` on; whether there is any.
    fn attach(&mut self, first: usize) -> Result<bool, TableError> {
        let row = &self.rows[self.origin];
        let Some(hash) = self.keys.hash(row.cell(0), row.is_written(0)) else {
            return Ok(false);
        };
        let mut is_known = false;
        for table in first..self.plan.tables.len() {
            if Some(table) == self.many {
                continue;
            }
            let Some(entry) = self.subjects[table].find(hash) else {
                continue;
            };
            let offset = self.subjects[table].see(entry);
            if self.loaded[table] != Some(offset) {
                let row = (None, &mut self.rows[table]);
                self.looks.read(&self.room, offset, row)?;
                self.loaded[table] = Some(offset);
            }
            self.is_here[table] = true;
            is_known = true;
        }
        Ok(is_known)
    }

    /// The row and the place in it that an attribute is taken from, where it is
    /// at hand.
    fn place(&self, column: usize) -> Option<(&PackedRow, usize)> {
        if column == self.key.at() {
            return Some((&self.rows[self.origin], 0));
        }
        let (table, at) = self.places.get(column).copied().flatten()?;
        self.is_here[table].then(|| (&self.rows[table], at))
    }
}

impl Rows for Joined<'_, '_> {
    fn next_row(&mut self) -> Result<Row, TableError> {
        if let Some(many) = self.many
            && let Some(row) = self.next_of_many(many)?
        {
            return Ok(row);
        }
        if self.tells_left || self.many.is_none() {
            self.next_left()
        } else {
            Ok(Row::End)
        }
    }

    fn width(&self) -> usize {
        self.places.len()
    }

    fn cell(&self, column: usize) -> &[u8] {
        self.place(column).map_or(&[], |(row, at)| row.cell(at))
    }

    fn is_written(&self, column: usize) -> bool {
        self.place(column)
            .is_none_or(|(row, at)| row.is_written(at))
    }

    fn tables(&self) -> usize {
        self.rows.len()
    }

    fn line_in(&self, table: usize) -> u64 {
        if self.is_here[table] {
            self.rows[table].line
        } else {
            0
        }
    }
}
