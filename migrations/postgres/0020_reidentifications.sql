-- A released row back to its person, by two stewards.
-- docs/STORE.md tells the story; ../sqlite/ holds the same table.

-- The subject is not kept here: it is read from the lineage, as long as that has it.
CREATE TABLE reidentification (
    id            uuid PRIMARY KEY,
    release_id    uuid NOT NULL REFERENCES release (id) ON DELETE CASCADE,
    dataset_id    uuid NOT NULL REFERENCES dataset (id),
    table_name    text NOT NULL,
    table_row     bigint NOT NULL CHECK (table_row > 0),
    reason        text NOT NULL,     -- sealed, where the dataset is
    state         text NOT NULL CHECK (state IN ('pending', 'confirmed', 'refused', 'withdrawn')),
    asked_by      text NOT NULL,
    asked_at      timestamptz NOT NULL,
    ends_at       timestamptz NOT NULL,  -- pending: until when it can be confirmed; confirmed: until when the subject is told
    decided_by    text,              -- null: nobody yet
    decided_at    timestamptz
);
CREATE INDEX reidentification_release ON reidentification (release_id, id);
CREATE INDEX reidentification_dataset ON reidentification (dataset_id, asked_at);
