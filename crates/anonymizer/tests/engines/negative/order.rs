//! Corruptions of order, numbers and who is there, which every family is tried
//! with.

use rand::RngExt;
use vizard_anonymizer::microdata::RecordIndex;
use vizard_anonymizer::privacy::{Model, RecordTerms, Share};
use vizard_anonymizer::release::{Cells, Content, PublishedTable};

use super::{Corruption, Done, Random, corruption};
use crate::case::Case;

pub fn corruptions() -> Vec<Corruption> {
    vec![
        corruption(
            "exchange two numbers",
            &["numbered_by_content"],
            exchange_numbers,
        ),
        corruption(
            "leave out somebody who asked for nothing",
            &["exclusions_asked_for"],
            leave_out,
        ),
        corruption(
            "keep quiet about something that is not protected",
            &["manifest_as_rendered"],
            |case, _| match case.manifest.not_protected.pop() {
                Some(_) => Done::Keep,
                None => Done::Skip,
            },
        ),
        corruption("turn all rows round", &["rows_in_order"], turn_round),
        corruption(
            "turn the rows of a list round",
            &["rows_in_order"],
            turn_list,
        ),
    ]
}

/// Two numbers of the first space change places everywhere, and rows stand in
/// the order of the new numbers: nothing but the numbers is wrong.
fn exchange_numbers(case: &mut Case, random: &mut Random) -> Done {
    let name = case.row_table();
    let first = case.published(name).columns[0].name.clone();
    if !["group", "block", "bucket"].contains(&first.as_str()) {
        // Lists number the blocks of all attributes in one column.
        return Done::Skip;
    }
    let numbers = case.numbers(name, &first);
    let last = numbers.iter().copied().max().unwrap_or(0);
    let (one, other) = (random.random_range(1..=last), random.random_range(1..=last));
    if shown(case.published(name), one) == shown(case.published(name), other) {
        return Done::Skip;
    }
    for table in case.tables.clone() {
        let Some(column) = table.columns.iter().find(|column| column.name == first) else {
            continue;
        };
        let Cells::Numbers(numbers) = &column.cells else {
            continue;
        };
        let exchanged = numbers.iter().map(|&number| match number {
            _ if number == one => other,
            _ if number == other => one,
            _ => number,
        });
        let exchanged: Vec<u64> = exchanged.collect();
        case.set_numbers(&table.name, &first, exchanged.clone());
        let mut rows: Vec<usize> = (0..exchanged.len()).collect();
        rows.sort_by_key(|&row| exchanged[row]);
        case.take_rows(&table.name, &rows);
    }
    Done::Seal
}

/// A row with its subject, who gave no terms of their own.
fn leave_out(case: &mut Case, random: &mut Random) -> Done {
    let (table, requirements) = (&case.table, &case.requirements);
    let silent = RecordTerms::of_subject(table.schema(), requirements.policy(), None);
    if others_may_leave(case) {
        return Done::Skip;
    }
    let gone = random.random_range(0..case.rows());
    let subject = case.subjects()[gone];
    let mut records = (0..table.records()).map(RecordIndex::from_usize);
    let own = records.find(|&record| table.subject_of(record) == subject);
    if own.is_none_or(|record| *requirements.of(record) != silent) {
        return Done::Skip;
    }
    let rows: Vec<usize> = (0..case.rows()).filter(|&row| row != gone).collect();
    case.take_rows(case.row_table(), &rows);
    Done::Seal
}

/// Whether the release may leave out somebody who asked for nothing, for a
/// frequent value or with somebody who left (`crate::exclusions`).
fn others_may_leave(case: &Case) -> bool {
    match case.requirements.policy().model {
        Model::Personalized { max_leakage, .. } => max_leakage < Share::ALL,
        Model::Sliced { .. } => case.rows() < case.table.subjects(),
        _ => false,
    }
}

/// What the rows with a number show beside numbers.
fn shown(table: &PublishedTable, number: u64) -> Vec<Vec<String>> {
    let Cells::Numbers(numbers) = &table.columns[0].cells else {
        return Vec::new();
    };
    let rows = (0..table.rows()).filter(|&row| numbers[row] == number);
    let text = |row: usize| {
        let columns = table.columns.iter();
        let shown = columns.filter_map(|column| match &column.cells {
            Cells::Dictionary { codes, cells } => {
                let mut text = String::new();
                cells[codes.at(row) as usize].text(&mut text);
                Some(text)
            }
            Cells::Numbers(_) => None,
        });
        shown.collect()
    };
    rows.map(text).collect()
}

fn turn_round(case: &mut Case, _: &mut Random) -> Done {
    let rows: Vec<usize> = (0..case.rows()).rev().collect();
    case.take_rows(case.row_table(), &rows);
    Done::Seal
}

fn turn_list(case: &mut Case, _: &mut Random) -> Done {
    let name = case.row_table();
    let is_list = |table: &&PublishedTable| {
        let mut columns = table.columns.iter();
        table.name != name && columns.all(|column| column.content != Content::Column)
    };
    let Some(list) = case.tables.iter().find(is_list) else {
        return Done::Skip;
    };
    let (name, rows) = (list.name.clone(), (0..list.rows()).rev());
    let rows: Vec<usize> = rows.collect();
    case.take_rows(&name, &rows);
    Done::Seal
}
