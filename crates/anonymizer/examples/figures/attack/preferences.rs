//! Who asked for something, as far as releases tell: area under the curve and
//! best precision, for one release and for three of the same data.

#[path = "../../../tests/engines/preferences_attack/adversary.rs"]
mod adversary;

use serde_json::Value;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::privacy::{Requirements, Seed};
use vizard_anonymizer::release::Release;

use crate::Failure;
use crate::load::Data;
use adversary::{Ask, attack};

/// Releases of the same data.
const RELEASES: u64 = 3;

/// The columns of [`lines`].
pub const HEADER: &str = "\
| data | job | effort | asks | askers | share | one release: AUC, precision | three: AUC, precision |
|---|---|---|---|---|---|---|---|";

/// Runs a job three times and prints a row for each thing that subjects ask.
pub fn lines(
    title: &str,
    data: &Data,
    (engine, parameters): (&str, &Value),
) -> Result<(), Failure> {
    let engine = match Engine::parse(engine, parameters, data.table.schema()) {
        Ok(engine) => engine,
        Err(EngineError::InvalidParameter { parameter, .. }) => {
            println!("| {title} | refused: {parameter} |");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let policy = engine.policy(data.table.schema())?;
    let requirements = Requirements::new(&data.table, policy, &data.preferences);
    let releases = (0..RELEASES).map(|seed| {
        let context = RunContext {
            dataset_secret: Seed::of_number(77),
            ..RunContext::silent(seed)
        };
        engine.run(&data.table, &requirements, &context)
    });
    let releases: Vec<Release> = match releases.collect() {
        Ok(releases) => releases,
        Err(EngineError::Infeasible(answer)) => {
            println!("| {title} | infeasible: {} |", answer.strongest);
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let source = (&data.table, &requirements);
    for (ask, name) in [(Ask::K, "own k"), (Ask::OfValues, "own l")] {
        let one = attack(source, &releases[..1], ask);
        let all = attack(source, &releases, ask);
        if let (Some(one), Some(all)) = (one, all) {
            println!(
                "| {title} | {name} | {} | {:.3} | {:.3}, {:.3} | {:.3}, {:.3} |",
                one.askers,
                one.askers as f64 / one.published as f64,
                one.auc,
                one.precision,
                all.auc,
                all.precision,
            );
        }
    }
    Ok(())
}
