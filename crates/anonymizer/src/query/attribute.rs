//! One attribute of an index: what its rows publish.
//!
//! An index borrows the cells of decoded tables, or owns them where it is to
//! outlive the tables.

use std::borrow::Cow;

use crate::microdata::Codes;
use crate::release::{Buckets, Cell, Content, JoinedAttribute};

/// What the rows of an attribute publish.
#[derive(Clone, Debug)]
pub(super) struct IndexedAttribute<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) content: Content,
    /// Position in `cells` of each row's cell, in order of the table.
    pub(super) codes: Cow<'a, Codes>,
    /// The cells that occur.
    pub(super) cells: Cow<'a, [Cell]>,
    /// Its buckets, where it has any.
    pub(super) buckets: Option<Buckets<'a>>,
    /// Why nothing can be asked of it, if so.
    pub(super) closed: Option<Closed>,
}

/// Why nothing can be asked of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Its cells may be nodes of a hierarchy that is not published.
    Withheld,
    /// Its values were drawn anew: they bound no count of records.
    Drawn,
}

impl<'a> From<JoinedAttribute<'a>> for IndexedAttribute<'a> {
    fn from(joined: JoinedAttribute<'a>) -> Self {
        Self {
            name: Cow::Borrowed(joined.name),
            content: joined.content,
            codes: joined.codes,
            cells: Cow::Borrowed(joined.cells),
            buckets: joined.buckets,
            closed: None,
        }
    }
}

impl IndexedAttribute<'_> {
    /// The same with cells of its own; codes of rows only where `keeps_codes`:
    /// an index has them in its own order.
    pub(super) fn into_owned(self, keeps_codes: bool) -> IndexedAttribute<'static> {
        let codes = if keeps_codes {
            self.codes.into_owned()
        } else {
            Codes::default()
        };
        IndexedAttribute {
            name: Cow::Owned(self.name.into_owned()),
            content: self.content,
            codes: Cow::Owned(codes),
            cells: Cow::Owned(self.cells.into_owned()),
            buckets: self.buckets.map(Buckets::into_owned),
            closed: self.closed,
        }
    }

    /// Memory that it takes, about.
    pub(super) fn bytes(&self) -> u64 {
        let of_cells = |cells: &[Cell]| cells.iter().map(cell_bytes).sum::<u64>();
        let buckets = self.buckets.as_ref().map_or(0, |buckets| {
            // Runs of values, sizes and links: some numbers a row.
            let rows: u64 = buckets.sizes().iter().copied().map(u64::from).sum();
            of_cells(buckets.cells()) + 32 * rows
        });
        of_cells(&self.cells) + 4 * self.codes.len() as u64 + buckets
    }
}

/// Memory that a cell takes, about.
fn cell_bytes(cell: &Cell) -> u64 {
    let own = size_of::<Cell>() as u64;
    match cell {
        Cell::Label(label) => own + label.len() as u64,
        Cell::Set(members) => {
            let members = members.iter().map(|member| 24 + member.len() as u64);
            own + members.sum::<u64>()
        }
        _ => own,
    }
}
