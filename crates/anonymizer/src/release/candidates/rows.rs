//! What a release promises to each subject, and what its rows show of them.

use super::{AttributeCandidates, ShownColumn, ShownTerms, texts};
use crate::microdata::{Role, RowClasses, Schema};
use crate::privacy::{Model, RecordTerms, Requirements};
use crate::release::table::{Cells, Content, PublishedColumn, PublishedTable};

/// The different terms of records, where k and l are all that is promised.
pub(super) fn shown_terms(
    schema: &Schema,
    requirements: &Requirements,
    attributes: &[AttributeCandidates],
) -> Vec<ShownTerms> {
    if !matches!(
        requirements.policy().model,
        Model::Generalized { .. } | Model::Blocks { .. }
    ) {
        return Vec::new();
    }
    let l_of = |terms: &RecordTerms, attribute: &AttributeCandidates| {
        let mut all = requirements.protected();
        let index = all.find(|&index| {
            schema.attribute(requirements.attribute(index)).name == attribute.name
        })?;
        Some(terms.l_of_values(index))
    };
    let shown = requirements
        .distinct_terms()
        .iter()
        .map(|terms| ShownTerms {
            k: terms.k,
            l: attributes
                .iter()
                .map(|attribute| l_of(terms, attribute).unwrap_or(1))
                .collect(),
        });
    shown.collect()
}

/// The group of each row, numbered from 0.
pub(super) fn groups(tables: &[PublishedTable]) -> Vec<u32> {
    let mut columns = tables.iter().flat_map(|table| &table.columns);
    match columns.find(|column| column.content == Content::Group) {
        Some(PublishedColumn {
            cells: Cells::Numbers(numbers),
            ..
        }) => RowClasses::of_keys(numbers.iter()).of_row,
        _ => Vec::new(),
    }
}

/// What rows show of quasi-identifiers and sensitive attributes.
pub(super) fn columns(schema: &Schema, table: &PublishedTable) -> Vec<ShownColumn> {
    let columns = table.columns.iter().filter_map(|column| {
        let role = schema.attribute(schema.find(&column.name)?).role;
        let (Role::QuasiIdentifier | Role::Sensitive, Cells::Dictionary { codes, cells }) =
            (role, &column.cells)
        else {
            return None;
        };
        Some(ShownColumn {
            name: column.name.clone(),
            cells: texts(cells),
            cell_of: codes.iter().collect(),
        })
    });
    columns.collect()
}
