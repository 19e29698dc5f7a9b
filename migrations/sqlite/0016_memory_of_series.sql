-- Whether what public releases show outlives the records.
-- docs/STORE.md tells the story; ../postgres/ holds the same column.

ALTER TABLE dataset ADD COLUMN series_memory TEXT NOT NULL DEFAULT 'keep'
    CHECK (series_memory IN ('keep', 'drop'));
