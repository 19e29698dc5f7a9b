-- Spellings of one value in an upload.
-- docs/STORE.md tells the story; ../postgres/ holds the same tables.

-- By attribute how many spellings and records: counts, never values.
ALTER TABLE dataset_version ADD COLUMN near_duplicates text NOT NULL DEFAULT '[]';
