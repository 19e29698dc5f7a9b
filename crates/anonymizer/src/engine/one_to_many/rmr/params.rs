//! Parameters of `rmr`, as a job writes them: `{"k": 10, "m": 2, "delta": 0.65}`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::error::EngineError;
use crate::engine::kernel::acceptance::{check_max_excluded, invalid, max_excluded_default};
use crate::engine::one_to_many::params::check_roles;
use crate::microdata::Schema;
use crate::privacy::{K, Model, Policy, QidConflict};

/// Largest m: beyond it, counting combinations takes more than it protects.
pub const M_MAX: u32 = 5;

/// Parameters of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Least number of subjects in a cluster, and of those in it who share
    /// any combination of at most m values.
    pub k: K,
    /// Number of sensitive values of a subject that an adversary knows.
    #[schemars(range(min = 1, max = "M_MAX"))]
    pub m: u32,
    /// Largest mean loss of quasi-identifiers, up to which clusters are merged to
    /// keep more of the sensitive values.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub delta: f64,
    /// Quasi-identifiers of a subject whose records disagree.
    #[serde(default)]
    pub qid_conflict: QidConflict,
    /// Largest share of subjects left out because their terms cannot be met.
    /// Subjects who asked to be left out do not count.
    #[serde(default = "max_excluded_default")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_excluded: f64,
}

impl Params {
    /// The floors that these parameters set for a schema. The model promises
    /// no diversity of its own; a subject's own l holds all the same.
    ///
    /// An error names the parameter that does not fit.
    pub fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        if !(1..=M_MAX).contains(&self.m) {
            return Err(invalid(
                "m",
                format!("must be at least 1 and at most {M_MAX}"),
            ));
        }
        if !(0.0..=1.0).contains(&self.delta) {
            return Err(invalid("delta", "must be at least 0 and at most 1"));
        }
        check_max_excluded(self.max_excluded)?;
        check_roles(schema)?;
        Ok(Policy {
            model: Model::Itemsets {
                m: self.m,
                qid_conflict: self.qid_conflict,
                sensitive: schema.protectable(),
            },
            k: self.k,
            apply_preferences: true,
        })
    }
}
