//! How long a principal stands: streams that take minutes must end when what
//! opened them does not open anything any more.
//!
//! A request is checked when it begins; an event stream or a download goes on
//! for as long as its client likes. So both ask again while they run, once a
//! second at most. A store that does not answer says nothing about a key: the
//! stream goes on, and is asked about a second later.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::clock::Clock;
use crate::ids::KeyId;
use crate::store::{Store, StoreError};

/// Time between two looks at what a stream rests on.
pub(in crate::http) const STANDING_INTERVAL: Duration = Duration::from_secs(1);

/// Whether a key opens anything; a store that does not answer says nothing.
async fn is_live(store: &Store, id: KeyId) -> bool {
    match store.key_get(id).await {
        Ok(key) => key.is_live(),
        Err(StoreError::NotFound { .. }) => false,
        Err(_) => true,
    }
}

/// What a principal's access rests on.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Standing {
    /// What was shown.
    pub opener: Opener,
    /// SHA-256 of the session's secret, where it was shown to begin one: the access
    /// ends with either.
    pub session: Option<[u8; 32]>,
}

/// What was shown to be let in.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) enum Opener {
    /// The operator's own key: as long as the process runs.
    Operator,
    /// An API key, until it is revoked or expires.
    Key(KeyId),
    /// An issuer's token, until this time, the leeway included.
    Until(DateTime<Utc>),
}

impl From<Opener> for Standing {
    fn from(opener: Opener) -> Self {
        let session = None;
        Self { opener, session }
    }
}

impl Standing {
    /// Whether it holds now.
    pub async fn holds(self, store: &Store, clock: &dyn Clock) -> bool {
        let opens = match self.opener {
            Opener::Operator => true,
            Opener::Key(id) => is_live(store, id).await,
            Opener::Until(end) => clock.now() < end,
        };
        match self.session {
            Some(hash) => opens && !matches!(store.session_find(hash).await, Ok(None)),
            None => opens,
        }
    }

    /// Waits until it holds no more.
    pub async fn ended(self, store: Arc<Store>, clock: Arc<dyn Clock>) {
        loop {
            tokio::time::sleep(STANDING_INTERVAL).await;
            if !self.holds(&store, clock.as_ref()).await {
                return;
            }
        }
    }
}
