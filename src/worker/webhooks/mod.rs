//! Telling webhooks what happened.
//!
//! Every process with workers, or with an API alone, takes messages that are
//! due and sends them; any number may do so at once. A message is tried again
//! after seconds, minutes, hours and a day, then given up. A receiver that
//! answers 410 is told nothing any more, until it is asked for a ping and takes
//! that. Where no origin is allowed nothing is sent: another process may do it.
//!
//! No URL is in a log, a metric or an error: it may hold a token.

mod sending;
mod signature;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::WebhookOrigins;
use crate::ids::MessageId;
use crate::store::{Act, MESSAGE_ATTEMPTS_MAX, Outcome, PING, Store, StoreError, TakenMessage};
use sending::{ANSWER_TIMEOUT, Sender};

/// Messages that a process sends at one time.
const SENDING_MAX: usize = 8;

/// How long a message is a process's own: longer than any attempt lasts.
const LEASE: Duration = Duration::from_secs(3 * ANSWER_TIMEOUT.as_secs());

/// How often a message is looked for where nothing signals one.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// Pause after the store failed.
const STORE_ERROR_PAUSE: Duration = Duration::from_secs(1);

/// How often messages that ended are forgotten.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// What becomes of messages, as it is counted.
const OUTCOMES: [&str; 4] = ["delivered", "again", "given_up", "gone"];

/// Time from an attempt that failed to the next: 5 s, 30 s, 2 min, 10 min, 1 h,
/// 6 h and 24 h. An attempt more than there are times.
pub const RETRY_AFTER: [Duration; MESSAGE_ATTEMPTS_MAX as usize - 1] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(2 * 60),
    Duration::from_secs(10 * 60),
    Duration::from_secs(60 * 60),
    Duration::from_secs(6 * 60 * 60),
    Duration::from_secs(24 * 60 * 60),
];

/// Who tells, where, and how often.
pub struct Teller {
    /// Who the audit log says did it.
    pub name: String,
    /// Where webhooks may be; none: nobody is told anything.
    pub origins: WebhookOrigins,
    /// Time from each attempt that failed to the next.
    pub retry_after: Vec<Duration>,
}

/// Sends messages until shutdown.
pub async fn tell(store: Arc<Store>, teller: Teller, shutdown: CancellationToken) {
    // A rule on the growth of a counter sees its first step only from a zero before it.
    for outcome in OUTCOMES {
        metrics::counter!("vizard_webhook_messages_total", "outcome" => outcome).increment(0);
    }
    let sweeping = async {
        loop {
            match store.messages_sweep().await {
                Ok(messages) => count_given_up(messages),
                Err(error) => {
                    tracing::warn!(%error, "old messages to webhooks were not forgotten");
                }
            }
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(SWEEP_INTERVAL) => {}
            }
        }
    };
    tokio::join!(sweeping, send_all(&store, teller, &shutdown));
}

/// Counts messages that were given up without an attempt, and says so.
fn count_given_up(messages: u64) {
    if messages > 0 {
        tracing::warn!(messages, "messages to webhooks were given up");
        metrics::counter!("vizard_webhook_messages_total", "outcome" => "given_up")
            .increment(messages);
    }
}

/// What the sends of a process share.
struct Shared {
    store: Arc<Store>,
    sender: Sender,
    name: String,
    retry_after: Vec<Duration>,
    shutdown: CancellationToken,
}

async fn send_all(store: &Arc<Store>, teller: Teller, shutdown: &CancellationToken) {
    if teller.origins.is_empty() {
        return;
    }
    let Some(sender) = Sender::new(teller.origins) else {
        return tracing::error!("there is no client for HTTP: no webhook is told anything");
    };
    let shared = Arc::new(Shared {
        store: Arc::clone(store),
        sender,
        name: teller.name,
        retry_after: teller.retry_after,
        shutdown: shutdown.clone(),
    });
    let (places, tasks) = (Arc::new(Semaphore::new(SENDING_MAX)), TaskTracker::new());
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = shutdown.cancelled() => break,
        };
        let Ok(place) = place else { break };
        let Some(message) = next(&shared).await else {
            break;
        };
        let shared = Arc::clone(&shared);
        tasks.spawn(async move {
            send(&shared, message).await;
            drop(place);
        });
    }
    tasks.close();
    tasks.wait().await;
}

/// The next message, waiting as long as it takes; `None` on shutdown.
async fn next(shared: &Shared) -> Option<TakenMessage> {
    while !shared.shutdown.is_cancelled() {
        // Not raced against shutdown: a message that was taken must not be dropped.
        let pause = match shared.store.message_take(LEASE).await {
            Ok(Some(message)) => return Some(message),
            Ok(None) => false,
            Err(error) => {
                tracing::warn!(%error, "no message to a webhook could be taken");
                true
            }
        };
        let waited = async {
            if pause || shared.store.message_wait(LOOK_INTERVAL).await.is_err() {
                tokio::time::sleep(STORE_ERROR_PAUSE).await;
            }
        };
        tokio::select! {
            () = waited => {}
            () = shared.shutdown.cancelled() => return None,
        }
    }
    None
}

/// Makes one attempt, and says how it ended.
async fn send(shared: &Shared, message: TakenMessage) {
    let outcome = tokio::select! {
        outcome = attempt(shared, &message) => outcome,
        () = shared.shutdown.cancelled() => Outcome::GivenBack,
    };
    let (id, webhook) = (message.id, message.webhook);
    let counted = match outcome {
        Outcome::Delivered => Some("delivered"),
        Outcome::Gone => Some("gone"),
        Outcome::Failed { again: Some(_), .. } => Some("again"),
        Outcome::Failed { again: None, .. } => Some("given_up"),
        Outcome::GivenBack => None,
    };
    let was_ping = message.event == PING;
    if let Outcome::Failed { why, again } = outcome {
        let attempt = message.attempts;
        if again.is_some() {
            tracing::info!(%webhook, message = %id, why, attempt, "a webhook was not told");
        } else {
            tracing::warn!(%webhook, message = %id, why, attempt, "a message was given up");
        }
    }
    // Before it is settled: what waits for the same receiver is not sent in between.
    let switched = match outcome {
        Outcome::Gone => Some(false),
        Outcome::Delivered if was_ping => Some(true),
        _ => None,
    };
    if let Some(to_on) = switched {
        let act = Act::by(shared.name.clone());
        match shared.store.webhook_switch(act, webhook, to_on).await {
            Ok(given_up) => count_given_up(given_up),
            Err(error) => tracing::warn!(%webhook, %error, "a webhook was not switched"),
        }
    }
    match shared.store.message_settle(message, outcome).await {
        Ok(true) => {
            if let Some(outcome) = counted {
                metrics::counter!("vizard_webhook_messages_total", "outcome" => outcome)
                    .increment(1);
            }
        }
        // Its lease had run out: another process says how it ends.
        Ok(false) => {}
        Err(error) => tracing::warn!(%webhook, %error, "how it ended was not noted"),
    }
}

async fn attempt(shared: &Shared, message: &TakenMessage) -> Outcome {
    let why = match shared.store.webhook_receiver(message.webhook).await {
        // Deleted since.
        Err(StoreError::NotFound { .. }) => {
            return Outcome::Failed {
                why: "deleted",
                again: None,
            };
        }
        Err(error) => {
            tracing::warn!(webhook = %message.webhook, %error, "the receiver cannot be read");
            "internal"
        }
        Ok(receiver) => match shared.sender.send(&receiver, message).await {
            Ok(outcome) => return outcome,
            Err(why) => why,
        },
    };
    Outcome::Failed {
        why,
        again: again(&shared.retry_after, message.id, message.attempts),
    }
}

/// When a message is tried again after so many attempts; up to a fifth later
/// than the schedule says, so that what failed together does not come back
/// together. The id decides by how much: it is random.
fn again(retry_after: &[Duration], id: MessageId, attempts: u32) -> Option<Duration> {
    if attempts >= MESSAGE_ATTEMPTS_MAX {
        return None;
    }
    let after = *retry_after.get(attempts.checked_sub(1)? as usize)?;
    let [.., random, _] = *id.uuid().as_bytes();
    Some(after + after * u32::from(random) / (5 * 255))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_tried_eight_times_within_two_days() {
        let id = MessageId::generate();
        let mut whole = Duration::ZERO;
        for (attempt, least) in (1..).zip(RETRY_AFTER) {
            let after = again(&RETRY_AFTER, id, attempt).expect("once more");
            assert!(after >= least && after <= least + least / 5, "{attempt}");
            whole += after;
        }
        assert_eq!(again(&RETRY_AFTER, id, MESSAGE_ATTEMPTS_MAX), None);
        assert!(whole < Duration::from_secs(48 * 3_600));
    }

    #[test]
    fn two_messages_do_not_come_back_together() {
        let times: std::collections::BTreeSet<_> = (0..100)
            .map(|_| again(&RETRY_AFTER, MessageId::generate(), 7))
            .collect();
        assert!(times.len() > 50, "{}", times.len());
    }
}
