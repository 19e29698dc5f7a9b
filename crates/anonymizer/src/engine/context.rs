//! What a run is handed beside its data: seed, progress, cancellation.
//!
//! Threads are those of the rayon pool that the caller runs the engine in;
//! their number never changes the result.

use std::io;

use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};

use super::error::EngineError;
use super::kernel::SplitPosition;
use crate::microdata::{AttributeIndex, Spill};
use crate::privacy::{CancelFlag, ProtectedIndex, Seed};

/// Receives what a run has done so far. Called from any thread, often; an
/// implementation only stores the figures.
pub trait Progress: Send + Sync {
    /// Step `step` of `steps` (from 1), what it is, and the share of it that
    /// is done, 0 to 1.
    fn report(&self, step: u32, steps: u32, label: &'static str, fraction: f64);
}

/// A progress that nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _step: u32, _steps: u32, _label: &'static str, _fraction: f64) {}
}

/// Gives room beside the memory.
pub trait Scratch: Sync {
    /// Empty room; another one each time.
    ///
    /// # Errors
    /// Where there is none.
    fn room(&self) -> io::Result<Box<dyn Spill + Send + Sync>>;
}

/// Room in memory, for tables that are small.
#[derive(Clone, Copy, Debug, Default)]
pub struct InMemory;

impl Scratch for InMemory {
    fn room(&self) -> io::Result<Box<dyn Spill + Send + Sync>> {
        Ok(Box::new(Vec::new()))
    }
}

/// One of the parts of a table, each of which is published by itself: where it
/// stands, and what is counted over the whole table.
#[derive(Clone, Copy)]
pub struct PartOfTable<'a> {
    /// Its place in the outline.
    pub place: SplitPosition,
    /// The whole table.
    pub whole: &'a WholeTable,
    /// The rank of each record among those of the whole table by its subject's
    /// place on the dataset's ring ([`companions`](mod@crate::engine::kernel::companions)),
    /// where keys of subjects are not there.
    pub ring: Option<&'a [u32]>,
}

/// What is counted over a whole table that is published in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeTable {
    /// How often each code of an attribute occurs, all records counted; by
    /// attribute, nothing for identifiers.
    pub all: Vec<Vec<u64>>,
    /// The same of the records that are published.
    pub published: Vec<Vec<u64>>,
    /// The same of those of them that protect the attribute, where its values stand
    /// in buckets that are held against all of them; by protectable attribute,
    /// nothing for others.
    pub protected: Vec<Vec<u64>>,
}

impl WholeTable {
    /// How often each code of an attribute occurs among all records.
    pub fn all(&self, attribute: AttributeIndex) -> &[u64] {
        &self.all[attribute.at()]
    }

    /// How often each code of an attribute occurs among those published that
    /// protect it.
    pub fn protected(&self, index: ProtectedIndex) -> &[u64] {
        &self.protected[index.at()]
    }

    /// How often each code of an attribute occurs among those published.
    pub fn published(&self, attribute: AttributeIndex) -> &[u64] {
        &self.published[attribute.at()]
    }
}

/// What a run is handed beside its data.
pub struct RunContext<'a> {
    /// Decides what is drawn of single rows, and numbers whose content is the same.
    pub seed: Seed,
    /// Decides who stands together, and who is left out: it must be the same in
    /// every release of the same people, since two different groupings of them
    /// tell more than each.
    pub dataset_secret: Seed,
    /// Receives progress.
    pub progress: &'a dyn Progress,
    /// Polled at every group boundary.
    pub cancel: CancelFlag,
    /// Which part of a table is published; none where it is the whole.
    pub part: Option<PartOfTable<'a>>,
    /// Room for what parts of a table gave, until all of them are there.
    pub scratch: &'a dyn Scratch,
}

impl<'a> RunContext<'a> {
    /// A context that nobody watches, with the seed of a number, which is the
    /// dataset's secret as well (tests and figures).
    pub fn silent(seed: u64) -> RunContext<'static> {
        RunContext {
            seed: Seed::of_number(seed),
            dataset_secret: Seed::of_number(seed),
            progress: &Silent,
            cancel: CancelFlag::default(),
            part: None,
            scratch: &InMemory,
        }
    }

    /// An error if somebody asked to stop.
    pub fn check(&self) -> Result<(), EngineError> {
        if self.cancel.is_cancelled() {
            Err(EngineError::Cancelled)
        } else {
            Ok(())
        }
    }

    /// The random stream of one place of the run that decides who stands
    /// together: `stage` tells stages apart, `index` the groups within. Streams of
    /// different places are independent, so the order in which threads reach them
    /// does not matter. It is the dataset's: a run on the same records makes the
    /// same groups. Parts of a table have streams of their own.
    pub fn stream(&self, stage: u32, index: u64) -> ChaCha12Rng {
        let index = match self.part {
            None => index,
            Some(part) => part.place.among(index),
        };
        self.dataset_secret.stream(stage, index)
    }

    /// The root of tree number `index` of a stage.
    pub fn root(&self, index: u64) -> SplitPosition {
        let root = SplitPosition::root(index);
        match self.part {
            None => root,
            Some(part) => part.place.grown(root),
        }
    }
}
