//! Statements on webhooks and the messages to them.
//!
//! A message that is being sent has a lease: when its sender dies, the lease
//! runs out and another process takes it. A sender shows the token of its lease
//! to say how it went. Of one webhook's messages one is sent at a time, so that
//! a receiver that hangs holds up nobody else. Who takes one looks from the
//! webhooks, which are few, and holds the webhook's row first; then in another
//! statement for the message, which sees what the last holder wrote.

use super::statements;

macro_rules! select {
    ($tail:expr) => {
        concat!(
            "SELECT id, url, events, datasets, created_by, created_at, switched_off_at, last_at, \
             last_event, last_outcome, last_attempts, \
             (SELECT count(*) FROM webhook_message WHERE webhook_id = webhook.id \
             AND state = 'waiting') AS waiting FROM webhook ",
            $tail
        )
    };
}

/// `$1` message, `$2` token: it is still this sender's.
macro_rules! held {
    ($head:literal) => {
        concat!(
            "UPDATE webhook_message SET lease_token = NULL, lease_expires_at = NULL, ",
            $head,
            " WHERE id = $1 AND lease_token = $2 AND state = 'waiting'"
        )
    };
}

/// A message of the webhook that is due.
macro_rules! next {
    ($webhook:literal, $is_on:literal) => {
        concat!(
            "next.webhook_id = ",
            $webhook,
            " AND next.state = 'waiting' AND next.due_at <= $1 AND next.attempts < $3 AND (",
            $is_on,
            " OR next.event = 'ping')"
        )
    };
}

/// A webhook to which nothing is being sent.
macro_rules! idle {
    () => {
        "NOT EXISTS (SELECT 1 FROM webhook_message AS sent \
         WHERE sent.webhook_id = webhook.id AND sent.lease_token IS NOT NULL \
         AND sent.lease_expires_at > $2)"
    };
}

/// A webhook that something may be sent to at `$1`, where `$2` is the time of
/// leases and `$3` the most attempts: something is due, and nothing is being
/// sent. Of one that is switched off a ping alone.
macro_rules! ready {
    () => {
        concat!(
            "EXISTS (SELECT 1 FROM webhook_message AS next WHERE ",
            next!("webhook.id", "webhook.switched_off_at IS NULL"),
            ") AND ",
            idle!()
        )
    };
}

statements! {
    /// `$1` id, `$2` URL, `$3` events, `$4` datasets or null, `$5` secret, `$6` master key or
    /// null, `$7` who, `$8` now.
    CREATE = "INSERT INTO webhook (id, url, events, datasets, secret, master_key_id, created_by, \
        created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING";
    /// `$1` id.
    GET = select!("WHERE id = $1");
    /// How many are told of all datasets.
    COUNT_UNTIED = "SELECT count(*) AS webhooks FROM webhook WHERE datasets IS NULL";
    /// `$1` what a tie to the dataset has in it: how many have that.
    COUNT_TIED = "SELECT count(*) AS webhooks FROM webhook WHERE datasets LIKE $1";
    /// `$1` id.
    DELETE = "DELETE FROM webhook WHERE id = $1";
    /// `$1` webhook.
    DELETE_MESSAGES = "DELETE FROM webhook_message WHERE webhook_id = $1";
    /// Those that are told something.
    LISTENING = "SELECT id, events, datasets FROM webhook WHERE switched_off_at IS NULL \
        ORDER BY id";
    /// `$1` id.
    SECRETS = "SELECT id, url, secret, secret_before, secret_before_until, master_key_id \
        FROM webhook WHERE id = $1";
    /// `$1` id, `$2` secret, `$3` the one before, `$4` until when, `$5` master key or null.
    SECRETS_SET = "UPDATE webhook SET secret = $2, secret_before = $3, secret_before_until = $4, \
        master_key_id = $5 WHERE id = $1";
    /// The master keys that wrap any.
    MASTER_KEYS = "SELECT DISTINCT master_key_id FROM webhook WHERE master_key_id IS NOT NULL";
    /// `$1` master key: one of those whose secret it wraps.
    ONE_UNDER = "SELECT id, secret, master_key_id FROM webhook WHERE master_key_id = $1 LIMIT 1";
    /// `$1` master key.
    COUNT_UNDER = "SELECT \
        (SELECT count(*) FROM webhook WHERE master_key_id = $1) AS current, \
        (SELECT count(*) FROM webhook WHERE master_key_id <> $1 \
        OR (master_key_id IS NULL AND $1 <> '')) AS earlier";
    /// `$1` id, `$2` webhook, `$3` event, `$4` body, `$5` now.
    TELL = "INSERT INTO webhook_message (id, webhook_id, event, body, state, attempts, due_at, \
        created_at) VALUES ($1, $2, $3, $4, 'waiting', 0, $5, $5)";
    /// `$1` webhook: pings that wait and are not being sent.
    PINGS = "SELECT count(*) AS messages FROM webhook_message WHERE webhook_id = $1 \
        AND state = 'waiting' AND event = 'ping' AND lease_token IS NULL";
    /// `$1` now, `$2` time of leases, `$3` most attempts: whether something may be sent.
    DUE = concat!("SELECT count(*) AS webhooks FROM (SELECT 1 AS one FROM webhook WHERE ",
        ready!(), " LIMIT 1) AS found");
    /// `$1` now, `$2` time of leases, `$3` most attempts, `$4` webhook, whose row is held,
    /// `$5` token, `$6` end of the lease.
    TAKE = concat!("UPDATE webhook_message SET lease_token = $5, lease_expires_at = $6, \
        attempts = attempts + 1 WHERE id = (SELECT next.id FROM webhook_message AS next \
        JOIN webhook ON webhook.id = next.webhook_id WHERE webhook.id = $4 AND ", idle!(), " AND ",
        next!("$4", "webhook.switched_off_at IS NULL"),
        " ORDER BY next.due_at, next.id LIMIT 1) RETURNING id, webhook_id, event, body, attempts");
    /// `$3` now.
    DELIVERED = held!("state = 'delivered', ended_at = $3");
    /// `$3` when it is due again.
    AGAIN = held!("due_at = $3");
    /// `$3` now.
    GIVEN_UP = held!("state = 'given_up', ended_at = $3");
    /// `$3` now: as if it had not been taken.
    GIVEN_BACK = held!("due_at = $3, attempts = attempts - 1");
    /// `$1` webhook, `$2` now, `$3` event, `$4` outcome, `$5` attempts.
    NOTE = "UPDATE webhook SET last_at = $2, last_event = $3, last_outcome = $4, \
        last_attempts = $5 WHERE id = $1";
    /// `$1` webhook, `$2` now.
    SWITCH_OFF = "UPDATE webhook SET switched_off_at = $2 WHERE id = $1 \
        AND switched_off_at IS NULL";
    /// `$1` webhook.
    SWITCH_ON = "UPDATE webhook SET switched_off_at = NULL WHERE id = $1 \
        AND switched_off_at IS NOT NULL";
    /// `$1` webhook, `$2` now: what it is not told any more, but for what is being sent.
    GIVE_UP_ALL = "UPDATE webhook_message SET state = 'given_up', ended_at = $2 \
        WHERE webhook_id = $1 AND state = 'waiting' AND lease_token IS NULL";
    /// `$1` now, `$2` most attempts, `$3` made before, `$4` time of leases: what nobody can tell
    /// any more, and what a webhook that is switched off is not told.
    GIVE_UP_OLD = "UPDATE webhook_message SET state = 'given_up', lease_token = NULL, \
        lease_expires_at = NULL, ended_at = $1 WHERE state = 'waiting' \
        AND (lease_token IS NULL OR lease_expires_at <= $4) \
        AND (attempts >= $2 OR created_at < $3 OR (event <> 'ping' AND EXISTS (SELECT 1 \
        FROM webhook WHERE id = webhook_message.webhook_id AND switched_off_at IS NOT NULL)))";
    /// `$1` now, `$2` most that wait for one webhook: the oldest beyond that.
    GIVE_UP_CROWD = "UPDATE webhook_message SET state = 'given_up', ended_at = $1 \
        WHERE state = 'waiting' AND lease_token IS NULL AND id IN (SELECT id FROM (SELECT id, \
        row_number() OVER (PARTITION BY webhook_id ORDER BY id DESC) AS place \
        FROM webhook_message WHERE state = 'waiting') AS crowd WHERE place > $2)";
    /// `$1` ended before.
    FORGET = "DELETE FROM webhook_message WHERE state <> 'waiting' AND ended_at < $1";
    /// What was written to a webhook while it was deleted.
    FORGET_STRAYS = "DELETE FROM webhook_message WHERE state = 'waiting' \
        AND NOT EXISTS (SELECT 1 FROM webhook WHERE id = webhook_message.webhook_id)";
    /// `$1` dataset: its jobs that went with an erasure or a purge just now.
    CANCELLED_WITH_DATASET = "SELECT job.id FROM job JOIN dataset ON dataset.id = job.dataset_id \
        WHERE dataset.id = $1 AND job.state = 'cancelled' \
        AND job.finished_at = COALESCE(dataset.erased_at, dataset.records_purged_at) \
        ORDER BY job.id";
    /// `$1` exploration: its jobs that were cancelled with it just now.
    CANCELLED_WITH_EXPLORATION = "SELECT job.id FROM job \
        JOIN exploration ON exploration.id = job.exploration_id WHERE exploration.id = $1 \
        AND job.state = 'cancelled' AND job.finished_at = exploration.cancelled_at \
        ORDER BY job.id";
    /// `$1` exploration: whose settings it has, and how many have not ended.
    EXPLORATION = "SELECT id, dataset_id, dataset_version, \
        (SELECT count(*) FROM job WHERE job.exploration_id = exploration.id \
        AND job.state IN ('queued', 'running')) AS settings_open FROM exploration WHERE id = $1";
}

macro_rules! list {
    ($lies_within:literal) => {
        select!(concat!(
            "WHERE id < $1 AND (CAST($2 AS TEXT) IS NULL OR ",
            $lies_within,
            ") ORDER BY id DESC LIMIT $3"
        ))
    };
}

/// `$1` cursor, `$2` within these datasets (JSON or null), `$3` limit. One that
/// is tied to nothing lies within nobody's datasets.
pub(in crate::store) const POSTGRES_LIST: &str =
    list!("(datasets <> '[]' AND CAST(datasets AS jsonb) <@ CAST($2 AS jsonb))");
pub(in crate::store) const SQLITE_LIST: &str = list!(
    "(datasets <> '[]' AND NOT EXISTS (SELECT 1 FROM json_each(webhook.datasets) AS tied \
     WHERE tied.value NOT IN (SELECT value FROM json_each($2))))"
);

macro_rules! ready_first {
    ($lock:literal) => {
        concat!(
            "SELECT id FROM webhook WHERE ",
            ready!(),
            " ORDER BY (SELECT min(due_at) FROM webhook_message WHERE webhook_id = webhook.id \
             AND state = 'waiting'), id LIMIT 1",
            $lock
        )
    };
}

/// `$1` now, `$2` time of leases, `$3` most attempts: the webhook that waits
/// longest, held; one that somebody holds is left to them.
pub(in crate::store) const POSTGRES_READY: &str = ready_first!(" FOR UPDATE SKIP LOCKED");
pub(in crate::store) const SQLITE_READY: &str = ready_first!("");

/// Whoever holds it alone makes a webhook, so that each counts those before.
pub(in crate::store) const POSTGRES_CREATE_LOCK: &str = "SELECT pg_advisory_xact_lock(8406229573)";

/// The one server of an SQLite file begins: by whose clock a lease would run
/// out nobody knows any more.
pub(in crate::store) const SQLITE_ABANDON: &str =
    "UPDATE webhook_message SET lease_expires_at = 0 WHERE lease_token IS NOT NULL";

macro_rules! not_under {
    ($lock:literal) => {
        concat!(
            "SELECT id, url, secret, secret_before, secret_before_until, master_key_id \
             FROM webhook WHERE master_key_id IS NULL OR master_key_id <> $1 \
             ORDER BY id LIMIT $2",
            $lock
        )
    };
}

/// `$1` master key, `$2` limit: webhooks whose secrets it does not wrap, held.
pub(in crate::store) const POSTGRES_NOT_UNDER: &str = not_under!(" FOR UPDATE SKIP LOCKED");
pub(in crate::store) const SQLITE_NOT_UNDER: &str = not_under!("");

/// `$1` id: its secrets, held.
pub(in crate::store) const POSTGRES_LOCK: &str = "SELECT id, url, secret, secret_before, \
    secret_before_until, master_key_id FROM webhook WHERE id = $1 FOR UPDATE";
