-- Many settings on one version, and which of them are worth having.
-- docs/STORE.md tells the story; ../postgres/ holds the same tables.

CREATE TABLE exploration (
    id                  BLOB PRIMARY KEY,
    dataset_id          BLOB NOT NULL REFERENCES dataset (id),
    dataset_version     INTEGER NOT NULL,
    preference_version  INTEGER NOT NULL,
    spec                TEXT NOT NULL,          -- JSON: what was asked, and the settings that cannot be run
    created_by          TEXT NOT NULL,
    created_at          INTEGER NOT NULL,
    ends_at             INTEGER NOT NULL,       -- what is queued then is cancelled
    cancelled_at        INTEGER
) STRICT;
CREATE INDEX exploration_dataset ON exploration (dataset_id, id);

ALTER TABLE job ADD COLUMN exploration_id BLOB REFERENCES exploration (id);  -- null: ordered by itself
ALTER TABLE job ADD COLUMN setting INTEGER;     -- its number in the exploration, from 1
CREATE INDEX job_exploration ON job (exploration_id, setting);

ALTER TABLE release ADD COLUMN measures TEXT;   -- JSON: a few figures, where an exploration made it
