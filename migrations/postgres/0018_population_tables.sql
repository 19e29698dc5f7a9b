-- Among whom the people of a dataset could be.
-- docs/STORE.md tells the story; ../sqlite/ holds the same tables.

CREATE TABLE population_table (
    dataset_id    uuid PRIMARY KEY REFERENCES dataset (id),
    attributes    text NOT NULL,     -- JSON: name and type of each, in the order of the content
    people        bigint NOT NULL,
    combinations  bigint NOT NULL,
    sha256        text NOT NULL,     -- of the canonical text, in hexadecimal
    content       bytea NOT NULL,    -- the canonical text, packed; sealed where the dataset is
    created_by    text NOT NULL,
    created_at    timestamptz NOT NULL
);
