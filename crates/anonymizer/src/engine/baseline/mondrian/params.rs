//! Parameters of `mondrian`, as a job writes them.
//!
//! ```json
//! {"k": 10, "l": 3, "diversity": "entropy", "split": "gain", "partitioning": "relaxed",
//!  "attributes": {"disease": {"l": 4, "diversity": "recursive", "c": 2.5},
//!                 "salary": {"t_closeness": 0.2}}}
//! ```
//!
//! Unknown fields are refused. [`Params::policy`] checks the parameters
//! against a schema and gives the floors that they set.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::error::EngineError;
use crate::engine::kernel::acceptance::{
    askers_share_max_default, check_max_excluded, invalid, max_excluded_default,
    refuse_semi_sensitive, spread_of_number,
};
use crate::engine::kernel::{Effort, Partitioning, SplitChoice};
use crate::microdata::{Attribute, Role, Schema};
use crate::privacy::{C, Diversity, InGroup, K, L, Model, Policy, Share, T};

/// What l says of the values of a group (Machanavajjhala et al. 2006).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiversityKind {
    /// l different values.
    #[default]
    Distinct,
    /// Entropy of at least ln l.
    Entropy,
    /// (c, l): the most frequent value occurs less than c times as often as all
    /// from the l-th most frequent one on.
    Recursive,
}

/// Protection of one attribute where it differs from the job's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttributeParams {
    /// l of this attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<L>,
    /// What its l says; the job's if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diversity: Option<DiversityKind>,
    /// c of recursive diversity; the job's if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c: Option<C>,
    /// t of this attribute, beside l.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t_closeness: Option<T>,
    /// What the known values of a number or date span at least in every group, in
    /// its unit (days for dates); 0 asks for nothing. With l and without it: a
    /// tenth of what lies between the 5th and the 95th of a hundred known values
    /// of the dataset.
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
    /// l of every sensitive attribute that has none of its own; without it
    /// nothing is asked of their values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<L>,
    /// What l says of the values of a group.
    #[serde(default)]
    pub diversity: DiversityKind,
    /// c of recursive diversity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c: Option<C>,
    /// Largest distance of a group's values from those of the whole published
    /// table, for every sensitive attribute that has none of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t_closeness: Option<T>,
    /// Protection of sensitive attributes by name.
    #[serde(default)]
    pub attributes: BTreeMap<String, AttributeParams>,
    /// Which attribute a set is cut by.
    #[serde(default)]
    pub split: SplitChoice,
    /// Where records go that are equal to a median.
    #[serde(default)]
    pub partitioning: Partitioning,
    /// How long groups are refined by local search.
    #[serde(default)]
    pub effort: Effort,
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

impl Params {
    /// The floors that these parameters set for a schema, with every
    /// sensitive attribute in schema order.
    ///
    /// An error names the parameter that does not fit.
    pub fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        check_max_excluded(self.max_excluded)?;
        refuse_semi_sensitive(schema)?;
        self.check_names(schema)?;
        self.check_use()?;
        let sensitive = schema.protectable().into_iter();
        let protections = sensitive.map(|index| {
            let protection = self.protection(schema.attribute(index))?;
            Ok((index, protection))
        });
        let protections: Vec<_> = protections.collect::<Result<_, EngineError>>()?;
        let asks = [
            ("l", self.l.is_some()),
            ("t_closeness", self.t_closeness.is_some()),
        ];
        if let (true, Some((parameter, _))) = (
            protections.is_empty(),
            asks.iter().find(|(_, is_given)| *is_given),
        ) {
            return Err(invalid(*parameter, "needs a sensitive attribute"));
        }
        Ok(Policy {
            model: Model::Generalized {
                askers_share_max: self.askers_share_max,
                protections,
            },
            k: self.k,
            apply_preferences: true,
        })
    }

    fn check_names(&self, schema: &Schema) -> Result<(), EngineError> {
        for name in self.attributes.keys() {
            let place = format!("attributes.{name}");
            match schema.find(name).map(|index| schema.attribute(index).role) {
                None => return Err(invalid(place, "names no attribute of the dataset")),
                Some(Role::Sensitive) => {}
                Some(_) => return Err(invalid(place, "is not sensitive")),
            }
        }
        Ok(())
    }

    /// What says how l is meant must have an l to speak of.
    fn check_use(&self) -> Result<(), EngineError> {
        let mut own = self.attributes.values();
        let has_l = self.l.is_some() || own.clone().any(|own| own.l.is_some());
        if self.diversity != DiversityKind::Distinct && !has_l {
            return Err(invalid("l", "must be given beside diversity"));
        }
        let recursive = Some(DiversityKind::Recursive);
        let is_recursive =
            self.diversity == DiversityKind::Recursive || own.any(|own| own.diversity == recursive);
        if self.c.is_some() && !is_recursive {
            return Err(invalid("c", "must be absent without recursive diversity"));
        }
        Ok(())
    }

    fn protection(&self, attribute: &Attribute) -> Result<InGroup, EngineError> {
        let name = &attribute.name;
        let default = AttributeParams::default();
        let own = self.attributes.get(name).unwrap_or(&default);
        let place = |field: &str| format!("attributes.{name}.{field}");
        let kind = own.diversity.unwrap_or(self.diversity);
        if own.c.is_some() && kind != DiversityKind::Recursive {
            let reason = "must be absent without recursive diversity";
            return Err(invalid(place("c"), reason));
        }
        let l = own.l.or(self.l).unwrap_or(L::NONE);
        let min_spread = spread_of_number(attribute, own.min_spread, l)
            .map_err(|reason| invalid(place("min_spread"), reason))?;
        let Some(l) = own.l.or(self.l) else {
            if own.diversity.is_some() || own.c.is_some() {
                return Err(invalid(place("l"), "must be given beside diversity"));
            }
            return Ok(InGroup {
                diversity: None,
                closeness: own.t_closeness.or(self.t_closeness),
                min_spread,
            });
        };
        let diversity = match kind {
            DiversityKind::Distinct => Diversity::Distinct(l),
            DiversityKind::Entropy => Diversity::Entropy(l),
            DiversityKind::Recursive => match own.c.or(self.c) {
                Some(c) => Diversity::Recursive { c, l },
                None => return Err(invalid("c", "must be given for recursive diversity")),
            },
        };
        Ok(InGroup {
            diversity: Some(diversity),
            closeness: own.t_closeness.or(self.t_closeness),
            min_spread,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Spread;
    use serde_json::{Value, json};

    fn schema() -> Schema {
        let document = json!({
            "name": "made-up", "subject_key": "id",
            "attributes": [
                {"name": "id", "role": "identifier"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"},
                {"name": "disease", "role": "sensitive", "type": "categorical"},
                {"name": "salary", "role": "sensitive", "type": "integer"}
            ]
        });
        serde_json::from_value(document).expect("the schema is valid")
    }

    fn policy(params: Value) -> Result<Policy, EngineError> {
        let params: Params = serde_json::from_value(params).expect("the shape is right");
        params.policy(&schema())
    }

    #[test]
    fn each_attribute_has_its_own_kind_or_the_jobs() {
        let policy = policy(json!({
            "k": 5, "l": 3, "diversity": "recursive", "c": 2, "t_closeness": 0.5,
            "attributes": {"salary": {"l": 4, "diversity": "entropy", "t_closeness": 0.25}}
        }));
        let Model::Generalized { protections, .. } = policy.unwrap().model else {
            panic!("groups are the model");
        };
        let l = |l| L::new(l).unwrap();
        let t = |t| T::new(t).unwrap();
        let expected = [
            InGroup {
                diversity: Some(Diversity::Recursive {
                    c: C::new(2.0).unwrap(),
                    l: l(3),
                }),
                closeness: Some(t(0.5)),
                min_spread: Spread::Nothing,
            },
            InGroup {
                diversity: Some(Diversity::Entropy(l(4))),
                closeness: Some(t(0.25)),
                min_spread: Spread::OfScale,
            },
        ];
        assert_eq!(
            protections.iter().map(|entry| entry.1).collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn parameters_that_do_not_fit_are_named() {
        let own = |own: Value| json!({"k": 5, "attributes": {"disease": own}});
        let refusals = [
            (json!({"k": 5, "max_excluded": -0.1}), "max_excluded"),
            (json!({"k": 5, "diversity": "entropy"}), "l"),
            (json!({"k": 5, "l": 2, "c": 2}), "c"),
            (json!({"k": 5, "l": 2, "diversity": "recursive"}), "c"),
            (
                json!({"k": 5, "attributes": {"age": {"l": 3}}}),
                "attributes.age",
            ),
            (
                json!({"k": 5, "attributes": {"nobody": {}}}),
                "attributes.nobody",
            ),
            (own(json!({"diversity": "entropy"})), "attributes.disease.l"),
            (own(json!({"l": 2, "c": 2})), "attributes.disease.c"),
        ];
        for (params, expected) in refusals {
            match policy(params) {
                Err(EngineError::InvalidParameter { parameter, .. }) => {
                    assert_eq!(parameter, expected);
                }
                other => panic!("expected a refusal of {expected}, got {other:?}"),
            }
        }
    }
}
