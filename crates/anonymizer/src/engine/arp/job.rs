//! The way that `arp` and its comparators go: gather, let leave whoever's
//! terms cannot be met, make blocks, publish; and the answer where that fails.
//! Nobody leaves because of a block: what everyone together meets, every way
//! of publishing must.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::Present;
use crate::engine::kernel::acceptance::invalid;
use crate::microdata::{RecordIndex, SubjectIndex, Table};
use crate::privacy::{BlockForm, L, Model, ProtectedSet, Requirements};
use crate::release::{Lineage, PublishedTable, Release};

use super::answer::Question;
use super::frame::{Frame, Goal, published};
use super::initial::Least;
use super::leave::{Refusal, check_budget, leave};

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
        let question = Question {
            table: self.table,
            requirements: self.requirements,
            l: self.l,
            least,
            context: self.context,
        };
        let refused = |refusal: Refusal| question.answer(refusal);
        self.context.progress.report(1, STEPS, "gather", 0.0);
        let mut present = Present::gather(self.table, self.requirements)?;
        let columns = published(&present, self.sensitive);
        let gone = leave(&mut present, &columns, least, self.context).map_err(refused)?;
        check_budget(&present, &gone, self.max_excluded).map_err(refused)?;
        self.context.check()?;
        self.context.progress.report(2, STEPS, "blocks", 0.0);
        let frame = Frame::new(&present, is_exact, self.context);
        let goals = columns.iter().map(|&column| frame.goal(column)).collect();
        let made = make(&frame, goals)?;
        Ok(self.release(&present, made, &gone))
    }

    fn release(&self, present: &Present<'_>, (tables, lineage): Made, gone: &[u32]) -> Release {
        let subject =
            |&record: &u32| -> SubjectIndex { self.table.subject_of(RecordIndex(record)) };
        Release {
            tables,
            lineage,
            excluded: (present.opted_out + gone.len()) as u64,
            unsatisfiable: gone.iter().map(subject).collect(),
        }
    }
}

/// Number of steps that progress counts.
pub(super) const STEPS: u32 = 4;
