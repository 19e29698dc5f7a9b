//! Prints what `one_to_many` does to a folder of 1:M data, verified.
//!
//! ```text
//! cargo run --release --example figures -- one_to_many FOLDER JOB.json          the job, without and with the folder's preferences
//! cargo run --release --example figures -- one_to_many FOLDER JOB.json --grid   k × l
//! cargo run --release --example figures -- one_to_many FOLDER JOB.json --order  the same records in five random orders
//! ```
//! Options: `--threads N` (2), `--repeat N` (1), `--engine-only` (neither
//! verified nor measured).

use std::path::PathBuf;

use serde_json::{Value, json};
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::Preference;

use crate::Failure;
use crate::arguments::{is_given, number, word};
use crate::load::{Data, load};
use crate::timed::{Timed, timed};

/// Any error; it crosses threads.
/// Prints them.
pub fn run() -> Result<(), Failure> {
    let folder = PathBuf::from(word(0).ok_or("a folder is needed")?);
    let job = word(1).ok_or("a job file is needed")?;
    let data = load(&folder, &job, usize::MAX - 1)?;
    let spec: Value = serde_json::from_str(&std::fs::read_to_string(folder.join(&job))?)?;
    println!(
        "{} records of {} subjects",
        data.table.records(),
        data.table.subjects()
    );
    println!("{HEADER}");
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(number("--threads", 2))
        .build()?;
    let parameters = &spec["job"]["parameters"];
    let engine = spec["job"]["engine"]
        .as_str()
        .ok_or("the job names no engine")?;
    pool.install(|| {
        if is_given("--grid") {
            grid(&data, engine, parameters)
        } else {
            plain(&data, engine, parameters)
        }
    })
}

const HEADER: &str =
    "  k   l  preferences  engine ms  holds  QID-NCP  SA-NCP  groups  fingerprints  excluded";

fn plain(data: &Data, engine: &str, parameters: &Value) -> Result<(), Failure> {
    for (preferences, whose) in [(&Vec::new(), "none"), (&data.preferences, "own")] {
        for _ in 0..number("--repeat", 1) {
            line(data, (preferences, whose), engine, parameters)?;
        }
    }
    Ok(())
}

fn grid(data: &Data, engine: &str, parameters: &Value) -> Result<(), Failure> {
    for k in [2, 5, 10, 25, 50, 100] {
        for l in [2, 5, 10, 15, 20] {
            let mut parameters = parameters.clone();
            parameters["k"] = json!(k);
            parameters["l"] = json!(l);
            if let Some(group) = parameters.as_object_mut() {
                group.remove("k_group");
            }
            line(data, (&Vec::new(), "none"), engine, &parameters)?;
        }
    }
    Ok(())
}

fn line(
    data: &Data,
    (preferences, whose): (&Vec<Preference>, &str),
    engine: &str,
    parameters: &Value,
) -> Result<(), Failure> {
    let is_whole = !is_given("--engine-only");
    let (k, l) = (&parameters["k"], &parameters["l"]);
    match timed(
        (&data.table, preferences),
        (engine, parameters),
        is_whole,
        7,
    ) {
        Ok(run) => print(&run, (k, l, whose)),
        Err(EngineError::Infeasible(answer)) => {
            println!(
                "{k:>3} {l:>3} {whose:>12}  infeasible: {}",
                answer.strongest
            );
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn print(
    Timed {
        produced, engine, ..
    }: &Timed,
    (k, l, whose): (&Value, &Value, &str),
) {
    let report = produced.report.as_ref();
    let figure = |path: &str| {
        let value = report.and_then(|report| report.pointer(path));
        value.and_then(Value::as_f64).unwrap_or(f64::NAN)
    };
    let holds = match &produced.verdict {
        Some(verdict) => verdict.holds().to_string(),
        None => "-".into(),
    };
    println!(
        "{k:>3} {l:>3} {whose:>12} {:>10.1} {holds:>6} {:>8.4} {:>7.4} {:>7} {:>13} {:>9}",
        engine.as_secs_f64() * 1e3,
        figure("/measures/qid_ncp/value/mean"),
        figure("/measures/sa_ncp/value/mean"),
        figure("/measures/group_sizes/value/groups"),
        figure("/measures/fingerprints/value/fingerprints"),
        produced.manifest.excluded,
    );
}
