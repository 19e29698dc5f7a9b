//! `vizard anonymize`: one job on files, without a server.
//!
//! The same engines, the same verifier, the same report; nothing is written
//! but the release, unless `--lineage` asks for the private link as well.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::json;
use vizard_anonymizer::catalog::{
    Assignment, Engine, Observer, Produced, Purpose, Stage, job_for, produce,
};
use vizard_anonymizer::engine::{CancelFlag, Progress, RunContext, Silent};
use vizard_anonymizer::microdata::{DoubtfulValues, Table};
use vizard_anonymizer::privacy::Seed;
use vizard_anonymizer::release::Format;
use vizard_anonymizer::verify::Section;

use super::exit::Exit;
use super::input::{Input, InputOptions};
use super::inspect::{self, SPEC};
use super::new_folder::{NewFolder, check_place, parent_of};
use super::options::cores;
use super::parts::{refuse_unknown, tell_parts};
use super::progress::Bar;
use super::purposes::{PurposeOptions, named};
use super::release_folder::{MANIFEST, REPORT, VERIFICATION, written as document};
use super::release_hierarchies::{FOLDER, Files, LIST};
use super::secrets::{self, Unnamed};
use super::written_tables::WrittenTables;
use crate::job::{NAME_CHARACTERS_MAX, OfflineSpec, draw_seed, job_name};
use crate::spill_file::UnnamedFiles;

/// Options of `vizard anonymize`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    input: InputOptions,
    /// Without --spec: inspect the records, print a proposal for this purpose,
    /// `public`, `contract` or one of your own, and write it as a specification
    #[arg(long, value_name = "PURPOSE", conflicts_with = "spec")]
    purpose: Option<String>,
    #[command(flatten)]
    purposes: PurposeOptions,
    /// Where the proposal is written
    #[arg(long, value_name = "FILE", default_value = SPEC, requires = "purpose")]
    write_spec: PathBuf,
    /// Go on with the proposal unread
    #[arg(long, requires = "purpose")]
    accept: bool,
    /// Folder for the release; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What people call the release, in place of the specification's `name`
    #[arg(long, value_name = "TEXT", value_parser = named_release)]
    name: Option<String>,
    /// Format of the tables
    #[arg(long, value_enum, default_value_t = TableFormat::Csv)]
    format: TableFormat,
    /// Also write which row came from which subject (private), and the seed
    /// into FILE.seed
    #[arg(long, value_name = "FILE")]
    lineage: Option<PathBuf>,
    /// Threads of the engine [default: all cores]
    #[arg(long, env = "VIZARD_THREADS", value_name = "N")]
    threads: Option<usize>,
    /// Decides what is drawn of single rows, and everything else without
    /// `--dataset-secret` [default: 256 bits from the operating system]; anyone who
    /// guesses it can repeat the run, so the manifest says that it was given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Decides who stands together, which must be the same in every release of a
    /// dataset: 64 hexadecimal digits; made if it is not there, and needed by
    /// `vizard verify` [default: the seed, so another one each time]
    #[arg(long, value_name = "FILE")]
    dataset_secret: Option<PathBuf>,
    /// Go on where more than 5 % of the records are left out for missing values
    #[arg(long)]
    allow_loss: bool,
    /// Print a JSON line with the time of each phase and the peak memory
    #[arg(long)]
    timings: bool,
    /// Make no report (benchmarks)
    #[arg(long)]
    no_report: bool,
    /// Do not verify (benchmarks); the manifest then says `unverified`
    #[arg(long)]
    no_verify: bool,
}

impl Options {
    /// Refuses a lineage in the place of what is read, of what is no file, or
    /// among what is published.
    fn check_lineage(&self) -> Result<(), Exit> {
        let Some(path) = &self.lineage else {
            return Ok(());
        };
        let refused = |what: &str| {
            let text = format!("--lineage {}: {what}; name another file", path.display());
            Err(Exit::Usage(text))
        };
        for file in [path.clone(), secrets::beside(path)] {
            if secrets::is_no_file(&file) {
                return refused("is there, and no file");
            }
            if self.input.reads(&file) || self.dataset_secret.as_ref() == Some(&file) {
                return refused("would take the place of an input");
            }
        }
        let resolved = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
        if resolved(&parent_of(path)) == resolved(&self.out) {
            refused("would be published with the release")
        } else {
            Ok(())
        }
    }
}

/// A name that a job may have.
fn named_release(text: &str) -> Result<String, String> {
    job_name(text).ok_or_else(|| {
        format!("1 to {NAME_CHARACTERS_MAX} characters, and none that controls or turns text")
    })
}

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    /// Text, one file a table.
    Csv,
    /// Columns, one file a table.
    Parquet,
}

/// Reads, runs, verifies, writes.
pub fn run(options: &Options) -> Result<(), Exit> {
    let threads = options.threads.unwrap_or_else(cores);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    pool.install(|| in_pool(options))
}

/// Asks about values that are probably not what they seem.
fn ask(questions: &[DoubtfulValues]) {
    for question in questions {
        let (kind, count) = (question.doubt.word(), question.count);
        let cells = if count == 1 { "cell" } else { "cells" };
        eprintln!(
            "question: {}: {kind} in {count} {cells}",
            question.attribute
        );
        for answer in question.answers() {
            eprintln!("  {answer}");
        }
    }
}

/// Inspects the records and writes a specification; whether to go on.
fn propose(options: &Options, purpose: &Purpose) -> Result<bool, Exit> {
    let Some(records) = options.input.records_path() else {
        return Err(Exit::Usage(
            "tables that are joined need a specification: name one with --spec".into(),
        ));
    };
    let inspection = inspect::of_file(records)?;
    let jobs: Vec<_> = job_for(purpose, &inspection).into_iter().collect();
    print!("{}", inspect::told(&inspection, &jobs));
    let spec = inspect::specification(&inspection, purpose)?;
    inspect::write(&options.write_spec, &spec)?;
    let written = options.write_spec.display();
    println!("\n{written} is written");
    let has_row_keys = inspection
        .schema
        .is_some_and(|schema| schema.has_row_keys());
    if options.accept && has_row_keys {
        return Err(Exit::Usage(format!(
            "no column names the person, and {written} takes each row for one: whether that is so you \
             know alone; run\n  vizard anonymize --records {} --spec {written} --out {}",
            records.display(),
            options.out.display()
        )));
    }
    if !options.accept {
        println!(
            "read it, change it, and run\n  vizard anonymize --records {} --spec {written} --out {}\nor \
             take it as it is with --accept",
            records.display(),
            options.out.display()
        );
    }
    Ok(options.accept)
}

fn in_pool(options: &Options) -> Result<(), Exit> {
    let mut watch = StopWatch::start();
    check_place(&options.out)?;
    options.check_lineage()?;
    let mut files = options.input.clone();
    if let Some(name) = &options.purpose {
        let purposes = options.purposes.read()?;
        if !propose(options, named(&purposes, name)?)? {
            return Ok(());
        }
        files.take_spec(options.write_spec.clone());
    }
    let described = files.read_spec()?;
    let seed = Chosen::of(options, &described.0)?;
    let input = files.read(described, &seed.dataset_secret)?;
    if input.summary.loses_many() && !options.allow_loss {
        let source = options.input.records_name();
        return Err(Exit::Loss(source, input.summary));
    }
    if let Some(parts) = &input.parts {
        tell_parts(parts);
        refuse_unknown(&options.input, parts, options.allow_loss)?;
    }
    ask(&input.summary.questions);
    watch.lap("read_ms");
    tell_spellings(&input.table);
    let mut written = WrittenTables::new(&options.out);
    let produced = run_job(options, (&input, &seed), &mut written, &mut watch)?;
    watch.begin("write_ms");
    if let Some(verdict) = &produced.verdict
        && !verdict.holds()
    {
        // Nothing is written: a release that fails is never visible.
        return Err(Exit::VerificationFailed(verdict.failed_kinds()));
    }
    write_release(options, (&input, &seed), &produced, written)?;
    watch.end();
    let name = options.name.as_deref();
    summarize(&produced, name.or(input.spec.job.name.as_deref()));
    if options.timings {
        println!("{}", watch.line());
    }
    Ok(())
}

/// Says what the job counts as one value, before it runs: counts, no values.
fn tell_spellings(table: &Table) {
    for merged in table.merged() {
        println!(
            "{}: {} spellings in {} records are taken for another spelling of the value, or as missing",
            table.schema().attribute(merged.attribute).name,
            merged.spellings,
            merged.records
        );
    }
}

/// The secrets of a run, and whether somebody chose its seed.
struct Chosen {
    seed: Seed,
    by_somebody: bool,
    dataset_secret: Seed,
}

impl Chosen {
    fn of(options: &Options, spec: &OfflineSpec) -> Result<Self, Exit> {
        let given = options.seed.or(spec.job.seed);
        let seed = given.map_or_else(draw_seed, |number| Ok(Seed::of_number(number)))?;
        Ok(Self {
            dataset_secret: match &options.dataset_secret {
                Some(path) => secrets::read_or_make(path)?,
                None => seed.clone(),
            },
            seed,
            by_somebody: given.is_some(),
        })
    }
}

fn run_job(
    options: &Options,
    (input, chosen): (&Input, &Chosen),
    written: &mut WrittenTables,
    watch: &mut StopWatch,
) -> Result<Produced, Exit> {
    let job = &input.spec.job;
    let engine = Engine::parse(&job.engine, &job.parameters, input.table.schema())
        .map_err(Exit::of_engine)?
        .with_parts(job.parts);
    let assignment = Assignment {
        verify: !options.no_verify,
        report: !options.no_report,
        ..input.assignment(&engine, chosen.by_somebody)
    };
    let bar = Bar::new();
    let drawn = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let progress: &dyn Progress = if drawn { &bar } else { &Silent };
    let scratch = UnnamedFiles::beside(parent_of(&options.out));
    let context = RunContext {
        seed: chosen.seed.clone(),
        dataset_secret: chosen.dataset_secret.clone(),
        progress,
        cancel: CancelFlag::default(),
        part: None,
        scratch: &scratch,
    };
    let produced = produce(&assignment, &context, &mut |name| written.room(name), watch);
    bar.finish();
    produced.map_err(|error| Exit::of_run(error, &options.out))
}

/// The release appears as a whole, or not at all. Its lineage follows: it is
/// written before, so that a full disk stops both.
fn write_release(
    options: &Options,
    (input, chosen): (&Input, &Chosen),
    produced: &Produced,
    written: WrittenTables,
) -> Result<(), Exit> {
    let cannot = || format!("{} cannot be written", options.out.display());
    let folder = NewFolder::beside(&options.out).with_context(cannot)?;
    match options.format {
        TableFormat::Csv => written.show(folder.path())?,
        TableFormat::Parquet => {
            written.show_converted(folder.path(), (&produced.tables, Format::Parquet))?;
        }
    }
    if let Some(verdict) = &produced.verdict {
        folder.write(VERIFICATION, &document(verdict)?)?;
    }
    folder.write(MANIFEST, &document(&produced.manifest)?)?;
    if let Some(report) = &produced.report {
        folder.write(REPORT, &document(report)?)?;
    }
    let hierarchies = Files::of(&input.hierarchies, input.spec.job.hierarchies);
    folder.write(LIST, &document(&hierarchies.list)?)?;
    if !hierarchies.contents.is_empty() {
        folder.write_inside(FOLDER, &hierarchies.contents)?;
    }
    let private = match &options.lineage {
        None => None,
        Some(path) => {
            let lineage = Unnamed::write(path, &produced.lineage.to_csv(&input.table))?;
            let seed = Unnamed::of_secret(&secrets::beside(path), &chosen.seed)?;
            Some([lineage, seed])
        }
    };
    folder.finish().with_context(cannot)?;
    for file in private.into_iter().flatten() {
        file.finish()?;
    }
    Ok(())
}

fn summarize(produced: &Produced, name: Option<&str>) {
    let manifest = &produced.manifest;
    if let Some(name) = name {
        println!("{name}");
    }
    println!(
        "{} records published, {} excluded",
        manifest.records, produced.excluded
    );
    match &produced.verdict {
        None => println!("not verified"),
        Some(verdict) => {
            for check in verdict.section(Section::Guarantee) {
                let attribute = check
                    .attribute
                    .as_deref()
                    .map(|name| format!(" on {name}"))
                    .unwrap_or_default();
                let figure =
                    |figure: Option<f64>| figure.map_or("-".into(), |figure| figure.to_string());
                println!(
                    "{}{attribute}: claimed {}, attained {}",
                    check.kind,
                    figure(check.claimed),
                    figure(check.attained)
                );
            }
            println!("verified");
        }
    }
}

/// Times the phases of a run.
struct StopWatch {
    laps: Vec<(&'static str, f64)>,
    open: Option<(&'static str, Instant)>,
}

impl StopWatch {
    fn start() -> Self {
        Self {
            laps: Vec::new(),
            open: Some(("read_ms", Instant::now())),
        }
    }

    fn begin(&mut self, phase: &'static str) {
        self.end();
        self.open = Some((phase, Instant::now()));
    }

    fn lap(&mut self, phase: &'static str) {
        debug_assert!(self.open.is_some_and(|(open, _)| open == phase));
        self.end();
    }

    fn end(&mut self) {
        if let Some((phase, began)) = self.open.take() {
            let elapsed_ms = began.elapsed().as_secs_f64() * 1e3;
            match self.laps.iter_mut().find(|(name, _)| *name == phase) {
                Some((_, total)) => *total += elapsed_ms,
                None => self.laps.push((phase, elapsed_ms)),
            }
        }
    }

    fn line(&self) -> String {
        let mut line = json!({});
        for (phase, elapsed_ms) in &self.laps {
            line[*phase] = json!((elapsed_ms * 10.0).round() / 10.0);
        }
        line["rss_peak_bytes"] = json!(peak_memory_bytes());
        line.to_string()
    }
}

impl Observer for StopWatch {
    fn begins(&mut self, stage: Stage) {
        self.begin(match stage {
            Stage::Engine => "engine_ms",
            // Text is part of writing, whenever it is made.
            Stage::Encode => "write_ms",
            Stage::Verify => "verify_ms",
            Stage::Report => "report_ms",
        });
    }
}

/// Peak resident memory of this process, in bytes; `None` where the system
/// does not tell.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
