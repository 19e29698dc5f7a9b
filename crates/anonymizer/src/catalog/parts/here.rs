//! Parts that are published in this process, one after the other.

use serde_json::Value;

use crate::catalog::runs::Runs;
use crate::engine::context::{PartOfTable, Progress, RunContext, WholeTable};
use crate::engine::error::EngineError;
use crate::engine::kernel::outline::slices::{Counted, Slices};
use crate::engine::kernel::outline::{Contents, CountSets, Leaf, Parted, SetCut, SetNumber};
use crate::privacy::Requirements;

use super::gathered::Gathered;
use super::made::{Made, MadeParts};

/// Where parts are counted and published.
pub(super) trait Place: CountSets {
    /// Publishes the parts, those that `made` has not got yet; the first that cannot
    /// be published is named.
    fn publish(
        &mut self,
        leaves: &[Leaf],
        made: &mut MadeParts<'_>,
    ) -> Result<Option<SetNumber>, EngineError>;
}

/// What every part is published by.
pub(super) struct Parting<'a> {
    pub engine: &'a dyn Runs,
    /// Name and parameters of the engine.
    pub described: (&'a str, &'a Value),
    pub gathered: &'a Gathered<'a>,
    /// What everyone asks for, companions what those ask whom they accompany.
    pub lent: &'a Requirements,
    pub counted: &'a Counted<'a>,
    pub whole: &'a WholeTable,
    pub context: &'a RunContext<'a>,
}

impl Parting<'_> {
    /// Whether a part is published as it is: it leaves nobody out whose terms everyone
    /// together can meet, unless it is the whole table.
    pub fn is_taken(&self, leaf: Leaf, part: &Made) -> bool {
        let terms = self.gathered.requirements.terms_of_record();
        let mut left_out = part.release.unsatisfiable.iter();
        leaf.set == 0
            || left_out.all(|&subject| {
                let record = self.gathered.first_record(subject) as usize;
                self.counted.rule.is_unmet(terms.at(record))
            })
    }

    /// Publishes the part of these units.
    pub fn publish_one(
        &self,
        leaf: Leaf,
        units: &[u32],
        progress: &dyn Progress,
    ) -> Result<Made, EngineError> {
        self.context.check()?;
        let records = self.gathered.records(units);
        let part = self.gathered.table.part(&records);
        let requirements = self.gathered.requirements.part(&records);
        let context = RunContext {
            seed: self.context.seed.clone(),
            dataset_secret: self.context.dataset_secret.clone(),
            progress,
            cancel: self.context.cancel.clone(),
            part: Some(PartOfTable {
                place: leaf.place,
                whole: self.whole,
                ring: None,
            }),
            scratch: self.context.scratch,
        };
        let mut release = self.engine.run(&part, &requirements, &context)?;
        let of_rows = release.lineage.tables.iter_mut();
        let subjects = of_rows.flat_map(|table| &mut table.subjects);
        for subject in subjects.chain(&mut release.unsatisfiable) {
            *subject = part.subject_in_whole(*subject);
        }
        Ok(Made {
            set: leaf.set,
            release,
        })
    }
}

/// A table in parts in this process.
pub(super) struct Here<'a> {
    pub parting: &'a Parting<'a>,
    pub slices: Slices<'a>,
}

impl CountSets for Here<'_> {
    fn histograms(&mut self, sets: &[SetNumber]) -> Result<Vec<Vec<Vec<u64>>>, EngineError> {
        self.slices.histograms(sets)
    }

    fn contents(&mut self, cuts: &[SetCut]) -> Result<Vec<[Contents; 2]>, EngineError> {
        self.slices.contents(cuts)
    }

    fn cut(&mut self, cuts: &[Parted]) -> Result<(), EngineError> {
        self.slices.cut(cuts)
    }
}

impl Place for Here<'_> {
    /// One that cannot be published ends it.
    fn publish(
        &mut self,
        leaves: &[Leaf],
        made: &mut MadeParts<'_>,
    ) -> Result<Option<SetNumber>, EngineError> {
        let parting = self.parting;
        for (number, &leaf) in (1..).zip(leaves) {
            if made.has(leaf.set) {
                continue;
            }
            let progress = OfPart {
                progress: parting.context.progress,
                part: number,
                parts: leaves.len() as u32,
            };
            match parting.publish_one(leaf, self.slices.records(leaf.set), &progress) {
                Ok(part) if parting.is_taken(leaf, &part) => {
                    made.insert(part)?;
                }
                Ok(_) | Err(EngineError::Infeasible(_)) => return Ok(Some(leaf.set)),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// Tells the steps of one part as a share of that part.
struct OfPart<'a> {
    progress: &'a dyn Progress,
    part: u32,
    parts: u32,
}

impl Progress for OfPart<'_> {
    fn report(&self, step: u32, steps: u32, label: &'static str, fraction: f64) {
        let done = f64::from(step.saturating_sub(1)) + fraction;
        let share = done / f64::from(steps.max(1));
        self.progress.report(self.part, self.parts, label, share);
    }
}
