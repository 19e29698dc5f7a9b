//! A table published in parts: one meaning for every engine.
//!
//! The outline cuts the table by its quasi-identifiers ([`outline`](
//! crate::engine::kernel::outline)), the engine runs on each part by itself, and the
//! release is the union. Whatever is of the whole table is decided for the whole:
//! who accompanies whom, the distributions that groups are held against, the
//! frequencies by which leaks are reckoned, and where values are published beside
//! groups also who is left out.
//!
//! A part that cannot be published by itself, or only without somebody whose terms
//! everyone together can meet, is joined with its sibling. So are parts with rows
//! that look alike, where together these would not keep what a member asks. At the
//! worst the table is one part, as without any. And so is a part with a bucket whose
//! values are not close to those of all buckets together.

mod closeness;
mod gathered;
mod made;
mod union;

use crate::engine::context::{PartOfTable, Progress, RunContext, WholeTable};
use crate::engine::error::EngineError;
use crate::engine::kernel::Scale;
use crate::engine::kernel::acceptance::invalid;
use crate::engine::kernel::outline::slices::{Counted, Slices};
use crate::engine::kernel::outline::{Leaf, Outline, SetNumber, SideRule, Sizes};
use crate::microdata::{CodedColumn, Role, Table};
use crate::privacy::{Model, Parts, Policy, Requirements};
use crate::release::MadeInParts;

use super::engines::Runs;
use gathered::Gathered;
use made::{Made, MadeParts};
pub(super) use union::Union;
use union::{Together, together};

/// Publishes a table in parts; the release stands in room beside the memory. None where
/// it can be published as a whole at the most: the engine says why it cannot.
pub(super) fn run(
    engine: &dyn Runs,
    (table, requirements): (&Table, &Requirements),
    context: &RunContext<'_>,
    (parts, max_excluded): (Parts, f64),
) -> Result<Option<Union>, EngineError> {
    let gathered = Gathered::of(table, requirements, context)?;
    if gathered.leaves_out_more_than(max_excluded) {
        return Ok(None);
    }
    let lent = gathered.lent();
    let whole = gathered.whole();
    let rule = SideRule::new(table, &lent, &whole);
    let counted = Counted::of(table, &lent, rule).among(&gathered.units);
    let quasi = table
        .schema()
        .select(|attribute| attribute.role == Role::QuasiIdentifier);
    let columns = quasi
        .into_iter()
        .filter_map(|attribute| table.coded(attribute));
    let columns: Vec<&CodedColumn> = columns.collect();
    let scales: Vec<Scale> = columns
        .iter()
        .map(|column| Scale::new(&column.domain))
        .collect();
    let outline = Outline {
        context,
        scales: &scales,
        rule: &counted.rule,
        sizes: sizes(engine, parts),
    };
    let mut slices = Slices::of(gathered.units.clone(), &columns, &counted);
    let mut tree = outline.parts(gathered.units.len() as u64, &mut slices)?;
    let parting = Parting {
        engine,
        gathered: &gathered,
        counted: &counted,
        whole: &whole,
        context,
    };
    let mut made = MadeParts::new(&context.seed, context.scratch);
    loop {
        let leaves = tree.parts();
        let join = match parting.publish(&leaves, &slices, &mut made)? {
            Some(failed) => match tree.above(failed) {
                Some(above) => above,
                None => return Ok(None),
            },
            None => match together(&gathered, &counted, (&made, &leaves))? {
                Together::Joined(joined) => {
                    let changes = !engine.outline_is_own_tree() || counted.rule.asks_of_values();
                    let made_in_parts = changes.then_some(MadeInParts {
                        sizes: parts,
                        number: leaves.len() as u64,
                    });
                    let made = (made, leaves.as_slice());
                    return Ok(Some(Union::of(&gathered, made, joined, made_in_parts)));
                }
                Together::Apart(one, other) => tree.common(one, other),
                Together::Beyond(part) => match tree.above(part) {
                    Some(above) => above,
                    None => return Ok(None),
                },
            },
        };
        made.retain(|set| tree.common(set, join) != join)?;
        tree.join(join);
    }
}

/// How large parts are: those of an engine whose own tree the outline is the top of
/// may be of any size.
fn sizes(engine: &dyn Runs, parts: Parts) -> Sizes {
    Sizes {
        records_max: parts.records_max(),
        records_min: if engine.outline_is_own_tree() {
            1
        } else {
            parts.records_min()
        },
    }
}

/// Refuses what cannot be kept part by part; `keeps_history` where a series keeps
/// groups or sets.
pub(super) fn check(policy: &Policy, keeps_history: bool) -> Result<(), EngineError> {
    let refused = |reason: &str| Err(invalid("parts", reason));
    if keeps_history {
        return refused(
            "go with no series that keeps groups or sets, which are of the whole table: take the \
             mode `increments`, or null",
        );
    }
    match &policy.model {
        Model::Blocks { .. } => refused(
            "are not of engines that publish blocks, which are dealt over the whole table: take \
             null",
        ),
        Model::Sliced { .. } => {
            refused("are not of `slicing`, whose columns are found over the whole table: take null")
        }
        _ => Ok(()),
    }
}

/// What every part is published by.
struct Parting<'a> {
    engine: &'a dyn Runs,
    gathered: &'a Gathered<'a>,
    counted: &'a Counted<'a>,
    whole: &'a WholeTable,
    context: &'a RunContext<'a>,
}

impl Parting<'_> {
    /// Publishes the parts, those that `made` has not got yet; one that cannot be
    /// published ends it, and is named.
    fn publish(
        &self,
        leaves: &[Leaf],
        slices: &Slices<'_>,
        made: &mut MadeParts<'_>,
    ) -> Result<Option<SetNumber>, EngineError> {
        for (number, &leaf) in (1..).zip(leaves) {
            if made.has(leaf.set) {
                continue;
            }
            let progress = OfPart {
                progress: self.context.progress,
                part: number,
                parts: leaves.len() as u32,
            };
            match self.publish_one(leaf, slices.records(leaf.set), &progress) {
                Ok(part) if leaf.set == 0 || !self.leaves_out_needlessly(&part) => {
                    made.insert(part)?;
                }
                Ok(_) | Err(EngineError::Infeasible(_)) => return Ok(Some(leaf.set)),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Whether a part leaves somebody out whose terms everyone together can meet.
    fn leaves_out_needlessly(&self, part: &Made) -> bool {
        let terms = self.gathered.requirements.terms_of_record();
        let mut left_out = part.release.unsatisfiable.iter();
        left_out.any(|&subject| {
            let record = self.gathered.first_record(subject) as usize;
            !self.counted.rule.is_unmet(terms.at(record))
        })
    }

    fn publish_one(
        &self,
        leaf: Leaf,
        units: &[u32],
        progress: &OfPart<'_>,
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
