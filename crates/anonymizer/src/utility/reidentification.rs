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

use super::class_sizes::ClassSizes;
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

/// Bars of the histogram.
const BINS: usize = 20;

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
    fn of(sizes: &ClassSizes) -> Self {
        let records = sizes.rows();
        // The record in the middle, groups ordered from the largest risk on.
        let mut behind = 0;
        let middle = sizes.iter().find(|&(size, groups)| {
            behind += u64::from(size) * groups;
            behind * 2 >= records
        });
        let risk = |size: Option<u32>| size.map_or(0.0, |size| 1.0 / f64::from(size));
        Self {
            max: risk(sizes.min()),
            mean: sizes.classes() as f64 / records.max(1) as f64,
            median: risk(middle.map(|(size, _)| size)),
        }
    }
}

/// Works out the risks of a release whose rows with the same quasi-identifiers
/// are groups of these sizes. `finer` are the groups of rows that show the same in
/// everything but sensitive attributes; none where nothing else stands in rows.
pub(super) fn measure(sizes: &ClassSizes, finer: Option<&ClassSizes>) -> ReidentificationRisk {
    match finer {
        Some(finer) => ReidentificationRisk {
            by_quasi_identifiers: Some(ProsecutorRisk::of(sizes)),
            ..of_sizes(finer)
        },
        None => of_sizes(sizes),
    }
}

/// Sizes of the groups of rows that show the same in everything but sensitive
/// attributes; none where no insensitive attribute stands in the rows.
pub(super) fn with_exact(evidence: &Evidence<'_>) -> Option<Vec<u32>> {
    let rows = evidence.tables.first()?.rows();
    let k = vec![1; rows];
    let exposure = Exposure::of(evidence.tables, evidence.table.schema(), &k)?;
    let insensitive = exposure.insensitive();
    (!insensitive.is_empty()).then(|| exposure.class_sizes(&insensitive))
}

/// Works out the risks from the sizes of groups.
fn of_sizes(sizes: &ClassSizes) -> ReidentificationRisk {
    let risk = ProsecutorRisk::of(sizes);
    let mut counts = vec![0_u64; BINS];
    for (size, groups) in sizes.iter() {
        let at = BINS as f64 / f64::from(size) + 1e-9;
        counts[(at as usize).min(BINS - 1)] += u64::from(size) * groups;
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
