//! Choices that content alone does not show to be false: who is left out, and
//! which of two records with one value stands in which block.

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use vizard_anonymizer::microdata::Code;
use vizard_anonymizer::release::Cell;

use super::owners::{Rows, number_column};
use super::{Corruption, Done, Random, evidence, table};
use crate::case::Case;

/// Lists that count values have one less of each left-out row's.
fn uncount(case: &mut Case, row: usize) {
    if !case.tables.iter().any(|table| table.name == "sensitive") {
        return;
    }
    let blocks = case.numbers("sensitive", "block");
    let attributes = case.cells("sensitive", "attribute");
    let values = case.cells("sensitive", "value");
    let mut counts = case.numbers("sensitive", "count");
    for (at, attribute) in attributes.iter().enumerate() {
        let Cell::Label(name) = attribute else {
            continue;
        };
        let own = format!("{name}_block");
        let has_own = case.published("quasi").column(&own).is_some();
        let column = if has_own { own.as_str() } else { "block" };
        let is_own = case.numbers("quasi", column)[row] == blocks[at];
        if is_own && case.exact(name, case.code(name, row)) == values[at] {
            counts[at] -= 1;
        }
    }
    let kept: Vec<usize> = (0..counts.len()).filter(|&at| counts[at] > 0).collect();
    case.set_numbers("sensitive", "count", counts);
    case.take_rows("sensitive", &kept);
}

/// Leaves rows out and counts them as left out.
fn leave_out(case: &mut Case, mut rows: Vec<usize>) -> Done {
    rows.truncate(case.rows() / 2);
    if rows.is_empty() || case.tables.iter().any(|table| table.name == "buckets") {
        return Done::Skip;
    }
    for &row in &rows {
        uncount(case, row);
    }
    let kept: Vec<usize> = (0..case.rows()).filter(|row| !rows.contains(row)).collect();
    case.take_rows(case.row_table(), &kept);
    evidence::count_excluded(case);
    Done::Content
}

/// A row whose absence breaks nothing else, as far as the verifier sees: the
/// best choice of who would leave one out.
fn unnoticed(case: &Case, mut rows: Vec<usize>, random: &mut Random) -> Vec<usize> {
    const TRIES: usize = 5;
    rows.shuffle(random);
    for &row in rows.iter().take(TRIES) {
        let mut tried = case.clone();
        if leave_out(&mut tried, vec![row]) == Done::Content {
            evidence::restore_order(&mut tried);
            tried.seal();
            if evidence::is_accepted(&tried) {
                return vec![row];
            }
        }
    }
    rows.truncate(1);
    rows
}

fn of_value(rows: &Rows, pick: fn(&[usize]) -> usize) -> Vec<usize> {
    let values = rows
        .secret
        .iter()
        .max()
        .map_or(0, |most| *most as usize + 1);
    let mut of_value = vec![Vec::new(); values];
    for (row, &value) in rows.secret.iter().enumerate() {
        of_value[value as usize].push(row);
    }
    let sizes: Vec<usize> = of_value.iter().map(Vec::len).collect();
    of_value.swap_remove(pick(&sizes))
}

fn rarest(sizes: &[usize]) -> usize {
    let there = (0..sizes.len()).filter(|&at| sizes[at] > 0);
    there.min_by_key(|&at| sizes[at]).unwrap_or(0)
}

pub fn exclusions() -> Vec<Corruption> {
    table(&[
        (
            "a record of the rarest value left out",
            "Absence tells the value.",
            |c, r| {
                let rows = of_value(&Rows::of(c), rarest);
                let rows = unnoticed(c, rows, r);
                leave_out(c, rows)
            },
        ),
        (
            "any record left out",
            "Which one is missing is a message.",
            |c, r| {
                let rows = unnoticed(c, (0..c.rows()).collect(), r);
                leave_out(c, rows)
            },
        ),
        (
            "a record with terms left out",
            "Whoever asks for something is gone.",
            |c, r| {
                let rows = Rows::of(c);
                let asked = (0..rows.len()).filter(|&row| rows.asks[row]).collect();
                let rows = unnoticed(c, asked, r);
                leave_out(c, rows)
            },
        ),
        (
            "everyone with the rarest value left out",
            "Nobody with the value is published.",
            |c, _| {
                let rows = of_value(&Rows::of(c), rarest);
                leave_out(c, rows)
            },
        ),
        (
            "a whole group left out",
            "Which one is missing is a message.",
            |c, r| {
                let groups = Rows::of(c).groups();
                let group = groups[r.random_range(0..groups.len())].clone();
                leave_out(c, group)
            },
        ),
        (
            "half of everyone left out",
            "More than the job allows.",
            |c, _| leave_out(c, (0..c.rows()).step_by(2).collect()),
        ),
        (
            "everyone of odd places of the source left out",
            "What remains is a sample that somebody chose.",
            |c, _| {
                let rows = Rows::of(c);
                leave_out(
                    c,
                    (0..rows.len())
                        .filter(|&row| rows.subject[row] % 2 == 1)
                        .collect(),
                )
            },
        ),
    ])
}

/// Rows of the listed form: their block numbers may be exchanged.
fn exchange(case: &mut Case, random: &mut Random, fits: fn(&Rows, usize, usize) -> bool) -> Done {
    if case.row_table() != "quasi" {
        return Done::Skip;
    }
    let rows = Rows::of(case);
    let column = number_column(case);
    // Names of several block columns say whose value counts.
    let name = column
        .strip_suffix("_block")
        .unwrap_or("disease")
        .to_owned();
    let value = |row: usize| case.code(&name, row);
    let values: Vec<Code> = (0..rows.len()).map(value).collect();
    let mut pairs = Vec::new();
    for one in 0..rows.len() {
        for other in 0..one {
            if values[one] == values[other]
                && rows.number[one] != rows.number[other]
                && rows.shows[one] != rows.shows[other]
                && fits(&rows, one, other)
            {
                pairs.push((one, other));
            }
        }
    }
    let Some(&(one, other)) = pairs.choose(random) else {
        return Done::Skip;
    };
    let mut numbers = case.numbers("quasi", &column);
    numbers.swap(one, other);
    case.set_numbers("quasi", &column, numbers);
    Done::Content
}

/// Exchanges two records of different blocks with their values.
fn exchange_with_values(case: &mut Case, random: &mut Random) -> Done {
    if case.row_table() != "quasi" || number_column(case) != "block" {
        return Done::Skip;
    }
    let rows = Rows::of(case);
    let shown = |row: usize| case.exact("disease", case.code("disease", row));
    let has = |block: u64, value: &Cell| {
        (0..rows.len()).any(|row| rows.number[row] == block && shown(row) == *value)
    };
    let mut all: Vec<usize> = (0..rows.len()).collect();
    all.shuffle(random);
    let one = all[0];
    let other = all.iter().copied().find(|&other| {
        let (a, b) = (rows.number[one], rows.number[other]);
        a != b
            && rows.shows[one] != rows.shows[other]
            && !has(a, &shown(other))
            && !has(b, &shown(one))
    });
    let Some(other) = other else {
        return Done::Skip;
    };
    let (own, others) = (shown(one), shown(other));
    let blocks = case.numbers("sensitive", "block");
    let mut values = case.cells("sensitive", "value");
    for (at, value) in values.iter_mut().enumerate() {
        if blocks[at] == rows.number[one] && *value == own {
            *value = others.clone();
        } else if blocks[at] == rows.number[other] && *value == others {
            *value = own.clone();
        }
    }
    case.set_cells("sensitive", "value", values);
    let mut numbers = case.numbers("quasi", "block");
    numbers.swap(one, other);
    case.set_numbers("quasi", "block", numbers);
    Done::Content
}

/// Puts two blocks without a common value together.
fn merge_blocks(case: &mut Case, random: &mut Random) -> Done {
    if case.row_table() != "quasi" || number_column(case) != "block" {
        return Done::Skip;
    }
    let groups = Rows::of(case).groups();
    let values: Vec<Vec<Code>> = groups
        .iter()
        .map(|group| group.iter().map(|&row| case.code("disease", row)).collect())
        .collect();
    let last = groups.len() - 1;
    let apart =
        (0..last).filter(|&at| values[at].iter().all(|value| !values[last].contains(value)));
    let Some(&into) = apart.collect::<Vec<_>>().choose(random) else {
        return Done::Skip;
    };
    for table in ["quasi", "sensitive"] {
        let numbers = case.numbers(table, "block").into_iter();
        let merged = numbers.map(|number| {
            if number == last as u64 + 1 {
                into as u64 + 1
            } else {
                number
            }
        });
        let merged = merged.collect();
        case.set_numbers(table, "block", merged);
    }
    Done::Content
}

pub fn dealings() -> Vec<Corruption> {
    table(&[
        (
            "records of one value exchanged between blocks",
            "Both blocks list the value: a bit for each such pair.",
            |c, r| exchange(c, r, |_, _, _| true),
        ),
        (
            "records dealt by the source",
            "Of two records with a value the older one is in the lower block.",
            |c, r| {
                exchange(c, r, |rows, one, other| {
                    (rows.subject[one] < rows.subject[other])
                        != (rows.number[one] < rows.number[other])
                })
            },
        ),
        (
            "records with terms dealt to the lower block",
            "The block tells who asked for something.",
            |c, r| exchange(c, r, |rows, one, other| rows.asks[one] && !rows.asks[other]),
        ),
        (
            "records exchanged between blocks with their values",
            "Who shares a block is a message.",
            exchange_with_values,
        ),
        (
            "two blocks put together",
            "Whether they are is a bit.",
            merge_blocks,
        ),
    ])
}
