-- What was done (audit), what was made public (ledger), what was answered
-- already (idempotency). docs/DATA_MODEL.md tells the story; ../postgres/
-- holds the same tables.

-- The log: one row a change of state and a read of a release. Each row commits
-- to the row before it by `previous`; src/store/chain.rs says what is hashed.
CREATE TABLE audit (
    position     INTEGER NOT NULL PRIMARY KEY CHECK (position > 0),  -- 1, 2, … without a gap
    occurred_at  INTEGER NOT NULL,
    actor        TEXT NOT NULL,                 -- a key's id, `operator`, a worker, `janitor`
    request_id   TEXT,                          -- null: no request stood behind it
    action       TEXT NOT NULL,                 -- create_dataset, complete_job, …
    object_kind  TEXT NOT NULL,
    object_id    TEXT,                          -- null: the object is a person's, or there is none
    dataset_id   BLOB,
    detail       TEXT NOT NULL,                 -- JSON: counts, versions, digests
    previous     BLOB NOT NULL CHECK (length(previous) = 32),  -- `hash` of the row before; zeros in row 1
    hash         BLOB NOT NULL CHECK (length(hash) = 32)  -- SHA-256 of all columns before this one
) STRICT;

-- The last position and its hash: what shows that rows were taken off the end.
CREATE TABLE audit_head (
    single    INTEGER NOT NULL PRIMARY KEY DEFAULT 1 CHECK (single = 1),
    position  INTEGER NOT NULL,
    hash      BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
INSERT INTO audit_head (position, hash) VALUES (0, zeroblob(32));

-- Also what keeps `INSERT OR REPLACE` from replacing a row.
CREATE TRIGGER audit_follow BEFORE INSERT ON audit
WHEN NOT EXISTS (SELECT 1 FROM audit_head WHERE position = NEW.position - 1 AND hash = NEW.previous)
BEGIN
    SELECT RAISE(ABORT, 'the row does not follow the last one');
END;
CREATE TRIGGER audit_advance AFTER INSERT ON audit
BEGIN
    UPDATE audit_head SET position = NEW.position, hash = NEW.hash;
END;
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is only appended to');
END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is only appended to');
END;

-- Every release that ever was, also where the release itself is gone: no
-- reference to it, and no row is ever deleted.
CREATE TABLE ledger (
    release_id          BLOB NOT NULL PRIMARY KEY CHECK (length(release_id) = 16),
    job_id              BLOB NOT NULL,
    dataset_id          BLOB NOT NULL,
    dataset_version     INTEGER NOT NULL,
    preference_version  INTEGER NOT NULL,
    engine              TEXT NOT NULL,
    claims              TEXT NOT NULL,          -- JSON: guarantees and counts, of the manifest
    requested_by        TEXT NOT NULL,
    created_at          INTEGER NOT NULL,
    published_at        INTEGER,
    published_by        TEXT,
    withdrawn_at        INTEGER,
    withdrawn_by        TEXT,
    erased_at           INTEGER,                -- a draft that went with its dataset
    erased_by           TEXT,
    table_reads         INTEGER NOT NULL DEFAULT 0,
    report_reads        INTEGER NOT NULL DEFAULT 0,
    verification_reads  INTEGER NOT NULL DEFAULT 0,
    queries             INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX ledger_dataset ON ledger (dataset_id, release_id);
INSERT INTO ledger (release_id, job_id, dataset_id, dataset_version, preference_version, engine, claims,
        requested_by, created_at, published_at, withdrawn_at)
    SELECT release.id, job_id, release.dataset_id, release.dataset_version, release.preference_version,
        release.engine, json_object(
            'records', manifest -> '$.records', 'excluded', manifest -> '$.excluded',
            'suppressed', manifest -> '$.suppressed',
            'guarantees', manifest -> '$.guarantees'),
        job.created_by, release.created_at, published_at, withdrawn_at
    FROM release JOIN job ON job.id = release.job_id;

-- Keys that clients gave to their requests. A row is reserved while its
-- request runs, and holds the sealed answer afterwards.
CREATE TABLE idempotency (
    principal         TEXT NOT NULL,
    key_hash          BLOB NOT NULL CHECK (length(key_hash) = 32),  -- SHA-256 of the key
    request_hash      BLOB NOT NULL CHECK (length(request_hash) = 32),  -- of method, path, query, media type
    token             BLOB NOT NULL CHECK (length(token) = 16),  -- whoever shows it may finish the request
    lease_expires_at  INTEGER,                  -- set exactly while the request runs
    body_hash         BLOB CHECK (length(body_hash) = 32),  -- set with the answer
    answer            BLOB,                     -- sealed under the caller's own token and key
    created_at        INTEGER NOT NULL,
    PRIMARY KEY (principal, key_hash),
    CHECK ((lease_expires_at IS NULL) = (answer IS NOT NULL)),
    CHECK ((answer IS NULL) = (body_hash IS NULL))
) STRICT;
CREATE INDEX idempotency_created ON idempotency (created_at);
