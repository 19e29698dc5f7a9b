//! Reading what the offline commands work on: specification, records,
//! preferences and hierarchies, from files.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use rand::TryRng;
use rand::rngs::SysRng;
use vizard_anonymizer::catalog::{Assignment, Engine};
use vizard_anonymizer::microdata::{
    COMBINATIONS_MAX, DEFAULT_KEY_RULES, HierarchyFormat, HierarchySet, HierarchySource,
    PartsSummary, PopulationTable, Preference, ReadLimits, ReadSummary, RecordFormat, Schema, Sink,
    SubjectKeys, Table, TableBuilder, TableError, Target, read_parquet_records, read_preferences,
    read_records, repeated_member,
};
use vizard_anonymizer::privacy::{Seed, Transformation};
use vizard_anonymizer::release::{InputDescription, ReleaseHierarchy};
use vizard_anonymizer::verify::{AtOnce, MovedDates, reruns};

use super::exit::Exit;
use super::parts::read_joined;
use crate::job::{NAME_CHARACTERS_MAX, OfflineSpec, job_name};

/// Files that the offline commands read.
#[derive(Args, Clone, Debug)]
pub struct InputOptions {
    /// Schema and job: `{"schema": {…}, "job": {"engine": …, "parameters": …}}`,
    /// and `hierarchies` by name, as JSON
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// The records, as CSV, NDJSON or Parquet; named several times, tables about
    /// one subject that are joined by its key, as CSV or NDJSON
    #[arg(long, value_name = "[TABLE=]FILE", required = true)]
    records: Vec<PathBuf>,
    /// Which table gives which attribute, as JSON; `fhir` and `omop` are part of the
    /// program. Without it the header of each file says so
    #[arg(long, value_name = "FILE|fhir|omop")]
    mapping: Option<PathBuf>,
    /// The subjects' preferences, as CSV or NDJSON
    #[arg(long, value_name = "FILE")]
    preferences: Option<PathBuf>,
    /// A hierarchy, as CSV or JSON, in the place of the specification's; those
    /// that no attribute names are ignored
    #[arg(long = "hierarchy", value_name = "NAME=FILE")]
    hierarchies: Vec<NamedFile>,
    /// Those among whom the people could be, as CSV in the records' dialect: some of
    /// the quasi-identifiers, and `count` where a line stands for several people
    #[arg(long = "population", value_name = "FILE")]
    population_table: Option<PathBuf>,
}

/// `NAME=FILE`.
#[derive(Clone, Debug)]
struct NamedFile {
    name: String,
    path: PathBuf,
}

impl FromStr for NamedFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, path) = text.split_once('=').ok_or("must be NAME=FILE")?;
        Ok(Self {
            name: name.into(),
            path: path.into(),
        })
    }
}

/// What the records' files brought, and each table of them where they are joined.
type Brought = (ReadSummary, Option<PartsSummary>);

/// What was read.
pub struct Input {
    /// Schema and job.
    pub spec: OfflineSpec,
    /// The records.
    pub table: Table,
    /// What was read of the records' files.
    pub summary: ReadSummary,
    /// What each table brought, where several are joined.
    pub parts: Option<PartsSummary>,
    /// The subjects' preferences.
    pub preferences: Vec<Preference>,
    /// Among whom the people could be, where that was given.
    pub population_table: Option<PopulationTable>,
    /// The hierarchies of what is published.
    pub hierarchies: Vec<ReleaseHierarchy>,
}

impl Input {
    /// What a run of an engine works on, verified and measured.
    pub fn assignment<'a>(&'a self, engine: &'a Engine, reproducible_seed: bool) -> Assignment<'a> {
        let job = &self.spec.job;
        Assignment {
            table: &self.table,
            preferences: &self.preferences,
            engine,
            input: self.description(),
            history: None,
            public: &[],
            suppressed: self.summary.dropped,
            reproducible_seed,
            accept_exact: &job.accept_exact,
            queries: job.report.queries,
            fit: job.report.fit.as_ref(),
            population_table: self.population_table.as_ref(),
            reruns: reruns(self.table.subjects()),
            keeps_shown: false,
            rows_at_once: AtOnce::ROWS,
            verify: true,
            report: true,
        }
    }

    /// What a manifest says about it: offline there is one version, and the
    /// schema's name is the dataset's.
    pub fn description(&self) -> InputDescription {
        InputDescription {
            dataset: self.table.schema().name().into(),
            version: 1,
            series: None,
        }
    }
}

impl InputOptions {
    /// Records, and the specification with their schema.
    pub fn of(records: PathBuf, spec: Option<PathBuf>) -> Self {
        Self {
            spec,
            records: vec![records],
            mapping: None,
            preferences: None,
            hierarchies: Vec::new(),
            population_table: None,
        }
    }

    /// The file of the records; `None` where they are joined from tables.
    pub fn records_path(&self) -> Option<&Path> {
        match (&self.records[..], &self.mapping) {
            ([one], None) => Some(one),
            _ => None,
        }
    }

    /// What the files of the records are called: each with its number, where
    /// there are several.
    pub fn records_name(&self) -> String {
        if let [one] = &self.records[..] {
            return one.display().to_string();
        }
        let files = (1..).zip(&self.records);
        let files = files.map(|(part, path)| format!("part {part}: {}", path.display()));
        files.collect::<Vec<_>>().join(", ")
    }

    /// Names and contents of the hierarchies that are named beside the specification.
    pub fn hierarchy_files(&self) -> Result<Vec<(String, Vec<u8>)>, Exit> {
        let files = self.hierarchies.iter();
        files
            .map(|file| Ok((file.name.clone(), read(&file.path)?)))
            .collect()
    }

    /// Reads with the specification in this file.
    pub fn take_spec(&mut self, path: PathBuf) {
        self.spec = Some(path);
    }

    /// Whether a file is one of those that are read, under whatever name.
    pub fn reads(&self, path: &Path) -> bool {
        let id = |path: &Path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.dev(), metadata.ino()))
        };
        let Some(asked) = id(path) else {
            return false;
        };
        let hierarchies = self.hierarchies.iter().map(|file| &file.path);
        // Behind the name of a table stands a file as well.
        let named = self.records.iter().filter_map(|given| {
            let (_, path) = given.to_str()?.split_once('=')?;
            Some(PathBuf::from(path))
        });
        let named: Vec<PathBuf> = named.collect();
        let mut files = (self.records.iter())
            .chain(&named)
            .chain(&self.mapping)
            .chain(&self.spec)
            .chain(&self.preferences)
            .chain(&self.population_table)
            .chain(hierarchies);
        files.any(|file| id(file) == Some(asked))
    }

    /// Reads all other files as the specification says; dates are moved by the
    /// dataset's secret.
    pub fn read(
        &self,
        (spec, hierarchies): (OfflineSpec, HierarchySet),
        dataset_secret: &Seed,
    ) -> Result<Input, Exit> {
        let transformation = Transformation::new(&spec.schema, dataset_secret);
        let (table, (summary, parts)) = self.read_records(&spec, &hierarchies, &transformation)?;
        let preferences = self.read_preferences(&spec, &hierarchies)?;
        let population_table = self.read_population_table(&spec.schema)?;
        Ok(Input {
            hierarchies: ReleaseHierarchy::of(table.schema(), &hierarchies),
            spec,
            table,
            summary,
            parts,
            preferences,
            population_table,
        })
    }

    /// Reads the population table, if one is named.
    pub fn read_population_table(&self, schema: &Schema) -> Result<Option<PopulationTable>, Exit> {
        let Some(path) = &self.population_table else {
            return Ok(None);
        };
        let limits = ReadLimits::of_own_files();
        let read = PopulationTable::read(open(path)?, schema, &limits, COMBINATIONS_MAX);
        let read = read.map_err(|error| Exit::Input(path.display().to_string(), error));
        Ok(Some(read?.transformed(schema)))
    }

    /// Reads the specification and its hierarchies.
    pub fn read_spec(&self) -> Result<(OfflineSpec, HierarchySet), Exit> {
        let Some(path) = &self.spec else {
            return Err(Exit::Usage(
                "--spec FILE is needed: schema and job; vizard anonymize --purpose PURPOSE \
                 proposes one"
                    .into(),
            ));
        };
        let spec = read(path)?;
        let unfit =
            |what: String| Exit::Input(path.display().to_string(), TableError::Schema(what));
        if let Some(name) = repeated_member(&spec) {
            return Err(unfit(format!(
                "the member `{name}` stands twice in one object"
            )));
        }
        let mut spec: OfflineSpec =
            serde_json::from_slice(&spec).map_err(|error| unfit(error.to_string()))?;
        if let Some(name) = &spec.job.name {
            let named = job_name(name);
            spec.job.name = Some(named.ok_or_else(|| {
                unfit(format!(
                    "the job's name has 1 to {NAME_CHARACTERS_MAX} characters, and none that \
                     controls or turns text"
                ))
            })?);
        }
        // As the service does for a new dataset.
        spec.schema = spec.schema.or_key_rules(&DEFAULT_KEY_RULES);
        let hierarchies = self.read_hierarchies(path, &spec)?;
        Ok((spec, hierarchies))
    }

    fn read_hierarchies(&self, path: &Path, spec: &OfflineSpec) -> Result<HierarchySet, Exit> {
        let mut set = HierarchySet::new();
        for (name, document) in &spec.hierarchies {
            let text = document.to_string();
            let source = HierarchySource::read(text.as_bytes(), HierarchyFormat::Json);
            let place = || format!("{}, hierarchy `{name}`", path.display());
            let source = source.map_err(|error| Exit::Input(place(), error))?;
            set.insert(name.clone(), source);
        }
        let named = |name: &str| {
            spec.schema
                .attributes()
                .iter()
                .any(|attribute| attribute.hierarchy.as_deref() == Some(name))
        };
        for file in self.hierarchies.iter().filter(|file| named(&file.name)) {
            set.insert(file.name.clone(), read_hierarchy(&file.path)?);
        }
        Ok(set)
    }

    fn read_preferences(
        &self,
        spec: &OfflineSpec,
        hierarchies: &HierarchySet,
    ) -> Result<Vec<Preference>, Exit> {
        let Some(path) = &self.preferences else {
            return Ok(Vec::new());
        };
        if spec.schema.has_row_keys() {
            return Err(Exit::Usage(
                "--preferences name people by their key, and a number of a row is nobody's for good: \
                 add a column with a number of each person"
                    .into(),
            ));
        }
        let target = Target {
            schema: &spec.schema,
            hierarchies,
            limits: ReadLimits::of_own_files(),
        };
        read_preferences(open(path)?, format_of(path), &target)
            .map_err(|error| Exit::Input(path.display().to_string(), error))
    }

    fn read_records(
        &self,
        spec: &OfflineSpec,
        hierarchies: &HierarchySet,
        transformation: &Transformation,
    ) -> Result<(Table, Brought), Exit> {
        let at_fault = |error| Exit::Input(self.records_name(), error);
        let schema = Arc::clone(transformation.schema());
        let mut builder = TableBuilder::new(schema, hierarchies).map_err(at_fault)?;
        let mut moved = MovedDates::new(&spec.schema);
        let mut push = |chunk| builder.push(moved.made(transformation, chunk));
        let brought = self.read_chunks(&spec.schema, hierarchies, &mut push)?;
        moved.check().map_err(at_fault)?;
        Ok((builder.finish().map_err(at_fault)?, brought))
    }

    /// Reads the records chunk by chunk.
    pub fn read_chunks(
        &self,
        schema: &Schema,
        hierarchies: &HierarchySet,
        sink: &mut Sink<'_>,
    ) -> Result<Brought, Exit> {
        let target = Target {
            schema,
            hierarchies,
            limits: ReadLimits::of_own_files(),
        };
        let Some(path) = self.records_path() else {
            let (mapping, source) = (self.mapping.as_deref(), self.records_name());
            let (summary, parts) = read_joined(&self.records, mapping, source, &target, sink)?;
            return Ok((summary, Some(parts)));
        };
        // Who reads needs a table in memory as a whole, so its subjects may be
        // as well.
        let mut spill = Vec::new();
        let mut subjects = SubjectKeys::new(hash_key()?, &mut spill);
        let file = open(path)?;
        let summary = if has_extension(path, "parquet") {
            let mut room = Vec::new();
            read_parquet_records(file, &target, &mut room, &mut subjects, sink)
        } else {
            read_records(file, format_of(path), &target, &mut subjects, sink)
        };
        let at_fault = |error| Exit::Input(self.records_name(), error);
        Ok((summary.map_err(at_fault)?, None))
    }
}

/// A secret key for the hashes of subjects, so that nobody can make two collide.
pub fn hash_key() -> Result<[u8; 16], Exit> {
    let mut key = [0; 16];
    SysRng
        .try_fill_bytes(&mut key)
        .context("the operating system gives no random numbers")?;
    Ok(key)
}

/// The form of a file, by its name.
pub fn format_of(path: &Path) -> RecordFormat {
    if has_extension(path, "ndjson") || has_extension(path, "jsonl") {
        RecordFormat::Ndjson
    } else {
        RecordFormat::Csv
    }
}

/// Opens a file. A pipe would wait for ever for somebody who writes, and a
/// device may never end.
pub fn open(path: &Path) -> Result<File, Exit> {
    let cannot = || format!("{} cannot be opened", path.display());
    let is_file = std::fs::metadata(path).with_context(cannot)?.is_file();
    if is_file {
        Ok(File::open(path).with_context(cannot)?)
    } else {
        let what = TableError::Read("is no plain file".into());
        Err(Exit::Input(path.display().to_string(), what))
    }
}

/// The hierarchy in a file, as CSV, or as JSON where its name says so.
pub fn read_hierarchy(path: &Path) -> Result<HierarchySource, Exit> {
    let format = if has_extension(path, "json") {
        HierarchyFormat::Json
    } else {
        HierarchyFormat::Csv
    };
    HierarchySource::read(&read(path)?, format)
        .map_err(|error| Exit::Input(path.display().to_string(), error))
}

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, Exit> {
    let mut bytes = Vec::new();
    let read = open(path)?.read_to_end(&mut bytes);
    read.with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(bytes)
}

/// Whether a file's name ends so.
pub fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}
