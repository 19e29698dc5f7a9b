//! Measures of releases with one row a subject: the table `persons`.
//!
//! Groups are persons who look the same on the quasi-identifiers; a published
//! fingerprint is what a row says in all sensitive attributes together. Loss
//! is measured on what each subject's records said, so a steward's figures
//! need the originals; what the table itself tells (groups, fingerprints, how
//! often a value is published in a group) is for analysts too.
//!
//! All measures work on codes: the distinct cells of a column are read once,
//! and one pass over persons and the items of their fingerprints does the rest.

mod covering;
mod fingerprints;
mod leakage;
mod marks;
mod originals;
mod prepared;
mod qid_ncp;
mod sa_ncp;
mod value_shares;

#[cfg(test)]
mod tests;

pub use fingerprints::{Fingerprints, OriginalFingerprints};
pub use leakage::PersonsLeakage;
pub use prepared::{PersonsAttribute, PreparedPersons};
pub use sa_ncp::{ItemLoss, SaNcp};
pub use value_shares::{ShareSummary, ValueShares};

use super::evidence::{Evidence, EvidenceError};
use super::journalist::ShownClasses;
use super::report::UtilityReport;
use crate::release::{Content, JoinedAttribute};

/// Bars of the histograms of shares.
const BINS: usize = 20;

/// Measures a release of persons. Work: linear in records, rows × attributes,
/// and the items of fingerprints with the nodes above them.
///
/// Fails only where tables and originals do not fit together, which the
/// verifier reports first.
pub fn measure(evidence: &Evidence<'_>) -> Result<UtilityReport, EvidenceError> {
    let prepared = PreparedPersons::new(evidence)?;
    let mut report = UtilityReport::new(prepared.joined.rows() as u64);
    let is_known = |attribute: &JoinedAttribute<'_>| attribute.content == Content::Generalized;
    let rows = ShownClasses::of_rows(evidence, (&prepared.joined, &prepared.groups), is_known);
    super::insert_group_measures(&mut report, evidence, &rows);
    evidence.cancel.heed();
    report.insert(
        "qid_ncp",
        qid_ncp::DESCRIPTION,
        &qid_ncp::measure(&prepared),
    );
    evidence.cancel.heed();
    report.insert(
        "qid_ncp_published",
        qid_ncp::DESCRIPTION_PUBLISHED,
        &qid_ncp::measure_published(&prepared),
    );
    evidence.cancel.heed();
    report.insert("sa_ncp", sa_ncp::DESCRIPTION, &sa_ncp::measure(&prepared));
    evidence.cancel.heed();
    report.insert(
        "fingerprints",
        fingerprints::DESCRIPTION,
        &fingerprints::measure(&prepared),
    );
    evidence.cancel.heed();
    report.insert(
        "fingerprints_original",
        fingerprints::DESCRIPTION_ORIGINAL,
        &fingerprints::measure_original(&prepared),
    );
    evidence.cancel.heed();
    report.insert(
        "value_shares",
        value_shares::DESCRIPTION,
        &value_shares::measure(&prepared),
    );
    evidence.cancel.heed();
    report.insert(
        "leakage",
        leakage::DESCRIPTION,
        &leakage::measure(&prepared),
    );
    Ok(report)
}
