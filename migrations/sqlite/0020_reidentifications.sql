-- A released row back to its person, by two stewards.
-- docs/STORE.md tells the story; ../postgres/ holds the same table.

-- The subject is not kept here: it is read from the lineage, as long as that has it.
CREATE TABLE reidentification (
    id            BLOB PRIMARY KEY,
    release_id    BLOB NOT NULL REFERENCES release (id) ON DELETE CASCADE,
    dataset_id    BLOB NOT NULL REFERENCES dataset (id),
    table_name    TEXT NOT NULL,
    table_row     INTEGER NOT NULL CHECK (table_row > 0),
    reason        TEXT NOT NULL,     -- sealed, where the dataset is
    state         TEXT NOT NULL CHECK (state IN ('pending', 'confirmed', 'refused', 'withdrawn')),
    asked_by      TEXT NOT NULL,
    asked_at      INTEGER NOT NULL,
    ends_at       INTEGER NOT NULL,  -- pending: until when it can be confirmed; confirmed: until when the subject is told
    decided_by    TEXT,              -- null: nobody yet
    decided_at    INTEGER
) STRICT;
CREATE INDEX reidentification_release ON reidentification (release_id, id);
CREATE INDEX reidentification_dataset ON reidentification (dataset_id, asked_at);
