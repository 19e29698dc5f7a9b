//! One run of an engine, verified and measured where that is wanted, and how
//! long the engine took.

use std::time::{Duration, Instant};

use serde_json::Value;
use vizard_anonymizer::catalog::{
    Assignment, Engine, Observer, ProduceError, Produced, Stage, in_memory, produce,
};
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::microdata::{Preference, Table};
use vizard_anonymizer::release::InputDescription;

/// What a run made.
pub struct Timed {
    pub produced: Produced,
    pub engine: Duration,
    /// Reading back, checks and attacks; nothing where it is not verified.
    pub verify: Duration,
}

/// Runs the engine called `engine`; with `is_whole` the release is verified
/// and measured.
pub fn timed(
    (table, preferences): (&Table, &[Preference]),
    (engine, parameters): (&str, &Value),
    is_whole: bool,
    seed: u64,
) -> Result<Timed, EngineError> {
    let engine = Engine::parse(engine, parameters, table.schema())?;
    let assignment = Assignment {
        table,
        preferences,
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
        accept_exact: &[],
        queries: 0,
        fit: None,
        population_table: None,
        reruns: 0,
        keeps_shown: true,
        rows_at_once: vizard_anonymizer::verify::AtOnce::ROWS,
        verify: is_whole,
        report: is_whole,
    };
    let mut clock = Clock::default();
    let context = RunContext::silent(seed);
    let produced = match produce(&assignment, &context, &mut in_memory, &mut clock) {
        Ok(produced) => produced,
        Err(ProduceError::Engine(error)) => return Err(error),
        Err(error @ (ProduceError::Room(_) | ProduceError::Identifying(_))) => {
            unreachable!("{error}: memory, and data that are made up")
        }
    };
    Ok(Timed {
        produced,
        engine: clock.engine,
        verify: clock.verify,
    })
}

/// Times the engine and the verifier.
#[derive(Default)]
struct Clock {
    started: Option<Instant>,
    engine: Duration,
    verify: Duration,
}

impl Observer for Clock {
    fn begins(&mut self, stage: Stage) {
        let passed = self.started.map(|started| started.elapsed());
        match (stage, passed) {
            (Stage::Encode, Some(passed)) => self.engine = passed,
            (Stage::Report, Some(passed)) => self.verify = passed,
            _ => {}
        }
        self.started = Some(Instant::now());
    }
}
