-- Secrets of runs; digests, seeds and figures of unpublished records go.
-- docs/DATA_MODEL.md tells the story; ../sqlite/ holds the same tables.

-- 256 bits each from the operating system, sealed where the dataset is. A row
-- of before has none: it is drawn when it is first needed.
ALTER TABLE dataset ADD COLUMN secret bytea
    CHECK (secret IS NULL OR erased_at IS NULL);  -- what must be the same in every release
ALTER TABLE job ADD COLUMN seed bytea
    CHECK (seed IS NULL OR state IN ('queued', 'running'));  -- every random choice of every attempt
ALTER TABLE job ADD COLUMN tells_figures boolean NOT NULL DEFAULT FALSE;  -- `problem` has figures of the records

-- Whoever can guess a record can compute its digest. CLUSTER writes the table
-- anew: a dropped column alone stays in the file.
ALTER TABLE dataset_version DROP COLUMN sha256;
CLUSTER dataset_version USING dataset_version_pkey;
UPDATE release SET manifest = CAST(CAST(manifest AS jsonb) #- '{input,sha256}' AS text);

-- Seeds of before could be guessed, and stood in the open.
UPDATE job SET spec = CAST(CAST(spec AS jsonb) - 'seed' AS text);

-- Answers that named frequencies of the records.
UPDATE job SET problem = CAST(
        CAST(problem AS jsonb) - 'strongest' - 'strongest_value'
        || '{"detail": "a parameter is too strong for the records"}' AS text)
    WHERE CAST(problem AS jsonb) ->> 'type' = 'urn:vizard:problem:infeasible';
