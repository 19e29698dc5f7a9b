//! Upkeep of the data keys that datasets and releases are sealed with.
//!
//! What is sealed is told nowhere above the store; this is only about the
//! master key. After an operator put a new one in front, every data key is
//! wrapped anew, a batch a transaction, while servers run: nothing that was
//! sealed is touched. Stopped half way, it is simply begun again.

/// How many data keys, and secrets of webhooks, there are, by what wraps them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DataKeyCounts {
    /// Wrapped by the current master key.
    pub current: u64,
    /// Wrapped by another one.
    pub earlier: u64,
    /// Destroyed, with what they sealed.
    pub destroyed: u64,
}
