//! The disk is full in the middle of an upload, of a job, of a read that must
//! be audited: the answer is 507 or a clean failure, nothing of what failed is
//! visible, and when there is room again everything works.
//!
//! The SQLite file lies on a small disk; so do the tables of the PostgreSQL
//! database, by a tablespace of its own (its log lies elsewhere, since a server
//! whose log cannot grow ends itself), and the temporary files of uploads.

use std::time::Duration;

use hyper::Method;
use serde_json::Value;

use super::common::postgres::{Cluster, cluster_of_its_own};
use super::launch::Program;
use super::place::Place;
use super::size::size;
use super::small_disk::SmallDisk;
use super::ward::{JOB_TIME_MAX, Person, Ward, is_over, records};

/// Room for an empty store and what these tests put in.
const SQLITE_MIB: u64 = 12;

/// The same with the catalogue that every PostgreSQL database brings.
const POSTGRES_MIB: u64 = 32;

/// What a full disk leaves, round by round: nothing, or room for a part.
const LEFT_BYTES: [u64; 5] = [0, 4 << 10, 16 << 10, 32 << 10, 64 << 10];

/// Records that need more than any of it.
const RECORDS: u64 = 40_000;

/// Audited reads that pages have room for, at the very most.
const READS_MAX: u64 = 5_000;

const LEASE_S: u64 = 1;

/// No job may be stuck for longer than this once there is room.
const STUCK_MAX: Duration = Duration::from_secs(LEASE_S + 30);

/// A store on a small disk.
struct Narrow {
    place: Place,
    /// PostgreSQL's server, which ends before the disk goes.
    _cluster: Option<Cluster>,
    disk: SmallDisk,
}

impl Narrow {
    fn sqlite() -> Option<Self> {
        let disk = SmallDisk::mount(SQLITE_MIB)?;
        let folder = tempfile::tempdir_in(disk.path()).expect("a folder");
        Some(Self {
            place: Place::sqlite_in(folder),
            _cluster: None,
            disk,
        })
    }

    fn postgres() -> Option<Self> {
        // For itself: a server that cannot write its pages fails its neighbours too.
        let cluster = cluster_of_its_own()?;
        let disk = SmallDisk::mount(POSTGRES_MIB)?;
        Some(Self {
            place: Place::at(cluster.database_in(disk.path())),
            _cluster: Some(cluster),
            disk,
        })
    }

    fn serve(&self, failpoint: &str) -> Program {
        let launch = self.place.launch().with("VIZARD_LEASE_DURATION_S", LEASE_S);
        launch.failpoint(failpoint).serve()
    }
}

/// What a dataset shows of itself, without what reading it may change.
async fn shown(person: &Person) -> Value {
    let told = person.get(&person.dataset_path()).await;
    let told = told.expect("reading works");
    serde_json::json!([told["version"], told["records"], told["versions"]])
}

/// An upload must fail as one that finds no room does: 507, and no trace; or
/// be whole, where the store's own files have room that earlier ones left.
/// Whether it failed.
async fn finds_no_room(person: &Person, records_count: u64) -> bool {
    let before = shown(person).await;
    let sent = person
        .try_upload("replace", records(0, records_count))
        .await;
    let answer = sent.expect("the server says what is wrong");
    let text = String::from_utf8_lossy(&answer.body);
    if answer.status == 201 {
        assert_eq!(shown(person).await[1], records_count, "{text}");
        return false;
    }
    assert_eq!(answer.status, 507, "{text}");
    assert!(text.contains("urn:vizard:problem:store-full"), "{text}");
    assert_eq!(shown(person).await, before, "something of it is visible");
    true
}

async fn uploads(narrow: Narrow) {
    let mut server = narrow.serve("");
    let ward = Ward::filled(&server, 60).await;
    let person = ward.at(&server);
    let mut refused = 0;
    for round in 0..size(LEFT_BYTES.len()) {
        narrow.disk.fill(LEFT_BYTES[round % LEFT_BYTES.len()]);
        refused += usize::from(finds_no_room(&person, RECORDS).await);
        narrow.disk.free();
        let again = person.upload("replace", records(0, 60)).await;
        assert_eq!(again.expect("there is room")["total_records"], 60);
        assert_eq!(server.ended(), None, "the server lives on");
    }
    assert!(refused > 0, "no upload found the disk full");
}

/// How long a job waits for the disk to be full; a busy machine needs most of it.
const STALL_MS: u64 = 2_000;

async fn jobs(narrow: Narrow) {
    let idle = narrow.place.launch().with("VIZARD_WORKERS", 0).serve();
    let ward = Ward::filled(&idle, 300).await;
    idle.kill();
    let mut starved = 0;
    for round in 0..size(LEFT_BYTES.len()) {
        // The run waits until the disk is full; a second attempt does not.
        let mut server = narrow.serve(&format!("job-run:1=stall:{STALL_MS}"));
        let person = ward.at(&server);
        let job = person
            .post_job("automatic", 20)
            .await
            .expect("there is room");
        let running = person.job_when(&job, JOB_TIME_MAX, |job| job["state"] == "running");
        running.await.expect("reading works");
        // Nothing at all: a few pages would be enough for this small release.
        narrow.disk.fill(0);
        tokio::time::sleep(Duration::from_millis(STALL_MS + 500)).await;
        let path = format!("/v1/jobs/{job}");
        let before = person.get(&path).await.expect("reading works");
        let visible = person.all("/v1/releases").await.expect("reading works");
        let after = person.get(&path).await.expect("reading works");
        // The store's own files may have room that earlier rounds left: then
        // the release is whole.
        let done = [&before, &after].map(|job| job["state"] == "succeeded");
        starved += usize::from(!done[1]);
        let has_release = [&before, &after].map(|job| job["release"] != Value::Null);
        assert_eq!(has_release, done, "{before}\n{after}");
        let wanted = done.map(|is_done| round + usize::from(is_done));
        assert!(wanted.contains(&visible.len()), "{before}\n{after}");
        narrow.disk.free();
        let done = person.job_when(&job, STUCK_MAX, is_over).await;
        let done = done.expect("there is room");
        assert_eq!(done["state"], "succeeded", "{done}\n{}", server.log());
        let release = done["release"].as_str().expect("a release");
        person.table_digests(release).await.expect("reading works");
        assert_eq!(server.ended(), None, "the server lives on");
        server.kill();
    }
    assert!(starved > 0, "no job found the disk full");
}

/// How many rows the audit log has; it must hold together.
async fn audited(person: &Person) -> u64 {
    let walked = person.get("/v1/audit/verify").await.expect("reading works");
    assert_eq!(walked["valid"], true, "{walked}");
    walked["rows"].as_u64().expect("a number")
}

async fn reads(narrow: Narrow) {
    let mut server = narrow.serve("");
    let ward = Ward::filled(&server, 60).await;
    let person = ward.at(&server);
    let job = person.post_job("automatic", 0).await.expect("an answer");
    let done = person.job_when(&job, JOB_TIME_MAX, is_over).await;
    let done = done.expect("an answer");
    let release = done["release"].as_str().expect("a release");
    let path = format!("/v1/releases/{release}/tables/microdata?format=csv");
    let read = async || person.send(Method::GET, &path, "text/csv", "").await;
    for _ in 0..size(LEFT_BYTES.len()) {
        let before = audited(&person).await;
        narrow.disk.fill(0);
        // Pages that are there already take rows for a while.
        let mut told = 0;
        let refused = loop {
            let answer = read().await.expect("the server says what is wrong");
            if answer.status != 200 {
                break answer;
            }
            told += 1;
            assert!(told < READS_MAX, "read and not written down");
        };
        let text = String::from_utf8_lossy(&refused.body);
        assert_eq!(refused.status, 507, "{text}");
        narrow.disk.free();
        assert_eq!(audited(&person).await, before + told, "one row a read");
        assert_eq!(read().await.expect("there is room").status, 200);
        assert_eq!(server.ended(), None, "the server lives on");
    }
}

macro_rules! on_small_disks {
    ($($name:ident: $test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                if let Some(narrow) = super::Narrow::sqlite() {
                    $crate::size::in_time(super::$test(narrow)).await;
                }
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                if let Some(narrow) = super::Narrow::postgres() {
                    $crate::size::in_time(super::$test(narrow)).await;
                }
            })+
        }
    };
}

on_small_disks!(
    an_upload_that_finds_the_disk_full_leaves_nothing: uploads,
    a_job_that_finds_the_disk_full_is_done_when_there_is_room: jobs,
    a_read_that_cannot_be_audited_is_refused: reads,
);

/// On SQLite room is held back; PostgreSQL marks rows and needs next to none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erasure_is_possible_on_a_full_disk() {
    let Some(narrow) = Narrow::sqlite() else {
        return;
    };
    for reserve in [0, 4 << 20] {
        let launch = narrow.place.launch();
        let server = launch.with("VIZARD_ERASURE_RESERVE_BYTES", reserve).serve();
        let person = Ward::filled(&server, 8_000).await.at(&server);
        let path = person.dataset_path();
        narrow.disk.fill(0);
        let sent = person.send(Method::DELETE, &path, "text/csv", "").await;
        let answer = sent.expect("an answer");
        let text = String::from_utf8_lossy(&answer.body);
        // See it fail without the room.
        let expected = if reserve == 0 { 507 } else { 200 };
        assert_eq!(answer.status, expected, "{text}");
        narrow.disk.free();
        let found = person.send(Method::GET, &path, "text/csv", "").await;
        let expected = if reserve == 0 { 200 } else { 404 };
        assert_eq!(found.expect("an answer").status, expected);
        assert!(server.end_well());
    }
}

/// Where uploads wait for their last byte: one disk, whatever the store.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_without_room_for_its_temporary_files_leaves_nothing() {
    let Some(disk) = SmallDisk::mount(1) else {
        return;
    };
    let place = Place::sqlite();
    let server = place.launch().with("TMPDIR", disk.path().display()).serve();
    let ward = Ward::filled(&server, 60).await;
    let person = ward.at(&server);
    for left in LEFT_BYTES {
        disk.fill(left);
        assert!(finds_no_room(&person, RECORDS).await, "the disk is full");
        disk.free();
        let again = person.upload("replace", records(0, 60)).await;
        assert_eq!(again.expect("there is room")["total_records"], 60);
    }
}

/// Where tombstones are kept: one disk, whatever the store.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erasure_whose_tombstone_finds_no_room_is_taken_back() {
    for place in [Some(Place::sqlite()), Place::postgres()] {
        let (Some(place), Some(disk)) = (place, SmallDisk::mount(1)) else {
            continue;
        };
        let journal = disk.path().join("tombstones");
        let launch = place.launch().with("VIZARD_TOMBSTONES", journal.display());
        let server = launch.serve();
        let person = Ward::filled(&server, 60).await.at(&server);
        let path = person.dataset_path();
        let erase = async || {
            let sent = person.send(Method::DELETE, &path, "text/csv", "").await;
            sent.expect("an answer").status
        };
        let before = (shown(&person).await, audited(&person).await);
        disk.fill(0);
        assert_eq!(erase().await, 507);
        let after = (shown(&person).await, audited(&person).await);
        assert_eq!(after, before, "something of it is visible");
        disk.free();
        assert_eq!(erase().await, 200);
        let kept = std::fs::read_to_string(&journal).expect("the journal");
        assert_eq!(kept.lines().count(), 1, "{kept}");
    }
}
