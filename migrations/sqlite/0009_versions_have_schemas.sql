-- Versions that replace some subjects, and versions that change the schema.
-- docs/STORE.md tells the story; ../postgres/ holds the same columns.

-- SQLite changes no check of a column: another column takes its place.
ALTER TABLE dataset_version ADD COLUMN manner TEXT NOT NULL DEFAULT 'append'
    CHECK (manner IN ('append', 'replace', 'upsert', 'schema'));
UPDATE dataset_version SET manner = mode;
ALTER TABLE dataset_version DROP COLUMN mode;
ALTER TABLE dataset_version RENAME COLUMN manner TO mode;

-- What the columns of the version are; a job reads its version by it.
ALTER TABLE dataset_version ADD COLUMN schema TEXT NOT NULL DEFAULT '{}';  -- JSON
UPDATE dataset_version SET schema = (SELECT dataset.schema FROM dataset WHERE dataset.id = dataset_id);
