//! What would be published without personal terms: Mondrian's groups of the
//! quasi-identifiers, and Anatomy's buckets of everything that anybody calls
//! sensitive.
//!
//! No engine publishes this, so it is put together from a release of each: the
//! columns of the one, and for every row the buckets in which the other has
//! its subject. A semi-sensitive attribute is sensitive for everyone, since
//! this method does not ask; one with fewer than l values (sex) cannot be, and
//! is generalized with the quasi-identifiers, which hides less than `lgb` does.
//! The tables have the form of those of `lgb`, columns in the same order, so
//! that the same queries are drawn.

use std::path::Path;

use serde_json::{Value, json};
use vizard_anonymizer::microdata::{Role, Table};
use vizard_anonymizer::release::{Cell, Cells, Content, PublishedColumn, PublishedTable, Release};

use super::run_job;
use crate::Failure;
use crate::load::records_as;

/// Puts both releases of the first `records` records of a folder together;
/// `original` is the same records by the schema of the job.
pub fn combined(
    folder: &Path,
    spec: &Value,
    (original, records): (&Table, usize),
) -> Result<Release, Failure> {
    let parameters = &spec["job"]["parameters"];
    let l = parameters["l"].as_u64().ok_or("the job has no l")?;
    let in_buckets = sensitive(original, l as usize);
    let with_role = |role: &str| {
        let mut schema = spec["schema"].clone();
        for attribute in schema["attributes"].as_array_mut().into_iter().flatten() {
            let name = attribute["name"].as_str().unwrap_or_default();
            if in_buckets.iter().any(|other| other == name) {
                attribute["role"] = json!(role);
            } else if attribute["role"] == "semi_sensitive" {
                attribute["role"] = json!("quasi_identifier");
            }
        }
        records_as(folder, schema, records)
    };
    let k = json!({"k": parameters["k"]});
    let groups = run_job(&with_role("identifier")?, &[], ("mondrian", &k))?;
    let l = json!({"l": l});
    let buckets = run_job(&with_role("sensitive")?, &[], ("anatomy", &l))?;
    join(original, &in_buckets, (groups, buckets))
}

/// Names of the attributes that are sensitive for somebody and have l values.
fn sensitive(original: &Table, l: usize) -> Vec<String> {
    let schema = original.schema();
    let of_value = |role| matches!(role, Role::Sensitive | Role::SemiSensitive);
    let chosen = schema.select(|attribute| of_value(attribute.role));
    chosen
        .into_iter()
        .filter(|&at| {
            let column = original.coded(at);
            column.is_some_and(|column| column.domain.len() >= l)
        })
        .map(|at| schema.attribute(at).name.clone())
        .collect()
}

fn join(
    original: &Table,
    in_buckets: &[String],
    (groups, buckets): (Release, Release),
) -> Result<Release, Failure> {
    let microdata = table(&groups, "microdata")?;
    let rows = groups.lineage.of("microdata").ok_or("no lineage")?;
    let quasi = table(&buckets, "quasi")?;
    let mut row_of = vec![0; original.subjects()];
    let listed = buckets.lineage.of("quasi").ok_or("no lineage")?;
    for (row, subject) in listed.iter().enumerate() {
        row_of[subject.at()] = row;
    }
    let mut columns = Vec::new();
    for attribute in original.schema().attributes() {
        if let Some(column) = microdata.column(&attribute.name) {
            columns.push(column.clone());
        } else if in_buckets.contains(&attribute.name) {
            let blocks = quasi.column(&format!("{}_block", attribute.name));
            let Some(Cells::Numbers(blocks)) = blocks.map(|column| &column.cells) else {
                return Err("an attribute has no blocks".into());
            };
            let numbers = rows.iter().map(|subject| blocks[row_of[subject.at()]]);
            columns.push(PublishedColumn {
                name: attribute.name.clone(),
                content: Content::Generalized,
                kind: attribute.kind,
                cells: Cells::Dictionary {
                    codes: vec![0; rows.len()].into(),
                    cells: vec![Cell::Empty],
                },
            });
            columns.push(PublishedColumn {
                name: format!("{}_bucket", attribute.name),
                content: Content::Bucket,
                kind: None,
                cells: Cells::Numbers(numbers.collect()),
            });
        }
    }
    let microdata = PublishedTable {
        name: "microdata".into(),
        columns,
    };
    let tables = vec![microdata, as_buckets(table(&buckets, "sensitive")?.clone())];
    Ok(Release { tables, ..groups })
}

fn table<'a>(release: &'a Release, name: &str) -> Result<&'a PublishedTable, Failure> {
    let found = release.tables.iter().find(|table| table.name == name);
    Ok(found.ok_or("a table is missing")?)
}

/// The table `sensitive` by the name that `lgb` has for its like.
fn as_buckets(mut table: PublishedTable) -> PublishedTable {
    table.name = "buckets".into();
    for column in &mut table.columns {
        if column.content == Content::Block {
            column.name = "bucket".into();
            column.content = Content::Bucket;
        }
    }
    table
}
