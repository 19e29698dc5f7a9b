//! Published columns and cells, by hand.

use vizard_anonymizer::microdata::{AttributeType, Code, Domain, Values};
use vizard_anonymizer::release::{Cell, Cells, Content, PublishedColumn};

pub fn column(
    name: &str,
    content: Content,
    kind: Option<AttributeType>,
    cells: Cells,
) -> PublishedColumn {
    PublishedColumn {
        name: name.into(),
        content,
        kind,
        cells,
    }
}

/// A dictionary in order of first appearance.
pub fn dictionary(rows: impl Iterator<Item = Cell>) -> Cells {
    let mut cells: Vec<Cell> = Vec::new();
    let codes = rows.map(|cell| {
        let found = cells.iter().position(|known| *known == cell);
        found.unwrap_or_else(|| {
            cells.push(cell);
            cells.len() - 1
        }) as u32
    });
    let codes = codes.collect();
    Cells::Dictionary { codes, cells }
}

/// The cell of one value.
pub fn exact(domain: &Domain, code: Code) -> Cell {
    covering(domain, vec![code.0])
}

/// The cell that covers these codes.
pub fn covering(domain: &Domain, mut codes: Vec<u32>) -> Cell {
    codes.sort_unstable();
    codes.dedup();
    let (lo, hi) = (codes[0] as usize, codes[codes.len() - 1] as usize);
    match (domain.values(), domain.hierarchy()) {
        (Values::Integer(values), _) => Cell::Integer(values[lo], values[hi]),
        (Values::Decimal(values), _) => Cell::Decimal(values[lo], values[hi]),
        (Values::Date(values), _) => Cell::Date(values[lo], values[hi]),
        (_, Some(tree)) => {
            let node = tree.common_ancestor(Code(lo as u32), Code(hi as u32));
            match tree.node(node).label.as_str() {
                "*" => Cell::Masked,
                label => Cell::Label(label.into()),
            }
        }
        (Values::Category(values), None) if codes.len() > 1 => Cell::Set(
            codes
                .iter()
                .map(|&code| values[code as usize].clone())
                .collect(),
        ),
        (Values::Category(values), None) => Cell::Label(values[lo].clone()),
    }
}
