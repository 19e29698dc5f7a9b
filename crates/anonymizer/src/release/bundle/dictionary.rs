//! The data dictionary: a row for each column of each table.

use std::collections::{BTreeMap, BTreeSet};

use crate::microdata::AttributeType;
use crate::release::columnar::fields_of;
use crate::release::manifest::{ColumnDescription, Manifest, TableDescription};
use crate::release::table::Content;

use super::{attribute_of, hierarchy_file_name};

/// What the schema says of an attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeNote {
    /// What it is to the release (`quasi_identifier`, …).
    pub role: String,
    /// What people call it; empty where the schema does not say.
    pub title: String,
    /// What it says, for people; empty where the schema does not say.
    pub description: String,
}

/// What the schema says of attributes, by name.
pub type AttributeNotes = BTreeMap<String, AttributeNote>;

const HEADER: [&str; 11] = [
    "table",
    "column",
    "what",
    "attribute",
    "title",
    "role",
    "type",
    "description",
    "published",
    "parquet_columns",
    "hierarchy",
];

/// The dictionary as CSV; `hierarchies` are the attributes whose hierarchy is
/// published.
pub fn data_dictionary(
    manifest: &Manifest,
    notes: &AttributeNotes,
    hierarchies: &BTreeSet<String>,
) -> Vec<u8> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    // Writing into memory does not fail.
    let _ = csv.write_record(HEADER);
    for table in &manifest.tables {
        let fields = fields_of(&table.columns);
        for (column, fields) in table.columns.iter().zip(fields) {
            let attribute = attribute_of(column).unwrap_or_default();
            let note = notes.get(attribute).cloned().unwrap_or_default();
            let hierarchy = match (column.kind, hierarchies.contains(attribute)) {
                (Some(AttributeType::Categorical), true) => {
                    format!("hierarchies/{}", hierarchy_file_name(attribute))
                }
                _ => String::new(),
            };
            let _ = csv.write_record([
                table.name.as_str(),
                &column.name,
                what(column.content),
                attribute,
                &note.title,
                &note.role,
                &types(column),
                &note.description,
                &published(table, column, !hierarchy.is_empty()),
                &fields.join(" "),
                &hierarchy,
            ]);
        }
    }
    csv.into_inner().unwrap_or_default()
}

fn what(content: Content) -> &'static str {
    match content {
        Content::Group => "number of the group; rows of one group look the same",
        Content::Block => "number of the block that has the sensitive values",
        Content::Bucket => "number of the bucket that has the value",
        Content::Generalized | Content::Exact => "an attribute",
        Content::Fingerprint => "all values of a person",
        Content::Attribute => "name of an attribute",
        Content::Value => "a value of that attribute",
        Content::Count => "how often it occurs there",
        Content::Counterfeits => "how many values of the block belong to no row",
        Content::Column => "number of the column that the attribute is in",
    }
}

fn word(kind: AttributeType) -> &'static str {
    match kind {
        AttributeType::Integer => "integer",
        AttributeType::Decimal => "decimal",
        AttributeType::Date => "date",
        AttributeType::Categorical => "categorical",
    }
}

fn types(column: &ColumnDescription) -> String {
    if let Some(kind) = column.kind {
        return word(kind).into();
    }
    let types = column.types.iter();
    let types: Vec<String> = types
        .map(|(name, &kind)| format!("{name}: {}", word(kind)))
        .collect();
    types.join(", ")
}

/// How the values of a column are published.
fn published(table: &TableDescription, column: &ColumnDescription, has_tree: bool) -> String {
    let is_number = !matches!(column.kind, None | Some(AttributeType::Categorical));
    let mut said = match column.content {
        Content::Exact => "exact",
        Content::Generalized if is_number => "interval, both ends included",
        Content::Generalized if column.sets => "set: one of these",
        Content::Generalized if has_tree => "node: one of the leaves under it",
        Content::Generalized => "category",
        Content::Fingerprint => "set of nodes: a value under each",
        _ => return String::new(),
    }
    .to_owned();
    let bucket = format!("{}_bucket", column.name);
    let named = table.columns.iter().any(|other| other.name == bucket);
    let others = [
        (column.masked, "masked: any value"),
        (column.missing, "missing"),
        (named, "empty: the value is in its bucket"),
    ];
    for (_, other) in others.iter().filter(|(is_there, _)| *is_there) {
        said += "; or ";
        said += other;
    }
    said
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_column_is_said_to_be_what_it_is() {
        let column = |document: serde_json::Value| -> ColumnDescription {
            serde_json::from_value(document).unwrap()
        };
        let table = TableDescription {
            name: "microdata".into(),
            rows: 1,
            sha256: String::new(),
            columns: vec![
                column(
                    json!({"name": "age", "content": "generalized", "type": "integer",
                    "missing": true}),
                ),
                column(json!({"name": "age_bucket", "content": "bucket"})),
                column(
                    json!({"name": "ward", "content": "generalized", "type": "categorical",
                    "masked": true}),
                ),
            ],
        };
        let said = |at: usize, has_tree| published(&table, &table.columns[at], has_tree);
        assert_eq!(
            said(0, false),
            "interval, both ends included; or missing; or empty: the value is in its bucket"
        );
        assert_eq!(said(1, false), "");
        assert_eq!(
            said(2, true),
            "node: one of the leaves under it; or masked: any value"
        );
        assert_eq!(said(2, false), "category; or masked: any value");
    }
}
