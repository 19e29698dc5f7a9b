-- Among whom the people of a dataset could be.
-- docs/STORE.md tells the story; ../postgres/ holds the same tables.

CREATE TABLE population_table (
    dataset_id    BLOB PRIMARY KEY REFERENCES dataset (id),
    attributes    TEXT NOT NULL,     -- JSON: name and type of each, in the order of the content
    people        INTEGER NOT NULL,
    combinations  INTEGER NOT NULL,
    sha256        TEXT NOT NULL,     -- of the canonical text, in hexadecimal
    content       BLOB NOT NULL,     -- the canonical text, packed; sealed where the dataset is
    created_by    TEXT NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;
