//! The tables `sliced` and `columns` of an engine that permutes the values of
//! columns inside buckets (`[Slicing]`).
//!
//! `sliced` has one row a record: `bucket`, the attributes that are
//! generalized over a bucket, then the attributes of each column, exact, one
//! column behind the other. Attributes of one column stay linked on a row,
//! those of different columns are linked by their bucket alone. An attribute's
//! second appearance is called `name@2`.
//!
//! `columns` tells readers which attributes form a column: `column` (numbered
//! from 1; empty for what is generalized) and `attribute` (a header of
//! `sliced`).
//!
//! Each column of each bucket is sorted for itself before the release is
//! published ([`order`](crate::release::order)), so that its rows link nothing.
//! The lineage says whose values stand in the *first* column of a row: of the
//! others only the bucket is anyone's.

use rayon::prelude::*;

use crate::microdata::{AttributeIndex, Codes, RecordIndex, Schema};
use crate::release::layout::{COLUMNS, SECOND_SUFFIX, SLICED};
use crate::release::{Cell, Cells, Content, Lineage, PublishedColumn, PublishedTable};

use super::covers::Covers;
use super::included::Included;

/// Which attributes are published, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slices {
    /// Attributes that stay linked, column by column; none is empty, and no
    /// attribute is in more than two.
    pub columns: Vec<Vec<AttributeIndex>>,
    /// Attributes that are generalized over each bucket; in no column.
    pub generalized: Vec<AttributeIndex>,
}

impl Slices {
    /// Header of each attribute of the columns, column by column.
    pub fn headers(&self, schema: &Schema) -> Vec<Vec<String>> {
        let mut seen: Vec<AttributeIndex> = Vec::new();
        let columns = self.columns.iter().map(|column| {
            let headers = column.iter().map(|&attribute| {
                let name = &schema.attribute(attribute).name;
                let again = seen.contains(&attribute);
                seen.push(attribute);
                if again {
                    format!("{name}{SECOND_SUFFIX}")
                } else {
                    name.clone()
                }
            });
            headers.collect()
        });
        columns.collect()
    }
}

/// Publishes buckets of records, columns not sorted yet. Returns `sliced`,
/// `columns`, and whose the first column of each row is.
pub fn of_buckets(
    included: &Included<'_>,
    buckets: &[&[u32]],
    slices: &Slices,
) -> (Vec<PublishedTable>, Lineage) {
    let bucket_of_row = (0_u32..).zip(buckets);
    let bucket_of_row = bucket_of_row.flat_map(|(at, bucket)| vec![at; bucket.len()]);
    let bucket_of_row: Vec<u32> = bucket_of_row.collect();
    let records: Vec<u32> = buckets.concat();
    let numbers = bucket_of_row.iter().map(|&bucket| u64::from(bucket) + 1);
    let mut columns = vec![PublishedColumn::of_numbers(Content::Bucket, numbers)];
    let generalized = slices.generalized.par_iter();
    columns.par_extend(
        generalized
            .map(|&attribute| generalized_column(included, buckets, &bucket_of_row, attribute)),
    );
    let headers = slices.headers(included.table.schema());
    let parts = slices.columns.iter().zip(&headers);
    let parts: Vec<(AttributeIndex, &String)> = parts
        .flat_map(|(attributes, headers)| attributes.iter().copied().zip(headers))
        .collect();
    columns.par_extend(
        parts
            .into_par_iter()
            .map(|(attribute, header)| PublishedColumn {
                name: header.clone(),
                ..included.exact_column(attribute, records.iter().copied())
            }),
    );
    let subject = |&record: &u32| included.table.subject_of(RecordIndex(record));
    let lineage = Lineage::of_table(SLICED, records.iter().map(subject));
    let sliced = PublishedTable {
        name: SLICED.into(),
        columns,
    };
    (
        vec![sliced, columns_table(included, slices, &headers)],
        lineage,
    )
}

fn generalized_column(
    included: &Included<'_>,
    buckets: &[&[u32]],
    bucket_of_row: &[u32],
    attribute: AttributeIndex,
) -> PublishedColumn {
    let described = included.table.schema().attribute(attribute);
    let (codes, cells) = match included.table.coded(attribute) {
        None => (Codes::default(), Vec::new()),
        Some(column) => {
            let mut covers = Covers::new(&column.domain);
            let of_bucket: Vec<u32> = buckets
                .iter()
                .map(|bucket| covers.cover(column, bucket))
                .collect();
            let codes = bucket_of_row.iter().map(|&at| of_bucket[at as usize]);
            (Codes::below(covers.cells.len(), codes), covers.cells)
        }
    };
    PublishedColumn::of_attribute(
        described,
        Content::Generalized,
        Cells::Dictionary { codes, cells },
    )
}

fn columns_table(
    included: &Included<'_>,
    slices: &Slices,
    headers: &[Vec<String>],
) -> PublishedTable {
    let schema = included.table.schema();
    let generalized = slices.generalized.iter();
    let generalized = generalized.map(|&at| (0, schema.attribute(at).name.clone()));
    let linked = (1_u64..).zip(headers);
    let linked =
        linked.flat_map(|(number, headers)| headers.iter().map(move |name| (number, name.clone())));
    let entries: Vec<(u64, String)> = generalized.chain(linked).collect();
    let numbers = entries.iter().map(|(number, _)| *number);
    let cells = entries.iter().map(|(_, name)| Cell::Label(name.clone()));
    let names = Cells::Dictionary {
        codes: (0..entries.len() as u32).collect(),
        cells: cells.collect(),
    };
    PublishedTable {
        name: COLUMNS.into(),
        columns: vec![
            PublishedColumn::of_numbers(Content::Column, numbers),
            PublishedColumn::of_content(Content::Attribute, names),
        ],
    }
}
