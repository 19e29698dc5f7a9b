//! Prints how well aggregate queries are answered from a release of `lgb`, and
//! from Mondrian's groups with Anatomy's buckets, as one JSON line.
//!
//! ```text
//! cargo run --release --example figures -- query_error FOLDER
//! ```
//! FOLDER holds `records.csv`, `preferences.csv`, `hierarchies/` and
//! `lgb-mdp.json`. Options: `--records N` (all), `--queries N` (1,000),
//! `--threads N` (2). With `--spreads` it prints instead what the least spread
//! of a sensitive number costs, engine by engine.
//!
//! Both sides have the k and l of the job, and answer the same queries. Of the
//! preferences only which values are sensitive is kept, so that no subject has
//! a k or l of their own or leaves. See `combined` for what the other side is.

mod combined;
mod spreads;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::microdata::{Preference, Table, Terms};
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::query::Workload;
use vizard_anonymizer::query::error::measure;
use vizard_anonymizer::release::Release;

use crate::Failure;
use crate::arguments::{is_given, number, word};
use crate::load::load;
use combined::combined;

/// Any error; it crosses threads.
const JOB: &str = "lgb-mdp.json";
const SEED: u64 = 7;

/// Prints them.
pub fn run() -> Result<(), Failure> {
    let folder = PathBuf::from(word(0).ok_or("a folder is needed")?);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(number("--threads", 2))
        .build()?;
    if is_given("--spreads") {
        let spec = serde_json::from_str(&std::fs::read_to_string(folder.join(JOB))?)?;
        let records = number("--records", usize::MAX - 1);
        return pool.install(|| spreads::print(&folder, &spec, records));
    }
    let figures = pool.install(|| figures(&folder))?;
    println!("{figures}");
    Ok(())
}

/// The queries that every release answers.
fn workload() -> Result<Workload, Failure> {
    Ok(Workload {
        queries: u32::try_from(number("--queries", 1_000))?,
        ..Workload::standard(0)
    })
}

fn figures(folder: &std::path::Path) -> Result<Value, Failure> {
    let records = number("--records", usize::MAX - 1);
    let spec: Value = serde_json::from_str(&std::fs::read_to_string(folder.join(JOB))?)?;
    let data = load(folder, JOB, records)?;
    let preferences: Vec<Preference> = data.preferences.into_iter().map(flags_alone).collect();
    let workload = workload()?;
    let error_of = |release: &Release| -> Result<Value, Failure> {
        let error = measure(&data.table, &release.tables, &release.lineage, workload)?;
        let mut told = serde_json::to_value(error)?;
        told["excluded"] = json!(release.excluded);
        Ok(told)
    };
    let mut told = json!({});
    let ways = [
        ("lgb_mdp", json!({"generalization": "mdp"})),
        (
            "lgb_ncp_fast",
            json!({"generalization": "ncp", "effort": "fast"}),
        ),
        (
            "lgb_ncp_best",
            json!({"generalization": "ncp", "effort": "best"}),
        ),
    ];
    for (name, own) in ways {
        let mut parameters = spec["job"]["parameters"].clone();
        for (parameter, value) in own.as_object().into_iter().flatten() {
            parameters[parameter] = value.clone();
        }
        let release = run_job(&data.table, &preferences, ("lgb", &parameters))?;
        told[name] = error_of(&release)?;
    }
    let release = combined(folder, &spec, (&data.table, records))?;
    told["mondrian_anatomy"] = error_of(&release)?;
    Ok(told)
}

/// A preference without terms that would change k, l or who is published.
fn flags_alone(preference: Preference) -> Preference {
    Preference {
        subject: preference.subject,
        terms: Arc::new(Terms {
            sensitive: preference.terms.sensitive.clone(),
            ..Terms::default()
        }),
    }
}

/// What an engine makes of a table.
fn run_job(
    table: &Table,
    preferences: &[Preference],
    (engine, parameters): (&str, &Value),
) -> Result<Release, Failure> {
    let engine = Engine::parse(engine, parameters, table.schema())?;
    let policy = engine.policy(table.schema())?;
    let requirements = Requirements::new(table, policy, preferences);
    Ok(engine.run(table, &requirements, &RunContext::silent(SEED))?)
}
