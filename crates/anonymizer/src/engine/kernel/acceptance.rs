//! What engines ask of every schema and job before they run.

use std::collections::BTreeMap;

use schemars::{SchemaGenerator, json_schema};

use crate::engine::error::EngineError;
use crate::microdata::{Attribute, AttributeType, Multiplicity, Role, Schema, Table};
use crate::privacy::{L, Requirements, Share, Spread};

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
