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

use self::class_sizes::ClassSizes;
use self::journalist::{JournalistSums, ShownClasses};

pub mod blocks;
mod bucket_range;
mod class_sizes;
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
mod mean;
mod measuring;
mod ncp;
mod originals;
mod pairing;
pub mod persons;
mod reidentification;
mod report;
mod scale;
pub mod sliced;
mod spread;
mod whole;

pub use bucket_range::{AttributeBuckets, BucketRange};
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
pub use measuring::Measuring;
pub use ncp::{AttributeLoss, Ncp};
pub use originals::Originals;
pub use pairing::Pairing;
pub use reidentification::ReidentificationRisk;
pub use report::{Audience, Description, Measure, UtilityReport, public_part};
pub use scale::Scale;
pub use whole::Whole;

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
    insert_groups(report, &Groups::of(evidence, groups));
}

/// How likely rows that look the same are matched to their people.
fn insert_risks(report: &mut UtilityReport, evidence: &Evidence<'_>, groups: &ShownClasses<'_>) {
    Groups::of(evidence, groups).insert_risks(report);
}

/// Groups of rows that look the same.
struct Groups {
    sizes: ClassSizes,
    /// Of rows that show the same in everything but sensitive attributes; none
    /// where nothing else stands in rows.
    finer: Option<ClassSizes>,
    /// The risk beside a population table; none without one.
    journalist: Option<Option<JournalistRisk>>,
}

impl Groups {
    fn of(evidence: &Evidence<'_>, groups: &ShownClasses<'_>) -> Self {
        let finer = reidentification::with_exact(evidence);
        let table = evidence.population_table;
        Self {
            sizes: ClassSizes::of(groups.sizes),
            finer: finer.map(|sizes| ClassSizes::of(&sizes)),
            journalist: table.map(|table| {
                let mut sums = JournalistSums::new();
                sums.add(evidence, groups);
                sums.finish(table)
            }),
        }
    }

    fn insert_risks(&self, report: &mut UtilityReport) {
        // Of the journalist's nothing goes into the measure that analysts read.
        let risk = reidentification::measure(&self.sizes, self.finer.as_ref());
        report.insert(
            "reidentification_risk",
            reidentification::DESCRIPTION,
            &risk,
        );
        if let Some(journalist) = &self.journalist {
            report.insert("journalist_risk", journalist::DESCRIPTION, journalist);
        }
    }
}

fn insert_groups(report: &mut UtilityReport, groups: &Groups) {
    report.insert(
        "c_dm",
        discernibility::DESCRIPTION,
        &discernibility::measure(&groups.sizes),
    );
    report.insert(
        "group_sizes",
        group_size::DESCRIPTION,
        &group_size::measure(&groups.sizes),
    );
    groups.insert_risks(report);
}

fn of_records(evidence: &Evidence<'_>) -> Result<UtilityReport, EvidenceError> {
    let prepared = JoinedEvidence::new(evidence)?;
    let (whole, spreads) = Whole::of(&prepared)?;
    let mut measuring = Measuring::new(whole);
    measuring.add_prepared(&prepared, &spreads);
    Ok(measuring.finish(evidence.population_table))
}
