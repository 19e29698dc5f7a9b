//! Workers: take jobs from the store, run them, commit what they made.
//!
//! `driver` acquires jobs while there is a free slot and drains on shutdown;
//! `lease` keeps a job's lease alive and carries progress and cancellation;
//! `pool` bridges to the CPU pool; `memory` admits jobs that fit; `load` reads
//! a dataset version; `step` is one job from lease to commit, `steps` its
//! times and spans, `commit` what is committed; `janitor` ends jobs that nobody
//! may acquire again, and records whose time is up; `affected` holds published
//! releases against terms that changed; `webhooks` tells those who asked to be
//! told. Workers meet the API in the
//! store only.

mod affected;
mod commit;
mod driver;
mod janitor;
mod lease;
mod load;
mod memory;
mod packed_room;
mod pool;
mod step;
mod steps;
mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use vizard_anonymizer::privacy::Floors;

use crate::config::{MEMORY_BYTES_MAX, SecondSteward, WebhookOrigins};
use crate::store::{Act, Store};

pub use driver::run;
pub use janitor::keep_house;

/// How long a lease lasts by default: ten heartbeats. So long the job of a worker
/// that died waits for another one.
pub const LEASE_DURATION: Duration = Duration::from_secs(5);

/// How a process works on jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Name under which leases are held, for people who look into the store.
    pub name: String,
    /// Jobs at one time.
    pub workers: usize,
    /// Threads of the CPU pool that all of them share.
    pub threads: usize,
    /// How long a lease lasts unless extended.
    pub lease_duration: Duration,
    /// How often a lease is extended and progress told.
    pub heartbeat_interval: Duration,
    /// How often the queue is looked at when nobody wakes us.
    pub poll_interval: Duration,
    /// How long running jobs may go on after a request to shut down.
    pub drain_timeout: Duration,
    /// Estimated memory of all jobs at one time, in bytes.
    pub memory_bytes_max: u64,
    /// Days that records stay where their dataset says nothing; `None`: for good.
    pub raw_retention_days: Option<u32>,
    /// How often it is looked for records whose time is up.
    pub retention_interval: Duration,
    /// What no release that publishes itself may be below, in any dataset.
    pub floors: Floors,
    /// Which publications need a second steward.
    pub second_steward: SecondSteward,
    /// How often it is looked for published releases whose people's terms moved.
    pub terms_interval: Duration,
    /// Where webhooks may be; none: this process tells nobody.
    pub webhook_origins: WebhookOrigins,
    /// Time from each failed attempt to tell a webhook to the next.
    pub webhook_retry_after: Vec<Duration>,
}

impl WorkerSettings {
    /// Leases of [`LEASE_DURATION`], one job at a time.
    pub fn new(name: String, threads: usize) -> Self {
        Self {
            name,
            workers: 1,
            threads,
            lease_duration: LEASE_DURATION,
            heartbeat_interval: Duration::from_millis(500),
            poll_interval: Duration::from_secs(2),
            drain_timeout: Duration::from_secs(30),
            memory_bytes_max: MEMORY_BYTES_MAX,
            raw_retention_days: None,
            retention_interval: Duration::from_secs(60),
            floors: Floors::of_service(),
            second_steward: SecondSteward::default(),
            terms_interval: Duration::from_secs(30),
            webhook_origins: WebhookOrigins::default(),
            webhook_retry_after: webhooks::RETRY_AFTER.to_vec(),
        }
    }
}

/// What the tasks of one process share.
struct Shared {
    store: Arc<Store>,
    settings: WorkerSettings,
    pool: pool::CpuPool,
    memory: memory::MemoryBudget,
}

impl Shared {
    /// What a worker of this process does.
    fn act<T>(&self) -> Act<T> {
        Act::by(self.settings.name.clone())
    }
}
