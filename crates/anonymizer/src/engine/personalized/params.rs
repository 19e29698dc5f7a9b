//! Parameters of `personalized`, as a job writes them.
//!
//! ```json
//! {"k": 4, "sensitive": "diagnosis", "max_leakage": 0.25, "grouping": "sorted"}
//! ```
//!
//! Unknown fields are refused. [`Params::policy`] checks the parameters
//! against a schema and gives the floors that they set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::error::EngineError;
use crate::engine::kernel::Effort;
use crate::engine::kernel::acceptance::{
    askers_share_max_default, check_max_excluded, invalid, max_excluded_default,
    refuse_semi_sensitive,
};
use crate::microdata::{AttributeIndex, AttributeType, Role, Schema};
use crate::privacy::{K, Model, Policy, Recoding, Share};

/// How records are gathered into groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// Runs of the records in order of their quasi-identifiers (`[PERS]`).
    #[default]
    Sorted,
    /// Splits at medians (LeFevre et al. 2006).
    Mondrian,
}

/// Parameters of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Least number of records that look the same.
    pub k: K,
    /// The sensitive attribute, the only one: a category with a hierarchy.
    pub sensitive: String,
    /// Largest probability of a subject's own value, given what is published. The
    /// stricter of this and the subject's own max_leakage holds.
    #[serde(default = "all")]
    pub max_leakage: Share,
    /// How records are gathered into groups.
    #[serde(default)]
    pub grouping: Grouping,
    /// How long groups are refined by local search.
    #[serde(default)]
    pub effort: Effort,
    /// How sensitive values of a group are generalized.
    #[serde(default)]
    pub recoding: Recoding,
    /// Largest share of subjects with terms of their own among those who look as
    /// if they had any: so many others are grouped by the same terms. They are
    /// drawn by the dataset's secret and stay the same from release to release. 1
    /// adds nobody.
    #[serde(default = "askers_share_max_default")]
    pub askers_share_max: Share,
    /// Largest share of subjects left out because their terms cannot be met.
    /// Subjects who asked to be left out do not count.
    #[serde(default = "max_excluded_default")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_excluded: f64,
}

fn all() -> Share {
    Share::ALL
}

impl Params {
    /// The floors that these parameters set for a schema.
    ///
    /// An error names the parameter that does not fit.
    pub fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        check_max_excluded(self.max_excluded)?;
        refuse_semi_sensitive(schema)?;
        let sensitive = self.check_sensitive(schema)?;
        Ok(Policy {
            model: Model::Personalized {
                recoding: self.recoding,
                askers_share_max: self.askers_share_max,
                sensitive,
                max_leakage: self.max_leakage,
            },
            k: self.k,
            apply_preferences: true,
        })
    }

    /// Least number of records in any group: k, and 1 / `max_leakage`, since a
    /// smaller group leaks more of somebody's value.
    pub(super) fn k_of_all(&self) -> u32 {
        self.k.get().max(self.max_leakage.reciprocal_ceiling())
    }

    /// One attribute alone can be sensitive: a second one would be published
    /// beside it without a bound.
    fn check_sensitive(&self, schema: &Schema) -> Result<AttributeIndex, EngineError> {
        let refuse = |reason: String| Err(invalid("sensitive", reason));
        let Some(index) = schema.find(&self.sensitive) else {
            return refuse("names no attribute of the dataset".into());
        };
        let attribute = schema.attribute(index);
        if attribute.role != Role::Sensitive {
            return refuse(format!("`{}` has another role", attribute.name));
        }
        if attribute.kind != Some(AttributeType::Categorical) || attribute.hierarchy.is_none() {
            return refuse(format!(
                "`{}` must be categorical and have a hierarchy",
                attribute.name
            ));
        }
        let others = schema.select(|other| other.role == Role::Sensitive);
        match others.into_iter().find(|&other| other != index) {
            None => Ok(index),
            Some(other) => refuse(format!(
                "one attribute is protected, and `{}` is sensitive too: leave it out of the \
                 dataset or use an engine that protects several",
                schema.attribute(other).name
            )),
        }
    }
}
