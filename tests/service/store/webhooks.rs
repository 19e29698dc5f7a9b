//! Webhooks and the messages to them: leases that run out, secrets that lie
//! sealed, and changes that are told with themselves or not at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use vizard::clock::Clock;
use vizard::ids::WebhookId;
use vizard::store::{
    Act, Conflict, DrawnWebhook, JobState, NewWebhook, Outcome, StoreError, StoreOptions,
    TakenMessage, WebhookEvent, open,
};

use super::sealing::on_both_sealed;
use super::stage::{Database, draft};
use super::{Stage, act, master_keys, on_both_and_sealed, sealed};

const LEASE: Duration = Duration::from_secs(30);

fn new_webhook() -> NewWebhook {
    NewWebhook {
        id: WebhookId::generate(),
        url: "https://hooks.hospital.org/vizard".to_owned(),
        origin: "https://hooks.hospital.org".to_owned(),
        events: WebhookEvent::ALL.to_vec(),
        datasets: None,
        created_by: "a test".to_owned(),
    }
}

async fn webhook(stage: &Stage) -> DrawnWebhook {
    let made = stage.store.webhook_create(act(), new_webhook()).await;
    made.expect("it is kept")
}

async fn ping(stage: &Stage, id: WebhookId) {
    let pinged = stage.store.webhook_ping(act(), id).await;
    pinged.expect("it waits");
}

async fn take(stage: &Stage) -> Option<TakenMessage> {
    stage.store.message_take(LEASE).await.expect("an answer")
}

async fn settle(stage: &Stage, message: TakenMessage, outcome: Outcome) -> bool {
    let settled = stage.store.message_settle(message, outcome).await;
    settled.expect("an answer")
}

impl Stage {
    /// Lets everything about webhooks become so many seconds older.
    async fn let_messages_age(&self, seconds: i64) {
        match &self.database {
            Database::Sqlite { clock, .. } => clock.advance(TimeDelta::seconds(seconds)),
            Database::Postgres { .. } => {
                for (table, column) in [
                    ("webhook_message", "due_at"),
                    ("webhook_message", "lease_expires_at"),
                    ("webhook_message", "created_at"),
                    ("webhook_message", "ended_at"),
                    ("webhook", "secret_before_until"),
                ] {
                    let moved = format!("{column} - interval '{seconds} seconds'");
                    self.sabotage(&format!("UPDATE {table} SET {column} = {moved}"))
                        .await;
                }
            }
        }
    }
}

on_both_and_sealed!(
    a_message_of_a_process_that_died_is_taken_by_another,
    of_one_webhook_one_message_is_sent_at_a_time,
    takers_at_the_same_time_never_take_two_messages_of_one_webhook,
    one_ping_waits_however_often_it_is_asked_for,
    of_a_crowd_of_messages_the_oldest_are_given_up,
    a_webhook_that_is_switched_off_is_sent_a_ping_alone,
    a_message_that_failed_comes_again_and_one_that_ended_does_not,
    a_job_that_a_stale_worker_ends_is_not_told,
    an_end_and_its_message_are_there_together,
    the_secret_before_signs_for_a_day,
    old_messages_are_given_up_and_forgotten,
);

async fn a_message_of_a_process_that_died_is_taken_by_another(stage: &Stage) {
    let id = webhook(stage).await.row.id;
    ping(stage, id).await;
    let first = take(stage).await.expect("one");
    assert_eq!((first.attempts, first.event.as_str()), (1, "ping"));
    assert!(take(stage).await.is_none(), "it is being sent");
    stage.let_messages_age(30).await;
    let second = take(stage).await.expect("the same again");
    assert_eq!((second.id, second.attempts), (first.id, 2));
    assert_eq!(second.body, first.body);
    assert!(!settle(stage, first, Outcome::Delivered).await, "too late");
    assert!(settle(stage, second, Outcome::Delivered).await);
    let row = stage.store.webhook_get(id).await.expect("it is there");
    assert_eq!((row.waiting, row.last.expect("one").attempts), (0, 2));
}

async fn of_one_webhook_one_message_is_sent_at_a_time(stage: &Stage) {
    let (one, other) = (webhook(stage).await.row.id, webhook(stage).await.row.id);
    ping(stage, one).await;
    ping(stage, other).await;
    let first = take(stage).await.expect("one");
    // Another one, since the first is being sent.
    ping(stage, one).await;
    let second = take(stage).await.expect("of the other");
    assert_eq!((first.webhook, second.webhook), (one, other));
    let due = || stage.store.message_wait(Duration::ZERO);
    assert!(take(stage).await.is_none());
    assert!(!due().await.expect("an answer"), "nobody may take one");
    assert!(settle(stage, first, Outcome::GivenBack).await);
    assert!(due().await.expect("an answer"));
    let again = take(stage).await.expect("one");
    assert_eq!((again.webhook, again.attempts), (one, 1));
}

/// Messages to a webhook that are due, as they stand after their changes.
async fn fill(stage: &Stage, id: WebhookId, messages: usize) {
    let dataset = stage.filled_dataset().await;
    for _ in 0..messages {
        let job = stage.job(dataset).await.id;
        let cancelled = stage.store.job_cancel_request(act(), job).await;
        cancelled.expect("it is cancelled");
    }
    let row = stage.store.webhook_get(id).await.expect("it is there");
    assert_eq!(row.waiting, messages as u64);
}

async fn takers_at_the_same_time_never_take_two_messages_of_one_webhook(stage: &Stage) {
    let id = webhook(stage).await.row.id;
    fill(stage, id, 20).await;
    for _ in 0..20 {
        let takers = (0..8).map(|_| {
            let store = stage.store.clone();
            tokio::spawn(async move { store.message_take(LEASE).await.expect("an answer") })
        });
        let mut taken = Vec::new();
        for taker in takers.collect::<Vec<_>>() {
            taken.extend(taker.await.expect("it ends"));
        }
        assert_eq!(taken.len(), 1, "taken at the same time");
        for message in taken {
            assert!(settle(stage, message, Outcome::Delivered).await);
        }
    }
    assert!(take(stage).await.is_none());
}

async fn one_ping_waits_however_often_it_is_asked_for(stage: &Stage) {
    let id = webhook(stage).await.row.id;
    let waiting = async || {
        let row = stage.store.webhook_get(id).await;
        row.expect("it is there").waiting
    };
    for _ in 0..50 {
        ping(stage, id).await;
    }
    assert_eq!(waiting().await, 1);
    let sent = take(stage).await.expect("one");
    for _ in 0..50 {
        ping(stage, id).await;
    }
    assert_eq!(waiting().await, 2, "one is being sent, one waits");
    assert!(settle(stage, sent, Outcome::Delivered).await);
    assert_eq!(waiting().await, 1);
}

async fn of_a_crowd_of_messages_the_oldest_are_given_up(stage: &Stage) {
    let id = webhook(stage).await.row.id;
    ping(stage, id).await;
    // As many more as may wait, all of them newer.
    let number = if stage.is_postgres() {
        "SELECT n, CAST(repeat('f', 24) || lpad(to_hex(n), 8, '0') AS uuid) AS id FROM generate_series(1, 10000) AS n"
    } else {
        "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 10000) \
         SELECT n, unhex(printf('ffffffffffffffffffffffff%08x', n)) AS id FROM s"
    };
    stage
        .sabotage(&format!(
            "INSERT INTO webhook_message (id, webhook_id, event, body, state, attempts, due_at, \
             created_at) SELECT numbers.id, webhook_id, 'job.failed', '{{}}', 'waiting', 0, due_at, \
             created_at FROM webhook_message CROSS JOIN ({number}) AS numbers"
        ))
        .await;
    let swept = async || stage.store.messages_sweep().await.expect("an answer");
    assert_eq!((swept().await, swept().await), (1, 0));
    let row = stage.store.webhook_get(id).await.expect("it is there");
    assert_eq!(row.waiting, 10_000);
    let next = take(stage).await.expect("one");
    assert_eq!(next.event, "job.failed", "the ping was the oldest");
}

async fn a_webhook_that_is_switched_off_is_sent_a_ping_alone(stage: &Stage) {
    let id = webhook(stage).await.row.id;
    fill(stage, id, 3).await;
    let first = take(stage).await.expect("one");
    let off = stage.store.webhook_switch(act(), id, false).await;
    assert_eq!(off.expect("it is off"), 2, "given up and counted");
    // It comes back to what waits, as one does that a process gave back.
    assert!(settle(stage, first, Outcome::GivenBack).await);
    let due = stage.store.message_wait(Duration::ZERO).await;
    assert!(!due.expect("an answer"), "nothing is sent");
    assert!(take(stage).await.is_none(), "it is switched off");
    ping(stage, id).await;
    let sent = take(stage).await.expect("the ping");
    assert_eq!(sent.event, "ping");
    let swept = stage.store.messages_sweep().await;
    assert_eq!(swept.expect("an answer"), 1, "the one that came back");
    assert!(settle(stage, sent, Outcome::Delivered).await);
}

async fn a_message_that_failed_comes_again_and_one_that_ended_does_not(stage: &Stage) {
    let id = webhook(stage).await.row.id;
    ping(stage, id).await;
    let failed = |again| Outcome::Failed { why: "5xx", again };
    let first = take(stage).await.expect("one");
    let later = failed(Some(Duration::from_secs(5)));
    assert!(settle(stage, first, later).await);
    assert!(take(stage).await.is_none(), "not yet");
    stage.let_messages_age(5).await;
    let second = take(stage).await.expect("again");
    assert_eq!(second.attempts, 2);
    assert!(settle(stage, second, failed(None)).await);
    stage.let_messages_age(1_000).await;
    assert!(take(stage).await.is_none());
    let row = stage.store.webhook_get(id).await.expect("it is there");
    let last = row.last.expect("an attempt");
    assert_eq!(
        (last.outcome.as_str(), last.attempts, row.waiting),
        ("5xx", 2, 0)
    );
}

async fn a_job_that_a_stale_worker_ends_is_not_told(stage: &Stage) {
    let id = webhook(stage).await.row.id;
    let dataset = stage.filled_dataset().await;
    stage.job(dataset).await;
    let acquired = stage.acquire().await;
    stage.let_leases_run_out().await;
    let (job, token) = (acquired.job.id, acquired.lease_token);
    let failed = stage
        .store
        .job_fail(act(), job, token, json!({"type": "x"}).into())
        .await;
    assert!(matches!(failed, Err(StoreError::LeaseLost)), "{failed:?}");
    let late = stage.store.job_complete(act(), job, token, draft()).await;
    assert!(matches!(late, Err(StoreError::LeaseLost)), "{late:?}");
    let row = stage.store.webhook_get(id).await.expect("it is there");
    assert_eq!(row.waiting, 0);
}

async fn an_end_and_its_message_are_there_together(stage: &Stage) {
    let id = webhook(stage).await.row.id;
    let dataset = stage.filled_dataset().await;
    let job = stage.job(dataset).await.id;
    let acquired = stage.acquire().await;
    // A table that is not there takes the whole end back.
    stage
        .sabotage("ALTER TABLE webhook_message RENAME TO webhook_messages")
        .await;
    let (token, problem) = (acquired.lease_token, json!({"type": "x"}));
    let failing = || {
        stage
            .store
            .job_fail(act(), job, token, problem.clone().into())
    };
    assert!(failing().await.is_err(), "it is not told");
    let row = stage.store.job_get(job).await.expect("it is there");
    assert_eq!(row.state, JobState::Running);
    stage
        .sabotage("ALTER TABLE webhook_messages RENAME TO webhook_message")
        .await;
    failing().await.expect("it ends");
    let row = stage.store.webhook_get(id).await.expect("it is there");
    assert_eq!(row.waiting, 1);
    let message = take(stage).await.expect("one");
    assert_eq!(message.event, "job.failed");
}

async fn the_secret_before_signs_for_a_day(stage: &Stage) {
    let first = webhook(stage).await;
    let id = first.row.id;
    let second = stage.store.webhook_rotate(act(), id).await;
    let second = second.expect("another").secret;
    let signing = async || {
        let receiver = stage.store.webhook_receiver(id).await;
        receiver.expect("it is there").secrets
    };
    assert_eq!(signing().await, [second.clone(), first.secret]);
    stage.let_messages_age(24 * 60 * 60 - 60).await;
    assert_eq!(signing().await.len(), 2);
    // A third secret would end the first one early.
    let early = stage.store.webhook_rotate(act(), id).await;
    let refused = matches!(
        early.err().expect("refused"),
        StoreError::Conflict(Conflict::SecretBefore {
            after_s: 1..=61,
            ..
        })
    );
    assert!(refused);
    assert_eq!(signing().await.len(), 2);
    stage.let_messages_age(60).await;
    assert_eq!(signing().await, std::slice::from_ref(&second));
    let third = stage.store.webhook_rotate(act(), id).await;
    let third = third.expect("another").secret;
    assert_eq!(signing().await, [third, second]);
}

async fn old_messages_are_given_up_and_forgotten(stage: &Stage) {
    let id = webhook(stage).await.row.id;
    ping(stage, id).await;
    let sweep = async || stage.store.messages_sweep().await.expect("an answer");
    let day = 24 * 60 * 60;
    stage.let_messages_age(2 * day).await;
    assert_eq!(sweep().await, 0, "it may still be told");
    stage.let_messages_age(2 * day).await;
    assert_eq!(sweep().await, 1);
    assert!(take(stage).await.is_none());
    let rows = async || {
        let all = "UPDATE webhook_message SET attempts = attempts";
        stage.attempt(all).await.expect("it runs")
    };
    stage.let_messages_age(6 * day).await;
    sweep().await;
    assert_eq!(rows().await, 1);
    stage.let_messages_age(2 * day).await;
    sweep().await;
    assert_eq!(rows().await, 0);
}

mod secrets {
    use super::{Stage, act, master_keys, on_both_sealed, sealed, webhook};

    on_both_sealed!(
        a_secret_lies_sealed_and_is_wrapped_anew_with_the_master_key,
        a_store_with_webhooks_does_not_start_without_its_master_key,
    );

    async fn a_secret_lies_sealed_and_is_wrapped_anew_with_the_master_key(stage: Stage) {
        let id = webhook(&stage).await.row.id;
        let drawn = stage
            .store
            .webhook_rotate(act(), id)
            .await
            .expect("another");
        let counts = stage.store.data_key_counts().await.expect("counts");
        assert_eq!((counts.current, counts.earlier), (1, 0));
        let bytes = stage.literal(drawn.secret.bytes());
        let lies_open = format!("UPDATE webhook SET url = url WHERE secret = {bytes}");
        assert_eq!(stage.attempt(&lies_open).await.expect("it runs"), 0);
        let ground = stage.stop().await;
        let stage = ground
            .start(|options| options.master_keys = Some(master_keys(&["two", "one"])))
            .await;
        let before = stage.store.data_key_counts().await.expect("counts");
        assert_eq!((before.current, before.earlier), (0, 1));
        let wrapped = stage.store.data_keys_rewrap(act(), 10).await;
        assert_eq!(wrapped.expect("an answer"), 1);
        let ground = stage.stop().await;
        let stage = ground
            .start(|options| options.master_keys = Some(master_keys(&["two"])))
            .await;
        let receiver = stage.store.webhook_receiver(id).await.expect("it is there");
        assert_eq!(receiver.secrets[0], drawn.secret);
        assert_eq!(receiver.secrets.len(), 2);
        // Moved to another webhook it does not open.
        let other = webhook(&stage).await.row.id;
        let [from, to] = [id, other].map(|id| {
            if stage.is_postgres() {
                format!("'{}'", id.uuid())
            } else {
                stage.literal(id.uuid().as_bytes())
            }
        });
        stage
            .sabotage(&format!(
                "UPDATE webhook SET secret = (SELECT secret FROM webhook WHERE id = {from}) \
                 WHERE id = {to}"
            ))
            .await;
        assert!(stage.store.webhook_receiver(other).await.is_err());
    }

    async fn a_store_with_webhooks_does_not_start_without_its_master_key(stage: Stage) {
        webhook(&stage).await;
        let ground = stage.stop().await;
        for keys in [None, Some(&["two"][..])] {
            let opened = ground.open(|options| options.master_keys = keys.map(master_keys));
            let message = opened.await.err().expect("refused").to_string();
            assert!(message.contains("`one`"), "{message}");
        }
        ground.start(sealed).await;
    }
}

/// Two clocks that stand still: the time of day that somebody sets, and the steady one.
#[derive(Default)]
struct TwoClocks {
    day_s: AtomicI64,
    steady_s: AtomicI64,
}

fn after(seconds: &AtomicI64) -> DateTime<Utc> {
    let seconds = 1_800_000_000 + seconds.load(Ordering::SeqCst);
    DateTime::from_timestamp(seconds, 0).expect("in range")
}

impl Clock for TwoClocks {
    fn now(&self) -> DateTime<Utc> {
        after(&self.day_s)
    }

    fn steady(&self) -> DateTime<Utc> {
        after(&self.steady_s)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_is_set_takes_no_message_from_its_sender() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("vizard.db").display());
    let clock = Arc::new(TwoClocks::default());
    let store = open(StoreOptions::new(&url), clock.clone()).await;
    let store = store.expect("it opens");
    let made = store.webhook_create(act(), new_webhook()).await;
    let id = made.expect("it is kept").row.id;
    store.webhook_ping(act(), id).await.expect("it waits");
    let take = async || store.message_take(LEASE).await.expect("an answer");
    let first = take().await.expect("one");
    clock.day_s.store(24 * 60 * 60, Ordering::SeqCst);
    assert!(take().await.is_none(), "it is being sent");
    clock.steady_s.store(30, Ordering::SeqCst);
    let again = take().await.expect("the same again");
    assert_eq!((again.id, again.attempts), (first.id, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_was_kept_open_is_wrapped_once_there_is_a_master_key() {
    let stage = Stage::sqlite().await;
    let drawn = webhook(&stage).await;
    let bytes = stage.literal(drawn.secret.bytes());
    let lies_open = format!("UPDATE webhook SET url = url WHERE secret = {bytes}");
    assert_eq!(stage.attempt(&lies_open).await.expect("it runs"), 1);
    let stage = stage.stop().await.start(sealed).await;
    let wrapped = stage.store.data_keys_rewrap(Act::by("operator"), 10).await;
    assert_eq!(wrapped.expect("an answer"), 1);
    assert_eq!(stage.attempt(&lies_open).await.expect("it runs"), 0);
    let receiver = stage.store.webhook_receiver(drawn.row.id).await;
    assert_eq!(receiver.expect("it is there").secrets, [drawn.secret]);
}
