//! Prints what `slicing` does to a folder of benchmark data, verified.
//!
//! ```text
//! cargo run --release --example figures -- slicing FOLDER            its slicing jobs, without and with preferences
//! cargo run --release --example figures -- slicing FOLDER --grid     l × clusters
//! ```
//! Options: `--threads N` (2), `--records N` (all), `--engine-only` (neither
//! verified nor measured).

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use vizard_anonymizer::catalog::Produced;
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::Preference;

use crate::Failure;
use crate::arguments::{is_given, number, word};
use crate::load::{Data, load};
use crate::timed::{Timed, timed};

/// Any error; it crosses threads.
const JOBS: [&str; 3] = [
    "slicing-slicing.json",
    "slicing-overlap.json",
    "slicing-generalized.json",
];

/// Prints them.
pub fn run() -> Result<(), Failure> {
    let folder = PathBuf::from(word(0).ok_or("a folder is needed")?);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(number("--threads", 2))
        .build()?;
    println!("{HEADER}");
    pool.install(|| {
        if is_given("--grid") {
            grid(&folder)
        } else {
            plain(&folder)
        }
    })
}

const HEADER: &str = "variant      l  clusters  preferences  engine ms  holds  buckets   mean  \
                      1/max p  mean leak  phi2 change  excluded  columns";

fn read(folder: &Path, job: &str) -> Result<(Data, Value), Failure> {
    let data = load(folder, job, number("--records", usize::MAX - 1))?;
    let spec: Value = serde_json::from_str(&std::fs::read_to_string(folder.join(job))?)?;
    Ok((data, spec["job"]["parameters"].clone()))
}

fn plain(folder: &Path) -> Result<(), Failure> {
    for job in JOBS {
        let (data, parameters) = read(folder, job)?;
        for (preferences, whose) in [(&Vec::new(), "none"), (&data.preferences, "own")] {
            line(&data, (preferences, whose), &parameters)?;
        }
    }
    Ok(())
}

fn grid(folder: &Path) -> Result<(), Failure> {
    let (data, mut parameters) = read(folder, JOBS[0])?;
    for l in [2, 3, 4, 5, 6, 7] {
        for clusters in [2, 3, 5, 8] {
            parameters["l"] = json!(l);
            parameters["clusters"] = json!(clusters);
            line(&data, (&Vec::new(), "none"), &parameters)?;
        }
    }
    Ok(())
}

fn line(
    data: &Data,
    (preferences, whose): (&Vec<Preference>, &str),
    parameters: &Value,
) -> Result<(), Failure> {
    let is_whole = !is_given("--engine-only");
    let shown = |value: &Value| match value {
        Value::Null => "-".into(),
        value => value.to_string(),
    };
    let head = format!(
        "{:<11} {:>3} {:>9} {whose:>12}",
        parameters["variant"].as_str().unwrap_or("slicing"),
        shown(&parameters["l"]),
        shown(&parameters["clusters"]),
    );
    match timed(
        (&data.table, preferences),
        ("slicing", parameters),
        is_whole,
        7,
    ) {
        Ok(run) => print(&head, &run),
        Err(EngineError::Infeasible(answer)) => println!("{head}  infeasible: {answer}"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn print(
    head: &str,
    Timed {
        produced, engine, ..
    }: &Timed,
) {
    let report = produced.report.as_ref();
    let figure = |path: &str| {
        let value = report.and_then(|report| report.pointer(path));
        value.and_then(Value::as_f64).unwrap_or(f64::NAN)
    };
    let checks = produced.verdict.iter().flat_map(|verdict| &verdict.checks);
    let attained = checks
        .filter(|check| check.kind == "l_diversity")
        .filter_map(|check| check.attained);
    let holds = match &produced.verdict {
        Some(verdict) => verdict.holds().to_string(),
        None => "-".into(),
    };
    println!(
        "{head} {:>10.1} {holds:>6} {:>8} {:>6.1} {:>8.3} {:>10.4} {:>12.4} {:>9}  {}",
        engine.as_secs_f64() * 1e3,
        figure("/measures/group_sizes/value/groups"),
        figure("/measures/group_sizes/value/mean"),
        attained.fold(f64::INFINITY, f64::min),
        figure("/measures/leakage/value/subjects/mean"),
        figure("/measures/correlation/value/mean_change"),
        produced.manifest.excluded,
        columns(produced),
    );
    if let Some(verdict) = &produced.verdict {
        for check in verdict.failed() {
            println!(
                "    fails: {} {:?} {:?}",
                check.kind, check.attribute, check.attained
            );
        }
    }
}

/// The columns, as the release names them.
fn columns(produced: &Produced) -> String {
    let table = produced
        .tables
        .iter()
        .find(|table| table.description.name == "columns");
    let Some(Ok(table)) = table.map(vizard_anonymizer::catalog::EncodedTable::read_back) else {
        return String::new();
    };
    let mut text = String::new();
    if let [number, name] = &table.columns[..] {
        let (
            vizard_anonymizer::release::Cells::Numbers(numbers),
            vizard_anonymizer::release::Cells::Dictionary { codes, cells },
        ) = (&number.cells, &name.cells)
        else {
            return text;
        };
        let mut last = u64::MAX;
        for (&number, code) in numbers.iter().zip(codes) {
            text.push_str(if number == last { "," } else { " | " });
            cells[code as usize].text(&mut text);
            last = number;
        }
    }
    text
}
