-- Text counts in what a job is estimated to need.
-- docs/STORE.md tells the story; ../sqlite/ holds the same columns.

-- Older versions were not counted: eight times their stored size stands for both.
ALTER TABLE dataset_version ADD COLUMN cells_text_bytes bigint NOT NULL DEFAULT 0;
ALTER TABLE dataset_version ADD COLUMN labels_text_bytes bigint NOT NULL DEFAULT 0;
UPDATE dataset_version SET cells_text_bytes = 8 * (
    SELECT COALESCE(SUM(length(chunk.bytes)), 0) FROM chunk
    WHERE chunk.dataset_id = dataset_version.dataset_id
        AND chunk.epoch = dataset_version.epoch AND chunk.position < dataset_version.chunks);
UPDATE dataset_version SET labels_text_bytes = cells_text_bytes;

ALTER TABLE job ADD COLUMN memory_bytes bigint;  -- null: queued without an estimate
