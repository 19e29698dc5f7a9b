-- A hierarchy belongs to a dataset, or to the library that all datasets share.
-- docs/STORE.md tells the story; ../postgres/ holds the same table.

-- SQLite changes no primary key: another table takes its place.
CREATE TABLE owned_hierarchy (
    dataset_id  BLOB REFERENCES dataset (id),   -- null: the library's
    name        TEXT NOT NULL,
    revision    INTEGER NOT NULL CHECK (revision > 0),  -- the highest is the one the name means
    digest      TEXT NOT NULL,                  -- of the content, in hexadecimal
    media_type  TEXT NOT NULL,
    content     BLOB NOT NULL,
    leaves      INTEGER NOT NULL,
    height      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
-- What was shared stays shared.
INSERT INTO owned_hierarchy (name, revision, digest, media_type, content, leaves, height, created_at)
    SELECT name, revision, digest, media_type, content, leaves, height, created_at FROM hierarchy;
DROP TABLE hierarchy;
ALTER TABLE owned_hierarchy RENAME TO hierarchy;
CREATE UNIQUE INDEX hierarchy_library ON hierarchy (name, revision) WHERE dataset_id IS NULL;
CREATE UNIQUE INDEX hierarchy_own ON hierarchy (dataset_id, name, revision) WHERE dataset_id IS NOT NULL;
CREATE INDEX hierarchy_name ON hierarchy (name, revision);
