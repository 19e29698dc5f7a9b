//! Corruptions of generalized, masked and exact cells.

use rand::RngExt;
use vizard_anonymizer::microdata::{Code, NodeIndex, Values};
use vizard_anonymizer::release::Cell;

use super::{Corruption, Done, Random, any, corruption};
use crate::case::Case;

pub fn corruptions() -> Vec<Corruption> {
    vec![
        corruption(
            "narrow an interval for its whole group",
            &["cells_cover_their_source"],
            narrow_group,
        ),
        corruption(
            "narrow an interval for one row",
            &["groups_look_alike"],
            narrow_row,
        ),
        corruption(
            "widen an interval for its whole group",
            &["cells_span_their_group"],
            widen_group,
        ),
        corruption(
            "generalize to a node beside the value",
            &["cells_cover_their_source"],
            wrong_node,
        ),
        corruption(
            "generalize a whole group one level further",
            &["cells_span_their_group"],
            lift_group,
        ),
        corruption(
            "take a value out of a set",
            &["cells_cover_their_source"],
            shrink_set,
        ),
        corruption(
            "put a value into a set",
            &["cells_span_their_group"],
            grow_set,
        ),
        corruption("mask one cell of a group", &["groups_look_alike"], mask_one),
        corruption(
            "unmask a flagged cell",
            &["flagged_cells_in_one_bucket", "groups_look_alike"],
            unmask_flagged,
        ),
        corruption(
            "change an insensitive cell",
            &["insensitive_exact"],
            change_insensitive,
        ),
        corruption(
            "invent a label",
            &["cells_cover_their_source"],
            invent_label,
        ),
        corruption(
            "turn an interval round",
            &["cells_cover_their_source"],
            turn_round,
        ),
    ]
}

/// Rows of a random group whose interval of `name` is wider than a value.
fn wide_group(case: &Case, name: &str, random: &mut Random) -> Option<Vec<usize>> {
    let cells = case.cells("microdata", name);
    let wide = |cell: &Cell| match cell {
        Cell::Integer(lo, hi) => lo < hi,
        Cell::Decimal(lo, hi) => lo < hi,
        Cell::Date(lo, hi) => lo < hi,
        Cell::Set(_) => true,
        _ => false,
    };
    let groups = case
        .groups()
        .into_iter()
        .filter(|rows| wide(&cells[rows[0]]));
    any(&groups.collect::<Vec<_>>(), random)
}

/// Position of a number in the domain.
fn position(values: &Values, cell: &Cell) -> Option<(usize, usize)> {
    let found = |at: Option<usize>, end: Option<usize>| Some((at?, end?));
    match (values, cell) {
        (Values::Integer(all), Cell::Integer(lo, hi)) => {
            found(all.binary_search(lo).ok(), all.binary_search(hi).ok())
        }
        (Values::Date(all), Cell::Date(lo, hi)) => {
            found(all.binary_search(lo).ok(), all.binary_search(hi).ok())
        }
        (Values::Decimal(all), Cell::Decimal(lo, hi)) => {
            let at = |number: &f64| all.iter().position(|value| value == number);
            found(at(lo), at(hi))
        }
        _ => None,
    }
}

fn interval(values: &Values, first: usize, last: usize) -> Cell {
    match values {
        Values::Integer(all) => Cell::Integer(all[first], all[last]),
        Values::Date(all) => Cell::Date(all[first], all[last]),
        Values::Decimal(all) => Cell::Decimal(all[first], all[last]),
        Values::Category(_) => panic!("categories have no intervals"),
    }
}

const NUMERIC: [&str; 3] = ["age", "weight", "admitted"];

fn put(case: &mut Case, name: &str, rows: &[usize], cell: &Cell) {
    let mut cells = case.cells("microdata", name);
    rows.iter().for_each(|&row| cells[row] = cell.clone());
    case.set_cells("microdata", name, cells);
}

/// An interval's lower end is the value of a member, which falls out.
fn narrow_group(case: &mut Case, random: &mut Random) -> Done {
    let name = any(&NUMERIC, random).unwrap();
    let Some(rows) = wide_group(case, name, random) else {
        return Done::Skip;
    };
    let cell = case.cells("microdata", name)[rows[0]].clone();
    let values = case.domain(name).values().clone();
    let (first, last) = position(&values, &cell).unwrap();
    put(case, name, &rows, &interval(&values, first + 1, last));
    Done::Seal
}

/// One row of the group then looks different.
fn narrow_row(case: &mut Case, random: &mut Random) -> Done {
    let name = any(&NUMERIC, random).unwrap();
    let Some(rows) = wide_group(case, name, random) else {
        return Done::Skip;
    };
    let row = any(&rows, random).unwrap();
    let cell = case.exact(name, case.code(name, row));
    put(case, name, &[row], &cell);
    Done::Seal
}

/// No member has the new end, and no other group has the new cell, with whose
/// members it would be the least.
fn widen_group(case: &mut Case, random: &mut Random) -> Done {
    let name = any(&NUMERIC, random).unwrap();
    let Some(rows) = wide_group(case, name, random) else {
        return Done::Skip;
    };
    let cells = case.cells("microdata", name);
    let values = case.domain(name).values().clone();
    let (first, last) = position(&values, &cells[rows[0]]).unwrap();
    let wider = match random.random_bool(0.5) {
        true if first > 0 => interval(&values, first - 1, last),
        _ if last + 1 < case.domain(name).len() => interval(&values, first, last + 1),
        _ => return Done::Skip,
    };
    if cells.contains(&wider) {
        return Done::Skip;
    }
    put(case, name, &rows, &wider);
    Done::Seal
}

/// The sibling of a leaf, or of an inner node, does not hold what it holds.
fn wrong_node(case: &mut Case, random: &mut Random) -> Done {
    let tree = case.domain("city").hierarchy().unwrap().clone();
    let cells = case.cells("microdata", "city");
    let wrong = |row: usize| match &cells[row] {
        Cell::Label(label) => {
            let node = tree.find(label)?;
            let siblings = &tree.node(tree.node(node).parent).children;
            siblings.iter().find(|&&sibling| sibling != node).copied()
        }
        _ => None,
    };
    let rows: Vec<usize> = (0..case.rows())
        .filter(|&row| wrong(row).is_some())
        .collect();
    let Some(row) = any(&rows, random) else {
        return Done::Skip;
    };
    let group = case
        .groups()
        .into_iter()
        .find(|rows| rows.contains(&row))
        .unwrap();
    let label = tree.node(wrong(row).unwrap()).label.clone();
    put(case, "city", &group, &Cell::Label(label));
    Done::Seal
}

/// The parent is wider than the lowest common ancestor, and no other group
/// looks alike, with whose members it would be the least.
fn lift_group(case: &mut Case, random: &mut Random) -> Done {
    let domain = case.domain("city");
    let tree = domain.hierarchy().unwrap().clone();
    let cells = case.cells("microdata", "city");
    let lifted = |rows: &[usize]| match &cells[rows[0]] {
        Cell::Label(label) => {
            let parent = tree.node(tree.find(label).unwrap()).parent;
            (parent != NodeIndex::ROOT).then(|| Cell::Label(tree.node(parent).label.clone()))
        }
        _ => None,
    };
    let groups = case.groups().into_iter();
    let below = groups.filter_map(|rows| Some((lifted(&rows)?, rows)));
    let Some((lifted, rows)) = any(&below.collect::<Vec<_>>(), random) else {
        return Done::Skip;
    };
    put(case, "city", &rows, &lifted);
    let look = case.look(rows[0]);
    let alike = (0..case.rows())
        .filter(|&row| case.look(row) == look)
        .count();
    if alike != rows.len() {
        Done::Skip
    } else {
        Done::Seal
    }
}

/// A set holds the values of the group's members; one of them falls out.
fn shrink_set(case: &mut Case, random: &mut Random) -> Done {
    let Some(rows) = wide_group(case, "job", random) else {
        return Done::Skip;
    };
    let Cell::Set(mut labels) = case.cells("microdata", "job")[rows[0]].clone() else {
        return Done::Skip;
    };
    let at = random.random_range(0..labels.len());
    labels.remove(at);
    let cell = match labels.as_slice() {
        [only] => Cell::Label(only.clone()),
        _ => Cell::Set(labels),
    };
    put(case, "job", &rows, &cell);
    Done::Seal
}

/// No member has the value that is put in, and no other group looks alike.
fn grow_set(case: &mut Case, random: &mut Random) -> Done {
    let Some(rows) = wide_group(case, "job", random) else {
        return Done::Skip;
    };
    let cells = case.cells("microdata", "job");
    let Cell::Set(mut labels) = cells[rows[0]].clone() else {
        return Done::Skip;
    };
    let Values::Category(all) = case.domain("job").values().clone() else {
        return Done::Skip;
    };
    let Some(new) = all.into_iter().find(|label| !labels.contains(label)) else {
        return Done::Skip;
    };
    labels.push(new);
    labels.sort();
    put(case, "job", &rows, &Cell::Set(labels));
    let look = case.look(rows[0]);
    let alike = (0..case.rows())
        .filter(|&row| case.look(row) == look)
        .count();
    if alike != rows.len() {
        Done::Skip
    } else {
        Done::Seal
    }
}

/// A masked cell among others of its group looks different.
fn mask_one(case: &mut Case, random: &mut Random) -> Done {
    let name = any(&["age", "sex", "city", "job", "weight", "admitted"], random).unwrap();
    let cells = case.cells("microdata", name);
    let open = (0..case.rows()).filter(|&row| cells[row] != Cell::Masked);
    let Some(row) = any(&open.collect::<Vec<_>>(), random) else {
        return Done::Skip;
    };
    put(case, name, &[row], &Cell::Masked);
    Done::Seal
}

/// A group whose attribute everybody shows, and that then looks like no other
/// that is masked.
pub fn mask_group(case: &mut Case, random: &mut Random) -> Done {
    let [name, other] = any(&[["age", "sex"], ["sex", "age"]], random).unwrap();
    let cells = case.cells("microdata", name);
    let others = case.cells("microdata", other);
    let status = |cell: &Cell| match cell {
        Cell::Empty => 0,
        Cell::Masked => 1,
        _ => 2,
    };
    let shown = |rows: &Vec<usize>| rows.iter().all(|&row| status(&cells[row]) == 2);
    let groups: Vec<Vec<usize>> = case.groups().into_iter().filter(shown).collect();
    let Some(rows) = any(&groups, random) else {
        return Done::Skip;
    };
    let beside = status(&others[rows[0]]);
    let is_like = |row: usize| status(&cells[row]) == 1 && status(&others[row]) == beside;
    if (0..case.rows()).any(is_like) {
        return Done::Skip;
    }
    put(case, name, &rows, &Cell::Masked);
    Done::Seal
}

/// A flagged value is shown, and beside it the rest of the group is masked.
fn unmask_flagged(case: &mut Case, random: &mut Random) -> Done {
    let name = any(&["age", "sex"], random).unwrap();
    let cells = case.cells("microdata", name);
    let masked = |row: &usize| cells[*row] == Cell::Masked && case.flagged(name, *row);
    let Some(row) = any(&(0..case.rows()).filter(masked).collect::<Vec<_>>(), random) else {
        return Done::Skip;
    };
    let cell = case.exact(name, case.code(name, row));
    put(case, name, &[row], &cell);
    Done::Seal
}

/// The ward is published as it is, and every other ward is wrong.
fn change_insensitive(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    let code = case.code("ward", row);
    let other = Code((code.0 + 1) % case.domain("ward").len() as u32);
    let cell = case.exact("ward", other);
    put(case, "ward", &[row], &cell);
    Done::Seal
}

/// No domain knows the label.
fn invent_label(case: &mut Case, random: &mut Random) -> Done {
    let name = any(&["city", "job"], random).unwrap();
    let group = any(&case.groups(), random).unwrap();
    put(case, name, &group, &Cell::Label("Atlantis".into()));
    Done::Seal
}

/// An interval from high to low holds nothing.
fn turn_round(case: &mut Case, random: &mut Random) -> Done {
    let Some(rows) = wide_group(case, "age", random) else {
        return Done::Skip;
    };
    let Cell::Integer(lo, hi) = case.cells("microdata", "age")[rows[0]] else {
        return Done::Skip;
    };
    put(case, "age", &rows, &Cell::Integer(hi, lo));
    Done::Seal
}
