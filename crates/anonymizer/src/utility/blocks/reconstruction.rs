//! RE: the reconstruction error of a release.
//!
//! RE = Σ_t (1 − Pr(t* is assigned its own value)). Where no value has more
//! than 1/l of a block it is at least n(1 − 1/l); the ratio to that says how
//! little more than needed was given away.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::privacy::Protection;

use super::candidates::Candidates;
use crate::utility::evidence::JoinedEvidence;
use crate::utility::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Reconstruction error (RE)",
    audience: Audience::Steward,
    definition: "Sum over records of 1 − the probability of the record's own sensitive value that the release leaves; its lower bound n(1 − 1/l), and the ratio of the two.",
    source: "Xiao & Tao 2006, Anatomy (reconstruction error), as ARP uses it",
};

/// RE by sensitive attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reconstruction {
    /// Per attribute.
    pub attributes: BTreeMap<String, AttributeReconstruction>,
}

/// RE of one attribute.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AttributeReconstruction {
    /// RE.
    pub re: f64,
    /// n(1 − 1/l).
    pub bound: f64,
    /// RE / bound; 1 where the bound is 0.
    pub ratio: f64,
}

/// Measures every published sensitive attribute.
pub(super) fn measure(
    prepared: &JoinedEvidence<'_>,
    candidates: &[Candidates<'_>],
) -> Reconstruction {
    let requirements = prepared.evidence.requirements;
    let of_attribute = |candidates: &Candidates<'_>| {
        let l = match requirements.protection(candidates.index) {
            Protection::Diversity { l, .. } => {
                f64::from(requirements.l_of_known(candidates.index, l.get()))
            }
            _ => 1.0,
        };
        let records = prepared.records.iter().enumerate();
        let re = records
            .map(|(row, &record)| 1.0 - candidates.own(row, record))
            .sum();
        let bound = prepared.records.len() as f64 * (1.0 - 1.0 / l);
        let ratio = if bound > 0.0 { re / bound } else { 1.0 };
        AttributeReconstruction { re, bound, ratio }
    };
    let attributes = candidates.iter().map(|candidates| {
        let name = candidates.attribute.published.name.to_owned();
        (name, of_attribute(candidates))
    });
    Reconstruction {
        attributes: attributes.collect(),
    }
}
