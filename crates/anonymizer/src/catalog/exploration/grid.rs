//! What an exploration tries: engines, and values of their parameters.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::engines::Engine;
use crate::engine::EngineError;
use crate::microdata::Schema;

/// Settings that one exploration may have.
pub const SETTINGS_MAX: usize = 200;
/// Values that one list may have.
const VALUES_MAX: usize = 50;

/// An engine, and the parameters that all of its settings share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineChoice {
    /// Name of the engine.
    pub engine: String,
    /// Parameters that are not varied.
    #[serde(default = "no_parameters")]
    pub parameters: Value,
}

fn no_parameters() -> Value {
    json!({})
}

/// What an exploration tries: each engine with each combination of the values.
/// A list that is empty, or that an engine has no parameter for, varies nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// The engines.
    pub engines: Vec<EngineChoice>,
    /// Values of `k`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub k: Vec<u32>,
    /// Values of `l`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub l: Vec<u32>,
    /// Values of `t_closeness`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub t: Vec<f64>,
    /// Values of `effort`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effort: Vec<String>,
}

/// One combination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Its number in the exploration, from 1.
    pub number: u32,
    /// Name of the engine.
    pub engine: String,
    /// The engine's parameters.
    pub parameters: Value,
}

/// A combination that the engine does not take on this schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefusedSetting {
    /// Name of the engine.
    pub engine: String,
    /// The parameters.
    pub parameters: Value,
    /// The parameter at fault.
    pub parameter: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The settings of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridSettings {
    /// Those that can be run.
    pub settings: Vec<Setting>,
    /// Those that cannot.
    pub refused: Vec<RefusedSetting>,
}

/// Why a grid is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GridError {
    /// Too much is asked.
    #[error("{what}: at most {most}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// So many there may be.
        most: usize,
    },
    /// No engine is named.
    #[error("engines: name at least one")]
    NoEngine,
    /// Parameters of an engine are no object.
    #[error("engines: the parameters of an engine are an object")]
    Parameters,
}

impl Grid {
    /// The settings on a schema, each once: engines in the order in which they are
    /// named, and of each the last list varies first.
    ///
    /// # Errors
    /// Lists that are too long, or no engine.
    pub fn settings(&self, schema: &Schema) -> Result<GridSettings, GridError> {
        if self.engines.is_empty() {
            return Err(GridError::NoEngine);
        }
        let lists = self.lists();
        for (what, length) in [
            ("engines", self.engines.len()),
            ("values of k", self.k.len()),
            ("values of l", self.l.len()),
            ("values of t", self.t.len()),
            ("values of effort", self.effort.len()),
        ] {
            if length > VALUES_MAX {
                let most = VALUES_MAX;
                return Err(GridError::TooMany { what, most });
            }
        }
        let mut found = GridSettings::default();
        for choice in &self.engines {
            let Value::Object(shared) = &choice.parameters else {
                return Err(GridError::Parameters);
            };
            let varied = lists
                .iter()
                .filter(|(name, values)| !values.is_empty() && Engine::takes(&choice.engine, name));
            let varied: Vec<_> = varied.collect();
            for combined in combinations(shared, &varied)? {
                found.add(&choice.engine, Value::Object(combined), schema);
                if found.settings.len() + found.refused.len() > SETTINGS_MAX {
                    return Err(too_many_settings());
                }
            }
        }
        Ok(found)
    }

    /// The lists with the parameters that they are values of.
    fn lists(&self) -> [(&'static str, Vec<Value>); 4] {
        let numbers = |list: &[u32]| list.iter().map(|value| json!(value)).collect();
        [
            ("k", numbers(&self.k)),
            ("l", numbers(&self.l)),
            (
                "t_closeness",
                self.t.iter().map(|value| json!(value)).collect(),
            ),
            (
                "effort",
                self.effort.iter().map(|value| json!(value)).collect(),
            ),
        ]
    }
}

impl GridSettings {
    /// Adds a combination, unless it is there.
    fn add(&mut self, engine: &str, parameters: Value, schema: &Schema) {
        let is_this =
            |other: (&String, &Value)| other.0.as_str() == engine && *other.1 == parameters;
        let settings = self
            .settings
            .iter()
            .map(|one| (&one.engine, &one.parameters));
        let refused = self
            .refused
            .iter()
            .map(|one| (&one.engine, &one.parameters));
        if settings.chain(refused).any(is_this) {
            return;
        }
        match Engine::parse(engine, &parameters, schema) {
            Ok(_) => self.settings.push(Setting {
                number: self.settings.len() as u32 + 1,
                engine: engine.into(),
                parameters,
            }),
            Err(error) => {
                let (parameter, reason) = match error {
                    EngineError::InvalidParameter { parameter, reason } => (parameter, reason),
                    other => ("engine".into(), other.to_string()),
                };
                self.refused.push(RefusedSetting {
                    engine: engine.into(),
                    parameters,
                    parameter,
                    reason,
                });
            }
        }
    }
}

fn too_many_settings() -> GridError {
    GridError::TooMany {
        what: "settings",
        most: SETTINGS_MAX,
    }
}

/// Each combination of the values, over the shared parameters.
fn combinations(
    shared: &Map<String, Value>,
    varied: &[&(&'static str, Vec<Value>)],
) -> Result<Vec<Map<String, Value>>, GridError> {
    let mut combined = vec![shared.clone()];
    for (name, values) in varied {
        if combined.len() * values.len() > SETTINGS_MAX {
            return Err(too_many_settings());
        }
        let with = |one: &Map<String, Value>, value: &Value| {
            let mut one = one.clone();
            one.insert((*name).into(), value.clone());
            one
        };
        combined = combined
            .iter()
            .flat_map(|one| values.iter().map(move |value| with(one, value)))
            .collect();
    }
    Ok(combined)
}
