//! SIGTERM: what runs gets the drain time; then its lease is given back, and
//! another process takes the job at once and not when the lease has run out.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::launch::{Launch, Program};
use super::place::{Place, on_each_store};
use super::ward::{JOB_TIME_MAX, Ward, is_over};

/// Longer than any of these tests: nobody waits for a lease to run out.
const LEASE_S: u64 = 600;

/// How long an orderly end may take beyond the drain time.
const END_MAX: Duration = Duration::from_secs(20);

/// Who works: a process beside the API, or the server itself on SQLite.
pub fn worker(place: &Place, launch: Launch<'_>, lease_s: u64) -> Program {
    let launch = launch.with("VIZARD_LEASE_DURATION_S", lease_s);
    if place.is_shared() {
        launch.work()
    } else {
        launch.serve()
    }
}

/// An API that lives beside the worker, where the store can be shared.
pub fn api(place: &Place) -> Option<Program> {
    let idle = || place.launch().with("VIZARD_WORKERS", 0).serve();
    place.is_shared().then(idle)
}

async fn a_running_job_is_finished_within_the_drain_time(place: Place) {
    let idle = place.launch().with("VIZARD_WORKERS", 0).serve();
    let ward = Ward::filled(&idle, 60).await;
    let job = ward.at(&idle).post_job("manual", 0).await;
    let job = job.expect("an answer");
    idle.kill();

    let slow = place.launch().failpoint("job-loaded=stall:1000");
    let mut worker = worker(&place, slow.with("VIZARD_DRAIN_TIMEOUT_S", 60), LEASE_S);
    let api = api(&place);
    let person = ward.at(api.as_ref().unwrap_or(&worker));
    let running = person.job_when(&job, JOB_TIME_MAX, |job| job["state"] == "running");
    running.await.expect("an answer");
    worker.signal(Signal::TERM);
    assert!(worker.end(END_MAX).success(), "{}", worker.log());

    let api = api.unwrap_or_else(|| place.launch().with("VIZARD_WORKERS", 0).serve());
    let person = ward.at(&api);
    let done = person.job_when(&job, Duration::ZERO, |_| true).await;
    let done = done.expect("an answer");
    assert_eq!(
        (&done["state"], &done["attempts"]),
        (&json!("succeeded"), &json!(1))
    );
}

async fn after_the_drain_time_another_process_takes_the_job_at_once(place: Place) {
    let idle = place.launch().with("VIZARD_WORKERS", 0).serve();
    let ward = Ward::filled(&idle, 60).await;
    let job = ward.at(&idle).post_job("manual", 0).await;
    let job = job.expect("an answer");
    idle.kill();

    // The run does not hear that it shall stop: nobody waits for it.
    let slow = place.launch().failpoint("job-loaded=stall:60000");
    let mut first = worker(&place, slow.with("VIZARD_DRAIN_TIMEOUT_S", 1), LEASE_S);
    let api = api(&place);
    let person = ward.at(api.as_ref().unwrap_or(&first));
    let running = person.job_when(&job, JOB_TIME_MAX, |job| job["state"] == "running");
    running.await.expect("an answer");
    first.signal(Signal::TERM);
    assert!(first.end(END_MAX).success(), "{}", first.log());
    assert_eq!(first.logged("drain timeout"), 1, "{}", first.log());

    let second = worker(&place, place.launch(), LEASE_S);
    let person = ward.at(api.as_ref().unwrap_or(&second));
    let done = person.job_when(&job, END_MAX, is_over).await;
    let done = done.expect("an answer");
    assert_eq!(
        (&done["state"], &done["attempts"]),
        (&json!("succeeded"), &json!(1))
    );
}

on_each_store!(
    a_running_job_is_finished_within_the_drain_time,
    after_the_drain_time_another_process_takes_the_job_at_once,
);
