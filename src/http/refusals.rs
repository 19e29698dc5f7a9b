//! Requests that were refused, for the audit log: added up by actor, operation
//! and status, and written once a minute.
//!
//! A row for each would let anybody fill the log. A caller without an
//! accepted token is `nobody`; an address would be personal data.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tokio_util::sync::CancellationToken;

use crate::store::{Refused, Store};

/// Time over which refusals are added up.
const INTERVAL: Duration = Duration::from_secs(60);
/// Sums that are kept apart; beyond it actors are added up together.
const SUMS_MAX: usize = 10_000;
/// Stands for the actors beyond.
const OTHERS: &str = "others";

/// Refusals that are not in the log yet.
#[derive(Default)]
pub struct Refusals(Mutex<HashMap<(String, &'static str, u16), u64>>);

impl Refusals {
    /// Notes an answer to `actor`, if it is a refusal: 401, 403 or 429.
    pub fn note(&self, (actor, operation): (&str, &'static str), status: StatusCode) {
        if matches!(
            status,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS
        ) {
            self.add((actor, operation), status.as_u16(), 1);
        }
    }

    fn add(&self, (actor, operation): (&str, &'static str), status: u16, requests: u64) {
        let mut sums = self.sums();
        let key = (actor.to_owned(), operation, status);
        let key = if sums.len() < SUMS_MAX || sums.contains_key(&key) {
            key
        } else {
            (OTHERS.to_owned(), operation, status)
        };
        *sums.entry(key).or_default() += requests;
    }

    /// Writes what was added up into the log. What cannot be written now is
    /// kept for the next time.
    pub async fn write(&self, store: &Store) {
        let sums = std::mem::take(&mut *self.sums());
        if sums.is_empty() {
            return;
        }
        let refused = sums
            .into_iter()
            .map(|((actor, operation, status), requests)| Refused {
                actor,
                operation,
                status,
                requests,
            });
        let refused: Vec<Refused> = refused.collect();
        if let Err(error) = store.audit_refused(refused.clone()).await {
            tracing::warn!(%error, "refusals are not in the audit log yet");
            for one in refused {
                self.add((&one.actor, one.operation), one.status, one.requests);
            }
        }
    }

    fn sums(&self) -> MutexGuard<'_, HashMap<(String, &'static str, u16), u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes them once a minute until the service stops; the last ones are
/// written when its requests have ended.
pub async fn keep(refusals: Arc<Refusals>, store: Arc<Store>, shutdown: CancellationToken) {
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        refusals.write(&store).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_added_up_and_their_number_of_sums_is_bounded() {
        let refusals = Refusals::default();
        for _ in 0..3 {
            refusals.note(("key_1", "list_keys"), StatusCode::FORBIDDEN);
        }
        refusals.note(("key_1", "list_keys"), StatusCode::OK);
        refusals.note(("key_1", "list_keys"), StatusCode::NOT_FOUND);
        assert_eq!(refusals.sums().len(), 1);
        for actor in 0..2 * SUMS_MAX {
            let actor = format!("key_{actor}");
            refusals.note((&actor, "list_keys"), StatusCode::FORBIDDEN);
        }
        let sums = refusals.sums();
        assert_eq!(sums.len(), SUMS_MAX + 1);
        #[expect(clippy::disallowed_methods, reason = "a sum is the same in any order")]
        let all: u64 = sums.values().sum();
        assert_eq!(all, 3 + 2 * SUMS_MAX as u64);
        let others = (OTHERS.to_owned(), "list_keys", 403);
        assert_eq!(sums.get(&others), Some(&(SUMS_MAX as u64)));
    }
}
