//! The steps of `arp` and its comparators: gather, exclude subjects whose terms
//! cannot be met, make blocks, publish; and the diagnosis where that fails.
//! Nobody is excluded because of a block: every way of publishing must meet
//! what everyone together meets.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::Included;
use crate::engine::kernel::acceptance::invalid;
use crate::engine::kernel::feasibility::OverBudget;
use crate::microdata::{RecordIndex, Table};
use crate::privacy::{BlockForm, L, Model, ProtectedSet, Requirements};
use crate::release::{Lineage, PublishedTable, Release};

use super::diagnosis::Diagnosis;
use super::exclusion::{Refusal, exclude};
use super::frame::{Frame, Goal, published};
use super::initial::Least;

/// What a way of publishing made: the tables, and whose their rows are.
pub(super) type Made = (Vec<PublishedTable>, Lineage);

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

    /// Runs it; `make` makes the blocks of everyone who is published.
    pub fn run(
        &self,
        make: impl Fn(&Frame<'_>, Vec<Goal<'_>>) -> Result<Made, EngineError>,
    ) -> Result<Release, EngineError> {
        let least = Least::of(self.form);
        let is_exact = least == Least::None;
        let diagnosis = Diagnosis {
            table: self.table,
            requirements: self.requirements,
            l: self.l,
            least,
            context: self.context,
        };
        let refused = |refusal: Refusal| diagnosis.of(refusal);
        self.context.progress.report(1, STEPS, "gather", 0.0);
        let mut included = Included::gather(self.table, self.requirements)?;
        let columns = published(&included, self.sensitive);
        let excluded = exclude(&mut included, &columns, least, self.context).map_err(refused)?;
        let all = included.records.len() + excluded.len();
        OverBudget::check(excluded.len(), all, self.max_excluded)
            .map_err(|over| refused(Refusal::Budget(over)))?;
        self.context.check()?;
        self.context.progress.report(2, STEPS, "blocks", 0.0);
        let frame = Frame::new(&included, is_exact, self.context);
        let goals = columns.iter().map(|&column| frame.goal(column)).collect();
        let (tables, lineage) = make(&frame, goals)?;
        let subject = |&record: &u32| self.table.subject_of(RecordIndex(record));
        let unsatisfiable = excluded.iter().map(subject).collect();
        Ok(Release::new(
            tables,
            lineage,
            included.opted_out,
            unsatisfiable,
        ))
    }
}

/// Number of steps that progress counts.
pub(super) const STEPS: u32 = 4;
