//! From a table to a verified release, in one pure function.
//!
//! Engine, encoding, verification and measures follow one another; verifier
//! and measures get the tables as they were read back from the encoded bytes,
//! never the engine's own. The caller is told when each stage begins, so that
//! it can time them: no clock is read here.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use serde_json::Value;

use crate::engine::{EngineError, Progress, RunContext};
use crate::microdata::{Preference, Table};
use crate::privacy::{BlockForm, Model, Requirements};
use crate::query::{self, Workload};
use crate::release::{
    Format, InputDescription, Lineage, MadeBy, Manifest, PIECE_BYTES_MAX, PublishedTable, Release,
    TableDescription, Transcoder, WireError, decode_csv, encode_csv,
};
use crate::utility;
use crate::verify::{self, Verdict, verify};

use super::Engine;

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
    /// Records that the missing-value policy left out at upload.
    pub suppressed: u64,
    /// Random aggregate queries behind the report's query error.
    pub queries: u32,
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

/// Nobody wants to know.
pub struct Unobserved;

impl Observer for Unobserved {
    fn begins(&mut self, _stage: Stage) {}
}

/// A table as it is stored and sent: canonical CSV text, cut at rows.
pub struct EncodedTable {
    /// Entry of the manifest.
    pub description: TableDescription,
    /// The text; joined, the pieces are one CSV file.
    pub pieces: Vec<Piece>,
}

/// A part of a table's text, cut at a row.
pub struct Piece {
    /// The text; the first piece begins with the header.
    pub bytes: Vec<u8>,
    /// Rows in it.
    pub rows: u64,
}

impl EncodedTable {
    fn of(table: &PublishedTable) -> Self {
        let mut pieces = Vec::new();
        let summary = encode_csv(table, PIECE_BYTES_MAX, &mut |bytes, rows| {
            pieces.push(Piece { bytes, rows });
        });
        Self {
            description: TableDescription::of(table, &summary),
            pieces,
        }
    }

    /// The table in another format, as one file.
    pub fn transcode(&self, format: Format, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        let broken = |error: WireError| {
            std::io::Error::new(std::io::ErrorKind::InvalidData, error.to_string())
        };
        let mut transcoder = Transcoder::new(&self.description, format).map_err(broken)?;
        let mut bytes = Vec::new();
        for piece in &self.pieces {
            transcoder.piece(&piece.bytes, &mut bytes).map_err(broken)?;
            out.write_all(&bytes)?;
            bytes.clear();
        }
        transcoder.finish(&mut bytes).map_err(broken)?;
        out.write_all(&bytes)
    }

    /// The table as anyone reads it from its bytes.
    pub fn read_back(&self) -> Result<PublishedTable, WireError> {
        decode_csv(
            &self.description,
            self.pieces.iter().map(|piece| &piece.bytes),
        )
    }
}

/// All that a run made.
pub struct Produced {
    /// The manifest.
    pub manifest: Manifest,
    /// The tables as bytes.
    pub tables: Vec<EncodedTable>,
    /// Which row came from whom; private.
    pub lineage: Lineage,
    /// What the verifier found; a release that does not hold must not be shown.
    pub verdict: Option<Verdict>,
    /// Utility and risk.
    pub report: Option<Value>,
}

/// Runs the engine and everything that a release needs before it may be stored.
pub fn produce(
    assignment: &Assignment,
    context: &RunContext,
    observer: &mut dyn Observer,
) -> Result<Produced, EngineError> {
    let schema = assignment.table.schema();
    let policy = assignment.engine.policy(schema)?;
    let requirements = Requirements::new(assignment.table, policy, assignment.preferences);
    observer.begins(Stage::Engine);
    let steps = Steps::new(context.progress);
    let inner = RunContext {
        seed: context.seed,
        progress: &steps,
        cancel: context.cancel.clone(),
    };
    let release = assignment
        .engine
        .run(assignment.table, &requirements, &inner)?;
    observer.begins(Stage::Encode);
    steps.after(1, "writing tables");
    let (manifest, tables, lineage) = encode(assignment, release);
    context.check()?;
    observer.begins(Stage::Verify);
    steps.after(2, "verifying");
    let mut produced = Produced {
        manifest,
        tables,
        lineage,
        verdict: None,
        report: None,
    };
    produced.manifest.unverified = !assignment.verify;
    if !assignment.verify && !assignment.report {
        return Ok(produced);
    }
    let Ok(published) = read_back(&produced.tables) else {
        // Bytes that cannot be read back are a verdict, not an accident: one
        // without any check never holds.
        produced.verdict = Some(Verdict { checks: Vec::new() });
        return Ok(produced);
    };
    if assignment.verify {
        produced.verdict = Some(verify(&verify::Evidence {
            table: assignment.table,
            requirements: &requirements,
            manifest: &produced.manifest,
            tables: &published,
            lineage: &produced.lineage,
        }));
    }
    context.check()?;
    if assignment.report && produced.verdict.as_ref().is_none_or(Verdict::holds) {
        observer.begins(Stage::Report);
        steps.after(3, "measuring");
        produced.report = Some(report(assignment, &requirements, &produced, &published));
        context.check()?;
    }
    Ok(produced)
}

fn report(
    assignment: &Assignment,
    requirements: &Requirements,
    produced: &Produced,
    published: &[PublishedTable],
) -> Value {
    let measured = utility::measure(&utility::Evidence {
        table: assignment.table,
        requirements,
        manifest: &produced.manifest,
        tables: published,
        lineage: &produced.lineage,
    });
    // Tables that do not fit their originals have failed verification before.
    let Ok(mut report) = measured else {
        return Value::Null;
    };
    // Values drawn anew bound no count of the original.
    let model = &requirements.policy().model;
    if matches!(
        model,
        Model::Blocks {
            form: BlockForm::Randomized { .. },
            ..
        }
    ) {
        return serde_json::to_value(report).unwrap_or(Value::Null);
    }
    let workload = Workload::standard(assignment.queries);
    let error = query::error::measure(assignment.table, published, &produced.lineage, workload);
    if let Ok(error) = error {
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

fn read_back(tables: &[EncodedTable]) -> Result<Vec<PublishedTable>, WireError> {
    tables.par_iter().map(EncodedTable::read_back).collect()
}

/// Writes the tables down and describes them; the engine's own are dropped.
fn encode(assignment: &Assignment, release: Release) -> (Manifest, Vec<EncodedTable>, Lineage) {
    let tables: Vec<EncodedTable> = release.tables.iter().map(EncodedTable::of).collect();
    let records = release
        .lineage
        .tables
        .iter()
        .map(|table| table.subjects.len() as u64)
        .max()
        .unwrap_or(0);
    let manifest = Manifest {
        format: Manifest::FORMAT.into(),
        engine: assignment.engine.name().into(),
        parameters: assignment.engine.parameters(),
        records,
        excluded: release.excluded,
        suppressed: assignment.suppressed,
        guarantees: release.guarantees,
        adversary: release.adversary,
        not_protected: release.not_protected,
        tables: tables
            .iter()
            .map(|table| table.description.clone())
            .collect(),
        input: assignment.input.clone(),
        made_by: MadeBy {
            vizard: env!("CARGO_PKG_VERSION").into(),
        },
        unverified: false,
    };
    (manifest, tables, release.lineage)
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

    fn after(&self, stage: u32, label: &'static str) {
        let engine_steps = self.engine_steps.load(Ordering::Relaxed);
        self.progress.report(
            engine_steps + stage,
            engine_steps + STAGES_AFTER_ENGINE,
            label,
            0.0,
        );
    }
}

impl Progress for Steps<'_> {
    fn report(&self, step: u32, steps: u32, label: &'static str, fraction: f64) {
        self.engine_steps.store(steps, Ordering::Relaxed);
        self.progress
            .report(step, steps + STAGES_AFTER_ENGINE, label, fraction);
    }
}
