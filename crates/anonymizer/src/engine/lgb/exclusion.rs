//! What must hold before anything is published, and who is excluded so that
//! it does.
//!
//! Records are excluded in two ways. Subjects with `exclude: true` come first;
//! that is their wish and counts against nothing. Then records whose terms
//! cannot be met are excluded one by one, the strictest first, ties in random
//! order, until the conditions hold:
//! - K: there are at least K records;
//! - under l-diversity: most frequent value × L ≤ cells, over the flagged,
//!   unmasked cells of the attribute;
//! - under t-closeness: the most frequent value's share is allowed by every
//!   member, and there are two values;
//! - under `min_spread`: see [`spread`].
//!
//! A record may be excluded if its subject's own terms are stricter than the
//! job's, or, where subjects decide whether the attribute is sensitive,
//! because they flagged it. A condition that fails without either is a
//! [`Refusal`]: the job's floors are never lowered and no record is excluded
//! for its value. Each exclusion changes subsets, so stage 1 is repeated until
//! nobody is excluded.

use std::cmp::Reverse;

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::engine::kernel::feasibility::{OverBudget, exclude_by_frequency, exclude_until};
use crate::engine::kernel::{Tally, is_eligible};
use crate::privacy::{ProtectedIndex, Protection, Share};

use super::frame::{Frame, stage};
use super::patterns::{Division, divide};
use super::refusal::{BucketCondition, Failure, Refusal, Shortfall};
use super::spread;

/// Records and subsets for which every condition holds.
pub(super) struct Prepared {
    pub division: Division,
    /// Records of subjects who opted out.
    pub opted_out: usize,
    /// Records whose terms cannot be met, in the order of their exclusion.
    pub unsatisfiable: Vec<u32>,
}

/// Excludes whom it must and divides the rest into subsets, or says which
/// condition cannot hold.
pub(super) fn prepare(frame: &Frame<'_>) -> Result<Prepared, Failure> {
    let mut exclusion = Exclusion::new(frame);
    let of = exclusion.included.len();
    let opted_out = frame.table.records() - of;
    let k = frame.requirements.policy().k.get() as usize;
    let too_few = |left: usize| Failure::Refused(Refusal::TooFew { left: left as u64 });
    if of < k {
        return Err(too_few(of));
    }
    let indexes: Vec<ProtectedIndex> = frame.requirements.protected().collect();
    let division = loop {
        frame.context.check()?;
        exclusion.meet_k();
        if exclusion.included.len() < k {
            break None;
        }
        let division = divide(frame, &exclusion.included)?;
        let before = exclusion.excluded.len();
        for &index in exclusion.unmet_and_later(&indexes, &division) {
            exclusion.meet(index, &division)?;
        }
        if exclusion.excluded.len() == before {
            break Some(division);
        }
        exclusion.forget_excluded();
    };
    let excluded = exclusion.excluded.len();
    if let Err(over) = OverBudget::check(excluded, of, frame.params.max_excluded) {
        let culprit = exclusion.culprit();
        return Err(Failure::Refused(Refusal::Budget { over, culprit }));
    }
    match division {
        None => Err(too_few(of - excluded)),
        Some(division) => Ok(Prepared {
            division,
            opted_out,
            unsatisfiable: exclusion.excluded,
        }),
    }
}

/// Who is included, and who was excluded.
struct Exclusion<'f, 'a> {
    frame: &'f Frame<'a>,
    included: Vec<u32>,
    excluded: Vec<u32>,
    is_excluded: Vec<bool>,
    /// Per protectable attribute: the first shortfall that excluded records
    /// only because they flagged the attribute, and how many.
    for_flags: Vec<(Option<Shortfall>, u64)>,
}

impl<'f, 'a> Exclusion<'f, 'a> {
    fn new(frame: &'f Frame<'a>) -> Self {
        let all = frame.table.records();
        let included = 0..all as u32;
        Self {
            frame,
            included: included.filter(|&at| !frame.terms(at).exclude).collect(),
            excluded: Vec::new(),
            is_excluded: vec![false; all],
            for_flags: vec![(None, 0); frame.requirements.protected().count()],
        }
    }

    fn exclude(&mut self, records: &[u32]) {
        self.excluded.extend_from_slice(records);
        for &record in records {
            self.is_excluded[record as usize] = true;
        }
    }

    fn forget_excluded(&mut self) {
        let is_excluded = &self.is_excluded;
        self.included
            .retain(|&record| !is_excluded[record as usize]);
    }

    fn culprit(&self) -> Option<Shortfall> {
        let worst = self.for_flags.iter().max_by_key(|(_, count)| *count);
        worst.and_then(|(shortfall, _)| *shortfall)
    }

    /// Excludes those who ask for more records than there are, the strictest
    /// first.
    fn meet_k(&mut self) {
        let frame = self.frame;
        let k = |record: u32| frame.terms(record).k;
        let (floor, all) = (frame.requirements.policy().k.get(), self.included.len());
        let is_content = |record: u32, left: usize| k(record) as usize <= left;
        if self.included.iter().all(|&record| is_content(record, all)) {
            return;
        }
        let mut stricter: Vec<u32> = self.included.clone();
        stricter.retain(|&record| k(record) > floor);
        stricter.shuffle(&mut frame.context.stream(stage::EXCLUSION, u64::MAX));
        let others = all - stricter.len();
        let excluded = exclude_until(stricter, k, |record, left| {
            is_content(record, left + others)
        });
        self.exclude(&excluded);
        self.forget_excluded();
    }

    /// The first attribute whose conditions do not hold, and those after it,
    /// which may lack the cells of those excluded for it. Mostly there is none.
    fn unmet_and_later<'i>(
        &self,
        indexes: &'i [ProtectedIndex],
        division: &Division,
    ) -> &'i [ProtectedIndex] {
        let first = indexes
            .par_iter()
            .position_first(|&index| !self.is_met(index, division));
        &indexes[first.unwrap_or(indexes.len())..]
    }

    /// Whether the conditions of one attribute hold.
    fn is_met(&self, index: ProtectedIndex, division: &Division) -> bool {
        let column = self.frame.protected_column(index);
        let terms_of_record = self.frame.requirements.terms_of_record();
        let distinct_terms = self.frame.requirements.distinct_terms();
        let mut occurs = vec![false; distinct_terms.len()];
        let codes = self.cells(index, division).map(|record| {
            occurs[terms_of_record.at(record as usize) as usize] = true;
            column.codes.at(record as usize)
        });
        let tally = Tally::new(column.domain.len(), codes);
        let terms = distinct_terms.iter().zip(occurs);
        let terms = terms.filter_map(|(terms, occurs)| occurs.then_some(terms));
        match self.frame.requirements.protection(index) {
            Protection::Diversity { min_spread, .. } => {
                let l = terms.map(|terms| terms.l[index.at()]).max();
                l.is_none_or(|l| {
                    let spreads = |wanted| spread::widest(column, tally.counts(), l) >= wanted;
                    is_eligible(tally.most(), tally.size(), l)
                        && min_spread.get().is_none_or(spreads)
                })
            }
            Protection::Closeness { .. } | Protection::Leakage { .. } => {
                let share = terms.map(|terms| terms.max_share[index.at()]).min();
                share.is_none_or(|share| {
                    tally.distinct() >= 2 && share.allows(tally.most(), tally.size())
                })
            }
            Protection::InGroup { .. } => true,
        }
    }

    /// Included records whose cell of an attribute goes to a bucket.
    fn cells(&self, index: ProtectedIndex, division: &Division) -> impl Iterator<Item = u32> {
        let flagged = division.flagged_records(index);
        flagged.filter(|&record| !self.is_excluded[record as usize])
    }

    /// Makes the conditions of one attribute hold.
    fn meet(&mut self, index: ProtectedIndex, division: &Division) -> Result<(), Shortfall> {
        if self.is_met(index, division) {
            return Ok(());
        }
        let mut cells: Vec<u32> = self.cells(index, division).collect();
        match self.frame.requirements.protection(index) {
            Protection::Diversity { min_spread, .. } => {
                self.meet_diversity(index, &cells)?;
                if let Some(spread) = min_spread.get() {
                    cells.retain(|&record| !self.is_excluded[record as usize]);
                    self.meet_spread(index, &cells, spread)?;
                }
                Ok(())
            }
            Protection::Closeness { .. } | Protection::Leakage { .. } => {
                self.meet_closeness(index, &cells)
            }
            Protection::InGroup { .. } => Ok(()),
        }
    }

    fn tally(&self, index: ProtectedIndex, cells: &[u32]) -> Tally {
        let column = self.frame.protected_column(index);
        let codes = cells.iter().map(|&record| column.codes.at(record as usize));
        Tally::new(column.domain.len(), codes)
    }

    fn meet_diversity(&mut self, index: ProtectedIndex, cells: &[u32]) -> Result<(), Shortfall> {
        let frame = self.frame;
        let l = |record: u32| frame.terms(record).l[index.at()];
        let floor = match frame.requirements.protection(index) {
            Protection::Diversity { l, .. } => l.get(),
            Protection::Closeness { .. }
            | Protection::Leakage { .. }
            | Protection::InGroup { .. } => 1,
        };
        let mut strict = self.shuffled(index, cells);
        strict.sort_by_key(|&record| Reverse(l(record)));
        self.exclude_by_frequency(index, strict, |record, tally| {
            let accepts = is_eligible(tally.most(), tally.size(), l(record));
            (!accepts).then(|| (BucketCondition::Diversity, l(record) > floor))
        })
    }

    fn meet_closeness(&mut self, index: ProtectedIndex, cells: &[u32]) -> Result<(), Shortfall> {
        let frame = self.frame;
        let share = |record: u32| frame.terms(record).max_share[index.at()];
        let floor = match frame.requirements.protection(index) {
            Protection::Closeness { max_posterior, .. } => max_posterior,
            Protection::Diversity { .. }
            | Protection::Leakage { .. }
            | Protection::InGroup { .. } => Share::ALL,
        };
        let mut strict = self.shuffled(index, cells);
        strict.sort_by_key(|&record| share(record));
        self.exclude_by_frequency(index, strict, |record, tally| {
            if tally.distinct() < 2 {
                return Some((BucketCondition::TwoValues, false));
            }
            let accepts = share(record).allows(tally.most(), tally.size());
            (!accepts).then(|| (BucketCondition::Posterior, share(record) < floor))
        })
    }

    /// Excludes the cells of `strict`, in order, until one has no objection;
    /// an objection names the condition and whether it is of the subject's
    /// own terms.
    fn exclude_by_frequency(
        &mut self,
        index: ProtectedIndex,
        strict: Vec<u32>,
        objection: impl Fn(u32, &Tally) -> Option<(BucketCondition, bool)>,
    ) -> Result<(), Shortfall> {
        let frame = self.frame;
        let codes = &frame.protected_column(index).codes;
        let mut tally = self.tally(index, &strict);
        let excluded = exclude_by_frequency(strict, codes, &mut tally, |record, tally| {
            let Some((condition, is_own)) = objection(record, tally) else {
                return Ok(true);
            };
            self.allow_exclusion(is_own, shortfall(index, condition, tally))?;
            Ok(false)
        })?;
        self.exclude(&excluded);
        Ok(())
    }

    /// Spread is a property of all flagged cells together: where it cannot
    /// be met, everyone who flagged the attribute is excluded.
    fn meet_spread(
        &mut self,
        index: ProtectedIndex,
        cells: &[u32],
        wanted: f64,
    ) -> Result<(), Shortfall> {
        let frame = self.frame;
        let ls = cells
            .iter()
            .map(|&record| frame.terms(record).l[index.at()]);
        let Some(l) = ls.max() else { return Ok(()) };
        let tally = self.tally(index, cells);
        let widest = spread::widest(frame.protected_column(index), tally.counts(), l);
        if widest >= wanted {
            return Ok(());
        }
        let shortfall = shortfall(index, BucketCondition::Spread { widest }, &tally);
        for _ in cells {
            self.allow_exclusion(false, shortfall)?;
        }
        self.exclude(cells);
        Ok(())
    }

    fn shuffled(&self, index: ProtectedIndex, cells: &[u32]) -> Vec<u32> {
        let mut order = cells.to_vec();
        let place = u64::from(index.0);
        order.shuffle(&mut self.frame.context.stream(stage::EXCLUSION, place));
        order
    }

    /// A record may be excluded if its own terms are stricter than the job's,
    /// or if its subject chose to flag the attribute.
    fn allow_exclusion(&mut self, is_own: bool, shortfall: Shortfall) -> Result<(), Shortfall> {
        if is_own {
            return Ok(());
        }
        if !self.frame.is_semi_sensitive(shortfall.index) {
            return Err(shortfall);
        }
        let (first, count) = &mut self.for_flags[shortfall.index.at()];
        first.get_or_insert(shortfall);
        *count += 1;
        Ok(())
    }
}

fn shortfall(index: ProtectedIndex, condition: BucketCondition, tally: &Tally) -> Shortfall {
    Shortfall {
        index,
        condition,
        size: tally.size(),
        most: tally.most(),
    }
}
