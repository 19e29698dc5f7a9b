//! The data sets that may stand beside the project (`../shared/data`): every
//! hierarchy can be read, and every file of records builds its table under
//! each of its specifications. Where they are absent there is nothing to do.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vizard_anonymizer::microdata::{
    HierarchyFormat, HierarchySet, HierarchySource, Multiplicity, ReadLimits, RecordFormat, Schema,
    TableBuilder, Target, decode_chunk, encode_chunk, read_preferences,
};

use super::{build, read, rows};

/// The entries of a folder with an ending, in order; none where it is absent.
fn entries(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().unwrap_or_default() == ending)
        .collect();
    paths.sort();
    paths
}

/// The folders of data sets.
fn folders() -> Vec<PathBuf> {
    entries(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        "",
    )
}

fn name(path: &Path) -> String {
    let stem = path.file_stem().expect("a file has a name");
    stem.to_str().expect("names are UTF-8").to_owned()
}

fn hierarchies(folder: &Path) -> HierarchySet {
    let paths = entries(&folder.join("hierarchies"), "csv").into_iter();
    paths
        .map(|path| {
            let content = fs::read(&path).expect("the file can be read");
            let source = HierarchySource::read(&content, HierarchyFormat::Csv);
            (
                name(&path),
                source.unwrap_or_else(|error| panic!("{}: {error}", path.display())),
            )
        })
        .collect()
}

/// The distinct schemas of a folder's specifications.
fn schemas(folder: &Path) -> Vec<Schema> {
    let mut schemas: Vec<Schema> = Vec::new();
    for path in entries(folder, "json") {
        let content = fs::read(&path).expect("the file can be read");
        let mut spec: serde_json::Value = serde_json::from_slice(&content).expect("JSON");
        let schema = serde_json::from_value(spec["schema"].take());
        let schema = schema.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if !schemas.contains(&schema) {
            schemas.push(schema);
        }
    }
    schemas
}

#[test]
fn every_hierarchy_is_read_and_has_leaves() {
    for folder in folders() {
        let hierarchies = hierarchies(&folder);
        assert!(!hierarchies.is_empty(), "{}", folder.display());
        assert!(hierarchies.values().all(|source| source.leaf_count() > 0));
    }
}

#[test]
fn every_file_of_records_builds_its_table_under_each_schema() {
    for folder in folders() {
        let hierarchies = hierarchies(&folder);
        let content = fs::read(folder.join("records.csv")).expect("records");
        let lines = content.iter().filter(|&&byte| byte == b'\n').count();
        for schema in schemas(&folder) {
            let place = folder.display();
            let built = build(&schema, &hierarchies, RecordFormat::Csv, &content[..]);
            let (table, summary) = built.unwrap_or_else(|error| panic!("{place}: {error}"));
            assert_eq!(summary.records, lines as u64 - 1, "{place}");
            assert_eq!(table.records(), lines - 1, "{place}");
            if schema.multiplicity() == Multiplicity::One {
                assert_eq!(table.subjects(), table.records(), "{place}");
            }
        }
    }
}

#[test]
fn stored_chunks_build_the_table_that_was_read() {
    for folder in folders()
        .into_iter()
        .filter(|folder| !folder.ends_with("acs500k"))
    {
        let hierarchies = hierarchies(&folder);
        let Some(schema) = schemas(&folder).into_iter().next() else {
            continue;
        };
        let records = || File::open(folder.join("records.csv")).expect("records");
        let (table, _) = build(&schema, &hierarchies, RecordFormat::Csv, records()).expect("sound");
        let mut builder = TableBuilder::new(Arc::new(schema.clone()), &hierarchies).expect("sound");
        let mut sink = |chunk| {
            let bytes = encode_chunk(&chunk)?;
            builder.push(decode_chunk(bytes, &schema)?)
        };
        read(
            &schema,
            &hierarchies,
            RecordFormat::Csv,
            records(),
            &mut sink,
        )
        .expect("sound");
        assert!(rows(&builder.finish().expect("sound")) == rows(&table));
    }
}

#[test]
fn every_file_of_preferences_is_read_under_the_schema_it_was_made_for() {
    for folder in folders() {
        let hierarchies = hierarchies(&folder);
        // Other schemas of a folder may call the same attributes otherwise.
        let Some(schema) = schemas(&folder).into_iter().next() else {
            continue;
        };
        let target = Target {
            schema: &schema,
            hierarchies: &hierarchies,
            limits: ReadLimits::default(),
        };
        let content = fs::read(folder.join("preferences.csv")).expect("preferences");
        let lines = content.iter().filter(|&&byte| byte == b'\n').count();
        let preferences = read_preferences(&content[..], RecordFormat::Csv, &target);
        let preferences =
            preferences.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        assert_eq!(preferences.len(), lines - 1, "{}", folder.display());
    }
}
