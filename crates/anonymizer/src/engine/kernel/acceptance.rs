//! What engines ask of every schema and job before they run.

use std::collections::BTreeMap;

use schemars::{SchemaGenerator, json_schema};

use crate::engine::error::{EngineError, Infeasible};
use crate::microdata::{Attribute, AttributeType, CodedColumn, Multiplicity, Role, Schema, Table};
use crate::privacy::{L, Requirements, Share, Spread};

use super::eligibility::least_share;

/// Largest share of subjects left out because their terms cannot be met,
/// unless said.
pub const MAX_EXCLUDED_DEFAULT: f64 = 0.02;

/// The same, for `serde(default)`.
pub const fn max_excluded_default() -> f64 {
    MAX_EXCLUDED_DEFAULT
}

/// JSON Schema of least spreads by attribute.
pub fn least_spreads(_: &mut SchemaGenerator) -> schemars::Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": {"type": "number", "minimum": 0},
        "examples": [{"cost": 500}]
    })
}

/// A parameter that does not fit.
pub fn invalid(parameter: impl Into<String>, reason: impl Into<String>) -> EngineError {
    EngineError::InvalidParameter {
        parameter: parameter.into(),
        reason: reason.into(),
    }
}

/// A number that is sensitive has a least spread of its own scale, so that l
/// values that lie next to each other are not taken for l different ones.
pub fn spread_by_default(attribute: &Attribute, l: L) -> Spread {
    let is_number = attribute.kind != Some(AttributeType::Categorical);
    if attribute.role == Role::Sensitive && is_number && l > L::NONE {
        Spread::OfScale
    } else {
        Spread::Nothing
    }
}

/// The least spread of a sensitive attribute: what the job asks for, 0 for
/// nothing, else the default.
pub fn spread_of_number(
    attribute: &Attribute,
    asked: Option<f64>,
    l: L,
) -> Result<Spread, &'static str> {
    match asked {
        None => Ok(spread_by_default(attribute, l)),
        Some(_) if attribute.kind == Some(AttributeType::Categorical) => {
            Err("is for numbers and dates")
        }
        Some(least) if !least.is_finite() || least < 0.0 => Err("must be at least 0"),
        Some(least) if least > 0.0 => Ok(Spread::AtLeast(least)),
        Some(_) => Ok(Spread::Nothing),
    }
}

/// Refuses a least spread of what is no sensitive attribute.
pub fn refuse_unknown_spreads(
    schema: &Schema,
    spreads: &BTreeMap<String, f64>,
) -> Result<(), EngineError> {
    let role = |name: &str| schema.find(name).map(|at| schema.attribute(at).role);
    let mut names = spreads.keys();
    match names.find(|name| role(name) != Some(Role::Sensitive)) {
        None => Ok(()),
        Some(name) => Err(invalid(
            format!("min_spread.{name}"),
            "is no sensitive attribute",
        )),
    }
}

/// The answer where everyone together spans less than is asked for.
pub fn too_narrow(attribute: String, wanted: f64, widest: f64) -> Infeasible {
    Infeasible {
        parameter: "min_spread",
        condition: format!("{attribute}: values must span {wanted}; all of them span {widest}"),
        strongest: format!("min_spread ≤ {widest}"),
        strongest_value: Some(widest),
        attribute: Some(attribute),
        instead: None,
    }
}

/// Largest share of those who ask among those who look as if they did, unless
/// a job says otherwise: a quarter.
pub const fn askers_share_max_default() -> Share {
    Share::QUARTER
}

/// `max_excluded` is a share of subjects, 0 to 1.
pub fn check_max_excluded(share: f64) -> Result<(), EngineError> {
    if (0.0..=1.0).contains(&share) {
        Ok(())
    } else {
        Err(invalid("max_excluded", "must be at least 0 and at most 1"))
    }
}

/// The answer where the terms of `needed` of `of` subjects cannot be met, more
/// than may be left out.
pub fn over_budget(needed: u64, of: u64) -> Infeasible {
    let share = least_share(needed, of);
    Infeasible {
        instead: None,
        attribute: None,
        parameter: "max_excluded",
        condition: format!(
            "the terms of {needed} of {of} subjects cannot be met, more than may be left out"
        ),
        strongest: format!("max_excluded ≥ {share}"),
        strongest_value: Some(share),
    }
}

/// What to set in place of an l that is more than an attribute has values in
/// `records`: t-closeness bounds what is learnt where there are two.
pub fn instead_of_l(
    column: &CodedColumn,
    records: impl IntoIterator<Item = u32>,
    l: u32,
) -> Option<&'static str> {
    let mut seen = vec![false; column.domain.len()];
    for record in records {
        seen[column.codes.at(record as usize) as usize] = true;
    }
    let values = seen.into_iter().filter(|seen| *seen).count();
    (2..l as usize).contains(&values).then_some("t_closeness")
}

/// Refuses semi-sensitive attributes: an engine that publishes an attribute
/// in one way for everyone cannot let subjects decide whether it is a
/// quasi-identifier or sensitive.
pub fn refuse_semi_sensitive(schema: &Schema) -> Result<(), EngineError> {
    let mut attributes = schema.attributes().iter();
    match attributes.find(|attribute| attribute.role == Role::SemiSensitive) {
        None => Ok(()),
        Some(attribute) => Err(invalid(
            "engine",
            format!(
                "publishes an attribute in the same way for everyone: declare `{}` a \
                 quasi_identifier or sensitive, or use lgb",
                attribute.name
            ),
        )),
    }
}

/// Whether subjects of a table have as many records as the engine takes, and
/// the requirements are the table's own.
pub fn check_table(
    table: &Table,
    requirements: &Requirements,
    wanted: Multiplicity,
) -> Result<(), EngineError> {
    if table.schema().multiplicity() != wanted {
        let reason = match wanted {
            Multiplicity::One => "takes datasets with one record a subject (multiplicity one)",
            Multiplicity::Many => "takes datasets with many records a subject (multiplicity many)",
        };
        return Err(invalid("engine", reason));
    }
    if requirements.records() != table.records() {
        return Err(invalid("requirements", "belong to another table"));
    }
    Ok(())
}
