//! The folder of a release: what may be in it, and nothing else.
//!
//! Records, a lineage or a note beside the tables would be published with
//! them, so a file that the manifest does not name is refused, and so is
//! whatever is no file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use vizard_anonymizer::catalog::written_file;
use vizard_anonymizer::microdata::TableError;
use vizard_anonymizer::release::{
    Format, HierarchyList, Manifest, PublishedTable, TableDescription, WireError, decode_csv,
    decode_parquet,
};

use super::exit::Exit;
use super::release_hierarchies::{self, FOLDER, LIST};

/// What a release claims.
pub const MANIFEST: &str = "manifest.json";
/// Utility and risk.
pub const REPORT: &str = "report.json";
/// What the verifier found when the release was made.
pub const VERIFICATION: &str = "verification.json";

/// How tables may be written.
const FORMATS: [Format; 2] = [Format::Csv, Format::Parquet];

/// A folder that was read.
pub struct ReleaseFolder {
    folder: PathBuf,
    /// The manifest, as it was read.
    pub manifest: Manifest,
    /// The bytes that it was read from.
    pub manifest_bytes: Vec<u8>,
    /// The tables that the manifest names.
    pub tables: Vec<PublishedTable>,
    /// Which hierarchies there are, where that is said.
    pub hierarchies: Option<HierarchyList>,
    files: BTreeSet<String>,
}

impl ReleaseFolder {
    /// Reads manifest and tables; a folder that holds anything else is a fault
    /// of the input.
    pub fn read(folder: &Path) -> Result<Self, Exit> {
        let mut files = files(folder)?;
        let manifest_bytes = read(folder, MANIFEST)?;
        let manifest: Manifest = serde_json::from_slice(&manifest_bytes).map_err(|error| {
            // The error's own words may repeat what is in the file.
            at_fault(MANIFEST, &format!("no manifest: line {}", error.line()))
        })?;
        let mut unnamed = files.clone();
        for name in [MANIFEST, REPORT, VERIFICATION, LIST] {
            unnamed.remove(name);
        }
        let hierarchies = release_hierarchies::list(folder)?;
        let listed = hierarchies.iter().flat_map(release_hierarchies::paths);
        for name in listed {
            unnamed.remove(&name);
        }
        let mut tables = Vec::new();
        for table in &manifest.tables {
            let (name, format) = file_of(table, &files)?;
            unnamed.remove(&name);
            tables.push(decode(folder, table, (&name, format))?);
        }
        match unnamed.pop_first() {
            Some(name) => Err(at_fault(&name, "not a file of this release")),
            None => Ok(Self {
                folder: folder.into(),
                manifest,
                manifest_bytes,
                tables,
                hierarchies,
                files: std::mem::take(&mut files),
            }),
        }
    }

    /// The bytes of a file, where it is there.
    pub fn optional(&self, name: &str) -> Result<Option<Vec<u8>>, Exit> {
        let is_there = self.files.contains(name);
        is_there.then(|| read(&self.folder, name)).transpose()
    }
}

/// The tables that a manifest names, whatever else is in their folder.
pub fn tables(
    folder: &Path,
    descriptions: &[TableDescription],
) -> Result<Vec<PublishedTable>, Exit> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("{} cannot be read", folder.display()))?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let names: BTreeSet<String> = names.collect::<Result<_, Exit>>()?;
    let tables = descriptions.iter().map(|table| {
        let (name, format) = file_of(table, &names)?;
        decode(folder, table, (&name, format))
    });
    tables.collect()
}

/// A document as it is written into the folder.
pub fn written(document: &impl serde::Serialize) -> Result<Vec<u8>, Exit> {
    let mut bytes = serde_json::to_vec_pretty(document)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Names of the files in the folder of a release, and in that of its hierarchies.
fn files(folder: &Path) -> Result<BTreeSet<String>, Exit> {
    let mut files = files_in(folder, Some(FOLDER))?;
    let inner = folder.join(FOLDER);
    if inner.is_dir() {
        let names = files_in(&inner, None)?.into_iter();
        files.extend(names.map(|name| format!("{FOLDER}/{name}")));
    }
    Ok(files)
}

/// Names of the files in a folder; links, folders but the one that is expected,
/// pipes and names that are no text are refused.
fn files_in(folder: &Path, inner: Option<&str>) -> Result<BTreeSet<String>, Exit> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut files = BTreeSet::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(text) = name.to_str() else {
            return Err(at_fault(
                &name.to_string_lossy(),
                "not a file of this release",
            ));
        };
        if inner == Some(text) && entry.file_type()?.is_dir() {
            continue;
        }
        // Of the entry itself: a link is not followed.
        if !entry.file_type()?.is_file() {
            return Err(at_fault(text, "not a plain file"));
        }
        files.insert(text.to_owned());
    }
    Ok(files)
}

/// The one file of a table.
fn file_of(table: &TableDescription, files: &BTreeSet<String>) -> Result<(String, Format), Exit> {
    let named = FORMATS.map(|format| (format!("{}.{}", table.name, format.extension()), format));
    let mut there = named.into_iter().filter(|(name, _)| files.contains(name));
    match (there.next(), there.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some((second, _))) => Err(at_fault(&second, "a second file of the same table")),
        (None, _) => Err(at_fault(&table.name, "the table is in no format known")),
    }
}

fn decode(
    folder: &Path,
    table: &TableDescription,
    (name, format): (&str, Format),
) -> Result<PublishedTable, Exit> {
    let bytes = read(folder, name)?;
    let unreadable = |error: WireError| at_fault(&table.name, &error.to_string());
    match format {
        Format::Parquet => {
            let decoded = decode_parquet(table, bytes.clone()).map_err(unreadable)?;
            // Pages, statistics and the writer's words have room for more.
            let is_ours = written_file(&decoded, format).is_ok_and(|file| file == bytes);
            if is_ours {
                Ok(decoded)
            } else {
                Err(at_fault(name, "not the bytes that `anonymize` writes"))
            }
        }
        _ => decode_csv(table, [bytes]).map_err(unreadable),
    }
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, Exit> {
    let read = std::fs::read(folder.join(name));
    Ok(read.with_context(|| format!("{name} cannot be read"))?)
}

fn at_fault(name: &str, what: &str) -> Exit {
    Exit::Input(name.into(), TableError::Read(what.into()))
}
