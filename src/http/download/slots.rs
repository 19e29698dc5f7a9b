//! How many downloads there may be at once.
//!
//! A download that its client does not take costs little, but not nothing; so
//! there are only so many, of one key and in all. One that is made costs more:
//! few are made at the same time, and the others wait for their turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::config::{Limit, Limits};
use crate::http::problem::{Problem, ProblemKind};

/// Downloads that hold a stored piece, or what is made of it.
const TURNS: usize = 16;
/// After so long a client that was refused may try again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The downloads of this process.
pub struct Downloads {
    open: Mutex<Open>,
    most: Limit,
    most_of_key: Limit,
    /// One permit for each download that is made.
    pub(super) turns: Arc<Semaphore>,
    /// One permit for each that is turned into another format: such a piece
    /// is in memory several times over.
    pub(super) transcoding: Arc<Semaphore>,
}

#[derive(Default)]
struct Open {
    all: u64,
    of_key: HashMap<String, u64>,
}

impl Downloads {
    /// No downloads yet.
    pub fn new(limits: &Limits) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            open: Mutex::default(),
            most: limits.downloads_max(),
            most_of_key: limits.downloads_of_key_max(),
            turns: Arc::new(Semaphore::new(TURNS)),
            transcoding: Arc::new(Semaphore::new(processors.min(TURNS))),
        }
    }

    /// Begins a download of a principal, which counts `weight` until the slot
    /// is dropped.
    ///
    /// # Errors
    /// 429 while there are as many as there may be.
    pub fn begin(self: &Arc<Self>, principal: &str, weight: u64) -> Result<Slot, Problem> {
        let mut open = self.open();
        let of_key = open.of_key.get(principal).copied().unwrap_or_default();
        for (count, most) in [(of_key, self.most_of_key), (open.all, self.most)] {
            if count > 0 && count + weight > most.value {
                let detail = format!("more than {most} at once; wait until others have ended");
                let problem = Problem::new(ProblemKind::TooManyRequests, detail);
                return Err(problem.with_retry_after(RETRY_AFTER));
            }
        }
        open.all += weight;
        *open.of_key.entry(principal.to_owned()).or_default() += weight;
        drop(open);
        Ok(Slot {
            downloads: Arc::clone(self),
            principal: principal.to_owned(),
            weight,
        })
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among the downloads.
#[must_use = "a slot is given back when it is dropped"]
pub struct Slot {
    downloads: Arc<Downloads>,
    principal: String,
    weight: u64,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.downloads.open();
        open.all -= self.weight;
        if let Some(count) = open.of_key.get_mut(&self.principal) {
            *count -= self.weight;
            if *count == 0 {
                open.of_key.remove(&self.principal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_and_all_keys_have_so_many_downloads() {
        let downloads = Arc::new(Downloads::new(&Limits {
            downloads_max: 3,
            downloads_of_key_max: 2,
            ..Limits::default()
        }));
        let one = downloads.begin("a", 1).expect("one");
        let _two = downloads.begin("a", 1).expect("two");
        let Err(refused) = downloads.begin("a", 1) else {
            panic!("more than of one key");
        };
        assert_eq!(refused.kind(), ProblemKind::TooManyRequests);
        let _three = downloads.begin("b", 1).expect("three");
        assert!(downloads.begin("c", 1).is_err());
        drop(one);
        // A heavy one begins where nothing else is open, however few there may be.
        assert!(downloads.begin("c", 8).is_err());
        assert!(downloads.begin("c", 1).is_ok());
    }
}
