-- Keys of datasets and releases (dataset_key), how long records stay, and what
-- was erased (tombstone). docs/DATA_MODEL.md tells the story; ../sqlite/
-- holds the same tables.

-- A data key, wrapped by a master key that is not in the database. A dataset
-- without rows here was made without a master key and is kept as it is.
CREATE TABLE dataset_key (
    owner_id       uuid NOT NULL,  -- the dataset, or one of its releases
    purpose        text NOT NULL CHECK (purpose IN ('records', 'preferences', 'release')),
    dataset_id     uuid NOT NULL REFERENCES dataset (id),
    master_key_id  text NOT NULL,               -- that wrapped it
    wrapped        bytea,                       -- null: destroyed, and what it sealed with it
    created_at     timestamptz NOT NULL,
    wrapped_at     timestamptz NOT NULL,
    destroyed_at   timestamptz,
    PRIMARY KEY (owner_id, purpose),
    CHECK ((wrapped IS NULL) = (destroyed_at IS NOT NULL))
);
CREATE INDEX dataset_key_dataset ON dataset_key (dataset_id);
CREATE INDEX dataset_key_master ON dataset_key (master_key_id) WHERE wrapped IS NOT NULL;

ALTER TABLE dataset ADD COLUMN raw_retention_days bigint
    CHECK (raw_retention_days BETWEEN 1 AND 36500);  -- null: as the service's settings say
ALTER TABLE dataset ADD COLUMN records_purged_at timestamptz;  -- by retention, the last time
ALTER TABLE dataset_version ADD COLUMN purged_at timestamptz;  -- set: its chunks are gone

-- What was erased and must stay so. No reference: it also stands for what a
-- restored backup never had.
CREATE TABLE tombstone (
    what       text NOT NULL CHECK (what IN ('dataset_erased', 'records_purged', 'release_withdrawn')),
    object_id  uuid NOT NULL,
    buried_at  timestamptz NOT NULL,
    PRIMARY KEY (what, object_id, buried_at)
);
INSERT INTO tombstone (what, object_id, buried_at)
    SELECT 'dataset_erased', id, erased_at FROM dataset WHERE erased_at IS NOT NULL;
INSERT INTO tombstone (what, object_id, buried_at)
    SELECT 'release_withdrawn', id, withdrawn_at FROM release WHERE state = 'withdrawn';
