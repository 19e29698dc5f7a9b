-- The first schema: keys, datasets, preferences, jobs, releases.
-- docs/DATA_MODEL.md tells the story; ../sqlite/ holds the same tables.
--
-- Documents are kept as text, not jsonb: jsonb refuses the escape \u0000 and
-- rewrites numbers, and no statement looks inside a document.

CREATE TABLE api_key (
    id            uuid PRIMARY KEY,
    name          text NOT NULL,
    roles         text NOT NULL,                -- JSON: array of role names
    datasets      text,                         -- JSON: array of dataset ids; null: all
    secret_hash   bytea NOT NULL CHECK (octet_length(secret_hash) = 32),  -- SHA-256
    created_at    timestamptz NOT NULL,
    revoked_at    timestamptz,
    last_used_at  timestamptz
);

-- The row of a dataset is also its lock: whoever changes the records, the
-- preferences or what is public of a dataset holds this row.
CREATE TABLE dataset (
    id                  uuid PRIMARY KEY,
    name                text NOT NULL,
    schema              text NOT NULL,          -- JSON
    created_by          text NOT NULL,
    created_at          timestamptz NOT NULL,
    version             bigint NOT NULL DEFAULT 0,  -- latest of the records; 0: none yet
    preference_version  bigint NOT NULL DEFAULT 0,  -- latest of the preferences
    erased_at           timestamptz             -- set: a tombstone, everything personal is gone
);

CREATE TABLE dataset_version (
    dataset_id     uuid NOT NULL REFERENCES dataset (id),
    version        bigint NOT NULL CHECK (version > 0),
    mode           text NOT NULL CHECK (mode IN ('append', 'replace')),
    epoch          bigint NOT NULL CHECK (epoch BETWEEN 1 AND version),  -- version that last replaced everything
    chunks         bigint NOT NULL,             -- this version is the first so many chunks of its epoch
    records        bigint NOT NULL,             -- brought by this upload
    dropped        bigint NOT NULL,             -- left out by the missing-value policy
    total_records  bigint NOT NULL,             -- in this version
    sha256         bytea NOT NULL CHECK (octet_length(sha256) = 32),  -- of the upload's content
    hierarchies    text NOT NULL,               -- JSON: name -> digest, pinned at upload
    created_by     text NOT NULL,
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (dataset_id, version)
);

CREATE TABLE chunk (
    dataset_id  uuid NOT NULL REFERENCES dataset (id),
    epoch       bigint NOT NULL,
    position    bigint NOT NULL CHECK (position >= 0),  -- in its epoch, without gaps
    records     bigint NOT NULL,
    sha256      bytea NOT NULL CHECK (octet_length(sha256) = 32),  -- of `bytes`
    bytes       bytea NOT NULL,
    PRIMARY KEY (dataset_id, epoch, position)
);
-- The bytes are compressed already.
ALTER TABLE chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE hierarchy (
    name        text NOT NULL,
    revision    bigint NOT NULL CHECK (revision > 0),  -- the highest is the one the name means
    digest      text NOT NULL,                  -- of the content, in hexadecimal
    media_type  text NOT NULL,
    content     bytea NOT NULL,
    leaves      bigint NOT NULL,
    height      bigint NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (name, revision)
);
CREATE INDEX hierarchy_digest ON hierarchy (digest);

-- A history. No reference to `dataset`: its row is locked by every writer and
-- never deleted, and a check for each of 300,000 rows would say nothing new.
CREATE TABLE preference (
    dataset_id     uuid NOT NULL,
    subject        bytea NOT NULL,              -- UTF-8: any text, in byte order everywhere
    version        bigint NOT NULL CHECK (version > 0),  -- preference version that brought it
    until_version  bigint CHECK (until_version > version),  -- that replaced or removed it; null: in force
    document       text NOT NULL,               -- JSON
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (dataset_id, subject, version)
);
CREATE UNIQUE INDEX preference_in_force ON preference (dataset_id, subject) WHERE until_version IS NULL;

CREATE TABLE job (
    id                  uuid PRIMARY KEY,
    dataset_id          uuid NOT NULL,
    dataset_version     bigint NOT NULL,
    preference_version  bigint NOT NULL,        -- pinned: the terms that the job must meet
    engine              text NOT NULL,
    spec                text NOT NULL,          -- JSON
    publish             text NOT NULL CHECK (publish IN ('manual', 'automatic')),
    created_by          text NOT NULL,
    state               text NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    revision            bigint NOT NULL,        -- grows with every visible change; events resume from it
    progress            text,                   -- JSON: what the worker last told
    problem             text,                   -- JSON: why it failed
    attempts            bigint NOT NULL,        -- counted when acquired
    cancel_requested    boolean NOT NULL,
    worker              text,                   -- who acquired it last
    lease_token         uuid,                   -- random; set exactly while running
    lease_expires_at    timestamptz,            -- by this database's clock
    created_at          timestamptz NOT NULL,
    started_at          timestamptz,            -- first acquired
    finished_at         timestamptz,
    FOREIGN KEY (dataset_id, dataset_version) REFERENCES dataset_version (dataset_id, version),
    CHECK ((state = 'running') = (lease_token IS NOT NULL)),
    CHECK ((state = 'running') = (lease_expires_at IS NOT NULL)),
    CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL))
);
CREATE INDEX job_state ON job (state, id);
CREATE INDEX job_dataset ON job (dataset_id, id);

CREATE TABLE release (
    id                  uuid PRIMARY KEY,
    job_id              uuid NOT NULL UNIQUE REFERENCES job (id),  -- one release a job, whoever commits
    dataset_id          uuid NOT NULL REFERENCES dataset (id),
    dataset_version     bigint NOT NULL,
    preference_version  bigint NOT NULL,
    engine              text NOT NULL,
    state               text NOT NULL CHECK (state IN ('draft', 'published', 'withdrawn')),
    manifest            text NOT NULL,          -- JSON
    report              text NOT NULL,          -- JSON
    verification        text NOT NULL,          -- JSON
    lineage             bytea,                  -- private: row -> record; null once erased or withdrawn
    created_at          timestamptz NOT NULL,
    published_at        timestamptz,
    withdrawn_at        timestamptz
);
CREATE INDEX release_dataset ON release (dataset_id, id);

CREATE TABLE release_table (
    release_id  uuid NOT NULL REFERENCES release (id),
    position    bigint NOT NULL,                -- in the manifest's order
    name        text NOT NULL,
    columns     text NOT NULL,                  -- JSON
    rows        bigint NOT NULL,
    raw_bytes   bigint NOT NULL,                -- of the canonical text
    sha256      bytea NOT NULL CHECK (octet_length(sha256) = 32),  -- of the canonical text
    pieces      bigint NOT NULL,
    PRIMARY KEY (release_id, position),
    UNIQUE (release_id, name)
);

CREATE TABLE release_piece (
    release_id      uuid NOT NULL REFERENCES release (id),
    table_position  bigint NOT NULL,
    position        bigint NOT NULL,
    rows            bigint NOT NULL,
    raw_bytes       bigint NOT NULL,            -- before compression
    sha256          bytea NOT NULL CHECK (octet_length(sha256) = 32),  -- of `bytes`
    bytes           bytea NOT NULL,             -- compressed; cut at a row boundary
    PRIMARY KEY (release_id, table_position, position)
);
ALTER TABLE release_piece ALTER COLUMN bytes SET STORAGE EXTERNAL;
