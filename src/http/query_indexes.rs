//! Decoded releases for queries: a few are kept in memory, so that a query need
//! not read its release again.
//!
//! Only published releases are kept, and none longer than they are asked about:
//! whoever asks is let in by the store's word on the release and on the caller
//! each time, before anything that is kept is looked at. What all of them take
//! is bounded; the one that was asked about longest ago goes first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OnceCell, Semaphore};
use vizard_anonymizer::query::QueryIndex;

use super::problem::Problem;
use super::shares::Shares;
use crate::config::Limits;
use crate::ids::ReleaseId;

/// Releases that are read at the same time.
const READ_AT_ONCE: usize = 2;

/// A release made ready for queries.
pub type Index = Arc<QueryIndex<'static>>;

/// What queries share.
pub struct Queries {
    /// Queries that are answered.
    pub shares: Arc<Shares>,
    /// Releases that are kept for them.
    pub indexes: QueryIndexes,
    /// Turns to read a release: a large one takes memory while it is read.
    pub reading: Semaphore,
}

impl Queries {
    /// Nothing is answered, and nothing kept.
    pub fn new(limits: &Limits) -> Self {
        Self {
            shares: Arc::new(Shares::new(
                limits.queries_max(),
                limits.queries_of_key_max(),
            )),
            indexes: QueryIndexes::new(limits.query_index_bytes_max),
            reading: Semaphore::new(READ_AT_ONCE),
        }
    }
}

/// Indexes that are kept.
pub struct QueryIndexes {
    kept: Mutex<Kept>,
    bytes_max: u64,
}

#[derive(Default)]
struct Kept {
    entries: BTreeMap<ReleaseId, Entry>,
    asked: u64,
}

struct Entry {
    /// Filled by the first who asks; others wait for it.
    index: Arc<OnceCell<Index>>,
    /// Memory that it takes; 0 until it is made.
    bytes: u64,
    /// Number of the request that asked last.
    last: u64,
}

impl QueryIndexes {
    /// None yet; they may take so many bytes.
    pub fn new(bytes_max: u64) -> Self {
        Self {
            kept: Mutex::default(),
            bytes_max,
        }
    }

    /// The index of a published release, made by `make` unless it is kept.
    pub async fn get(
        &self,
        id: ReleaseId,
        make: impl Future<Output = Result<Index, Problem>>,
    ) -> Result<Index, Problem> {
        let cell = self.cell(id);
        let made = cell.get_or_try_init(|| make).await.cloned();
        match &made {
            Ok(index) => self.settle(id, &cell, index.bytes()),
            Err(_) => self.forget(id),
        }
        made
    }

    /// Lets go of a release that is public no more.
    pub fn forget(&self, id: ReleaseId) {
        self.kept().entries.remove(&id);
    }

    fn cell(&self, id: ReleaseId) -> Arc<OnceCell<Index>> {
        let mut kept = self.kept();
        kept.asked += 1;
        let last = kept.asked;
        let entry = kept.entries.entry(id).or_insert_with(|| Entry {
            index: Arc::default(),
            bytes: 0,
            last,
        });
        entry.last = last;
        Arc::clone(&entry.index)
    }

    /// Notes what an index takes, and makes room.
    fn settle(&self, id: ReleaseId, cell: &Arc<OnceCell<Index>>, bytes: u64) {
        let mut kept = self.kept();
        if let Some(entry) = kept.entries.get_mut(&id)
            && Arc::ptr_eq(&entry.index, cell)
        {
            entry.bytes = bytes;
        }
        let taken = |kept: &Kept| kept.entries.values().map(|entry| entry.bytes).sum::<u64>();
        while taken(&kept) > self.bytes_max {
            let made = kept.entries.iter().filter(|(_, entry)| entry.bytes > 0);
            let Some((&oldest, _)) = made.min_by_key(|(_, entry)| entry.last) else {
                return;
            };
            kept.entries.remove(&oldest);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use vizard_anonymizer::query::Hierarchies;
    use vizard_anonymizer::release::{Cells, Content, PublishedColumn, PublishedTable};

    use super::*;

    fn index() -> Index {
        let group = PublishedColumn {
            name: "group".into(),
            content: Content::Group,
            kind: None,
            cells: Cells::Numbers(vec![1; 100]),
        };
        let tables = [PublishedTable {
            name: "microdata".into(),
            columns: vec![group],
        }];
        let index = QueryIndex::new(&tables, &Hierarchies::new()).unwrap();
        Arc::new(index.into_owned())
    }

    #[tokio::test]
    async fn those_asked_about_longest_ago_go_when_there_is_no_room() {
        let one = index().bytes();
        let indexes = QueryIndexes::new(2 * one);
        let made = AtomicU32::new(0);
        let ids: Vec<ReleaseId> = (0..3).map(|_| ReleaseId::generate()).collect();
        let ask = async |at: usize| {
            let make = async {
                made.fetch_add(1, Ordering::Relaxed);
                Ok(index())
            };
            indexes.get(ids[at], make).await.unwrap();
            made.load(Ordering::Relaxed)
        };
        assert_eq!([ask(0).await, ask(1).await, ask(0).await], [1, 2, 2]);
        // The third takes the place of the second.
        assert_eq!([ask(2).await, ask(0).await, ask(1).await], [3, 3, 4]);
        indexes.forget(ids[1]);
        assert_eq!(ask(1).await, 5);
    }

    #[tokio::test]
    async fn what_failed_is_made_again() {
        let indexes = QueryIndexes::new(u64::MAX);
        let id = ReleaseId::generate();
        let failed = indexes.get(id, async { Err(Problem::internal()) }).await;
        assert!(failed.is_err());
        assert!(indexes.get(id, async { Ok(index()) }).await.is_ok());
    }
}
