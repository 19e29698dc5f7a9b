//! Valid sliced releases of made-up patients, one of each variant.

use rand::RngExt;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::{Preference, Table};
use vizard_anonymizer::release::{Cell, Cells};

use crate::case::{Case, edit};
use crate::negative::Random;
use crate::tables::{preferences, table};

const CITIES: &str = "Bergen;West;*\nStavanger;West;*\nOslo;East;*\nHamar;East;*\nBodo;North;*\n";
const JOBS: [&str; 6] = ["baker", "clerk", "driver", "nurse", "tailor", "welder"];
/// One more subject asks to be left out.
const PEOPLE: usize = 240;

fn people(random: &mut Random) -> Table {
    let schema = json!({
        "name": "patients", "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "mail", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "sex", "role": "quasi_identifier", "type": "categorical"},
            {"name": "note", "role": "insensitive", "type": "categorical"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical", "hierarchy": "city"},
            {"name": "job", "role": "sensitive", "type": "categorical"}
        ]
    });
    let cities = ["Bergen", "Stavanger", "Oslo", "Hamar", "Bodo"];
    let mut records = String::from("id,mail,age,sex,note,city,job\n");
    for at in 0..=PEOPLE {
        records += &format!(
            "{},someone{at}@example.org,{},{},{},{},{}\n",
            50_000 + 7 * at,
            random.random_range(18..60),
            ["female", "male"][random.random_range(0..2)],
            ["a", "b", "c"][random.random_range(0..3)],
            cities[random.random_range(0..cities.len())],
            JOBS[random.random_range(0..JOBS.len())],
        );
    }
    table(schema, &[("city", CITIES)], &records)
}

fn key(at: usize) -> String {
    (50_000 + 7 * at).to_string()
}

/// Terms that every release keeps.
pub fn wishes() -> Vec<Preference> {
    preferences(json!([
        {"subject": key(PEOPLE), "exclude": true},
        {"subject": key(3), "max_leakage": 0.34},
        {"subject": key(5), "max_reidentification": 0.25},
        {"subject": key(8), "max_leakage": {"job": 0.5}}
    ]))
}

fn release(seed: u64, parameters: Value) -> Case {
    let table = people(&mut Random::seed_from_u64(seed));
    let case = Case::run("slicing", table, &parameters, &wishes(), seed);
    case.expect("the patients can be published")
}

pub fn bases() -> Vec<Case> {
    let slicing = json!({"l": 2, "columns": [["age", "sex"], ["city", "job"]]});
    let overlap = json!({
        "variant": "overlap", "l": 2, "columns": [["age"], ["city", "job"], ["sex", "job"]]
    });
    let generalized = json!({
        "variant": "generalized", "l": 3, "generalize": ["age", "city"], "clusters": 2
    });
    let close = json!({"t_closeness": 0.4, "columns": [["age"], ["city", "sex"], ["job"]]});
    let found = json!({"variant": "generalized", "l": 3, "generalize": ["age"], "clusters": 3});
    let all = [slicing, overlap, generalized, close, found];
    let all = all.into_iter().zip(1..);
    all.map(|(parameters, seed)| release(seed, parameters))
        .collect()
}

/// Attributes in columns, by header, in order.
pub fn linked(case: &Case) -> Vec<(u64, String)> {
    let numbers = case.numbers("columns", "column");
    let names = case
        .cells("columns", "attribute")
        .into_iter()
        .map(|cell| match cell {
            Cell::Label(name) => name,
            _ => panic!("attributes have names"),
        });
    numbers
        .into_iter()
        .zip(names)
        .filter(|(number, _)| *number > 0)
        .collect()
}

/// Whether so little is linked by more than a bucket that nobody can tell
/// whether columns are permuted: few values, one of them in most buckets.
pub fn is_coarse(case: &Case) -> bool {
    !linked(case).iter().any(|(_, header)| header == "city")
}

/// Headers of one column, by its number.
pub fn column(case: &Case, number: u64) -> Vec<String> {
    let all = linked(case).into_iter().filter(|(of, _)| *of == number);
    all.map(|(_, name)| name).collect()
}

pub fn columns(case: &Case) -> u64 {
    linked(case)
        .iter()
        .map(|(number, _)| *number)
        .max()
        .unwrap_or(0)
}

/// Exchanges a header's cells of two rows; false if they are equal.
pub fn exchange(case: &mut Case, header: &str, one: usize, other: usize) -> bool {
    let table = case.published_mut("sliced");
    let column = table
        .columns
        .iter_mut()
        .find(|column| column.name == header);
    let Cells::Dictionary { codes, cells } = &mut column.expect("it is published").cells else {
        panic!("{header} holds numbers");
    };
    let differ = cells[codes.at(one) as usize] != cells[codes.at(other) as usize];
    edit(codes, |codes| codes.swap(one, other));
    differ
}

/// Sets one cell.
pub fn set(case: &mut Case, header: &str, row: usize, cell: Cell) {
    let mut cells = case.cells("sliced", header);
    cells[row] = cell;
    case.set_cells("sliced", header, cells);
}
