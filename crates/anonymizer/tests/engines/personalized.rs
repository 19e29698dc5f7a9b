//! Engine `personalized`: k-anonymity with a bound on leakage that each
//! subject sets.

mod collision;
mod effort;
mod handmade;
mod properties;
mod scenario;

use serde_json::Value;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::microdata::{Preference, Table};
use vizard_anonymizer::privacy::Requirements;

use super::case::Case;

/// What the engine makes of a table, read back from its bytes.
pub fn publish(
    table: Table,
    parameters: &Value,
    preferences: &[Preference],
    seed: u64,
) -> Result<Case, EngineError> {
    let engine = Engine::parse("personalized", parameters, table.schema())?;
    let policy = engine.policy(table.schema())?;
    let requirements = Requirements::new(&table, policy, preferences);
    let release = engine.run(&table, &requirements, &RunContext::silent(seed))?;
    let source = (table, requirements);
    Ok(Case::made_by(
        "personalized",
        source,
        engine.parameters(),
        release,
    ))
}

/// Text of a published cell.
pub fn text(cell: &vizard_anonymizer::release::Cell) -> String {
    let mut text = String::new();
    cell.text(&mut text);
    text
}
