//! Records in several files: which table each is, and how they are joined.

use std::fs::File;
use std::path::{Path, PathBuf};

use vizard_anonymizer::microdata::{
    Mapping, Part, Parts, PartsSummary, ReadSummary, Sink, Spill, SubjectKeys, TableError, Target,
    read_parts,
};

use super::exit::Exit;
use super::input::{InputOptions, format_of, has_extension, hash_key, open, read};
use crate::spill_file::SpillFile;

/// The mapping of a file, or one that is part of the program, by its name.
pub fn read_mapping(named: &Path) -> Result<Mapping, Exit> {
    let shipped = named.to_str().and_then(Mapping::shipped);
    match shipped {
        Some(mapping) => Ok(mapping),
        None => Mapping::read(&read(named)?)
            .map_err(|error| Exit::Input(named.display().to_string(), error)),
    }
}

/// A file, and the table that it is where one is named.
struct NamedPart {
    table: Option<String>,
    path: PathBuf,
}

impl NamedPart {
    /// `TABLE=FILE` where the mapping has that table, otherwise a file whose
    /// name is the table's.
    fn of(given: &Path, mapping: Option<&Mapping>) -> Self {
        let names = |table: &str| mapping.is_some_and(|mapping| mapping.names(table));
        let text = given.to_str().and_then(|text| text.split_once('='));
        if let Some((table, path)) = text.filter(|(table, _)| names(table)) {
            return Self {
                table: Some(table.into()),
                path: path.into(),
            };
        }
        let stem = given.file_stem().and_then(|stem| stem.to_str());
        Self {
            table: stem.filter(|stem| names(stem)).map(str::to_owned),
            path: given.into(),
        }
    }
}

/// Files that are read one after the other.
struct Files {
    parts: Vec<NamedPart>,
    next: usize,
    file: Option<File>,
    /// Why a file could not be opened.
    failure: Option<Exit>,
}

impl Parts for Files {
    fn next_part(&mut self) -> Result<Option<Part<'_>>, TableError> {
        let at = self.next;
        self.next += 1;
        let Some(part) = self.parts.get(at) else {
            return Ok(None);
        };
        match open(&part.path) {
            Ok(file) => Ok(Some(Part {
                name: part.table.as_deref(),
                format: format_of(&part.path),
                input: self.file.insert(file),
            })),
            Err(failure) => {
                self.failure = Some(failure);
                Err(TableError::Read("a file cannot be opened".into()))
            }
        }
    }
}

/// Joins the records of several files; `source` is what they are called.
pub fn read_joined(
    given: &[PathBuf],
    mapping: Option<&Path>,
    source: String,
    target: &Target<'_>,
    sink: &mut Sink<'_>,
) -> Result<(ReadSummary, PartsSummary), Exit> {
    let mapping = mapping.map(read_mapping).transpose()?;
    let mut files = Files {
        parts: given
            .iter()
            .map(|path| NamedPart::of(path, mapping.as_ref()))
            .collect(),
        next: 0,
        file: None,
        failure: None,
    };
    if files
        .parts
        .iter()
        .any(|part| has_extension(&part.path, "parquet"))
    {
        return Err(Exit::Usage(
            "tables that are joined are CSV or NDJSON; write the Parquet file as CSV".into(),
        ));
    }
    let mut room = SpillFile::new()?;
    let mut keys = Vec::new();
    let mut subjects = SubjectKeys::new(hash_key()?, &mut keys);
    let rooms = (target, &mut room as &mut dyn Spill);
    let read = read_parts(&mut files, mapping.as_ref(), rooms, &mut subjects, sink);
    if let Some(failure) = files.failure {
        return Err(failure);
    }
    read.map_err(|error| Exit::Input(source, error))
}

/// Refuses tables of which many rows are left out, unless that is meant.
pub fn refuse_unknown(
    input: &InputOptions,
    parts: &PartsSummary,
    allow_loss: bool,
) -> Result<(), Exit> {
    match parts.loses_many().filter(|_| !allow_loss) {
        None => Ok(()),
        Some(table) => Err(Exit::NoTable(
            input.records_name(),
            format!(
                "{} of {} rows of `{}` are of unknown subjects and would be left out; are the keys \
                 written in two ways? Mend them, or say --allow-loss where this is meant",
                table.unknown_subjects, table.rows, table.table
            ),
        )),
    }
}

/// Says on standard error which tables have rows that are not counted.
pub fn warn_of_unknown(parts: &PartsSummary) {
    for table in parts.tables.iter().filter(|one| one.unknown_subjects > 0) {
        eprintln!(
            "{}: {} of {} rows are of unknown subjects, and left out",
            table.table, table.unknown_subjects, table.rows
        );
    }
}

/// What the parts brought, for people.
pub fn tell_parts(parts: &PartsSummary) {
    for table in &parts.tables {
        print!("{}: {} rows", table.table, table.rows);
        match table.unknown_subjects {
            0 => println!(),
            unknown => println!(", {unknown} of unknown subjects left out"),
        }
    }
    for (kind, count) in &parts.other_resources {
        println!("not mapped: {count} of {kind}");
    }
}
