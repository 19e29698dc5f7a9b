//! Prints what attacks attain on every engine and effort, one row a run.
//!
//! ```text
//! cargo run --release --example figures -- attack DATA [FOLDER…]
//! ```
//! DATA holds folders of benchmark data (`adult` and `informs05` unless others
//! are named), each with `records.csv`, `preferences.csv`, `hierarchies/` and
//! job files `*.json`. Every job is run with each effort that its engine
//! knows. Options: `--records N` (all), `--only TEXT` in the name of the job,
//! `--verify` (what the verifier's `equal_vectors` attains and its bound, and
//! whether everything holds), `--preferences` (instead: how well releases tell
//! who asked for something), `--composition` (instead: what two and three
//! releases of a job tell together), `--inference` (instead: what a learner
//! guesses from a release), `--minimality [--reruns N]` (instead: what running
//! the engine on tables that fit a release tells), `--evidence` (instead: every
//! attack of the verifier).
//!
//! One file an attack: `equal_vectors`, `singling_out`, `preferences`. The
//! first two are functions of a [`sight::Sight`]; their columns are added in
//! `line`.

mod cells;
mod composition;
mod equal_vectors;
mod evidence;
mod inference;
mod minimality;
mod preferences;
mod sight;
mod singling_out;

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::verify::Check;

use crate::Failure;
use crate::arguments::{is_given, option};
use crate::load::{Data, load_as, records_as};
use crate::timed::{Timed, timed};
use equal_vectors::Hits;
use sight::Source;

/// Any error; it crosses threads.
const SEED: u64 = 7;

/// Prints them.
pub fn run() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let mut given = arguments.split(|argument| argument.starts_with("--"));
    let given = given.next().unwrap_or_default();
    let (data, folders) = given.split_first().ok_or("a folder of data is needed")?;
    let folders = match folders {
        [] => vec!["adult".to_owned(), "informs05".to_owned()],
        named => named.to_vec(),
    };
    println!("{}", asked().1);
    for folder in folders {
        jobs(&PathBuf::from(data).join(folder))?;
    }
    Ok(())
}

const HEADER: &str = "\
| data | job | effort | attribute | 1/l | vectors in several classes | common value: people, right | fewer than l common: people, right | one common: people, right | likeliest value: people, right | singled out by a cell and a value | by all cells and a value | verifier: right, bound, holds | engine s |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|";

/// What is printed.
enum Asked {
    Attacks,
    Preferences,
    Composition,
    Inference,
    Minimality,
    Evidence,
}

/// What is asked for, and the head of its table.
fn asked() -> (Asked, &'static str) {
    if is_given("--preferences") {
        (Asked::Preferences, preferences::HEADER)
    } else if is_given("--composition") {
        (Asked::Composition, composition::HEADER)
    } else if is_given("--inference") {
        (Asked::Inference, inference::HEADER)
    } else if is_given("--minimality") {
        (Asked::Minimality, minimality::HEADER)
    } else if is_given("--evidence") {
        (Asked::Evidence, evidence::HEADER)
    } else {
        (Asked::Attacks, HEADER)
    }
}

/// A job on the data of a folder.
struct Job {
    name: String,
    engine: String,
    schema: Value,
    parameters: Value,
}

/// Every job of a folder, with each effort.
fn jobs(folder: &Path) -> Result<(), Failure> {
    let limit = match option("--records") {
        Some(limit) => limit.parse()?,
        None => usize::MAX - 1,
    };
    let (asked, _) = asked();
    let of_preferences = matches!(asked, Asked::Preferences);
    let mut all = of_files(folder)?;
    all.extend(of_adult(&all));
    all.extend(of_acs(&all));
    all.retain(|job| option("--only").is_none_or(|text| job.name.contains(&text)));
    for job in all {
        let data = match asked {
            // Not every schema has what people ask for.
            Asked::Evidence => Data {
                table: records_as(folder, job.schema, limit)?,
                preferences: Vec::new(),
            },
            _ => load_as(folder, job.schema, limit)?,
        };
        for (effort, change) in efforts(&job.engine, &job.parameters) {
            let mut parameters = job.parameters.clone();
            parameters["max_excluded"] = json!(if of_preferences { 0.1 } else { 0.05 });
            for (key, value) in change.as_object().into_iter().flatten() {
                parameters[key] = value.clone();
            }
            let title = format!("{} | {} | {effort}", folder_name(folder), job.name);
            let job = (&*job.engine, &parameters);
            match asked {
                Asked::Preferences => preferences::lines(&title, &data, job)?,
                Asked::Composition => composition::lines(&title, &data, job)?,
                Asked::Inference => inference::lines(&title, &data, job)?,
                Asked::Minimality => minimality::lines(&title, &data, job)?,
                Asked::Evidence => evidence::lines(&title, &data, job)?,
                Asked::Attacks => line(&title, &data, job)?,
            }
        }
    }
    Ok(())
}

fn of_files(folder: &Path) -> Result<Vec<Job>, Failure> {
    let mut jobs = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".json") {
            continue;
        }
        let spec: Value = serde_json::from_str(&std::fs::read_to_string(folder.join(&name))?)?;
        let engine = spec["job"]["engine"].as_str();
        jobs.push(Job {
            name,
            engine: engine.ok_or("a job has an engine")?.to_owned(),
            schema: spec["schema"].clone(),
            parameters: spec["job"]["parameters"].clone(),
        });
    }
    jobs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(jobs)
}

/// What the files of `adult` do not ask for: `lgb`, and `mondrian` with a
/// sensitive attribute of many values.
fn of_adult(files: &[Job]) -> Vec<Job> {
    let Some(blocks) = files.iter().find(|job| job.name == "arp.json") else {
        return Vec::new();
    };
    let job = |engine: &str, parameters| Job {
        name: format!("{engine}, occupation"),
        engine: engine.into(),
        schema: blocks.schema.clone(),
        parameters,
    };
    vec![
        job("lgb", json!({"k": 5, "l": 4})),
        job("mondrian", json!({"k": 5})),
        Job {
            name: "mondrian l=5, occupation".into(),
            ..job("mondrian", json!({"k": 5, "l": 5}))
        },
    ]
}

/// What the files of `acs100k` do not ask for: other engines, with the occupation
/// as the one sensitive attribute.
fn of_acs(files: &[Job]) -> Vec<Job> {
    let is_acs = |job: &&Job| job.name == "mondrian.json" && has_salary(&job.schema);
    let Some(job) = files.iter().find(is_acs) else {
        return Vec::new();
    };
    let mut schema = job.schema.clone();
    for attribute in schema["attributes"].as_array_mut().into_iter().flatten() {
        match attribute["name"].as_str() {
            Some("occupation") => attribute["role"] = json!("sensitive"),
            Some("salary") => attribute["role"] = json!("identifier"),
            _ => {}
        }
    }
    let jobs = [
        ("lgb", "", json!({"k": 5, "l": 4})),
        ("mondrian", " l=5", json!({"k": 5, "l": 5})),
        ("arp", "", json!({"l": 5})),
        (
            "arp",
            " generalization",
            json!({"l": 5, "publish": "generalization"}),
        ),
        ("anatomy", "", json!({"l": 5})),
        ("aip", "", json!({"l": 5})),
        ("ng", "", json!({"l": 5})),
        (
            "personalized",
            "",
            json!({"k": 4, "sensitive": "occupation", "max_leakage": 0.5}),
        ),
        (
            "slicing",
            "",
            json!({"variant": "slicing", "l": 2, "clusters": 3}),
        ),
    ];
    let jobs = jobs.into_iter().map(|(engine, what, parameters)| Job {
        name: format!("{engine}{what}, occupation"),
        engine: engine.into(),
        schema: schema.clone(),
        parameters,
    });
    jobs.collect()
}

fn has_salary(schema: &Value) -> bool {
    let mut attributes = schema["attributes"].as_array().into_iter().flatten();
    attributes.any(|attribute| attribute["name"] == "salary")
}

fn folder_name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The efforts of an engine: a title, and what its parameters change.
fn efforts(engine: &str, parameters: &Value) -> Vec<(&'static str, Value)> {
    let all = ["none", "fast", "best"];
    match engine {
        "mondrian" if parameters["effort"] != Value::Null => vec![("as named", json!({}))],
        "lgb" | "mondrian" | "one_to_many" | "personalized" => all
            .into_iter()
            .map(|effort| (effort, json!({"effort": effort})))
            .collect(),
        _ => vec![("", json!({}))],
    }
}

/// One run and one row for each attribute that it publishes.
fn line(title: &str, data: &Data, (engine, parameters): (&str, &Value)) -> Result<(), Failure> {
    let schema = data.table.schema();
    let l = parameters["l"].as_u64().unwrap_or(1) as u32;
    let parsed = match Engine::parse(engine, parameters, schema) {
        Ok(parsed) => parsed,
        Err(EngineError::InvalidParameter { parameter, .. }) => {
            println!("| {title} | refused: {parameter} |");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let requirements = Requirements::new(&data.table, parsed.policy(schema)?, &data.preferences);
    let started = Instant::now();
    let release = match parsed.run(&data.table, &requirements, &RunContext::silent(SEED)) {
        Ok(release) => release,
        Err(EngineError::Infeasible(answer)) => {
            println!("| {title} | infeasible: {} |", answer.strongest);
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let seconds = started.elapsed().as_secs_f64();
    let told = if is_given("--verify") {
        verifier((data, engine, parameters))?
    } else {
        String::new()
    };
    let source = Source::new(&data.table, (&release.tables, &release.lineage))?;
    for index in source.sensitive() {
        let Some(sight) = source.sight(index) else {
            continue;
        };
        let vectors = equal_vectors::attack(&sight, l);
        let singled = singling_out::attack(&source, &sight);
        println!(
            "| {title} | {} | {:.3} | {} | {} | {} | {} | {} | {:.3} | {:.3} | {told} | {seconds:.2} |",
            sight.name,
            1.0 / f64::from(l),
            vectors.vectors,
            of(vectors.common),
            of(vectors.fewer_than_l),
            of(vectors.one_left),
            of(vectors.likeliest),
            singled.one_cell,
            singled.all_cells,
        );
    }
    Ok(())
}

/// What the verifier says of equal vectors, attribute by attribute.
fn verifier((data, engine, parameters): (&Data, &str, &Value)) -> Result<String, Failure> {
    let run = (&data.table, &*data.preferences);
    let produced = timed(run, (engine, parameters), true, SEED)?.produced;
    let verdict = produced.verdict.ok_or("it was verified")?;
    let all = verdict.checks.iter();
    let checks = all.filter(|check| check.kind == "equal_vectors");
    let figure = |figure: Option<f64>| figure.map_or("–".into(), |figure| format!("{figure:.3}"));
    let told = checks.map(|check| format!("{}, {}", figure(check.attained), figure(check.claimed)));
    let told: Vec<String> = told.collect();
    Ok(format!("{}; {}", told.join("; "), verdict.holds()))
}

/// A verified release without preferences; where there is none, says why in its
/// row.
fn verified(title: &str, data: &Data, job: (&str, &Value)) -> Result<Option<Timed>, Failure> {
    match timed((&data.table, &[]), job, true, SEED) {
        Ok(timed) => return Ok(Some(timed)),
        Err(EngineError::Infeasible(answer)) => {
            println!("| {title} | infeasible: {} |", answer.strongest);
        }
        Err(EngineError::InvalidParameter { parameter, .. }) => {
            println!("| {title} | refused: {parameter} |");
        }
        Err(error) => return Err(error.into()),
    }
    Ok(None)
}

/// A figure of a check; 0 where it has none of this name.
fn figure(check: &Check, name: &str) -> f64 {
    let mut all = check.figures.iter();
    all.find(|(other, _)| *other == name)
        .map_or(0.0, |(_, figure)| *figure)
}

fn of(hits: Hits) -> String {
    match hits.people {
        0 => "0".into(),
        people => format!("{people}, {:.3}", hits.rate()),
    }
}
