//! A dataset's schema, changed without a new upload.
//!
//! The new schema makes a version that shares the chunks of the one before.
//! What the stored columns, their values or subjects' terms do not allow is
//! refused, attribute by attribute; jobs on older versions keep theirs.

use std::sync::Arc;

use axum::extract::{FromRequest as _, Request, State};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::microdata::{
    BoundTerms, HierarchySet, Schema, SchemaMisfit, StoredValues, Terms, column_misfits,
    decode_chunk, key_rule_misfit, other_hierarchies,
};

use super::datasets::{DatasetView, demanded, described};
use super::query::{SchemaPutQuery, UploadHierarchies};
use super::records::upload_share;
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::convert::table_problem;
use crate::http::described::SchemaDocument;
use crate::http::extract::{SchemaBody, UrlPath, UrlQuery};
use crate::http::misfit::SchemaMisfitView;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::http::upload::{load_hierarchies, pins};
use crate::ids::DatasetId;
use crate::store::{DatasetRow, NewSchema};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(put_schema))
}

/// A schema with the hierarchies that it is read with.
struct Form {
    schema: Arc<Schema>,
    hierarchies: HierarchySet,
}

impl Form {
    fn both(&self) -> (&Schema, &HierarchySet) {
        (&self.schema, &self.hierarchies)
    }
}

/// Change a dataset's schema
///
/// Without a new upload: a new version has the records of the latest one under
/// the new schema. Name, roles, hierarchies, the missing-value policy and the
/// default preference may change; what stored columns, their values or
/// subjects' terms do not allow is refused. Jobs on older versions keep the
/// schema of their version.
#[utoipa::path(
    put, path = "/v1/datasets/{id}/schema", operation_id = "put_schema", tag = "datasets",
    params(("id" = DatasetId, Path, description = "The dataset."), SchemaPutQuery,
        ("if-match" = Option<String>, Header, description = "Tags, one of which the dataset must have; `*`: any.")),
    request_body = SchemaDocument,
    responses((status = 200, description = "The dataset under its new schema.", body = DatasetView,
        headers(("etag" = String, description = "Tag of the dataset: another one with every change.")))),
)]
async fn put_schema(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
    UrlQuery(query): UrlQuery<SchemaPutQuery>,
    request: Request,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let headers = request.headers().clone();
    let body = SchemaBody::from_request(request, &state).await?;
    let dataset = state.store.dataset_get(id).await?;
    let now = super::stored_schema(&dataset)?;
    let SchemaBody { schema, document } = if now.says_key_rules() {
        body.or_key_rules(now.key_rules())
    } else {
        body
    };
    let demanded = demanded(&headers, &dataset)?;
    let _share = upload_share(&state, &principal)?;
    let (before, after) = forms(&state, &dataset, schema, query.hierarchies).await?;
    let mut misfits = match dataset.records {
        0 => Vec::new(),
        _ => column_misfits(&before.schema, &after.schema),
    };
    if misfits.is_empty() {
        misfits = value_misfits(&state, &dataset, &before, &after).await?;
    }
    misfits.extend(key_rule_misfit(&before.schema, &after.schema));
    misfits.extend(terms_misfits(&state, &dataset, &before, &after).await?);
    refuse(&misfits)?;
    let hierarchies = match dataset.records {
        // What nothing was read with is not pinned.
        0 => serde_json::json!({}),
        _ => pins(&after.hierarchies),
    };
    let change = NewSchema {
        dataset: id,
        base_version: dataset.version,
        preference_version: dataset.preference_version,
        name: after.schema.name().to_owned(),
        schema: document,
        hierarchies,
        created_by: principal.name().to_owned(),
    };
    let service = state.settings.floors.clone();
    let act = principal.act_answering(move |row| Some(described(row, &service)));
    let act = act.only_if(demanded);
    let changed = state.store.schema_change(act, change).await?;
    Ok(described(&changed, &state.settings.floors))
}

/// The schema as it is and as it is to be, each with its hierarchies.
async fn forms(
    state: &AppState,
    dataset: &DatasetRow,
    schema: Schema,
    which: UploadHierarchies,
) -> Result<(Form, Form), Problem> {
    let store = state.store.as_ref();
    let nothing = serde_json::Value::Null;
    let before = super::stored_schema(dataset)?;
    let pinned = match which {
        UploadHierarchies::Pinned => &dataset.hierarchies,
        UploadHierarchies::Latest => &nothing,
    };
    let is_lenient = dataset.records == 0;
    let hierarchies_before =
        load_hierarchies(store, dataset.id, &before, &dataset.hierarchies, is_lenient).await?;
    let hierarchies = load_hierarchies(store, dataset.id, &schema, pinned, is_lenient).await?;
    let before = Form {
        schema: Arc::new(before),
        hierarchies: hierarchies_before.set,
    };
    let after = Form {
        schema: Arc::new(schema),
        hierarchies: hierarchies.set,
    };
    Ok((before, after))
}

/// What is stored and is no leaf of a hierarchy that is another one.
async fn value_misfits(
    state: &AppState,
    dataset: &DatasetRow,
    before: &Form,
    after: &Form,
) -> Result<Vec<SchemaMisfit>, Problem> {
    let unfit = |error| table_problem(&error, ProblemKind::InvalidHierarchy);
    let attributes = other_hierarchies(before.both(), after.both());
    let mut values =
        StoredValues::new(&after.schema, &after.hierarchies, &attributes).map_err(unfit)?;
    if values.is_empty() || dataset.records == 0 {
        return Ok(Vec::new());
    }
    let (store, id, version) = (&state.store, dataset.id, dataset.version);
    for chunk in store.version_chunk_list(id, version).await? {
        let bytes = store.chunk_get(id, version, chunk.position).await?;
        let schema = Arc::clone(&before.schema);
        let looking = tokio::task::spawn_blocking(move || {
            values.add(&decode_chunk(bytes, &schema)?)?;
            Ok::<_, vizard_anonymizer::microdata::TableError>(values)
        });
        values = match looking.await {
            Ok(Ok(values)) => values,
            _ => {
                tracing::error!(dataset = %id, "a stored chunk cannot be read");
                return Err(Problem::internal());
            }
        };
    }
    Ok(values.misfits(&after.schema))
}

/// What subjects' terms bind to and would lose its protection.
async fn terms_misfits(
    state: &AppState,
    dataset: &DatasetRow,
    before: &Form,
    after: &Form,
) -> Result<Vec<SchemaMisfit>, Problem> {
    let mut bound = BoundTerms::new(before.both(), after.both());
    if bound.is_empty() || dataset.subjects_with_preference == 0 {
        return Ok(Vec::new());
    }
    let version = dataset.preference_version;
    for (_, document) in state.store.preferences_at(dataset.id, version).await? {
        let terms: Terms = serde_json::from_value(document).map_err(|_| {
            tracing::error!(dataset = %dataset.id, "a stored preference cannot be read");
            Problem::internal()
        })?;
        bound.add(&terms);
    }
    Ok(bound.misfits())
}

fn refuse(misfits: &[SchemaMisfit]) -> Result<(), Problem> {
    if misfits.is_empty() {
        return Ok(());
    }
    let said = misfits.iter().map(|misfit| match &misfit.attribute {
        Some(name) => format!("`{name}`: {}", misfit.code.advice()),
        None => misfit.code.advice().to_owned(),
    });
    let said: Vec<String> = said.collect();
    let detail = format!("{}. Nothing was changed", said.join("; "));
    let views = misfits.iter().map(SchemaMisfitView::from).collect();
    Err(Problem::new(ProblemKind::SchemaUnfit, detail).with_misfits(views))
}
