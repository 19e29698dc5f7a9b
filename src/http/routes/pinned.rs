//! What an upload was read with, and what it could be read with.
//!
//! A version pins the digest of each hierarchy that its schema names. The
//! answer to an upload says which they are, and which are others than before;
//! a refused one says where a later revision is there.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use vizard_anonymizer::microdata::{CellErrorCode, Schema};

use crate::http::line_errors::LineErrors;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::ids::DatasetId;
use crate::store::{HierarchyHead, StoreError};

/// A hierarchy that an upload was read with.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct PinnedView {
    /// Its name.
    #[schema(examples("education"))]
    name: String,
    /// SHA-256 of what it says, which the version pins.
    digest: String,
    /// 1, 2, … of its owner under that name.
    #[schema(examples(2))]
    revision: u64,
    /// Whether it is the library's; else it is the dataset's own.
    library: bool,
    /// Whether the version before pins another one.
    changed: bool,
}

impl PinnedView {
    /// Those that were found, beside what the version before pins.
    pub(super) fn of(heads: &[HierarchyHead], before: &Value) -> Vec<Self> {
        let view = |head: &HierarchyHead| Self {
            name: head.name.clone(),
            digest: head.digest.clone(),
            revision: head.revision,
            library: head.dataset.is_none(),
            changed: before
                .get(&head.name)
                .is_some_and(|pinned| pinned != head.digest.as_str()),
        };
        heads.iter().map(view).collect()
    }
}

/// The problem of an upload that was read with `heads`: where values are no
/// leaves of one of them, and a later revision is there, a hint says so.
pub(super) async fn hinted(
    state: &AppState,
    mut problem: Problem,
    (dataset, schema): (DatasetId, &Schema),
    heads: &[HierarchyHead],
) -> Problem {
    let Some(lines) = problem.lines_mut() else {
        return problem;
    };
    for name in at_fault(lines, schema) {
        let latest = state.store.hierarchy_get(Some(dataset), name.clone(), None);
        let is_later = match latest.await {
            Ok(row) => !heads.contains(&row.head),
            Err(StoreError::NotFound { .. }) => false,
            // What is wrong with the upload matters more.
            Err(error) => {
                tracing::warn!(%error, "no hint on a later revision of a hierarchy");
                false
            }
        };
        if is_later {
            lines.hints.push(format!(
                "a later revision of the hierarchy `{name}` is there: send the upload with \
                 hierarchies=latest to have it read with that one"
            ));
        }
    }
    problem
}

/// Names of hierarchies that values of the body are no leaves of.
fn at_fault(lines: &LineErrors, schema: &Schema) -> BTreeSet<String> {
    let misfits = lines
        .summary
        .iter()
        .filter(|count| count.code == CellErrorCode::NotInHierarchy.word());
    let attributes: BTreeSet<&str> = misfits
        .filter_map(|count| count.attribute.as_deref())
        .collect();
    let concerned = schema
        .attributes()
        .iter()
        .filter(|attribute| attributes.contains(attribute.name.as_str()));
    concerned
        .filter_map(|attribute| attribute.hierarchy.clone())
        .collect()
}
