//! Records lost, moved, doubled or changed, as a careless engine might.

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use vizard_anonymizer::microdata::{Code, SubjectIndex};
use vizard_anonymizer::release::{Cell, Cells, Content};

use super::owners::{Rows, number_column};
use super::{Corruption, Done, Random, table};
use crate::case::{Case, edit};

fn all_but(case: &Case, left_out: &[usize]) -> Vec<usize> {
    (0..case.rows())
        .filter(|row| !left_out.contains(row))
        .collect()
}

fn drop_row(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    let kept = all_but(case, &[row]);
    case.take_rows(case.row_table(), &kept);
    Done::Content
}

fn drop_group(case: &mut Case, random: &mut Random) -> Done {
    let groups = Rows::of(case).groups();
    let Some(group) = groups.choose(random) else {
        return Done::Skip;
    };
    let kept = all_but(case, group);
    case.take_rows(case.row_table(), &kept);
    Done::Content
}

fn double_row(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    let mut rows = all_but(case, &[]);
    rows.push(row);
    case.take_rows(case.row_table(), &rows);
    Done::Content
}

/// A copy of a row that the lineage says is somebody else's.
fn double_row_of_another(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(1..case.rows());
    let mut rows = all_but(case, &[]);
    rows.push(row);
    case.take_rows(case.row_table(), &rows);
    let other = case.subjects()[0];
    if let Some(last) = case.subjects_mut().last_mut() {
        *last = other;
    }
    Done::Content
}

/// One more row, which the lineage says is of the subject who asked to be left
/// out: the first of the source.
fn publish_excluded(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    let rows: Vec<usize> = (0..case.rows()).chain([row]).collect();
    case.take_rows(case.row_table(), &rows);
    if let Some(last) = case.subjects_mut().last_mut() {
        *last = SubjectIndex(0);
    }
    Done::Content
}

/// Exchanges the lineage of two rows whose groups differ.
fn exchange_owners(case: &mut Case, random: &mut Random) -> Done {
    let rows = Rows::of(case);
    let one = random.random_range(0..rows.len());
    let other = (0..rows.len()).find(|&other| {
        rows.number[other] != rows.number[one]
            && rows.looks[other] != rows.looks[one]
            && rows.secret[other] != rows.secret[one]
    });
    let Some(other) = other else {
        return Done::Skip;
    };
    case.subjects_mut().swap(one, other);
    Done::Content
}

/// Whether a row of a sliced release happens to be one person's: to move it
/// to another bucket is to partition otherwise.
fn is_whole(case: &Case, row: usize) -> bool {
    let table = case.row_table();
    let names = exact(case, table).into_iter();
    let mut own = names.map(|header| {
        let name = header.split('@').next().unwrap_or(&header).to_owned();
        case.cells(table, &header)[row] == case.exact(&name, case.code(&name, row))
    });
    table == "sliced" && own.all(|is_own| is_own)
}

/// Gives one row the number of another group.
fn renumber_row(case: &mut Case, random: &mut Random) -> Done {
    let (table, column) = (case.row_table(), number_column(case));
    let mut numbers = case.numbers(table, &column);
    let movable: Vec<usize> = (0..numbers.len())
        .filter(|&row| !is_whole(case, row))
        .collect();
    let Some(&row) = movable.choose(random) else {
        return Done::Skip;
    };
    let others: Vec<u64> = numbers
        .iter()
        .copied()
        .filter(|&other| other != numbers[row])
        .collect();
    let Some(&other) = others.choose(random) else {
        return Done::Skip;
    };
    numbers[row] = other;
    case.set_numbers(table, &column, numbers);
    Done::Content
}

/// Gives all rows of the last group the number of the first.
fn merge_groups(case: &mut Case, _: &mut Random) -> Done {
    let (table, column) = (case.row_table(), number_column(case));
    let numbers = case.numbers(table, &column);
    let last = numbers.iter().copied().max().unwrap_or(0);
    // Two buckets of a sliced release are one larger bucket.
    if last < 2 || table == "sliced" {
        return Done::Skip;
    }
    let merged = numbers
        .iter()
        .map(|&number| if number == last { 1 } else { number });
    let merged = merged.collect();
    case.set_numbers(table, &column, merged);
    Done::Content
}

/// Gives half of a group's rows a new number.
fn split_group(case: &mut Case, random: &mut Random) -> Done {
    let (table, column) = (case.row_table(), number_column(case));
    let groups = Rows::of(case).groups();
    let mut numbers = case.numbers(table, &column);
    let new = groups.len() as u64 + 1;
    let Some(group) = groups.choose(random) else {
        return Done::Skip;
    };
    // By weight where there is one: the halves then need other cells.
    let mut group = group.clone();
    if case.published(table).column("weight").is_some() && table == "microdata" {
        group.sort_by_key(|&row| case.code("weight", row));
    }
    for &row in &group[..group.len() / 2] {
        numbers[row] = new;
    }
    case.set_numbers(table, &column, numbers);
    Done::Content
}

fn no_group(case: &mut Case, random: &mut Random) -> Done {
    let (table, column) = (case.row_table(), number_column(case));
    let mut numbers = case.numbers(table, &column);
    let row = random.random_range(0..numbers.len());
    numbers[row] = 0;
    case.set_numbers(table, &column, numbers);
    Done::Content
}

/// Exact columns of a table.
fn exact(case: &Case, table: &str) -> Vec<String> {
    let columns = case.published(table).columns.iter();
    let exact = columns.filter(|column| column.content == Content::Exact);
    exact.map(|column| column.name.clone()).collect()
}

/// Exchanges an exact cell of two rows of different groups.
fn exchange_cells(case: &mut Case, random: &mut Random) -> Done {
    let table = case.row_table();
    let names = exact(case, table);
    let Some(name) = names.choose(random) else {
        return Done::Skip;
    };
    let rows = Rows::of(case);
    let cells = case.cells(table, name);
    let one = random.random_range(0..rows.len());
    let other = (0..rows.len())
        .find(|&other| rows.number[other] != rows.number[one] && cells[other] != cells[one]);
    let Some(other) = other else {
        return Done::Skip;
    };
    let columns = &mut case.published_mut(table).columns;
    let column = columns.iter_mut().find(|column| column.name == *name);
    let Some(Cells::Dictionary { codes, .. }) = column.map(|column| &mut column.cells) else {
        return Done::Skip;
    };
    edit(codes, |codes| codes.swap(one, other));
    Done::Content
}

/// Shows another value of the domain in one exact cell.
fn change_cell(case: &mut Case, random: &mut Random) -> Done {
    let table = case.row_table();
    let mut names = exact(case, table);
    names.retain(|name| case.table.schema().find(name).is_some());
    let Some(name) = names.choose(random) else {
        return Done::Skip;
    };
    let mut cells = case.cells(table, name);
    let row = random.random_range(0..cells.len());
    let all = 0..case.domain(name).len() as u32;
    let mut other = all.map(|code| case.exact(name, Code(code)));
    let Some(other) = other.find(|other| *other != cells[row]) else {
        return Done::Skip;
    };
    cells[row] = other;
    case.set_cells(table, name, cells);
    Done::Content
}

/// Changes a number of a column of counts of a list.
fn change_count(case: &mut Case, random: &mut Random, by: fn(u64) -> u64) -> Done {
    let counted = ["sensitive", "buckets", "group_buckets"];
    let mut lists: Vec<&str> = counted
        .into_iter()
        .filter(|list| case.tables.iter().any(|table| table.name == *list))
        .collect();
    lists.shuffle(random);
    let Some(&list) = lists.first() else {
        return Done::Skip;
    };
    let mut counts = case.numbers(list, "count");
    let at = random.random_range(0..counts.len());
    counts[at] = by(counts[at]);
    case.set_numbers(list, "count", counts);
    Done::Content
}

/// Replaces a listed value by a label of another branch.
fn change_listed(case: &mut Case, random: &mut Random) -> Done {
    for list in ["sensitive", "buckets"] {
        if case.tables.iter().any(|table| table.name == list) {
            let mut cells = case.cells(list, "value");
            let at = random.random_range(0..cells.len());
            let other = cells.iter().find(|cell| {
                std::mem::discriminant(*cell) == std::mem::discriminant(&cells[at])
                    && **cell != cells[at]
            });
            let Some(other) = other.cloned() else {
                return Done::Skip;
            };
            cells[at] = other;
            case.set_cells(list, "value", cells);
            return Done::Content;
        }
    }
    Done::Skip
}

/// Writes one listed row as two whose counts add up.
fn split_count(case: &mut Case, _: &mut Random) -> Done {
    for list in ["sensitive", "buckets", "group_buckets"] {
        if case.tables.iter().any(|table| table.name == list) {
            let counts = case.numbers(list, "count");
            let Some(at) = counts.iter().position(|&count| count > 1) else {
                continue;
            };
            let mut rows: Vec<usize> = (0..counts.len()).collect();
            rows.insert(at, at);
            case.take_rows(list, &rows);
            let mut counts = case.numbers(list, "count");
            counts[at] = 1;
            counts[at + 1] -= 1;
            case.set_numbers(list, "count", counts);
            return Done::Content;
        }
    }
    Done::Skip
}

/// Replaces an exact sensitive cell by a node above it.
fn generalize_value(case: &mut Case, random: &mut Random) -> Done {
    let table = case.row_table();
    let Some(column) = case.published(table).column("disease") else {
        return Done::Skip;
    };
    if column.content == Content::Fingerprint {
        return Done::Skip;
    }
    let mut cells = case.cells(table, "disease");
    let tree = case
        .domain("disease")
        .hierarchy()
        .expect("diseases are a tree");
    let row = random.random_range(0..cells.len());
    let Cell::Label(label) = &cells[row] else {
        return Done::Skip;
    };
    let own = tree.node(tree.find(label).expect("the label is known"));
    // Where a whole group says less, its values were cut elsewhere.
    let groups = Rows::of(case).number;
    let is_shared =
        |other: usize| other != row && groups[other] == groups[row] && cells[other] == cells[row];
    let is_cut = column.content == Content::Generalized && !(0..cells.len()).any(is_shared);
    if own.depth == 0 || is_cut {
        return Done::Skip;
    }
    cells[row] = Cell::Label(tree.node(own.parent).label.clone());
    case.set_cells(table, "disease", cells);
    Done::Content
}

/// Replaces an exact value by a node that covers it alone.
fn twin_value(case: &mut Case, random: &mut Random) -> Done {
    let table = case.row_table();
    let listed = case
        .tables
        .iter()
        .find(|table| table.name == "sensitive" || table.name == "buckets");
    let (table, column) = match (case.published(table).column("disease"), listed) {
        (Some(column), _) if column.content == Content::Exact => (table.to_owned(), "disease"),
        (_, Some(listed)) => (listed.name.clone(), "value"),
        _ => return Done::Skip,
    };
    let mut cells = case.cells(&table, column);
    let only = Cell::Label("gout".into());
    let rows: Vec<usize> = (0..cells.len()).filter(|&row| cells[row] == only).collect();
    let Some(&row) = rows.choose(random) else {
        return Done::Skip;
    };
    cells[row] = Cell::Label("joints".into());
    case.set_cells(&table, column, cells);
    Done::Content
}

pub fn corruptions() -> Vec<Corruption> {
    table(&[
        (
            "a row lost",
            "A record is neither published nor counted as left out.",
            drop_row,
        ),
        (
            "a group lost",
            "Records are neither published nor counted as left out.",
            drop_group,
        ),
        (
            "a row twice",
            "A record counts twice towards k.",
            double_row,
        ),
        (
            "a row twice, the second as somebody else's",
            "A decoy that is nobody's pads a group.",
            double_row_of_another,
        ),
        (
            "a subject who asked to be left out",
            "The wish is not kept.",
            publish_excluded,
        ),
        (
            "two people's rows exchanged",
            "The rows are not those of the people that they are said to be about.",
            exchange_owners,
        ),
        (
            "a row in another group",
            "The record's cells are those of another group than its number.",
            renumber_row,
        ),
        (
            "two groups of one number",
            "The number says of rows that look different that they are alike.",
            merge_groups,
        ),
        (
            "one group of two numbers",
            "The number tells apart what looks the same.",
            split_group,
        ),
        (
            "a row without a number",
            "The row is in no group, block or bucket.",
            no_group,
        ),
        (
            "exact values of two rows exchanged",
            "Values stand beside the wrong people.",
            exchange_cells,
        ),
        (
            "another exact value",
            "A value is shown that the record does not have.",
            change_cell,
        ),
        (
            "a value as a node above it",
            "A value of one row says less, or more, than the form has it.",
            generalize_value,
        ),
        (
            "a value as a node that covers it alone",
            "Two labels of one meaning are a bit.",
            twin_value,
        ),
        (
            "a count one too large",
            "Counts do not add up to the records.",
            |c, r| change_count(c, r, |n| n + 1),
        ),
        (
            "a count of none",
            "A value that nobody has stands in the list.",
            |c, r| change_count(c, r, |_| 0),
        ),
        (
            "a count beyond all records",
            "The count is a message.",
            |c, r| change_count(c, r, |n| n + 4_000_000),
        ),
        (
            "another listed value",
            "A value is listed that nobody of the block or bucket has.",
            change_listed,
        ),
        (
            "one listed row as two",
            "How a count is cut up is a message.",
            split_count,
        ),
    ])
}
