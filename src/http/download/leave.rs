//! Whether a download may go on: while it runs its key may be revoked or
//! expire, and its release may be withdrawn or erased.
//!
//! Asked between two parts, once a second at most: what a client does not take
//! costs nothing, and what it takes is never long behind.

use std::io;
use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::http::auth::{STANDING_INTERVAL, Standing};
use crate::http::state::AppState;
use crate::ids::ReleaseId;
use crate::store::{ReleaseState, StoreError};

/// The leave to send a table.
pub struct Leave {
    state: AppState,
    release: ReleaseId,
    standing: Standing,
    asked: Mutex<Instant>,
}

impl Leave {
    /// Leave that was just given.
    pub fn new(state: AppState, release: ReleaseId, standing: Standing) -> Self {
        Self {
            state,
            release,
            standing,
            asked: Mutex::new(Instant::now()),
        }
    }

    /// An error if the leave is over, which breaks the download off.
    pub async fn check(&self) -> io::Result<()> {
        if !self.is_due() {
            return Ok(());
        }
        if !self
            .standing
            .holds(&self.state.store, self.state.clock.as_ref())
            .await
        {
            return Err(self.over("its key is revoked or has expired"));
        }
        match self.state.store.release_get(self.release).await {
            Ok(release) if release.state == ReleaseState::Withdrawn => {
                Err(self.over("its release was withdrawn"))
            }
            Err(StoreError::NotFound { .. }) => Err(self.over("its release is gone")),
            // A store that does not answer says nothing.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn is_due(&self) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = asked.elapsed() >= STANDING_INTERVAL;
        if is_due {
            *asked = Instant::now();
        }
        is_due
    }

    fn over(&self, why: &'static str) -> io::Error {
        tracing::info!(release = %self.release, why, "a download was ended");
        io::Error::other(why)
    }
}
