//! What a learner guesses from a release, beside what statistics of the
//! population tell.

use std::time::Instant;

use serde_json::Value;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::privacy::{CancelFlag, Requirements};
use vizard_anonymizer::verify::inference;

use super::{figure, verified};
use crate::Failure;
use crate::load::Data;

/// The columns of [`lines`].
pub const HEADER: &str = "\
| data | job | effort | attribute | people | 1/l | most frequent value | population | release | lift | attack s |
|---|---|---|---|---|---|---|---|---|---|---|";

/// Runs a job and prints a row for each attribute.
pub fn lines(
    title: &str,
    data: &Data,
    (engine, parameters): (&str, &Value),
) -> Result<(), Failure> {
    let Some(timed) = verified(title, data, (engine, parameters))? else {
        return Ok(());
    };
    let produced = timed.produced;
    let parsed = Engine::parse(engine, parameters, data.table.schema())?;
    let policy = parsed.policy(data.table.schema())?;
    let requirements = Requirements::new(&data.table, policy, &[]);
    let started = Instant::now();
    let shown = &produced.candidates;
    let checks = inference(&data.table, &requirements, shown, &CancelFlag::default());
    let seconds = started.elapsed().as_secs_f64();
    for check in checks {
        let figure = |name: &str| figure(&check, name);
        println!(
            "| {title} | {} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.2} | {seconds:.2} |",
            check.attribute.as_deref().unwrap_or_default(),
            figure("people"),
            figure("one_in_l"),
            figure("most_frequent_value"),
            figure("population"),
            check.attained.unwrap_or(0.0),
            figure("lift"),
        );
    }
    Ok(())
}
