//! Prints what `mondrian` does to a folder of data, verified: every way to
//! split under every kind of condition on the values of a group.
//!
//! ```text
//! cargo run --release --example figures -- mondrian FOLDER JOB.json             every way and condition
//! cargo run --release --example figures -- mondrian FOLDER JOB.json --efforts   the job at each effort
//! ```
//! Options: `--threads N` (2), `--records N` (all), `--preferences` (the
//! folder's), `--attribute NAME` (all sensitive ones), `--effort NAME` (each).

use std::path::PathBuf;

use serde_json::{Value, json};
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::verify::Section;

use crate::Failure;
use crate::arguments::{is_given, number, option, word};
use crate::load::{Data, load};
use crate::timed::{Timed, timed};

/// Any error; it crosses threads.
/// Prints them.
pub fn run() -> Result<(), Failure> {
    let folder = PathBuf::from(word(0).ok_or("a folder is needed")?);
    let job = word(1).ok_or("a job file is needed")?;
    let data = load(&folder, &job, number("--records", usize::MAX - 1))?;
    let spec: Value = serde_json::from_str(&std::fs::read_to_string(folder.join(&job))?)?;
    println!("{} records", data.table.records());
    println!(
        "split   partition  condition              engine ms  holds     NCP  groups  excluded  attained"
    );
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(number("--threads", 2))
        .build()?;
    let parameters = &spec["job"]["parameters"];
    pool.install(|| {
        if is_given("--efforts") {
            efforts(&data, parameters)
        } else {
            all(&data, parameters)
        }
    })
}

/// The job as it is, but for how long its groups are refined.
fn efforts(data: &Data, parameters: &Value) -> Result<(), Failure> {
    let only = option("--effort");
    let is_asked = |effort: &&str| only.as_deref().is_none_or(|only| only == *effort);
    for effort in ["none", "fast", "best"].into_iter().filter(is_asked) {
        let mut parameters = parameters.clone();
        parameters["effort"] = json!(effort);
        line(data, &parameters, &json!({"effort": effort}))?;
    }
    Ok(())
}

fn all(data: &Data, parameters: &Value) -> Result<(), Failure> {
    let conditions = [
        json!({}),
        json!({"l": 2}),
        json!({"l": 2, "diversity": "entropy"}),
        json!({"l": 2, "diversity": "recursive", "c": 4}),
        json!({"t_closeness": 0.15}),
    ];
    for condition in &conditions {
        for split in ["widest", "gain"] {
            for partitioning in ["strict", "relaxed"] {
                let mut parameters = parameters.clone();
                parameters["split"] = json!(split);
                parameters["partitioning"] = json!(partitioning);
                parameters["effort"] = json!("none");
                match option("--attribute") {
                    Some(name) => parameters["attributes"][name] = condition.clone(),
                    None => join(&mut parameters, condition),
                }
                line(data, &parameters, condition)?;
            }
        }
    }
    Ok(())
}

fn join(parameters: &mut Value, more: &Value) {
    for (name, value) in more.as_object().into_iter().flatten() {
        parameters[name] = value.clone();
    }
}

fn line(data: &Data, parameters: &Value, condition: &Value) -> Result<(), Failure> {
    let preferences: &[_] = if is_given("--preferences") {
        &data.preferences
    } else {
        &[]
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let condition = condition.to_string().replace(['{', '}', '"'], "");
    print!(
        "{:<7} {:<10} {condition:<30}",
        text(&parameters["split"]),
        text(&parameters["partitioning"]),
    );
    match timed(
        (&data.table, preferences),
        ("mondrian", parameters),
        true,
        7,
    ) {
        Ok(run) => print(&run),
        Err(EngineError::Infeasible(answer)) => println!(" infeasible: {}", answer.strongest),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn print(
    Timed {
        produced, engine, ..
    }: &Timed,
) {
    let report = produced.report.as_ref();
    let figure = |path: &str| {
        let value = report.and_then(|report| report.pointer(path));
        value.and_then(Value::as_f64).unwrap_or(f64::NAN)
    };
    let verdict = produced.verdict.as_ref();
    let guarantees = verdict
        .into_iter()
        .flat_map(|verdict| verdict.section(Section::Guarantee));
    let attained = guarantees.filter_map(|check| {
        let attained = check.attained?;
        (check.kind != "max_leakage").then(|| format!("{} {attained:.3}", check.kind))
    });
    let attained: Vec<String> = attained.collect();
    println!(
        " {:>8.1} {:>6} {:>7.4} {:>7} {:>9}  {}",
        engine.as_secs_f64() * 1e3,
        verdict.is_some_and(vizard_anonymizer::verify::Verdict::holds),
        figure("/measures/ncp/value/mean"),
        figure("/measures/group_sizes/value/groups"),
        produced.manifest.excluded,
        attained.join(", "),
    );
}
