//! Reviews of hierarchies: what one is, and what a dataset's records have that
//! it lacks, before an upload or a schema is refused for it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::microdata::{
    AttributeCoverage, AttributeIndex, Chunk, Coverage, HierarchyReview, HierarchySource, Schema,
};
use vizard_anonymizer::privacy::Transformation;

use super::hierarchies::{check_name, library_hierarchy};
use super::query::{DatasetHierarchyReviewQuery, HierarchyReviewQuery};
use super::records::upload_share;
use super::risk::current_records;
use super::subject_search::look_into;
use crate::http::auth::Principal;
use crate::http::extract::{UrlPath, UrlQuery};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::http::upload::parse_hierarchy;
use crate::ids::DatasetId;
use crate::store::{DatasetRow, HierarchyRow, VersionRow};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(review_hierarchy))
        .routes(routes!(review_dataset_hierarchy))
}

/// What a hierarchy is.
#[derive(ToSchema)]
#[schema(as = HierarchyReview)]
#[allow(dead_code, reason = "describes what `microdata` says of a hierarchy")]
struct HierarchyReviewView {
    /// Its name.
    name: String,
    /// SHA-256 of what it says.
    digest: String,
    /// Whether it is the library's; else it is the dataset's own.
    library: bool,
    /// Whether it is intervals over numbers: then its leaves are a dataset's
    /// values, and levels have only what is sure.
    is_intervals: bool,
    /// Nodes, root and leaves included; 0 of intervals.
    nodes: u64,
    /// Leaves; 0 of intervals.
    leaves: u64,
    /// Steps from the root to the nearest and to the farthest leaf.
    #[schema(min_items = 2, max_items = 2)]
    depth: Vec<u32>,
    /// The depth that most leaves have.
    usual_depth: u32,
    /// By steps from the root, the root first.
    levels: Vec<LevelView>,
    /// Leaves at another depth than most.
    unbalanced: LabelsView,
    /// Nodes with one node below: they say the same as that one.
    single_child: LabelsView,
    /// The node below the root that holds the most leaves; null of intervals.
    largest: Option<LargestNodeView>,
}

/// The nodes at one depth.
#[derive(ToSchema)]
#[schema(as = HierarchyLevel)]
#[allow(dead_code, reason = "describes what `microdata` says of a hierarchy")]
struct LevelView {
    /// Inner nodes; 0 of intervals.
    inner: u64,
    /// Leaves; 0 of intervals.
    leaves: u64,
    /// The most nodes right below one of them; of intervals 0 where the values
    /// decide.
    fan_out_max: u64,
    /// Width of the intervals; of trees, root and values absent.
    #[schema(nullable = false)]
    width: Option<f64>,
}

/// Nodes of one kind.
#[derive(ToSchema)]
#[schema(as = HierarchyLabels)]
#[allow(dead_code, reason = "describes what `microdata` says of a hierarchy")]
struct LabelsView {
    /// How many there are.
    count: u64,
    /// The first of them.
    #[schema(max_items = 20)]
    labels: Vec<String>,
}

/// A node and what it holds.
#[derive(ToSchema)]
#[schema(as = LargestNode)]
#[allow(dead_code, reason = "describes what `microdata` says of a hierarchy")]
struct LargestNodeView {
    /// Its label.
    label: String,
    /// Leaves under it.
    leaves: u64,
    /// Their share of all leaves.
    share: f64,
}

/// What a hierarchy is, and what records have of it.
#[derive(ToSchema)]
#[schema(as = DatasetHierarchyReview)]
#[allow(dead_code, reason = "describes what `microdata` says of a hierarchy")]
struct DatasetHierarchyReviewView {
    #[serde(flatten)]
    review: HierarchyReviewView,
    /// The version whose records were looked at; null: there are no records.
    version: Option<u64>,
    /// The attribute that was named, else those whose schema names the hierarchy;
    /// without records none.
    attributes: Vec<AttributeCoverageView>,
}

/// What an attribute of records has of a hierarchy.
#[derive(ToSchema)]
#[schema(as = AttributeCoverage)]
#[allow(dead_code, reason = "describes what `microdata` says of records")]
struct AttributeCoverageView {
    /// Its name.
    attribute: String,
    /// Records looked at.
    records: u64,
    /// Those of them without a value.
    missing: u64,
    /// Why the hierarchy does not fit an attribute of this type, whatever its
    /// values are; null: it does.
    obstacle: Option<String>,
    /// Leaves that no record has.
    unused_leaves: u64,
    /// What records have that is no leaf: an upload of it is refused.
    lacking: LackingView,
}

/// Values that are no leaves of a hierarchy.
#[derive(ToSchema)]
#[schema(as = Lacking)]
#[allow(dead_code, reason = "describes what `microdata` says of records")]
struct LackingView {
    /// Distinct values.
    distinct: u64,
    /// Whether there are more of them than were told apart.
    is_least: bool,
    /// Records that have them.
    records: u64,
    /// The most frequent of those that at least five subjects share: what fewer
    /// share may name them.
    #[schema(max_items = 20)]
    values: Vec<LackingValueView>,
}

/// A value that is no leaf.
#[derive(ToSchema)]
#[schema(as = LackingValue)]
#[allow(dead_code, reason = "describes what `microdata` says of records")]
struct LackingValueView {
    /// As it is published.
    value: String,
    /// Records that have it.
    records: u64,
}

/// A review of a hierarchy that is kept.
#[derive(Serialize)]
struct Reviewed {
    name: String,
    digest: String,
    library: bool,
    #[serde(flatten)]
    review: HierarchyReview,
}

/// The same, with what records have of it.
#[derive(Serialize)]
struct ReviewedOnRecords {
    #[serde(flatten)]
    review: Reviewed,
    version: Option<u64>,
    attributes: Vec<AttributeCoverage>,
}

/// Review a hierarchy of the library
///
/// How many levels it has, where its leaves stand, and what of it is of little
/// use: leaves at another depth than most, nodes with one node below, a node
/// that holds most leaves. Who may read the hierarchy may read this.
#[utoipa::path(
    get, path = "/v1/hierarchies/{name}/review", operation_id = "review_hierarchy", tag = "hierarchies",
    params(("name" = String, Path, description = "Its name.",
            min_length = 1, max_length = 64, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"), HierarchyReviewQuery),
    responses((status = 200, description = "What the hierarchy is.", body = HierarchyReviewView)),
)]
async fn review_hierarchy(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(name): UrlPath<String>,
    UrlQuery(query): UrlQuery<HierarchyReviewQuery>,
) -> Result<Json<Reviewed>, Problem> {
    let row = library_hierarchy(&state, &principal, (name, query.digest)).await?;
    Ok(Json(reviewed(row).await?.1))
}

/// Review a hierarchy against a dataset's records
///
/// The dataset's own hierarchy of this name, else the library's. Beside what it
/// is: leaves that no record has, and values of the records that are no leaves.
/// An upload and a change of the schema refuse those. They are counted; told are
/// those that at least five subjects share.
#[utoipa::path(
    get, path = "/v1/datasets/{id}/hierarchies/{name}/review", operation_id = "review_dataset_hierarchy", tag = "hierarchies",
    params(("id" = DatasetId, Path, description = "The dataset."),
        ("name" = String, Path, description = "Its name.",
            min_length = 1, max_length = 64, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"), DatasetHierarchyReviewQuery),
    responses((status = 200, description = "What the hierarchy is, and what records have of it.",
        body = DatasetHierarchyReviewView)),
)]
async fn review_dataset_hierarchy(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath((id, name)): UrlPath<(DatasetId, String)>,
    UrlQuery(query): UrlQuery<DatasetHierarchyReviewQuery>,
) -> Result<Json<ReviewedOnRecords>, Problem> {
    principal.sees(id, "dataset")?;
    check_name(&name)?;
    let dataset = state.store.dataset_get(id).await?;
    let stored = Arc::new(super::stored_schema(&dataset)?);
    let transformation = Arc::new(Transformation::unmoved(&stored));
    let schema = transformation.schema();
    let row = hierarchy(&state, &principal, &dataset, (name, query.digest)).await?;
    let attributes = looked_at(schema, &row.head.name, query.attribute.as_deref())?;
    let _share = upload_share(&state, &principal)?;
    let (source, review) = reviewed(row).await?;
    let current = current_records(&state, &dataset).await?;
    let attributes = match &current {
        None => Vec::new(),
        Some(current) => {
            let coverages = attributes
                .into_iter()
                .filter_map(|index| Coverage::new(Arc::clone(schema), index, &source))
                .collect();
            covered(&state, current, (&stored, &transformation), coverages).await?
        }
    };
    Ok(Json(ReviewedOnRecords {
        review,
        version: current.map(|current| current.version),
        attributes,
    }))
}

/// A dataset's own hierarchy, else the library's. Of that a key that is tied to
/// datasets finds what the schema names.
async fn hierarchy(
    state: &AppState,
    principal: &Principal,
    dataset: &DatasetRow,
    (name, digest): (String, Option<String>),
) -> Result<HierarchyRow, Problem> {
    let store = &state.store;
    let named = store.hierarchy_names(vec![dataset.id]).await?;
    let is_named = named.contains(&name) || principal.datasets().is_none();
    let row = store.hierarchy_get(Some(dataset.id), name, digest).await?;
    if row.head.dataset.is_none() && !is_named {
        return Err(Problem::not_found("hierarchy"));
    }
    Ok(row)
}

/// The attribute that is named, else those whose schema names the hierarchy.
fn looked_at(
    schema: &Schema,
    hierarchy: &str,
    attribute: Option<&str>,
) -> Result<Vec<AttributeIndex>, Problem> {
    let Some(name) = attribute else {
        return Ok(schema.select(|one| one.hierarchy.as_deref() == Some(hierarchy)));
    };
    let index = schema.find(name);
    let index = index.filter(|&index| schema.attribute(index).kind.is_some());
    index.map(|index| vec![index]).ok_or_else(|| {
        let detail = "attribute: the schema has no attribute of this name that has a type";
        Problem::new(ProblemKind::NotFound, detail)
    })
}

/// The hierarchy, and its review: a large tree takes a while.
async fn reviewed(row: HierarchyRow) -> Result<(HierarchySource, Reviewed), Problem> {
    let head = row.head.clone();
    let source = parse_hierarchy(row).await?;
    let reviewing = tokio::task::spawn_blocking(move || (source.review(), source));
    let (review, source) = reviewing.await.map_err(|_| Problem::internal())?;
    let reviewed = Reviewed {
        name: head.name,
        digest: head.digest,
        library: head.dataset.is_none(),
        review,
    };
    Ok((source, reviewed))
}

/// What the records of a version have, read chunk by chunk.
async fn covered(
    state: &AppState,
    current: &VersionRow,
    (stored, transformation): (&Arc<Schema>, &Arc<Transformation>),
    mut coverages: Vec<Coverage>,
) -> Result<Vec<AttributeCoverage>, Problem> {
    let chunks = if coverages.is_empty() {
        0
    } else {
        current.chunks
    };
    for position in 0..chunks {
        let place = (current.dataset, current.version, position);
        let transformation = Arc::clone(transformation);
        let add = move |chunk: &Chunk| {
            let chunk = transformation.of(chunk);
            coverages.iter_mut().for_each(|one| one.add(&chunk));
            coverages
        };
        coverages = look_into(state, place, stored, add).await?;
    }
    Ok(coverages.into_iter().map(Coverage::finish).collect())
}
