//! Measuring a release of records portion by portion.
//!
//! Of each portion is added up what measures are made from: counts, sums and
//! contingency tables, whose size depends on domains and cells and never on rows.
//! A portion is so many rows that no group, no bucket and no set of rows with
//! equal quasi-identifiers is cut; it is a release of its own, with a part of the
//! table and of the requirements.
//!
//! ```text
//! originals.add(part of the table, published subjects)    every part
//! whole.see(portion)                                       every portion
//! measuring.add(portion)                                   every portion
//! measuring.finish()
//! ```
//! The figures are those of the release measured at once, but for the order in
//! which floats are added. Persons, blocks and sliced releases are measured as a
//! whole ([`super::measure`]).

use crate::microdata::PopulationTable;
use crate::privacy::Model;
use crate::release::{Content, JoinedAttribute};

use super::bucket_range::{self, BucketRangeSums};
use super::class_sizes::ClassSizes;
use super::correlation::{self, CorrelationSums};
use super::evidence::{Evidence, EvidenceError, JoinedEvidence};
use super::group_means::{self, GroupMeansSums};
use super::information::{self, InformationSums};
use super::journalist::{JournalistSums, ShownClasses};
use super::leakage::{self, LeakageSums};
use super::marginal::{self, MarginalSums};
use super::ncp::{self, NcpSums};
use super::reidentification;
use super::report::UtilityReport;
use super::scale::Scale;
use super::spread::Spread;
use super::whole::Whole;
use super::{Groups, insert_groups};

/// What is counted of the portions of a release of records.
#[derive(Debug)]
pub struct Measuring {
    whole: Whole,
    /// Scales that the release shows, in order of columns.
    scales: Vec<Scale>,
    is_bucketized: bool,
    classes: ClassSizes,
    finer: Option<ClassSizes>,
    journalist: JournalistSums,
    ncp: NcpSums,
    ncp_published: NcpSums,
    ranges: BucketRangeSums,
    leakage: LeakageSums,
    correlation: CorrelationSums,
    group_means: GroupMeansSums,
    marginals: MarginalSums,
    information: InformationSums,
}

impl Measuring {
    /// Nothing is counted yet of a release that was seen as a whole.
    pub fn new(whole: Whole) -> Self {
        let scales = whole.attributes().iter().map(|attribute| attribute.scale());
        Self {
            scales: scales.collect(),
            is_bucketized: false,
            classes: ClassSizes::default(),
            finer: None,
            journalist: JournalistSums::new(),
            ncp: NcpSums::default(),
            ncp_published: NcpSums::default(),
            ranges: BucketRangeSums::of(&whole),
            leakage: LeakageSums::default(),
            correlation: CorrelationSums::of(&whole),
            group_means: GroupMeansSums::default(),
            marginals: MarginalSums::default(),
            information: InformationSums::default(),
            whole,
        }
    }

    /// Adds a portion. Work: linear in rows × attributes, and of pairs of
    /// attributes. Takes rayon's current pool.
    ///
    /// # Errors
    /// Tables and originals do not fit together, which the verifier reports first;
    /// or the portion was not seen.
    pub fn add(&mut self, portion: &Evidence<'_>) -> Result<(), EvidenceError> {
        let prepared = JoinedEvidence::new(portion)?;
        self.whole.must_know(&prepared)?;
        let spreads = self.whole.spreads(&prepared)?;
        self.add_prepared(&prepared, &spreads);
        Ok(())
    }

    /// What was seen of the whole release.
    pub fn whole(&self) -> &Whole {
        &self.whole
    }

    pub(super) fn add_prepared(&mut self, prepared: &JoinedEvidence<'_>, spreads: &[Spread<'_>]) {
        let evidence = &prepared.evidence;
        let model = &evidence.requirements.policy().model;
        self.is_bucketized = matches!(model, Model::Bucketized { .. });
        self.add_classes(prepared);
        evidence.cancel.heed();
        let of_domain =
            |_, attribute: super::PreparedAttribute<'_>| Scale::of_domain(attribute.domain());
        self.ncp.add_records(prepared, of_domain);
        evidence.cancel.heed();
        let scales = &self.scales;
        self.ncp_published
            .add_records(prepared, |at, _| &scales[at]);
        if self.is_bucketized {
            self.ranges.add(prepared, &self.whole);
        }
        let whole = &self.whole;
        rayon::join(
            || self.leakage.add(prepared, whole.originals()),
            || {
                rayon::join(
                    || self.correlation.add(&prepared.signatures, spreads),
                    || {
                        rayon::join(
                            || self.marginals.add(spreads),
                            || self.information.add(prepared),
                        )
                    },
                )
            },
        );
        evidence.cancel.heed();
        self.group_means.add(prepared, spreads, whole);
        evidence.cancel.heed();
    }

    /// Adds rows that look the same, and how likely they are matched.
    fn add_classes(&mut self, prepared: &JoinedEvidence<'_>) {
        let evidence = &prepared.evidence;
        let is_known = |attribute: &JoinedAttribute<'_>| attribute.content == Content::Generalized;
        let classes = (&prepared.joined, &prepared.signatures);
        let rows = ShownClasses::of_rows(evidence, classes, is_known);
        self.classes.add(rows.sizes);
        self.journalist.add(evidence, &rows);
        if let Some(finer) = reidentification::with_exact(evidence) {
            self.finer.get_or_insert_default().add(&finer);
        }
    }

    /// The report of all portions, beside the table of those among whom their
    /// people could be: the one that every portion was held against.
    #[must_use]
    pub fn finish(self, population: Option<&PopulationTable>) -> UtilityReport {
        let mut report = UtilityReport::new(self.whole.rows());
        let groups = Groups {
            sizes: self.classes,
            finer: self.finer,
            journalist: population.map(|table| self.journalist.finish(table)),
        };
        insert_groups(&mut report, &groups);
        report.insert("ncp", ncp::DESCRIPTION, &self.ncp.finish());
        let published = self.ncp_published.finish();
        report.insert("ncp_published", ncp::DESCRIPTION_PUBLISHED, &published);
        if self.is_bucketized {
            let ranges = self.ranges.finish();
            report.insert("bucket_range", bucket_range::DESCRIPTION, &ranges);
        }
        let leakage = self.leakage.finish();
        report.insert("leakage", leakage::DESCRIPTION, &leakage);
        let correlation = self.correlation.finish();
        report.insert("correlation", correlation::DESCRIPTION, &correlation);
        let means = self.group_means.finish(&self.whole);
        report.insert("group_means", group_means::DESCRIPTION, &means);
        let marginals = self.marginals.finish();
        report.insert("marginals", marginal::DESCRIPTION, &marginals);
        let information = self.information.finish();
        report.insert("information_left", information::DESCRIPTION, &information);
        report
    }
}
