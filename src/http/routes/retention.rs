//! How long the records of a dataset stay: said by an administrator, who sees
//! none of them.

use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::extract::{JsonBody, UrlPath};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::DatasetId;
use crate::store::{DatasetRow, RAW_RETENTION_DAYS_MAX, Retention, SeriesMemory};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(set_retention))
}

/// How long records are to stay.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RetentionRequest {
    /// Days after the last release or upload, whichever came later; `null`: as
    /// the service's settings say.
    // A field that must be said, and may be null.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(required = true, minimum = 1, maximum = 36_500)]
    raw_retention_days: Option<u32>,
    /// What becomes of what public releases show of each subject, once records
    /// are purged: it stays, sealed (`keep`), or goes with them (`drop`). The next
    /// release of the same people then takes two stewards, as nobody can check it.
    #[serde(default)]
    series_memory: SeriesMemory,
}

/// How long the records of a dataset stay.
#[derive(Debug, Serialize, ToSchema)]
struct RetentionView {
    /// The dataset.
    id: DatasetId,
    /// Days after the last release or upload; `null`: as the service's settings say.
    raw_retention_days: Option<u32>,
    /// What becomes of what public releases show of each subject.
    series_memory: SeriesMemory,
    /// When its records were last purged because their time was up.
    records_purged_at: Option<DateTime<Utc>>,
}

impl From<DatasetRow> for RetentionView {
    fn from(row: DatasetRow) -> Self {
        Self {
            id: row.id,
            raw_retention_days: row.retention.raw_days,
            series_memory: row.retention.series_memory,
            records_purged_at: row.records_purged_at,
        }
    }
}

/// Say how long records stay
///
/// So many days after the dataset's last release or upload its records and
/// lineage are purged, its drafts withdrawn and its jobs cancelled. Published
/// releases and preferences stay, and records may be uploaded again. What these
/// releases show of each subject stays sealed, so that the next one can be checked
/// together with them, unless `series_memory` says `drop`.
#[utoipa::path(
    put, path = "/v1/datasets/{id}/retention", operation_id = "set_retention", tag = "datasets",
    params(("id" = DatasetId, Path, description = "The dataset.")),
    request_body = RetentionRequest,
    responses((status = 200, description = "What holds now.", body = RetentionView)),
)]
async fn set_retention(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
    JsonBody(request): JsonBody<RetentionRequest>,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let days = request.raw_retention_days;
    if days.is_some_and(|days| !(1..=RAW_RETENTION_DAYS_MAX).contains(&days)) {
        let detail = format!("raw_retention_days lies between 1 and {RAW_RETENTION_DAYS_MAX}");
        return Err(Problem::new(ProblemKind::InvalidBody, detail));
    }
    let retention = Retention {
        raw_days: days,
        series_memory: request.series_memory,
    };
    let act = principal.act_answering(|set| Some(answer(set)));
    Ok(answer(
        &state.store.retention_set(act, id, retention).await?,
    ))
}

fn answer(set: &DatasetRow) -> Answer {
    Answer::ok(&RetentionView::from(set.clone()))
}
