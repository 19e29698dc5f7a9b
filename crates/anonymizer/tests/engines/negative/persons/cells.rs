//! What is published of quasi-identifiers.

use rand::RngExt;
use vizard_anonymizer::microdata::Values;
use vizard_anonymizer::release::Cell;

use super::base::counting;
use super::rule;
use crate::case::Case;
use crate::negative::{Corruption, Done, Random, any, corruption};

const COVER: &str = "cells_cover_their_source";
const SPAN: &str = "cells_span_their_group";

pub fn corruptions() -> Vec<Corruption> {
    let mut all = numbers();
    all.extend(categories());
    all.extend(places());
    all
}

/// Intervals that are not the least ones.
fn numbers() -> Vec<Corruption> {
    vec![
        corruption("narrow an interval", &[COVER, SPAN], |case, random| {
            interval(case, random, (1, 0))
        }),
        corruption("widen an interval", &[SPAN], |case, random| {
            interval(case, random, (-1, 0))
        }),
        corruption("widen an interval upwards", &[SPAN], |case, random| {
            interval(case, random, (0, 1))
        }),
        corruption(
            "give a number that nobody has",
            &[COVER, SPAN],
            |case, random| {
                whole_group(case, random, "age", |cell| match cell {
                    Cell::Integer(low, high) => Some(Cell::Integer(low - 1_000, *high)),
                    _ => None,
                })
            },
        ),
        corruption("give no number", &[COVER, SPAN], |case, random| {
            whole_group(case, random, "weight", |_| {
                Some(Cell::Decimal(f64::NAN, f64::NAN))
            })
        }),
        corruption("turn an interval around", &[COVER, SPAN], |case, random| {
            whole_group(case, random, "admitted", |cell| match cell {
                Cell::Date(low, high) if low < high => Some(Cell::Date(*high, *low)),
                _ => None,
            })
        }),
    ]
}

/// Nodes and sets that are not the least ones.
fn categories() -> Vec<Corruption> {
    vec![
        corruption(
            "replace the root by a child",
            &[COVER, SPAN],
            |case, random| {
                let child = any(&["West", "East", "North"], random).unwrap();
                whole_group(case, random, "city", |cell| match cell {
                    Cell::Masked => Some(Cell::Label(child.into())),
                    _ => None,
                })
            },
        ),
        corruption("write the root in another way", &[SPAN], |case, random| {
            whole_group(case, random, "city", |cell| match cell {
                Cell::Masked => Some(Cell::Label("*".into())),
                _ => None,
            })
        }),
        corruption("mask an interval", &[SPAN], |case, random| {
            let name = any(&["age", "weight", "admitted", "job"], random).unwrap();
            whole_group(case, random, name, |_| Some(Cell::Masked))
        }),
        corruption("leave a cell empty", &[COVER, SPAN], |case, random| {
            let name = any(&["age", "city", "job"], random).unwrap();
            whole_group(case, random, name, |_| Some(Cell::Empty))
        }),
        corruption(
            "take a value out of a set",
            &[COVER, SPAN],
            |case, random| {
                whole_group(case, random, "job", |cell| match cell {
                    Cell::Set(labels) if labels.len() > 2 => Some(Cell::Set(labels[1..].to_vec())),
                    _ => None,
                })
            },
        ),
        corruption("repeat a value of a set", &[COVER, SPAN], |case, random| {
            whole_group(case, random, "job", |cell| match cell {
                Cell::Set(labels) => {
                    let mut labels = labels.clone();
                    labels.push(labels[0].clone());
                    Some(Cell::Set(labels))
                }
                _ => None,
            })
        }),
        corruption(
            "publish a cell of another type",
            &[COVER, SPAN],
            |case, random| {
                let name = any(&["age", "city", "job", "weight"], random).unwrap();
                whole_group(case, random, name, |_| Some(Cell::Date(0, 1)))
            },
        ),
    ]
}

/// Right cells in the wrong place.
fn places() -> Vec<Corruption> {
    vec![
        corruption(
            "change the cell of one person",
            &["groups_look_alike"],
            one_cell,
        ),
        corruption("exchange the cells of two groups", &[SPAN], exchange_groups),
        corruption("swap the lineage of two rows", &[COVER], swap_lineage),
        corruption(
            "publish the record that does not count",
            &[SPAN],
            other_rule,
        ),
    ]
}

/// Changes the cell of everyone in some group where there is a change to make.
fn whole_group(
    case: &mut Case,
    random: &mut Random,
    name: &str,
    change: impl Fn(&Cell) -> Option<Cell>,
) -> Done {
    let mut cells = case.cells("persons", name);
    let groups = case.groups().into_iter();
    let groups: Vec<Vec<usize>> = groups
        .filter(|rows| change(&cells[rows[0]]).is_some())
        .collect();
    let Some(rows) = any(&groups, random) else {
        return Done::Skip;
    };
    for row in rows {
        cells[row] = change(&cells[row]).expect("the group has one cell");
    }
    case.set_cells("persons", name, cells);
    Done::Seal
}

/// Moves the ends of an interval by so many values of the domain.
fn interval(case: &mut Case, random: &mut Random, (low_by, high_by): (isize, isize)) -> Done {
    let Values::Decimal(values) = case.domain("weight").values().clone() else {
        panic!("weights are decimals");
    };
    let moved = |value: f64, by: isize| {
        let at = values.iter().position(|known| *known == value)?;
        values.get(at.checked_add_signed(by)?).copied()
    };
    whole_group(case, random, "weight", |cell| match cell {
        Cell::Decimal(low, high) => {
            Some(Cell::Decimal(moved(*low, low_by)?, moved(*high, high_by)?))
        }
        _ => None,
    })
}

/// Rows of a group look the same.
fn one_cell(case: &mut Case, random: &mut Random) -> Done {
    let mut cells = case.cells("persons", "age");
    let row = random.random_range(0..cells.len());
    let Cell::Integer(low, high) = cells[row] else {
        panic!("ages are integers");
    };
    cells[row] = Cell::Integer(low, high + 1);
    case.set_cells("persons", "age", cells);
    Done::Seal
}

/// No two groups have the same least weights.
fn exchange_groups(case: &mut Case, random: &mut Random) -> Done {
    let groups = case.groups();
    let first = random.random_range(0..groups.len());
    let second = (first + 1) % groups.len();
    let mut cells = case.cells("persons", "weight");
    let of = [first, second].map(|group| cells[groups[group][0]].clone());
    for (group, cell) in [(first, &of[1]), (second, &of[0])] {
        for &row in &groups[group] {
            cells[row] = cell.clone();
        }
    }
    case.set_cells("persons", "weight", cells);
    Done::Seal
}

/// The age of one of the two lies outside the other's interval.
fn swap_lineage(case: &mut Case, random: &mut Random) -> Done {
    let cells = case.cells("persons", "age");
    let Values::Integer(values) = case.domain("age").values().clone() else {
        panic!("ages are integers");
    };
    let row = random.random_range(0..cells.len());
    let outside = (0..cells.len()).filter(|&other| {
        let codes = counting(&case.table, "age", rule(case), case.subjects()[other]);
        let age = values[codes[0].at()];
        matches!(cells[row], Cell::Integer(low, high) if age < low || age > high)
    });
    let Some(other) = any(&outside.collect::<Vec<_>>(), random) else {
        return Done::Skip;
    };
    case.subjects_mut().swap(row, other);
    Done::Seal
}

/// Cells as another rule would have them; by `hull` they are wider, and the
/// weights of a person are hardly ever the same twice.
fn other_rule(case: &mut Case, _: &mut Random) -> Done {
    use vizard_anonymizer::privacy::QidConflict;
    let rule = match rule(case) {
        QidConflict::Hull => QidConflict::First,
        QidConflict::First => QidConflict::Latest,
        _ => QidConflict::First,
    };
    let groups = case.groups();
    let mut cells = case.cells("persons", "weight");
    for rows in groups {
        let codes = rows
            .iter()
            .flat_map(|&row| counting(&case.table, "weight", rule, case.subjects()[row]));
        let cell = super::base::least(&case.table, "weight", &codes.collect::<Vec<_>>());
        for row in rows {
            cells[row] = cell.clone();
        }
    }
    case.set_cells("persons", "weight", cells);
    Done::Seal
}
