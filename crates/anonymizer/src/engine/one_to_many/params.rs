//! Parameters of `one_to_many`, as a job writes them.
//!
//! ```json
//! {"k": 10, "l": 5, "k_group": 5, "value_l": 2, "qid_conflict": "hull"}
//! ```
//!
//! Unknown fields are refused. [`Params::policy`] checks the parameters
//! against a schema and gives the floors that they set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::error::EngineError;
use crate::engine::kernel::Effort;
use crate::engine::kernel::acceptance::{check_max_excluded, max_excluded_default};
use crate::microdata::{Role, Schema};
use crate::privacy::{K, L, Model, Policy, QidConflict};

/// What is done where a hierarchy has nodes with so many children that too
/// few subjects share a set of them (*ours*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SiblingUnions {
    /// Only the hierarchy's own nodes are published.
    Never,
    /// Neighbouring children are joined where the hierarchy's own nodes allow
    /// no release with these parameters.
    #[default]
    WhenNeeded,
    /// Neighbouring children are joined wherever that saves loss.
    Always,
}

/// Parameters of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Least number of subjects who share a published fingerprint.
    pub k: K,
    /// No published fingerprint belongs to more than 1 in l subjects of a
    /// group.
    pub l: L,
    /// Least number of subjects in a group; l if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k_group: Option<K>,
    /// No exactly published value belongs to more than 1 in value_l subjects of a
    /// group; 1 asks for nothing (*ours*).
    #[serde(default = "no_l")]
    pub value_l: L,
    /// Quasi-identifiers of a subject whose records disagree.
    #[serde(default)]
    pub qid_conflict: QidConflict,
    /// Whether neighbouring children of a hierarchy's node may be published as
    /// one set.
    #[serde(default)]
    pub sibling_unions: SiblingUnions,
    /// How long groups are refined by local search; not where a subject covers
    /// several values (qid_conflict hull).
    #[serde(default)]
    pub effort: Effort,
    /// Largest share of subjects left out because their terms cannot be met.
    /// Subjects who asked to be left out do not count.
    #[serde(default = "max_excluded_default")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_excluded: f64,
}

fn no_l() -> L {
    L::NONE
}

impl Params {
    /// The floors that these parameters set for a schema.
    ///
    /// An error names the parameter that does not fit.
    pub fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        check_max_excluded(self.max_excluded)?;
        check_roles(schema)?;
        Ok(Policy {
            model: Model::Fingerprints {
                k_group: self.k_group()?,
                value_l: self.value_l,
                qid_conflict: self.qid_conflict,
                l: schema
                    .protectable()
                    .into_iter()
                    .map(|index| (index, self.l))
                    .collect(),
            },
            k: self.k,
            apply_preferences: true,
        })
    }

    /// Least number of subjects in a group.
    pub(super) fn k_group(&self) -> Result<K, EngineError> {
        match self.k_group {
            Some(k) => Ok(k),
            None => Ok(K::new(self.l.get())?),
        }
    }
}

/// A fingerprint is one for everyone: an attribute cannot be part of it for
/// some subjects and a quasi-identifier for others.
pub(super) fn check_roles(schema: &Schema) -> Result<(), EngineError> {
    let invalid = |reason: &str| {
        Err(EngineError::InvalidParameter {
            parameter: "engine".into(),
            reason: reason.into(),
        })
    };
    let has = |role| {
        schema
            .attributes()
            .iter()
            .any(|attribute| attribute.role == role)
    };
    if has(Role::SemiSensitive) {
        return invalid(
            "with many records a subject an attribute is a quasi-identifier or sensitive, \
             the same for everyone: semi-sensitive attributes are not published",
        );
    }
    if !has(Role::Sensitive) {
        return invalid("a fingerprint needs a sensitive attribute");
    }
    Ok(())
}
