-- An erasure is over when its bytes are gone, and takes kept answers with it.
-- docs/STORE.md tells the story; ../postgres/ holds the same columns.

ALTER TABLE tombstone ADD COLUMN wiped_at INTEGER;  -- null: traces may be left
UPDATE tombstone SET wiped_at = buried_at;
CREATE INDEX tombstone_unwiped ON tombstone (buried_at) WHERE wiped_at IS NULL;

-- Whose answer it is; null: no dataset's.
ALTER TABLE idempotency ADD COLUMN dataset_id BLOB;
CREATE INDEX idempotency_dataset ON idempotency (dataset_id) WHERE dataset_id IS NOT NULL;
