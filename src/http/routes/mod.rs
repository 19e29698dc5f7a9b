//! One file a resource: its handlers, and the views they answer with.

pub mod affected;
pub mod audit;
pub mod bundle;
pub mod comparison;
pub mod dataset_hierarchies;
pub mod datasets;
pub mod documentation;
pub mod documents;
pub mod engines;
pub mod explorations;
pub mod floors;
pub mod health;
pub mod hierarchies;
pub mod hierarchy_review;
pub mod inspections;
pub mod job_events;
pub mod job_view;
pub mod jobs;
pub mod keys;
pub mod ledger;
pub mod my_preferences;
pub mod page;
mod part_views;
pub mod pinned;
pub mod population_table;
pub mod preference_import;
pub mod preferences;
pub mod query;
pub mod records;
pub mod reidentifications;
pub mod release_hierarchies;
pub mod release_query;
pub mod releases;
pub mod retention;
pub mod risk;
pub mod schema;
mod subject_search;
pub mod subject_tokens;
pub mod subjects;
pub mod tables;
pub mod webhooks;

use serde_json::Value;
use vizard_anonymizer::microdata::Schema;

use super::problem::Problem;
use crate::ids::DatasetId;
use crate::store::{DatasetRow, VersionRow};

/// The schema of a stored dataset.
fn stored_schema(dataset: &DatasetRow) -> Result<Schema, Problem> {
    read_schema(dataset.id, &dataset.schema)
}

/// The schema of the columns that jobs on a stored version see.
fn version_schema(version: &VersionRow) -> Result<Schema, Problem> {
    Ok(read_schema(version.dataset, &version.schema)?.transformed())
}

/// The subject that a path or a request names, by the rule of the dataset.
fn subject_of(schema: &Schema, named: &str) -> String {
    schema.normalized_key(named).into_owned()
}

fn read_schema(dataset: DatasetId, document: &Value) -> Result<Schema, Problem> {
    serde_json::from_value(document.clone()).map_err(|_| {
        tracing::error!(%dataset, "a stored schema cannot be read");
        Problem::internal()
    })
}
