//! Webhooks and the messages to them: leases that run out, secrets that lie
//! sealed, and changes that are told with themselves or not at all.

use std::time::Duration;

use chrono::TimeDelta;
use serde_json::json;
use vizard::ids::WebhookId;
use vizard::store::{
    Act, DrawnWebhook, JobState, NewWebhook, Outcome, StoreError, TakenMessage, WebhookEvent,
};

use super::sealing::on_both_sealed;
use super::stage::{Database, draft};
use super::{Stage, act, master_keys, on_both_and_sealed, sealed};

const LEASE: Duration = Duration::from_secs(30);

async fn webhook(stage: &Stage) -> DrawnWebhook {
    let new = NewWebhook {
        id: WebhookId::generate(),
        url: "https://hooks.hospital.org/vizard".to_owned(),
        events: WebhookEvent::ALL.to_vec(),
        datasets: None,
        created_by: "a test".to_owned(),
    };
    let made = stage.store.webhook_create(act(), new).await;
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
    for id in [one, one, other] {
        ping(stage, id).await;
    }
    let first = take(stage).await.expect("one");
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
    stage.let_messages_age(60).await;
    assert_eq!(signing().await, [second]);
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
