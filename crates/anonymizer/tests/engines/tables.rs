//! Small tables written down as text.

use std::io::Cursor;
use std::sync::Arc;

use serde_json::Value;
use vizard_anonymizer::microdata::{
    HierarchyFormat, HierarchySet, HierarchySource, Preference, ReadLimits, RecordFormat, Schema,
    SubjectKeys, Table, TableBuilder, Target, read_records,
};

/// Reads a table from its schema, its hierarchies by name (CSV, or JSON where
/// they begin with a brace) and its records (CSV).
pub fn table(schema: Value, hierarchies: &[(&str, &str)], records: &str) -> Table {
    let schema: Schema = serde_json::from_value(schema).expect("the schema is sound");
    let hierarchies: HierarchySet = hierarchies
        .iter()
        .map(|(name, text)| {
            let format = if text.starts_with('{') {
                HierarchyFormat::Json
            } else {
                HierarchyFormat::Csv
            };
            let source = HierarchySource::read(text.as_bytes(), format);
            ((*name).into(), source.expect("the hierarchy is sound"))
        })
        .collect();
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut builder =
        TableBuilder::new(Arc::new(schema.clone()), &hierarchies).expect("hierarchies are known");
    let mut spill = Vec::new();
    let read = read_records(
        Cursor::new(records),
        RecordFormat::Csv,
        &target,
        &mut SubjectKeys::new([7; 16], &mut spill),
        &mut |chunk| builder.push(chunk),
    );
    read.expect("the records are sound");
    builder.finish().expect("the chunks fit")
}

/// Preferences from their documents.
pub fn preferences(documents: Value) -> Vec<Preference> {
    serde_json::from_value(documents).expect("the preferences are sound")
}
