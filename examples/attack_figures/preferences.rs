//! Who asked for something, as far as releases tell: area under the curve and
//! best precision, for one release and for three of the same data.

#[path = "../../tests/engines/preferences_attack/adversary.rs"]
mod adversary;

use std::path::Path;

use serde_json::{Value, json};
use vizard::catalog::Engine;
use vizard::engine::{EngineError, RunContext};
use vizard::privacy::{Requirements, Seed};
use vizard::release::Release;

use crate::Failure;
use crate::load::{Data, load_as};
use adversary::{Ask, attack};

/// Releases of the same data.
const RELEASES: u64 = 3;

/// One job on one folder of data.
struct Job {
    engine: &'static str,
    schema: &'static str,
    /// The attribute that is sensitive instead of the file's.
    sensitive: Option<&'static str>,
    /// The file's where null.
    parameters: Value,
    efforts: &'static [&'static str],
}

/// A line of figures for each engine and effort on the data of a folder:
/// `adult`, or `informs05`, whose subjects have many records.
pub fn rows(folder: &Path) -> Result<Vec<String>, Failure> {
    let jobs = match folder.ends_with("informs05") {
        true => of_many_records(),
        false => of_one_record(),
    };
    let mut rows = vec![
        "engine       effort  ask     askers  share   AUC, precision of one release, of three"
            .to_owned(),
    ];
    for job in &jobs {
        let spec = std::fs::read_to_string(folder.join(job.schema))?;
        let spec: Value = serde_json::from_str(&spec)?;
        let schema = with_sensitive(spec["schema"].clone(), job.sensitive);
        let data = load_as(folder, schema, usize::MAX - 1)?;
        for effort in job.efforts {
            let of_file = &spec["job"]["parameters"];
            rows.extend(of_job(&data, job, of_file, effort)?);
        }
    }
    Ok(rows)
}

fn of_one_record() -> Vec<Job> {
    let all = &["none", "fast", "best"];
    let occupation = Some("occupation");
    let own = json!({"max_excluded": 0.1});
    let with = |more: Value| {
        let mut parameters = own.clone();
        for (name, value) in more.as_object().into_iter().flatten() {
            parameters[name] = value.clone();
        }
        parameters
    };
    let job = |engine, schema, sensitive, parameters, efforts| Job {
        engine,
        schema,
        sensitive,
        parameters,
        efforts,
    };
    vec![
        job("mondrian", "mondrian.json", occupation, with(json!({"k": 5})), all),
        job(
            "personalized",
            "personalized.json",
            None,
            with(json!({"k": 4, "sensitive": "occupation"})),
            all,
        ),
        job("arp", "arp.json", None, with(json!({"l": 4, "optimize": false})), &[""]),
    ]
}

fn of_many_records() -> Vec<Job> {
    vec![Job {
        engine: "one_to_many",
        schema: "one_to_many-even.json",
        sensitive: None,
        parameters: Value::Null,
        efforts: &["none", "fast"],
    }]
}

/// The schema with another sensitive attribute; the one of the file becomes a
/// quasi-identifier.
fn with_sensitive(mut schema: Value, sensitive: Option<&str>) -> Value {
    let Some(sensitive) = sensitive else {
        return schema;
    };
    for attribute in schema["attributes"].as_array_mut().into_iter().flatten() {
        if attribute["role"] == "sensitive" {
            attribute["role"] = json!("quasi_identifier");
        }
        if attribute["name"] == sensitive {
            attribute["role"] = json!("sensitive");
        }
    }
    schema
}

fn of_job(
    data: &Data,
    job: &Job,
    of_file: &Value,
    effort: &str,
) -> Result<Vec<String>, Failure> {
    let mut parameters = match job.parameters.is_null() {
        true => of_file.clone(),
        false => job.parameters.clone(),
    };
    if !effort.is_empty() {
        parameters["effort"] = json!(effort);
    }
    let engine = Engine::parse(job.engine, &parameters, data.table.schema())?;
    let policy = engine.policy(data.table.schema())?;
    let requirements = Requirements::new(&data.table, policy, &data.preferences);
    let releases = (0..RELEASES).map(|seed| {
        let context = RunContext {
            dataset_secret: Seed::of_number(77),
            ..RunContext::silent(seed)
        };
        engine.run(&data.table, &requirements, &context)
    });
    let releases: Vec<Release> = match releases.collect() {
        Ok(releases) => releases,
        Err(EngineError::Infeasible(answer)) => {
            let line = format!("{:<12} {effort:<7} infeasible: {}", job.engine, answer.strongest);
            return Ok(vec![line]);
        }
        Err(error) => return Err(error.into()),
    };
    let source = (&data.table, &requirements);
    let line = |(ask, name): (Ask, &str)| {
        let one = attack(source, &releases[..1], ask)?;
        let all = attack(source, &releases, ask)?;
        Some(format!(
            "{:<12} {effort:<7} {name:<7} {:>6}  {:.3}   {:.3} {:.3}   {:.3} {:.3}",
            job.engine,
            one.askers,
            one.askers as f64 / one.published as f64,
            one.auc,
            one.precision,
            all.auc,
            all.precision,
        ))
    };
    let asks = [(Ask::K, "own k"), (Ask::OfValues, "own l")];
    Ok(asks.into_iter().filter_map(line).collect())
}
