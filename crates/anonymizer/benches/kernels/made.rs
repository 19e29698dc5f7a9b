//! The records that all benches work on: made up, the same in every run.
//!
//! Ages lean to the young, places to few towns, and salaries follow age, so
//! that groups are of unlike size and a cut is not always in the middle.

use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::json;
use vizard_anonymizer::catalog::{Assignment, Engine, Produced, Unobserved, in_memory, produce};
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::microdata::{
    AttributeIndex, Chunk, CodedColumn, HierarchyFormat, HierarchySet, HierarchySource, ReadLimits,
    RecordFormat, Role, Schema, SubjectKeys, Table, TableBuilder, Target, read_records,
};
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::release::{InputDescription, PublishedTable};

/// Records of the made-up table.
pub const RECORDS: usize = 50_000;
/// Decides the records and the runs.
pub const SEED: u64 = 7;

const PLACES: u32 = 1_000;
const TRADES: [&str; 6] = ["baker", "clerk", "driver", "farmer", "nurse", "smith"];

/// The schema of the records.
pub static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let schema = json!({
        "name": "made",
        "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "hours", "role": "quasi_identifier", "type": "integer"},
            {"name": "place", "role": "quasi_identifier", "type": "categorical", "hierarchy": "place"},
            {"name": "trade", "role": "quasi_identifier", "type": "categorical"},
            {"name": "salary", "role": "sensitive", "type": "integer"},
        ],
    });
    serde_json::from_value(schema).expect("it is a schema")
});

/// Places by the digits of their number.
pub static HIERARCHIES: LazyLock<HierarchySet> = LazyLock::new(|| {
    let mut text = String::new();
    for place in 0..PLACES {
        let (tens, hundreds) = (place / 10, place / 100);
        writeln!(text, "{place:03};{tens:02}*;{hundreds}**;*").expect("a String takes any text");
    }
    let source = HierarchySource::read(text.as_bytes(), HierarchyFormat::Csv);
    HierarchySet::from([("place".into(), source.expect("it is a hierarchy"))])
});

/// The records as CSV.
pub static TEXT: LazyLock<String> = LazyLock::new(|| {
    let mut random = ChaCha12Rng::seed_from_u64(SEED);
    let mut text = String::from("id,age,hours,place,trade,salary\n");
    for record in 0..RECORDS {
        let age = 16
            + random
                .random_range(0..75_u32)
                .min(random.random_range(0..75));
        let hours = [20, 35, 40, 40, 40, 60][random.random_range(0..6)];
        let place = random
            .random_range(0..PLACES)
            .min(random.random_range(0..PLACES));
        let trade = TRADES[random.random_range(0..TRADES.len())];
        let salary = 100 * (age + random.random_range(0..400));
        writeln!(
            text,
            "p{record:06},{age},{hours},{place:03},{trade},{salary}"
        )
        .expect("a String takes any text");
    }
    text
});

/// What a reader needs to know.
pub fn target() -> Target<'static> {
    Target {
        schema: &SCHEMA,
        hierarchies: &HIERARCHIES,
        limits: ReadLimits::default(),
    }
}

/// Reads the records and hands their chunks on.
pub fn read(sink: &mut dyn FnMut(Chunk)) {
    let mut spill = Vec::new();
    let mut subjects = SubjectKeys::new([7; 16], &mut spill);
    let mut take = |chunk| {
        sink(chunk);
        Ok(())
    };
    let input = TEXT.as_bytes();
    read_records(
        input,
        RecordFormat::Csv,
        &target(),
        &mut subjects,
        &mut take,
    )
    .expect("the records are sound");
}

/// A table of chunks.
pub fn built(chunks: Vec<Chunk>) -> Table {
    let schema = Arc::new(SCHEMA.clone());
    let mut builder = TableBuilder::new(schema, &HIERARCHIES).expect("the hierarchies are there");
    for chunk in chunks {
        builder.push(chunk).expect("chunks fit the schema");
    }
    builder.finish().expect("the table is whole")
}

/// The records as a table.
pub static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut chunks = Vec::new();
    read(&mut |chunk| chunks.push(chunk));
    built(chunks)
});

/// The columns of the quasi-identifiers.
pub fn quasi_columns() -> Vec<&'static CodedColumn> {
    let chosen = SCHEMA.select(|attribute| attribute.role == Role::QuasiIdentifier);
    let column = |at: AttributeIndex| TABLE.coded(at);
    chosen.into_iter().filter_map(column).collect()
}

/// A run of `mondrian` before anybody checks or measures it.
pub struct Run {
    /// What was asked for.
    pub requirements: Requirements,
    /// The release.
    pub produced: Produced,
    /// Its tables as they are read back.
    pub published: Vec<PublishedTable>,
}

/// The release that is written, checked and measured.
pub static RUN: LazyLock<Run> = LazyLock::new(|| {
    let parameters = json!({"k": 10});
    let engine = Engine::parse("mondrian", &parameters, &SCHEMA).expect("the job is sound");
    let assignment = Assignment {
        table: &TABLE,
        preferences: &[],
        engine: &engine,
        input: InputDescription {
            dataset: "made".into(),
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
        // A manifest of what nobody verified says so, and does not hold.
        verify: true,
        report: false,
    };
    let context = RunContext::silent(SEED);
    let produced =
        produce(&assignment, &context, &mut in_memory, &mut Unobserved).expect("a release exists");
    let policy = engine.policy(&SCHEMA).expect("the job is sound");
    let tables = produced.tables.iter();
    Run {
        requirements: Requirements::new(&TABLE, policy, &[]),
        published: tables
            .map(|table| table.read_back().expect("it was just written"))
            .collect(),
        produced,
    }
});
