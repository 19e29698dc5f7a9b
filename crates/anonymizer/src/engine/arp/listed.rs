//! The tables `quasi` and `sensitive`: non-sensitive values as they are beside
//! the number of a block, and the values of each block with how often they
//! occur (`[Xiao–Tao 2006a]`).
//!
//! With one sensitive attribute `quasi` begins with the column `block`; with
//! several (*ours*) each has blocks of its own, and `quasi` begins with
//! `<attribute>_block` for each. Numbers and rows
//! stand as the engine has them: the order of what is published is the
//! release's.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::engine::kernel::cells::value_cell;
use crate::microdata::{AttributeIndex, Code, RecordIndex, Role};
use crate::release::layout::{BLOCK_SUFFIX, QUASI, SENSITIVE};
use crate::release::{Cell, Cells, Content, Lineage, PublishedColumn, PublishedTable};

use super::frame::{Frame, Goal};

/// A sensitive attribute with its blocks.
pub(super) type Part<'a> = (Goal<'a>, Vec<Vec<u32>>);

/// By attribute the codes that its first blocks show, where these are not the
/// values of their rows.
pub(super) type Shown = [Vec<Vec<u32>>];

/// Publishes the blocks of each sensitive attribute. Where a series keeps sets
/// of values (`shown`), with the number of counterfeits of each block.
pub(super) fn publish(
    frame: &Frame<'_>,
    parts: &[Part<'_>],
    shown: Option<&Shown>,
) -> (Vec<PublishedTable>, Lineage) {
    let rows: Vec<u32> = (0..frame.rows() as u32).collect();
    let table = frame.included.table;
    let subject = |&row: &u32| {
        let record = frame.included.records[row as usize];
        table.subject_of(RecordIndex(record))
    };
    let lineage = Lineage::of_table(QUASI, rows.iter().map(subject));
    (
        vec![quasi(frame, parts, &rows), sensitive(frame, parts, shown)],
        lineage,
    )
}

fn quasi(frame: &Frame<'_>, parts: &[Part<'_>], rows: &[u32]) -> PublishedTable {
    let schema = frame.included.table.schema();
    let mut columns = Vec::new();
    for (goal, blocks) in parts {
        let mut block_of = vec![0_u64; frame.rows()];
        for (number, block) in (1..).zip(blocks) {
            block
                .iter()
                .for_each(|&row| block_of[row as usize] = number);
        }
        let numbers = rows.iter().map(|&row| block_of[row as usize]);
        let column = PublishedColumn::of_numbers(Content::Block, numbers);
        let name = &schema.attribute(goal.column.attribute).name;
        columns.push(match parts.len() {
            1 => column,
            _ => column.named_after(name, BLOCK_SUFFIX),
        });
    }
    let attributes = schema
        .select(|attribute| matches!(attribute.role, Role::QuasiIdentifier | Role::Insensitive));
    let attributes = attributes.into_par_iter();
    columns.par_extend(attributes.map(|attribute| exact_column(frame, rows, attribute)));
    PublishedTable {
        name: QUASI.into(),
        columns,
    }
}

/// A column of exact values of `rows`.
pub(super) fn exact_column(
    frame: &Frame<'_>,
    rows: &[u32],
    attribute: AttributeIndex,
) -> PublishedColumn {
    let record = |&row: &u32| frame.included.records[row as usize];
    frame
        .included
        .exact_column(attribute, rows.iter().map(record))
}

/// One row of `sensitive`.
#[derive(Clone, Copy)]
struct Entry {
    attribute: u32,
    block: u64,
    value: u32,
    count: u64,
    counterfeits: u64,
}

fn sensitive(frame: &Frame<'_>, parts: &[Part<'_>], shown: Option<&Shown>) -> PublishedTable {
    let mut values = Values::default();
    let mut entries = Vec::new();
    for (attribute, (goal, blocks)) in (0..).zip(parts) {
        let column = goal.column.column;
        let shown = shown.map_or(&[][..], |shown| &shown[attribute as usize]);
        for (number, block) in (1..).zip(blocks) {
            let code = |&row: &u32| {
                column
                    .codes
                    .at(frame.included.records[row as usize] as usize)
            };
            let mut codes: Vec<u32> = match shown.get(number as usize - 1) {
                Some(set) => set.clone(),
                None => block.iter().map(code).collect(),
            };
            codes.sort_unstable();
            let counterfeits = (codes.len() - block.len()) as u64;
            entries.extend(codes.chunk_by(|a, b| a == b).map(|run| Entry {
                attribute,
                block: number,
                value: values.position(attribute, run[0], &column.domain),
                count: run.len() as u64,
                counterfeits,
            }));
        }
    }
    let schema = frame.included.table.schema();
    let name =
        |(goal, _): &Part<'_>| Cell::Label(schema.attribute(goal.column.attribute).name.clone());
    let blocks = entries.iter().map(|entry| entry.block);
    let attributes = Cells::Dictionary {
        codes: entries.iter().map(|entry| entry.attribute).collect(),
        cells: parts.iter().map(name).collect(),
    };
    let values = Cells::Dictionary {
        codes: entries.iter().map(|entry| entry.value).collect(),
        cells: values.cells,
    };
    let counts = entries.iter().map(|entry| entry.count);
    let mut columns = vec![
        PublishedColumn::of_numbers(Content::Block, blocks),
        PublishedColumn::of_content(Content::Attribute, attributes),
        PublishedColumn::of_content(Content::Value, values),
        PublishedColumn::of_numbers(Content::Count, counts),
    ];
    if shown.is_some() {
        let numbers = entries.iter().map(|entry| entry.counterfeits);
        columns.push(PublishedColumn::of_numbers(Content::Counterfeits, numbers));
    }
    PublishedTable {
        name: SENSITIVE.into(),
        columns,
    }
}

/// Distinct exact values over all attributes.
#[derive(Default)]
struct Values {
    cells: Vec<Cell>,
    by_code: FxHashMap<(u32, u32), u32>,
    by_text: FxHashMap<(bool, String), u32>,
}

impl Values {
    /// Position of the value of `code` of an attribute.
    fn position(&mut self, attribute: u32, code: u32, domain: &crate::microdata::Domain) -> u32 {
        if let Some(&position) = self.by_code.get(&(attribute, code)) {
            return position;
        }
        // Two attributes may have a value in common; numbers of different
        // types are cells of their own.
        let cell = value_cell(domain, code);
        let text = domain.text(Code(code));
        let is_label = matches!(cell, Cell::Label(_));
        let known = self.by_text.get(&(is_label, text.clone())).copied();
        let known = known.filter(|&at| self.cells[at as usize] == cell);
        let position = known.unwrap_or_else(|| {
            self.cells.push(cell);
            self.cells.len() as u32 - 1
        });
        self.by_text.insert((is_label, text), position);
        self.by_code.insert((attribute, code), position);
        position
    }
}
