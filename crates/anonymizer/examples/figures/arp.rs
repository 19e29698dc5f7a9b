//! Prints GLP and RE of `arp` and its comparators over l, n and the number of
//! quasi-identifiers, verified: the figures of the refining-partition paper.
//!
//! ```text
//! cargo run --release --example figures -- arp FOLDER [l|n|d|p]
//! ```
//! FOLDER holds `records.csv`, `preferences.csv`, `hierarchies/` and `arp.json`
//! with a schema. `p` is l = 5 with the preferences, and up to 3 % left out.
//! Options: `--records N` (all), `--threads N` (2). Without a letter all tables
//! are printed.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::Preference;

use crate::Failure;
use crate::arguments::{number, word};
use crate::load::{Data, load, load_as};
use crate::timed::{Timed, timed};

/// Any error; it crosses threads.
/// What is compared: a title, an engine and what its parameters add to l.
fn engines() -> [(&'static str, &'static str, Value); 5] {
    [
        ("arp", "arp", json!({})),
        ("arp, printed", "arp", json!({"partitioning": "paper"})),
        ("aip", "aip", json!({})),
        ("anatomy", "anatomy", json!({})),
        ("ng", "ng", json!({})),
    ]
}

/// Prints them.
pub fn run() -> Result<(), Failure> {
    let folder = PathBuf::from(word(0).ok_or("a folder is needed")?);
    let table = word(1).unwrap_or_default();
    let is_wanted = |name: &str| !["l", "n", "d", "p"].contains(&table.as_str()) || table == name;
    let spec = std::fs::read_to_string(folder.join("arp.json"))?;
    let schema = serde_json::from_str::<Value>(&spec)?["schema"].clone();
    let records = number("--records", usize::MAX - 1);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(number("--threads", 2))
        .build()?;
    pool.install(|| {
        let all = number_of_quasi(&schema);
        if is_wanted("l") {
            let data = load(&folder, "arp.json", records)?;
            for l in 2..=7 {
                lines(&data, &[], (l, all))?;
            }
        }
        if is_wanted("n") {
            for n in [5_000, 10_000, 15_000, 20_000, 25_000, 30_000] {
                let data = load(&folder, "arp.json", n)?;
                lines(&data, &[], (5, all))?;
            }
        }
        if is_wanted("p") {
            let data = load(&folder, "arp.json", records)?;
            lines(&data, &data.preferences, (5, all))?;
        }
        if is_wanted("d") {
            by_attributes(&folder, &schema, (records, all))?;
        }
        Ok(())
    })
}

fn number_of_quasi(schema: &Value) -> usize {
    let attributes = schema["attributes"].as_array().into_iter().flatten();
    attributes
        .filter(|attribute| attribute["role"] == "quasi_identifier")
        .count()
}

/// The first d quasi-identifiers, the others not published.
fn by_attributes(
    folder: &Path,
    schema: &Value,
    (records, all): (usize, usize),
) -> Result<(), Failure> {
    for d in 1..=all {
        let mut schema = schema.clone();
        let attributes = schema["attributes"].as_array_mut().into_iter().flatten();
        let quasi = attributes.filter(|attribute| attribute["role"] == "quasi_identifier");
        for attribute in quasi.skip(d) {
            attribute["role"] = json!("identifier");
            if let Some(fields) = attribute.as_object_mut() {
                fields.remove("hierarchy");
            }
        }
        let data = load_as(folder, schema, records)?;
        lines(&data, &[], (5, d))?;
    }
    Ok(())
}

/// One table: every engine on the same data.
fn lines(data: &Data, preferences: &[Preference], (l, d): (u32, usize)) -> Result<(), Failure> {
    println!(
        "\nn = {}, l = {l}, quasi-identifiers = {d}",
        data.table.records()
    );
    println!("engine            engine ms  holds      GLP    floor  GLP/floor  RE/bound  blocks");
    for (title, engine, mut parameters) in engines() {
        parameters["l"] = json!(l);
        parameters["max_excluded"] = json!(0.03);
        line((data, preferences), title, engine, &parameters)?;
    }
    Ok(())
}

fn line(
    (data, preferences): (&Data, &[Preference]),
    title: &str,
    engine: &str,
    parameters: &Value,
) -> Result<(), Failure> {
    let Timed {
        produced, engine, ..
    } = match timed((&data.table, preferences), (engine, parameters), true, 7) {
        Ok(run) => run,
        Err(EngineError::Infeasible(answer)) => {
            println!("{title:<16}  infeasible: {}", answer.strongest);
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let report = produced.report.as_ref();
    let figure = |measure: &str, name: &str| {
        let value = report.and_then(|report| report.pointer("/measures"));
        let attributes =
            value.and_then(|measures| measures[measure]["value"]["attributes"].as_object());
        let first = attributes.and_then(|attributes| attributes.values().next());
        first
            .and_then(|first| first[name].as_f64())
            .unwrap_or(f64::NAN)
    };
    let holds = produced
        .verdict
        .as_ref()
        .is_some_and(|verdict| verdict.holds());
    let blocks = report.and_then(|report| report.pointer("/measures/group_sizes/value/groups"));
    println!(
        "{title:<16} {:>10.1} {holds:>6} {:>8.5} {:>8.5} {:>10.5} {:>9.5} {:>7}",
        engine.as_secs_f64() * 1e3,
        figure("glp", "glp"),
        figure("glp", "floor"),
        figure("glp", "glp") / figure("glp", "floor"),
        figure("reconstruction", "ratio"),
        blocks.unwrap_or(&Value::Null),
    );
    Ok(())
}
