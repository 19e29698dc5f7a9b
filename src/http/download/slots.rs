//! How many downloads there may be at once.
//!
//! A download that its client does not take costs little, but not nothing; so
//! there are only so many, of one key and in all. One that is made costs more:
//! few are made at the same time, and the others wait for their turn.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::config::Limits;
use crate::http::problem::Problem;
use crate::http::shares::{Share, Shares};

/// Downloads that hold a stored piece, or what is made of it.
const TURNS: usize = 16;

/// The downloads of this process.
pub struct Downloads {
    open: Arc<Shares>,
    /// One permit for each download that is made.
    pub(super) turns: Arc<Semaphore>,
    /// One permit for each that is turned into another format: such a piece
    /// is in memory several times over.
    pub(super) transcoding: Arc<Semaphore>,
}

impl Downloads {
    /// No downloads yet.
    pub fn new(limits: &Limits) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let open = Shares::new(limits.downloads_max(), limits.downloads_of_key_max());
        Self {
            open: Arc::new(open),
            turns: Arc::new(Semaphore::new(TURNS)),
            transcoding: Arc::new(Semaphore::new(processors.min(TURNS))),
        }
    }

    /// Begins a download of a principal, which counts `weight` until its share
    /// is dropped.
    ///
    /// # Errors
    /// 429 while there are as many as there may be.
    pub fn begin(&self, principal: &str, weight: u64) -> Result<Share, Problem> {
        self.open.begin(principal, weight)
    }
}
