//! Sliced tables written down by hand, for the verifier.
//!
//! A table is written as the buckets of a paper's figure are: column by column,
//! whose values stand on each row.

use serde_json::Value;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::microdata::{
    AttributeIndex, Code, Domain, RecordIndex, SubjectIndex, Table, Values,
};
use vizard_anonymizer::privacy::{Model, Requirements};
use vizard_anonymizer::release::{
    Cell, Cells, Content, Lineage, PublishedColumn, PublishedTable, Release, TableLineage,
};

use crate::case::{Case, dictionary};

/// For each bucket, for each column: the names of those whose values stand in
/// it, row by row.
pub type Buckets<'b> = &'b [&'b [&'b [&'b str]]];

/// The release that publishes `buckets` of a table under these parameters,
/// which name the columns.
pub fn printed(table: Table, parameters: Value, buckets: Buckets) -> Case {
    let engine = Engine::parse("slicing", &parameters, table.schema()).expect("they fit");
    let policy = engine.policy(table.schema()).expect("they fit");
    let requirements = Requirements::new(&table, policy, &[]);
    let columns: Vec<Vec<String>> =
        serde_json::from_value(parameters["columns"].clone()).expect("columns are named");
    let find = |name: &str| {
        let keys = table.subject_keys();
        let at = keys
            .iter()
            .position(|key| key == name)
            .expect("someone is called so");
        RecordIndex::from_usize(at)
    };
    let rows = |column: usize| standing(buckets, column, &find);
    let (published, headers) = sliced(&table, &requirements, &columns, (buckets, &find));
    let subjects = rows(0)
        .iter()
        .map(|record| SubjectIndex(record.0))
        .collect();
    let release = Release {
        tables: vec![
            PublishedTable {
                name: "sliced".into(),
                columns: published,
            },
            columns_table(headers),
        ],
        lineage: Lineage {
            tables: vec![TableLineage {
                table: "sliced".into(),
                subjects,
            }],
        },
        excluded: (table.records() - rows(0).len()) as u64,
        unsatisfiable: Vec::new(),
        kept: None,
        parts: None,
    };
    Case::made_by("slicing", (table, requirements), parameters, release)
}

/// Records whose values stand in a column, row by row.
fn standing(
    buckets: Buckets,
    column: usize,
    find: &dyn Fn(&str) -> RecordIndex,
) -> Vec<RecordIndex> {
    let all = buckets.iter().flat_map(move |bucket| bucket[column].iter());
    all.map(|name| find(name)).collect()
}

/// The columns of `sliced`, and what `columns` says of them.
fn sliced(
    table: &Table,
    requirements: &Requirements,
    columns: &[Vec<String>],
    (buckets, find): (Buckets, &dyn Fn(&str) -> RecordIndex),
) -> (Vec<PublishedColumn>, Vec<(u64, String)>) {
    let numbers = (1_u64..).zip(buckets);
    let numbers = numbers.flat_map(|(number, bucket)| vec![number; bucket[0].len()]);
    let mut published = vec![PublishedColumn {
        name: "bucket".into(),
        content: Content::Bucket,
        kind: None,
        cells: Cells::Numbers(numbers.collect()),
    }];
    let mut headers: Vec<(u64, String)> = Vec::new();
    let Model::Sliced { slicing, .. } = &requirements.policy().model else {
        panic!("the policy is of slicing");
    };
    for &at in &slicing.generalize {
        published.push(generalized(table, at, buckets, find));
        headers.push((0, table.schema().attribute(at).name.clone()));
    }
    for (at, column) in columns.iter().enumerate() {
        let records = standing(buckets, at, find);
        for name in column {
            let again = headers.iter().any(|(_, header)| header == name);
            let header = if again {
                format!("{name}@2")
            } else {
                name.clone()
            };
            let attribute = table.schema().find(name).expect("the attribute exists");
            let coded = table.coded(attribute).expect("it is coded");
            let cells = records
                .iter()
                .map(|&record| exact(&coded.domain, coded.code(record)));
            published.push(PublishedColumn {
                name: header.clone(),
                content: Content::Exact,
                kind: table.schema().attribute(attribute).kind,
                cells: dictionary(cells.collect()),
            });
            headers.push((at as u64 + 1, header));
        }
    }
    (published, headers)
}

fn columns_table(headers: Vec<(u64, String)>) -> PublishedTable {
    let (numbers, names): (Vec<u64>, Vec<String>) = headers.into_iter().unzip();
    PublishedTable {
        name: "columns".into(),
        columns: vec![
            PublishedColumn {
                name: "column".into(),
                content: Content::Column,
                kind: None,
                cells: Cells::Numbers(numbers),
            },
            PublishedColumn {
                name: "attribute".into(),
                content: Content::Attribute,
                kind: None,
                cells: dictionary(names.into_iter().map(Cell::Label).collect()),
            },
        ],
    }
}

/// The range of each bucket's numbers.
fn generalized(
    table: &Table,
    at: AttributeIndex,
    buckets: Buckets,
    find: &dyn Fn(&str) -> RecordIndex,
) -> PublishedColumn {
    let column = table.coded(at).expect("it is coded");
    let cells = buckets.iter().flat_map(|bucket| {
        let codes = bucket[0].iter().map(|name| column.code(find(name)));
        let codes: Vec<Code> = codes.collect();
        let (low, high) = (codes.iter().min().unwrap(), codes.iter().max().unwrap());
        let Values::Integer(values) = column.domain.values() else {
            panic!("numbers only");
        };
        vec![Cell::Integer(values[low.at()], values[high.at()]); codes.len()]
    });
    PublishedColumn {
        name: table.schema().attribute(at).name.clone(),
        content: Content::Generalized,
        kind: table.schema().attribute(at).kind,
        cells: dictionary(cells.collect()),
    }
}

fn exact(domain: &Domain, code: Code) -> Cell {
    match domain.values() {
        Values::Integer(values) => Cell::Integer(values[code.at()], values[code.at()]),
        Values::Category(values) => Cell::Label(values[code.at()].clone()),
        _ => panic!("numbers and categories only"),
    }
}
