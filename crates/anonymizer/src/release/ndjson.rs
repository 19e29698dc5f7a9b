//! Published tables as NDJSON: one object a row, names as in the header.
//!
//! Cells are strings in their text form, numbers of groups, blocks and
//! buckets and counts are JSON numbers, and an empty cell is null.

use super::cell::Cell;
use super::table::{Cells, PublishedTable};
use crate::microdata::Codes;

/// Appends the rows of `table`. Each distinct cell is put into JSON once.
pub(super) fn write_rows(table: &PublishedTable, out: &mut Vec<u8>) {
    let names: Vec<Vec<u8>> = table
        .columns
        .iter()
        .enumerate()
        .map(|(position, column)| {
            let mut name = vec![if position == 0 { b'{' } else { b',' }];
            write_string(&column.name, &mut name);
            name.push(b':');
            name
        })
        .collect();
    let columns: Vec<ColumnJson<'_>> = table
        .columns
        .iter()
        .map(|column| ColumnJson::of(&column.cells))
        .collect();
    for row in 0..table.rows() {
        for (name, column) in names.iter().zip(&columns) {
            out.extend_from_slice(name);
            column.write(row, out);
        }
        out.extend_from_slice(b"}\n");
    }
}

enum ColumnJson<'a> {
    Numbers(&'a [u64]),
    Dictionary(&'a Codes, Vec<Vec<u8>>),
}

impl<'a> ColumnJson<'a> {
    fn of(cells: &'a Cells) -> Self {
        match cells {
            Cells::Numbers(numbers) => Self::Numbers(numbers),
            Cells::Dictionary { codes, cells } => {
                Self::Dictionary(codes, cells.iter().map(cell_json).collect())
            }
        }
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Self::Numbers(numbers) => match numbers[row] {
                0 => out.extend_from_slice(b"null"),
                number => out.extend_from_slice(number.to_string().as_bytes()),
            },
            Self::Dictionary(codes, texts) => {
                out.extend_from_slice(&texts[codes.at(row) as usize]);
            }
        }
    }
}

fn cell_json(cell: &Cell) -> Vec<u8> {
    let mut out = Vec::new();
    if *cell == Cell::Empty {
        out.extend_from_slice(b"null");
    } else {
        let mut text = String::new();
        cell.text(&mut text);
        write_string(&text, &mut out);
    }
    out
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    // Unwrap safety: a Vec takes any bytes, and text is always valid JSON.
    serde_json::to_writer(out, text).unwrap();
}
