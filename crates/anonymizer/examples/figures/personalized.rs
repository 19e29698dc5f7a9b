//! Prints what `personalized` leaves of a folder of data, verified, beside
//! k-anonymity alone: the paper's Figure 2 as a table.
//!
//! ```text
//! cargo run --release --example figures -- personalized FOLDER            leakage as the table grows
//! cargo run --release --example figures -- personalized FOLDER --mixed    the whole table, each subject's own bound
//! cargo run --release --example figures -- personalized FOLDER --efforts  either grouping at each effort, without and with terms
//! ```
//! Options: `--threads N` (2), `--records N` (30000, the largest table), `--k N`
//! (10).
//!
//! k-anonymity alone is the engine `mondrian` with the same k: its leakage is
//! the share of the own value in the group. It rises with the table, since
//! groups get narrower and their members more alike. At k = 4 it falls: there
//! the own record is most of the share, and groups of equal records that are
//! not split grow with the table.

use std::path::PathBuf;

use serde_json::{Value, json};
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::Preference;

use crate::Failure;
use crate::arguments::{is_given, number, word};
use crate::load::{Data, load};
use crate::timed::{Timed, timed};

/// Any error; it crosses threads.
/// The job whose schema and sensitive attribute are taken.
const JOB: &str = "personalized.json";

/// Prints them.
pub fn run() -> Result<(), Failure> {
    let folder = PathBuf::from(word(0).ok_or("a folder is needed")?);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(number("--threads", 2))
        .build()?;
    println!("{HEADER}");
    pool.install(|| match (is_given("--mixed"), is_given("--efforts")) {
        (true, _) => mixed(&folder),
        (_, true) => efforts(&folder),
        _ => growing(&folder, number("--records", 30_000)),
    })
}

const HEADER: &str = "records  preferences  method                       leakage mean    max  of bound  \
                      information left     NCP  groups  excluded  engine ms  holds";

/// A way to publish: its name and what it adds to k and the attribute; nothing
/// for `mondrian`, which needs no attribute.
type Method = (&'static str, Value);

fn methods(bound: f64) -> [Method; 4] {
    [
        ("k-anonymity (mondrian)", Value::Null),
        ("personalized, sorted", json!({"max_leakage": bound})),
        (
            "personalized, mondrian",
            json!({"grouping": "mondrian", "max_leakage": bound}),
        ),
        (
            "personalized, as the paper",
            json!({"recoding": "paper", "max_leakage": bound}),
        ),
    ]
}

/// One bound for everyone, more and more records.
fn growing(folder: &std::path::Path, most: usize) -> Result<(), Failure> {
    for records in [1_000, 5_000, 10_000, 15_000, 20_000, 25_000, 30_000] {
        if records > most {
            break;
        }
        let data = load(folder, JOB, records)?;
        for method in methods(0.25) {
            let (name, own) = &method;
            line(
                &data,
                (&Vec::new(), "none"),
                &sensitive(folder)?,
                (name, own),
            )?;
        }
    }
    Ok(())
}

/// Everyone's own bound beside weaker and stricter ones of the job.
fn mixed(folder: &std::path::Path) -> Result<(), Failure> {
    let data = load(folder, JOB, usize::MAX - 1)?;
    for bound in [1.0, 0.5, 0.25] {
        for (name, own) in &methods(bound)[1..] {
            line(
                &data,
                (&data.preferences, "own"),
                &sensitive(folder)?,
                (name, own),
            )?;
        }
    }
    Ok(())
}

/// The bound of the job in either grouping, refined for longer and longer.
fn efforts(folder: &std::path::Path) -> Result<(), Failure> {
    let data = load(folder, JOB, usize::MAX - 1)?;
    let nobody = Vec::new();
    for preferences in [(&nobody, "none"), (&data.preferences, "own")] {
        for grouping in ["sorted", "mondrian"] {
            for effort in ["none", "fast", "best"] {
                let own = json!({
                    "grouping": grouping, "effort": effort, "max_leakage": 0.5, "max_excluded": 1.0
                });
                let name = format!("{grouping}, {effort}");
                line(&data, preferences, &sensitive(folder)?, (&name, &own))?;
            }
        }
    }
    Ok(())
}

fn sensitive(folder: &std::path::Path) -> Result<String, Failure> {
    let spec: Value = serde_json::from_str(&std::fs::read_to_string(folder.join(JOB))?)?;
    let name = spec["job"]["parameters"]["sensitive"].as_str();
    Ok(name
        .ok_or("the job names no sensitive attribute")?
        .to_owned())
}

fn line(
    data: &Data,
    (preferences, whose): (&Vec<Preference>, &str),
    sensitive: &str,
    (name, own): (&str, &Value),
) -> Result<(), Failure> {
    let mut parameters = json!({"k": number("--k", 10)});
    let (engine, own) = match own.as_object() {
        None => ("mondrian", None),
        Some(own) => {
            parameters["sensitive"] = json!(sensitive);
            ("personalized", Some(own))
        }
    };
    for (key, value) in own.into_iter().flatten() {
        parameters[key] = value.clone();
    }
    match timed((&data.table, preferences), (engine, &parameters), true, 7) {
        Ok(run) => print(&run, (data.table.records(), whose, name)),
        Err(EngineError::Infeasible(answer)) => println!(
            "{:>7}  {whose:<11}  {name:<27}  infeasible: {}",
            data.table.records(),
            answer.strongest
        ),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn print(
    Timed {
        produced, engine, ..
    }: &Timed,
    (records, whose, name): (usize, &str, &str),
) {
    let report = produced.report.as_ref();
    let figure = |path: &str| {
        let value = report.and_then(|report| report.pointer(path));
        value.and_then(Value::as_f64).unwrap_or(f64::NAN)
    };
    let leakage = |what: &str| figure(&format!("/measures/leakage/value/subjects/{what}"));
    println!(
        "{records:>7}  {whose:<11}  {name:<27} {:>13.4} {:>6.3} {:>9.4} {:>17.4} {:>7.4} {:>7} {:>9} {:>10.1}  {}",
        leakage("mean"),
        leakage("max"),
        leakage("max_of_limit"),
        figure("/measures/information_left/value/mean"),
        figure("/measures/ncp/value/mean"),
        figure("/measures/group_sizes/value/groups"),
        produced.manifest.excluded,
        engine.as_secs_f64() * 1e3,
        produced
            .verdict
            .as_ref()
            .is_some_and(vizard_anonymizer::verify::Verdict::holds),
    );
}
