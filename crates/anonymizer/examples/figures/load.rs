//! Reads a folder of benchmark data: `records.csv`, `preferences.csv` and
//! `hierarchies/*.csv`, and the schema of one of its job files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Cursor};
use std::path::Path;
use std::sync::Arc;

use vizard_anonymizer::microdata::{
    HierarchyFormat, HierarchySet, HierarchySource, Preference, ReadLimits, RecordFormat, Schema,
    SubjectKeys, Table, TableBuilder, Target, read_preferences, read_records,
};

use crate::Failure;

/// A table with its subjects' preferences.
pub struct Data {
    pub table: Table,
    pub preferences: Vec<Preference>,
}

/// Reads the first `limit` records of a folder; `job` is the file that holds
/// the schema.
pub fn load(folder: &Path, job: &str, limit: usize) -> Result<Data, Failure> {
    let spec: serde_json::Value = serde_json::from_str(&fs::read_to_string(folder.join(job))?)?;
    load_as(folder, spec["schema"].clone(), limit)
}

/// The same with the schema itself.
pub fn load_as(folder: &Path, schema: serde_json::Value, limit: usize) -> Result<Data, Failure> {
    let table = records_as(folder, schema, limit)?;
    let hierarchies = hierarchies(folder)?;
    let target = Target {
        schema: table.schema(),
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let preferences = File::open(folder.join("preferences.csv"))?;
    let preferences = read_preferences(BufReader::new(preferences), RecordFormat::Csv, &target)?;
    Ok(Data { table, preferences })
}

/// The records alone, by a schema that the preferences need not fit.
pub fn records_as(
    folder: &Path,
    schema: serde_json::Value,
    limit: usize,
) -> Result<Table, Failure> {
    let schema: Schema = serde_json::from_value(schema)?;
    let hierarchies = hierarchies(folder)?;
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut head = Vec::new();
    for line in BufReader::new(File::open(folder.join("records.csv"))?)
        .lines()
        .take(limit + 1)
    {
        head.extend_from_slice(line?.as_bytes());
        head.push(b'\n');
    }
    let mut builder = TableBuilder::new(Arc::new(schema.clone()), &hierarchies)?;
    let mut spill = Vec::new();
    read_records(
        Cursor::new(head),
        RecordFormat::Csv,
        &target,
        &mut SubjectKeys::new([7; 16], &mut spill),
        &mut |chunk| builder.push(chunk),
    )?;
    Ok(builder.finish()?)
}

fn hierarchies(folder: &Path) -> Result<HierarchySet, Failure> {
    let mut set = BTreeMap::new();
    for entry in fs::read_dir(folder.join("hierarchies"))? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        let name = name.ok_or("a hierarchy has a name")?.to_owned();
        let source = HierarchySource::read(&fs::read(&path)?, HierarchyFormat::Csv)?;
        set.insert(name, source);
    }
    Ok(set)
}
