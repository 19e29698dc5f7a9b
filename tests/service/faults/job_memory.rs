//! What a job takes of memory stays near its estimate, and goes back when it
//! has ended.
//!
//! Random datasets, from short codes to texts of two thousand bytes, each
//! through an engine drawn for it, each in a worker of its own: what the process
//! held at most is compared with what the job said when it was posted.

use std::fmt::Write as _;
use std::time::Duration;

use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};
use serde_json::{Value, json};

use super::launch::Program;
use super::place::Place;
use super::raw_upload::{resident, resident_most};
use super::size::{moments, size};
use super::ward::{Person, Ward, expect, is_over};

/// What a process may hold, compared with the estimate of its one job.
const OVER_ESTIMATE_MAX: f64 = 1.25;
/// Bytes of text in all cells of a dataset.
const TEXT_BYTES_MAX: usize = 24 << 20;

/// Where the values of a column come from.
enum Values {
    Integers(u64),
    Texts(Vec<String>),
}

/// A dataset to be made, and the job on it.
struct Shape {
    subjects: usize,
    attributes: Vec<Value>,
    columns: Vec<Values>,
    engine: &'static str,
    parameters: Value,
    subjects_with_terms: usize,
}

/// A number from `low` to `high`, small ones as likely as large ones.
fn drawn(random: &mut impl Rng, low: f64, high: f64) -> usize {
    random.random_range(low.ln()..high.ln()).exp() as usize
}

fn text(random: &mut impl Rng, bytes: usize) -> String {
    let letters = (0..bytes).map(|_| char::from(random.random_range(b'a'..=b'z')));
    letters.collect()
}

fn texts(random: &mut impl Rng, values: usize, bytes: usize) -> Values {
    Values::Texts((0..values).map(|_| text(random, bytes)).collect())
}

impl Shape {
    fn drawn(random: &mut impl Rng) -> Self {
        let (k, k_group) = (drawn(random, 2.0, 50.0), drawn(random, 2.0, 30.0));
        let engines = [
            ("lgb", json!({"k": k, "l": 2})),
            ("mondrian", json!({"k": k, "l": 2})),
            ("arp", json!({"l": 3})),
            ("anatomy", json!({"l": 3})),
            ("aip", json!({"l": 3})),
            ("ng", json!({"l": 3})),
            ("slicing", json!({"l": 3, "clusters": 2})),
            ("one_to_many", json!({"k": k, "l": 2, "k_group": k_group})),
        ];
        let (engine, parameters) = engines.choose(random).expect("some").clone();
        let mut shape = Self {
            subjects: drawn(random, 500.0, 20_000.0),
            attributes: vec![json!({"name": "id", "role": "identifier"})],
            columns: Vec::new(),
            engine,
            parameters,
            subjects_with_terms: 0,
        };
        if random.random_bool(0.3) {
            shape.subjects_with_terms = shape.subjects / 5;
        }
        for _ in 0..random.random_range(1..6) {
            if random.random_bool(0.5) {
                let below = drawn(random, 5.0, 10_000.0) as u64;
                shape.push("quasi_identifier", Values::Integers(below));
            } else {
                // Without a hierarchy a class publishes the set of its values.
                let values = drawn(random, 2.0, shape.subjects as f64);
                let bytes = drawn(random, 2.0, 100.0);
                shape.push("quasi_identifier", texts(random, values, bytes));
            }
        }
        if engine != "one_to_many" {
            shape.push_notes(random);
        }
        let (values, bytes) = (drawn(random, 10.0, 100.0), drawn(random, 4.0, 200.0));
        shape.push("sensitive", texts(random, values, bytes));
        shape
    }

    /// Up to three columns of text that goes out as it came.
    fn push_notes(&mut self, random: &mut impl Rng) {
        let mut left = TEXT_BYTES_MAX / self.subjects;
        for _ in 0..random.random_range(0..4) {
            let bytes = drawn(random, 2.0, 2_000.0).min(left);
            left -= bytes;
            // Short texts are soon the same again.
            let values = drawn(random, 1.0, self.subjects as f64);
            if bytes > 0 {
                self.push("insensitive", texts(random, values, bytes));
            }
        }
    }

    fn push(&mut self, role: &str, values: Values) {
        let kind = match values {
            Values::Integers(_) => "integer",
            Values::Texts(_) => "categorical",
        };
        let name = format!("c{}", self.columns.len());
        self.attributes
            .push(json!({"name": name, "role": role, "type": kind}));
        self.columns.push(values);
    }

    fn schema(&self) -> Value {
        let is_many = self.engine == "one_to_many";
        json!({"name": "shape", "subject_key": "id", "attributes": self.attributes,
            "multiplicity": if is_many { "many" } else { "one" }})
    }

    /// The records as CSV; with `one_to_many` up to three of each subject, which
    /// differ in the last attribute alone.
    fn records(&self, random: &mut impl Rng) -> String {
        let names: Vec<&str> = (self.attributes.iter())
            .filter_map(|attribute| attribute["name"].as_str())
            .collect();
        let mut csv = names.join(",") + "\n";
        let (last, others) = self.columns.split_last().expect("one is sensitive");
        for subject in 0..self.subjects {
            let mut head = format!("p{subject:06}");
            for column in others {
                cell(&mut head, column, random);
            }
            let records = match self.engine {
                "one_to_many" => random.random_range(1..4),
                _ => 1,
            };
            for _ in 0..records {
                csv += &head;
                cell(&mut csv, last, random);
                csv.push('\n');
            }
        }
        csv
    }

    fn terms(&self) -> String {
        let mut csv = "subject,max_leakage\n".to_owned();
        for subject in 0..self.subjects_with_terms {
            writeln!(csv, "p{subject:06},0.9").expect("a String");
        }
        csv
    }

    fn job(&self, dataset: &str) -> Value {
        let exact = self.attributes.iter();
        let exact = exact.filter(|attribute| attribute["role"] == "insensitive");
        let exact: Vec<Value> = exact
            .map(|attribute| json!({"attribute": attribute["name"], "reason": "made up"}))
            .collect();
        json!({"dataset": dataset, "engine": self.engine, "parameters": self.parameters,
            "accept_exact": exact, "report": {"queries": 200}})
    }
}

fn cell(line: &mut String, column: &Values, random: &mut impl Rng) {
    line.push(',');
    match column {
        Values::Integers(below) => {
            write!(line, "{}", random.random_range(0..*below)).expect("a String");
        }
        Values::Texts(texts) => line.push_str(texts.choose(random).expect("one at least")),
    }
}

/// The longest that a job of these sizes may take on a busy machine.
const JOB_MAX: Duration = Duration::from_secs(600);

/// Who asks for jobs on a shape, and the job as it was answered.
struct Asked {
    person: Person,
    job: Value,
}

impl Asked {
    /// Makes the dataset and posts its job.
    async fn for_shape(server: &Program, shape: &Shape, random: &mut impl Rng) -> Self {
        let ward = Ward::with(server, &shape.schema()).await;
        let person = ward.at(server);
        let uploaded = person.upload("replace", shape.records(random)).await;
        uploaded.expect("an answer");
        if shape.subjects_with_terms > 0 {
            let imported = person.import_terms(shape.terms()).await;
            imported.expect("an answer");
        }
        let job = person.post("/v1/jobs", &shape.job(&ward.dataset)).await;
        let job = expect(202, job.expect("an answer"));
        Self { person, job }
    }

    /// The job when it has ended.
    async fn ended(&self) -> Value {
        let id = self.job["id"].as_str().expect("an id");
        let ended = self.person.job_when(id, JOB_MAX, is_over).await;
        ended.expect("an answer")
    }
}

/// A place where only workers of their own work.
fn serve(place: &Place) -> Program {
    place.launch().with("VIZARD_WORKERS", 0).serve()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_takes_what_was_estimated() {
    let Some(place) = Place::postgres() else {
        return;
    };
    let mut random = moments("job_memory");
    let server = serve(&place);
    let (shapes, mut succeeded, mut over) = (size(20), 0, Vec::new());
    for _ in 0..shapes {
        let shape = Shape::drawn(&mut random);
        let asked = Asked::for_shape(&server, &shape, &mut random).await;
        let worker = place.launch().work();
        resident(worker.pid());
        let view = asked.ended().await;
        let most = resident_most(worker.pid());
        worker.kill();
        succeeded += usize::from(view["state"] == "succeeded");
        let estimate = asked.job["memory_bytes"].as_u64().expect("an estimate");
        let share = most as f64 / estimate as f64;
        let told = format!(
            "{} of {} subjects, {} attributes, {}: {} MiB of {} MiB, {share:.2}",
            shape.engine,
            shape.subjects,
            shape.attributes.len(),
            view["state"],
            most >> 20,
            estimate >> 20,
        );
        println!("{told}");
        if share > OVER_ESTIMATE_MAX {
            over.push(told);
        }
    }
    assert!(over.is_empty(), "more than was estimated: {over:#?}");
    assert!(
        2 * succeeded > shapes,
        "only {succeeded} jobs of {shapes} gave a release"
    );
}

/// How long pages stay with a process that does not need them, at most.
const GIVEN_BACK_MAX: Duration = Duration::from_secs(40);
/// What a process that has worked may hold more than one that has not.
const KEPT_BYTES_MAX: u64 = 64 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_job_frees_goes_back_to_the_system() {
    let Some(place) = Place::postgres() else {
        return;
    };
    let mut random = moments("job_memory");
    let server = serve(&place);
    let worker = place.launch().work();
    let idle = resident(worker.pid());
    for engine in ["mondrian", "ng"] {
        let mut shape = Shape {
            subjects: 4_500,
            attributes: vec![json!({"name": "id", "role": "identifier"})],
            columns: Vec::new(),
            engine,
            parameters: match engine {
                "mondrian" => json!({"k": 5, "l": 2}),
                _ => json!({"l": 2}),
            },
            subjects_with_terms: 0,
        };
        shape.push("quasi_identifier", Values::Integers(500));
        for _ in 0..3 {
            let notes = texts(&mut random, 4_500, 2_000);
            shape.push("insensitive", notes);
        }
        let sensitive = texts(&mut random, 20, 10);
        shape.push("sensitive", sensitive);
        let asked = Asked::for_shape(&server, &shape, &mut random).await;
        let view = asked.ended().await;
        assert_eq!(view["state"], "succeeded", "{view}");
        let most = resident_most(worker.pid());
        assert!(
            most > idle + 2 * KEPT_BYTES_MAX,
            "the job is too small: {most}"
        );
        let since = std::time::Instant::now();
        while resident(worker.pid()) > idle + KEPT_BYTES_MAX {
            let now = resident(worker.pid());
            assert!(
                since.elapsed() < GIVEN_BACK_MAX,
                "{engine}: idle {idle}, most {most}, now {now} bytes"
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        println!(
            "{engine}: {} MiB, back after {:?}",
            most >> 20,
            since.elapsed()
        );
    }
}
