//! What must be seen of a whole release before its portions are measured.
//!
//! Some figures of a row depend on all others: the range that the release shows,
//! the mean that a number is far from, the pairs that the budget of correlation
//! allows. So the portions of a release come by twice: first [`Whole`] sees them,
//! then [`super::Measuring`] adds up what it counts. A release that is measured at
//! once is seen and measured as one portion.

use crate::microdata::Role;
use crate::release::{Content, DistinctCells};

use super::correlation::runs;
use super::evidence::{Evidence, EvidenceError, JoinedEvidence, PreparedAttribute};
use super::group_means::averaged;
use super::mean::Mean;
use super::originals::Originals;
use super::pairing::Shared;
use super::scale::{Scale, ShownScale};
use super::spread::Spread;

/// What is seen of a whole release of records.
#[derive(Clone, Debug)]
pub struct Whole {
    originals: Originals,
    rows: u64,
    runs: u64,
    attributes: Vec<WholeAttribute>,
}

/// What is seen of one attribute, in order of columns.
#[derive(Clone, Debug)]
pub(super) struct WholeAttribute {
    /// Its name.
    pub(super) name: String,
    /// Whether it is sensitive for anybody.
    pub(super) is_sensitive: bool,
    /// Whether rows that look the same may differ in it.
    pub(super) is_by_row: bool,
    /// How many buckets its values are in; none without buckets.
    pub(super) shared: Option<Shared>,
    scale: ShownScale,
    /// The numbers of its rows; empty of categories.
    mean: Mean,
    cells: DistinctCells,
    pools: u64,
    /// Intervals that cells and pools lie in.
    shares: u64,
}

impl Whole {
    /// Nothing of the release is seen yet; the originals are complete.
    pub fn new(originals: Originals) -> Self {
        Self {
            originals,
            rows: 0,
            runs: 0,
            attributes: Vec::new(),
        }
    }

    /// Sees a portion. Time is linear in its rows × attributes.
    ///
    /// # Errors
    /// Tables and originals do not fit together, or portions do not have the same
    /// columns.
    pub fn see(&mut self, portion: &Evidence<'_>) -> Result<(), EvidenceError> {
        let prepared = JoinedEvidence::new(portion)?;
        let spreads = self.spreads(&prepared)?;
        self.see_prepared(&prepared, &spreads)
    }

    /// A release that is measured at once, with its spreads.
    pub(super) fn of<'a>(
        prepared: &'a JoinedEvidence<'a>,
    ) -> Result<(Self, Vec<Spread<'a>>), EvidenceError> {
        let evidence = &prepared.evidence;
        let subjects = evidence.lineage.of(prepared.joined.name());
        let originals = Originals::of(evidence.table, subjects.unwrap_or_default());
        let mut whole = Self::new(originals);
        let spreads = whole.spreads(prepared)?;
        whole.see_prepared(prepared, &spreads)?;
        Ok((whole, spreads))
    }

    /// How a portion spreads over the intervals of the whole.
    pub(super) fn spreads<'a>(
        &self,
        prepared: &'a JoinedEvidence<'a>,
    ) -> Result<Vec<Spread<'a>>, EvidenceError> {
        let mut attributes = prepared.attributes();
        if attributes.any(|one| self.originals.published(one.index).len() != one.domain().len()) {
            return Err(EvidenceError::Unfit("counts are those of another table"));
        }
        Ok(Spread::all(prepared, &self.originals))
    }

    fn see_prepared(
        &mut self,
        prepared: &JoinedEvidence<'_>,
        spreads: &[Spread<'_>],
    ) -> Result<(), EvidenceError> {
        if self.attributes.is_empty() {
            self.attributes = prepared.attributes().map(WholeAttribute::new).collect();
        }
        self.must_know(prepared)?;
        self.rows += prepared.joined.rows() as u64;
        self.runs += runs(&prepared.signatures);
        let attributes = prepared.attributes().zip(spreads);
        for (known, (attribute, spread)) in self.attributes.iter_mut().zip(attributes) {
            prepared.evidence.cancel.heed();
            known.see(prepared, attribute, spread);
        }
        Ok(())
    }

    /// Refuses a portion with other columns than those that were seen.
    pub(super) fn must_know(&self, prepared: &JoinedEvidence<'_>) -> Result<(), EvidenceError> {
        let known = self.attributes.iter().map(|one| &*one.name);
        if known.eq(prepared.attributes().map(|one| one.published.name)) {
            Ok(())
        } else {
            Err(EvidenceError::Unfit("portions differ in their columns"))
        }
    }

    /// How often codes occur in the whole table.
    pub(super) fn originals(&self) -> &Originals {
        &self.originals
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// How often rows that look the same are added at once.
    pub(super) fn runs(&self) -> u64 {
        self.runs
    }

    /// The attributes, in order of columns.
    pub(super) fn attributes(&self) -> &[WholeAttribute] {
        &self.attributes
    }

    /// Mean of the numbers of an attribute; none where no row has one.
    pub(super) fn mean(&self, name: &str) -> Option<f64> {
        let mut attributes = self.attributes.iter();
        attributes.find(|one| one.name == name)?.mean.get()
    }
}

impl WholeAttribute {
    fn new(attribute: PreparedAttribute<'_>) -> Self {
        let published = attribute.published;
        Self {
            name: published.name.to_owned(),
            is_sensitive: matches!(attribute.role, Role::Sensitive | Role::SemiSensitive),
            is_by_row: published.content == Content::Exact,
            shared: None,
            scale: ShownScale::new(published.kind, attribute.domain().hierarchy().cloned()),
            mean: Mean::default(),
            cells: DistinctCells::default(),
            pools: 0,
            shares: 0,
        }
    }

    fn see(
        &mut self,
        prepared: &JoinedEvidence<'_>,
        attribute: PreparedAttribute<'_>,
        spread: &Spread<'_>,
    ) {
        let (domain, published) = (attribute.domain(), attribute.published);
        self.scale.see(published);
        if domain.is_numeric() {
            let numbers = averaged(prepared, attribute).original;
            self.mean
                .add_all(Mean::of(prepared.joined.rows(), &numbers));
        }
        for (run, cell) in published.cells.iter().enumerate() {
            if self.cells.add(cell) {
                self.shares += spread.shares(run).len() as u64;
            }
        }
        if let Some(buckets) = &published.buckets {
            self.is_by_row = true;
            let pools = published.cells.len()..spread.runs();
            self.pools += pools.len() as u64;
            let shares = pools.map(|run| spread.shares(run).len() as u64);
            self.shares += shares.sum::<u64>();
            let shared = self.shared.get_or_insert_with(|| Shared::new(domain));
            shared.see(domain, buckets);
        }
    }

    /// The scale that the release shows.
    pub(super) fn scale(&self) -> Scale {
        self.scale.scale()
    }

    /// Intervals that a cell or pool lies in, on average over all of them.
    pub(super) fn mean_shares(&self) -> f64 {
        let runs = self.cells.len() as u64 + self.pools;
        self.shares as f64 / runs.max(1) as f64
    }
}
