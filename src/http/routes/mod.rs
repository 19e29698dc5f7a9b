//! One file a resource: its handlers, and the views they answer with.

pub mod datasets;
pub mod documentation;
pub mod health;
pub mod keys;
pub mod page;

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
