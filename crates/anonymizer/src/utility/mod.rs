//! What a release is still good for, and what risk is left: one measure a
//! file, its definition and source on top of it.
//!
//! Measures work on the *decoded* published tables, as anyone would read
//! them, beside the original table, the requirements and the lineage. A
//! measure that needs any of the originals is for stewards ([`Audience`]);
//! [`public_part`] keeps what analysts may see. That includes the loss scale:
//! the range of the dataset would tell of an extreme record that was left
//! out, so what analysts see is measured on the range that the release shows.
//!
//! Releases with one row a subject have measures of their own ([`persons`]).
//!
//! Counts that come from preferences are rounded to tens (data.md).
//! Everything is computed on codes, per attribute in one pass over rows.

use crate::privacy::{BlockForm, Model};

use self::journalist::ShownClasses;
use self::spread::Spread;
use crate::release::{Content, JoinedAttribute};

pub mod blocks;
mod bucket_range;
mod correlation;
mod coverage;
mod discernibility;
mod evidence;
pub mod fit;
mod group_means;
mod group_size;
mod histogram;
mod information;
mod journalist;
mod leakage;
mod marginal;
mod ncp;
pub mod persons;
mod reidentification;
mod report;
mod scale;
pub mod sliced;
mod spread;

pub use bucket_range::{AttributeBuckets, BucketRange, Pairing};
pub use correlation::{Correlation, PairCorrelation};
pub use discernibility::Discernibility;
pub use evidence::{Evidence, EvidenceError, JoinedEvidence, PreparedAttribute};
pub use fit::{Fit, FitError, FitMismatch};
pub use group_means::{GroupMeans, PairMeans};
pub use group_size::GroupSizes;
pub use histogram::{Bin, Histogram};
pub use information::InformationLeft;
pub use journalist::JournalistRisk;
pub use leakage::{Leakage, LeakageSummary};
pub use marginal::Marginals;
pub use ncp::{AttributeLoss, Ncp};
pub use reidentification::ReidentificationRisk;
pub use report::{Audience, Description, Measure, UtilityReport, public_part};
pub use scale::Scale;

/// Measures a release, as its job's model has it. Work: linear in rows ×
/// attributes, and of pairs of attributes.
///
/// Fails only where tables and originals do not fit together, which the
/// verifier reports first.
pub fn measure(evidence: &Evidence<'_>) -> Result<UtilityReport, EvidenceError> {
    match &evidence.requirements.policy().model {
        Model::Bucketized { .. } | Model::Generalized { .. } | Model::Personalized { .. } => {
            of_records(evidence)
        }
        Model::Sliced { .. }
        | Model::Blocks {
            form: BlockForm::Sliced,
            ..
        } => sliced::measure(evidence),
        Model::Blocks { .. } => blocks::measure(evidence),
        Model::Fingerprints { .. } | Model::Itemsets { .. } => persons::measure(evidence),
    }
}

/// What can be told from groups of rows that look the same.
fn insert_group_measures(
    report: &mut UtilityReport,
    evidence: &Evidence<'_>,
    groups: &ShownClasses<'_>,
) {
    report.insert(
        "c_dm",
        discernibility::DESCRIPTION,
        &discernibility::measure(groups.sizes),
    );
    report.insert(
        "group_sizes",
        group_size::DESCRIPTION,
        &group_size::measure(groups.sizes),
    );
    insert_risks(report, evidence, groups);
}

/// How likely rows that look the same are matched to their people.
fn insert_risks(report: &mut UtilityReport, evidence: &Evidence<'_>, groups: &ShownClasses<'_>) {
    let journalist = journalist::measure(evidence, groups);
    // Of it nothing goes into the measure that analysts read.
    let risk = reidentification::of_release(evidence, groups.sizes);
    report.insert(
        "reidentification_risk",
        reidentification::DESCRIPTION,
        &risk,
    );
    if evidence.population_table.is_some() {
        report.insert("journalist_risk", journalist::DESCRIPTION, &journalist);
    }
}

fn of_records(evidence: &Evidence<'_>) -> Result<UtilityReport, EvidenceError> {
    let prepared = JoinedEvidence::new(evidence)?;
    let mut report = UtilityReport::new(prepared.joined.rows() as u64);
    let is_known = |attribute: &JoinedAttribute<'_>| attribute.content == Content::Generalized;
    let classes = (&prepared.joined, &prepared.signatures);
    let rows = ShownClasses::of_rows(evidence, classes, is_known);
    insert_group_measures(&mut report, evidence, &rows);
    evidence.cancel.heed();
    report.insert("ncp", ncp::DESCRIPTION, &ncp::measure(&prepared));
    evidence.cancel.heed();
    report.insert(
        "ncp_published",
        ncp::DESCRIPTION_PUBLISHED,
        &ncp::measure_published(&prepared),
    );
    if matches!(
        evidence.requirements.policy().model,
        Model::Bucketized { .. }
    ) {
        report.insert(
            "bucket_range",
            bucket_range::DESCRIPTION,
            &bucket_range::measure(&prepared),
        );
    }
    let spreads = Spread::all(&prepared);
    let (leakage, (correlation, (marginals, information))) = rayon::join(
        || leakage::measure(&prepared),
        || {
            rayon::join(
                || correlation::measure(&prepared.signatures, &spreads),
                || {
                    rayon::join(
                        || marginal::measure(&spreads),
                        || information::measure(&prepared),
                    )
                },
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
        group_means::DESCRIPTION,
        &group_means::measure(&prepared, &spreads),
    );
    evidence.cancel.heed();
    report.insert("marginals", marginal::DESCRIPTION, &marginals);
    evidence.cancel.heed();
    report.insert("information_left", information::DESCRIPTION, &information);
    Ok(report)
}
