//! The table `microdata` of an engine whose groups share their published
//! quasi-identifiers: `group`, then every attribute in schema order.
//!
//! Quasi-identifiers are generalized over a group's records, insensitive
//! attributes exact. Sensitive attributes are exact unless the engine hands
//! in cells of its own. Groups get random numbers and rows a random order:
//! nothing published depends on where a record stood in the source.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::engine::context::RunContext;
use crate::microdata::{AttributeIndex, RecordIndex, Role};
use crate::release::{
    Cell, Cells, Content, Lineage, PublishedColumn, PublishedTable, TableLineage,
};

use super::cells::exact_cells;
use super::covers::Covers;
use super::present::Present;

/// Records published with one look.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Number of the group they are in, from 0; random numbers are published.
    pub group: u32,
    /// The rows.
    pub records: &'a [u32],
    /// Records whose quasi-identifiers the rows' cells cover; mostly the rows
    /// themselves.
    pub covers: &'a [u32],
}

/// Published cells of one attribute, in place of exact ones.
#[derive(Clone, Debug)]
pub struct OwnCells {
    /// The attribute.
    pub attribute: AttributeIndex,
    /// What the cells are.
    pub content: Content,
    /// Position in `cells` of each record of the table (also of those that
    /// are not published).
    pub of_record: Vec<u32>,
    /// The distinct cells.
    pub cells: Vec<Cell>,
}

/// Publishes groups of records that share a look. `stage` names the random
/// stream. Returns the table and who its rows are.
pub fn of_groups(
    present: &Present<'_>,
    groups: &[&[u32]],
    own: &[OwnCells],
    random: (&RunContext<'_>, u32),
) -> (PublishedTable, Lineage) {
    let looks: Vec<Look<'_>> = (0..)
        .zip(groups)
        .map(|(group, records)| Look {
            group,
            records,
            covers: records,
        })
        .collect();
    of_looks(present, &looks, own, random)
}

/// Publishes rows with the looks given.
pub fn of_looks(
    present: &Present<'_>,
    looks: &[Look<'_>],
    own: &[OwnCells],
    (context, stage): (&RunContext<'_>, u32),
) -> (PublishedTable, Lineage) {
    let mut random = context.stream(stage, 0);
    let groups = looks.iter().map(|look| look.group + 1).max().unwrap_or(0);
    let mut numbers: Vec<u64> = (1..=u64::from(groups)).collect();
    numbers.shuffle(&mut random);
    let mut rows: Vec<(u32, u32)> = (0..)
        .zip(looks)
        .flat_map(|(at, look)| look.records.iter().map(move |&record| (record, at)))
        .collect();
    rows.shuffle(&mut random);
    let number = |&(_, look): &(u32, u32)| numbers[looks[look as usize].group as usize];
    let mut columns = vec![PublishedColumn {
        name: "group".into(),
        content: Content::Group,
        kind: None,
        cells: Cells::Numbers(rows.iter().map(number).collect()),
    }];
    let attributes = present.table.schema().publishable();
    let attributes = attributes.into_par_iter();
    columns.par_extend(attributes.map(|attribute| column(present, looks, own, &rows, attribute)));
    let subject = |&(record, _): &(u32, u32)| present.table.subject_of(RecordIndex(record));
    let lineage = TableLineage {
        table: "microdata".into(),
        subjects: rows.iter().map(subject).collect(),
    };
    let table = PublishedTable {
        name: "microdata".into(),
        columns,
    };
    (
        table,
        Lineage {
            tables: vec![lineage],
        },
    )
}

fn column(
    present: &Present<'_>,
    looks: &[Look<'_>],
    own: &[OwnCells],
    rows: &[(u32, u32)],
    attribute: AttributeIndex,
) -> PublishedColumn {
    let described = present.table.schema().attribute(attribute);
    let own = own.iter().find(|own| own.attribute == attribute);
    let (content, cells) = match (own, present.table.coded(attribute)) {
        (Some(own), _) => {
            let codes = rows
                .iter()
                .map(|&(record, _)| own.of_record[record as usize]);
            let codes = codes.collect();
            let cells = own.cells.clone();
            (own.content, Cells::Dictionary { codes, cells })
        }
        (None, Some(column)) if described.role == Role::QuasiIdentifier => {
            let mut covers = Covers::new(&column.domain);
            let of_look: Vec<u32> = looks
                .iter()
                .map(|look| covers.cover(column, look.covers))
                .collect();
            let codes = rows.iter().map(|&(_, look)| of_look[look as usize]);
            let codes = codes.collect();
            let cells = covers.cells;
            (Content::Generalized, Cells::Dictionary { codes, cells })
        }
        (None, Some(column)) => {
            let records = rows.iter().map(|&(record, _)| record);
            (Content::Exact, exact_cells(column, records))
        }
        // Every publishable attribute is coded.
        (None, None) => (Content::Exact, Cells::Numbers(Vec::new())),
    };
    PublishedColumn {
        name: described.name.clone(),
        content,
        kind: described.kind,
        cells,
    }
}
