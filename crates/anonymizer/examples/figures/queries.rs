//! Prints how long a release of a folder of data takes to answer queries: the
//! shapes of the examples in docs/API.md, and groups of many cells.
//!
//! ```text
//! cargo run --release --example figures -- queries FOLDER JOB.json
//! ```
//! The folder is one of acs100k and acs500k. Options: `--threads N` (2),
//! `--records N` (all), `--repeat N` (7, of which the shortest is printed),
//! `--preferences` (the folder's). The release is made, read back and indexed
//! as a server does; the index is warm.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};
use vizard_anonymizer::privacy::CancelFlag;
use vizard_anonymizer::query::{Query, QueryIndex};
use vizard_anonymizer::release::{HierarchyList, PublishedTable};

use crate::Failure;
use crate::arguments::{is_given, number, word};
use crate::load::{load_as, records_as};
use crate::timed::timed;

/// Prints them.
pub fn run() -> Result<(), Failure> {
    let folder = PathBuf::from(word(0).ok_or("a folder is needed")?);
    let job = word(1).ok_or("a job file is needed")?;
    let spec: Value = serde_json::from_str(&std::fs::read_to_string(folder.join(&job))?)?;
    let (schema, records) = (spec["schema"].clone(), number("--records", usize::MAX - 1));
    let (table, preferences) = if is_given("--preferences") {
        let data = load_as(&folder, schema, records)?;
        (data.table, data.preferences)
    } else {
        (records_as(&folder, schema, records)?, Vec::new())
    };
    let engine = spec["job"]["engine"]
        .as_str()
        .ok_or("the job names no engine")?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(number("--threads", 2))
        .build()?;
    pool.install(|| {
        let parameters = &spec["job"]["parameters"];
        let run = timed((&table, &preferences), (engine, parameters), false, 0)?;
        let tables = run.produced.tables.iter();
        let tables: Vec<PublishedTable> = tables
            .map(|table| table.read_back())
            .collect::<Result<_, _>>()?;
        let hierarchies = QueryIndex::hierarchies_of(&table);
        let beside = (&hierarchies, &HierarchyList::default());
        let index = QueryIndex::of_release(&tables, &run.produced.manifest.guarantees, beside)?;
        drop((tables, run));
        ask_all(&index)
    })
}

fn ask_all(index: &QueryIndex<'_>) -> Result<(), Failure> {
    println!("{} rows\n  cells        ms  query", index.rows());
    for question in questions() {
        let query: Query = serde_json::from_value(question.clone())?;
        let mut cells = 0;
        let mut times = Vec::new();
        for _ in 0..number("--repeat", 7).max(1) {
            let started = Instant::now();
            cells = index.answer(&query, CancelFlag::never())?.cells.len();
            times.push(started.elapsed());
        }
        let shortest = times.iter().min().copied().unwrap_or_default();
        println!(
            "{cells:7}  {:8.2}  {question}",
            shortest.as_secs_f64() * 1_000.0
        );
    }
    Ok(())
}

/// The ten examples of docs/API.md in words of these folders, then groups of
/// many cells.
fn questions() -> Vec<Value> {
    let is = |attribute: &str, op: &str, value: Value| json!({"attribute": attribute, "op": op, "value": value});
    let within = |attribute: &str, lo: u32, hi: u32| json!({"attribute": attribute, "op": "between", "lo": lo, "hi": hi});
    let among = |attribute: &str, values: Value| json!({"attribute": attribute, "op": "in", "values": values});
    let by = |names: Value| json!({"count": true, "group_by": names});
    vec![
        json!({"count": true}),
        by(json!(["education"])),
        json!({"count": true, "where": [within("age", 30, 39)]}),
        json!({"count": true, "where": [is("occupation", "=", json!("3930"))]}),
        json!({"count": true, "group_by": ["sex"], "where": [among("occupation", json!(["3930", "5740"]))]}),
        json!({"sum": ["salary"], "avg": ["salary"]}),
        json!({"count": true, "avg": ["hours_per_week"], "group_by": ["education", "sex"]}),
        json!({"count": true, "where": [within("hours_per_week", 30, 39)]}),
        json!({"count": true, "where": [is("race", "!=", json!("1")), is("race", "!=", json!("2")),
            is("salary", ">=", json!(100_000))]}),
        json!({"count": true, "group_by": ["education", "age"], "where": [among("education", json!(["16", "18"]))]}),
        by(json!(["occupation"])),
        by(json!(["age"])),
        by(json!(["race", "hours_per_week"])),
        by(json!(["age", "race"])),
        json!({"count": true, "sum": ["salary"], "avg": ["salary"], "group_by": ["occupation"]}),
        json!({"avg": ["salary", "age"], "group_by": ["education", "race"]}),
        json!({"count": true, "avg": ["age"], "group_by": ["age"]}),
    ]
}
