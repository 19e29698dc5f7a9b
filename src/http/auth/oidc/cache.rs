//! The key set as it is known now, and the one task that fetches it.
//!
//! Only the task fetches, so there is one fetch at a time however many
//! requests want one, and a request that goes away interrupts none. Requests
//! read what is known; one whose key is not known asks the task to look again,
//! which it does at most once a minute for all of them together (a file is
//! looked at once a second), and waits for that answer. Requests whose key is
//! known never wait. What cannot be fetched leaves the known keys as they are.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::{Algorithm, DecodingKey};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::key_set::KeySet;
use super::source::{Source, SourceError};
use crate::clock::Clock;

/// How long requests together wait before they may ask a server again.
const ASK_INTERVAL: TimeDelta = TimeDelta::minutes(1);
/// The same for a file.
const ASK_INTERVAL_FILE: TimeDelta = TimeDelta::seconds(1);
/// How often a file is read again.
const FILE_INTERVAL: Duration = Duration::from_secs(10);
/// When the task tries again by itself after a failure.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);
/// The shortest time between two fetches by the clock alone.
const REFRESH_MIN: Duration = Duration::from_secs(1);
/// How long a request waits for a fetch: two answers and some.
const WAIT_MAX: Duration = Duration::from_secs(12);

/// The key is not known, and nobody can be asked for it right now.
#[derive(Debug)]
pub(super) struct Unreachable;

/// What is known.
struct Known {
    keys: Arc<KeySet>,
    /// When the source was last asked; `None`: never.
    asked_at: Option<DateTime<Utc>>,
    /// Whether it answered with a key set then.
    answered: bool,
}

impl Known {
    /// Whether a request may have the source asked again. A clock that was set
    /// back does not keep it from asking.
    fn may_ask(&self, now: DateTime<Utc>, interval: TimeDelta) -> bool {
        self.asked_at
            .is_none_or(|at| now - at >= interval || at > now)
    }
}

/// The known keys of an issuer.
pub(super) struct KeyCache {
    known: watch::Receiver<Known>,
    wanted: Arc<Notify>,
    clock: Arc<dyn Clock>,
    ask_interval: TimeDelta,
}

impl KeyCache {
    /// Fetches the key set a first time and keeps it fresh until `shutdown`.
    ///
    /// A file that cannot be read is an error now; a server may come later.
    pub async fn start(
        source: Source,
        clock: Arc<dyn Clock>,
        refresh: Duration,
        shutdown: CancellationToken,
    ) -> Result<Self, SourceError> {
        let is_file = source.is_file();
        let refresh = refresh.max(REFRESH_MIN);
        let (sender, known) = watch::channel(Known {
            keys: Arc::default(),
            asked_at: None,
            answered: false,
        });
        let wanted = Arc::new(Notify::new());
        let ask_interval = if is_file {
            ASK_INTERVAL_FILE
        } else {
            ASK_INTERVAL
        };
        let keeper = Keeper {
            source,
            known: sender,
            wanted: Arc::clone(&wanted),
            clock: Arc::clone(&clock),
            ask_interval,
            refresh: if is_file {
                refresh.min(FILE_INTERVAL)
            } else {
                refresh
            },
        };
        match keeper.fetch().await {
            Err(error) if is_file => return Err(error),
            _ => {}
        }
        tokio::spawn(keeper.keep(shutdown));
        Ok(Self {
            known,
            wanted,
            clock,
            ask_interval,
        })
    }

    /// The key that a token's header names; `None`: the issuer has no such key.
    pub async fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Option<DecodingKey>, Unreachable> {
        let mut known = self.known.clone();
        {
            let now = known.borrow_and_update();
            if let Some(key) = now.keys.find(id, algorithm) {
                return Ok(Some(key.clone()));
            }
            if !now.may_ask(self.clock.now(), self.ask_interval) {
                return if now.answered {
                    Ok(None)
                } else {
                    Err(Unreachable)
                };
            }
        }
        self.wanted.notify_one();
        let changed = tokio::time::timeout(WAIT_MAX, known.changed()).await;
        if !matches!(changed, Ok(Ok(()))) {
            return Err(Unreachable);
        }
        let now = known.borrow();
        match now.keys.find(id, algorithm) {
            Some(key) => Ok(Some(key.clone())),
            None if now.answered => Ok(None),
            None => Err(Unreachable),
        }
    }
}

/// The task that fetches.
struct Keeper {
    source: Source,
    known: watch::Sender<Known>,
    wanted: Arc<Notify>,
    clock: Arc<dyn Clock>,
    ask_interval: TimeDelta,
    refresh: Duration,
}

impl Keeper {
    async fn keep(self, shutdown: CancellationToken) {
        loop {
            let pause = if self.known.borrow().answered {
                self.refresh
            } else {
                self.refresh.min(RETRY_INTERVAL)
            };
            let due = tokio::time::Instant::now() + pause;
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep_until(due) => {}
                () = self.wish() => {}
            }
            // What it was is in the log.
            let _ = self.fetch().await;
        }
    }

    /// Ends when a request wants the source to be asked and it may be.
    async fn wish(&self) {
        loop {
            self.wanted.notified().await;
            let known = self.known.borrow();
            if known.may_ask(self.clock.now(), self.ask_interval) {
                return;
            }
        }
    }

    /// Asks the source once; a failure leaves the known keys as they are.
    async fn fetch(&self) -> Result<(), SourceError> {
        let asked_at = self.clock.now();
        let fetched = match self.source.fetch().await {
            Ok(text) => KeySet::read(&text).map_err(SourceError::from),
            Err(error) => Err(error),
        };
        let is_news = {
            let known = self.known.borrow();
            known.asked_at.is_none() || known.answered != fetched.is_ok()
        };
        match &fetched {
            Ok(keys) if is_news => tracing::info!(keys = keys.len(), "the key set is known"),
            Err(error) if is_news => {
                tracing::warn!(%error, "the key set cannot be fetched; known keys go on");
            }
            Err(error) => tracing::debug!(%error, "the key set cannot be fetched"),
            Ok(_) => {}
        }
        let (keys, ended) = match fetched {
            Ok(keys) => (Some(Arc::new(keys)), Ok(())),
            Err(error) => (None, Err(error)),
        };
        self.known.send_modify(|known| {
            known.asked_at = Some(asked_at);
            known.answered = keys.is_some();
            if let Some(keys) = keys {
                known.keys = keys;
            }
        });
        ended
    }
}
