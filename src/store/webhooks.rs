//! Webhooks: who is told when something ended, and the messages to them.
//!
//! A message is written in the transaction of the change that it tells, and
//! sent later by a worker of any process that takes it: at least once, under
//! the same id each time. It holds ids and a state, nothing else: who wants
//! more asks the API. A webhook's secret is drawn here, shown when it is drawn,
//! and kept as other secrets are: wrapped by a master key, if one is given.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::ids::{DatasetId, MessageId, WebhookId};

/// Most webhooks of a store that are told of all datasets.
pub const WEBHOOKS_MAX: u64 = 100;

/// Most webhooks that are tied to one dataset, alone or among others.
pub const WEBHOOKS_OF_DATASET_MAX: u64 = 20;

/// Most messages that wait for one webhook: beyond that the oldest are given up.
pub const MESSAGES_WAITING_MAX: u64 = 10_000;

/// Attempts at a message before it is given up.
pub const MESSAGE_ATTEMPTS_MAX: u32 = 8;

/// How long the secret before signs too, in seconds.
pub const SECRET_BEFORE_S: i64 = 24 * 60 * 60;

/// The event of a message that somebody asked for.
pub const PING: &str = "ping";

/// What a webhook may be told.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema,
)]
pub enum WebhookEvent {
    /// A job has its release.
    #[serde(rename = "job.succeeded")]
    JobSucceeded,
    /// A job has a problem: also where no release with its parameters exists.
    #[serde(rename = "job.failed")]
    JobFailed,
    /// A job was stopped.
    #[serde(rename = "job.cancelled")]
    JobCancelled,
    /// Every setting of an exploration has ended.
    #[serde(rename = "exploration.ended")]
    ExplorationEnded,
    /// A release is public.
    #[serde(rename = "release.published")]
    ReleasePublished,
    /// A release that was public is so no more.
    #[serde(rename = "release.withdrawn")]
    ReleaseWithdrawn,
    /// Subjects of a public release have since asked for more than it gives.
    #[serde(rename = "release.affected")]
    ReleaseAffected,
}

impl WebhookEvent {
    /// All events.
    pub const ALL: [Self; 7] = [
        Self::JobSucceeded,
        Self::JobFailed,
        Self::JobCancelled,
        Self::ExplorationEnded,
        Self::ReleasePublished,
        Self::ReleaseWithdrawn,
        Self::ReleaseAffected,
    ];

    /// Its word in the API, the database and a message.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JobSucceeded => "job.succeeded",
            Self::JobFailed => "job.failed",
            Self::JobCancelled => "job.cancelled",
            Self::ExplorationEnded => "exploration.ended",
            Self::ReleasePublished => "release.published",
            Self::ReleaseWithdrawn => "release.withdrawn",
            Self::ReleaseAffected => "release.affected",
        }
    }
}

/// The key that signs what a webhook is told. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(pub(super) Zeroizing<[u8; 32]>);

impl WebhookSecret {
    /// As it is shown once: `whsec_` and base64.
    pub fn text(&self) -> String {
        format!("whsec_{}", STANDARD.encode(self.0.as_slice()))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_slice()
    }
}

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("WebhookSecret(…)")
    }
}

/// A webhook to be kept.
#[derive(Clone)]
pub struct NewWebhook {
    /// Its id.
    pub id: WebhookId,
    /// Where it is told.
    pub url: String,
    /// Scheme, host and port of the URL: what the audit log has of it.
    pub origin: String,
    /// What it is told.
    pub events: Vec<WebhookEvent>,
    /// Of these datasets alone; `None`: of all.
    pub datasets: Option<Vec<DatasetId>>,
    /// Who asked for it.
    pub created_by: String,
}

/// The last attempt to tell a webhook something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastAttempt {
    /// When it ended.
    pub at: DateTime<Utc>,
    /// What was told.
    pub event: String,
    /// How it ended: the word of an [`Outcome`].
    pub outcome: String,
    /// Attempts at this message so far.
    pub attempts: u32,
}

/// A webhook as it is kept, without its secret.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookRow {
    /// Its id.
    pub id: WebhookId,
    /// Where it is told. It may hold a token: never in a log.
    pub url: String,
    /// What it is told.
    pub events: Vec<WebhookEvent>,
    /// Of these datasets alone; `None`: of all.
    pub datasets: Option<Vec<DatasetId>>,
    /// Who asked for it.
    pub created_by: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When its receiver said that it is gone.
    pub switched_off_at: Option<DateTime<Utc>>,
    /// The last attempt to tell it something.
    pub last: Option<LastAttempt>,
    /// Messages that wait to be told.
    pub waiting: u64,
}

impl std::fmt::Debug for WebhookRow {
    /// Without the URL, which may hold a token.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("WebhookRow")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// A webhook whose secret was just drawn.
#[derive(Clone)]
pub struct DrawnWebhook {
    /// The webhook.
    pub row: WebhookRow,
    /// Its secret, which nobody is shown again.
    pub secret: WebhookSecret,
}

/// A message in the hands of one process.
#[derive(Clone)]
pub struct TakenMessage {
    /// `webhook-id`.
    pub id: MessageId,
    /// Who is told.
    pub webhook: WebhookId,
    /// What is told.
    pub event: String,
    /// The body, byte for byte.
    pub body: String,
    /// Attempts so far, this one included.
    pub attempts: u32,
    /// When this attempt was begun, by the store's clock.
    pub at: DateTime<Utc>,
    pub(super) token: Uuid,
}

/// Where a message goes, and what signs it.
pub struct Receiver {
    /// The URL. It may hold a token: never in a log.
    pub url: String,
    /// The present secret, and the one before where it signs too.
    pub secrets: Vec<WebhookSecret>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A status of 200 to 299.
    Delivered,
    /// 410: the receiver wants no more.
    Gone,
    /// Anything else.
    Failed {
        /// `3xx`, `4xx`, `5xx`, `timeout`, `no_connection`, `origin_refused` or `internal`.
        why: &'static str,
        /// When to try again; `None`: not any more.
        again: Option<Duration>,
    },
    /// The process stops before the answer: somebody else sends it.
    GivenBack,
}

impl Outcome {
    /// The word that is kept of it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Delivered => "2xx",
            Self::Gone => "410",
            Self::Failed { why, .. } => why,
            Self::GivenBack => "given_back",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_shown_in_one_way_and_never_printed() {
        let secret = WebhookSecret(Zeroizing::new([7; 32]));
        let text = secret.text();
        assert_eq!(text, "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=");
        assert_eq!(format!("{secret:?}"), "WebhookSecret(…)");
    }

    #[test]
    fn an_event_is_read_by_the_word_it_is_told_by() {
        for event in WebhookEvent::ALL {
            let word = serde_json::to_value(event).expect("a word");
            assert_eq!(word, event.as_str());
        }
    }
}
