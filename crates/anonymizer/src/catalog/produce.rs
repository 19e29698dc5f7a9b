//! From a table to a verified release, in one pure function.
//!
//! Engine, encoding, verification and measures follow one another; verifier
//! and measures get the tables as they were read back from their text,
//! never the engine's own. The caller is told when each stage begins, so that
//! it can time them: no clock is read here.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use serde_json::Value;

use crate::engine::{EngineError, Progress, RunContext};
use crate::microdata::{PopulationTable, Preference, Table};
use crate::privacy::{CancelFlag, Cancelled, History, Requirements};
use crate::release::candidates::Candidates;
use crate::release::{
    AcceptedExact, InputDescription, Lineage, Manifest, PublishedTable, WireFault,
};
use crate::utility::{self, Fit};
use crate::verify::{self, Portions, Verdict, verify};

use super::Engine;
use super::encoded::{EncodedTable, TextRooms};
use super::identifying::{Identifying, check_accepted, listed, look_like_identifiers, stand_out};
use super::report::{check_fit, report, report_of_portions};
use super::written::{Written, describe};

/// Stages that follow the engine's own steps.
const STAGES_AFTER_ENGINE: u32 = 3;

/// What one job works on.
pub struct Assignment<'a> {
    /// The dataset version.
    pub table: &'a Table,
    /// Its subjects' preferences.
    pub preferences: &'a [Preference],
    /// The engine with its parameters.
    pub engine: &'a Engine,
    /// What the manifest says about the input.
    pub input: InputDescription,
    /// What public releases show of its subjects, where the job keeps it.
    pub history: Option<Arc<History>>,
    /// All that releases of the same people show which were ever public, oldest
    /// first: where the job goes on a series, together with them it must be safe.
    pub public: &'a [Candidates],
    /// Records that the missing-value policy left out at upload.
    pub suppressed: u64,
    /// Whether somebody chose the seed; the manifest says so.
    pub reproducible_seed: bool,
    /// Attributes that are published although they may identify people.
    pub accept_exact: &'a [AcceptedExact],
    /// Random aggregate queries behind the report's query error.
    pub queries: u32,
    /// A statistic whose difference the report tells.
    pub fit: Option<&'a Fit>,
    /// Among whom the people could be, for the report's journalist's risk.
    pub population_table: Option<&'a PopulationTable>,
    /// Tables on which the engine runs again, where the verifier attacks the
    /// release by it ([`verify::reruns`]); 0 for none.
    pub reruns: u64,
    /// Whether it is kept what the tables show of each subject: where later releases
    /// of the same people are held against it.
    pub keeps_shown: bool,
    /// Rows that verifier and measures look at together, at most
    /// ([`verify::AtOnce`]).
    pub rows_at_once: usize,
    /// Whether the release is verified; only benchmarks say no.
    pub verify: bool,
    /// Whether a report is made; only benchmarks say no.
    pub report: bool,
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The engine runs.
    Engine,
    /// Tables become bytes.
    Encode,
    /// Bytes are read back and checked.
    Verify,
    /// Utility and risk are measured.
    Report,
}

/// Is told when a stage begins.
pub trait Observer {
    /// `stage` begins now.
    fn begins(&mut self, stage: Stage);
}

/// Hears nothing.
pub struct Unobserved;

impl Observer for Unobserved {
    fn begins(&mut self, _stage: Stage) {}
}

/// Why a run made nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProduceError {
    /// The engine gave no release, or was stopped.
    #[error(transparent)]
    Engine(EngineError),
    /// Attributes that are published as they are identify people.
    #[error("published as they are, these attributes identify people: {}", listed(.0))]
    Identifying(Vec<Identifying>),
    /// The room for the text of the tables failed, or that for their parts.
    #[error("the text of the tables, or what their parts gave, could not be kept: {0}")]
    Room(io::ErrorKind),
}

impl From<EngineError> for ProduceError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Room(kind) => Self::Room(kind),
            error => Self::Engine(error),
        }
    }
}

impl From<io::Error> for ProduceError {
    fn from(error: io::Error) -> Self {
        Self::Room(error.kind())
    }
}

/// All that a run made.
pub struct Produced {
    /// The manifest.
    pub manifest: Manifest,
    /// Records left out at their subject's wish or because their terms cannot
    /// be met; exact, for the one who ordered the run.
    pub excluded: u64,
    /// Records that the missing-value policy left out at upload; exact.
    pub suppressed: u64,
    /// The tables as text.
    pub tables: Vec<EncodedTable>,
    /// Which row came from whom; private.
    pub lineage: Lineage,
    /// What the tables show of each subject; private. Nothing where they were
    /// not read back.
    pub candidates: Candidates,
    /// What the verifier found; a release that does not hold must not be shown.
    pub verdict: Option<Verdict>,
    /// Utility and risk.
    pub report: Option<Value>,
}

/// Runs the engine and everything that a release needs before it may be stored;
/// the text of its tables goes to `rooms`.
///
/// # Errors
/// The engine's answer where there is no release, or where the run was
/// cancelled, in whatever stage; a failure of the rooms.
pub fn produce(
    assignment: &Assignment,
    context: &RunContext,
    rooms: &mut TextRooms<'_>,
    observer: &mut dyn Observer,
) -> Result<Produced, ProduceError> {
    let run = || produce_all(assignment, context, rooms, observer);
    let produced = context.cancel.run(run);
    produced.map_err(|Cancelled| EngineError::Cancelled)?
}

/// Refuses what no release may be made of.
fn check_input(assignment: &Assignment) -> Result<(), ProduceError> {
    let (table, accepted) = (assignment.table, assignment.accept_exact);
    check_accepted(table.schema(), accepted)?;
    check_fit(table.schema(), assignment.fit)?;
    refuse(look_like_identifiers(table, accepted))
}

fn produce_all(
    assignment: &Assignment,
    context: &RunContext,
    rooms: &mut TextRooms<'_>,
    observer: &mut dyn Observer,
) -> Result<Produced, ProduceError> {
    let schema = assignment.table.schema();
    let policy = assignment.engine.policy(schema)?;
    check_input(assignment)?;
    let requirements = Requirements::new(assignment.table, policy, assignment.preferences)
        .keeping(assignment.history.clone());
    observer.begins(Stage::Engine);
    let steps = Steps::new(context.progress);
    let inner = steps.told(context);
    let engine = assignment.engine;
    let made = engine.make(assignment.table, &requirements, &inner)?;
    observer.begins(Stage::Encode);
    steps.after(1, "writing tables");
    let written = Written::of(made, context.scratch, rooms)?;
    let excluded = written.excluded;
    let (manifest, tables, lineage) = describe(assignment, &requirements, written);
    context.check()?;
    observer.begins(Stage::Verify);
    steps.after(2, "verifying");
    let mut produced = Produced {
        manifest,
        excluded,
        suppressed: assignment.suppressed,
        tables,
        lineage,
        candidates: Candidates::default(),
        verdict: None,
        report: None,
    };
    produced.manifest.unverified = !assignment.verify;
    if !assignment.verify && !assignment.report {
        return Ok(produced);
    }
    let tables = produced.tables.par_iter();
    let published: Result<Vec<PublishedTable>, _> = tables.map(EncodedTable::read_back).collect();
    let published = match published {
        Ok(published) => published,
        // Only the room gives text that cannot be read at all.
        Err(error) if error.fault == WireFault::Unreadable => {
            return Err(ProduceError::Room(io::ErrorKind::Other));
        }
        Err(_) => {
            // Text that does not read back is a verdict, not an accident: one
            // without any check never holds.
            produced.verdict = Some(Verdict { checks: Vec::new() });
            return Ok(produced);
        }
    };
    let ran = (&requirements, context);
    let portions = examine(assignment, ran, &published, &mut produced)?;
    context.check()?;
    if assignment.report && produced.verdict.as_ref().is_none_or(Verdict::holds) {
        observer.begins(Stage::Report);
        let made = (&produced, &*published, portions.as_ref());
        let found = measure(assignment, ran, made, &steps);
        produced.report = Some(found);
        context.check()?;
    }
    Ok(produced)
}

/// The report: of the whole, or of the portions of a large release.
fn measure(
    assignment: &Assignment,
    (requirements, context): (&Requirements, &RunContext),
    (produced, published, portions): (&Produced, &[PublishedTable], Option<&Portions>),
    steps: &Steps<'_>,
) -> Value {
    steps.measured(0.0);
    let evidence = utility::Evidence {
        table: assignment.table,
        requirements,
        manifest: &produced.manifest,
        tables: published,
        lineage: &produced.lineage,
        population_table: assignment.population_table,
        cancel: &context.cancel,
    };
    let mut watch = |share: f64| {
        steps.measured(share);
        !context.cancel.is_cancelled()
    };
    let asked = (assignment.queries, assignment.fit);
    let of = verify_evidence(assignment, requirements, (produced, published), context);
    match portions {
        Some(portions) => report_of_portions((portions, &of), &evidence, asked, &mut watch),
        None => report(&evidence, asked, &mut watch),
    }
}

/// Looks at the tables as they were read back: what stands in them exactly,
/// what they show of each subject, and whether they keep what is claimed. Gives the
/// portions of a large release.
fn examine(
    assignment: &Assignment,
    (requirements, context): (&Requirements, &RunContext),
    published: &[PublishedTable],
    produced: &mut Produced,
) -> Result<Option<Portions>, ProduceError> {
    let table = assignment.table;
    produced.manifest.published_exactly =
        verify::published_exactly(published, requirements, table.schema());
    refuse(stand_out(table, requirements, (produced, published)))?;
    let evidence = (&*produced, published);
    let evidence = verify_evidence(assignment, requirements, evidence, context);
    let portions = verify::portions(&evidence);
    let mut verdict = assignment.verify.then(|| verify(&evidence));
    let is_wanted = assignment.keeps_shown || !assignment.public.is_empty();
    let of_all = (is_wanted || (assignment.verify && portions.is_none()))
        .then(|| Candidates::of(table, requirements, published, &produced.lineage));
    if let (Some(verdict), Some(of_all)) = (&mut verdict, &of_all)
        && assignment.input.series.is_some()
        && !assignment.public.is_empty()
    {
        let checks = &mut verdict.checks;
        checks.push(verify::series_safe(of_all, assignment.public));
    }
    if let Some(verdict) = verdict.as_mut().filter(|verdict| verdict.holds()) {
        let made = (assignment.engine, assignment.preferences);
        let how = (assignment.reruns, &context.cancel);
        match &portions {
            // What is learned from a portion is learned from some millions of rows.
            Some(all) => {
                let one = all.portion(&evidence, all.drawn());
                let shown =
                    Candidates::of(&one.table, &one.requirements, &one.tables, &one.lineage);
                let of_one = (&one.table, &one.requirements);
                let attacked = attacks(of_one, made, &shown, how);
                let attacked = verify::of_one_portion(attacked, all.number());
                verdict.checks.extend(attacked);
            }
            None => {
                let shown = of_all.as_ref().into_iter();
                let attacked =
                    shown.flat_map(|shown| attacks((table, requirements), made, shown, how));
                verdict.checks.extend(attacked);
            }
        }
        if let Some(shown) = &of_all {
            let beside = verify::together(shown, assignment.public, &context.cancel);
            verdict.checks.extend(beside);
        }
    }
    produced.verdict = verdict;
    produced.candidates = of_all.unwrap_or_default();
    Ok(portions)
}

/// The attacks that learn from a release that holds, or run the engine again, as
/// often as that.
pub fn attacks(
    (table, requirements): (&Table, &Requirements),
    (engine, preferences): (&Engine, &[Preference]),
    shown: &Candidates,
    (reruns, cancel): (u64, &CancelFlag),
) -> Vec<verify::Check> {
    let mut found = verify::background_knowledge(table, shown, cancel);
    found.extend(verify::inference(table, requirements, shown, cancel));
    let again = |table: &Table, number: u64| engine.shown(table, preferences, number, cancel);
    let of = (table, requirements);
    found.extend(verify::minimality(of, shown, (&again, reruns), cancel));
    found
}

/// Nothing may be published while one of these is found.
fn refuse(found: Vec<Identifying>) -> Result<(), ProduceError> {
    if found.is_empty() {
        Ok(())
    } else {
        Err(ProduceError::Identifying(found))
    }
}

/// What the verifier is given of all that a run made.
fn verify_evidence<'a>(
    assignment: &'a Assignment,
    requirements: &'a Requirements,
    (produced, published): (&'a Produced, &'a [PublishedTable]),
    context: &'a RunContext,
) -> verify::Evidence<'a> {
    verify::Evidence {
        table: assignment.table,
        requirements,
        ordered: verify::Ordered {
            engine: assignment.engine.name(),
            parameters: assignment.engine.parameters(),
            input: &assignment.input,
            suppressed: assignment.suppressed,
            reproducible_seed: assignment.reproducible_seed,
            accept_exact: assignment.accept_exact,
            // A release was made: the parts were not refused.
            parts: assignment.engine.parts_of(requirements).unwrap_or_default(),
        },
        manifest: &produced.manifest,
        tables: published,
        lineage: &produced.lineage,
        seed: &context.seed,
        dataset_secret: &context.dataset_secret,
        cancel: &context.cancel,
        at_once: verify::AtOnce::rows(assignment.rows_at_once),
    }
}

/// Tells the stages after the engine's own steps as further steps.
struct Steps<'a> {
    progress: &'a dyn Progress,
    engine_steps: AtomicU32,
}

impl<'a> Steps<'a> {
    fn new(progress: &'a dyn Progress) -> Self {
        Self {
            progress,
            engine_steps: AtomicU32::new(0),
        }
    }

    /// The same run, whose progress these steps tell.
    fn told<'c>(&'c self, context: &RunContext<'c>) -> RunContext<'c> {
        RunContext {
            seed: context.seed.clone(),
            dataset_secret: context.dataset_secret.clone(),
            progress: self,
            cancel: context.cancel.clone(),
            part: context.part,
            scratch: context.scratch,
        }
    }

    fn after(&self, stage: u32, label: &'static str) {
        self.within(stage, label, 0.0);
    }

    fn within(&self, stage: u32, label: &'static str, share: f64) {
        let engine_steps = self.engine_steps.load(Ordering::Relaxed);
        self.progress.report(
            engine_steps + stage,
            engine_steps + STAGES_AFTER_ENGINE,
            label,
            share,
        );
    }

    /// Tells how much of the report is done.
    fn measured(&self, share: f64) {
        self.within(STAGES_AFTER_ENGINE, "measuring", share);
    }
}

impl Progress for Steps<'_> {
    fn report(&self, step: u32, steps: u32, label: &'static str, fraction: f64) {
        self.engine_steps.store(steps, Ordering::Relaxed);
        self.progress
            .report(step, steps + STAGES_AFTER_ENGINE, label, fraction);
    }
}
