//! Everything that survives a restart.
//!
//! `Store` is one trait made of an area each file: its rows and its
//! operations. Two implementations keep the same tables with the same
//! meaning: `postgres` (any number of processes) and `sqlite` (one process,
//! zero set-up); one conformance suite runs on both.
//!
//! The store knows nothing of tables about people: schemas, specifications,
//! preferences and manifests are JSON values, chunks and pieces are bytes.
//! What must be true together is written in one transaction; a dropped
//! request neither tears nor blocks it, because write transactions run in a
//! task of their own. Times are UTC in whole microseconds.

use std::future::Future;
use std::pin::Pin;

mod act;
pub mod affected;
mod anchor;
pub mod approvals;
pub mod audit;
mod chain;
pub mod datasets;
mod durable;
pub mod error;
pub mod hierarchies;
pub mod idempotency;
pub mod jobs;
mod journal;
pub mod keys;
pub mod ledger;
mod open;
mod operations;
mod postgres;
mod precondition;
pub mod preferences;
pub mod releases;
pub mod retention;
pub mod rows;
mod seal;
pub mod sealing;
mod session;
mod sqlite;
mod statements;
pub mod subject_tokens;
pub mod subjects;
pub mod tombstones;
pub mod versions;

pub use act::Act;
pub use affected::{Affected, AffectedRelease, AffectedReleases, Unlooked};
pub use anchor::{AnchorError, AnchorFile, NoAnchor};
pub use approvals::{Approval, FloorCheck, OperatorRules, PublishRules, publish_questions};
pub use audit::{
    Audit, AuditAnchor, AuditBreak, AuditFilter, AuditPage, AuditRow, AuditVerdict, Refused,
};
pub use datasets::{DatasetRow, Datasets, Erasure, NewDataset};
pub use error::{Conflict, DriverError, StoreError};
pub use hierarchies::{
    Hierarchies, HierarchyHead, HierarchyPage, HierarchyPut, HierarchyRow, HierarchyScope,
    NewHierarchy,
};
pub use idempotency::{Idempotency, KeptAnswer, KeyedRequest, Reservation, Reserve};
pub use jobs::{
    ATTEMPTS_MAX, AcquiredJob, FIGURES_TOLD_MAX, Heartbeat, JobFilter, JobProblem, JobRow,
    JobSecrets, JobState, Jobs, LeaseToken, NewJob, Swept,
};
pub use keys::{KeyRow, Keys, NewKey};
pub use ledger::{Ledger, LedgerReads, LedgerRow, LedgerStep, ReleaseRead};
pub use open::{Found, StoreOptions, inspect, open, open_host};
pub use precondition::{Precondition, Tags};
pub use preferences::{
    PreferenceChange, PreferencePage, PreferenceRow, PreferenceSource, Preferences,
};
pub use releases::{
    Composed, NewPiece, NewReleaseTable, PublishCheck, PublishDecision, PublishOutcome,
    PublishRequest, ReleaseCommit, ReleaseDocument, ReleaseFilter, ReleaseRow, ReleaseState,
    ReleaseTableRow, Releases, public_series,
};
pub use retention::{Purge, RAW_RETENTION_DAYS_MAX, Retention};
pub use rows::{PAGE_LIMIT_MAX, Page, PageRequest, PoolFigures};
pub use seal::{MasterKeyError, MasterKeys};
pub use sealing::{DataKeyCounts, Sealing};
pub use subject_tokens::{NewSubjectTokens, SubjectTokenRow, SubjectTokens};
pub use subjects::{
    HeldTerms, HeldToken, Rewritten, SubjectErased, SubjectErasure, SubjectHeld, Subjects,
};
pub use tombstones::{Buried, ErasureState, Reapplied, Remains, Tombstone, Tombstones};
pub use versions::{
    ChunkRow, ChunkSource, NewChunk, NewSchema, NewVersion, VersionMode, VersionRow, Versions,
};

/// The answer of a store operation, on its way.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The store: shared as `Arc<dyn Store>`.
///
/// The operations of all areas can be called on `dyn Store` without importing
/// their traits.
pub trait Store:
    Keys
    + Datasets
    + Versions
    + Hierarchies
    + Preferences
    + SubjectTokens
    + Subjects
    + Jobs
    + Releases
    + AffectedReleases
    + Ledger
    + Audit
    + Sealing
    + Retention
    + Tombstones
    + Idempotency
    + Send
    + Sync
    + 'static
{
    /// Answers if the database does.
    fn ping(&self) -> StoreFuture<'_, ()>;

    /// How busy the connections are.
    fn pool_figures(&self) -> PoolFigures;

    /// Number of the latest migration that this database has.
    fn schema_version(&self) -> StoreFuture<'_, u64>;

    /// Prepares every statement that the store ever runs, without running any;
    /// answers their number. An error means that the tables are not ours.
    fn statements_check(&self) -> StoreFuture<'_, usize>;

    /// Closes all connections, after their present work.
    fn close(&self) -> StoreFuture<'_, ()>;
}
