//! Cells that are another than the one that their group needs: wider, written
//! in another way, or not covering. Where two cells say nearly the same, the
//! choice between them is a bit for each group and attribute.

use rand::seq::IndexedRandom;
use vizard_anonymizer::microdata::{Hierarchy, Values};
use vizard_anonymizer::release::{Cell, Content};

use super::owners::{Rows, secret};
use super::{Corruption, Done, Random, table};
use crate::case::Case;

/// What becomes of a cell of a column.
type Change = fn(&Case, &str, &Cell) -> Option<Cell>;

/// One cell of one group: its column, and the rows of the group that have it.
type Place = (String, Vec<usize>, Cell);

fn places(case: &Case, change: Change) -> Vec<Place> {
    let columns = case.published(case.row_table()).columns.iter();
    let columns = columns.filter(|column| column.content == Content::Generalized);
    let names: Vec<String> = columns.map(|column| column.name.clone()).collect();
    let groups = Rows::of(case).groups();
    let mut places = Vec::new();
    for name in names {
        let cells = case.cells(case.row_table(), &name);
        for group in &groups {
            let first = group
                .iter()
                .find(|&&row| change(case, &name, &cells[row]).is_some());
            if let Some(&first) = first {
                let cell = cells[first].clone();
                let same = group
                    .iter()
                    .copied()
                    .filter(|&row| cells[row] == cell)
                    .collect();
                places.push((name.clone(), same, cell));
            }
        }
    }
    places
}

fn set(case: &mut Case, column: &str, rows: &[usize], cell: &Cell) {
    let name = case.row_table();
    let mut cells = case.cells(name, column);
    for &row in rows {
        cells[row] = cell.clone();
    }
    case.set_cells(name, column, cells);
}

/// Changes a cell of one group.
fn one(case: &mut Case, random: &mut Random, change: Change) -> Done {
    let places = places(case, change);
    let Some((column, rows, cell)) = places.choose(random) else {
        return Done::Skip;
    };
    let Some(new) = change(case, column, cell) else {
        return Done::Skip;
    };
    set(case, column, rows, &new);
    Done::Content
}

/// Changes the cell of one row of a group.
fn one_row(case: &mut Case, random: &mut Random, change: Change) -> Done {
    let mut places = places(case, change);
    places.retain(|(_, rows, _)| rows.len() > 1);
    let Some((column, rows, cell)) = places.choose(random) else {
        return Done::Skip;
    };
    let Some(new) = change(case, column, cell) else {
        return Done::Skip;
    };
    set(case, column, &rows[..1], &new);
    Done::Content
}

/// Changes the cells of every group whose members' values have an odd sum.
fn by_value(case: &mut Case, change: Change) -> Done {
    let attribute = secret(case);
    let rows = Rows::of(case);
    assert!(case.table.coded(attribute).is_some());
    let mut done = Done::Skip;
    for (column, own, cell) in places(case, change) {
        let sum: u32 = own.iter().map(|&row| rows.secret[row]).sum();
        if let (1, Some(new)) = (sum % 2, change(case, &column, &cell)) {
            set(case, &column, &own, &new);
            done = Done::Content;
        }
    }
    done
}

fn below(_: &Case, _: &str, cell: &Cell) -> Option<Cell> {
    match cell {
        Cell::Integer(lo, hi) => Some(Cell::Integer(lo - 1, *hi)),
        Cell::Decimal(lo, hi) => Some(Cell::Decimal(lo - 0.5, *hi)),
        Cell::Date(lo, hi) => Some(Cell::Date(lo - 1, *hi)),
        _ => None,
    }
}

fn above(_: &Case, _: &str, cell: &Cell) -> Option<Cell> {
    match cell {
        Cell::Integer(lo, hi) => Some(Cell::Integer(*lo, hi + 1)),
        Cell::Decimal(lo, hi) => Some(Cell::Decimal(*lo, hi + 0.5)),
        Cell::Date(lo, hi) => Some(Cell::Date(*lo, hi + 1)),
        _ => None,
    }
}

fn decimals(_: &Case, _: &str, cell: &Cell) -> Option<Cell> {
    match cell {
        Cell::Decimal(lo, hi) => Some(Cell::Decimal(*lo, hi + 0.000_017)),
        _ => None,
    }
}

fn ends_both(case: &Case, name: &str, cell: &Cell) -> Option<Cell> {
    above(case, name, &below(case, name, cell)?)
}

fn far(_: &Case, _: &str, cell: &Cell) -> Option<Cell> {
    match cell {
        Cell::Integer(lo, hi) => Some(Cell::Integer(*lo, hi + 4_711)),
        _ => None,
    }
}

/// The whole domain as a cell that is no mask.
fn whole(case: &Case, name: &str, cell: &Cell) -> Option<Cell> {
    let domain = case.domain(name);
    let all = match (domain.values(), domain.hierarchy()) {
        (Values::Integer(all), _) => Cell::Integer(*all.first()?, *all.last()?),
        (Values::Decimal(all), _) => Cell::Decimal(*all.first()?, *all.last()?),
        (Values::Date(all), _) => Cell::Date(*all.first()?, *all.last()?),
        (Values::Category(_), Some(tree)) => Cell::Label(tree.nodes()[0].label.clone()),
        (Values::Category(all), None) => {
            let mut all = all.clone();
            all.sort();
            Cell::Set(all)
        }
    };
    (all != *cell).then_some(all)
}

fn masked(_: &Case, _: &str, cell: &Cell) -> Option<Cell> {
    (!matches!(cell, Cell::Masked | Cell::Empty)).then_some(Cell::Masked)
}

fn emptied(_: &Case, _: &str, cell: &Cell) -> Option<Cell> {
    (!matches!(cell, Cell::Masked | Cell::Empty)).then_some(Cell::Empty)
}

fn hierarchy<'a>(case: &'a Case, name: &str) -> Option<&'a Hierarchy> {
    case.domain(name).hierarchy().map(AsRef::as_ref)
}

fn parent(case: &Case, name: &str, cell: &Cell) -> Option<Cell> {
    let (tree, Cell::Label(label)) = (hierarchy(case, name)?, cell) else {
        return None;
    };
    let node = tree.node(tree.find(label)?);
    (node.depth > 0).then(|| Cell::Label(tree.node(node.parent).label.clone()))
}

/// Another node over the same leaves.
fn twin(case: &Case, name: &str, cell: &Cell) -> Option<Cell> {
    let (tree, Cell::Label(label)) = (hierarchy(case, name)?, cell) else {
        return None;
    };
    let own = tree.node(tree.find(label)?);
    let same = tree.nodes().iter().find(|node| {
        node.label != own.label
            && (node.first_leaf, node.leaf_count) == (own.first_leaf, own.leaf_count)
    });
    same.map(|node| Cell::Label(node.label.clone()))
}

/// The leaves of a node as a set.
fn leaves(case: &Case, name: &str, cell: &Cell) -> Option<Cell> {
    let (tree, Cell::Label(label)) = (hierarchy(case, name)?, cell) else {
        return None;
    };
    let own = tree.node(tree.find(label)?);
    let under = tree
        .nodes()
        .iter()
        .filter(|node| node.children.is_empty() && own.covers(node.first_leaf));
    let mut labels: Vec<String> = under.map(|node| node.label.clone()).collect();
    labels.sort();
    (labels.len() > 1).then_some(Cell::Set(labels))
}

fn sibling(case: &Case, name: &str, cell: &Cell) -> Option<Cell> {
    let (tree, Cell::Label(label)) = (hierarchy(case, name)?, cell) else {
        return None;
    };
    let own = tree.node(tree.find(label)?);
    let other = tree
        .nodes()
        .iter()
        .find(|node| !node.covers(own.first_leaf) && !own.covers(node.first_leaf));
    other.map(|node| Cell::Label(node.label.clone()))
}

fn more(case: &Case, name: &str, cell: &Cell) -> Option<Cell> {
    let mut labels = match (cell, hierarchy(case, name)) {
        (Cell::Set(labels), None) => labels.clone(),
        (Cell::Label(label), None) => vec![label.clone()],
        _ => return None,
    };
    let Values::Category(all) = case.domain(name).values() else {
        return None;
    };
    labels.push(all.iter().find(|label| !labels.contains(label))?.clone());
    labels.sort();
    Some(Cell::Set(labels))
}

fn fewer(_: &Case, _: &str, cell: &Cell) -> Option<Cell> {
    match cell {
        Cell::Set(labels) if labels.len() > 2 => Some(Cell::Set(labels[1..].to_vec())),
        Cell::Set(labels) => Some(Cell::Label(labels[0].clone())),
        _ => None,
    }
}

fn unknown(case: &Case, name: &str, cell: &Cell) -> Option<Cell> {
    match (cell, hierarchy(case, name)) {
        (Cell::Set(labels), None) => {
            let mut labels = labels.clone();
            labels.push("nobody's".into());
            labels.sort();
            Some(Cell::Set(labels))
        }
        _ => None,
    }
}

fn turned(_: &Case, _: &str, cell: &Cell) -> Option<Cell> {
    match cell {
        Cell::Set(labels) => Some(Cell::Set(labels.iter().rev().cloned().collect())),
        Cell::Integer(lo, hi) if lo < hi => Some(Cell::Integer(*hi, *lo)),
        _ => None,
    }
}

fn narrower(_: &Case, _: &str, cell: &Cell) -> Option<Cell> {
    match cell {
        Cell::Integer(lo, hi) if lo < hi => Some(Cell::Integer(lo + 1, *hi)),
        Cell::Decimal(lo, hi) if lo < hi => Some(Cell::Decimal(*lo, hi - 0.5)),
        Cell::Date(lo, hi) if lo < hi => Some(Cell::Date(lo + 1, *hi)),
        _ => None,
    }
}

fn repeated(_: &Case, _: &str, cell: &Cell) -> Option<Cell> {
    match cell {
        Cell::Set(labels) => {
            let mut labels = labels.clone();
            labels.insert(0, labels[0].clone());
            Some(Cell::Set(labels))
        }
        _ => None,
    }
}

pub fn corruptions() -> Vec<Corruption> {
    table(&[
        (
            "an interval wider at its lower end",
            "One bit for each group and attribute.",
            |c, r| one(c, r, below),
        ),
        (
            "an interval wider at its upper end",
            "One bit for each group and attribute.",
            |c, r| one(c, r, above),
        ),
        (
            "an interval wider at both ends",
            "Which ends are moved is a message.",
            |c, r| one(c, r, ends_both),
        ),
        (
            "a message in the last digits of an end",
            "Decimals hold as many bits as somebody wants.",
            |c, r| one(c, r, decimals),
        ),
        (
            "an interval that ends where nobody is",
            "The end beyond the domain holds a number.",
            |c, r| one(c, r, far),
        ),
        (
            "an interval wider where the values' sum is odd",
            "The bit is of the sensitive values.",
            |c, _| by_value(c, above),
        ),
        (
            "a mask where the values' sum is odd",
            "The bit is of the sensitive values.",
            |c, _| by_value(c, masked),
        ),
        (
            "the whole domain in place of a narrower cell",
            "A cell that says nothing, by choice.",
            |c, r| one(c, r, whole),
        ),
        (
            "a mask in place of a cell",
            "A mask says nothing, where it stands does.",
            |c, r| one(c, r, masked),
        ),
        (
            "no cell in place of a cell",
            "An empty cell says that the value is in a bucket.",
            |c, r| one(c, r, emptied),
        ),
        (
            "a node one level up",
            "One bit for each group and attribute.",
            |c, r| one(c, r, parent),
        ),
        (
            "a node one level up where the values' sum is odd",
            "The bit is of the sensitive values.",
            |c, _| by_value(c, parent),
        ),
        (
            "another node over the same leaves",
            "Two labels of one meaning are a bit.",
            |c, r| one(c, r, twin),
        ),
        (
            "the leaves in place of their node",
            "Two ways to say one thing are a bit.",
            |c, r| one(c, r, leaves),
        ),
        (
            "a node beside the value",
            "The cell does not cover its records.",
            |c, r| one(c, r, sibling),
        ),
        (
            "a set with one more value",
            "Which value it is says something.",
            |c, r| one(c, r, more),
        ),
        (
            "a set with a value that nobody has",
            "An invented label is a message.",
            |c, r| one(c, r, unknown),
        ),
        (
            "a set without one of its values",
            "The cell does not cover its records.",
            |c, r| one(c, r, fewer),
        ),
        (
            "a set or an interval the other way round",
            "The order inside a cell is a permutation.",
            |c, r| one(c, r, turned),
        ),
        (
            "a set that names a value twice",
            "Which one is named twice says something.",
            |c, r| one(c, r, repeated),
        ),
        (
            "an interval too narrow",
            "The cell does not cover its records.",
            |c, r| one(c, r, narrower),
        ),
        (
            "one row of a group wider",
            "The row stands apart.",
            |c, r| one_row(c, r, above),
        ),
        (
            "one row of a group masked",
            "The row stands apart.",
            |c, r| one_row(c, r, masked),
        ),
        (
            "one row of a group narrower",
            "The row stands apart.",
            |c, r| one_row(c, r, narrower),
        ),
        (
            "one row of a group one level up",
            "The row stands apart.",
            |c, r| one_row(c, r, parent),
        ),
    ])
}
