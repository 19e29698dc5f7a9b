//! Golden digests: what every engine makes of small fixed tables, to the byte.
//!
//! For each plan of `corruptions::bases`, and for each value of each parameter
//! that is a choice (effort, form, ...), with and without preferences: SHA-256
//! of each table in each format, of the manifest and of the report, or the
//! engine's answer where there is no release. One thread and three must give
//! the same. A change that is meant writes the file anew with
//! `VIZARD_GOLDEN=write`; its commit says why the bytes differ.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rayon::ThreadPoolBuilder;
use serde_json::{Map, Value, json};
use vizard_anonymizer::catalog::{
    Assignment, EncodedTable, Engine, Produced, Unobserved, descriptions, in_memory, produce,
};
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::microdata::{Preference, sha256::Sha256};
use vizard_anonymizer::release::{Format, InputDescription};
use vizard_anonymizer::verify::AtOnce;

use crate::case::accepted;
use crate::corruptions::bases::{Plan, plans, wishes};
use crate::{measures, portions};

const SEED: u64 = 0;
const QUERIES: u32 = 20;

fn hex(bytes: impl AsRef<[u8]>) -> String {
    let digest = Sha256::of(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The parameters of a plan, and those in which one choice is another.
fn variants(plan: &Plan) -> Vec<(String, Value)> {
    let descriptions = descriptions();
    let mut engines = descriptions.as_array().expect("a list").iter();
    let engine = engines.find(|engine| engine["name"] == plan.engine);
    let properties = &engine.expect("it is listed")["parameters"]["properties"];
    let mut variants = vec![(plan.name.to_owned(), plan.parameters.clone())];
    for (name, property) in properties.as_object().expect("parameters") {
        let chosen = plan.parameters.get(name);
        let chosen = chosen.unwrap_or(&property["default"]);
        let choices = property["enum"].as_array().into_iter().flatten();
        for choice in choices.filter(|choice| *choice != chosen) {
            let mut parameters = plan.parameters.clone();
            parameters[name] = choice.clone();
            if choice == "recursive" && name == "diversity" {
                parameters["c"] = json!(2.0);
            }
            let choice = choice.as_str().expect("choices are texts");
            variants.push((format!("{}, {name} {choice}", plan.name), parameters));
        }
    }
    variants
}

/// What the run of a job makes, or why it makes nothing.
fn run(plan: &Plan, parameters: &Value, preferences: &[Preference]) -> Result<Produced, String> {
    run_looking_at(AtOnce::ROWS, plan, parameters, preferences)
}

/// The same where verifier and measures look at so many rows together.
fn run_looking_at(
    rows_at_once: usize,
    plan: &Plan,
    parameters: &Value,
    preferences: &[Preference],
) -> Result<Produced, String> {
    let schema = plan.table.schema();
    let engine = Engine::parse(plan.engine, parameters, schema);
    let engine = engine.map_err(|error| error.to_string())?;
    let assignment = Assignment {
        table: &plan.table,
        preferences,
        engine: &engine,
        input: InputDescription {
            dataset: "made-up".into(),
            version: 1,
            series: None,
        },
        history: None,
        public: &[],
        suppressed: 0,
        reproducible_seed: false,
        accept_exact: &accepted(schema),
        queries: QUERIES,
        fit: None,
        population_table: None,
        reruns: 0,
        keeps_shown: true,
        rows_at_once,
        verify: true,
        report: true,
    };
    let context = RunContext::silent(SEED);
    let produced = produce(&assignment, &context, &mut in_memory, &mut Unobserved);
    produced.map_err(|error| error.to_string())
}

/// Digests of a table in each format.
fn table_digests(table: &EncodedTable) -> Value {
    let digests = Format::ALL.iter().map(|&format| {
        let mut file = Vec::new();
        table.transcode(format, &mut file).expect("it is in memory");
        (format.as_str().to_owned(), json!(hex(file)))
    });
    Value::Object(digests.collect())
}

/// Digests of all that a run makes.
fn digests(made: Result<Produced, String>) -> Value {
    let mut produced = match made {
        Ok(produced) => produced,
        Err(error) => return json!({"no_release": error}),
    };
    let verdict = produced.verdict.as_ref().expect("it was verified");
    assert!(verdict.holds(), "a release that does not hold");
    // The version of the program is none of its bytes' business.
    produced.manifest.made_by.vizard = "golden".into();
    let manifest = serde_json::to_vec(&produced.manifest).expect("it is JSON");
    let report = produced.report.as_ref().expect("it was measured");
    let tables = produced.tables.iter();
    let tables = tables.map(|table| (table.description.name.clone(), table_digests(table)));
    json!({
        "tables": tables.collect::<Map<_, _>>(),
        "manifest": hex(manifest),
        "report": hex(report.to_string()),
    })
}

fn made() -> BTreeMap<String, Value> {
    let pools = [1, 3].map(|threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool starts")
    });
    let mut made = BTreeMap::new();
    for plan in plans() {
        let asked = wishes(plan.engine);
        for (name, parameters) in variants(&plan) {
            for (preferences, whose) in [(asked.as_slice(), ""), (&[], ", no preferences")] {
                let name = format!("{name}{whose}");
                let [one, three] = pools
                    .each_ref()
                    .map(|pool| pool.install(|| digests(run(&plan, &parameters, preferences))));
                assert_eq!(one, three, "{name}: threads make a difference");
                made.insert(name, one);
            }
        }
    }
    made
}

#[test]
fn every_engine_makes_the_bytes_that_it_made_before() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/engines/golden.json");
    let made = made();
    if std::env::var("VIZARD_GOLDEN").is_ok_and(|wish| wish == "write") {
        let text = serde_json::to_string_pretty(&made).expect("it is JSON");
        std::fs::write(&path, text + "\n").expect("the file can be written");
    }
    let text = std::fs::read_to_string(&path).expect("the digests are there");
    let golden: BTreeMap<String, Value> = serde_json::from_str(&text).expect("digests");
    let names = |of: &BTreeMap<String, Value>| of.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&made), names(&golden), "other runs than before");
    let changed = made.iter().filter(|(name, value)| golden[*name] != **value);
    let changed: Vec<_> = changed
        .map(|(name, now)| (name, &golden[name], now))
        .collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

/// The whole path of a large release, on small ones.
#[test]
fn a_job_whose_release_is_looked_at_in_portions_makes_and_says_the_same() {
    let mut in_portions = 0;
    for plan in plans() {
        if !portions::ENGINES.contains(&plan.engine) {
            continue;
        }
        let asked = wishes(plan.engine);
        let made = |rows| run_looking_at(rows, &plan, &plan.parameters, &asked);
        let (Ok(whole), Ok(parted)) = (made(AtOnce::ROWS), made(12)) else {
            continue;
        };
        let [whole_verdict, parted_verdict] = [&whole, &parted].map(|made| {
            let verdict = made.verdict.as_ref();
            verdict.expect("it was verified")
        });
        assert!(parted_verdict.holds(), "{}", plan.name);
        assert_eq!(whole.manifest, parted.manifest, "{}", plan.name);
        let drawn = parted_verdict
            .checks
            .iter()
            .flat_map(|check| &check.figures);
        in_portions += u32::from(drawn.clone().any(|(name, _)| *name == "one_portion_of"));
        assert!(whole_verdict.holds());
        let [whole, parted] = [whole, parted].map(|made| made.report.expect("it was measured"));
        measures::portions::same(&whole, &parted, plan.name);
    }
    assert!(in_portions > 1, "{in_portions} in portions");
}
