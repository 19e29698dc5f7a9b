-- The operator's floors, and the approval of a first of two stewards.
-- docs/STORE.md tells the story; ../sqlite/ holds the same tables.

ALTER TABLE dataset ADD COLUMN floors text;   -- JSON; null: as the service's options say
ALTER TABLE release ADD COLUMN grounds text;  -- JSON: why it took more than one steward, once public

-- One of two stewards said that a draft may go out; stays beside what was published by it.
CREATE TABLE release_approval (
    release_id    uuid PRIMARY KEY REFERENCES release (id) ON DELETE CASCADE,
    grounds       text NOT NULL,     -- JSON: kinds and reasons that need two
    beside        text NOT NULL,     -- JSON: the public releases of the same people then
    acknowledged  text,              -- JSON: releases beside which it may go out, with the reason
    approved_by   text NOT NULL,
    approved_at   timestamptz NOT NULL
);
