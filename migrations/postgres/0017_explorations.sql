-- Many settings on one version, and which of them are worth having.
-- docs/STORE.md tells the story; ../sqlite/ holds the same tables.

CREATE TABLE exploration (
    id                  uuid PRIMARY KEY,
    dataset_id          uuid NOT NULL REFERENCES dataset (id),
    dataset_version     bigint NOT NULL,
    preference_version  bigint NOT NULL,
    spec                text NOT NULL,          -- JSON: what was asked, and the settings that cannot be run
    created_by          text NOT NULL,
    created_at          timestamptz NOT NULL,
    ends_at             timestamptz NOT NULL,   -- what is queued then is cancelled
    cancelled_at        timestamptz
);
CREATE INDEX exploration_dataset ON exploration (dataset_id, id);

ALTER TABLE job ADD COLUMN exploration_id uuid REFERENCES exploration (id);  -- null: ordered by itself
ALTER TABLE job ADD COLUMN setting bigint;      -- its number in the exploration, from 1
CREATE INDEX job_exploration ON job (exploration_id, setting);

ALTER TABLE release ADD COLUMN measures text;   -- JSON: a few figures, where an exploration made it
