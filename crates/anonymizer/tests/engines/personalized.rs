//! Engine `personalized`: k-anonymity with a bound on leakage that each
//! subject sets.

mod collision;
mod effort;
mod handmade;
mod properties;
pub mod scenario;

use serde_json::Value;
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::{Preference, Table};

use super::case::Case;

/// What the engine makes of a table, read back from its bytes.
pub fn publish(
    table: Table,
    parameters: &Value,
    preferences: &[Preference],
    seed: u64,
) -> Result<Case, EngineError> {
    Case::run("personalized", table, parameters, preferences, seed)
}

/// Text of a published cell.
pub fn text(cell: &vizard_anonymizer::release::Cell) -> String {
    let mut text = String::new();
    cell.text(&mut text);
    text
}
