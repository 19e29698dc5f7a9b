-- A message that is sent has a lease of its own, by the clock that leases run out by: its
-- time of day stays what it was. docs/STORE.md tells the story; ../sqlite/ holds the same.

ALTER TABLE webhook_message ADD COLUMN lease_expires_at timestamptz;
-- One that is being sent now is put off by the lease it has.
UPDATE webhook_message SET lease_expires_at = due_at
    WHERE state = 'waiting' AND lease_token IS NOT NULL;
DROP INDEX webhook_message_due;
-- What a webhook is told next, and whether something is being sent to it.
CREATE INDEX webhook_message_next ON webhook_message (webhook_id, due_at) WHERE state = 'waiting';
CREATE INDEX webhook_message_sent ON webhook_message (webhook_id) WHERE lease_token IS NOT NULL;
