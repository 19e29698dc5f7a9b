//! What is said of the risk of a table.

use serde::Serialize;

/// The risk of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Risk {
    /// Records looked at.
    pub records: u64,
    /// Their subjects.
    pub subjects: u64,
    /// The quasi-identifiers and semi-sensitive attributes, in schema order.
    pub attributes: Vec<AttributeExposure>,
    /// Every set of up to three of them, the one that makes most unique first.
    pub sets: Vec<SetRisk>,
    /// Whether sets are of those attributes alone that tell most: there are too
    /// many for all sets.
    pub is_narrowed: bool,
    /// Sets that grow by the attribute that makes most classes, until nobody is
    /// alike or there are 24.
    pub growing: Vec<SetRisk>,
    /// How the values of sensitive attributes are spread.
    pub sensitive: Vec<SensitiveSpread>,
    /// Against a population table, where there is one.
    pub population: Option<PopulationRisk>,
}

/// What one attribute adds to the risk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttributeExposure {
    /// Its name.
    pub name: String,
    /// Distinct values.
    pub distinct: u64,
    /// Records without a value.
    pub missing: u64,
    /// Minimal unique sets of one, two and three attributes that it is in, over
    /// all records.
    pub minimal_unique_sets: [u64; 3],
}

/// What somebody finds who knows a set of attributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetRisk {
    /// Their names, in schema order.
    pub attributes: Vec<String>,
    /// Share of subjects who are alone.
    pub unique: f64,
    /// Share of subjects in classes of fewer than 5, and of fewer than 12.
    pub below: [f64; 2],
    /// Subjects of the smallest class.
    pub k_min: u64,
    /// Largest probability of finding a subject's class mate: 1 / k_min.
    pub prosecutor: f64,
    /// Share of subjects that somebody finds who guesses: the mean of 1 by the size
    /// of each subject's smallest class.
    pub marketer: f64,
}

/// How the values of a sensitive attribute are spread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SensitiveSpread {
    /// Its name.
    pub name: String,
    /// Distinct values.
    pub distinct: u64,
    /// Share of records with the most frequent value.
    pub most_frequent: f64,
    /// Entropy of the known values, in bits.
    pub entropy_bits: f64,
    /// Records without a value.
    pub missing: u64,
}

/// A share to four digits: more would tell of single records.
pub(super) fn rounded(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}

/// What a reader finds who knows the population table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PopulationRisk {
    /// The attributes that were compared.
    pub attributes: Vec<String>,
    /// People of the table.
    pub people: u64,
    /// People of the smallest class that records of the dataset are in (k-map);
    /// coarse: of the smallest that is the smallest of five subjects.
    pub k_map: u64,
    /// Largest probability of finding a subject in the population.
    pub journalist: f64,
    /// The same as a mean over subjects, each where they are easiest to find;
    /// absent where it is coarse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journalist_mean: Option<f64>,
    /// Least and largest share of a class of the population that is in the
    /// dataset (δ-presence); coarse: of the classes of five subjects or more,
    /// absent where there are none.
    pub presence: Option<[f64; 2]>,
    /// Subjects whose class is not in the population, or smaller there than here:
    /// the population does not hold everybody. They count as if everybody alike
    /// were in the dataset. Coarse: up to how many in tens; fewer than five on
    /// either side are counted with the others.
    pub not_covered: u64,
}
