//! Statements on hierarchies.

use super::statements;

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT name, revision, digest, media_type, content, leaves, height, created_at \
             FROM hierarchy ",
            $tail
        )
    };
}

statements! {
    /// `$1` name.
    GET = select!("WHERE name = $1 ORDER BY revision DESC LIMIT 1");
    /// `$1` digest.
    GET_BY_DIGEST = select!("WHERE digest = $1 ORDER BY name, revision LIMIT 1");
    /// `$1` name, `$2` revision, `$3` digest, `$4` media type, `$5` content, `$6` leaves,
    /// `$7` height, `$8` now. Changes no row where another took the revision first.
    CREATE = "INSERT INTO hierarchy (name, revision, digest, media_type, content, leaves, \
        height, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
        ON CONFLICT (name, revision) DO NOTHING";
}
