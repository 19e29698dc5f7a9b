//! Re-identification risk: how likely a published row is matched to a person.
//!
//! *Prosecutor*: the adversary knows that the target is in the table and all
//! public values; risk of a record is 1 / size of its group. *Marketer*: the
//! adversary matches everyone at random within groups; the expected share of
//! right matches is groups / records, which equals the prosecutor's mean.
//! *Journalist*: the adversary knows a population table that the release is a
//! sample of. Analysts read this measure, and nobody published that table: the
//! figure is a measure of its own, for stewards ([`super::journalist`]), and the
//! prosecutor's is an upper bound of it.

use serde::Serialize;

use super::evidence::Evidence;
use super::histogram::Histogram;
use super::report::{Audience, Description};
use crate::release::Exposure;

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Re-identification risk",
    audience: Audience::Analyst,
    definition: "Prosecutor: 1 / group size of a record, its maximum, mean and median; a group shows the same quasi-identifiers and the same attributes that are published exactly, but sensitive ones. Marketer: groups / records. Journalist: always null here, prosecutor bounds it from above; against a population table stewards see it as journalist_risk.",
    source: "El Emam & Dankar 2008, Protecting privacy using k-anonymity",
};

/// Re-identification risk of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReidentificationRisk {
    /// Largest 1 / group size, with attributes that are published exactly.
    pub prosecutor_max: f64,
    /// Mean over records of 1 / group size, likewise.
    pub prosecutor_mean: f64,
    /// Median over records of 1 / group size, likewise.
    pub prosecutor_median: f64,
    /// The same for who knows quasi-identifiers alone; absent where nothing
    /// else is published exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_quasi_identifiers: Option<ProsecutorRisk>,
    /// Expected share of right matches.
    pub marketer: f64,
    /// Always absent: a population table is not published, and `journalist_risk`
    /// tells it to stewards. The name stays for those who read it.
    pub journalist: Option<f64>,
    /// Records by risk, in bars of a twentieth.
    pub histogram: Histogram,
}

/// Prosecutor's risk of a release.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProsecutorRisk {
    /// Largest 1 / group size.
    pub max: f64,
    /// Mean over records of 1 / group size.
    pub mean: f64,
    /// Median over records of 1 / group size.
    pub median: f64,
}

impl ProsecutorRisk {
    fn of(sizes: &[u32]) -> Self {
        let records: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
        let mut ascending = sizes.to_vec();
        ascending.sort_unstable();
        // The record in the middle, groups ordered from the largest risk on.
        let mut behind = 0;
        let middle = ascending.iter().find(|&&size| {
            behind += u64::from(size);
            behind * 2 >= records
        });
        let risk = |size: Option<&u32>| size.map_or(0.0, |&size| 1.0 / f64::from(size));
        Self {
            max: risk(ascending.first()),
            mean: sizes.len() as f64 / records.max(1) as f64,
            median: risk(middle),
        }
    }
}

/// Works out the risks of a release whose rows with the same quasi-identifiers
/// are groups of these sizes.
pub fn of_release(evidence: &Evidence<'_>, sizes: &[u32]) -> ReidentificationRisk {
    match with_exact(evidence) {
        Some(finer) => ReidentificationRisk {
            by_quasi_identifiers: Some(ProsecutorRisk::of(sizes)),
            ..measure(&finer)
        },
        None => measure(sizes),
    }
}

/// Sizes of the groups of rows that show the same in everything but sensitive
/// attributes; none where no insensitive attribute stands in the rows.
fn with_exact(evidence: &Evidence<'_>) -> Option<Vec<u32>> {
    let rows = evidence.tables.first()?.rows();
    let k = vec![1; rows];
    let exposure = Exposure::of(evidence.tables, evidence.table.schema(), &k)?;
    let insensitive = exposure.insensitive();
    (!insensitive.is_empty()).then(|| exposure.class_sizes(&insensitive))
}

/// Works out the risks from the sizes of groups.
pub fn measure(sizes: &[u32]) -> ReidentificationRisk {
    let risk = ProsecutorRisk::of(sizes);
    let mut counts = vec![0_u64; 20];
    for &size in sizes {
        let at = 20.0 / f64::from(size) + 1e-9;
        counts[(at as usize).min(19)] += u64::from(size);
    }
    ReidentificationRisk {
        prosecutor_max: risk.max,
        prosecutor_mean: risk.mean,
        prosecutor_median: risk.median,
        by_quasi_identifiers: None,
        marketer: risk.mean,
        journalist: None,
        histogram: Histogram::from_share_counts(&counts),
    }
}
