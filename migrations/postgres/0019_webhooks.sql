-- Webhooks: who is told when something ended, and what is still to be told.
-- docs/STORE.md tells the story; ../sqlite/ holds the same tables.

CREATE TABLE webhook (
    id                    uuid PRIMARY KEY,
    url                   text NOT NULL,        -- under an origin that the operator allows
    events                text NOT NULL,        -- JSON: job.succeeded, release.published, …
    datasets              text,                 -- JSON: of these alone; null: of all
    secret                bytea NOT NULL,       -- 32 bytes, or wrapped by a master key
    secret_before         bytea,                -- the same; signs too until
    secret_before_until   timestamptz,          -- this time
    master_key_id         text,                 -- that wrapped both; null: none did
    created_by            text NOT NULL,
    created_at            timestamptz NOT NULL,
    switched_off_at       timestamptz,          -- its receiver said that it is gone (410)
    last_at               timestamptz,          -- of the last attempt that was answered or not
    last_event            text,
    last_outcome          text,                 -- 2xx, 4xx, timeout, …
    last_attempts         bigint,
    CHECK ((secret_before IS NULL) = (secret_before_until IS NULL))
);

-- What is to be told: written in the transaction of the change that it tells.
-- No reference to the webhook: the end of a job never waits for its row.
CREATE TABLE webhook_message (
    id           uuid PRIMARY KEY,              -- `webhook-id`, the same in every attempt
    webhook_id   uuid NOT NULL,
    event        text NOT NULL,
    body         text NOT NULL,                 -- JSON: type, time, ids
    state        text NOT NULL CHECK (state IN ('waiting', 'delivered', 'given_up')),
    attempts     bigint NOT NULL,
    due_at       timestamptz NOT NULL,          -- of one that is being sent: when another may send it
    lease_token  uuid,                          -- of the process that sends it
    created_at   timestamptz NOT NULL,
    ended_at     timestamptz
);
CREATE INDEX webhook_message_due ON webhook_message (due_at) WHERE state = 'waiting';
CREATE INDEX webhook_message_webhook ON webhook_message (webhook_id, state);
CREATE INDEX webhook_message_ended ON webhook_message (ended_at) WHERE state <> 'waiting';
