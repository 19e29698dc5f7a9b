//! What must hold before anything is published, and who is left out so that
//! it does.
//!
//! Records leave in two ways. Subjects with `exclude: true` leave first; that
//! is their wish and counts against nothing. Then records whose terms cannot
//! be met leave one by one, strictest first, ties in random order, until the
//! conditions hold:
//! - K: there are at least K records;
//! - under l-diversity: most frequent value × L ≤ cells, over the flagged,
//!   unmasked cells of the attribute;
//! - under t-closeness: the most frequent value's share is allowed by every
//!   member, and there are two values;
//! - under `min_spread`: see [`spread`].
//!
//! A record may leave if its subject's own terms are stricter than the job's,
//! or, where subjects decide whether the attribute is sensitive, because they
//! flagged it. A condition that fails without either is a [`Refusal`]: the
//! job's floors are never lowered and no record leaves for its value. Leaving
//! changes subsets, so stage 1 is repeated until nobody leaves.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::engine::kernel::eligibility::is_within;
use crate::engine::kernel::{Tally, is_eligible};
use crate::privacy::{ProtectedIndex, Protection, Share};

use super::frame::{Frame, stage};
use super::patterns::{Division, divide};
use super::refusal::{Condition, Failure, Refusal, Shortfall};
use super::spread;

/// Records and subsets for which every condition holds.
pub(super) struct Prepared {
    pub division: Division,
    /// Records of subjects who asked to be left out.
    pub opted_out: usize,
    /// Records whose terms cannot be met, in the order in which they left.
    pub unsatisfiable: Vec<u32>,
}

/// Leaves out whom it must and divides the rest into subsets, or says which
/// condition cannot hold.
pub(super) fn prepare(frame: &Frame<'_>) -> Result<Prepared, Failure> {
    let mut leaving = Leaving::new(frame);
    let of = leaving.present.len() as u64;
    let opted_out = frame.table.records() - leaving.present.len();
    let k = u64::from(frame.requirements.policy().k.get());
    if of < k {
        return Err(Failure::Refused(Refusal::TooFew { left: of }));
    }
    let indexes: Vec<ProtectedIndex> = frame.requirements.protected().collect();
    let division = loop {
        frame.context.check()?;
        leaving.meet_k();
        if (leaving.present.len() as u64) < k {
            break None;
        }
        let division = divide(frame, &leaving.present)?;
        let before = leaving.left.len();
        for &index in leaving.unmet_and_later(&indexes, &division) {
            leaving.meet(index, &division)?;
        }
        if leaving.left.len() == before {
            break Some(division);
        }
        leaving.forget_the_left();
    };
    let needed = leaving.left.len() as u64;
    if !is_within(needed, of, frame.params.max_excluded) {
        let culprit = leaving.culprit();
        let refusal = Refusal::Budget {
            needed,
            of,
            culprit,
        };
        return Err(Failure::Refused(refusal));
    }
    match division {
        None => Err(Failure::Refused(Refusal::TooFew { left: of - needed })),
        Some(division) => Ok(Prepared {
            division,
            opted_out,
            unsatisfiable: leaving.left,
        }),
    }
}

/// Who is present, and who left.
struct Leaving<'f, 'a> {
    frame: &'f Frame<'a>,
    present: Vec<u32>,
    left: Vec<u32>,
    has_left: Vec<bool>,
    /// Per protectable attribute: the first shortfall that made records leave
    /// only because they flagged the attribute, and how many left.
    for_flags: Vec<(Option<Shortfall>, u64)>,
}

impl<'f, 'a> Leaving<'f, 'a> {
    fn new(frame: &'f Frame<'a>) -> Self {
        let all = frame.table.records();
        let present = 0..all as u32;
        Self {
            frame,
            present: present.filter(|&at| !frame.terms(at).exclude).collect(),
            left: Vec::new(),
            has_left: vec![false; all],
            for_flags: vec![(None, 0); frame.requirements.protected().count()],
        }
    }

    fn leave(&mut self, record: u32) {
        self.left.push(record);
        self.has_left[record as usize] = true;
    }

    fn forget_the_left(&mut self) {
        let has_left = &self.has_left;
        self.present.retain(|&record| !has_left[record as usize]);
    }

    fn culprit(&self) -> Option<Shortfall> {
        let worst = self.for_flags.iter().max_by_key(|(_, count)| *count);
        worst.and_then(|(shortfall, _)| *shortfall)
    }

    /// Whoever asks for more records than there are leaves, strictest first.
    fn meet_k(&mut self) {
        let frame = self.frame;
        let floor = frame.requirements.policy().k.get();
        let strictest = self.present.iter().map(|&record| frame.terms(record).k);
        if strictest
            .max()
            .is_none_or(|k| k as usize <= self.present.len())
        {
            return;
        }
        let mut stricter: Vec<u32> = self.present.clone();
        stricter.retain(|&record| frame.terms(record).k > floor);
        stricter.shuffle(&mut frame.context.stream(stage::EXCLUSION, u64::MAX));
        stricter.sort_by_key(|&record| std::cmp::Reverse(frame.terms(record).k));
        let mut remaining = self.present.len();
        for record in stricter {
            if frame.terms(record).k as usize <= remaining {
                break;
            }
            self.leave(record);
            remaining -= 1;
        }
        self.forget_the_left();
    }

    /// The first attribute whose conditions do not hold, and those after it,
    /// which may lack the cells of who leaves for it. Mostly there is none.
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

    /// Records present whose cell of an attribute goes to a bucket.
    fn cells(&self, index: ProtectedIndex, division: &Division) -> impl Iterator<Item = u32> {
        let flagged = division.flagged_records(index);
        flagged.filter(|&record| !self.has_left[record as usize])
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
                    cells.retain(|&record| !self.has_left[record as usize]);
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
        let mut tally = self.tally(index, cells);
        let floor = match frame.requirements.protection(index) {
            Protection::Diversity { l, .. } => l.get(),
            Protection::Closeness { .. }
            | Protection::Leakage { .. }
            | Protection::InGroup { .. } => 1,
        };
        let mut order = self.shuffled(index, cells);
        order.sort_by_key(|&record| std::cmp::Reverse(l(record)));
        for record in order {
            if is_eligible(tally.most(), tally.size(), l(record)) {
                break;
            }
            let shortfall = shortfall(index, Condition::Diversity, &tally);
            self.leave_or_refuse(record, l(record) > floor, shortfall)?;
            tally.remove(frame.protected_column(index).codes.at(record as usize));
        }
        Ok(())
    }

    fn meet_closeness(&mut self, index: ProtectedIndex, cells: &[u32]) -> Result<(), Shortfall> {
        let frame = self.frame;
        let share = |record: u32| frame.terms(record).max_share[index.at()];
        let mut tally = self.tally(index, cells);
        let floor = match frame.requirements.protection(index) {
            Protection::Closeness { max_posterior, .. } => max_posterior,
            Protection::Diversity { .. }
            | Protection::Leakage { .. }
            | Protection::InGroup { .. } => Share::ALL,
        };
        let mut order = self.shuffled(index, cells);
        order.sort_by_key(|&record| share(record));
        for record in order {
            let condition = match tally.distinct() >= 2 {
                true if share(record).allows(tally.most(), tally.size()) => break,
                true => Condition::Posterior,
                false => Condition::TwoValues,
            };
            let is_own = share(record) < floor && condition == Condition::Posterior;
            self.leave_or_refuse(record, is_own, shortfall(index, condition, &tally))?;
            tally.remove(frame.protected_column(index).codes.at(record as usize));
        }
        Ok(())
    }

    /// Spread is a property of all flagged cells together: where it cannot
    /// be met, everyone who flagged the attribute leaves.
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
        let shortfall = shortfall(index, Condition::Spread { widest }, &tally);
        for &record in cells {
            self.leave_or_refuse(record, false, shortfall)?;
        }
        Ok(())
    }

    fn shuffled(&self, index: ProtectedIndex, cells: &[u32]) -> Vec<u32> {
        let mut order = cells.to_vec();
        let place = u64::from(index.0);
        order.shuffle(&mut self.frame.context.stream(stage::EXCLUSION, place));
        order
    }

    /// The record leaves if its own terms are stricter than the job's, or if
    /// its subject chose to flag the attribute.
    fn leave_or_refuse(
        &mut self,
        record: u32,
        is_own: bool,
        shortfall: Shortfall,
    ) -> Result<(), Shortfall> {
        if !is_own {
            if !self.frame.is_semi_sensitive(shortfall.index) {
                return Err(shortfall);
            }
            let (first, count) = &mut self.for_flags[shortfall.index.at()];
            first.get_or_insert(shortfall);
            *count += 1;
        }
        self.leave(record);
        Ok(())
    }
}

fn shortfall(index: ProtectedIndex, condition: Condition, tally: &Tally) -> Shortfall {
    Shortfall {
        index,
        condition,
        size: tally.size(),
        most: tally.most(),
    }
}
