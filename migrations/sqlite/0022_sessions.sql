-- Browsers that somebody signed in with. docs/STORE.md tells the story; ../postgres/ holds the same.
--
-- Of what the cookie holds its hash alone is kept. A row goes when somebody signs out, and
-- when its time is over; whether the key behind it still opens anything is asked each time.

CREATE TABLE web_session (
    token_hash  BLOB NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),  -- SHA-256
    holder      TEXT NOT NULL,      -- document: the key behind it, or what an issuer said
    created_at  INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL,       -- of the last request, to the minute
    expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX web_session_expiry ON web_session (expires_at);
