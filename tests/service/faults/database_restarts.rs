//! PostgreSQL crashes and comes back, in the middle of uploads and jobs.
//!
//! One server of ours lives through all of it; it is never restarted. While
//! the database is away it answers 503, which says nothing about what became
//! of the request: afterwards the whole of it is there, or nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::RngExt;

use super::acknowledged::Acknowledged;
use super::common::postgres::cluster_of_its_own;
use super::kills::live;
use super::place::Place;
use super::size::{moments, size};
use super::ward::Ward;

const LEASE_S: u64 = 1;

/// No job may be stuck for longer than this after a restart.
const STUCK_MAX: Duration = Duration::from_secs(LEASE_S + 30);

/// From the crash to the moment when everything is there again.
const RECOVERY_MAX: Duration = Duration::from_secs(60);

/// Latest moment of a crash; a turn of changes takes about as long.
const CRASH_MS: u64 = 500;

/// Time between two attempts to find everything there again.
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(100);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_crashes_loses_nothing_and_doubles_nothing() {
    let Some(mut cluster) = cluster_of_its_own() else {
        return;
    };
    let mut moments = moments("database restarts");
    let place = Place::at(cluster.fresh_database());
    let launch = place.launch().with("VIZARD_LEASE_DURATION_S", LEASE_S);
    let mut server = launch.serve();
    let mut known = Acknowledged::nothing(Ward::open(&server).await);
    let (mut turn, mut slowest) = (0, Duration::ZERO);
    for _ in 0..size(10) {
        let enough = Arc::new(AtomicBool::new(false));
        let after = Duration::from_millis(moments.random_range(0..CRASH_MS));
        let crash = tokio::task::spawn_blocking({
            let enough = Arc::clone(&enough);
            move || {
                std::thread::sleep(after);
                let crashed = Instant::now();
                cluster.restart_immediately();
                enough.store(true, Ordering::Relaxed);
                (cluster, crashed)
            }
        });
        // Goes on until a call fails, or nobody noticed the crash at all.
        live(&mut known, &server, &mut turn, &enough).await;
        let (same, crashed) = crash.await.expect("no panic");
        cluster = same;
        let person = known.ward.at(&server);
        while known.check(&person, STUCK_MAX).await.is_err() {
            assert!(crashed.elapsed() < RECOVERY_MAX, "{}", server.log());
            tokio::time::sleep(ATTEMPT_INTERVAL).await;
        }
        slowest = slowest.max(crashed.elapsed());
        assert!(slowest < RECOVERY_MAX, "everything is back, but late");
        assert_eq!(server.ended(), None, "the server lives on");
    }
    known.check_records(&place).await;
    let person = known.ward.at(&server);
    known
        .check_all_tables(&person)
        .await
        .expect("the server stays");
    let (versions, jobs) = (known.versions.len(), known.jobs());
    assert!(
        versions >= 3 && jobs >= 3,
        "{versions} versions, {jobs} jobs"
    );
    eprintln!("database restarts: {versions} versions, {jobs} jobs, recovered in {slowest:?}");
}
