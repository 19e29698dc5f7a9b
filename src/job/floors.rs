//! The operator's floors, compared with what a job orders and with what its
//! release measured.
//!
//! The service has floors and every dataset may have its own; the stricter of
//! the two holds ([`InForce`]). A job is compared by its engine's policy. How
//! each engine's parameters count is a table in docs/DATA.md:
//!
//! - *k* is how many records one hides among: k where the engine has one, the
//!   records of a block or bucket (at least l) where it has none.
//! - *l* is the bound 1/l on one value. Leakage and randomization promise such
//!   a bound under another name; a closeness counts where a largest t is set.
//! - *risk* is 1 in so many rows that look the same: as promised while there is
//!   no release, as measured afterwards. An engine that shows
//!   quasi-identifiers as they are promises 1 in 1.
//! - *lift* is how many times as well as without the release a model guesses
//!   values that was learned from it (`verify::inference`): measured alone, and
//!   beyond three standard deviations of chance.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use vizard_anonymizer::microdata::Schema;
use vizard_anonymizer::privacy::{
    BlockForm, Floors, K, L, Lift, Model, Policy, ProtectedIndex, Protection, Share, T,
};

/// Who set a floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SetBy {
    /// The service's options.
    Service,
    /// An administrator, for the dataset.
    Dataset,
}

impl SetBy {
    fn as_str(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Dataset => "dataset",
        }
    }
}

/// One parameter that is below a floor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Below {
    /// The floor: `k_min`, `l_min`, `t_max`, `risk_max`, `lift_max` or `engines`.
    pub floor: String,
    /// What the floor asks for.
    pub asked: Value,
    /// Who set it.
    pub set_by: SetBy,
    /// The job's parameter, or the figure of the release's report.
    pub parameter: String,
    /// The attribute that it protects, where it protects one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// What it is; null where the job has none.
    pub value: Value,
}

impl Below {
    /// The same in words.
    pub fn sentence(&self) -> String {
        let of = match &self.attribute {
            Some(attribute) => format!("{} of `{attribute}`", self.parameter),
            None => self.parameter.clone(),
        };
        let is = match &self.value {
            Value::Null => "not given".to_owned(),
            value => value.to_string(),
        };
        format!(
            "{of} is {is}, and {} of the {} is {}",
            self.floor,
            self.set_by.as_str(),
            self.asked
        )
    }
}

/// All of them in words.
pub fn sentences(below: &[Below]) -> String {
    let all: Vec<String> = below.iter().map(Below::sentence).collect();
    all.join("; ")
}

/// A floor with who set it.
type Set<T> = Option<(T, SetBy)>;

/// The floors that hold for a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    k_min: Set<K>,
    l_min: Set<L>,
    t_max: Set<T>,
    risk_max: Set<Share>,
    lift_max: Set<Lift>,
    engines: [(Option<Vec<String>>, SetBy); 2],
}

impl InForce {
    /// The stricter of the service's floors and a dataset's own.
    pub fn of(service: &Floors, dataset: &Floors) -> Self {
        Self {
            k_min: stricter(service.k_min, dataset.k_min, |own, other| own > other),
            l_min: stricter(service.l_min, dataset.l_min, |own, other| own > other),
            t_max: stricter(service.t_max, dataset.t_max, |own, other| own < other),
            risk_max: stricter(service.risk_max, dataset.risk_max, |own, other| own < other),
            lift_max: stricter(service.lift_max, dataset.lift_max, |own, other| own < other),
            engines: [
                (service.engines.clone(), SetBy::Service),
                (dataset.engines.clone(), SetBy::Dataset),
            ],
        }
    }

    /// The same without who set them.
    pub fn floors(&self) -> Floors {
        let [(service, _), (dataset, _)] = &self.engines;
        let engines = match (service, dataset) {
            (Some(service), Some(dataset)) => {
                let both = service.iter().filter(|name| dataset.contains(name));
                Some(both.cloned().collect())
            }
            (one, other) => one.clone().or(other.clone()),
        };
        Floors {
            k_min: self.k_min.map(|(k, _)| k),
            l_min: self.l_min.map(|(l, _)| l),
            t_max: self.t_max.map(|(t, _)| t),
            risk_max: self.risk_max.map(|(risk, _)| risk),
            lift_max: self.lift_max.map(|(lift, _)| lift),
            engines,
        }
    }

    /// What is below these floors in a job that orders `ordered`.
    pub fn below(&self, ordered: &Ordered<'_>) -> Vec<Below> {
        let mut below = Vec::new();
        self.engine(ordered, &mut below);
        self.k(ordered.policy, &mut below);
        for (at, (attribute, protection)) in (0..).zip(ordered.policy.protections()) {
            if is_published(&ordered.policy.model, ProtectedIndex(at)) {
                let name = &ordered.schema.attribute(attribute).name;
                self.protection(&ordered.policy.model, (name, protection), &mut below);
            }
        }
        self.risk(ordered, &mut below);
        self.lift(ordered, &mut below);
        below
    }

    fn engine(&self, ordered: &Ordered<'_>, below: &mut Vec<Below>) {
        for (allowed, set_by) in &self.engines {
            let allowed = allowed.as_ref();
            if let Some(allowed) =
                allowed.filter(|all| !all.iter().any(|one| one == ordered.engine))
            {
                below.push(Below {
                    floor: "engines".into(),
                    asked: json!(allowed),
                    set_by: *set_by,
                    parameter: "engine".into(),
                    attribute: None,
                    value: json!(ordered.engine),
                });
                return;
            }
        }
    }

    fn k(&self, policy: &Policy, below: &mut Vec<Below>) {
        let Some((k_min, set_by)) = self.k_min else {
            return;
        };
        for (parameter, value) in hides_among(policy) {
            if value < k_min.get() {
                below.push(Below {
                    floor: "k_min".into(),
                    asked: json!(k_min),
                    set_by,
                    parameter: parameter.into(),
                    attribute: None,
                    value: json!(value),
                });
            }
        }
    }

    fn protection(
        &self,
        model: &Model,
        (attribute, protection): (&str, Protection),
        below: &mut Vec<Below>,
    ) {
        let t = closeness(protection);
        let is_close = matches!((self.t_max, t), (Some((t_max, _)), Some(t)) if t <= t_max);
        let mut add = |floor: &str, asked, set_by, (parameter, value): (&str, Value)| {
            below.push(Below {
                floor: floor.into(),
                asked,
                set_by,
                parameter: parameter.into(),
                attribute: Some(attribute.into()),
                value,
            });
        };
        if let Some((l_min, set_by)) = self.l_min {
            let bound = bound_of(model, protection);
            if !bound.keeps(l_min) && !is_close {
                add("l_min", json!(l_min), set_by, bound.named());
            }
        }
        if let (Some((t_max, set_by)), Some(t), false) = (self.t_max, t, is_close) {
            add("t_max", json!(t_max), set_by, ("t_closeness", json!(t)));
        }
    }

    fn risk(&self, ordered: &Ordered<'_>, below: &mut Vec<Below>) {
        let Some((risk_max, set_by)) = self.risk_max else {
            return;
        };
        let (parameter, alike) = match ordered.made {
            None => ("promised_risk", Some(looks_like(ordered.policy))),
            Some(made) => ("prosecutor_max", made.alike),
        };
        if !alike.is_some_and(|alike| risk_max.allows(1, alike)) {
            below.push(Below {
                floor: "risk_max".into(),
                asked: json!(risk_max),
                set_by,
                parameter: parameter.into(),
                attribute: None,
                value: json!(alike.map(|alike| 1.0 / alike.max(1) as f64)),
            });
        }
    }

    fn lift(&self, ordered: &Ordered<'_>, below: &mut Vec<Below>) {
        let (Some((lift_max, set_by)), Some(made)) = (self.lift_max, ordered.made) else {
            return;
        };
        let beyond = made.guessed.iter().filter(|one| one.exceeds(lift_max));
        below.extend(beyond.map(|one| Below {
            floor: "lift_max".into(),
            asked: json!(lift_max),
            set_by,
            parameter: "lift".into(),
            attribute: Some(one.attribute.clone()),
            value: json!((one.lift * 1000.0).round() / 1000.0),
        }));
    }
}

fn stricter<T: Copy>(
    service: Option<T>,
    dataset: Option<T>,
    is_stricter: impl Fn(T, T) -> bool,
) -> Set<T> {
    match (service, dataset) {
        (Some(service), Some(dataset)) if is_stricter(dataset, service) => {
            Some((dataset, SetBy::Dataset))
        }
        (Some(service), _) => Some((service, SetBy::Service)),
        (None, dataset) => dataset.map(|dataset| (dataset, SetBy::Dataset)),
    }
}

/// What a job orders.
#[derive(Clone, Copy, Debug)]
pub struct Ordered<'a> {
    /// The engine's name.
    pub engine: &'a str,
    /// The schema of the version it runs on.
    pub schema: &'a Schema,
    /// The engine's policy for that schema.
    pub policy: &'a Policy,
    /// What its release measured, once there is one.
    pub made: Option<&'a Made>,
}

/// What a release measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// Least number of rows that look the same; `None`: not measured.
    pub alike: Option<u64>,
    /// How well values are guessed from it, of each attribute where it was
    /// measured.
    pub guessed: Vec<Guessed>,
}

/// How well a model that was learned from a release guesses values.
#[derive(Clone, Debug, PartialEq)]
pub struct Guessed {
    /// The attribute.
    pub attribute: String,
    /// Share of right guesses.
    pub right: f64,
    /// The same beside what is guessed without the release.
    pub lift: f64,
    /// People whose value was guessed.
    pub people: f64,
}

impl Guessed {
    fn of(entry: &Value) -> Option<Self> {
        let figure = |name: &str| entry["figures"][name].as_f64();
        (entry["kind"] == "inference").then_some(())?;
        Some(Self {
            attribute: entry["attribute"].as_str()?.to_owned(),
            right: entry["attained"].as_f64()?,
            lift: figure("lift")?,
            people: figure("people")?,
        })
    }

    /// Whether the lift is larger, by more than chance.
    fn exceeds(&self, most: Lift) -> bool {
        let known = self.right / self.lift;
        let variance = |share: f64| share * (1.0 - share) / self.people;
        let chance = variance(self.right) + most.get().powi(2) * variance(known.min(1.0));
        self.right - most.get() * known > 3.0 * chance.sqrt()
    }
}

impl Made {
    /// As the release's report and its verification say.
    pub fn of(report: &Value, verification: &Value) -> Self {
        let risk = report.pointer("/measures/reidentification_risk/value/prosecutor_max");
        let alike = match risk.and_then(Value::as_f64) {
            // The risk of no rows at all.
            Some(0.0) => Some(u64::MAX),
            // It is 1 / size: the size is whole, and so is the comparison.
            Some(risk) if risk > 0.0 && risk <= 1.0 => Some((1.0 / risk).round() as u64),
            _ => None,
        };
        let attacks = verification["attacks"].as_array().into_iter().flatten();
        Self {
            alike,
            guessed: attacks.filter_map(Guessed::of).collect(),
        }
    }
}

/// Whether a release shows the attribute: blocks may be ordered of some.
fn is_published(model: &Model, index: ProtectedIndex) -> bool {
    match model {
        Model::Blocks { sensitive, .. } => sensitive.contains(index),
        _ => true,
    }
}

/// The least l of what is published; 1 where an attribute has none.
fn least_l(policy: &Policy) -> u32 {
    let published = (0..).zip(policy.protections());
    let published = published.filter(|(at, _)| is_published(&policy.model, ProtectedIndex(*at)));
    let l = published.map(|(_, (_, protection))| match protection {
        Protection::Diversity { l, .. } => l.get(),
        _ => 1,
    });
    l.min().unwrap_or(1)
}

/// Among how many records one hides, by the parameter that says so.
fn hides_among(policy: &Policy) -> Vec<(&'static str, u32)> {
    let k = ("k", policy.k.get());
    match &policy.model {
        Model::Fingerprints { k_group, .. } => vec![k, ("k_group", k_group.get())],
        Model::Blocks { .. } => vec![("l", least_l(policy))],
        // A bucket has at least l records, whatever k says.
        Model::Sliced { .. } => vec![("k", k.1.max(least_l(policy)))],
        _ => vec![k],
    }
}

/// How many rows look the same at least, as the job promises.
fn looks_like(policy: &Policy) -> u64 {
    let alike = match &policy.model {
        Model::Fingerprints { k_group, .. } => k_group.get(),
        Model::Blocks {
            form: BlockForm::Generalized,
            ..
        } => least_l(policy),
        Model::Blocks { .. } | Model::Sliced { .. } => 1,
        _ => policy.k.get(),
    };
    alike.into()
}

/// The t that a protection keeps.
fn closeness(protection: Protection) -> Option<T> {
    match protection {
        Protection::Closeness { t, .. } => Some(t),
        Protection::InGroup { closeness, .. } => closeness,
        Protection::Diversity { .. } | Protection::Leakage { .. } => None,
    }
}

/// How a protection bounds one value.
enum Bound {
    Diversity(L),
    AtMost(&'static str, Share),
    None,
}

fn bound_of(model: &Model, protection: Protection) -> Bound {
    match (model, protection) {
        // What is kept of the true values shows more than 1 in l.
        (
            Model::Blocks {
                form: BlockForm::Randomized { max_posterior, .. },
                ..
            },
            _,
        ) => Bound::AtMost("max_posterior", *max_posterior),
        (_, Protection::Diversity { l, .. }) => Bound::Diversity(l),
        (_, Protection::Leakage { max_leakage }) => Bound::AtMost("max_leakage", max_leakage),
        (_, Protection::InGroup { diversity, .. }) => {
            diversity.map_or(Bound::None, |diversity| Bound::Diversity(diversity.l()))
        }
        (_, Protection::Closeness { .. }) => Bound::None,
    }
}

impl Bound {
    fn keeps(&self, l_min: L) -> bool {
        match self {
            Self::Diversity(l) => *l >= l_min,
            Self::AtMost(_, share) => share.allows_times(l_min.get()),
            Self::None => l_min <= L::NONE,
        }
    }

    fn named(&self) -> (&'static str, Value) {
        match self {
            Self::Diversity(l) => ("l", json!(l)),
            Self::AtMost(parameter, share) => (parameter, json!(share)),
            Self::None => ("l", Value::Null),
        }
    }
}

#[cfg(test)]
mod tests;
