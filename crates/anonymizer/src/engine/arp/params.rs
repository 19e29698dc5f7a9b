//! Parameters of `arp` and its comparators, as a job writes them.
//!
//! ```json
//! {"l": 5, "publish": "randomization", "retention": 0.3, "partitioning": "recursive"}
//! ```
//!
//! Unknown fields are refused. `policy` checks parameters against a schema and
//! gives the floors that they set: k is 1 (identity is not what blocks
//! protect; a subject's own k holds all the same), l that of every sensitive
//! attribute that is published.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::error::EngineError;
use crate::engine::kernel::acceptance::{
    check_max_excluded, invalid, least_spreads, max_excluded_default, refuse_semi_sensitive,
    refuse_unknown_spreads, spread_of_number,
};
use crate::microdata::{Role, Schema};
use crate::privacy::{
    BlockForm, InBlock, K, L, Model, Policy, ProtectedIndex, ProtectedSet, Share, Spread,
};

/// Largest l for randomization: what the rows of a larger block tell is
/// beyond the numbers it is computed in.
const RANDOMIZED_L_MAX: u32 = 64;

/// How the initial partition goes on where blocks had to be merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Partitioning {
    /// Merged blocks are not split again; a block is merged with a random
    /// neighbour (`[ARP]` Alg. 1, repeated until every block is eligible).
    Paper,
    /// Merged blocks are split by the remaining attributes; the smallest
    /// ineligible block is merged with its smaller neighbour (*ours*).
    #[default]
    Recursive,
}

/// How the refined blocks are published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Publish {
    /// Exact non-sensitive values, and the values of each block.
    #[default]
    Anatomy,
    /// Non-sensitive values generalized over each block.
    Generalization,
    /// Columns of attributes, each in an order of its own within a block.
    Slicing,
    /// Exact non-sensitive values beside values that were kept or drawn anew.
    Randomization,
}

/// Refuses what `arp` no longer does, and says why.
///
/// The search put the values of everyone with the same quasi-identifiers into
/// each block that shows them: what such blocks have in common is the truth.
pub fn refuse_withdrawn(parameters: &Value) -> Result<(), EngineError> {
    match parameters.get("optimize") {
        None => Ok(()),
        Some(_) => Err(invalid(
            "optimize",
            "was withdrawn: blocks that the search improved told the values of people with equal \
             quasi-identifiers to whoever compared their blocks; leave it out",
        )),
    }
}

/// Parameters of `arp`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// No sensitive value belongs to more than 1 in l of a block.
    pub l: L,
    /// Sensitive attributes to publish, each in blocks of its own; all of them if
    /// absent. Others are not published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub sensitive: Option<Vec<String>>,
    /// How the initial partition goes on where blocks had to be merged.
    #[serde(default)]
    pub partitioning: Partitioning,
    /// How the blocks are published.
    #[serde(default)]
    pub publish: Publish,
    /// Probability that a sensitive value is kept rather than drawn from its
    /// block, below 1; for randomization, which needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = below_one)]
    pub retention: Option<Share>,
    /// By sensitive number or date, what the known values of a block span at
    /// least, in its unit (days for dates); 0 asks for nothing. Without it and
    /// with l above 1: a tenth of what lies between the 5th and the 95th of a
    /// hundred known values of the dataset.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "least_spreads")]
    pub min_spread: BTreeMap<String, f64>,
    /// Largest share of subjects left out because their terms cannot be met.
    /// Subjects who asked to be left out do not count.
    #[serde(default = "max_excluded_default")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_excluded: f64,
}

impl Params {
    /// The floors that these parameters set for a schema.
    ///
    /// An error names the parameter that does not fit.
    pub fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        check_max_excluded(self.max_excluded)?;
        let form = match (self.publish, self.retention) {
            (Publish::Anatomy, None) => BlockForm::Distinct,
            (Publish::Generalization, None) => BlockForm::Generalized,
            (Publish::Slicing, None) => BlockForm::Sliced,
            (Publish::Randomization, _) if self.l.get() > RANDOMIZED_L_MAX => {
                let reason = format!("is at most {RANDOMIZED_L_MAX} for randomization");
                return Err(invalid("l", reason));
            }
            (Publish::Randomization, Some(retention)) if retention < Share::ALL => {
                BlockForm::Randomized {
                    retention,
                    max_posterior: retention.posterior_of_kept(self.l),
                }
            }
            (Publish::Randomization, _) => {
                return Err(invalid("retention", "must be above 0 and below 1"));
            }
            (_, Some(_)) => return Err(invalid("retention", "is for randomization alone")),
        };
        let named = (self.sensitive.as_deref(), &self.min_spread);
        policy(schema, (self.l, form), named)
    }
}

/// Parameters of `aip` and `ng`, which publish the initial partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitialParams {
    /// No sensitive value belongs to more than 1 in l of a block.
    pub l: L,
    /// Sensitive attributes to publish, each in blocks of its own; all of them if
    /// absent. Others are not published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub sensitive: Option<Vec<String>>,
    /// How the initial partition goes on where blocks had to be merged.
    #[serde(default)]
    pub partitioning: Partitioning,
    /// By sensitive number or date, what the known values of a block span at
    /// least, in its unit (days for dates); 0 asks for nothing. Without it and
    /// with l above 1: a tenth of what lies between the 5th and the 95th of a
    /// hundred known values of the dataset.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "least_spreads")]
    pub min_spread: BTreeMap<String, f64>,
    /// Largest share of subjects left out because their terms cannot be met.
    /// Subjects who asked to be left out do not count.
    #[serde(default = "max_excluded_default")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_excluded: f64,
}

impl InitialParams {
    /// The floors that these parameters set, published in this form.
    ///
    /// An error names the parameter that does not fit.
    pub fn policy(&self, schema: &Schema, form: BlockForm) -> Result<Policy, EngineError> {
        check_max_excluded(self.max_excluded)?;
        let named = (self.sensitive.as_deref(), &self.min_spread);
        policy(schema, (self.l, form), named)
    }
}

/// Parameters of `aip`, which publishes the blocks as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct AipParams(pub InitialParams);

/// Parameters of `ng`, which publishes them by rings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transform = without_min_spread)]
pub struct RingParams(pub InitialParams);

/// Randomization that keeps every value is none.
fn below_one(schema: &mut schemars::Schema) {
    schema.remove("maximum");
    schema.insert("exclusiveMaximum".into(), 1.into());
}

/// Rings keep no least spread.
fn without_min_spread(schema: &mut schemars::Schema) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(properties) = properties {
        properties.remove("min_spread");
    }
}

/// Parameters of `anatomy`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnatomyParams {
    /// No sensitive value belongs to more than 1 in l of a block; every block
    /// has at least l values, each once.
    pub l: L,
    /// Sensitive attributes to publish, each in blocks of its own; all of them if
    /// absent. Others are not published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub sensitive: Option<Vec<String>>,
    /// By sensitive number or date, what the known values of a block span at
    /// least, in its unit (days for dates); 0 asks for nothing. Without it and
    /// with l above 1: a tenth of what lies between the 5th and the 95th of a
    /// hundred known values of the dataset.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "least_spreads")]
    pub min_spread: BTreeMap<String, f64>,
    /// Largest share of subjects left out because their terms cannot be met.
    /// Subjects who asked to be left out do not count.
    #[serde(default = "max_excluded_default")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_excluded: f64,
}

impl AnatomyParams {
    /// The floors that these parameters set for a schema.
    ///
    /// An error names the parameter that does not fit.
    pub fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        check_max_excluded(self.max_excluded)?;
        let form = BlockForm::Distinct;
        let named = (self.sensitive.as_deref(), &self.min_spread);
        policy(schema, (self.l, form), named)
    }
}

fn policy(
    schema: &Schema,
    (l, form): (L, BlockForm),
    (names, spreads): (Option<&[String]>, &BTreeMap<String, f64>),
) -> Result<Policy, EngineError> {
    refuse_semi_sensitive(schema)?;
    refuse_unknown_spreads(schema, spreads)?;
    let sensitive = named(schema, names)?;
    let is_listed = matches!(form, BlockForm::Distinct | BlockForm::Eligible);
    if !is_listed && schema.protectable().len() > 1 {
        let reason = "rows that show a sensitive value can be in the blocks of one attribute alone: \
                      declare the others identifiers, which are not published";
        return Err(invalid("sensitive", reason));
    }
    let protectable = schema.protectable().into_iter().enumerate();
    let protections = protectable.map(|(at, attribute)| {
        let is_published = sensitive.contains(ProtectedIndex(at as u8));
        let l = if is_published { l } else { L::NONE };
        let described = schema.attribute(attribute);
        let asked = spreads.get(&described.name).copied();
        let min_spread = match keeps_spread(form) {
            true => spread_of_number(described, asked, l),
            false if asked.is_some_and(|least| least > 0.0) => {
                Err("is not kept by rings, nor where values are drawn anew")
            }
            false => Ok(Spread::Nothing),
        };
        let min_spread = min_spread
            .map_err(|reason| invalid(format!("min_spread.{}", described.name), reason))?;
        Ok((attribute, InBlock { l, min_spread }))
    });
    let protections = protections.collect::<Result<_, EngineError>>()?;
    Ok(Policy {
        model: Model::Blocks {
            form,
            sensitive,
            protections,
        },
        k: K::NONE,
        apply_preferences: true,
    })
}

/// The attributes whose sets of values a series of releases under this policy
/// keeps.
///
/// The error: values do not stand in blocks, each once.
pub fn keeps_sets_of(policy: &Policy, schema: &Schema) -> Result<ProtectedSet, EngineError> {
    let Model::Blocks {
        form: BlockForm::Distinct,
        sensitive,
        protections,
    } = &policy.model
    else {
        let reason = "invariant is of engines whose blocks have each value once: `arp` with \
                      `publish`: `anatomy`, and `anatomy`; or take the mode increments";
        return Err(invalid("series.mode", reason));
    };
    let mut spread = protections.iter().enumerate().filter(|(at, (_, own))| {
        let is_published = sensitive.contains(ProtectedIndex(*at as u8));
        is_published && own.min_spread != Spread::Nothing
    });
    match spread.next() {
        None => Ok(*sensitive),
        Some((_, &(attribute, _))) => {
            let name = &schema.attribute(attribute).name;
            let reason = "is not kept where a series keeps sets of values, as wider blocks may have \
                          a value twice: set it to 0, or take the mode increments";
            Err(invalid(format!("min_spread.{name}"), reason))
        }
    }
}

/// Whether blocks of this form may be joined until their values span enough.
/// The windows of a ring are no blocks, and the posterior of values that are
/// drawn anew is that of distinct ones.
fn keeps_spread(form: BlockForm) -> bool {
    !matches!(form, BlockForm::Ring | BlockForm::Randomized { .. })
}

/// The sensitive attributes with these names; all where none are given.
fn named(schema: &Schema, names: Option<&[String]>) -> Result<ProtectedSet, EngineError> {
    let mut set = ProtectedSet::default();
    let protectable = schema.protectable();
    for (at, &attribute) in protectable.iter().enumerate() {
        let name = &schema.attribute(attribute).name;
        if names.is_none_or(|names| names.contains(name)) {
            set = set.with(ProtectedIndex(at as u8));
        }
    }
    for (at, name) in names.unwrap_or_default().iter().enumerate() {
        let found = schema.find(name).map(|index| schema.attribute(index).role);
        if found != Some(Role::Sensitive) {
            return Err(invalid("sensitive", "names no sensitive attribute"));
        }
        if names.unwrap_or_default()[..at].contains(name) {
            return Err(invalid("sensitive", "names an attribute twice"));
        }
    }
    if set.is_empty() {
        Err(invalid("sensitive", "blocks need a sensitive attribute"))
    } else {
        Ok(set)
    }
}
