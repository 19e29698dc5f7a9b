//! Prints how long verifier and report take on wide tables of many values
//! beside their engine, and fails where a report takes longer than ten times
//! its engine and five seconds.
//!
//! ```text
//! cargo run --release --example figures -- wide [WORDS OF A TABLE'S NAME]
//! ```
//! Options: `--records N` (100,000), `--threads N` (2), `--queries N` (1,000).

mod tables;

use std::time::Instant;

use crate::Failure;
use crate::arguments::{number, word};
use serde_json::Value;
use vizard_anonymizer::catalog::{
    Assignment, Engine, Observer, ProduceError, Produced, Stage, in_memory, produce,
};
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::microdata::{Role, Table};
use vizard_anonymizer::release::{AcceptedExact, InputDescription};

/// Any error; it crosses threads.
const SEED: u64 = 7;
/// A report may take so many times its engine,
const ENGINES_MAX: f64 = 10.0;
/// and so many seconds more.
const MORE_S: f64 = 5.0;

/// Prints them.
pub fn run() -> Result<(), Failure> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(number("--threads", 2))
        .build()?;
    let words = word(0).unwrap_or_default();
    let words = if words.starts_with("--") { "" } else { &words };
    println!("| table | engine | engine s | verifier s | report s | ÷ (10 engines + 5 s) |");
    println!("|---|---|---|---|---|---|");
    let mut missed = 0;
    for made in tables::all()
        .iter()
        .filter(|made| made.name.contains(words))
    {
        let table = tables::draw(made, number("--records", 100_000))?;
        for (engine, parameters) in &made.jobs {
            match pool.install(|| timed(&table, (engine, parameters))) {
                Ok([engine_s, verify_s, report_s]) => {
                    let share = report_s / (ENGINES_MAX * engine_s + MORE_S);
                    missed += u32::from(share > 1.0);
                    println!(
                        "| {} | {engine} | {engine_s:.2} | {verify_s:.2} | {report_s:.2} | {share:.2} |",
                        made.name
                    );
                }
                Err(error) => println!("| {} | {engine} | {error} | | | |", made.name),
            }
        }
    }
    if missed > 0 {
        return Err(format!("{missed} reports take too long beside their engine").into());
    }
    Ok(())
}

/// Seconds of engine, verifier and report.
fn timed(table: &Table, (engine, parameters): (&str, &Value)) -> Result<[f64; 3], Failure> {
    let engine = Engine::parse(engine, parameters, table.schema())?;
    // What these tables are made for would be refused otherwise.
    let exact = table.schema().attributes().iter();
    let exact = exact.filter(|attribute| attribute.role == Role::Insensitive);
    let accepted = exact.map(|attribute| AcceptedExact {
        attribute: attribute.name.clone(),
        reason: "made up".into(),
    });
    let accepted: Vec<AcceptedExact> = accepted.collect();
    let assignment = Assignment {
        table,
        preferences: &[],
        engine: &engine,
        input: InputDescription {
            dataset: "figures".into(),
            version: 1,
            series: None,
        },
        history: None,
        public: &[],
        suppressed: 0,
        reproducible_seed: true,
        accept_exact: &accepted,
        queries: u32::try_from(number("--queries", 1_000))?,
        fit: None,
        population_table: None,
        reruns: 0,
        keeps_shown: true,
        rows_at_once: vizard_anonymizer::verify::AtOnce::ROWS,
        verify: true,
        report: true,
    };
    let mut laps = Laps(Vec::new());
    let context = RunContext::silent(SEED);
    let produced: Result<Produced, ProduceError> =
        produce(&assignment, &context, &mut in_memory, &mut laps);
    let produced = produced?;
    laps.0.push((None, Instant::now()));
    let verdict = produced.verdict.as_ref();
    if !verdict.is_some_and(vizard_anonymizer::verify::Verdict::holds) || produced.report.is_none()
    {
        return Err("the release does not hold".into());
    }
    let lap = |stage: Stage| {
        let of_stage = laps.0.windows(2).filter(|laps| laps[0].0 == Some(stage));
        of_stage
            .map(|laps| (laps[1].1 - laps[0].1).as_secs_f64())
            .sum()
    };
    Ok([Stage::Engine, Stage::Verify, Stage::Report].map(lap))
}

/// When each stage began; the last entry is the end.
struct Laps(Vec<(Option<Stage>, Instant)>);

impl Observer for Laps {
    fn begins(&mut self, stage: Stage) {
        self.0.push((Some(stage), Instant::now()));
    }
}
