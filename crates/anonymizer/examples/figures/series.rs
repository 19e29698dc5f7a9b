//! A series of weekly releases of acs100k: `series FOLDER [--people N]
//! [--weeks N] [--l N] [--k N] [--leave PER_THOUSAND] [--return PER_CENT]
//! [--visible]`.
//!
//! Each week 1 % of the people leave (or the given share), 1 % come, the given share of those who
//! left before comes back, and half as many as leave change their value. By mode and engine a
//! row a week: who came and left, counterfeits, who waits, the error of 1,000
//! queries, seconds, and what the attack on all releases so far finds. The mode
//! `none` publishes everyone anew, as if there was no series.

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::{Assignment, Engine, Produced, Unobserved, in_memory, produce};
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::microdata::{
    HierarchySet, ReadLimits, RecordFormat, Schema, SubjectKeys, Table, TableBuilder, Target,
    read_records,
};
use vizard_anonymizer::privacy::{CancelFlag, Changes, Seed, Share};
use vizard_anonymizer::release::candidates::Candidates;
use vizard_anonymizer::release::{InputDescription, SeriesMode, also_shown, history, kept_groups};
use vizard_anonymizer::verify::{AtOnce, composition, series};

use crate::Failure;
use crate::arguments::{is_given, number, word};

/// Column of the sensitive value in `records.csv`.
const SENSITIVE: usize = 8;

/// Modes with the engines whose series are told.
const SERIES: [(Option<SeriesMode>, &str); 9] = [
    (Some(SeriesMode::Nested), "mondrian"),
    (Some(SeriesMode::Nested), "arp, generalization"),
    (Some(SeriesMode::Invariant), "arp"),
    (Some(SeriesMode::Invariant), "anatomy"),
    (Some(SeriesMode::Increments), "arp"),
    (Some(SeriesMode::Increments), "anatomy"),
    (None, "arp"),
    (None, "anatomy"),
    (None, "mondrian"),
];

/// Prints the table.
pub fn run() -> Result<(), Failure> {
    let folder = word(0).ok_or("name the folder of acs100k")?;
    let text = fs::read_to_string(Path::new(&folder).join("records.csv"))?;
    println!(
        "| mode | engine | week | came | left | changed | rows | waiting | companions | old set | other set | counterfeits \
         | mean error | seconds | check, ms | fewer than l | certain | safe |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    );
    for (mode, engine) in SERIES {
        tell(&text, mode, engine)?;
    }
    Ok(())
}

/// The people week by week.
struct Population<'a> {
    random: ChaCha12Rng,
    present: Vec<Vec<&'a str>>,
    away: Vec<Vec<&'a str>>,
    to_come: Vec<Vec<&'a str>>,
}

impl<'a> Population<'a> {
    fn new(text: &'a str, people: usize) -> Self {
        let mut random = ChaCha12Rng::seed_from_u64(20);
        let records = text.lines().skip(1).map(|line| line.split(',').collect());
        let mut records: Vec<Vec<&str>> = records.collect();
        records.shuffle(&mut random);
        let to_come = records.split_off(people.min(records.len()));
        Self {
            random,
            present: records,
            away: Vec::new(),
            to_come,
        }
    }

    /// One week: how many came, left and changed.
    fn pass(&mut self) -> [usize; 3] {
        let hundredth = self.present.len() / 100;
        let leaving = self.present.len() * number("--leave", 10) / 1000;
        let back = self.away.len() * number("--return", 0) / 100;
        self.present.shuffle(&mut self.random);
        self.away.shuffle(&mut self.random);
        let left = self.present.split_off(self.present.len() - leaving);
        let mut came = self.away.split_off(self.away.len() - back);
        let new = hundredth.min(self.to_come.len());
        came.extend(self.to_come.split_off(self.to_come.len() - new));
        let number = came.len();
        self.away.extend(left);
        let changed = leaving / 2;
        for at in 0..changed {
            // The value of somebody else: as frequent as values are.
            let other = self.random.random_range(0..self.present.len());
            self.present[at][SENSITIVE] = self.present[other][SENSITIVE];
        }
        self.present.extend(came);
        [number, leaving, changed]
    }

    fn text(&self, header: &str) -> String {
        let mut text = format!("{header}\n");
        for record in &self.present {
            text.push_str(&record.join(","));
            text.push('\n');
        }
        text
    }
}

fn schema() -> Result<Schema, Failure> {
    let quasi =
        |name: &str, kind: &str| json!({"name": name, "role": "quasi_identifier", "type": kind});
    let document = json!({
        "name": "acs100k", "subject_key": "id", "missing": "reject",
        "attributes": [
            {"name": "id", "role": "identifier"},
            quasi("sex", "categorical"), quasi("age", "integer"),
            quasi("worker_class", "categorical"), quasi("marital_status", "categorical"),
            quasi("race", "categorical"), quasi("education", "integer"),
            quasi("hours_per_week", "integer"),
            {"name": "occupation", "role": "sensitive", "type": "categorical"},
            {"name": "salary", "role": "ignore"},
        ]
    });
    Ok(serde_json::from_value(document)?)
}

fn table(text: String, public: &[Candidates], mode: Option<SeriesMode>) -> Result<Table, Failure> {
    let schema = schema()?;
    let hierarchies = HierarchySet::new();
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut builder = TableBuilder::new(Arc::new(schema.clone()), &hierarchies)?;
    let mut known: Vec<&str> = Vec::new();
    if mode == Some(SeriesMode::Increments) {
        known.extend(public.iter().flat_map(|one| one.subjects.iter()));
        known.sort_unstable();
    }
    let is_new = |key: &str| known.binary_search(&key).is_err();
    let mut spill = Vec::new();
    read_records(
        Cursor::new(text),
        RecordFormat::Csv,
        &target,
        &mut SubjectKeys::new([7; 16], &mut spill),
        &mut |chunk| builder.push(chunk.of_subjects(&schema, is_new)),
    )?;
    if let Some(SeriesMode::Invariant | SeriesMode::Nested) = mode {
        also_shown(&mut builder, &schema, public)?;
    }
    Ok(builder.finish()?)
}

/// Whether releases show whose value changed.
fn changes() -> Changes {
    if is_given("--visible") {
        Changes::Visible
    } else {
        Changes::Hidden
    }
}

fn publish(
    table: &Table,
    (mode, engine): (Option<SeriesMode>, &str),
    public: &[Candidates],
    week: u64,
) -> Result<Produced, Failure> {
    let (l, k) = (number("--l", 5), number("--k", 10));
    let (engine, parameters) = match engine {
        "mondrian" => (engine, json!({"k": k, "l": l, "max_excluded": 1})),
        "arp, generalization" => ("arp", json!({"l": l, "publish": "generalization"})),
        _ => (engine, json!({"l": l})),
    };
    let engine = Engine::parse(engine, &parameters, table.schema())?;
    let kept = match mode {
        Some(SeriesMode::Invariant) => {
            let published = engine.keeps_sets_of(table.schema())?;
            let keeping = (published, changes());
            Some(history(table, keeping, public, Share::TENTH)?)
        }
        Some(SeriesMode::Nested) => Some(kept_groups(table, public, (Share::ALL, false))?),
        _ => None,
    };
    let assignment = Assignment {
        table,
        preferences: &[],
        engine: &engine,
        input: InputDescription {
            dataset: "figures".into(),
            version: week + 1,
            series: mode,
        },
        history: kept,
        public: if mode.is_some() { public } else { &[] },
        suppressed: 0,
        reproducible_seed: true,
        accept_exact: &[],
        queries: 1_000,
        fit: None,
        population_table: None,
        reruns: 0,
        keeps_shown: true,
        rows_at_once: AtOnce::ROWS,
        verify: true,
        report: true,
    };
    let context = RunContext {
        dataset_secret: Seed::of_number(1),
        ..RunContext::silent(week)
    };
    Ok(produce(
        &assignment,
        &context,
        &mut in_memory,
        &mut Unobserved,
    )?)
}

fn tell(text: &str, mode: Option<SeriesMode>, engine: &str) -> Result<(), Failure> {
    let header = text.lines().next().unwrap_or_default();
    let mut population = Population::new(text, number("--people", 85_000));
    let mut public: Vec<Candidates> = Vec::new();
    let mut moved = [population.present.len(), 0, 0];
    for week in 0..number("--weeks", 12) as u64 {
        let table = table(population.text(header), &public, mode)?;
        let started = Instant::now();
        let produced = publish(&table, (mode, engine), &public, week)?;
        let seconds = started.elapsed().as_secs_f64();
        let holds = produced
            .verdict
            .as_ref()
            .is_some_and(|verdict| verdict.holds());
        if !holds {
            let verdict = produced.verdict.as_ref();
            let failed: Vec<_> = verdict.into_iter().flat_map(|one| one.failed()).collect();
            return Err(format!("week {week} of {engine}: {failed:?}").into());
        }
        let others: Vec<&Candidates> = public.iter().collect();
        let started = Instant::now();
        let found = series(&produced.candidates, &others);
        let check = started.elapsed().as_millis();
        let attack = composition(&produced.candidates, &others, CancelFlag::never());
        let kept = produced.manifest.kept.unwrap_or_default();
        let (mut outdated, mut renewed, mut counterfeits, mut values) = (0, 0, 0, 0);
        for one in &kept.attributes {
            outdated += one.outdated;
            renewed += one.renewed;
            counterfeits += one.counterfeits;
            values += one.values;
        }
        let report = produced.report.unwrap_or(Value::Null);
        let error = report.pointer("/measures/query_error/value/relative_error/mean");
        let (below, certain) = match attack.attributes.first() {
            Some(one) => (one.below_l, one.certain),
            None => (0, 0),
        };
        let [came, left, changed] = moved;
        println!(
            "| {} | {engine} | {} | {came} | {left} | {changed} | {} | {} | {} | {outdated} | {renewed} \
             | {counterfeits} ({:.2} %) | {:.3} | {seconds:.1} | {check} | {below} | {certain} | {} |",
            match mode {
                Some(SeriesMode::Invariant) => "invariant",
                Some(SeriesMode::Nested) => "nested",
                Some(SeriesMode::Increments) => "increments",
                None => "none",
            },
            week + 1,
            produced.manifest.records,
            kept.waiting,
            kept.companions,
            100.0 * counterfeits as f64 / f64::max(values as f64, 1.0),
            error.and_then(Value::as_f64).unwrap_or(f64::NAN),
            found.is_safe(),
        );
        public.push(produced.candidates);
        moved = population.pass();
    }
    Ok(())
}
