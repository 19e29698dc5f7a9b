-- API keys may end by themselves.
-- docs/STORE.md tells the story; ../postgres/ holds the same column.

ALTER TABLE api_key ADD COLUMN expires_at INTEGER;  -- null: never
