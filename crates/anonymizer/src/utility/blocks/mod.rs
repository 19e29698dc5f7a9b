//! Measures of releases that publish sensitive values in blocks: `arp` and
//! its comparators.
//!
//! What an analyst can tell of a record's sensitive value is a distribution
//! over the values of its block ([`candidates`]); GLP and RE compare it with
//! the originals. The rest are the measures of records, where a block is a
//! bucket by another name.

mod candidates;
mod classes;
mod glp;
mod reconstruction;

pub use glp::{AttributeGlp, Glp};
pub use reconstruction::{AttributeReconstruction, Reconstruction};

use super::class_sizes::ClassSizes;
use super::evidence::{Evidence, EvidenceError, JoinedEvidence};
use super::journalist::ShownClasses;
use super::report::UtilityReport;
use super::whole::Whole;
use super::{bucket_range, correlation, discernibility, group_means, group_size, information};
use super::{marginal, ncp};
use crate::privacy::{BlockForm, Model};
use crate::release::JoinedAttribute;
use candidates::Candidates;

/// Measures a release of blocks. Work: linear in rows × attributes and in the
/// values of the blocks of rows, except correlation, which reads a sample.
///
/// Fails only where tables and originals do not fit together, which the
/// verifier reports first.
pub fn measure(evidence: &Evidence<'_>) -> Result<UtilityReport, EvidenceError> {
    let prepared = JoinedEvidence::new(evidence)?;
    let candidates = Candidates::all(&prepared);
    let mut report = UtilityReport::new(prepared.joined.rows() as u64);
    let sizes = classes::sizes(&prepared);
    let blocks = ClassSizes::of(&sizes.blocks);
    evidence.cancel.heed();
    report.insert(
        "c_dm",
        classes::BLOCKS_DISCERNED,
        &discernibility::measure(&blocks),
    );
    evidence.cancel.heed();
    report.insert(
        "group_sizes",
        classes::BLOCK_SIZES,
        &group_size::measure(&blocks),
    );
    evidence.cancel.heed();
    let is_known = |attribute: &JoinedAttribute<'_>| classes::is_known(&prepared, attribute);
    let rows = ShownClasses::of_rows(evidence, (&prepared.joined, &sizes.alike), is_known);
    super::insert_risks(&mut report, evidence, &rows);
    evidence.cancel.heed();
    report.insert(
        "glp",
        glp::DESCRIPTION,
        &glp::measure(&prepared, &candidates),
    );
    evidence.cancel.heed();
    report.insert(
        "reconstruction",
        reconstruction::DESCRIPTION,
        &reconstruction::measure(&prepared, &candidates),
    );
    evidence.cancel.heed();
    report.insert(
        "leakage",
        candidates::LEAKAGE,
        &candidates::leakage(&prepared, &candidates),
    );
    let (whole, spreads) = Whole::of(&prepared)?;
    evidence.cancel.heed();
    report.insert(
        "correlation",
        correlation::DESCRIPTION,
        &correlation::measure(&prepared.signatures, &spreads, &whole),
    );
    evidence.cancel.heed();
    report.insert(
        "group_means",
        group_means::DESCRIPTION,
        &group_means::measure(&prepared, &spreads, &whole),
    );
    evidence.cancel.heed();
    report.insert(
        "marginals",
        marginal::DESCRIPTION,
        &marginal::measure(&spreads),
    );
    evidence.cancel.heed();
    report.insert(
        "information_left",
        information::DESCRIPTION,
        &information::measure(&prepared),
    );
    if let Model::Blocks { form, .. } = evidence.requirements.policy().model {
        insert_form_measures(&mut report, (&prepared, &whole), form);
    }
    Ok(report)
}

/// What can be told of one way of publishing alone.
fn insert_form_measures(
    report: &mut UtilityReport,
    (prepared, whole): (&JoinedEvidence<'_>, &Whole),
    form: BlockForm,
) {
    match form {
        BlockForm::Distinct | BlockForm::Eligible => {
            let ranges = bucket_range::measure(prepared, whole);
            report.insert("bucket_range", bucket_range::DESCRIPTION, &ranges);
        }
        BlockForm::Generalized | BlockForm::Ring => {
            report.insert("ncp", ncp::DESCRIPTION, &ncp::measure(prepared));
            let published = ncp::measure_published(prepared);
            report.insert("ncp_published", ncp::DESCRIPTION_PUBLISHED, &published);
        }
        BlockForm::Sliced | BlockForm::Randomized { .. } => {}
    }
}
