-- One-time tokens by which subjects say their own terms.
--
-- Of a token its hash alone is kept. A row goes when its token is used, when
-- its time is over, or when its dataset is erased: a used token and one that
-- never was are the same to the store.

CREATE TABLE subject_token (
    token_hash  BLOB NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),  -- SHA-256
    dataset_id  BLOB NOT NULL REFERENCES dataset (id),
    subject     BLOB NOT NULL,                  -- UTF-8; need not occur in the records
    created_by  TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX subject_token_dataset ON subject_token (dataset_id);
CREATE INDEX subject_token_expiry ON subject_token (expires_at);
