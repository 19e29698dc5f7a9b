//! Browsers that somebody signed in with.
//!
//! The store keeps the hash of what the cookie holds, and who signed in, as a
//! document that is read in `http`. It does not know whether the key behind a
//! session still opens anything: that is asked with every request.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

/// How long a session lasts, whatever is done in it.
pub const SESSION_LIFETIME: TimeDelta = TimeDelta::hours(8);
/// How long a session lasts in which nothing is asked for.
pub const SESSION_IDLE_MAX: TimeDelta = TimeDelta::minutes(30);

/// A session that lives.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    /// Who signed in.
    pub holder: Value,
    /// When something was last asked for in it, to the minute.
    pub seen_at: DateTime<Utc>,
    /// When it was found, by the store's clock.
    pub found_at: DateTime<Utc>,
    /// When it ends whatever is done.
    pub expires_at: DateTime<Utc>,
}
