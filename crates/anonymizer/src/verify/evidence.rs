//! What the verifier is given: the published tables as anyone would decode
//! them, what they claim, and the private originals to hold them against.
//!
//! Nothing of an engine's in-memory state is here. The tables come from the
//! bytes that were stored, the requirements from policy and preferences, and
//! the lineage says which subject each published row is about. Any of them
//! may be garbage except the table and its requirements, which are valid by
//! construction.

use crate::microdata::Table;
use crate::privacy::{CancelFlag, Parts, Requirements, Seed};
use crate::release::{AcceptedExact, InputDescription, Lineage, Manifest, PublishedTable};

use super::whole::OfWhole;

/// What a job ordered, from wherever the job is kept; never from the manifest,
/// which is held against it.
#[derive(Clone, Copy, Debug)]
pub struct Ordered<'a> {
    /// Name of the engine.
    pub engine: &'a str,
    /// The engine's parameters, defaults filled in.
    pub parameters: &'a serde_json::Value,
    /// What the release was made from.
    pub input: &'a InputDescription,
    /// Records that the missing-value policy left out at upload.
    pub suppressed: u64,
    /// Whether somebody chose the seed.
    pub reproducible_seed: bool,
    /// Attributes that the job publishes although they may identify people.
    pub accept_exact: &'a [AcceptedExact],
    /// How large the parts are that it publishes the table in.
    pub parts: Option<Parts>,
}

/// Everything one verification looks at.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The dataset version that was published.
    pub table: &'a Table,
    /// What every record of it asks for; of the same table.
    pub requirements: &'a Requirements,
    /// What the job ordered.
    pub ordered: Ordered<'a>,
    /// What the release claims.
    pub manifest: &'a Manifest,
    /// The published tables, decoded from their bytes.
    pub tables: &'a [PublishedTable],
    /// The subject of each published row; private.
    pub lineage: &'a Lineage,
    /// What decided values that are drawn of rows, and ties of numbers; private.
    pub seed: &'a Seed,
    /// What decided who stands together, as in every release of the dataset; private.
    pub dataset_secret: &'a Seed,
    /// Heeded by all that takes long.
    pub cancel: &'a CancelFlag,
    /// How many rows are looked at together.
    pub at_once: AtOnce<'a>,
}

/// How many rows are looked at together: a release with more is looked at portion by
/// portion where its model allows, and its checks are made one after the other, so
/// that memory is that of a portion.
#[derive(Clone, Copy, Debug)]
pub struct AtOnce<'a> {
    pub(super) rows: usize,
    /// Of a portion, what it is held against.
    pub(super) whole: Option<&'a OfWhole>,
}

impl AtOnce<'_> {
    /// So many where nothing else is said.
    pub const ROWS: usize = 1 << 22;

    /// So many rows at most, unless those that stand together are more.
    pub fn rows(rows: usize) -> Self {
        Self { rows, whole: None }
    }
}

impl Default for AtOnce<'_> {
    fn default() -> Self {
        Self::rows(Self::ROWS)
    }
}

impl<'a> Evidence<'a> {
    /// What two sets of checks find, side by side where there is memory for both.
    pub(super) fn join<A: Send, B: Send>(
        &self,
        one: impl FnOnce() -> A + Send,
        other: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        if self.table.records() > self.at_once.rows {
            let one = one();
            self.cancel.heed();
            (one, other())
        } else {
            rayon::join(one, other)
        }
    }

    /// The published table called `name`; the first, should two be.
    pub(super) fn published(&self, name: &str) -> Option<&'a PublishedTable> {
        self.tables.iter().find(|table| table.name == name)
    }
}
