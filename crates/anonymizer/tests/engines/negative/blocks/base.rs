//! Valid releases of a made-up hospital in blocks, and its tables as lists.

use rand::RngExt;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::{
    ChunkColumn, HierarchySet, Preference, Schema, Table, TextColumn,
};
use vizard_anonymizer::release::Cell;

use crate::case::Case;
use crate::made;
use crate::negative::Random;

const DISEASES: &str = "flu;respiratory;any\nasthma;respiratory;any\npneumonia;respiratory;any\n\
                        ulcer;digestive;any\ngastritis;digestive;any\nangina;heart;any\n\
                        stroke;heart;any\n";
/// The job's l.
pub const JOB_L: u32 = 3;

/// 181 patients of twelve kinds (city and age), one of whom asks to be left
/// out; `salary` is the role of the salary.
fn table(salary: &str, random: &mut Random) -> Table {
    const RECORDS: usize = 181;
    let schema = json!({
    "name": "hospital", "subject_key": "patient", "attributes": [
        {"name": "patient", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "city", "role": "quasi_identifier", "type": "categorical"},
        {"name": "ward", "role": "insensitive", "type": "categorical"},
        {"name": "salary", "role": salary, "type": "integer"},
        {"name": "disease", "role": "sensitive", "type": "categorical", "hierarchy": "diseases"}
    ]});
    let schema: Schema = serde_json::from_value(schema).expect("the schema is sound");
    let mut hierarchies = HierarchySet::new();
    hierarchies.insert("diseases".into(), made::tree(DISEASES));
    let keys: Vec<String> = (0..RECORDS)
        .map(|at| format!("P-{:05}", at * 7 + 1000))
        .collect();
    let keys: TextColumn = keys.iter().map(String::as_str).collect();
    let mut pick = |from: &'static [&'static str]| {
        let cells = (0..RECORDS).map(|_| from[random.random_range(0..from.len())]);
        made::categories(cells.collect::<Vec<_>>())
    };
    let city = pick(&["Bergen", "Oslo", "Hamar", "Bodo"]);
    let ward = pick(&["A", "B", "C"]);
    let disease = pick(&[
        "flu",
        "asthma",
        "pneumonia",
        "ulcer",
        "gastritis",
        "angina",
        "stroke",
    ]);
    let mut numbers = |from: i64, values: i64| {
        let drawn = (0..RECORDS).map(|_| from + 10 * random.random_range(0..values));
        ChunkColumn::Integer(drawn.collect())
    };
    let age = numbers(20, 3);
    let salary = numbers(300, 9);
    let columns = vec![ChunkColumn::Text(keys), age, city, ward, salary, disease];
    made::table(&schema, &hierarchies, columns)
}

/// What the patients ask for.
pub fn preferences() -> Vec<Preference> {
    let documents = json!([
        {"subject": "P-01000", "exclude": true},
        {"subject": "P-01007", "max_leakage": 0.25},
        {"subject": "P-01014", "max_reidentification": 0.5}
    ]);
    serde_json::from_value(documents).expect("the preferences are sound")
}

/// A release of the hospital.
pub fn release(seed: u64, engine: &str, sensitive: &[&str]) -> Case {
    let table = table("sensitive", &mut Random::seed_from_u64(seed));
    publish(
        seed,
        engine,
        table,
        json!({"l": JOB_L, "sensitive": sensitive}),
    )
}

/// A release of the hospital, whose salaries are insensitive, with rows that
/// show a disease.
pub fn release_of_rows(seed: u64, engine: &str, mut parameters: Value) -> Case {
    let table = table("insensitive", &mut Random::seed_from_u64(seed));
    if parameters["l"].is_null() {
        parameters["l"] = json!(JOB_L);
    }
    publish(seed, engine, table, parameters)
}

fn publish(seed: u64, engine: &str, table: Table, parameters: Value) -> Case {
    let case = Case::run(engine, table, &parameters, &preferences(), seed);
    let case = case.expect("the hospital can be published");
    case.drawn_by(seed)
}

/// One row of `sensitive`: block, attribute, value, count.
pub type Entry = (u64, Cell, Cell, u64);

/// The rows of `sensitive`.
pub fn entries(case: &Case) -> Vec<Entry> {
    let (blocks, counts) = (
        case.numbers("sensitive", "block"),
        case.numbers("sensitive", "count"),
    );
    let cells = case.cells("sensitive", "attribute").into_iter();
    let cells = cells.zip(case.cells("sensitive", "value"));
    let numbers = blocks.into_iter().zip(counts);
    let all = numbers.zip(cells);
    all.map(|((block, count), (attribute, value))| (block, attribute, value, count))
        .collect()
}

/// Replaces the rows of `sensitive`.
pub fn set_entries(case: &mut Case, entries: &[Entry]) {
    let numbers = |of: fn(&Entry) -> u64| entries.iter().map(of).collect();
    let cells = |of: fn(&Entry) -> Cell| entries.iter().map(of).collect();
    case.set_numbers("sensitive", "block", numbers(|entry| entry.0));
    case.set_numbers("sensitive", "count", numbers(|entry| entry.3));
    case.set_cells("sensitive", "attribute", cells(|entry| entry.1.clone()));
    case.set_cells("sensitive", "value", cells(|entry| entry.2.clone()));
}

/// The columns of block numbers with the attributes they are of.
pub fn block_columns(case: &Case) -> Vec<(String, String)> {
    let columns = case.published("quasi").columns.iter();
    let blocks =
        columns.filter(|column| column.content == vizard_anonymizer::release::Content::Block);
    let named = blocks.map(|column| match column.name.strip_suffix("_block") {
        Some(attribute) => (column.name.clone(), attribute.to_owned()),
        None => (column.name.clone(), "disease".to_owned()),
    });
    named.collect()
}

/// Rows of each block of an attribute, by number.
pub fn members(case: &Case, column: &str) -> Vec<Vec<usize>> {
    let numbers = case.numbers("quasi", column);
    let blocks = numbers.iter().copied().max().unwrap_or(0);
    let mut members = vec![Vec::new(); blocks as usize];
    for (row, number) in numbers.into_iter().enumerate() {
        members[number as usize - 1].push(row);
    }
    members
}
