//! Measures of sliced releases: the tables `sliced` and `columns`.
//!
//! Groups are buckets. Every value is published as it was, so there is no loss
//! of cells but of links: what is measured is how far attributes still tell
//! each other, how far marginals are kept (exactly, unless something is
//! generalized), and with what probability an adversary gives a subject's own
//! value.

mod correlation;
mod group_means;
mod leakage;
mod marginal;
mod prepared;

pub use prepared::{PreparedColumn, PreparedSliced, SlicedAttribute};

use super::evidence::{Evidence, EvidenceError};
use super::report::UtilityReport;

/// Measures a sliced release. Work: linear in rows × attributes, but for
/// correlation (pairs of attributes) and leakage (buckets that a subject
/// matches).
///
/// Fails only where tables and originals do not fit together, which the
/// verifier reports first.
pub fn measure(evidence: &Evidence<'_>) -> Result<UtilityReport, EvidenceError> {
    let prepared = PreparedSliced::new(evidence)?;
    let mut report = UtilityReport::new(prepared.rows as u64);
    super::insert_group_measures(&mut report, evidence, &prepared.shown());
    let binned = correlation::binned(&prepared);
    let (leakage, (correlation, marginals)) = rayon::join(
        || leakage::measure(&prepared),
        || {
            rayon::join(
                || correlation::measure(&prepared, &binned),
                || marginal::measure(&prepared),
            )
        },
    );
    evidence.cancel.heed();
    report.insert("leakage", leakage::DESCRIPTION, &leakage);
    evidence.cancel.heed();
    report.insert("correlation", correlation::DESCRIPTION, &correlation);
    evidence.cancel.heed();
    report.insert(
        "group_means",
        super::group_means::DESCRIPTION,
        &group_means::measure(&prepared, &binned),
    );
    evidence.cancel.heed();
    report.insert("marginals", marginal::DESCRIPTION, &marginals);
    Ok(report)
}
