//! Everything that survives a restart.
//!
//! [`Store`] is one struct. Each area has a file here for its rows and one in
//! `operations` for its operations, which are written once over two backends:
//! `postgres` (any number of processes) and `sqlite` (one process, zero
//! set-up); one conformance suite runs on both.
//!
//! The store knows nothing of tables about people: schemas, specifications,
//! preferences and manifests are JSON values, chunks and pieces are bytes.
//! What must be true together is written in one transaction; a dropped
//! request neither tears nor blocks it, because write transactions run in a
//! task of their own. Times are UTC in whole microseconds.

mod act;
pub mod affected;
mod anchor;
pub mod approvals;
pub mod audit;
mod backend;
mod chain;
pub mod datasets;
mod durable;
pub mod error;
pub mod explorations;
pub mod hierarchies;
pub mod idempotency;
pub mod jobs;
mod journal;
pub mod keys;
pub mod ledger;
mod open;
mod operations;
pub mod population_tables;
mod postgres;
mod precondition;
pub mod preferences;
pub mod receipts;
pub mod reidentifications;
pub mod releases;
pub mod retention;
pub mod rows;
mod seal;
pub mod sealing;
mod session;
pub mod sessions;
mod sqlite;
mod statements;
pub mod subject_tokens;
pub mod subjects;
pub mod tombstones;
pub mod versions;
pub mod webhooks;

pub use act::Act;
pub use affected::{Affected, AffectedRelease, Unlooked};
pub use anchor::{AnchorError, AnchorFile, NoAnchor};
pub use approvals::{Approval, FloorCheck, OperatorRules, PublishRules, publish_questions};
pub use audit::{AuditAnchor, AuditBreak, AuditFilter, AuditPage, AuditRow, AuditVerdict, Refused};
pub use datasets::{DatasetRow, Erasure, NewDataset};
pub use error::{Conflict, DriverError, StoreError};
pub use explorations::{ExplorationRow, NewExploration, SettingRow};
pub use hierarchies::{
    HierarchyHead, HierarchyPage, HierarchyPut, HierarchyRow, HierarchyScope, NewHierarchy,
};
pub use idempotency::{KeptAnswer, KeyedRequest, Reservation, Reserve};
pub use jobs::{
    ATTEMPTS_MAX, AcquiredJob, FIGURES_TOLD_MAX, Heartbeat, JobFilter, JobProblem, JobRow,
    JobSecrets, JobState, LeaseToken, NewJob, Swept,
};
pub use keys::{KeyRow, NewKey};
pub use ledger::{LedgerReads, LedgerRow, LedgerStep, ReleaseRead};
pub use open::{Found, StoreOptions, inspect, open, open_host};
pub use operations::Store;
pub use population_tables::{NewPopulationTable, PopulationTableRow};
pub use precondition::{Precondition, Tags};
pub use preferences::{PreferenceChange, PreferencePage, PreferenceRow, PreferenceSource};
pub use receipts::{ReceiptOutcome, ReceiptRelease, ReceiptRow};
pub use reidentifications::{
    NewReidentification, REIDENTIFICATIONS_A_DAY_MAX, ReidentificationRow, ReidentificationState,
    ReidentificationTold,
};
pub use releases::{
    Composed, NewPiece, NewReleaseTable, PublishCheck, PublishDecision, PublishOutcome,
    PublishRequest, ReleaseCommit, ReleaseDocument, ReleaseFilter, ReleaseRow, ReleaseState,
    ReleaseTableRow,
};
pub use retention::{Purge, RAW_RETENTION_DAYS_MAX, Retention, SeriesMemory};
pub use rows::{PAGE_LIMIT_MAX, Page, PageRequest, PoolFigures};
pub use seal::{MasterKeyError, MasterKeys};
pub use sealing::DataKeyCounts;
pub use sessions::{SESSION_IDLE_MAX, SESSION_LIFETIME, SessionRow};
pub use subject_tokens::{NewSubjectTokens, SubjectTokenRow};
pub use subjects::{HeldTerms, HeldToken, Rewritten, SubjectErased, SubjectErasure, SubjectHeld};
pub use tombstones::{Buried, ErasureState, Reapplied, Remains, Tombstone};
pub use versions::{
    ChunkRow, ChunkSource, NewChunk, NewSchema, NewVersion, VersionMode, VersionRow,
};
pub use webhooks::{
    DrawnWebhook, LastAttempt, MESSAGE_ATTEMPTS_MAX, MESSAGES_WAITING_MAX, NewWebhook, Outcome,
    PING, Receiver, TakenMessage, WEBHOOKS_MAX, WEBHOOKS_OF_DATASET_MAX, WebhookEvent, WebhookRow,
    WebhookSecret,
};
