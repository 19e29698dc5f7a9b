//! How long a run goes on after it was cancelled, in whatever stage: it is to
//! heed that within a second.
//!
//! The records have what makes stages long: many different values that are
//! published as they are, long texts, many attributes.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use divan::Bencher;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::{
    Assignment, Engine, Observer, ProduceError, Stage, in_memory, produce,
};
use vizard_anonymizer::engine::{CancelFlag, EngineError, RunContext};
use vizard_anonymizer::microdata::{
    HierarchySet, ReadLimits, RecordFormat, Schema, SubjectKeys, Table, TableBuilder, Target,
    read_records,
};
use vizard_anonymizer::release::{AcceptedExact, InputDescription};

use crate::made::SEED;

const RECORDS: u32 = 100_000;
const ENGINES: [&str; 9] = [
    "lgb",
    "mondrian",
    "personalized",
    "one_to_many",
    "rmr",
    "arp",
    "aip",
    "anatomy",
    "slicing",
];

fn parameters(engine: &str) -> Value {
    match engine {
        "lgb" => json!({"k": 5, "l": 3, "max_excluded": 1.0}),
        "mondrian" => json!({"k": 5}),
        "personalized" => json!({"k": 5, "sensitive": "drug", "max_excluded": 1.0}),
        "one_to_many" => json!({"k": 5, "l": 3, "max_excluded": 1.0}),
        "rmr" => json!({"k": 5, "m": 2, "delta": 0.5, "max_excluded": 1.0}),
        "slicing" => json!({"l": 3, "clusters": 2}),
        _ => json!({"l": 3}),
    }
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let schema = json!({
        "name": "wide",
        "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "place", "role": "quasi_identifier", "type": "integer"},
            {"name": "weight", "role": "quasi_identifier", "type": "decimal"},
            {"name": "drug", "role": "sensitive", "type": "categorical"},
            {"name": "cost", "role": "sensitive", "type": "integer"},
            {"name": "note", "role": "insensitive", "type": "categorical"},
        ],
    });
    serde_json::from_value(schema).expect("it is a schema")
});

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut random = ChaCha12Rng::seed_from_u64(SEED);
    let mut text = String::from("id,age,place,weight,drug,cost,note\n");
    for record in 0..RECORDS {
        let (age, place) = (random.random_range(0..90), random.random_range(0..5_000));
        let weight = f64::from(random.random_range(0..40_000)) / 100.0;
        let (drug, cost) = (
            random.random_range(0..2_000),
            random.random_range(0..50_000),
        );
        writeln!(
            text,
            "p{record},{age},{place},{weight},drug {drug},{cost},note {record} {}",
            "of words ".repeat(8)
        )
        .expect("a String takes any text");
    }
    let (mut chunks, hierarchies) = (Vec::new(), HierarchySet::default());
    let target = Target {
        schema: &SCHEMA,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut spill = Vec::new();
    let mut subjects = SubjectKeys::new([7; 16], &mut spill);
    let mut take = |chunk| {
        chunks.push(chunk);
        Ok(())
    };
    read_records(
        text.as_bytes(),
        RecordFormat::Csv,
        &target,
        &mut subjects,
        &mut take,
    )
    .expect("the records are sound");
    let builder = TableBuilder::new(Arc::new(SCHEMA.clone()), &hierarchies);
    let mut builder = builder.expect("no hierarchies are named");
    for chunk in chunks {
        builder.push(chunk).expect("chunks fit the schema");
    }
    builder.finish().expect("the table is whole")
});

/// The stage that a run is in.
#[derive(Clone, Default)]
struct Where(Arc<Mutex<Option<Stage>>>);

impl Observer for Where {
    fn begins(&mut self, stage: Stage) {
        *self.0.lock().expect("no panic") = Some(stage);
    }
}

fn run(engine: &str, cancel: CancelFlag, mut place: Where) {
    let engine = Engine::parse(engine, &parameters(engine), &SCHEMA).expect("the job is sound");
    let accepted = [AcceptedExact {
        attribute: "note".into(),
        reason: "made up".into(),
    }];
    let assignment = Assignment {
        table: &TABLE,
        preferences: &[],
        engine: &engine,
        input: InputDescription {
            dataset: "wide".into(),
            version: 1,
            series: None,
        },
        history: None,
        public: &[],
        suppressed: 0,
        reproducible_seed: true,
        accept_exact: &accepted,
        queries: 1_000,
        fit: None,
        population_table: None,
        reruns: 0,
        keeps_shown: true,
        rows_at_once: vizard_anonymizer::verify::AtOnce::ROWS,
        verify: true,
        report: true,
    };
    let context = RunContext {
        cancel,
        ..RunContext::silent(SEED)
    };
    let produced = produce(&assignment, &context, &mut in_memory, &mut place);
    match produced {
        Ok(_) | Err(ProduceError::Engine(EngineError::Cancelled)) => {}
        Err(error) => panic!("{}: {error}", engine.name()),
    }
}

/// A run that goes on beside us.
fn begin(engine: &'static str) -> (JoinHandle<()>, CancelFlag, Where) {
    let (flag, place) = (CancelFlag::default(), Where::default());
    let (cancel, told) = (flag.clone(), place.clone());
    let running = std::thread::spawn(move || run(engine, cancel, told));
    (running, flag, place)
}

/// From the request to its heeding, at moments spread over the whole run; the
/// slowest of each stage is printed.
#[divan::bench(args = ENGINES, sample_count = 24, sample_size = 1)]
fn cancelled(bencher: Bencher, engine: &'static str) {
    LazyLock::force(&TABLE);
    let begun = Instant::now();
    run(engine, CancelFlag::default(), Where::default());
    let whole = begun.elapsed();
    let asked = AtomicU32::new(0);
    let slowest = Mutex::new(BTreeMap::<String, Duration>::new());
    bencher
        .with_inputs(|| {
            // As even as moments can be of which nobody knows how many come.
            let share = (f64::from(asked.fetch_add(1, Ordering::Relaxed)) * 0.618).fract();
            let running = begin(engine);
            std::thread::sleep(Duration::from_secs_f64(whole.as_secs_f64() * share));
            running
        })
        .bench_values(|(running, flag, place)| {
            let begun = Instant::now();
            flag.cancel();
            running.join().expect("no panic");
            let stage = format!("{:?}", place.0.lock().expect("no panic"));
            let mut slowest = slowest.lock().expect("no panic");
            let slowest = slowest.entry(stage).or_default();
            *slowest = begun.elapsed().max(*slowest);
        });
    eprintln!(
        "{engine}, {whole:.1?}: {:.2?}",
        slowest.lock().expect("no panic")
    );
}
