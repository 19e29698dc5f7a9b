//! What several releases of the same people tell together: subjects with fewer
//! than l values left, with one, and with a certain value after propagation.

use serde_json::Value;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::privacy::{CancelFlag, Requirements, Seed};
use vizard_anonymizer::release::candidates::Candidates;
use vizard_anonymizer::release::order;
use vizard_anonymizer::verify::{composition, series};

use crate::Failure;
use crate::load::Data;

/// Releases of the same data.
const RELEASES: u64 = 3;

/// The columns of [`lines`].
pub const HEADER: &str = "\
| data | job | effort | releases are | attribute | l | releases | shared | fewer than l left | one left | certain | safe |
|---|---|---|---|---|---|---|---|---|---|---|---|";

/// Runs a job three times, with one secret of the dataset and with three, and
/// prints a row for two and for three releases.
pub fn lines(
    title: &str,
    data: &Data,
    (engine, parameters): (&str, &Value),
) -> Result<(), Failure> {
    let Ok(engine) = Engine::parse(engine, parameters, data.table.schema()) else {
        println!("| {title} | refused |");
        return Ok(());
    };
    for drawn in ["of one dataset", "drawn apart"] {
        let title = format!("{title} | {drawn}");
        of_releases(&title, data, (&engine, drawn == "drawn apart"))?;
    }
    Ok(())
}

/// Releases that share the dataset's secret, or each have another one.
fn of_releases(
    title: &str,
    data: &Data,
    (engine, are_apart): (&Engine, bool),
) -> Result<(), Failure> {
    let policy = engine.policy(data.table.schema())?;
    let requirements = Requirements::new(&data.table, policy, &[]);
    let mut all = Vec::new();
    for seed in 0..RELEASES {
        let context = RunContext {
            dataset_secret: Seed::of_number(if are_apart { seed } else { 0 }),
            ..RunContext::silent(seed)
        };
        let mut release = match engine.run(&data.table, &requirements, &context) {
            Ok(release) => release,
            Err(EngineError::Infeasible(answer)) => {
                println!("| {title} | infeasible: {} |", answer.strongest);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        order(&mut release.tables, &mut release.lineage, &context.seed);
        let tables = &release.tables;
        all.push(Candidates::of(
            &data.table,
            &requirements,
            tables,
            &release.lineage,
        ));
    }
    for releases in 2..=all.len() {
        let others: Vec<&Candidates> = all[1..releases].iter().collect();
        let found = composition(&all[0], &others, CancelFlag::never());
        let is_safe = series(&all[0], &others).is_safe();
        for one in &found.attributes {
            let share = |count: u64| 100.0 * count as f64 / found.shared.max(1) as f64;
            println!(
                "| {title} | {} | {} | {releases} | {} | {:.1} % | {:.1} % | {:.1} % | {is_safe} |",
                one.attribute,
                one.l,
                found.shared,
                share(one.below_l),
                share(one.one_left),
                share(one.certain),
            );
        }
    }
    Ok(())
}
