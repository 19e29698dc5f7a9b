//! Messages to webhooks: written with the change that they tell, taken, settled.
//!
//! What there is to tell is read off the entries for the audit log, in the one
//! place where every change passes: no operation can forget it, and a change
//! that is taken back was never told. Where nobody listens that costs one
//! statement, and nothing where the change is none of the events.
//!
//! A message that is being sent has a lease: the end of its process costs the
//! time of that and no message. Leases run out by the clock that nobody sets;
//! when a message is due is a time of day, which outlives the process.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::Store;
use super::entry::Entry;
use super::{job_row, release_row};
use crate::failpoint;
use crate::ids::{DatasetId, ExplorationId, JobId, MessageId, ReleaseId, WebhookId};
use crate::store::session::{Row, Session, Signal, cells};
use crate::store::statements::webhooks as sql;
use crate::store::{
    JobState, MESSAGE_ATTEMPTS_MAX, MESSAGES_WAITING_MAX, Outcome, ReleaseState, StoreError,
    TakenMessage, WebhookEvent,
};

const TABLE: &str = "webhook_message";

/// Longest time between two looks while waiting: nothing signals the passing of time.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Days after which nobody waits for a message any more, however few attempts there were.
const WAITING_DAYS_MAX: i64 = 3;

/// Days that a message stays after its end.
const ENDED_DAYS: i64 = 7;

/// Something to be told.
pub(super) struct Message {
    event: &'static str,
    data: Value,
}

impl Message {
    /// An event with its ids.
    pub(super) fn new(event: &'static str, data: Value) -> Self {
        Self { event, data }
    }

    /// The body: the same bytes in every attempt.
    fn body(&self, at: DateTime<Utc>) -> String {
        json!({"type": self.event, "timestamp": at, "data": self.data}).to_string()
    }
}

/// A webhook that is told something.
struct Listener {
    id: WebhookId,
    events: Vec<WebhookEvent>,
    datasets: Option<Vec<DatasetId>>,
}

impl Listener {
    fn of(row: &Row) -> Result<Self, StoreError> {
        let events = serde_json::from_value(row.json("events")?);
        let datasets = row.json_or_null("datasets")?.map(serde_json::from_value);
        Ok(Self {
            id: WebhookId::from(row.uuid("id")?),
            events: events.map_err(|_| row.inconsistent("events"))?,
            datasets: datasets
                .transpose()
                .map_err(|_| row.inconsistent("datasets"))?,
        })
    }

    fn wants(&self, event: WebhookEvent, dataset: DatasetId) -> bool {
        let is_of = |datasets: &Vec<DatasetId>| datasets.contains(&dataset);
        self.events.contains(&event) && self.datasets.as_ref().is_none_or(is_of)
    }
}

/// What an entry may have to tell.
enum Change {
    Job(JobId),
    JobsOfDataset(DatasetId),
    JobsOfExploration(ExplorationId),
    Release(ReleaseId, WebhookEvent),
}

fn change_of(entry: &Entry) -> Option<Change> {
    let object = entry.object.as_deref()?;
    let release = |event| Some(Change::Release(object.parse().ok()?, event));
    match entry.action {
        "complete_job" | "fail_job" | "stop_job" | "cancel_job" | "yield_job" => {
            Some(Change::Job(object.parse().ok()?))
        }
        "erase_dataset" | "purge_records" => Some(Change::JobsOfDataset(entry.dataset?)),
        "cancel_exploration" => Some(Change::JobsOfExploration(object.parse().ok()?)),
        "publish_release" => release(WebhookEvent::ReleasePublished),
        "withdraw_release" => release(WebhookEvent::ReleaseWithdrawn),
        // The finding that it is affected no more is none.
        "release_affected" if entry.detail["subjects"] != json!(0) => {
            release(WebhookEvent::ReleaseAffected)
        }
        _ => None,
    }
}

/// Writes messages of what a transaction did to every webhook that wants them.
pub(super) async fn tell(session: &mut Session, entries: &[Entry]) -> Result<(), StoreError> {
    let changes: Vec<Change> = entries.iter().filter_map(change_of).collect();
    if changes.is_empty() {
        return Ok(());
    }
    let listeners = listeners(session).await?;
    if listeners.is_empty() {
        return Ok(());
    }
    let mut explorations = BTreeSet::new();
    for change in changes {
        match change {
            Change::Job(id) => explorations.extend(tell_job(session, &listeners, id).await?),
            Change::JobsOfDataset(id) => {
                let jobs = (sql::CANCELLED_WITH_DATASET, id.uuid());
                explorations.extend(tell_jobs(session, &listeners, jobs).await?);
            }
            Change::JobsOfExploration(id) => {
                let jobs = (sql::CANCELLED_WITH_EXPLORATION, id.uuid());
                explorations.extend(tell_jobs(session, &listeners, jobs).await?);
            }
            Change::Release(id, event) => tell_release(session, &listeners, (id, event)).await?,
        }
    }
    for id in explorations {
        tell_exploration(session, &listeners, id).await?;
    }
    failpoint::reached("messages-written");
    Ok(())
}

/// Those who are told something. A row that cannot be read must not keep a job
/// from its end: it is left out and logged.
async fn listeners(session: &mut Session) -> Result<Vec<Listener>, StoreError> {
    let rows = session.rows("webhook", sql::LISTENING, Vec::new()).await?;
    let read = rows.iter().filter_map(|row| match Listener::of(row) {
        Ok(listener) => Some(listener),
        Err(error) => {
            tracing::error!(%error, "a webhook is told nothing");
            None
        }
    });
    Ok(read.collect())
}

async fn tell_all(
    session: &mut Session,
    listeners: &[Listener],
    (event, dataset): (WebhookEvent, DatasetId),
    data: Value,
) -> Result<(), StoreError> {
    let message = Message::new(event.as_str(), data);
    for listener in listeners {
        if listener.wants(event, dataset) {
            put(session, listener.id, &message).await?;
        }
    }
    Ok(())
}

/// Writes a message to a webhook.
pub(super) async fn put(
    session: &mut Session,
    webhook: WebhookId,
    message: &Message,
) -> Result<(), StoreError> {
    let now = session.now().await?;
    let id = MessageId::generate();
    let cells = cells![
        id.uuid(),
        webhook.uuid(),
        message.event,
        message.body(now),
        now
    ];
    session.run(sql::TELL, cells).await?;
    session.signal(Signal::MessageDue);
    Ok(())
}

/// Tells that a job has ended, if it has; the exploration that it belongs to.
async fn tell_job(
    session: &mut Session,
    listeners: &[Listener],
    id: JobId,
) -> Result<Option<ExplorationId>, StoreError> {
    let job = job_row::get(session, id).await?;
    let event = match job.state {
        JobState::Queued | JobState::Running => return Ok(None),
        JobState::Succeeded => WebhookEvent::JobSucceeded,
        JobState::Failed => WebhookEvent::JobFailed,
        JobState::Cancelled => WebhookEvent::JobCancelled,
    };
    let mut data = json!({
        "job": job.id,
        "dataset": job.dataset,
        "version": job.dataset_version,
        "state": job.state,
    });
    if let Some(release) = job.release {
        data["release"] = json!(release);
    }
    if let Some(exploration) = job.exploration {
        data["exploration"] = json!(exploration);
    }
    tell_all(session, listeners, (event, job.dataset), data).await?;
    Ok(job.exploration)
}

/// The same of the jobs that a statement finds.
async fn tell_jobs(
    session: &mut Session,
    listeners: &[Listener],
    (statement, of): (&'static str, uuid::Uuid),
) -> Result<BTreeSet<ExplorationId>, StoreError> {
    let mut explorations = BTreeSet::new();
    for row in session.rows("job", statement, cells![of]).await? {
        let id = JobId::from(row.uuid("id")?);
        explorations.extend(tell_job(session, listeners, id).await?);
    }
    Ok(explorations)
}

/// Tells that every setting of an exploration has ended, if that is so.
async fn tell_exploration(
    session: &mut Session,
    listeners: &[Listener],
    id: ExplorationId,
) -> Result<(), StoreError> {
    let event = WebhookEvent::ExplorationEnded;
    if !listeners.iter().any(|one| one.events.contains(&event)) {
        return Ok(());
    }
    // Of two jobs that end at the same time the later one sees both.
    let lock = session.dialect().exploration_lock;
    session.row("exploration", lock, cells![id.uuid()]).await?;
    let row = session
        .row("exploration", sql::EXPLORATION, cells![id.uuid()])
        .await?;
    let row = row.ok_or(StoreError::not_found("exploration"))?;
    if row.count("settings_open")? > 0 {
        return Ok(());
    }
    let dataset = DatasetId::from(row.uuid("dataset_id")?);
    let data = json!({
        "exploration": id,
        "dataset": dataset,
        "version": row.count("dataset_version")?,
        "state": "ended",
    });
    tell_all(session, listeners, (event, dataset), data).await
}

/// Tells what became of a release that is or was public.
async fn tell_release(
    session: &mut Session,
    listeners: &[Listener],
    (id, event): (ReleaseId, WebhookEvent),
) -> Result<(), StoreError> {
    let release = release_row::get(session, id).await?;
    if release.state == ReleaseState::Draft || release.published_at.is_none() {
        // Drafts come and go: nobody was told of this one.
        return Ok(());
    }
    let data = json!({
        "release": id,
        "job": release.job,
        "dataset": release.dataset,
        "version": release.dataset_version,
        "state": release.state,
    });
    tell_all(session, listeners, (event, release.dataset), data).await
}

/// A token that nobody can guess and no two senders share.
#[expect(
    clippy::disallowed_methods,
    reason = "a secret that must never come again; no result depends on it"
)]
fn token_generate() -> uuid::Uuid {
    uuid::Builder::from_random_bytes(rand::random()).into_uuid()
}

fn later(now: DateTime<Utc>, by: Duration) -> DateTime<Utc> {
    now + TimeDelta::from_std(by).unwrap_or(TimeDelta::days(1))
}

/// Two statements: the second one sees what the last holder of the webhook
/// wrote, which one statement, that began before they were done, would not.
async fn take(session: &mut Session, lease: Duration) -> Result<Option<TakenMessage>, StoreError> {
    let times = session.times().await?;
    let ready = session.dialect().webhook_ready;
    let due = cells![times.now, times.lease, MESSAGE_ATTEMPTS_MAX];
    let Some(webhook) = session.row("webhook", ready, due.clone()).await? else {
        return Ok(None);
    };
    let token = token_generate();
    let mut cells = due;
    cells.extend(cells![
        webhook.uuid("id")?,
        token,
        later(times.lease, lease)
    ]);
    let Some(row) = session.row(TABLE, sql::TAKE, cells).await? else {
        return Ok(None);
    };
    Ok(Some(TakenMessage {
        id: MessageId::from(row.uuid("id")?),
        webhook: WebhookId::from(row.uuid("webhook_id")?),
        event: row.text("event")?,
        body: row.text("body")?,
        attempts: row.count32("attempts")?,
        at: times.now,
        token,
    }))
}

async fn settle(
    session: &mut Session,
    message: TakenMessage,
    outcome: Outcome,
) -> Result<bool, StoreError> {
    // First the webhook, then the message, as whoever takes or deletes does.
    let lock = session.dialect().webhook_lock;
    let webhook = cells![message.webhook.uuid()];
    session.row("webhook", lock, webhook).await?;
    let now = session.now().await?;
    let (statement, time) = match outcome {
        Outcome::Delivered => (sql::DELIVERED, now),
        Outcome::Failed {
            again: Some(after), ..
        } => (sql::AGAIN, later(now, after)),
        Outcome::Gone | Outcome::Failed { again: None, .. } => (sql::GIVEN_UP, now),
        Outcome::GivenBack => (sql::GIVEN_BACK, now),
    };
    let held = cells![message.id.uuid(), message.token, time];
    if session.run(statement, held).await? == 0 {
        return Ok(false);
    }
    // The next one to this webhook need not wait any more.
    session.signal(Signal::MessageDue);
    if outcome != Outcome::GivenBack {
        let note = cells![
            message.webhook.uuid(),
            now,
            message.event,
            outcome.word(),
            message.attempts
        ];
        session.run(sql::NOTE, note).await?;
    }
    Ok(true)
}

async fn is_any_due(session: &mut Session) -> Result<bool, StoreError> {
    let times = session.times().await?;
    let cells = cells![times.now, times.lease, MESSAGE_ATTEMPTS_MAX];
    let row = session.row(TABLE, sql::DUE, cells).await?;
    Ok(row
        .ok_or(StoreError::not_found("message"))?
        .count("webhooks")?
        > 0)
}

async fn sweep(session: &mut Session) -> Result<u64, StoreError> {
    let times = session.times().await?;
    let now = times.now;
    let ended_before = now - TimeDelta::days(ENDED_DAYS);
    session.run(sql::FORGET, cells![ended_before]).await?;
    session.run(sql::FORGET_STRAYS, Vec::new()).await?;
    let oldest = now - TimeDelta::days(WAITING_DAYS_MAX);
    let old = cells![now, MESSAGE_ATTEMPTS_MAX, oldest, times.lease];
    let given_up = session.run(sql::GIVE_UP_OLD, old).await?;
    let crowd = cells![now, MESSAGES_WAITING_MAX];
    Ok(given_up + session.run(sql::GIVE_UP_CROWD, crowd).await?)
}

impl Store {
    /// Takes the message that is due longest, for `lease` from now; `None` if
    /// there is none, or others of its webhook are being sent.
    pub async fn message_take(&self, lease: Duration) -> Result<Option<TakenMessage>, StoreError> {
        self.write_unaudited(move |session| Box::pin(take(session, lease)))
            .await
    }

    /// Says how an attempt ended; false where its lease had run out and another
    /// process has the message.
    pub async fn message_settle(
        &self,
        message: TakenMessage,
        outcome: Outcome,
    ) -> Result<bool, StoreError> {
        self.write_unaudited(move |session| Box::pin(settle(session, message, outcome)))
            .await
    }

    /// Waits until there may be a message to send, at most `timeout`; tells
    /// whether there may be one.
    pub async fn message_wait(&self, timeout: Duration) -> Result<bool, StoreError> {
        let end = Instant::now() + timeout;
        let mut signal = self.backend.signals().subscribe(Signal::MessageDue);
        loop {
            if self.read(|session| Box::pin(is_any_due(session))).await? {
                return Ok(true);
            }
            let now = Instant::now();
            if now >= end {
                return Ok(false);
            }
            let next_look = end.min(now + LOOK_INTERVAL);
            let _ = timeout_at(next_look, signal.changed()).await;
        }
    }

    /// Gives up messages that nobody can tell any more, and the oldest where more
    /// than [`MESSAGES_WAITING_MAX`] wait for one webhook; forgets those that ended a
    /// week ago. Answers how many were given up.
    pub async fn messages_sweep(&self) -> Result<u64, StoreError> {
        self.write_unaudited(|session| Box::pin(sweep(session)))
            .await
    }
}
