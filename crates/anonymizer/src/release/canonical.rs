//! One form of a table in memory for each table on the wire.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use rayon::prelude::*;

use super::cell::Cell;
use super::table::{Cells, PublishedColumn, PublishedTable};
use crate::microdata::Codes;

impl PublishedTable {
    /// The same rows with dictionaries in order of first appearance, without
    /// repeats or unused cells.
    ///
    /// Two tables publish the same exactly if their canonical forms are equal;
    /// tables read back from bytes are canonical. The order of an engine's
    /// dictionary, and cells that it does not use, come from the source and
    /// must reach no format that writes dictionaries.
    pub fn canonical(&self) -> Self {
        let columns = self.columns.par_iter();
        Self {
            name: self.name.clone(),
            columns: columns.map(|column| join(&[column])).collect(),
        }
    }

    /// The canonical table called `name` of the rows of all `parts`, which
    /// have the same columns and are at least one.
    pub(crate) fn join(name: &str, parts: &[Self]) -> Self {
        let column = |position: usize| {
            let parts = parts.iter().map(|part| &part.columns[position]);
            join(&parts.collect::<Vec<_>>())
        };
        let count = parts.first().map_or(0, |part| part.columns.len());
        Self {
            name: name.into(),
            columns: (0..count).into_par_iter().map(column).collect(),
        }
    }
}

/// The rows of all `parts` of a column, at least one, one behind the other.
fn join(parts: &[&PublishedColumn]) -> PublishedColumn {
    let cells = match &parts[0].cells {
        Cells::Numbers(_) => {
            let numbers = parts.iter().map(|part| match &part.cells {
                Cells::Numbers(numbers) => numbers.as_slice(),
                Cells::Dictionary { .. } => &[],
            });
            Cells::Numbers(numbers.collect::<Vec<_>>().concat())
        }
        Cells::Dictionary { .. } => {
            let mut joined = Joined::default();
            for part in parts {
                if let Cells::Dictionary { codes, cells } = &part.cells {
                    joined.add(codes, cells);
                }
            }
            Cells::Dictionary {
                codes: joined.codes,
                cells: joined.cells,
            }
        }
    };
    PublishedColumn {
        name: parts[0].name.clone(),
        content: parts[0].content,
        kind: parts[0].kind,
        cells,
    }
}

/// What makes a cell the same as another: what it is, and its text.
type Key = (u8, String);

/// A dictionary in order of first appearance. SipHash with fixed keys: labels
/// come from users, and nothing here may depend on ambient randomness.
#[derive(Default)]
struct Joined {
    codes: Codes,
    cells: Vec<Cell>,
    known: HashMap<Key, u32, BuildHasherDefault<DefaultHasher>>,
}

impl Joined {
    fn add(&mut self, codes: &Codes, cells: &[Cell]) {
        const UNSEEN: u32 = u32::MAX;
        let mut renamed = vec![UNSEEN; cells.len()];
        for code in codes {
            let at = code as usize;
            if renamed[at] == UNSEEN {
                renamed[at] = self.code(&cells[at]);
            }
            self.codes.push(renamed[at]);
        }
    }

    fn code(&mut self, cell: &Cell) -> u32 {
        let next = self.cells.len() as u32;
        let code = *self.known.entry(key(cell)).or_insert(next);
        if code == next {
            self.cells.push(cell.clone());
        }
        code
    }
}

fn key(cell: &Cell) -> Key {
    let variant = match cell {
        Cell::Empty => 0,
        Cell::Masked => 1,
        Cell::Integer(..) => 2,
        Cell::Decimal(..) => 3,
        Cell::Date(..) => 4,
        Cell::Label(_) => 5,
        Cell::Set(_) => 6,
        Cell::Items(_) => 7,
        Cell::OrMissing(_) => 8,
    };
    (variant, cell_text(cell))
}

/// The text of one cell.
pub fn cell_text(cell: &Cell) -> String {
    let mut text = String::new();
    cell.text(&mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Content;

    fn table(codes: &[u32], cells: &[&str]) -> PublishedTable {
        let cells = cells.iter().map(|&label| Cell::Label(label.into()));
        PublishedTable {
            name: "microdata".into(),
            columns: vec![PublishedColumn {
                name: "sex".into(),
                content: Content::Generalized,
                kind: None,
                cells: Cells::Dictionary {
                    codes: codes.to_vec().into(),
                    cells: cells.collect(),
                },
            }],
        }
    }

    #[test]
    fn order_repeats_and_unused_cells_of_a_dictionary_do_not_count() {
        let plain = table(&[0, 1, 0], &["b", "a"]);
        let messy = table(&[4, 1, 2], &["unused", "a", "b", "z", "b"]);
        assert_eq!(messy.canonical(), plain);
        assert_eq!(plain.canonical(), plain);
        let other = table(&[0, 1, 1], &["b", "a"]);
        assert_ne!(messy.canonical(), other.canonical());
    }

    #[test]
    fn parts_join_to_one_dictionary() {
        let parts = [
            table(&[0, 1], &["b", "a"]),
            table(&[1, 0, 2], &["c", "a", "b"]),
        ];
        let joined = PublishedTable::join("microdata", &parts);
        assert_eq!(joined, table(&[0, 1, 1, 2, 0], &["b", "a", "c"]));
    }
}
