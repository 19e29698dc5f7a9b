-- The first schema: keys, datasets, preferences, jobs, releases.
-- docs/DATA_MODEL.md tells the story; ../postgres/ holds the same tables.
--
-- STRICT tables: a column holds what it says. An id is a BLOB of 16 bytes, a
-- time an INTEGER of microseconds since 1970 (UTC), a truth 0 or 1, a document
-- JSON in TEXT. Every time is bound by the program, none made by SQLite.

CREATE TABLE api_key (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name          TEXT NOT NULL,
    roles         TEXT NOT NULL,                -- JSON: array of role names
    datasets      TEXT,                         -- JSON: array of dataset ids; null: all
    secret_hash   BLOB NOT NULL CHECK (length(secret_hash) = 32),  -- SHA-256
    created_at    INTEGER NOT NULL,
    revoked_at    INTEGER,
    last_used_at  INTEGER
) STRICT;

-- The row of a dataset is also its lock: whoever changes the records, the
-- preferences or what is public of a dataset holds this row.
CREATE TABLE dataset (
    id                  BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name                TEXT NOT NULL,
    schema              TEXT NOT NULL,          -- JSON
    created_by          TEXT NOT NULL,
    created_at          INTEGER NOT NULL,
    version             INTEGER NOT NULL DEFAULT 0,  -- latest of the records; 0: none yet
    preference_version  INTEGER NOT NULL DEFAULT 0,  -- latest of the preferences
    erased_at           INTEGER                 -- set: a tombstone, everything personal is gone
) STRICT;

CREATE TABLE dataset_version (
    dataset_id     BLOB NOT NULL REFERENCES dataset (id),
    version        INTEGER NOT NULL CHECK (version > 0),
    mode           TEXT NOT NULL CHECK (mode IN ('append', 'replace')),
    epoch          INTEGER NOT NULL CHECK (epoch BETWEEN 1 AND version),  -- version that last replaced everything
    chunks         INTEGER NOT NULL,            -- this version is the first so many chunks of its epoch
    records        INTEGER NOT NULL,            -- brought by this upload
    dropped        INTEGER NOT NULL,            -- left out by the missing-value policy
    total_records  INTEGER NOT NULL,            -- in this version
    sha256         BLOB NOT NULL CHECK (length(sha256) = 32),  -- of the upload's content
    hierarchies    TEXT NOT NULL,               -- JSON: name -> digest, pinned at upload
    created_by     TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    PRIMARY KEY (dataset_id, version)
) STRICT;

CREATE TABLE chunk (
    dataset_id  BLOB NOT NULL REFERENCES dataset (id),
    epoch       INTEGER NOT NULL,
    position    INTEGER NOT NULL CHECK (position >= 0),  -- in its epoch, without gaps
    records     INTEGER NOT NULL,
    sha256      BLOB NOT NULL CHECK (length(sha256) = 32),  -- of `bytes`
    bytes       BLOB NOT NULL,
    PRIMARY KEY (dataset_id, epoch, position)
) STRICT;

CREATE TABLE hierarchy (
    name        TEXT NOT NULL,
    revision    INTEGER NOT NULL CHECK (revision > 0),  -- the highest is the one the name means
    digest      TEXT NOT NULL,                  -- of the content, in hexadecimal
    media_type  TEXT NOT NULL,
    content     BLOB NOT NULL,
    leaves      INTEGER NOT NULL,
    height      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (name, revision)
) STRICT;
CREATE INDEX hierarchy_digest ON hierarchy (digest);

-- A history. No reference to `dataset`: its row is locked by every writer and
-- never deleted, and a check for each of 300,000 rows would say nothing new.
CREATE TABLE preference (
    dataset_id     BLOB NOT NULL,
    subject        BLOB NOT NULL,               -- UTF-8: any text, in byte order everywhere
    version        INTEGER NOT NULL CHECK (version > 0),  -- preference version that brought it
    until_version  INTEGER CHECK (until_version > version),  -- that replaced or removed it; null: in force
    document       TEXT NOT NULL,               -- JSON
    created_at     INTEGER NOT NULL,
    PRIMARY KEY (dataset_id, subject, version)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX preference_in_force ON preference (dataset_id, subject) WHERE until_version IS NULL;

CREATE TABLE job (
    id                  BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    dataset_id          BLOB NOT NULL,
    dataset_version     INTEGER NOT NULL,
    preference_version  INTEGER NOT NULL,       -- pinned: the terms that the job must meet
    engine              TEXT NOT NULL,
    spec                TEXT NOT NULL,          -- JSON
    publish             TEXT NOT NULL CHECK (publish IN ('manual', 'automatic')),
    created_by          TEXT NOT NULL,
    state               TEXT NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    revision            INTEGER NOT NULL,       -- grows with every visible change; events resume from it
    progress            TEXT,                   -- JSON: what the worker last told
    problem             TEXT,                   -- JSON: why it failed
    attempts            INTEGER NOT NULL,       -- counted when acquired
    cancel_requested    INTEGER NOT NULL CHECK (cancel_requested IN (0, 1)),
    worker              TEXT,                   -- who acquired it last
    lease_token         BLOB,                   -- random; set exactly while running
    lease_expires_at    INTEGER,                -- by the server's clock
    created_at          INTEGER NOT NULL,
    started_at          INTEGER,                -- first acquired
    finished_at         INTEGER,
    FOREIGN KEY (dataset_id, dataset_version) REFERENCES dataset_version (dataset_id, version),
    CHECK ((state = 'running') = (lease_token IS NOT NULL)),
    CHECK ((state = 'running') = (lease_expires_at IS NOT NULL)),
    CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL))
) STRICT;
CREATE INDEX job_state ON job (state, id);
CREATE INDEX job_dataset ON job (dataset_id, id);

CREATE TABLE release (
    id                  BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    job_id              BLOB NOT NULL UNIQUE REFERENCES job (id),  -- one release a job, whoever commits
    dataset_id          BLOB NOT NULL REFERENCES dataset (id),
    dataset_version     INTEGER NOT NULL,
    preference_version  INTEGER NOT NULL,
    engine              TEXT NOT NULL,
    state               TEXT NOT NULL CHECK (state IN ('draft', 'published', 'withdrawn')),
    manifest            TEXT NOT NULL,          -- JSON
    report              TEXT NOT NULL,          -- JSON
    verification        TEXT NOT NULL,          -- JSON
    lineage             BLOB,                   -- private: row -> record; null once erased or withdrawn
    created_at          INTEGER NOT NULL,
    published_at        INTEGER,
    withdrawn_at        INTEGER
) STRICT;
CREATE INDEX release_dataset ON release (dataset_id, id);

CREATE TABLE release_table (
    release_id  BLOB NOT NULL REFERENCES release (id),
    position    INTEGER NOT NULL,               -- in the manifest's order
    name        TEXT NOT NULL,
    columns     TEXT NOT NULL,                  -- JSON
    rows        INTEGER NOT NULL,
    raw_bytes   INTEGER NOT NULL,               -- of the canonical text
    sha256      BLOB NOT NULL CHECK (length(sha256) = 32),  -- of the canonical text
    pieces      INTEGER NOT NULL,
    PRIMARY KEY (release_id, position),
    UNIQUE (release_id, name)
) STRICT;

CREATE TABLE release_piece (
    release_id      BLOB NOT NULL REFERENCES release (id),
    table_position  INTEGER NOT NULL,
    position        INTEGER NOT NULL,
    rows            INTEGER NOT NULL,
    raw_bytes       INTEGER NOT NULL,           -- before compression
    sha256          BLOB NOT NULL CHECK (length(sha256) = 32),  -- of `bytes`
    bytes           BLOB NOT NULL,              -- compressed; cut at a row boundary
    PRIMARY KEY (release_id, table_position, position)
) STRICT;
