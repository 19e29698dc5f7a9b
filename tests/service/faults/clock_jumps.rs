//! The clock of the machine jumps by a day, forwards and backwards.
//!
//! On PostgreSQL the database's clock decides about leases, and that of the
//! processes jumps here. SQLite has no clock: the store uses a steady one of
//! its process, that nobody can set. Wrong clocks may put a wrong time on a
//! row, but take no job from its worker and give none back to a late one.

use std::path::PathBuf;
use std::time::Duration;

use hyper::Method;
use rustix::process::Signal;
use serde_json::Value;

use super::drain::{api, worker};
use super::launch::{Launch, Program};
use super::place::{Place, on_each_store};
use super::size::size;
use super::ward::{JOB_TIME_MAX, Person, Ward, expect, is_over};
use super::zombies::{ASLEEP, MOMENT_MAX, REFUSED, said};

const DAY_S: i64 = 86_400;

const LEASE: Duration = Duration::from_secs(2);

/// No job may be stuck for longer than this after a restart.
const STUCK_MAX: Duration = Duration::from_secs(LEASE.as_secs() + 30);

/// The clock of the processes that are started with it.
struct Shifted(PathBuf);

impl Shifted {
    fn of(place: &Place) -> Self {
        let clock = Self(place.folder().join("clock-shift"));
        clock.set(0);
        clock
    }

    /// Lets the clock show another time by so many seconds.
    fn set(&self, shift_s: i64) {
        // Whoever reads meanwhile reads the old number or the new one.
        let half = self.0.with_extension("half");
        std::fs::write(&half, shift_s.to_string()).expect("it can be written");
        std::fs::rename(half, &self.0).expect("it can be put in its place");
    }

    fn given<'p>(&self, launch: Launch<'p>) -> Launch<'p> {
        let launch = launch.with("VIZARD_CLOCK_SHIFT_FILE", self.0.display());
        launch.with("VIZARD_LEASE_DURATION_S", LEASE.as_secs())
    }
}

async fn over(person: &Person, job: &str) -> Value {
    let over = person.job_when(job, STUCK_MAX, is_over).await;
    let over = over.expect("the server stays");
    assert_eq!(over["state"], "succeeded", "{over}");
    over
}

async fn a_running_job_keeps_its_lease_when_the_clock_jumps(place: Place) {
    let clock = Shifted::of(&place);
    let slow = place.launch().failpoint("job-loaded=stall:700");
    let server = clock.given(slow).serve();
    let ward = Ward::filled(&server, 60).await;
    let person = ward.at(&server);
    for round in 0..size(10) {
        let job = person.post_job("manual", 0).await.expect("an answer");
        let running = person.job_when(&job, JOB_TIME_MAX, |job| job["state"] == "running");
        running.await.expect("an answer");
        // A day ahead, back again, a day behind, back again.
        clock.set([DAY_S, 0, -DAY_S, 0][round % 4]);
        let done = over(&person, &job).await;
        assert_eq!(done["attempts"], 1, "taken from its worker: {done}");
    }
}

async fn a_lease_that_ran_out_is_not_revived_by_a_clock_that_goes_back(place: Place) {
    let clock = Shifted::of(&place);
    let idle = place.launch().with("VIZARD_WORKERS", 0).serve();
    let ward = Ward::filled(&idle, 60).await;
    let job = ward.at(&idle).post_job("manual", 0).await;
    let job = job.expect("an answer");
    idle.kill();
    let launch = place.launch().failpoint(&format!("{ASLEEP}:1=stop"));
    let sleeper = worker(&place, clock.given(launch), LEASE.as_secs());
    sleeper.stopped(MOMENT_MAX).await;
    tokio::time::sleep(LEASE).await;
    clock.set(-DAY_S);
    sleeper.signal(Signal::CONT);
    said(&sleeper, REFUSED, 1).await;
    let api = api(&place);
    let person = ward.at(api.as_ref().unwrap_or(&sleeper));
    assert_eq!(over(&person, &job).await["attempts"], 2);
}

async fn a_job_is_not_stuck_when_the_clock_went_back_before_the_restart(place: Place) {
    let clock = Shifted::of(&place);
    let launch = place.launch().failpoint("job-loaded");
    let mut server = clock.given(launch).serve();
    let ward = Ward::filled(&server, 60).await;
    let job = ward.at(&server).post_job("manual", 0).await;
    let job = job.expect("an answer");
    server.end(MOMENT_MAX);
    clock.set(-DAY_S);
    let server = clock.given(place.launch()).serve();
    assert_eq!(over(&ward.at(&server), &job).await["attempts"], 2);
}

/// The status that a subject's token gets.
async fn shown(server: &Program, token: &str) -> u16 {
    let terms = serde_json::json!({"max_leakage": 0.5}).to_string();
    let client = server.client(token);
    let path = "/v1/my-preferences";
    let sent = client.send(Method::PUT, path, "application/json", terms.into());
    sent.await.expect("an answer").status
}

async fn no_token_comes_back_when_the_clock_goes_back(place: Place) {
    let clock = Shifted::of(&place);
    let server = clock.given(place.launch()).serve();
    let ward = Ward::filled(&server, 60).await;
    let wanted = serde_json::json!({"subjects": ["p1"], "expires_in_s": 3_600});
    let person = ward.at(&server);
    let path = format!("{}/subject-tokens", person.dataset_path());
    let made = person.post(&path, &wanted).await.expect("an answer");
    let made = expect(201, made);
    let token = made["items"][0]["token"].as_str().expect("shown once");
    assert_eq!(shown(&server, token).await, 200);
    clock.set(DAY_S);
    // Long enough for those that are over to be swept, twice a lease.
    tokio::time::sleep(LEASE).await;
    // By the database's clock its time was never over.
    let expected = if place.is_shared() { 200 } else { 401 };
    for shift_s in [DAY_S, 0, -DAY_S] {
        clock.set(shift_s);
        assert_eq!(shown(&server, token).await, expected, "at {shift_s} s");
    }
}

on_each_store!(
    no_token_comes_back_when_the_clock_goes_back,
    a_running_job_keeps_its_lease_when_the_clock_jumps,
    a_lease_that_ran_out_is_not_revived_by_a_clock_that_goes_back,
    a_job_is_not_stuck_when_the_clock_went_back_before_the_restart,
);
