//! Population tables: among whom the people of a dataset could be.
//!
//! A dataset has at most one. It is no record of the dataset and none of its
//! history: another one takes its place, a purge of the records leaves it alone,
//! and it goes when somebody takes it away or the dataset is erased. Not to be
//! confused with a dataset's *population*, the datasets about the same people.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::ids::DatasetId;

/// A population table to be kept.
#[derive(Clone)]
pub struct NewPopulationTable {
    /// The dataset.
    pub dataset: DatasetId,
    /// Name and type of each attribute, as JSON.
    pub attributes: Value,
    /// All people.
    pub people: u64,
    /// Combinations that somebody has.
    pub combinations: u64,
    /// SHA-256 of the canonical text, in hexadecimal.
    pub sha256: String,
    /// The canonical text, packed.
    pub content: Vec<u8>,
    /// Who puts it.
    pub created_by: String,
}

impl std::fmt::Debug for NewPopulationTable {
    /// Says nothing of what stands in it.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("NewPopulationTable")
            .field("dataset", &self.dataset)
            .finish_non_exhaustive()
    }
}

/// What is known of a population table without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PopulationTableRow {
    /// The dataset.
    pub dataset: DatasetId,
    /// Name and type of each attribute, as JSON.
    pub attributes: Value,
    /// All people.
    pub people: u64,
    /// Combinations that somebody has.
    pub combinations: u64,
    /// SHA-256 of the canonical text, in hexadecimal.
    pub sha256: String,
    /// Who put it.
    pub created_by: String,
    /// When it was put.
    pub created_at: DateTime<Utc>,
}
