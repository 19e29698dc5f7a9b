-- Webhooks: who is told when something ended, and what is still to be told.
-- docs/STORE.md tells the story; ../postgres/ holds the same tables.

CREATE TABLE webhook (
    id                    BLOB PRIMARY KEY,
    url                   TEXT NOT NULL,        -- under an origin that the operator allows
    events                TEXT NOT NULL,        -- JSON: job.succeeded, release.published, …
    datasets              TEXT,                 -- JSON: of these alone; null: of all
    secret                BLOB NOT NULL,        -- 32 bytes, or wrapped by a master key
    secret_before         BLOB,                 -- the same; signs too until
    secret_before_until   INTEGER,              -- this time
    master_key_id         TEXT,                 -- that wrapped both; null: none did
    created_by            TEXT NOT NULL,
    created_at            INTEGER NOT NULL,
    switched_off_at       INTEGER,              -- its receiver said that it is gone (410)
    last_at               INTEGER,              -- of the last attempt that was answered or not
    last_event            TEXT,
    last_outcome          TEXT,                 -- 2xx, 4xx, timeout, …
    last_attempts         INTEGER,
    CHECK ((secret_before IS NULL) = (secret_before_until IS NULL))
) STRICT;

-- What is to be told: written in the transaction of the change that it tells.
-- No reference to the webhook: the end of a job never waits for its row.
CREATE TABLE webhook_message (
    id           BLOB PRIMARY KEY,              -- `webhook-id`, the same in every attempt
    webhook_id   BLOB NOT NULL,
    event        TEXT NOT NULL,
    body         TEXT NOT NULL,                 -- JSON: type, time, ids
    state        TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'given_up')),
    attempts     INTEGER NOT NULL,
    due_at       INTEGER NOT NULL,              -- of one that is being sent: when another may send it
    lease_token  BLOB,                          -- of the process that sends it
    created_at   INTEGER NOT NULL,
    ended_at     INTEGER
) STRICT;
CREATE INDEX webhook_message_due ON webhook_message (due_at) WHERE state = 'waiting';
CREATE INDEX webhook_message_webhook ON webhook_message (webhook_id, state);
CREATE INDEX webhook_message_ended ON webhook_message (ended_at) WHERE state <> 'waiting';
