//! SIGKILL, at every place where it could hurt and at random times.
//!
//! One store lives through all of it. Each round starts a server that will be
//! killed, checks what the round before left, and goes on changing things
//! until the server is gone; so a kill may also hit the recovery from the one
//! before. Between rounds nobody but the server has the store open.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::RngExt;
use rustix::process::Signal;

use super::acknowledged::Acknowledged;
use super::launch::Program;
use super::place::{Place, on_each_store};
use super::size::{moments, size};
use super::ward::{Answered, Ward};

/// Where servers are killed; a kill during a job is never the neighbour of
/// four others, so that no job runs out of its attempts by design.
const PLACES: [&str; 20] = [
    "audit-appended:3",
    "upload-spooled",
    "job-acquired",
    "preference-before-commit",
    "job-loaded",
    "upload-chunk-written",
    "publish-before-commit",
    "job-run",
    "preferences-half-written",
    "upload-before-commit",
    "job-piece-written",
    "publish-committed",
    "upload-committed",
    "job-committed",
    "preference-committed",
    "preferences-committed",
    "job-tables-written",
    "job-queued",
    "job-before-commit",
    "audit-appended:9",
];

/// Short, so that a job whose worker was killed is soon taken up again.
const LEASE_S: u64 = 1;

/// No job may be stuck for longer than this after a restart.
const STUCK_MAX: Duration = Duration::from_secs(LEASE_S + 30);

/// A round in which nobody dies is a failpoint that nobody reaches.
const ROUND_MAX: Duration = Duration::from_secs(60);

/// Latest moment of a random kill; a turn of `live` takes about as long.
const RANDOM_KILL_MS: u64 = 250;

/// Records in a version before the next upload replaces them.
const RECORDS_MAX: usize = 200;

/// Checks what was, then changes everything in turn: until the server is gone,
/// or until a turn ends when it is `enough`.
pub async fn live(known: &mut Acknowledged, server: &Program, turn: &mut u32, enough: &AtomicBool) {
    let person = known.ward.at(server);
    loop {
        let once = async {
            known.check(&person, STUCK_MAX).await?;
            *turn += 1;
            let share = 0.5 + f64::from(*turn % 1_000) / 4_000.0;
            let last = known.versions.last();
            let is_full = last.is_none_or(|last| last.subjects.len() > RECORDS_MAX);
            let mode = if is_full { "replace" } else { "append" };
            known.upload(&person, mode, 60).await?;
            known.post_job(&person).await?;
            let subject = u64::from(*turn % 10);
            known.put_terms(&person, subject, share).await?;
            known.import_terms(&person, 6, share + 0.1).await?;
            known.publish_one(&person).await
        };
        let once: Answered<()> = once.await;
        if once.is_err() || enough.load(Ordering::Relaxed) {
            return;
        }
    }
}

async fn nothing_acknowledged_is_lost_and_nothing_is_half_done(place: Place) {
    let mut moments = moments("kills");
    let server = place.launch().serve();
    let mut known = Acknowledged::nothing(Ward::open(&server).await);
    server.kill();
    let launch = || place.launch().with("VIZARD_LEASE_DURATION_S", LEASE_S);
    let (mut turn, never, at_once) = (0, AtomicBool::new(false), AtomicBool::new(true));
    for round in 0..size(60) {
        // Two named places, then a random time.
        let place_now = PLACES[(2 * (round / 3) + round % 3) % PLACES.len()];
        let is_random = round % 3 == 2;
        let mut server = if is_random {
            launch().serve()
        } else {
            launch().failpoint(place_now).serve()
        };
        if is_random {
            let (pid, after) = (server.pid(), moments.random_range(0..RANDOM_KILL_MS));
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(after)).await;
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            });
        }
        let lived = tokio::time::timeout(ROUND_MAX, live(&mut known, &server, &mut turn, &never));
        assert!(
            lived.await.is_ok(),
            "nobody reached {place_now}:\n{}",
            server.log()
        );
        server.end(ROUND_MAX);
        if is_random {
            // On a slow machine no killed server may get as far as publishing.
            let server = launch().serve();
            live(&mut known, &server, &mut turn, &at_once).await;
            server.kill();
        }
    }
    let server = launch().serve();
    let person = known.ward.at(&server);
    let checked = known.check(&person, STUCK_MAX).await;
    checked.expect("the server stays");
    known.check_records(&place).await;
    known
        .check_all_tables(&person)
        .await
        .expect("the server stays");
    let (versions, jobs, published) = (known.versions.len(), known.jobs(), known.published());
    let whole_turns = size(60) / 3;
    let told = format!("{versions} versions, {jobs} jobs, {published} published");
    assert!(
        versions >= whole_turns && jobs >= whole_turns && published > whole_turns / 2,
        "{told}"
    );
    eprintln!("kills: {} survived, {told}", size(60));
}

on_each_store!(nothing_acknowledged_is_lost_and_nothing_is_half_done);
