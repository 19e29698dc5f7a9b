//! Workers that sleep beyond their lease, and wake up believing that they
//! hold it: SIGSTOP after the run and before the commit, SIGCONT when another
//! has finished the job. What a sleeper then commits must change no row.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::launch::Program;
use super::place::Place;
use super::size::size;
use super::ward::{JOB_TIME_MAX, Person, Ward, is_over};

/// Where the sleepers fall asleep: the work is done, the heartbeat is over.
pub const ASLEEP: &str = "job-before-commit";

/// What a worker says when its commit was refused.
pub const REFUSED: &str = "lease lost: the work is thrown away";

/// How long falling asleep, and waking up, may take.
pub const MOMENT_MAX: Duration = Duration::from_secs(30);

/// Waits until `program` has said `text` that often.
pub async fn said(program: &Program, text: &str, times: usize) {
    let since = Instant::now();
    while program.logged(text) < times {
        assert!(since.elapsed() < MOMENT_MAX, "{}", program.log());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for a job that had to be begun again; its release and their tables.
async fn done_again(person: &Person, job: &str) -> (String, Vec<(String, String)>) {
    let done = person.job_when(job, JOB_TIME_MAX, is_over).await;
    let done = done.expect("the server stays");
    assert_eq!(done["state"], "succeeded", "{done}");
    assert_eq!(done["attempts"], 2, "{done}");
    let release = done["release"].as_str().expect("a release").to_owned();
    let tables = person.table_digests(&release).await;
    (release, tables.expect("the server stays"))
}

/// PostgreSQL: sleepers and the one who is awake are processes of their own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_sleeper_commits_after_another_finished_changes_nothing() {
    const SLEEPERS: usize = 10;
    /// All must have fallen asleep before the first lease runs out.
    const LEASE_S: u64 = 3;
    let Some(place) = Place::postgres() else {
        return;
    };
    let api = place.launch().with("VIZARD_WORKERS", 0).serve();
    let ward = Ward::filled(&api, 60).await;
    let person = ward.at(&api);
    let work = || place.launch().with("VIZARD_LEASE_DURATION_S", LEASE_S);
    let sleepers: Vec<Program> = (0..SLEEPERS)
        .map(|_| work().failpoint(&format!("{ASLEEP}=stop")).work())
        .collect();
    let rounds = size(2);
    for round in 1..=rounds {
        let mut jobs = Vec::new();
        for _ in 0..SLEEPERS {
            jobs.push(person.post_job("automatic", 0).await.expect("an answer"));
        }
        for sleeper in &sleepers {
            sleeper.stopped(MOMENT_MAX).await;
        }
        let awake = work().with("VIZARD_WORKERS", 2).work();
        let mut finished = Vec::new();
        for job in &jobs {
            finished.push(done_again(&person, job).await);
        }
        assert!(awake.end_well());
        for sleeper in &sleepers {
            sleeper.signal(Signal::CONT);
        }
        for sleeper in &sleepers {
            said(sleeper, REFUSED, round).await;
        }
        for (job, before) in jobs.iter().zip(finished) {
            assert_eq!(done_again(&person, job).await, before);
        }
        let releases = person.all("/v1/releases").await.expect("an answer");
        assert_eq!(releases.len(), round * SLEEPERS, "one release a job");
    }
}

/// SQLite has one process: it sleeps, and finds its own lease run out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_slept_beyond_its_lease_begins_its_job_again() {
    const STORES: usize = 4;
    let rounds = size(5);
    let stores = (0..STORES).map(|_| tokio::spawn(sleep_again_and_again(rounds)));
    for store in stores.collect::<Vec<_>>() {
        store.await.expect("no panic");
    }
}

async fn sleep_again_and_again(rounds: usize) {
    const LEASE: Duration = Duration::from_secs(1);
    let place = Place::sqlite();
    let idle = place.launch().with("VIZARD_WORKERS", 0).serve();
    let ward = Ward::filled(&idle, 60).await;
    idle.kill();
    for round in 1..=rounds {
        let launch = place
            .launch()
            .with("VIZARD_LEASE_DURATION_S", LEASE.as_secs());
        let server = launch.failpoint(&format!("{ASLEEP}:1=stop")).serve();
        let person = ward.at(&server);
        // The answer may come when the server is awake again.
        let queued = tokio::spawn({
            let person = ward.at(&server);
            async move { person.post_job("automatic", 0).await }
        });
        server.stopped(MOMENT_MAX).await;
        tokio::time::sleep(LEASE + Duration::from_millis(100)).await;
        server.signal(Signal::CONT);
        said(&server, REFUSED, 1).await;
        let job = queued.await.expect("no panic").expect("an answer");
        done_again(&person, &job).await;
        let releases = person.all("/v1/releases").await.expect("an answer");
        assert_eq!(releases.len(), round, "one release a job");
        server.kill();
    }
}
