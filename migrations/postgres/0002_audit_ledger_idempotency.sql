-- What was done (audit), what was made public (ledger), what was answered
-- already (idempotency). docs/DATA_MODEL.md tells the story; ../sqlite/ holds
-- the same tables.

-- The log: one row a change of state and a read of a release. Each row commits
-- to the row before it by `previous`; src/store/chain.rs says what is hashed.
CREATE TABLE audit (
    position     bigint PRIMARY KEY CHECK (position > 0),  -- 1, 2, … without a gap
    occurred_at  timestamptz NOT NULL,          -- by the database's clock
    actor        text NOT NULL,                 -- a key's id, `operator`, a worker, `janitor`
    request_id   text,                          -- null: no request stood behind it
    action       text NOT NULL,                 -- create_dataset, complete_job, …
    object_kind  text NOT NULL,
    object_id    text,                          -- null: the object is a person's, or there is none
    dataset_id   uuid,
    detail       text NOT NULL,                 -- JSON: counts, versions, digests
    previous     bytea NOT NULL CHECK (octet_length(previous) = 32),  -- `hash` of the row before; zeros in row 1
    hash         bytea NOT NULL CHECK (octet_length(hash) = 32)  -- SHA-256 of all columns before this one
);

-- The last position and its hash: the row that writers queue for, and what
-- shows that rows were taken off the end.
CREATE TABLE audit_head (
    single    boolean PRIMARY KEY DEFAULT true CHECK (single),
    position  bigint NOT NULL,
    hash      bytea NOT NULL CHECK (octet_length(hash) = 32)
);
INSERT INTO audit_head (position, hash) VALUES (0, decode(repeat('00', 32), 'hex'));

CREATE FUNCTION audit_advance() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE audit_head SET position = NEW.position, hash = NEW.hash
        WHERE position = NEW.position - 1 AND hash = NEW.previous;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the row does not follow the last one';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_advance AFTER INSERT ON audit FOR EACH ROW EXECUTE FUNCTION audit_advance();

CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is only appended to';
END $$;
CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_refuse();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();

-- Every release that ever was, also where the release itself is gone: no
-- reference to it, and no row is ever deleted.
CREATE TABLE ledger (
    release_id          uuid PRIMARY KEY,
    job_id              uuid NOT NULL,
    dataset_id          uuid NOT NULL,
    dataset_version     bigint NOT NULL,
    preference_version  bigint NOT NULL,
    engine              text NOT NULL,
    claims              text NOT NULL,          -- JSON: guarantees and counts, of the manifest
    requested_by        text NOT NULL,
    created_at          timestamptz NOT NULL,
    published_at        timestamptz,
    published_by        text,
    withdrawn_at        timestamptz,
    withdrawn_by        text,
    erased_at           timestamptz,            -- a draft that went with its dataset
    erased_by           text,
    table_reads         bigint NOT NULL DEFAULT 0,
    report_reads        bigint NOT NULL DEFAULT 0,
    verification_reads  bigint NOT NULL DEFAULT 0,
    queries             bigint NOT NULL DEFAULT 0
);
CREATE INDEX ledger_dataset ON ledger (dataset_id, release_id);
INSERT INTO ledger (release_id, job_id, dataset_id, dataset_version, preference_version, engine, claims,
        requested_by, created_at, published_at, withdrawn_at)
    SELECT release.id, job_id, release.dataset_id, release.dataset_version, release.preference_version,
        release.engine, CAST(json_build_object(
            'records', CAST(manifest AS json) -> 'records', 'excluded', CAST(manifest AS json) -> 'excluded',
            'suppressed', CAST(manifest AS json) -> 'suppressed',
            'guarantees', CAST(manifest AS json) -> 'guarantees') AS text),
        job.created_by, release.created_at, published_at, withdrawn_at
    FROM release JOIN job ON job.id = release.job_id;

-- Keys that clients gave to their requests. A row is reserved while its
-- request runs, and holds the sealed answer afterwards.
CREATE TABLE idempotency (
    principal         text NOT NULL,
    key_hash          bytea NOT NULL CHECK (octet_length(key_hash) = 32),  -- SHA-256 of the key
    request_hash      bytea NOT NULL CHECK (octet_length(request_hash) = 32),  -- of method, path, query, media type
    token             uuid NOT NULL,            -- whoever shows it may finish the request
    lease_expires_at  timestamptz,              -- set exactly while the request runs
    body_hash         bytea CHECK (octet_length(body_hash) = 32),  -- set with the answer
    answer            bytea,                    -- sealed under the caller's own token and key
    created_at        timestamptz NOT NULL,
    PRIMARY KEY (principal, key_hash),
    CHECK ((lease_expires_at IS NULL) = (answer IS NOT NULL)),
    CHECK ((answer IS NULL) = (body_hash IS NULL))
);
CREATE INDEX idempotency_created ON idempotency (created_at);
