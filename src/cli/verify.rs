//! `vizard verify`: checks a release on files against the records it was
//! made from.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::exit::Exit;
use super::input::InputOptions;
use super::secrets;
use crate::catalog::Engine;
use crate::microdata::TableError;
use crate::privacy::Requirements;
use crate::release::{
    Lineage, Manifest, PublishedTable, TableDescription, decode_csv, decode_parquet,
};
use crate::verify::{Evidence, verify};

/// Options of `vizard verify`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    input: InputOptions,
    /// Folder of the release: its tables and `manifest.json`
    #[arg(long, value_name = "DIR")]
    release: PathBuf,
    /// Which row came from which subject; FILE.seed holds the seed of the run
    #[arg(long, value_name = "FILE")]
    lineage: PathBuf,
}

/// Reads everything, checks, prints the verdict as JSON.
pub fn run(options: &Options) -> Result<(), Exit> {
    let input = options.input.read()?;
    let job = &input.spec.job;
    let engine = Engine::parse(&job.engine, &job.parameters, input.table.schema())
        .map_err(Exit::of_engine)?;
    let policy = engine
        .policy(input.table.schema())
        .map_err(Exit::of_engine)?;
    let requirements = Requirements::new(&input.table, policy, &input.preferences);
    let manifest = std::fs::read(options.release.join("manifest.json"))
        .context("manifest.json cannot be read")?;
    let manifest: Manifest = serde_json::from_slice(&manifest).map_err(|error| {
        Exit::Input(
            "manifest.json".into(),
            TableError::Read(format!("JSON, line {}", error.line())),
        )
    })?;
    let tables = manifest
        .tables
        .iter()
        .map(|table| read_table(&options.release, table))
        .collect::<Result<Vec<_>, _>>()?;
    let lineage = std::fs::read(&options.lineage).context("the lineage cannot be read")?;
    let lineage =
        Lineage::from_csv(&lineage, &input.table).map_err(|error| unreadable("lineage", &error))?;
    // Read here already: a release whose seed was lost cannot be verified.
    let _seed = secrets::read(&secrets::beside(&options.lineage))?;
    let evidence = Evidence {
        table: &input.table,
        requirements: &requirements,
        manifest: &manifest,
        tables: &tables,
        lineage: &lineage,
    };
    let verdict = verify(&evidence);
    println!("{}", serde_json::to_string_pretty(&verdict)?);
    if verdict.holds() {
        Ok(())
    } else {
        Err(Exit::VerificationFailed(verdict.failed_kinds()))
    }
}

fn read_table(folder: &Path, table: &TableDescription) -> Result<PublishedTable, Exit> {
    let csv = folder.join(format!("{}.csv", table.name));
    if csv.exists() {
        let bytes = std::fs::read(&csv).context("a table cannot be read")?;
        return decode_csv(table, [bytes]).map_err(|error| unreadable(&table.name, &error));
    }
    let parquet = folder.join(format!("{}.parquet", table.name));
    let bytes = std::fs::read(&parquet)
        .with_context(|| format!("table {} is in no format known", table.name))?;
    decode_parquet(table, bytes).map_err(|error| unreadable(&table.name, &error))
}

fn unreadable(what: &str, error: &dyn std::fmt::Display) -> Exit {
    Exit::Input(what.into(), TableError::Read(error.to_string()))
}
