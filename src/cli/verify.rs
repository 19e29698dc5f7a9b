//! `vizard verify`: checks a release on files against the records it was
//! made from.
//!
//! What the release must be comes from the specification alone. Of the two
//! things that only the run knew, the program's version is this one's, and
//! whether somebody chose the seed is taken from the manifest, unless the
//! specification names a seed.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use vizard_anonymizer::catalog::{Engine, attacks, report};
use vizard_anonymizer::microdata::TableError;
use vizard_anonymizer::privacy::{CancelFlag, Requirements};
use vizard_anonymizer::release::Lineage;
use vizard_anonymizer::release::candidates::Candidates;
use vizard_anonymizer::utility;
use vizard_anonymizer::verify::{AtOnce, Check, Evidence, Ordered, Verdict, reruns, verify};

use super::exit::Exit;
use super::input::{self, Input, InputOptions};
use super::release_folder::{REPORT, ReleaseFolder, VERIFICATION, written};
use super::release_hierarchies::{FOLDER, Files, LIST};
use super::secrets;

/// Options of `vizard verify`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    input: InputOptions,
    /// Folder of the release: its tables and `manifest.json`, beside them
    /// `report.json` and `verification.json`, and nothing else
    #[arg(long, value_name = "DIR")]
    release: PathBuf,
    /// Which row came from which subject; FILE.seed holds the seed of the run
    #[arg(long, value_name = "FILE")]
    lineage: PathBuf,
    /// The file of that name that the release was made with, if one was named
    #[arg(long, value_name = "FILE")]
    dataset_secret: Option<PathBuf>,
}

/// Reads everything, checks, prints the verdict as JSON.
pub fn run(options: &Options) -> Result<(), Exit> {
    let described = options.input.read_spec()?;
    let seed = secrets::read(&secrets::beside(&options.lineage))?;
    let dataset_secret = match &options.dataset_secret {
        Some(path) => secrets::read(path)?,
        None => seed.clone(),
    };
    let input = options.input.read(described, &dataset_secret)?;
    let job = &input.spec.job;
    let engine = Engine::parse(&job.engine, &job.parameters, input.table.schema())
        .map_err(Exit::of_engine)?
        .with_parts(job.parts);
    let release = ReleaseFolder::read(&options.release)?;
    let lineage = input::read(&options.lineage)?;
    let lineage = Lineage::from_csv(&lineage, &input.table)
        .map_err(|error| Exit::Input("lineage".into(), TableError::Read(error.to_string())))?;
    let policy = engine
        .policy(input.table.schema())
        .map_err(Exit::of_engine)?;
    let requirements = Requirements::new(&input.table, policy, &input.preferences);
    let mut verdict = verify(&Evidence {
        table: &input.table,
        requirements: &requirements,
        ordered: Ordered {
            engine: engine.name(),
            parameters: engine.parameters(),
            input: &input.description(),
            suppressed: input.summary.dropped,
            reproducible_seed: job.seed.is_some() || release.manifest.reproducible_seed,
            accept_exact: &job.accept_exact,
            parts: engine.parts_of(&requirements).map_err(Exit::of_engine)?,
        },
        manifest: &release.manifest,
        tables: &release.tables,
        lineage: &lineage,
        seed: &seed,
        dataset_secret: &dataset_secret,
        cancel: CancelFlag::never(),
        at_once: AtOnce::default(),
    });
    if verdict.holds() {
        let shown = Candidates::of(&input.table, &requirements, &release.tables, &lineage);
        let of = (&input.table, &requirements);
        let made = (&engine, &*input.preferences);
        let how = (reruns(input.table.subjects()), CancelFlag::never());
        let attacked = attacks(of, made, &shown, how);
        verdict.checks.extend(attacked);
    }
    let report = || {
        let evidence = utility::Evidence {
            table: &input.table,
            requirements: &requirements,
            manifest: &release.manifest,
            tables: &release.tables,
            lineage: &lineage,
            population_table: input.population_table.as_ref(),
            cancel: CancelFlag::never(),
        };
        let asked = (job.report.queries, job.report.fit.as_ref());
        report(&evidence, asked, &mut |_| true)
    };
    let of_files = files(&release, &verdict, report)?;
    verdict.checks.extend(of_files);
    verdict.checks.extend(hierarchies(&release, &input)?);
    println!("{}", serde_json::to_string_pretty(&verdict)?);
    if verdict.holds() {
        Ok(())
    } else {
        Err(Exit::VerificationFailed(verdict.failed_kinds()))
    }
}

/// Whether hierarchies, where there are any, are those of the specification, byte
/// for byte.
fn hierarchies(release: &ReleaseFolder, input: &Input) -> Result<Option<Check>, Exit> {
    if release.hierarchies.is_none() {
        return Ok(None);
    }
    let wanted = Files::of(&input.hierarchies, input.spec.job.hierarchies);
    let mut holds = release.optional(LIST)? == Some(written(&wanted.list)?);
    for (name, text) in &wanted.contents {
        holds &= release.optional(&format!("{FOLDER}/{name}"))?.as_deref() == Some(text.as_bytes());
    }
    Ok(Some(Check::of_file(
        "hierarchies_bytes",
        holds,
        "hierarchies.json and what it names are compared with what `anonymize` writes, byte for byte",
    )))
}

/// Whether the documents beside the tables are the bytes that `anonymize`
/// writes; `verdict` is what was found of everything else.
fn files(
    release: &ReleaseFolder,
    verdict: &Verdict,
    report: impl Fn() -> Value,
) -> Result<Vec<Check>, Exit> {
    let mut checks = vec![Check::of_file(
        "manifest_bytes",
        release.manifest_bytes == written(&release.manifest)?,
        "manifest.json is compared with what `anonymize` writes, byte for byte",
    )];
    if let Some(found) = release.optional(VERIFICATION)? {
        checks.push(Check::of_file(
            "verification_bytes",
            found == written(verdict)?,
            "verification.json is compared with what was found now, byte for byte",
        ));
    }
    // What does not hold has no measures.
    if let Some(found) = release.optional(REPORT)?.filter(|_| verdict.holds()) {
        checks.push(Check::of_file(
            "report_bytes",
            found == written(&report())?,
            "report.json is compared with what is measured now, byte for byte",
        ));
    }
    Ok(checks)
}
