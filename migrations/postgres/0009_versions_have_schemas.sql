-- Versions that replace some subjects, and versions that change the schema.
-- docs/STORE.md tells the story; ../sqlite/ holds the same columns.

ALTER TABLE dataset_version DROP CONSTRAINT dataset_version_mode_check;
ALTER TABLE dataset_version ADD CONSTRAINT dataset_version_mode_check
    CHECK (mode IN ('append', 'replace', 'upsert', 'schema'));

-- What the columns of the version are; a job reads its version by it.
ALTER TABLE dataset_version ADD COLUMN schema text NOT NULL DEFAULT '{}';  -- JSON
UPDATE dataset_version SET schema = (SELECT dataset.schema FROM dataset WHERE dataset.id = dataset_id);
