//! All attacks of the verifier on a release: a row each, with what it attains and
//! the figures that stand beside it.

use serde_json::Value;
use vizard_anonymizer::verify::{Check, Section};

use super::verified;
use crate::Failure;
use crate::load::Data;

/// The columns of [`lines`].
pub const HEADER: &str = "\
| data | job | effort | attack | attribute | bound | attained | beside it | engine s | verify s |
|---|---|---|---|---|---|---|---|---|---|";

/// Runs a job, and prints a row for each attack.
pub fn lines(
    title: &str,
    data: &Data,
    (engine, parameters): (&str, &Value),
) -> Result<(), Failure> {
    let Some(timed) = verified(title, data, (engine, parameters))? else {
        return Ok(());
    };
    let (engine, verify) = (timed.engine.as_secs_f64(), timed.verify.as_secs_f64());
    let verdict = timed.produced.verdict.ok_or("it was verified")?;
    for check in verdict.section(Section::Attack) {
        println!("| {title} | {} | {engine:.2} | {verify:.2} |", row(check));
    }
    Ok(())
}

fn row(check: &Check) -> String {
    let figure = |figure: Option<f64>| figure.map_or("–".into(), |figure| format!("{figure:.3}"));
    let beside = check.figures.iter();
    let beside = beside.map(|(name, figure)| format!("{name} {}", short(*figure)));
    format!(
        "{} | {} | {} | {} | {}",
        check.kind,
        check.attribute.as_deref().unwrap_or("–"),
        figure(check.claimed),
        figure(check.attained),
        beside.collect::<Vec<_>>().join(", "),
    )
}

fn short(figure: f64) -> String {
    if figure.fract() == 0.0 {
        format!("{figure:.0}")
    } else {
        format!("{figure:.3}")
    }
}
