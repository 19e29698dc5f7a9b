//! A scheduler and two executors, which are processes of their own, give the bytes that
//! one process gives.

mod running;
mod tables;

use std::sync::Arc;

use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::microdata::Table;
use vizard_anonymizer::privacy::{CancelFlag, Parts, PartsRule, Requirements};
use vizard_anonymizer::release::{Cells, Release};
use vizard_cluster::links::Links;

use running::{Certificates, Running};
use tables::{Made, patients, visits, without_income};

/// What an engine makes of a table in parts of at most so many records.
struct Job<'a> {
    made: &'a Made,
    engine: &'static str,
    parameters: Value,
    records_max: u64,
}

impl Job<'_> {
    fn table(&self) -> &Table {
        &self.made.table
    }

    fn engine(&self) -> Engine {
        let schema = self.table().schema();
        let engine = Engine::parse(self.engine, &self.parameters, schema).expect("parameters");
        let parts = Parts::of(self.records_max, Some(2)).expect("sizes");
        engine.with_parts(PartsRule::Given(Some(parts)))
    }

    fn run(&self, engine: &Engine, cancel: CancelFlag) -> Result<Release, EngineError> {
        let policy = engine.policy(self.table().schema())?;
        let requirements = Requirements::new(self.table(), policy, &self.made.preferences);
        let context = RunContext {
            cancel,
            ..RunContext::silent(7)
        };
        engine.run(self.table(), &requirements, &context)
    }

    /// The release of one process and that of the cluster.
    fn both(&self, running: &Running, partitions: usize) -> [Result<Release, EngineError>; 2] {
        let here = self.engine();
        let there = here
            .clone()
            .with_parts_elsewhere(Arc::new(running.cluster(partitions)));
        [&here, &there].map(|engine| self.run(engine, CancelFlag::default()))
    }
}

fn jobs<'a>(patients: &'a Made, of_one_illness: &'a Made, visits: &'a Made) -> Vec<Job<'a>> {
    let of = |made, engine, parameters, records_max| Job {
        made,
        engine,
        parameters,
        records_max,
    };
    let close = json!({"disease": {"t_closeness": 0.4}, "income": {"l": 2}});
    let personalized = json!({"k": 3, "sensitive": "disease"});
    vec![
        of(patients, "mondrian", json!({"k": 3}), 40),
        of(patients, "mondrian", json!({"k": 3, "l": 2}), 25),
        of(patients, "lgb", json!({"k": 3, "l": 2}), 60),
        of(patients, "lgb", json!({"k": 2, "attributes": close}), 100),
        of(of_one_illness, "personalized", personalized, 50),
        of(visits, "one_to_many", json!({"k": 2, "l": 2}), 50),
        of(visits, "rmr", json!({"k": 2, "m": 1, "delta": 0.5}), 50),
    ]
}

#[test]
fn a_cluster_gives_the_bytes_of_one_process() {
    let running = Running::start(2);
    let mut in_parts = 0;
    let tables = (patients(300, 3), without_income(300, 5), visits(200, 4));
    for job in jobs(&tables.0, &tables.1, &tables.2) {
        for partitions in [1, 2, 7] {
            let [here, there] = job.both(&running, partitions);
            let name = (job.engine, partitions);
            assert!(here.is_ok(), "{name:?}: {here:?}");
            let release = here.as_ref().map(|release| release.parts);
            in_parts += release.ok().flatten().map_or(0, |parts| parts.number);
            assert!(here == there, "{name:?}: {there:?}");
        }
    }
    assert!(in_parts > 20, "{in_parts} parts");
}

#[test]
fn no_text_of_a_table_reaches_the_files_and_logs_of_executors() {
    let running = Running::start(2);
    let made = patients(300, 9);
    let job = Job {
        made: &made,
        engine: "lgb",
        parameters: json!({"k": 3, "l": 2}),
        records_max: 60,
    };
    let [here, there] = job.both(&running, 3);
    let release = there.expect("a release");
    assert_eq!(here, Ok(release.clone()));
    // The texts are there where they belong.
    let column = release.tables[0]
        .columns
        .iter()
        .find(|column| column.name == "city");
    let Some(Cells::Dictionary { cells, .. }) = column.map(|column| &column.cells) else {
        panic!("no city");
    };
    assert!(cells.len() > 1);
    let written = running.written();
    let find = |text: &str| {
        written.iter().find(|(_, bytes)| {
            let mut windows = bytes.windows(text.len());
            windows.any(|window| window == text.as_bytes())
        })
    };
    assert!(
        find("scheduler listens").is_some(),
        "logs are looked through"
    );
    for canary in tables::canaries(&made) {
        let found = find(&canary);
        assert!(
            found.is_none(),
            "`{canary}` in {:?}",
            found.map(|(name, _)| name)
        );
    }
    let of_executors = written
        .iter()
        .filter(|(name, _)| name.extension().is_none_or(|of| of != "log"));
    assert!(of_executors.count() > 0, "executors wrote files");
}

#[test]
fn a_run_that_is_stopped_leaves_no_board() {
    let running = Running::start(1);
    let made = patients(300, 11);
    let job = Job {
        made: &made,
        engine: "mondrian",
        parameters: json!({"k": 3, "effort": "best"}),
        records_max: 20,
    };
    let cluster = running.cluster(2);
    let boards = cluster.boards.clone();
    let engine = job.engine().with_parts_elsewhere(Arc::new(cluster));
    let cancel = CancelFlag::default();
    let stopped = std::thread::scope(|scope| {
        let run = scope.spawn(|| job.run(&engine, cancel.clone()));
        while boards.number() == 0 {
            std::thread::yield_now();
        }
        cancel.cancel();
        run.join().expect("no panic")
    });
    assert_eq!(stopped, Err(EngineError::Cancelled));
    assert_eq!(boards.number(), 0);
}

#[test]
fn without_a_scheduler_the_run_says_so() {
    let mut running = Running::start(0);
    running.stop_scheduler();
    let made = patients(100, 13);
    let job = Job {
        made: &made,
        engine: "mondrian",
        parameters: json!({"k": 3}),
        records_max: 20,
    };
    let engine = job
        .engine()
        .with_parts_elsewhere(Arc::new(running.cluster(1)));
    let answer = job.run(&engine, CancelFlag::default());
    assert!(
        matches!(answer, Err(EngineError::Elsewhere(_))),
        "{answer:?}"
    );
}

#[test]
fn with_certificates_only_those_of_one_authority_are_heard() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let [own, other] = folders
        .each_ref()
        .map(|folder| Certificates::new(folder.path()));
    let running = Running::start_by(2, Some(&own));
    let made = patients(200, 17);
    let job = Job {
        made: &made,
        engine: "mondrian",
        parameters: json!({"k": 3, "l": 2}),
        records_max: 40,
    };
    let [here, there] = job.both(&running, 2);
    assert!(here.is_ok() && here == there, "{there:?}");
    for links in [other.links(), Links::default()] {
        let cluster = running.cluster_by(&links, 2);
        let engine = job.engine().with_parts_elsewhere(Arc::new(cluster));
        let answer = job.run(&engine, CancelFlag::default());
        assert!(
            matches!(answer, Err(EngineError::Elsewhere(_))),
            "{answer:?}"
        );
    }
}

#[test]
fn a_killed_executor_changes_nothing() {
    let mut running = Running::start(2);
    let made = patients(300, 15);
    let job = Job {
        made: &made,
        engine: "lgb",
        parameters: json!({"k": 3, "l": 2}),
        records_max: 60,
    };
    let here = job.run(&job.engine(), CancelFlag::default());
    let engine = job
        .engine()
        .with_parts_elsewhere(Arc::new(running.cluster(4)));
    let there = std::thread::scope(|scope| {
        let run = scope.spawn(|| job.run(&engine, CancelFlag::default()));
        // As soon as it has made something.
        running.kill_one_that_works();
        run.join().expect("no panic")
    });
    assert!(here.is_ok() && here == there, "{there:?}");
}
