//! Re-identification risk: how likely a published row is matched to a person.
//!
//! *Prosecutor*: the adversary knows that the target is in the table and all
//! public values; risk of a record is 1 / size of its group. *Marketer*: the
//! adversary matches everyone at random within groups; the expected share of
//! right matches is groups / records, which equals the prosecutor's mean.
//! *Journalist*: the adversary knows a population table that the release is a
//! sample of; without one the figure is absent, and the prosecutor's is an
//! upper bound of it.

use serde::Serialize;

use super::histogram::Histogram;
use super::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Re-identification risk",
    audience: Audience::Analyst,
    definition: "Prosecutor: 1 / group size of a record, its maximum and mean. Marketer: groups / records. Journalist: needs a population table; prosecutor bounds it from above.",
    source: "El Emam & Dankar 2008, Protecting privacy using k-anonymity",
};

/// Re-identification risk of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReidentificationRisk {
    /// Largest 1 / group size.
    pub prosecutor_max: f64,
    /// Mean over records of 1 / group size.
    pub prosecutor_mean: f64,
    /// Expected share of right matches.
    pub marketer: f64,
    /// Absent: no population table is given.
    pub journalist: Option<f64>,
    /// Records by risk, in bars of a twentieth.
    pub histogram: Histogram,
}

/// Works out the risks from the sizes of groups.
pub fn measure(sizes: &[u32]) -> ReidentificationRisk {
    let records: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
    let mean = sizes.len() as f64 / records.max(1) as f64;
    let mut counts = vec![0_u64; 20];
    for &size in sizes {
        let at = 20.0 / f64::from(size) + 1e-9;
        counts[(at as usize).min(19)] += u64::from(size);
    }
    ReidentificationRisk {
        prosecutor_max: sizes
            .iter()
            .min()
            .map_or(0.0, |&size| 1.0 / f64::from(size)),
        prosecutor_mean: mean,
        marketer: mean,
        journalist: None,
        histogram: Histogram::from_share_counts(&counts),
    }
}
