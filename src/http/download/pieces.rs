//! The pieces of a table, of which the next is fetched while one is made use of.

use std::io;
use std::sync::Arc;

use tokio_util::task::AbortOnDropHandle;
use vizard_anonymizer::release::Packed;

use super::Download;

/// Pieces as they are stored, in order.
pub(super) struct Pieces {
    download: Download,
    /// The next piece.
    ahead: Option<AbortOnDropHandle<io::Result<Packed>>>,
    /// Pieces that were begun to be fetched.
    begun: u32,
}

impl Pieces {
    pub(super) fn new(download: Download) -> Self {
        Self {
            download,
            ahead: None,
            begun: 0,
        }
    }

    /// The next piece; `None` behind the last one.
    pub(super) async fn next(&mut self) -> io::Result<Option<Packed>> {
        let Some(fetching) = self.ahead.take().or_else(|| self.fetch()) else {
            return Ok(None);
        };
        let fetched = fetching.await.map_err(io::Error::other)??;
        self.ahead = self.fetch();
        Ok(Some(fetched))
    }

    /// Forgets the piece that was fetched ahead.
    pub(super) fn forget_ahead(&mut self) {
        if self.ahead.take().is_some() {
            self.begun -= 1;
        }
    }

    /// Fetches the piece that was given last once more, of which `taken` bytes
    /// were taken.
    pub(super) async fn again(&mut self, taken: usize) -> io::Result<Packed> {
        self.forget_ahead();
        self.begun -= 1;
        let fetching = self.fetch();
        let fetching = fetching.ok_or_else(|| io::Error::other("no piece was given"))?;
        let fetched = fetching.await.map_err(io::Error::other)??;
        Ok(fetched.without(taken))
    }

    /// Begins to fetch the next piece, if there is one.
    fn fetch(&mut self) -> Option<AbortOnDropHandle<io::Result<Packed>>> {
        let Download { state, table, .. } = &self.download;
        let position = self.begun;
        if position == table.pieces {
            return None;
        }
        self.begun += 1;
        let (store, release, name) = (Arc::clone(&state.store), table.release, table.name.clone());
        let fetching = async move {
            let stored = store.table_piece(release, name, position).await;
            stored.map(Packed::new).map_err(io::Error::other)
        };
        let fetching = tracing::Instrument::in_current_span(fetching);
        Some(AbortOnDropHandle::new(tokio::spawn(fetching)))
    }
}
