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

use crate::engine::{EngineError, Progress, RunContext, Scratch};
use crate::microdata::{PopulationTable, Preference, Schema, Table};
use crate::privacy::{BlockForm, CancelFlag, Cancelled, History, Model, Requirements};
use crate::query::{self, Workload};
use crate::release::candidates::Candidates;
use crate::release::{
    AcceptedExact, InputDescription, Kept, Lineage, MadeBy, MadeInParts, Manifest, Normalized,
    PublishedExactly, PublishedTable, TableLineage, Transformed, WireFault, guarantees,
    rounded_to_tens, statement,
};
use crate::utility::{self, Fit};
use crate::verify::{self, Verdict, verify};

use super::Engine;
use super::encoded::{EncodedTable, TableWriter, TextRooms};
use super::engines::Outcome;
use super::identifying::{Identifying, check_accepted, listed, look_like_identifiers, stand_out};
use super::parts::Union;

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
    #[error("tables, or what their parts gave, could not be kept: {0}")]
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
    examine(assignment, ran, &published, &mut produced)?;
    context.check()?;
    if assignment.report && produced.verdict.as_ref().is_none_or(Verdict::holds) {
        observer.begins(Stage::Report);
        steps.measured(0.0);
        let evidence = utility::Evidence {
            table: assignment.table,
            requirements: &requirements,
            manifest: &produced.manifest,
            tables: &published,
            lineage: &produced.lineage,
            population_table: assignment.population_table,
            cancel: &context.cancel,
        };
        let mut watch = |share: f64| {
            steps.measured(share);
            !context.cancel.is_cancelled()
        };
        let asked = (assignment.queries, assignment.fit);
        produced.report = Some(report(&evidence, asked, &mut watch));
        context.check()?;
    }
    Ok(produced)
}

/// Looks at the tables as they were read back: what stands in them exactly,
/// what they show of each subject, and whether they keep what is claimed.
fn examine(
    assignment: &Assignment,
    (requirements, context): (&Requirements, &RunContext),
    published: &[PublishedTable],
    produced: &mut Produced,
) -> Result<(), ProduceError> {
    let table = assignment.table;
    produced.manifest.published_exactly =
        verify::published_exactly(published, requirements, table.schema());
    refuse(stand_out(table, requirements, (produced, published)))?;
    let evidence = (&*produced, published);
    let evidence = verify_evidence(assignment, requirements, evidence, context);
    let portions = assignment.verify.then(|| verify::portions(&evidence));
    let portions = portions.flatten();
    let drawn = portions
        .as_ref()
        .map(|all| all.portion(&evidence, all.drawn()));
    let mut verdict = assignment.verify.then(|| verify(&evidence));
    let is_wanted = assignment.keeps_shown || !assignment.public.is_empty();
    let of_all = (is_wanted || (assignment.verify && drawn.is_none()))
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
        match (&drawn, &portions) {
            // What is learned from a portion is learned from some millions of rows.
            (Some(one), Some(all)) => {
                let shown =
                    Candidates::of(&one.table, &one.requirements, &one.tables, &one.lineage);
                let of_one = (&one.table, &one.requirements);
                let attacked = attacks(of_one, made, &shown, how);
                let attacked = verify::of_one_portion(attacked, all.number());
                verdict.checks.extend(attacked);
            }
            _ => {
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
    Ok(())
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

/// Whether a schema has the statistic that a report is to tell.
///
/// # Errors
/// `report.fit` is an invalid parameter.
pub fn check_fit(schema: &Schema, fit: Option<&Fit>) -> Result<(), EngineError> {
    let checked = fit.map_or(Ok(()), |fit| fit.check(schema));
    checked.map_err(|mismatch| EngineError::InvalidParameter {
        parameter: "report.fit".into(),
        reason: mismatch.to_string(),
    })
}

/// The report of a release that holds; queries and statistic as the job asks. `watch` is
/// told the share that is done, and says whether the rest is wanted.
pub fn report(
    evidence: &utility::Evidence,
    (queries, fit): (u32, Option<&Fit>),
    watch: &mut dyn FnMut(f64) -> bool,
) -> Value {
    let measured = utility::measure(evidence);
    // Tables that do not fit their originals have failed verification before.
    let Ok(mut report) = measured else {
        return Value::Null;
    };
    // Values drawn anew bound no count of the original.
    let model = &evidence.requirements.policy().model;
    if matches!(
        model,
        Model::Blocks {
            form: BlockForm::Randomized { .. },
            ..
        }
    ) {
        return serde_json::to_value(report).unwrap_or(Value::Null);
    }
    // A release that is no rows of one record each shows no such statistic.
    if let Some(Ok(Some(error))) = fit.map(|fit| utility::fit::measure(evidence, fit)) {
        report.insert("fit", utility::fit::DESCRIPTION, &error);
    }
    let workload = Workload::standard(queries);
    let published = query::error::Published {
        tables: evidence.tables,
        lineage: evidence.lineage,
        cancel: evidence.cancel,
    };
    let error = query::error::measure_watched(evidence.table, published, workload, watch);
    if let Ok(Some(error)) = error {
        let description = utility::Description {
            title: query::error::TITLE,
            audience: utility::Audience::Steward,
            definition: query::error::DEFINITION,
            source: query::error::SOURCE,
        };
        report.insert("query_error", description, &error);
    }
    serde_json::to_value(report).unwrap_or(Value::Null)
}

/// What was written of a release.
struct Written {
    tables: Vec<EncodedTable>,
    lineage: Lineage,
    excluded: u64,
    kept: Option<Kept>,
    parts: Option<MadeInParts>,
}

impl Written {
    /// Writes the tables down; the engine's own are dropped.
    fn of(
        made: Outcome,
        scratch: &dyn Scratch,
        rooms: &mut TextRooms<'_>,
    ) -> Result<Self, ProduceError> {
        let release = match made {
            Outcome::Whole(release) => release,
            Outcome::Parts(union) => return Ok(Self::of_parts(*union, scratch, rooms)?),
        };
        let tables = release.tables.iter();
        let tables = tables
            .map(|table| EncodedTable::write(table, rooms(&table.name)?))
            .collect::<io::Result<Vec<EncodedTable>>>()?;
        Ok(Self {
            tables,
            lineage: release.lineage,
            excluded: release.excluded,
            kept: release.kept,
            parts: release.parts,
        })
    }

    /// Writes a release in parts, chunk after chunk of its rows.
    fn of_parts(
        union: Union,
        scratch: &dyn Scratch,
        rooms: &mut TextRooms<'_>,
    ) -> io::Result<Self> {
        let (excluded, parts) = (union.excluded, union.made_in_parts);
        let mut tables: Vec<(String, TableWriter)> = Vec::new();
        let mut lineage: Vec<TableLineage> = Vec::new();
        union.write(scratch, &mut |chunk, subjects| {
            if tables.last().is_none_or(|(name, _)| *name != chunk.name) {
                // The first table has a row a subject.
                if tables.is_empty() {
                    lineage.push(TableLineage {
                        table: chunk.name.clone(),
                        subjects: Vec::new(),
                    });
                }
                let writer = TableWriter::new(rooms(&chunk.name)?);
                tables.push((chunk.name.clone(), writer));
            }
            if let Some(lineage) = lineage.first_mut() {
                lineage.subjects.extend(subjects);
            }
            match tables.last_mut() {
                Some((_, writer)) => writer.rows(&chunk),
                None => Ok(()),
            }
        })?;
        let tables = tables.into_iter();
        Ok(Self {
            tables: tables.map(|(_, writer)| writer.finish()).collect(),
            lineage: Lineage { tables: lineage },
            excluded,
            kept: None,
            parts,
        })
    }
}

/// Describes what was written.
fn describe(
    assignment: &Assignment,
    requirements: &Requirements,
    written: Written,
) -> (Manifest, Vec<EncodedTable>, Lineage) {
    let (tables, lineage) = (written.tables, written.lineage);
    let records = lineage.tables.iter();
    let records = records.map(|table| table.subjects.len() as u64);
    let records = records.max().unwrap_or(0);
    let engine = assignment.engine.name();
    let (schema, policy) = (assignment.table.schema(), requirements.ordered());
    let manifest = Manifest {
        format: Manifest::FORMAT.into(),
        engine: engine.into(),
        parameters: assignment.engine.parameters().clone(),
        records,
        excluded: rounded_to_tens(written.excluded),
        suppressed: rounded_to_tens(assignment.suppressed),
        normalized: Normalized::of(assignment.table),
        transformed: Transformed::of(schema),
        guarantees: guarantees(policy, schema),
        adversary: statement::adversary(engine, policy),
        not_protected: statement::not_protected(
            engine,
            schema,
            policy,
            (
                assignment.accept_exact,
                assignment.input.series,
                requirements.history(),
            ),
        ),
        published_exactly: PublishedExactly::default(),
        accept_exact: assignment.accept_exact.to_vec(),
        kept: written.kept.map(Kept::published),
        parts: written.parts,
        tables: tables
            .iter()
            .map(|table| table.description.clone())
            .collect(),
        input: assignment.input.clone(),
        made_by: MadeBy {
            vizard: env!("CARGO_PKG_VERSION").into(),
        },
        unverified: false,
        reproducible_seed: assignment.reproducible_seed,
    };
    (manifest, tables, lineage)
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
