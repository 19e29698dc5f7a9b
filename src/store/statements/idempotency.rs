//! Statements on keys of requests.
//!
//! `$1` is the principal and `$2` the key's hash in all of them; those of the
//! reservation's holder have its token as `$3`, and change nothing once the
//! request is answered.

use super::statements;

/// The reservation is held.
macro_rules! held {
    ($head:literal) => {
        concat!(
            $head,
            " WHERE principal = $1 AND key_hash = $2 AND token = $3 AND answer IS NULL"
        )
    };
}

statements! {
    /// Who has the key.
    GET = "SELECT request_hash, lease_expires_at, body_hash, answer FROM idempotency \
        WHERE principal = $1 AND key_hash = $2";
    /// `$3` token, `$4` hash of the request, `$5` now, `$6` expiry, `$7` dataset or null.
    RESERVE = "INSERT INTO idempotency (principal, key_hash, token, request_hash, created_at, \
        lease_expires_at, dataset_id) VALUES ($1, $2, $3, $4, $5, $6, $7) \
        ON CONFLICT (principal, key_hash) DO NOTHING";
    /// The same, from a request that went away without an answer.
    TAKE_OVER = "UPDATE idempotency SET token = $3, request_hash = $4, created_at = $5, \
        lease_expires_at = $6, dataset_id = $7 WHERE principal = $1 AND key_hash = $2 AND answer IS NULL \
        AND lease_expires_at <= $5";
    /// `$4` expiry.
    EXTEND = held!("UPDATE idempotency SET lease_expires_at = $4");
    /// `$4` hash of the body, `$5` sealed answer, `$6` now, `$7` dataset or null.
    KEEP = held!("UPDATE idempotency SET body_hash = $4, answer = $5, created_at = $6, \
        lease_expires_at = NULL, dataset_id = $7");
    /// Nobody has the key any more.
    FREE = held!("DELETE FROM idempotency");
    /// `$1` dataset: answers that may tell of what was erased.
    FORGET = "DELETE FROM idempotency WHERE dataset_id = $1 AND answer IS NOT NULL";
    /// `$1` before when, `$2` now: what is too old and not running.
    SWEEP = "DELETE FROM idempotency WHERE created_at < $1 \
        AND (lease_expires_at IS NULL OR lease_expires_at <= $2)";
}
