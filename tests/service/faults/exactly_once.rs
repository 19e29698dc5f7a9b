//! Many jobs, several workers, and workers that are killed all the time: each
//! job is published once, and whoever reads a table twice reads the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::launch::Program;
use super::place::{Place, on_each_store};
use super::size::{moments, size};
use super::ward::{Answered, Person, Ward, is_over};

const WORKERS: usize = 4;

/// Short, so that the jobs of a killed worker are soon taken up again.
const LEASE_S: u64 = 1;

/// Longest time between two kills. One that hits the server hits all of its jobs,
/// each of which takes about a second: the verifier runs the engine again and
/// again.
const KILL_INTERVAL_MS: u64 = 150;
const SERVER_KILL_INTERVAL_MS: u64 = 3_000;

/// From the first job to the last, whatever happens to the workers.
const WHOLE_TIME_MAX: Duration = Duration::from_secs(300);

/// Tables by release: name and digest.
type Read = BTreeMap<String, Vec<(String, String)>>;

/// Those who work: four processes beside an API, or one server with four workers.
struct Crew<'p> {
    place: &'p Place,
    /// Answers, and on SQLite works as well.
    server: Program,
    workers: Vec<Program>,
    kills: usize,
}

impl<'p> Crew<'p> {
    fn hire(place: &'p Place) -> Self {
        let shared = place.is_shared();
        let mut crew = Self {
            place,
            server: serve(place, if shared { 0 } else { WORKERS }),
            workers: Vec::new(),
            kills: 0,
        };
        if shared {
            crew.workers = (0..WORKERS).map(|_| work(place)).collect();
        }
        crew
    }

    /// Kills one worker, which on SQLite is the server, and hires another.
    fn replace_one(&mut self, moments: &mut ChaCha8Rng) {
        self.kills += 1;
        if self.workers.is_empty() {
            // The lock of the file goes with the process: first the end, then the start.
            self.server.end_now();
            self.server = serve(self.place, WORKERS);
        } else {
            let one = moments.random_range(0..self.workers.len());
            self.workers[one].end_now();
            self.workers[one] = work(self.place);
        }
    }
}

fn serve(place: &Place, workers: usize) -> Program {
    let launch = place.launch().with("VIZARD_WORKERS", workers);
    let launch = launch.with("VIZARD_QUEUED_JOBS_MAX", 10_000);
    launch.with("VIZARD_LEASE_DURATION_S", LEASE_S).serve()
}

fn work(place: &Place) -> Program {
    place
        .launch()
        .with("VIZARD_LEASE_DURATION_S", LEASE_S)
        .work()
}

/// Reads the tables of every release; those of earlier reads must be the same.
async fn read_all(person: &Person, read: &mut Read) -> Answered<()> {
    for release in person.all("/v1/releases").await? {
        assert_eq!(release["state"], "published", "{release}");
        let id = release["id"].as_str().expect("an id").to_owned();
        let digests = person.table_digests(&id).await?;
        let before = read.insert(id, digests.clone());
        assert!(before.is_none_or(|before| before == digests), "other bytes");
    }
    Ok(())
}

async fn every_job_is_published_once_whatever_happens_to_its_workers(place: Place) {
    let mut moments = moments("exactly once");
    let jobs = size(200);
    let idle = serve(&place, 0);
    // Each of people of its own: a second release of the same ones would wait
    // for a reason.
    for _ in 0..jobs {
        let ward = Ward::filled(&idle, 60).await;
        let queued = ward.at(&idle).post_job("automatic", 0).await;
        queued.expect("the server stays");
    }
    let ward = Ward::open(&idle).await;
    idle.kill();

    let interval_ms = if place.is_shared() {
        KILL_INTERVAL_MS
    } else {
        SERVER_KILL_INTERVAL_MS
    };
    let began = Instant::now();
    let mut crew = Crew::hire(&place);
    let mut read = Read::new();
    loop {
        let pause = moments.random_range(interval_ms / 3..interval_ms);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let all = ward.at(&crew.server).all("/v1/jobs").await;
        let over = all
            .expect("the server stays")
            .iter()
            .filter(|job| is_over(job))
            .count();
        if over == jobs {
            break;
        }
        assert!(
            began.elapsed() < WHOLE_TIME_MAX,
            "{over} of {jobs} jobs are over"
        );
        if crew.kills == 5 {
            let person = ward.at(&crew.server);
            read_all(&person, &mut read)
                .await
                .expect("the server stays");
        }
        crew.replace_one(&mut moments);
    }
    assert!(crew.kills > 5, "too few kills to say anything");
    let early = read.len();

    let person = ward.at(&crew.server);
    let all = person.all("/v1/jobs").await.expect("the server stays");
    let attempts: u64 = all.iter().filter_map(|job| job["attempts"].as_u64()).sum();
    let released: BTreeSet<&str> = all
        .iter()
        .filter_map(|job| job["release"].as_str())
        .collect();
    // A job that lost five workers in a row has failed, as it should.
    let is_exhausted = |job: &&Value| job["state"] == "failed" && job["attempts"] == 5;
    let exhausted = all.iter().filter(is_exhausted).count();
    assert_eq!(released.len() + exhausted, jobs, "one release a job");
    assert!(exhausted <= jobs / 10, "{exhausted} jobs without a release");
    for _ in 0..2 {
        read_all(&person, &mut read)
            .await
            .expect("the server stays");
    }
    assert_eq!(read.len(), released.len(), "and no other release");
    let kills = crew.kills;
    eprintln!("exactly once: {jobs} jobs, {attempts} attempts, {kills} kills, {early} read early");
}

on_each_store!(every_job_is_published_once_whatever_happens_to_its_workers);
