//! Parameters of `lgb`, as a job writes them.
//!
//! ```json
//! {"k": 5, "l": 5, "generalization": "mdp",
//!  "attributes": {"sex": {"t_closeness": 0.2}, "salary": {"l": 8, "min_spread": 10000}}}
//! ```
//!
//! Unknown fields are refused. [`Params::policy`] checks the parameters
//! against a schema and gives the floors that they set.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::error::EngineError;
use crate::engine::kernel::acceptance::{
    check_max_excluded, invalid, max_excluded_default, spread_by_default,
};
pub use crate::engine::kernel::effort::Effort;
use crate::microdata::{Attribute, AttributeType, Schema};
use crate::privacy::{InBucket, K, L, Model, Policy, Share, Spread, T};

/// Largest share of one value in a bucket under t-closeness, unless said.
pub const MAX_POSTERIOR_DEFAULT: f64 = 0.8;

/// How groups are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Generalization {
    /// Multi-dimensional partition (`[LGB]` Alg. 3).
    #[default]
    Mdp,
    /// Least normalized certainty penalty (`[LGB]` Alg. 4).
    Ncp,
}

/// How the cells of a set that cannot be split further are put into buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Assignment {
    /// Drawn: no value is paired with another again and again (*ours*).
    #[default]
    Random,
    /// The assignment phase of m-invariance (`[LGB]` Alg. 2).
    Invariance,
    /// Values nearest in domain order (*ours*).
    Nearest,
}

/// What a bucket is linked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BucketLink {
    /// To each row.
    #[default]
    Row,
    /// To each group, so that buckets of two attributes cannot be joined on a
    /// row.
    Group,
}

/// Protection of one attribute where it differs from the job's `l`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttributeParams {
    /// l of this attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<L>,
    /// Largest distance of a bucket's distribution from that of the attribute's
    /// flagged cells; instead of l.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t_closeness: Option<T>,
    /// With t_closeness: largest share of one value in a bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = MAX_POSTERIOR_DEFAULT))]
    pub max_posterior: Option<Share>,
    /// With l: numeric range (dates in days), or number of branches of the
    /// hierarchy's root, that each bucket spans at least; 0 asks for none. A
    /// sensitive number or date without it has a tenth of what lies between the
    /// 5th and the 95th of a hundred known values of the dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub min_spread: Option<f64>,
}

/// Parameters of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Least number of records that look the same.
    pub k: K,
    /// No value in more than 1 in l of a bucket; for every semi-sensitive or
    /// sensitive attribute that has none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<L>,
    /// How groups are made.
    #[serde(default)]
    pub generalization: Generalization,
    /// How buckets are filled. Beside min_spread it is by chance.
    #[serde(default)]
    pub assignment: Assignment,
    /// How long groups are refined by local search. Not given: none for mdp, fast
    /// for ncp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Protection by attribute name.
    #[serde(default)]
    pub attributes: BTreeMap<String, AttributeParams>,
    /// What buckets are linked to.
    #[serde(default)]
    pub bucket_link: BucketLink,
    /// Largest share of subjects left out because their terms cannot be met.
    /// Subjects who asked to be left out do not count.
    #[serde(default = "max_excluded_default")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_excluded: f64,
}

impl Params {
    /// The floors that these parameters set for a schema, with every
    /// semi-sensitive and sensitive attribute in schema order.
    ///
    /// An error names the parameter that does not fit. Preferences apply; the
    /// caller clears [`Policy::apply_preferences`] where the job says so.
    pub fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        self.check()?;
        for name in self.attributes.keys() {
            let place = format!("attributes.{name}");
            match schema.find(name).map(|index| schema.attribute(index)) {
                None => return Err(invalid(place, "names no attribute of the dataset")),
                Some(attribute) if !attribute.is_protectable() => {
                    return Err(invalid(place, "is neither semi-sensitive nor sensitive"));
                }
                Some(_) => {}
            }
        }
        let protectable = schema.protectable().into_iter();
        let protections = protectable.map(|index| {
            let protection = self.protection(schema.attribute(index))?;
            Ok((index, protection))
        });
        Ok(Policy {
            model: Model::Bucketized {
                protections: protections.collect::<Result<_, EngineError>>()?,
            },
            k: self.k,
            apply_preferences: true,
        })
    }

    /// Refinement of the groups: as asked, else none for `mdp`, so that the
    /// paper's algorithm is what its name says, and `fast` for `ncp`.
    pub fn effort(&self) -> Effort {
        self.effort.unwrap_or(match self.generalization {
            Generalization::Mdp => Effort::None,
            Generalization::Ncp => Effort::Fast,
        })
    }

    /// Checks what needs no schema.
    pub(super) fn check(&self) -> Result<(), EngineError> {
        check_max_excluded(self.max_excluded)
    }

    fn protection(&self, attribute: &Attribute) -> Result<InBucket, EngineError> {
        let name = &attribute.name;
        let default = AttributeParams::default();
        let own = self.attributes.get(name).unwrap_or(&default);
        let place = |field: &str| format!("attributes.{name}.{field}");
        if let Some(t) = own.t_closeness {
            if own.l.is_some() {
                return Err(invalid(place("l"), "must be absent beside t_closeness"));
            }
            if own.min_spread.is_some() {
                let reason = "must be absent beside t_closeness";
                return Err(invalid(place("min_spread"), reason));
            }
            let max_posterior = match own.max_posterior {
                Some(share) => share,
                None => Share::new(MAX_POSTERIOR_DEFAULT)?,
            };
            return Ok(InBucket::Closeness { t, max_posterior });
        }
        if own.max_posterior.is_some() {
            let reason = "must be absent without t_closeness";
            return Err(invalid(place("max_posterior"), reason));
        }
        let Some(l) = own.l.or(self.l) else {
            let reason = format!("must be given: attribute {name} has none of its own");
            return Err(invalid("l", &reason));
        };
        let min_spread = match own.min_spread {
            Some(spread) => asked_spread(attribute, spread)
                .map_err(|reason| invalid(place("min_spread"), reason))?,
            None => spread_by_default(attribute, l),
        };
        Ok(InBucket::Diversity { l, min_spread })
    }
}

fn asked_spread(attribute: &Attribute, spread: f64) -> Result<Spread, &'static str> {
    let categorical = attribute.kind == Some(AttributeType::Categorical);
    if !(spread.is_finite() && spread >= 0.0) {
        return Err("must be a number, 0 for none");
    }
    if spread == 0.0 {
        return Ok(Spread::Nothing);
    }
    if categorical && attribute.hierarchy.is_none() {
        return Err("needs a number, a date or a hierarchy");
    }
    if categorical && spread.fract() != 0.0 {
        return Err("must be a whole number of branches");
    }
    Ok(Spread::AtLeast(spread))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        let document = json!({
            "name": "made-up", "subject_key": "id",
            "attributes": [
                {"name": "id", "role": "identifier"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"},
                {"name": "sex", "role": "semi_sensitive", "type": "categorical"},
                {"name": "salary", "role": "sensitive", "type": "integer"}
            ]
        });
        serde_json::from_value(document).expect("the schema is valid")
    }

    fn refused(params: serde_json::Value) -> String {
        let params: Params = serde_json::from_value(params).expect("the shape is right");
        match params.policy(&schema()) {
            Err(EngineError::InvalidParameter { parameter, .. }) => parameter,
            other => panic!("expected a refusal, got {other:?}"),
        }
    }

    #[test]
    fn every_protectable_attribute_gets_its_protection_in_schema_order() {
        let params = json!({"k": 5, "l": 4, "attributes": {"sex": {"t_closeness": 0.2}}});
        let params: Params = serde_json::from_value(params).unwrap();
        let policy = params.policy(&schema()).unwrap();
        assert_eq!(policy.k.get(), 5);
        let Model::Bucketized { protections } = policy.model else {
            panic!("buckets are the model");
        };
        assert_eq!(protections.len(), 2);
        let InBucket::Closeness { t, max_posterior } = protections[0].1 else {
            panic!("sex is protected by t-closeness");
        };
        assert_eq!((t.get(), max_posterior.get()), (0.2, 0.8));
        let InBucket::Diversity { l, min_spread } = protections[1].1 else {
            panic!("salary is protected by l-diversity");
        };
        assert_eq!((l.get(), min_spread), (4, Spread::OfScale));
    }

    #[test]
    fn parameters_that_do_not_fit_are_named() {
        let refusals = [
            (json!({"k": 5}), "l"),
            (json!({"k": 5, "l": 2, "max_excluded": 1.5}), "max_excluded"),
            (
                json!({"k": 5, "l": 2, "attributes": {"age": {"l": 3}}}),
                "attributes.age",
            ),
            (
                json!({"k": 5, "l": 2, "attributes": {"nobody": {}}}),
                "attributes.nobody",
            ),
            (
                json!({"k": 5, "l": 2, "attributes": {"sex": {"l": 2, "t_closeness": 0.1}}}),
                "attributes.sex.l",
            ),
            (
                json!({"k": 5, "l": 2, "attributes": {"sex": {"max_posterior": 0.5}}}),
                "attributes.sex.max_posterior",
            ),
            (
                json!({"k": 5, "l": 2, "attributes": {"sex": {"min_spread": 2}}}),
                "attributes.sex.min_spread",
            ),
            (
                json!({"k": 5, "l": 2, "attributes": {"salary": {"min_spread": -1}}}),
                "attributes.salary.min_spread",
            ),
        ];
        for (params, parameter) in refusals {
            assert_eq!(refused(params), parameter);
        }
    }

    #[test]
    fn unknown_fields_and_numbers_out_of_bounds_are_refused() {
        for params in [
            json!({"k": 5, "l": 2, "speed": 1}),
            json!({"k": 0, "l": 2}),
            json!({"k": 5, "l": 0}),
            json!({"k": 5, "attributes": {"sex": {"t_closeness": 1.5}}}),
            json!({"k": 5, "attributes": {"sex": {"t": 0.5}}}),
            json!({"k": 5, "l": 2, "generalization": "best"}),
        ] {
            assert!(serde_json::from_value::<Params>(params).is_err());
        }
    }
}
