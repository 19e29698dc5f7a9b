-- Secrets of runs; digests, seeds and figures of unpublished records go.
-- docs/DATA_MODEL.md tells the story; ../postgres/ holds the same tables.

-- 256 bits each from the operating system, sealed where the dataset is. A row
-- of before has none: it is drawn when it is first needed.
ALTER TABLE dataset ADD COLUMN secret BLOB
    CHECK (secret IS NULL OR erased_at IS NULL);  -- what must be the same in every release
ALTER TABLE job ADD COLUMN seed BLOB
    CHECK (seed IS NULL OR state IN ('queued', 'running'));  -- every random choice of every attempt
ALTER TABLE job ADD COLUMN tells_figures INTEGER NOT NULL DEFAULT 0
    CHECK (tells_figures IN (0, 1));            -- `problem` has figures of the records

-- Whoever can guess a record can compute its digest.
ALTER TABLE dataset_version DROP COLUMN sha256;
UPDATE release SET manifest = json_remove(manifest, '$.input.sha256');

-- Seeds of before could be guessed, and stood in the open.
UPDATE job SET spec = json_remove(spec, '$.seed');

-- Answers that named frequencies of the records.
UPDATE job SET problem = json_set(json_remove(problem, '$.strongest', '$.strongest_value'),
        '$.detail', 'a parameter is too strong for the records')
    WHERE problem ->> '$.type' = 'urn:vizard:problem:infeasible';
