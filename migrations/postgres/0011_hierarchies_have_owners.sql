-- A hierarchy belongs to a dataset, or to the library that all datasets share.
-- docs/STORE.md tells the story; ../sqlite/ holds the same table.

-- Null: the library's. What was shared stays shared.
ALTER TABLE hierarchy ADD COLUMN dataset_id uuid REFERENCES dataset (id);
ALTER TABLE hierarchy DROP CONSTRAINT hierarchy_pkey;
-- Lists are in the order of bytes, as on SQLite.
ALTER TABLE hierarchy ALTER COLUMN name TYPE text COLLATE "C";
DROP INDEX hierarchy_digest;
CREATE UNIQUE INDEX hierarchy_library ON hierarchy (name, revision) WHERE dataset_id IS NULL;
CREATE UNIQUE INDEX hierarchy_own ON hierarchy (dataset_id, name, revision) WHERE dataset_id IS NOT NULL;
CREATE INDEX hierarchy_name ON hierarchy (name, revision);
