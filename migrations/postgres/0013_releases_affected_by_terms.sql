-- What terms that changed after publishing ask of a release.
-- docs/STORE.md tells the story; ../sqlite/ holds the same columns.

ALTER TABLE release ADD COLUMN terms_looked_at bigint;    -- preference version up to which it was looked; null: that of the job
ALTER TABLE release ADD COLUMN affected_at timestamptz;   -- set: subjects in it ask for more than it gives
ALTER TABLE release ADD COLUMN affected_subjects bigint;  -- up to so many, in tens; null beside a time: nobody can know
CREATE INDEX release_published ON release (dataset_id) WHERE state = 'published';

ALTER TABLE ledger ADD COLUMN affected_at timestamptz;    -- the first time
ALTER TABLE ledger ADD COLUMN affected_subjects bigint;   -- the last that was known
