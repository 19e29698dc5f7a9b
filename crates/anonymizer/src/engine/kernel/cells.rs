//! Published cells from codes: what a set of codes of one attribute looks
//! like once it is published.

use crate::microdata::{Code, CodedColumn, Codes, Domain, Hierarchy, NodeIndex, Values};
use crate::release::{Cell, Cells};

/// The label of a root that says nothing.
const ANY: &str = "*";

/// The exact value of a code.
pub fn value_cell(domain: &Domain, code: u32) -> Cell {
    let at = code as usize;
    match domain.values() {
        _ if domain.is_missing_number(Code(code)) => Cell::missing(),
        Values::Integer(values) => Cell::Integer(values[at], values[at]),
        Values::Decimal(values) => Cell::Decimal(values[at], values[at]),
        Values::Date(values) => Cell::Date(values[at], values[at]),
        Values::Category(values) => Cell::Label(values[at].clone()),
    }
}

/// The cell that publishes a node of a category's hierarchy.
pub fn node_cell(hierarchy: &Hierarchy, node: NodeIndex) -> Cell {
    let node = hierarchy.node(hierarchy.lowest_over_same_leaves(node));
    if node.depth == 0 && node.label == ANY {
        Cell::Masked
    } else {
        Cell::Label(node.label.clone())
    }
}

/// The cell of numbers or days some of which may be missing: the interval of
/// the others, the missing value, or both.
pub fn number_cell(domain: &Domain, known: Option<(u32, u32)>, is_missing: bool) -> Cell {
    match (known, is_missing) {
        (Some((lowest, highest)), false) => interval_cell(domain, lowest, highest),
        (Some((lowest, highest)), true) => {
            Cell::OrMissing(Box::new(interval_cell(domain, lowest, highest)))
        }
        (None, _) => Cell::missing(),
    }
}

/// The cell that covers the codes from `lowest` to `highest`: an interval, or
/// the lowest common ancestor in the hierarchy. For categories without a
/// hierarchy use [`set_cell`], where numbers are missing [`number_cell`].
pub fn interval_cell(domain: &Domain, lowest: u32, highest: u32) -> Cell {
    let (from, to) = (lowest as usize, highest as usize);
    match (domain.values(), domain.hierarchy()) {
        (Values::Integer(values), _) => Cell::Integer(values[from], values[to]),
        (Values::Decimal(values), _) => Cell::Decimal(values[from], values[to]),
        (Values::Date(values), _) => Cell::Date(values[from], values[to]),
        (Values::Category(_), Some(hierarchy)) => node_cell(
            hierarchy,
            hierarchy.common_ancestor(Code(lowest), Code(highest)),
        ),
        (Values::Category(values), None) => set_cell(values, &[lowest, highest]),
    }
}

/// The cell that names every code present; `codes` ascend, without repeats.
pub fn set_cell(values: &[String], codes: &[u32]) -> Cell {
    let label = |&code: &u32| values[code as usize].clone();
    match codes {
        [one] => Cell::Label(label(one)),
        [one, other] if one == other => Cell::Label(label(one)),
        _ => Cell::Set(codes.iter().map(label).collect()),
    }
}

/// The exact values of `records`, in their order.
pub fn exact_cells(column: &CodedColumn, records: impl Iterator<Item = u32>) -> Cells {
    let mut position = vec![u32::MAX; column.domain.len()];
    let mut cells = Vec::new();
    let codes = records.map(|record| {
        let code = column.codes.at(record as usize);
        let position = &mut position[code as usize];
        if *position == u32::MAX {
            *position = cells.len() as u32;
            cells.push(value_cell(&column.domain, code));
        }
        *position
    });
    let codes = Codes::below(column.domain.len(), codes);
    Cells::Dictionary { codes, cells }
}
