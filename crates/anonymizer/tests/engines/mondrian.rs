//! Engines that publish records in groups with exact sensitive values:
//! `mondrian`.

mod handmade;
mod negative;
mod properties;
mod pycanon;
mod scenario;

use serde_json::Value;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::microdata::{Preference, Table};
use vizard_anonymizer::privacy::Requirements;

use crate::case::Case;

/// What the engine makes of a table, decoded from its bytes.
fn publish(
    table: Table,
    parameters: &Value,
    preferences: &[Preference],
    seed: u64,
) -> Result<Case, EngineError> {
    let engine = Engine::parse("mondrian", parameters, table.schema())?;
    let policy = engine.policy(table.schema())?;
    let requirements = Requirements::new(&table, policy, preferences);
    let release = engine.run(&table, &requirements, &RunContext::silent(seed))?;
    let source = (table, requirements);
    Ok(Case::made_by(
        "mondrian",
        source,
        engine.parameters(),
        release,
    ))
}
