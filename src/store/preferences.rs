//! Preferences, kept as a history.
//!
//! Every change, of one subject or of many, makes one new preference version
//! of the dataset. A document is in force from the version that brought it
//! until the version that replaced or removed it, so the terms at any version
//! can be read again: a job pins one, and publishing asks what changed since.
//! Subjects need not occur in the records.
//!
//! Terms belong to a population, which is what datasets with one `population`
//! are together: all of them have the same documents in force, each in a
//! history of its own.

use std::collections::BTreeSet;
use std::io;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::job::consent::TermsChange;

/// One subject's preference in force.
#[derive(Debug, Clone, PartialEq)]
pub struct PreferenceRow {
    /// The document.
    pub document: Value,
    /// The preference version that brought it.
    pub version: u64,
    /// When it was brought.
    pub created_at: DateTime<Utc>,
}

impl PreferenceRow {
    /// Its entity tag, without quotes.
    pub fn tag(&self) -> String {
        self.version.to_string()
    }
}

/// What a subject's terms were and are.
#[derive(Clone, PartialEq)]
pub struct PreferenceChange {
    /// The subject.
    pub subject: String,
    /// In force at the earlier version; `None`: none was.
    pub old: Option<Value>,
    /// In force now; `None`: none is.
    pub new: Option<Value>,
}

impl PreferenceChange {
    /// The same, as it is held against what a job promised.
    pub fn terms(&self) -> TermsChange<'_> {
        TermsChange {
            subject: &self.subject,
            old: self.old.as_ref(),
            new: self.new.as_ref(),
        }
    }
}

impl std::fmt::Debug for PreferenceChange {
    /// Says nothing of subject and terms: neither may reach a log.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PreferenceChange")
            .finish_non_exhaustive()
    }
}

/// One page of what subjects ask for, in no telling order.
#[derive(Clone, PartialEq)]
pub struct PreferencePage {
    /// Subjects, each with the preference in force.
    pub items: Vec<(String, PreferenceRow)>,
    /// What to give as `cursor` for the next page; `None`: this is the last.
    pub next: Option<Vec<u8>>,
}

impl std::fmt::Debug for PreferencePage {
    /// Says nothing of subjects and terms: neither may reach a log.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PreferencePage")
            .finish_non_exhaustive()
    }
}

/// Documents of many subjects, which need not be in memory together. They are
/// read once for every dataset of a population.
pub trait PreferenceSource: Send + Sync + 'static {
    /// How many subjects have a document.
    fn subjects(&self) -> usize;

    /// The documents of one batch, in order; `None` behind the last one. Of
    /// several for one subject the last one counts. May block.
    fn batch(&self, index: usize) -> io::Result<Option<Vec<(String, Value)>>>;
}

/// All in one batch.
impl PreferenceSource for Vec<(String, Value)> {
    fn subjects(&self) -> usize {
        let subjects: BTreeSet<&str> = self.iter().map(|(subject, _)| subject.as_str()).collect();
        subjects.len()
    }

    fn batch(&self, index: usize) -> io::Result<Option<Vec<(String, Value)>>> {
        Ok((index == 0).then(|| self.clone()))
    }
}
