//! Parameters of `slicing`, as a job writes them.
//!
//! ```json
//! {"variant": "overlap", "l": 2,
//!  "columns": [["age", "sex"], ["workclass", "occupation"], ["education", "occupation"]]}
//! ```
//!
//! Unknown fields are refused. [`Params::policy`] checks the parameters
//! against a schema and gives the floors that they set.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::error::EngineError;
use crate::engine::kernel::acceptance::{
    check_max_excluded, invalid, least_spreads, max_excluded_default, refuse_semi_sensitive,
    refuse_unknown_spreads, spread_of_number,
};
use crate::engine::kernel::mondrian::SplitChoice;
use crate::microdata::{Attribute, AttributeIndex, Role, Schema};
use crate::privacy::{
    ColumnRule, InBucket, K, L, Model, Policy, Share, SliceVariant, Slicing, Spread, T,
};
use crate::release::Content;
use crate::release::layout::SECOND_SUFFIX;

/// Parameters of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Which kind of slicing.
    #[serde(default)]
    pub variant: SliceVariant,
    /// Least number of records of a bucket, among which the columns are permuted.
    #[serde(default = "no_k")]
    pub k: K,
    /// Whatever an adversary knows of the quasi-identifiers, no sensitive value
    /// is anyone's with more than 1 in l. Or t_closeness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<L>,
    /// In every bucket the sensitive values beside one combination of
    /// quasi-identifiers are within this distance of the whole table's. Or l.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t_closeness: Option<T>,
    /// Attributes that stay linked: every quasi-identifier and sensitive
    /// attribute that is not generalized or dropped. Or clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), inner(length(min = 1)))]
    pub columns: Option<Vec<Vec<String>>>,
    /// Number of clusters of attributes that go together (k-medoids on the
    /// contingency of pairs, φ²); quasi-identifiers beside which the sensitive
    /// values would not hold leave their column. Or columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = u32::MAX))]
    pub clusters: Option<u32>,
    /// Quasi-identifiers that are generalized over each bucket.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub generalize: Vec<String>,
    /// Quasi-identifiers that are not published.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    pub drop: Vec<String>,
    /// Which attribute a set of records is cut by.
    #[serde(default)]
    pub split: SplitChoice,
    /// By sensitive number or date, what the known values of one combination of
    /// quasi-identifiers in a bucket span at least, in its unit (days for dates);
    /// 0 asks for nothing. Without it and with l above 1: a tenth of what lies
    /// between the 5th and the 95th of a hundred known values of the dataset.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(schema_with = "least_spreads")]
    pub min_spread: BTreeMap<String, f64>,
    /// Largest share of subjects left out because their terms cannot be met.
    /// Subjects who asked to be left out do not count.
    #[serde(default = "max_excluded_default")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_excluded: f64,
}

fn no_k() -> K {
    K::NONE
}

impl Params {
    /// The floors that these parameters set for a schema.
    ///
    /// An error names the parameter that does not fit.
    pub fn policy(&self, schema: &Schema) -> Result<Policy, EngineError> {
        check_max_excluded(self.max_excluded)?;
        refuse_semi_sensitive(schema)?;
        let sensitive = schema.select(|attribute| attribute.role == Role::Sensitive);
        if sensitive.is_empty() {
            return Err(invalid("engine", "slicing needs a sensitive attribute"));
        }
        refuse_unknown_spreads(schema, &self.min_spread)?;
        let protections = sensitive.iter().map(|&at| {
            let protection = self.protection(schema.attribute(at))?;
            Ok((at, protection))
        });
        let protections = protections.collect::<Result<_, EngineError>>()?;
        let slicing = Fitting { schema }.slicing(self)?;
        check_headers(schema, &slicing)?;
        Ok(Policy {
            model: Model::Sliced {
                slicing: Arc::new(slicing),
                protections,
            },
            k: self.k,
            apply_preferences: true,
        })
    }

    fn protection(&self, attribute: &Attribute) -> Result<InBucket, EngineError> {
        let asked = self.min_spread.get(&attribute.name).copied();
        match (self.l, self.t_closeness) {
            (Some(l), None) => {
                let min_spread = match self.variant {
                    // Columns that are joined leave fewer values than each shows.
                    SliceVariant::Overlap if asked.is_some_and(|least| least > 0.0) => {
                        Err("is not kept where columns overlap")
                    }
                    SliceVariant::Overlap => Ok(Spread::Nothing),
                    _ => spread_of_number(attribute, asked, l),
                };
                let min_spread = min_spread
                    .map_err(|reason| invalid(format!("min_spread.{}", attribute.name), reason))?;
                Ok(InBucket::Diversity { l, min_spread })
            }
            (None, Some(_)) if asked.is_some() => {
                Err(invalid("min_spread", "goes with l, not with t_closeness"))
            }
            (None, Some(t)) => Ok(InBucket::Closeness {
                t,
                max_posterior: Share::ALL,
            }),
            _ => Err(invalid("l", "name one of l and t_closeness")),
        }
    }
}

/// Reads names against a schema.
struct Fitting<'a> {
    schema: &'a Schema,
}

impl Fitting<'_> {
    fn slicing(&self, params: &Params) -> Result<Slicing, EngineError> {
        let generalize = self.quasi("generalize", &params.generalize)?;
        let drop = self.quasi("drop", &params.drop)?;
        if generalize.iter().any(|attribute| drop.contains(attribute)) {
            return Err(invalid(
                "drop",
                "an attribute is generalized or dropped, not both",
            ));
        }
        let aside = !generalize.is_empty() || !drop.is_empty();
        if aside != (params.variant == SliceVariant::Generalized) {
            return Err(invalid(
                "variant",
                "`generalized`, and no other, names attributes in generalize or drop",
            ));
        }
        let rule = match (&params.columns, params.clusters) {
            (Some(names), None) => ColumnRule::Given(self.columns(names)?),
            (None, Some(clusters)) => ColumnRule::Found { clusters },
            _ => return Err(invalid("columns", "name one of columns and clusters")),
        };
        let slicing = Slicing {
            variant: params.variant,
            columns: rule,
            generalize,
            drop,
        };
        match &slicing.columns {
            ColumnRule::Given(columns) => self.check_columns(&slicing, columns, params)?,
            ColumnRule::Found { clusters } => self.check_clusters(&slicing, *clusters)?,
        }
        Ok(slicing)
    }

    fn find(&self, parameter: &str, name: &str) -> Result<AttributeIndex, EngineError> {
        self.schema
            .find(name)
            .ok_or_else(|| invalid(parameter, format!("the schema has no attribute `{name}`")))
    }

    /// Quasi-identifiers by name, each once, in schema order.
    fn quasi(&self, parameter: &str, names: &[String]) -> Result<Vec<AttributeIndex>, EngineError> {
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let attribute = self.find(parameter, name)?;
            if self.schema.attribute(attribute).role != Role::QuasiIdentifier {
                let reason = format!("`{name}` is not a quasi-identifier");
                return Err(invalid(parameter, reason));
            }
            if found.contains(&attribute) {
                return Err(invalid(parameter, format!("`{name}` is named twice")));
            }
            found.push(attribute);
        }
        found.sort_unstable();
        Ok(found)
    }

    fn columns(&self, names: &[Vec<String>]) -> Result<Vec<Vec<AttributeIndex>>, EngineError> {
        let column = |names: &Vec<String>| {
            let found = names.iter().map(|name| self.find("columns", name));
            let found: Vec<AttributeIndex> = found.collect::<Result<_, _>>()?;
            let once = |at: usize| !found[..at].contains(&found[at]);
            if !found.is_empty() && (0..found.len()).all(once) {
                Ok(found)
            } else {
                Err(invalid(
                    "columns",
                    "a column names attributes, each of them once",
                ))
            }
        };
        names.iter().map(column).collect()
    }

    /// Attributes that columns have to hold: what is linked to anything.
    fn linked(&self, slicing: &Slicing) -> Vec<AttributeIndex> {
        let aside =
            |at: &AttributeIndex| slicing.generalize.contains(at) || slicing.drop.contains(at);
        let mut linked = self
            .schema
            .select(|attribute| matches!(attribute.role, Role::QuasiIdentifier | Role::Sensitive));
        linked.retain(|at| !aside(at));
        linked
    }

    fn check_clusters(&self, slicing: &Slicing, clusters: u32) -> Result<(), EngineError> {
        if slicing.variant == SliceVariant::Overlap {
            return Err(invalid(
                "clusters",
                "finds every attribute one column: name the columns of `overlap`",
            ));
        }
        let attributes = self.linked(slicing).len();
        if (1..=attributes).contains(&(clusters as usize)) {
            Ok(())
        } else {
            Err(invalid(
                "clusters",
                format!("must be at least 1 and at most {attributes}, the attributes in columns"),
            ))
        }
    }

    fn check_columns(
        &self,
        slicing: &Slicing,
        columns: &[Vec<AttributeIndex>],
        params: &Params,
    ) -> Result<(), EngineError> {
        let linked = self.linked(slicing);
        let name = |at: AttributeIndex| self.schema.attribute(at).name.as_str();
        for &attribute in columns.iter().flatten() {
            if !linked.contains(&attribute) {
                let reason = format!(
                    "`{}` is in no column: identifiers are not published, insensitive attributes \
                     have a column each, and what is generalized or dropped has none",
                    name(attribute)
                );
                return Err(invalid("columns", reason));
            }
        }
        let mut repeated = Vec::new();
        for &attribute in &linked {
            let times = columns.iter().filter(|column| column.contains(&attribute));
            match times.count() {
                0 => {
                    let reason = format!("`{}` is in no column", name(attribute));
                    return Err(invalid("columns", reason));
                }
                1 => {}
                2 if slicing.variant == SliceVariant::Overlap => repeated.push(attribute),
                _ => {
                    let reason = format!(
                        "`{}` is in too many columns: one, or two with `overlap`",
                        name(attribute)
                    );
                    return Err(invalid("columns", reason));
                }
            }
        }
        if repeated.is_empty() == (slicing.variant == SliceVariant::Overlap) {
            return Err(invalid(
                "variant",
                "`overlap` has an attribute in two columns",
            ));
        }
        self.check_repeated(columns, &repeated, params)
    }

    /// A repeated sensitive attribute is one that the check can join on.
    fn check_repeated(
        &self,
        columns: &[Vec<AttributeIndex>],
        repeated: &[AttributeIndex],
        params: &Params,
    ) -> Result<(), EngineError> {
        let is_sensitive = |at: &AttributeIndex| self.schema.attribute(*at).role == Role::Sensitive;
        for attribute in repeated.iter().filter(|at| is_sensitive(at)) {
            let mut both = columns.iter().filter(|column| column.contains(attribute));
            let shared = |column: &Vec<AttributeIndex>| {
                column.iter().filter(|at| is_sensitive(at)).count() > 1
            };
            if both.any(shared) {
                return Err(invalid(
                    "columns",
                    "a sensitive attribute that is in two columns shares neither with another one: \
                     what they show together is not checked",
                ));
            }
            if params.t_closeness.is_some() {
                return Err(invalid(
                    "t_closeness",
                    "is not checked on a join: with a sensitive attribute in two columns use l",
                ));
            }
        }
        Ok(())
    }
}

/// Names that the tables use themselves.
fn check_headers(schema: &Schema, slicing: &Slicing) -> Result<(), EngineError> {
    let taken = |name: &str| {
        let again = name
            .strip_suffix(SECOND_SUFFIX)
            .and_then(|name| schema.find(name));
        name == Content::Bucket.header()
            || (again.is_some() && slicing.variant == SliceVariant::Overlap)
    };
    let published = schema.publishable().into_iter();
    let mut names = published.map(|at| schema.attribute(at).name.as_str());
    match names.find(|name| taken(name)) {
        None => Ok(()),
        Some(name) => Err(invalid(
            "engine",
            format!("an attribute cannot be called `{name}` in a sliced table"),
        )),
    }
}
