//! What an adversary learns who runs the engine on tables that fit a release:
//! the attack of the verifier, of as many records and with as many reruns as
//! are asked for (`--records N`, `--reruns N`).

use std::time::Instant;

use serde_json::Value;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::Table;
use vizard_anonymizer::privacy::{CancelFlag, Requirements};
use vizard_anonymizer::verify::minimality;

use super::{SEED, figure};
use crate::Failure;
use crate::arguments::number;
use crate::load::Data;

/// The columns of [`lines`].
pub const HEADER: &str = "\
| data | job | effort | attribute | records | people of classes that came again | counting | right | told | largest gain | attack s |
|---|---|---|---|---|---|---|---|---|---|---|";

/// Runs a job and prints a row for each attribute.
pub fn lines(
    title: &str,
    data: &Data,
    (engine, parameters): (&str, &Value),
) -> Result<(), Failure> {
    let table = &data.table;
    let engine = match Engine::parse(engine, parameters, table.schema()) {
        Ok(engine) => engine,
        Err(EngineError::InvalidParameter { parameter, .. }) => {
            println!("| {title} | refused: {parameter} |");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let never = CancelFlag::never();
    let again = |table: &Table, number: u64| engine.shown(table, &[], number, never);
    let Some(shown) = engine.shown(table, &[], u64::MAX - SEED, never) else {
        println!("| {title} | infeasible |");
        return Ok(());
    };
    let requirements = Requirements::new(table, engine.policy(table.schema())?, &[]);
    let reruns = number("--reruns", 200) as u64;
    let started = Instant::now();
    let of = (table, &requirements);
    let checks = minimality(of, &shown, (&again, reruns), never);
    let seconds = started.elapsed().as_secs_f64();
    for check in checks {
        let figure = |name: &str| figure(&check, name);
        println!(
            "| {title} | {} | {} | {} | {:.3} | {:.3} | {} | {:.2} | {seconds:.1} |",
            check.attribute.as_deref().unwrap_or_default(),
            table.records(),
            figure("people"),
            figure("counting"),
            check.attained.unwrap_or(f64::NAN),
            figure("told"),
            figure("largest_gain"),
        );
    }
    Ok(())
}
