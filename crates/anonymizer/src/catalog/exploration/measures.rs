//! A release in a few figures: what it loses, and what its readers may find.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a verified release loses and what risk is left, from its report and its
/// verification. A figure that its kind of release does not have is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// Records published.
    pub records: u64,
    /// Share of records left out for somebody's terms, 0 to 1.
    pub left_out: f64,
    /// NCP, the mean over quasi-identifier cells, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ncp: Option<f64>,
    /// Mean of |estimate − actual| / actual over random counting queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_error: Option<f64>,
    /// Mean of (upper − lower) / actual over the same queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_range: Option<f64>,
    /// How far the statistic that the job names may be from the original's: the
    /// difference without its sign, and the step that it is rounded to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<f64>,
    /// Largest probability that a record of a group is a person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reidentification_max: Option<f64>,
    /// Its mean over records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reidentification_mean: Option<f64>,
    /// Largest probability of a person's own sensitive value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leakage_max: Option<f64>,
    /// Its mean over people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leakage_mean: Option<f64>,
    /// How much more often models guess a sensitive value that learned from the
    /// release than models that know the population; the largest over attributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inference_lift: Option<f64>,
}

impl Measures {
    /// From the documents of a release, and the records that are left out of it.
    pub fn of(report: &Value, verification: &Value, excluded: u64) -> Self {
        let value = |measure: &str| &report["measures"][measure]["value"];
        let records = report["records"].as_u64().unwrap_or(0);
        let all = records.saturating_add(excluded);
        let one = |figure: &Value| figure.as_f64();
        let ncp = one(&value("ncp")["mean"]).or_else(|| {
            let halves = [value("qid_ncp"), value("sa_ncp")].map(|half| one(&half["mean"]));
            match halves {
                [Some(quasi_identifiers), Some(sensitive)] => {
                    Some(f64::midpoint(quasi_identifiers, sensitive))
                }
                [half, other] => half.or(other),
            }
        });
        let risk = value("reidentification_risk");
        let leakage = value("leakage");
        Self {
            records,
            left_out: if all == 0 {
                0.0
            } else {
                excluded as f64 / all as f64
            },
            ncp,
            query_error: one(&value("query_error")["relative_error"]["mean"]),
            query_range: one(&value("query_error")["relative_range"]["mean"]),
            fit: one(&value("fit")["difference"])
                .zip(one(&value("fit")["step"]))
                .map(|(difference, step)| difference.abs() + step),
            reidentification_max: one(&risk["prosecutor_max"]),
            reidentification_mean: one(&risk["prosecutor_mean"]),
            leakage_max: one(&leakage["subjects"]["max"]),
            leakage_mean: one(&leakage["subjects"]["mean"]),
            inference_lift: lift(verification),
        }
    }
}

/// The largest lift of an attack by a model.
fn lift(verification: &Value) -> Option<f64> {
    let attacks = verification["attacks"].as_array()?;
    let lifts = attacks
        .iter()
        .filter_map(|check| check["figures"]["lift"].as_f64());
    lifts.reduce(f64::max)
}
