-- What public releases show of each subject, and what they tell together.
-- docs/STORE.md tells the story; ../sqlite/ holds the same tables.

-- Sealed where the dataset is, by the key of its preferences: it outlives
-- withdrawal and purge, as copies of the release do, and ends by erasure.
ALTER TABLE release ADD COLUMN candidates bytea;  -- private; null for drafts taken back, and of before
ALTER TABLE release ADD COLUMN composition text;  -- JSON: other public releases of the same people
