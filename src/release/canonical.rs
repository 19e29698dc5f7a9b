//! One form of a table in memory for each table on the wire.

use rustc_hash::FxHashMap;

use super::cell::Cell;
use super::table::{Cells, PublishedColumn, PublishedTable};

impl PublishedTable {
    /// The same rows with dictionaries in order of first appearance, without
    /// repeats or unused cells.
    ///
    /// Two tables publish the same exactly if their canonical forms are equal;
    /// tables read back from bytes are canonical. The order of an engine's
    /// dictionary, and cells that it does not use, come from the source and
    /// must reach no format that writes dictionaries.
    pub fn canonical(&self) -> Self {
        Self {
            name: self.name.clone(),
            columns: self.columns.iter().map(canonical_column).collect(),
        }
    }
}

fn canonical_column(column: &PublishedColumn) -> PublishedColumn {
    let cells = match &column.cells {
        Cells::Numbers(numbers) => Cells::Numbers(numbers.clone()),
        Cells::Dictionary { codes, cells } => canonical_dictionary(codes, cells),
    };
    PublishedColumn {
        name: column.name.clone(),
        content: column.content,
        kind: column.kind,
        cells,
    }
}

fn canonical_dictionary(codes: &[u32], cells: &[Cell]) -> Cells {
    const UNSEEN: u32 = u32::MAX;
    let mut renamed = vec![UNSEEN; cells.len()];
    let mut known: FxHashMap<(u8, String), u32> = FxHashMap::default();
    let mut kept = Vec::new();
    let rename = |&code: &u32| {
        let at = code as usize;
        if renamed[at] == UNSEEN {
            let next = kept.len() as u32;
            renamed[at] = *known.entry(key(&cells[at])).or_insert(next);
            if renamed[at] == next {
                kept.push(cells[at].clone());
            }
        }
        renamed[at]
    };
    let codes = codes.iter().map(rename).collect();
    Cells::Dictionary { codes, cells: kept }
}

/// What makes a cell the same as another: what it is, and its text.
fn key(cell: &Cell) -> (u8, String) {
    let variant = match cell {
        Cell::Empty => 0,
        Cell::Masked => 1,
        Cell::Integer(..) => 2,
        Cell::Decimal(..) => 3,
        Cell::Date(..) => 4,
        Cell::Label(_) => 5,
        Cell::Set(_) => 6,
        Cell::Items(_) => 7,
    };
    let mut text = String::new();
    cell.text(&mut text);
    (variant, text)
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
                    codes: codes.to_vec(),
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
}
