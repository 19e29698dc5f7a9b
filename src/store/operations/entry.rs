//! Entries: what an operation has to say for the audit log.
//!
//! The body of a write answers `Done`: its answer, and an entry for each
//! change of state that it made. `Store::write` appends them to the log in
//! the same transaction, and takes everything back if rows were changed and
//! nothing is said about it. So an operation can neither forget its entry nor
//! be told from outside what to write into it.

use serde_json::{Value, json};

use crate::ids::{
    DatasetId, ExplorationId, JobId, KeyId, ReidentificationId, ReleaseId, WebhookId,
};
use crate::store::Buried;

/// One row of the log, but for its place in the chain.
pub(super) struct Entry {
    /// The operation's word: `create_dataset`, `complete_job`, …
    pub(super) action: &'static str,
    pub(super) object_kind: &'static str,
    pub(super) object: Option<String>,
    pub(super) dataset: Option<DatasetId>,
    pub(super) detail: Value,
}

impl Entry {
    fn new(action: &'static str, object_kind: &'static str, object: Option<String>) -> Self {
        Self {
            action,
            object_kind,
            object,
            dataset: None,
            detail: json!({}),
        }
    }

    /// About a dataset.
    pub(super) fn dataset(action: &'static str, id: DatasetId) -> Self {
        Self::new(action, "dataset", Some(id.to_string())).within(id)
    }

    /// About terms of a dataset's subjects, who are not named.
    pub(super) fn preferences(action: &'static str, dataset: DatasetId) -> Self {
        Self::new(action, "preferences", None).within(dataset)
    }

    /// About a key.
    pub(super) fn key(action: &'static str, id: KeyId) -> Self {
        Self::new(action, "key", Some(id.to_string()))
    }

    /// About a session of a browser, which has no name.
    pub(super) fn session(action: &'static str) -> Self {
        Self::new(action, "session", None)
    }

    /// About a webhook.
    pub(super) fn webhook(action: &'static str, id: WebhookId) -> Self {
        Self::new(action, "webhook", Some(id.to_string()))
    }

    /// About all wrapped data keys.
    pub(super) fn data_keys(action: &'static str) -> Self {
        Self::new(action, "data_keys", None)
    }

    /// About what a tombstone stands for, there or not.
    pub(super) fn tombstone(action: &'static str, what: Buried) -> Self {
        match what {
            Buried::Dataset(id) | Buried::Records(id) => Self::dataset(action, id),
            Buried::Release(id) => Self::new(action, "release", Some(id.to_string())),
        }
    }

    /// About a hierarchy.
    pub(super) fn hierarchy(action: &'static str, name: &str) -> Self {
        Self::new(action, "hierarchy", Some(name.to_owned()))
    }

    /// About an operation that nobody was let through to.
    pub(super) fn refused(operation: &'static str) -> Self {
        Self::new("refuse", "operation", Some(operation.to_owned()))
    }

    /// About a job of a dataset.
    pub(super) fn job(action: &'static str, id: JobId, dataset: DatasetId) -> Self {
        Self::new(action, "job", Some(id.to_string())).within(dataset)
    }

    /// About an exploration of a dataset.
    pub(super) fn exploration(action: &'static str, id: ExplorationId, dataset: DatasetId) -> Self {
        Self::new(action, "exploration", Some(id.to_string())).within(dataset)
    }

    /// About who stands behind a row of a dataset's release.
    pub(super) fn reidentification(
        action: &'static str,
        id: ReidentificationId,
        dataset: DatasetId,
    ) -> Self {
        Self::new(action, "reidentification", Some(id.to_string())).within(dataset)
    }

    /// About a release of a dataset.
    pub(super) fn release(action: &'static str, id: ReleaseId, dataset: DatasetId) -> Self {
        Self::new(action, "release", Some(id.to_string())).within(dataset)
    }

    pub(super) fn within(mut self, dataset: DatasetId) -> Self {
        self.dataset = Some(dataset);
        self
    }

    /// With counts, versions and digests; never a subject, never a cell.
    pub(super) fn telling(mut self, detail: Value) -> Self {
        self.detail = detail;
        self
    }
}

/// The answer of a write, and what it did.
pub(super) struct Done<T> {
    pub(super) answer: T,
    pub(super) entries: Vec<Entry>,
}

impl<T> Done<T> {
    /// One change of state.
    pub(super) fn one(answer: T, entry: Entry) -> Self {
        Self::many(answer, vec![entry])
    }

    /// Any number of changes.
    pub(super) fn many(answer: T, entries: Vec<Entry>) -> Self {
        Self { answer, entries }
    }

    /// No row was changed.
    pub(super) fn unchanged(answer: T) -> Self {
        Self::many(answer, Vec::new())
    }

    /// The same changes with another answer.
    pub(super) fn answering<U>(self, answer: U) -> Done<U> {
        Done::many(answer, self.entries)
    }
}
