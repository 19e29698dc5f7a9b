//! Engines that publish records in groups with exact sensitive values:
//! `mondrian`.

mod handmade;
mod negative;
mod properties;
mod pycanon;
pub mod scenario;

use serde_json::Value;
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::{Preference, Table};

use crate::case::Case;

/// What the engine makes of a table, decoded from its bytes.
fn publish(
    table: Table,
    parameters: &Value,
    preferences: &[Preference],
    seed: u64,
) -> Result<Case, EngineError> {
    Case::run("mondrian", table, parameters, preferences, seed)
}
