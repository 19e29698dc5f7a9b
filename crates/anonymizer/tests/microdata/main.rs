//! Reading records and building tables, from outside the crate: random tables
//! in every form, a stream longer than the memory it may take, and the data
//! sets that stand beside the project, where they do.

#[path = "../common/mod.rs"]
mod common;
mod dialects;
mod forms;
mod hostile_parquet;
mod parquet_types;
mod same_digest;
mod shared_data;
mod stream;
mod subject_keys;

use std::sync::Arc;

use vizard_anonymizer::microdata::{
    Code, HierarchySet, ReadLimits, ReadSummary, RecordFormat, RecordIndex, Schema, Sink,
    SubjectKeys, Table, TableBuilder, TableError, Target, read_records,
};

/// Reads records and hands their chunks to `sink`.
fn read(
    schema: &Schema,
    hierarchies: &HierarchySet,
    format: RecordFormat,
    input: impl std::io::Read,
    sink: &mut Sink<'_>,
) -> Result<ReadSummary, TableError> {
    let target = Target {
        schema,
        hierarchies,
        limits: ReadLimits::default(),
    };
    let mut room = Vec::new();
    let mut subjects = SubjectKeys::new(*b"a key of 16 byte", &mut room);
    read_records(input, format, &target, &mut subjects, sink)
}

/// Reads records and builds their table.
fn build(
    schema: &Schema,
    hierarchies: &HierarchySet,
    format: RecordFormat,
    input: impl std::io::Read,
) -> Result<(Table, ReadSummary), TableError> {
    let mut builder = TableBuilder::new(Arc::new(schema.clone()), hierarchies)?;
    let mut sink = |chunk| builder.push(chunk);
    let summary = read(schema, hierarchies, format, input, &mut sink)?;
    Ok((builder.finish()?, summary))
}

/// The published texts of a table, record by record, behind the subject.
fn rows(table: &Table) -> Vec<Vec<String>> {
    let records = (0..table.records()).map(RecordIndex::from_usize);
    let publishable = table.schema().publishable();
    records
        .map(|record| {
            let subject = table.subject_keys().get(table.subject_of(record).at());
            let cells = publishable.iter().map(|&attribute| {
                let column = table
                    .coded(attribute)
                    .expect("published attributes are coded");
                column.domain.text(column.code(record))
            });
            std::iter::once(subject.to_owned()).chain(cells).collect()
        })
        .collect()
}

/// The texts of an attribute's domain in order.
fn domain(table: &Table, name: &str) -> Vec<String> {
    let attribute = table.schema().find(name).expect("the attribute exists");
    let column = table.coded(attribute).expect("the attribute is published");
    let codes = (0..column.domain.len()).map(Code::from_usize);
    codes.map(|code| column.domain.text(code)).collect()
}
