//! Statements on sessions of browsers.
//!
//! Both ends are part of every condition: a session whose time is over is
//! found by none of them, whether or not it was swept.

use super::statements;

macro_rules! living {
    ($head:literal) => {
        concat!(
            $head,
            " WHERE token_hash = $1 AND expires_at > $2 AND seen_at > $3"
        )
    };
}

statements! {
    /// `$1` hash, `$2` holder, `$3` now, `$4` end.
    CREATE = "INSERT INTO web_session (token_hash, holder, created_at, seen_at, expires_at) \
        VALUES ($1, $2, $3, $3, $4) ON CONFLICT (token_hash) DO NOTHING";
    /// `$1` hash, `$2` now, `$3` least time seen.
    FIND = living!("SELECT holder, seen_at, expires_at FROM web_session");
    /// `$1` hash, `$2` now, `$3` least time seen.
    TOUCH = living!("UPDATE web_session SET seen_at = $2");
    /// `$1` hash.
    END = "DELETE FROM web_session WHERE token_hash = $1";
    /// `$1` now, `$2` least time seen.
    SWEEP = "DELETE FROM web_session WHERE expires_at <= $1 OR seen_at <= $2";
}
