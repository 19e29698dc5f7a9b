//! The tables and columns that a release must have: none missing, none
//! extra, in order, of the right content and type, as long as the manifest
//! says, all columns of a table equally long.
//!
//! Expected (releases.md) of blocks that are listed (`arp`, `aip`, `anatomy`):
//! `quasi` with `block` (with several sensitive attributes `<a>_block` for
//! each), then every quasi-identifier and insensitive attribute in schema
//! order; and `sensitive`. Of `one_to_many` and `rmr`: `persons` with `group`
//! and every quasi-identifier and sensitive attribute in schema order. Of
//! `lgb`: `microdata` with `group`, every attribute but the
//! identifiers in schema order and, with `bucket_link: "row"`, `<a>_bucket`
//! behind each semi-sensitive or sensitive attribute; `buckets`; and with
//! `bucket_link: "group"` also `group_buckets`.

use crate::microdata::{AttributeIndex, AttributeType, Role, Schema};
use crate::release::{
    Cells, ColumnDescription, Content, PublishedColumn, PublishedTable, TableDescription,
};

use super::evidence::Evidence;
use super::meaning::dictionary;
use super::verdict::{Check, Failures};

// The names are stated here once more on purpose: what the verifier expects
// must not follow a mistake in `release::layout`.

/// Name of the table with one row a record.
pub(super) const MICRODATA: &str = "microdata";
/// Name of the table with one row a subject of 1:M data.
pub(super) const PERSONS: &str = "persons";
/// Name of the table with exact quasi-identifiers and the number of a block.
pub(super) const QUASI: &str = "quasi";
/// Name of the table of block contents.
pub(super) const SENSITIVE: &str = "sensitive";
/// Name of the table whose columns are permuted inside buckets.
pub(super) const SLICED: &str = "sliced";
/// Name of the table that says which of its attributes form a column.
pub(super) const COLUMNS: &str = "columns";
/// Name of the table of bucket contents.
pub(super) const BUCKETS: &str = "buckets";
/// Name of the table that links groups with buckets.
pub(super) const GROUP_BUCKETS: &str = "group_buckets";
/// What follows the name of an attribute that appears for the second time.
pub(super) const SECOND_SUFFIX: &str = "@2";

/// A column that a table must have.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExpectedColumn {
    pub(super) name: String,
    pub(super) content: Content,
    pub(super) kind: Option<AttributeType>,
}

/// A table that a release must have.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExpectedTable {
    pub(super) name: &'static str,
    pub(super) columns: Vec<ExpectedColumn>,
}

/// Whether rows name groups' buckets (`bucket_link: "group"`), not their own.
pub(super) fn links_groups(evidence: &Evidence) -> bool {
    let link = evidence.ordered.parameters.get("bucket_link");
    link.and_then(serde_json::Value::as_str) == Some("group")
}

/// The tables that an lgb release of this schema must have, in order.
pub(super) fn expected(schema: &Schema, links_groups: bool) -> Vec<ExpectedTable> {
    let column = |name: &str, content, kind| ExpectedColumn {
        name: name.to_owned(),
        content,
        kind,
    };
    let mut microdata = vec![column("group", Content::Group, None)];
    for index in schema.publishable() {
        let attribute = schema.attribute(index);
        let content = match attribute.role {
            Role::Insensitive => Content::Exact,
            _ => Content::Generalized,
        };
        microdata.push(column(&attribute.name, content, attribute.kind));
        if attribute.is_protectable() && !links_groups {
            let name = format!("{}_bucket", attribute.name);
            microdata.push(column(&name, Content::Bucket, None));
        }
    }
    let buckets = vec![
        column("attribute", Content::Attribute, None),
        column("bucket", Content::Bucket, None),
        column("value", Content::Value, None),
        column("count", Content::Count, None),
    ];
    let group_buckets = vec![
        column("group", Content::Group, None),
        column("attribute", Content::Attribute, None),
        column("bucket", Content::Bucket, None),
        column("count", Content::Count, None),
    ];
    let mut tables = vec![
        ExpectedTable {
            name: MICRODATA,
            columns: microdata,
        },
        ExpectedTable {
            name: BUCKETS,
            columns: buckets,
        },
    ];
    if links_groups {
        tables.push(ExpectedTable {
            name: GROUP_BUCKETS,
            columns: group_buckets,
        });
    }
    tables
}

/// The table of a release without buckets, whose sensitive values are
/// published as `sensitive`: `microdata` with `group` and every attribute but
/// the identifiers in schema order.
pub(super) fn expected_microdata(schema: &Schema, sensitive: Content) -> [ExpectedTable; 1] {
    let mut columns = vec![ExpectedColumn {
        name: "group".to_owned(),
        content: Content::Group,
        kind: None,
    }];
    columns.extend(schema.publishable().into_iter().map(|index| {
        let attribute = schema.attribute(index);
        ExpectedColumn {
            name: attribute.name.clone(),
            content: match attribute.role {
                Role::Insensitive => Content::Exact,
                Role::Sensitive => sensitive,
                _ => Content::Generalized,
            },
            kind: attribute.kind,
        }
    }));
    [ExpectedTable {
        name: MICRODATA,
        columns,
    }]
}

/// The table that a release of persons of this schema must have.
pub(super) fn expected_persons(schema: &Schema) -> [ExpectedTable; 1] {
    let mut columns = vec![ExpectedColumn {
        name: "group".to_owned(),
        content: Content::Group,
        kind: None,
    }];
    for attribute in schema.attributes() {
        let (content, kind) = match attribute.role {
            Role::QuasiIdentifier => (Content::Generalized, attribute.kind),
            Role::Sensitive => (Content::Fingerprint, Some(AttributeType::Categorical)),
            Role::Identifier | Role::SemiSensitive | Role::Insensitive | Role::Ignore => continue,
        };
        columns.push(ExpectedColumn {
            name: attribute.name.clone(),
            content,
            kind,
        });
    }
    [ExpectedTable {
        name: PERSONS,
        columns,
    }]
}

/// The tables that a sliced release must have: attributes that are generalized
/// over buckets, and those of each column.
pub(super) fn expected_sliced(
    schema: &Schema,
    generalized: &[AttributeIndex],
    columns: &[Vec<AttributeIndex>],
) -> [ExpectedTable; 2] {
    let column = |name: String, content, kind| ExpectedColumn {
        name,
        content,
        kind,
    };
    let mut sliced = vec![column("bucket".into(), Content::Bucket, None)];
    for &at in generalized {
        let attribute = schema.attribute(at);
        sliced.push(column(
            attribute.name.clone(),
            Content::Generalized,
            attribute.kind,
        ));
    }
    let mut seen: Vec<AttributeIndex> = Vec::new();
    for &at in columns.iter().flatten() {
        let attribute = schema.attribute(at);
        let name = if seen.contains(&at) {
            format!("{}{SECOND_SUFFIX}", attribute.name)
        } else {
            attribute.name.clone()
        };
        seen.push(at);
        sliced.push(column(name, Content::Exact, attribute.kind));
    }
    let columns = vec![
        column("column".into(), Content::Column, None),
        column("attribute".into(), Content::Attribute, None),
    ];
    [
        ExpectedTable {
            name: SLICED,
            columns: sliced,
        },
        ExpectedTable {
            name: COLUMNS,
            columns,
        },
    ]
}

/// The tables that blocks of these sensitive attributes must have when they
/// are listed, in order; with the number of counterfeits where a series keeps
/// sets of values.
pub(super) fn expected_listed(
    schema: &Schema,
    sensitive: &[AttributeIndex],
    keeps_sets: bool,
) -> [ExpectedTable; 2] {
    let column = |name: &str, content, kind| ExpectedColumn {
        name: name.to_owned(),
        content,
        kind,
    };
    let number = |&index: &AttributeIndex| match sensitive.len() {
        1 => column("block", Content::Block, None),
        _ => {
            let name = format!("{}_block", schema.attribute(index).name);
            column(&name, Content::Block, None)
        }
    };
    let mut columns: Vec<ExpectedColumn> = sensitive.iter().map(number).collect();
    for attribute in schema.attributes() {
        if matches!(attribute.role, Role::QuasiIdentifier | Role::Insensitive) {
            columns.push(column(&attribute.name, Content::Exact, attribute.kind));
        }
    }
    let mut contents = vec![
        column("block", Content::Block, None),
        column("attribute", Content::Attribute, None),
        column("value", Content::Value, None),
        column("count", Content::Count, None),
    ];
    if keeps_sets {
        contents.push(column("counterfeits", Content::Counterfeits, None));
    }
    [
        ExpectedTable {
            name: QUASI,
            columns,
        },
        ExpectedTable {
            name: SENSITIVE,
            columns: contents,
        },
    ]
}

/// `tables_and_columns`: the release holds exactly the tables expected, and
/// the manifest describes them as they are.
pub(super) fn tables_and_columns(evidence: &Evidence, expected: &[ExpectedTable]) -> Check {
    let mut failures = Failures::none();
    let names = |failures: &mut Failures, found: Vec<&str>| {
        if found != expected.iter().map(|table| table.name).collect::<Vec<_>>() {
            failures.add("the tables are not those that the engine publishes");
        }
    };
    names(
        &mut failures,
        evidence
            .tables
            .iter()
            .map(|table| table.name.as_str())
            .collect(),
    );
    let described = &evidence.manifest.tables;
    names(
        &mut failures,
        described.iter().map(|table| table.name.as_str()).collect(),
    );
    for wanted in expected {
        let Some(table) = evidence.published(wanted.name) else {
            continue;
        };
        compare_columns(&mut failures, table, wanted);
        if let Some(description) = described.iter().find(|table| table.name == wanted.name) {
            compare_description(&mut failures, table, description);
        }
    }
    Check::structure("tables_and_columns", &failures)
}

fn compare_columns(failures: &mut Failures, table: &PublishedTable, wanted: &ExpectedTable) {
    if table.columns.len() != wanted.columns.len() {
        failures.add("a table has more or fewer columns than the engine publishes");
    }
    for (column, wanted) in table.columns.iter().zip(&wanted.columns) {
        if !fits(column, wanted) {
            failures.add("a column is not the one that the engine publishes at its place");
        }
    }
    if !is_readable(table) {
        failures.add("columns are not equally long, or point beyond their cells");
    }
}

fn compare_description(
    failures: &mut Failures,
    table: &PublishedTable,
    description: &TableDescription,
) {
    if description.rows != table.rows() as u64 {
        failures.add("a table has more or fewer rows than the manifest says");
    }
    let same = is_readable(table) && description.columns == ColumnDescription::all(table);
    if !same {
        failures.add("the columns of a table are not those of the manifest");
    }
}

/// Whether all columns are equally long, and none points beyond its cells.
pub(super) fn is_readable(table: &PublishedTable) -> bool {
    let mut columns = table.columns.iter();
    columns.len() > 0
        && columns.all(|column| {
            let known = matches!(column.cells, Cells::Numbers(_)) || dictionary(column).is_some();
            known && column.cells.len() == table.rows()
        })
}

/// Whether a column is the expected one.
pub(super) fn fits(column: &PublishedColumn, wanted: &ExpectedColumn) -> bool {
    column.name == wanted.name
        && column.content == wanted.content
        && column.kind == wanted.kind
        && matches!(column.cells, Cells::Numbers(_)) == is_number(wanted.content)
}

fn is_number(content: Content) -> bool {
    matches!(
        content,
        Content::Group
            | Content::Block
            | Content::Bucket
            | Content::Count
            | Content::Counterfeits
            | Content::Column
    )
}
