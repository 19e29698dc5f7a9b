-- API keys may end by themselves.
-- docs/STORE.md tells the story; ../sqlite/ holds the same column.

ALTER TABLE api_key ADD COLUMN expires_at timestamptz;  -- null: never
