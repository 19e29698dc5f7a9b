-- Receipts of subjects who said their own terms. docs/STORE.md tells the story; ../sqlite/ holds the same.
--
-- Of a receipt's code its hash alone is kept, with a row for each dataset of the population
-- that the terms were written to. It goes with the terms' history: an erasure takes both.

CREATE TABLE consent_receipt (
    code_hash   bytea NOT NULL CHECK (octet_length(code_hash) = 32),  -- SHA-256
    dataset_id  uuid NOT NULL,
    subject     bytea NOT NULL,                 -- as in the preference
    version     bigint NOT NULL,                -- preference version that brought the terms
    PRIMARY KEY (code_hash, dataset_id),
    FOREIGN KEY (dataset_id, subject, version) REFERENCES preference (dataset_id, subject, version) ON DELETE CASCADE
);
CREATE INDEX consent_receipt_terms ON consent_receipt (dataset_id, subject, version);
