-- What terms that changed after publishing ask of a release.
-- docs/STORE.md tells the story; ../postgres/ holds the same columns.

ALTER TABLE release ADD COLUMN terms_looked_at INTEGER;    -- preference version up to which it was looked; null: that of the job
ALTER TABLE release ADD COLUMN affected_at INTEGER;   -- set: subjects in it ask for more than it gives
ALTER TABLE release ADD COLUMN affected_subjects INTEGER;  -- up to so many, in tens; null beside a time: nobody can know
CREATE INDEX release_published ON release (dataset_id) WHERE state = 'published';

ALTER TABLE ledger ADD COLUMN affected_at INTEGER;    -- the first time
ALTER TABLE ledger ADD COLUMN affected_subjects INTEGER;   -- the last that was known
