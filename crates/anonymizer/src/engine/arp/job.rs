//! The steps of `arp` and its comparators: gather, exclude subjects whose terms
//! cannot be met, make blocks, publish; and the diagnosis where that fails.
//! Nobody is excluded because of a block: every way of publishing must meet
//! what everyone together meets.

use crate::engine::context::RunContext;
use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::acceptance::invalid;
use crate::engine::kernel::feasibility::{OverBudget, without};
use crate::engine::kernel::included::SensitiveColumn;
use crate::engine::kernel::{Included, Staying, keeping};
use crate::microdata::{RecordIndex, Table};
use crate::privacy::{BlockForm, History, L, Model, ProtectedSet, Requirements};
use crate::release::{Kept, KeptAttribute, Lineage, PublishedTable, Release};

use super::diagnosis::Diagnosis;
use super::exclusion::{Refusal, exclude, exclude_by_alike, exclude_by_sets};
use super::frame::{Blocks, Frame, Goal, published};
use super::initial::Least;
use super::keeping::{Plan, settle};
use super::listed::{self, Part};
use super::params::keeps_sets_of;

/// What a way of publishing made: the tables, and whose their rows are.
pub(super) type Made = (Vec<PublishedTable>, Lineage);

/// Which subjects of a kept set come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Those with like quasi-identifiers.
    Likeness,
    /// Those whose secret numbers are near.
    Numbers,
}

/// One run.
pub(super) struct Job<'a> {
    table: &'a Table,
    requirements: &'a Requirements,
    l: L,
    max_excluded: f64,
    form: BlockForm,
    sensitive: ProtectedSet,
    context: &'a RunContext<'a>,
}

impl<'a> Job<'a> {
    /// A run for the policy of `requirements`.
    pub fn new(
        (table, requirements): (&'a Table, &'a Requirements),
        l: L,
        max_excluded: f64,
        context: &'a RunContext<'a>,
    ) -> Result<Self, EngineError> {
        let Model::Blocks {
            form, sensitive, ..
        } = requirements.policy().model
        else {
            return Err(invalid("requirements", "are of another engine"));
        };
        Ok(Self {
            table,
            requirements,
            l,
            max_excluded,
            form,
            sensitive,
            context,
        })
    }

    /// How blocks are published.
    pub fn form(&self) -> BlockForm {
        self.form
    }

    /// Runs it: `blocks` makes the blocks of everyone who is published, of one
    /// attribute.
    pub fn run(
        &self,
        blocks: &Blocks<'_>,
        publish: impl Fn(&Frame<'_>, Vec<Part<'_>>) -> Made,
    ) -> Result<Release, EngineError> {
        self.context.progress.report(1, STEPS, "gather", 0.0);
        let mut included = Included::gather(self.table, self.requirements)?;
        let columns = published(&included, self.sensitive);
        let staying = self.staying(&mut included, &columns)?;
        let excluded = match self.exclude(&mut included, &columns) {
            // Those who are new wait for others.
            Err(EngineError::Infeasible(_)) if has_groups(staying.as_ref()) => {
                included.records.clear();
                Vec::new()
            }
            excluded => excluded?,
        };
        self.context.progress.report(2, STEPS, "blocks", 0.0);
        let frame = Frame {
            staying: staying.as_ref(),
            ..Frame::new(&included, self.is_exact(), self.context)
        };
        let mut parts = Vec::new();
        for &column in &columns {
            let goal = frame.goal(column);
            let rows: Vec<u32> = (0..frame.rows() as u32).collect();
            let made = if rows.is_empty() {
                Vec::new()
            } else {
                blocks(&frame, &goal, rows)?
            };
            parts.push((goal, made));
        }
        self.context.progress.report(4, STEPS, "publish", 0.0);
        let made = publish(&frame, parts);
        let release = self.release(made, included.opted_out, &excluded);
        Ok(keeping::noted(release, &included))
    }

    /// Who stays in the groups of public releases, where a series keeps them;
    /// the others are left.
    fn staying(
        &self,
        included: &mut Included<'a>,
        columns: &[SensitiveColumn<'a>],
    ) -> Result<Option<Staying<'a>>, EngineError> {
        let Some((public, kept)) = keeping::take_public(included) else {
            return Ok(None);
        };
        let frame = Frame::new(&public, self.is_exact(), self.context);
        let goals: Vec<Goal<'_>> = columns.iter().map(|&column| frame.goal(column)).collect();
        let position = public.positions();
        let mut holds = |records: &[u32]| {
            let rows = records.iter().map(|&record| position[record as usize]);
            let rows: Vec<u32> = rows.collect();
            goals.iter().all(|goal| goal.is_whole_group(&rows))
        };
        Staying::of(&public, kept, &mut holds, self.context).map(Some)
    }

    fn is_exact(&self) -> bool {
        Least::of(self.form) == Least::None
    }

    /// Excludes everyone whose terms everyone together cannot meet.
    fn exclude(
        &self,
        included: &mut Included<'a>,
        columns: &[SensitiveColumn<'a>],
    ) -> Result<Vec<u32>, EngineError> {
        let least = Least::of(self.form);
        let diagnosis = Diagnosis {
            table: self.table,
            requirements: self.requirements,
            l: self.l,
            least,
            context: self.context,
        };
        let refused = |refusal: Refusal| diagnosis.of(refusal);
        let excluded = exclude(included, columns, least, self.context).map_err(refused)?;
        self.check_excluded(included, &excluded)?;
        self.context.check()?;
        Ok(excluded)
    }

    fn check_excluded(&self, included: &Included<'_>, excluded: &[u32]) -> Result<(), EngineError> {
        let all = included.records.len() + excluded.len();
        OverBudget::check(excluded.len(), all, self.max_excluded)
            .map_err(|over| EngineError::from(over.infeasible()))
    }

    fn release(&self, (tables, lineage): Made, opted_out: usize, excluded: &[u32]) -> Release {
        let subject = |&record: &u32| self.table.subject_of(RecordIndex(record));
        let unsatisfiable = excluded.iter().map(subject).collect();
        Release::new(tables, lineage, opted_out, unsatisfiable)
    }

    /// Runs it for a series: subjects who were public keep their sets of values.
    pub fn run_keeping(
        &self,
        (history, order): (&History, Order),
        blocks: &Blocks<'_>,
    ) -> Result<Release, EngineError> {
        keeps_sets_of(self.requirements.ordered(), self.table.schema())?;
        self.context.progress.report(1, STEPS, "gather", 0.0);
        let mut included = Included::gather(self.table, self.requirements)?;
        let columns = published(&included, self.sensitive);
        let is_new = |record: &&u32| {
            !history.is_empty()
                && history.is_new(**record, columns.iter().map(|column| column.index))
        };
        let new = included.records.iter().filter(is_new).count();
        let mut excluded = if history.is_empty() {
            self.exclude(&mut included, &columns)?
        } else {
            exclude_by_sets(&mut included, &columns, history, self.context)?
        };
        self.context.progress.report(2, STEPS, "blocks", 0.0);
        loop {
            self.check_excluded(&included, &excluded)?;
            self.context.check()?;
            let frame = Frame::new(&included, true, self.context);
            let mut settled = Vec::new();
            for &column in &columns {
                let goal = frame.goal(column);
                let how = (history.of(column.index), order == Order::Likeness);
                let (plan, made) = settle((&frame, &goal), how, blocks)?;
                settled.push((goal, plan, made));
            }
            let mut wait: Vec<u32> = settled
                .iter()
                .flat_map(|(_, plan, _)| plan.waiting.clone())
                .collect();
            if wait.is_empty() {
                let made = self.make_kept(&frame, settled, history)?;
                let mut release = self.release(made.0, included.opted_out, &excluded);
                let waiting = new - included.records.iter().filter(is_new).count();
                release.kept = Some(Kept {
                    waiting: waiting as u64,
                    companions: 0,
                    changes: history.changes(),
                    joins_groups: false,
                    attributes: made.1,
                });
                let all = self.table.records() - included.records.len();
                release.excluded = all as u64;
                return Ok(release);
            }
            for row in &mut wait {
                *row = included.records[*row as usize];
            }
            wait.sort_unstable();
            wait.dedup();
            without(&mut included.records, &wait);
            // Fewer share the quasi-identifiers of those who waited.
            excluded.extend(exclude_by_alike(&mut included, self.context));
            if included.records.is_empty() {
                let condition = "all subjects have to wait for others";
                return Err(Infeasible::at_most("l", None, condition).into());
            }
        }
    }

    /// The tables of blocks that keep sets and of those that are new.
    fn make_kept(
        &self,
        frame: &Frame<'_>,
        settled: Vec<(Goal<'_>, Plan, Vec<Vec<u32>>)>,
        history: &History,
    ) -> Result<(Made, Vec<KeptAttribute>), EngineError> {
        let (mut parts, mut shown, mut described) = (Vec::new(), Vec::new(), Vec::new());
        for (goal, plan, made) in settled {
            let name = &self.table.schema().attribute(goal.column.attribute).name;
            let (counterfeits, kept) = plan.counterfeits();
            let values = kept + plan.fresh.len() as u64;
            if !history.max_counterfeits.allows(counterfeits, values) {
                return Err(too_many_counterfeits(name, counterfeits, values));
            }
            described.push(KeptAttribute {
                attribute: name.clone(),
                values,
                counterfeits,
                outdated: plan.outdated,
                renewed: plan.renewed.len() as u64,
            });
            shown.push(plan.kept.iter().map(|block| block.set.clone()).collect());
            let mut all: Vec<Vec<u32>> = plan.kept.into_iter().map(|block| block.rows).collect();
            all.extend(made);
            parts.push((goal, all));
        }
        self.context.progress.report(4, STEPS, "publish", 0.0);
        Ok((listed::publish(frame, &parts, Some(&shown)), described))
    }
}

fn has_groups(staying: Option<&Staying<'_>>) -> bool {
    staying.is_some_and(|staying| !staying.groups.is_empty())
}

fn too_many_counterfeits(name: &str, counterfeits: u64, values: u64) -> EngineError {
    let condition = format!(
        "{name}: {counterfeits} of {values} published values would be counterfeits; wait until more \
         subjects are there, or begin a new series with those who are in none (increments)"
    );
    // Rounded up: what is named must be enough.
    let share = (counterfeits as f64 / values as f64 * 1000.0).ceil() / 1000.0;
    let answer = Infeasible::at_least("series.max_counterfeits", Some(share.min(1.0)), condition);
    answer.of(name.to_owned()).into()
}

/// Number of steps that progress counts.
pub(super) const STEPS: u32 = 4;
