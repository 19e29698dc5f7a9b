//! Records: uploaded, never given back.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::super::answer::Answer;
use super::super::auth::Principal;
use super::super::coding::{ContentCoding, Growth};
use super::super::extract::{UrlPath, UrlQuery, require_media_type};
use super::super::problem::{LossView, MissingView, Problem, ProblemKind};
use super::super::state::AppState;
use super::super::upload::{self, Intake, UploadFormat};
use super::query::{UploadMode, UploadQuery};
use super::tables::Binary;
use crate::failpoint;
use crate::ids::DatasetId;
use crate::microdata::{ReadLimits, ReadSummary, RecordFormat};
use crate::store::{NewVersion, VersionMode, VersionRow};

/// Media types of many preferences.
const MEDIA_TYPES: [&str; 2] = ["text/csv", "application/x-ndjson"];
/// Media types of records.
const RECORD_MEDIA_TYPES: [&str; 3] = [
    "text/csv",
    "application/x-ndjson",
    "application/vnd.apache.parquet",
];

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(upload_records))
}

/// What an upload made.
#[derive(Debug, Serialize, ToSchema)]
struct UploadView {
    /// The new version.
    #[schema(examples(1))]
    version: u64,
    /// Records that the upload brought.
    #[schema(examples(98729))]
    records: u64,
    /// Records that the missing-value policy left out.
    dropped: u64,
    /// Missing values of each attribute, in the schema's order.
    attributes: Vec<MissingView>,
    /// Records in the new version.
    #[schema(examples(98729))]
    total_records: u64,
    /// SHA-256 of the upload's content, whatever form it came in: told to who
    /// sent it, and kept nowhere.
    sha256: String,
}

impl UploadView {
    fn new(row: &VersionRow, summary: &ReadSummary) -> Self {
        Self {
            version: row.version,
            records: row.records,
            dropped: row.dropped,
            attributes: MissingView::of(summary),
            total_records: row.total_records,
            sha256: summary.sha256_hex(),
        }
    }
}

/// What an upload would make.
#[derive(Debug, Serialize, ToSchema)]
struct UploadCheckView {
    /// Records that the upload would bring.
    #[schema(examples(98729))]
    records: u64,
    /// Records that the missing-value policy would leave out.
    dropped: u64,
    /// Missing values of each attribute, in the schema's order.
    attributes: Vec<MissingView>,
    /// Records that the new version would have.
    #[schema(examples(98729))]
    total_records: u64,
    /// SHA-256 of the upload's content, whatever form it came in.
    sha256: String,
}

impl UploadCheckView {
    fn new(summary: &ReadSummary, records_before: u64) -> Self {
        Self {
            records: summary.records,
            dropped: summary.dropped,
            attributes: MissingView::of(summary),
            total_records: records_before + summary.records,
            sha256: summary.sha256_hex(),
        }
    }
}

/// Refuses an upload that leaves out many of its records, or that puts none in
/// the place of those that are there.
fn refuse_loss(summary: &ReadSummary, replaced: u64) -> Result<(), Problem> {
    let (records, dropped) = (summary.records, summary.dropped);
    let empties = replaced > 0 && records == 0;
    let what = match (summary.loses_many(), empties) {
        (false, false) => return Ok(()),
        (true, _) => format!(
            "{dropped} of {} records lack a value and would be left out",
            records + dropped
        ),
        (false, true) => format!("{replaced} records would be replaced by none"),
    };
    let detail = format!(
        "{what}; nothing was kept of this upload. Mend the records, or send them again with \
         allow_loss=true where this is meant"
    );
    Err(
        Problem::new(ProblemKind::WouldLoseRecords, detail).with_loss(LossView {
            records,
            dropped,
            replaced,
            attributes: MissingView::of(summary),
        }),
    )
}

/// The form of a body of records.
fn upload_format(headers: &HeaderMap) -> Result<UploadFormat, Problem> {
    Ok(match require_media_type(headers, &RECORD_MEDIA_TYPES)? {
        "text/csv" => UploadFormat::Streamed(RecordFormat::Csv),
        "application/x-ndjson" => UploadFormat::Streamed(RecordFormat::Ndjson),
        _ => UploadFormat::Parquet,
    })
}

/// The form of a body of many preferences.
pub(super) fn record_format(headers: &HeaderMap) -> Result<RecordFormat, Problem> {
    match require_media_type(headers, &MEDIA_TYPES)? {
        "text/csv" => Ok(RecordFormat::Csv),
        _ => Ok(RecordFormat::Ndjson),
    }
}

/// Upload records
///
/// All of them become one new version, or none: then the answer lists up to
/// 100 errors by line, and their number; of Parquet, whose columns are flat,
/// the line is the record's number from 1, or 0 for the columns themselves.
/// The body is streamed, and may be packed by gzip or zstd. An upload that
/// leaves out more than 5 % of its records for missing values, or that replaces
/// records by none, is refused unless `allow_loss` is true. With `dry_run` all of
/// this is answered, and nothing is kept.
#[utoipa::path(
    post, path = "/v1/datasets/{id}/records", operation_id = "upload_records", tag = "datasets",
    params(("id" = DatasetId, Path, description = "The dataset."), UploadQuery,
        ("if-match" = Option<String>, Header, description = "Tags, one of which the dataset must have; `*`: any."),
        ("content-encoding" = Option<String>, Header, description = "`gzip` or `zstd`, where the body is packed.")),
    request_body(description = "Records; the header of CSV names the attributes of the schema.",
        content((String = "text/csv", example = "patient,age,salary\n1001,34,52000\n"), (String = "application/x-ndjson"),
            (Binary = "application/vnd.apache.parquet"))),
    responses((status = 201, description = "The new version.", body = UploadView),
        (status = 200, description = "What the upload would make (`dry_run`).", body = UploadCheckView)),
)]
async fn upload_records(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
    UrlQuery(query): UrlQuery<UploadQuery>,
    request: Request,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let (parts, body) = request.into_parts();
    let format = upload_format(&parts.headers)?;
    let permit = Arc::clone(&state.uploads).try_acquire_owned();
    let permit = permit.map(Arc::new).map_err(|_| {
        let limit = state.settings.limits.uploads_max();
        let detail = format!(
            "already at uploads_max, {} uploads at the same time",
            limit.value
        );
        Problem::new(ProblemKind::TooManyUploads, detail)
    })?;
    let form = (format, ContentCoding::of_body(&parts.headers)?);
    let intake = intake(&state, id, query.mode, form).await?;
    super::datasets::require(&parts.headers, &intake.dataset)?;
    let (base_version, mode) = (intake.dataset.version, intake.mode);
    let (stays, replaced) = match mode {
        VersionMode::Append => (intake.dataset.records, 0),
        VersionMode::Replace => (0, intake.dataset.records),
    };
    let hierarchies = upload::pins(&intake.hierarchies);
    let (summary, chunks) = upload::receive(&state, body, intake, Arc::clone(&permit)).await?;
    failpoint::reached("upload-spooled");
    if !query.allow_loss {
        refuse_loss(&summary, replaced)?;
    }
    if query.dry_run {
        let view = UploadCheckView::new(&summary, stays);
        return Ok(Answer::new(StatusCode::OK, &view));
    }
    let version = NewVersion {
        dataset: id,
        base_version,
        mode,
        records: summary.records,
        dropped: summary.dropped,
        hierarchies,
        created_by: principal.name().to_owned(),
        chunks: Box::new(chunks),
    };
    let uploaded = move |row: &VersionRow| {
        let view = UploadView::new(row, &summary);
        Answer::new(StatusCode::CREATED, &view)
    };
    let kept = uploaded.clone();
    let act = principal.act_answering(move |row| Some(kept(row)));
    let row = state.store.version_commit(act, version).await?;
    failpoint::reached("upload-committed");
    Ok(uploaded(&row))
}

/// What the upload is read for, as it stands now.
async fn intake(
    state: &AppState,
    id: DatasetId,
    mode: UploadMode,
    (format, coding): (UploadFormat, ContentCoding),
) -> Result<Intake, Problem> {
    let dataset = state.store.dataset_get(id).await?;
    let schema = super::stored_schema(&dataset)?;
    let nothing = serde_json::Value::Null;
    let limits = &state.settings.limits;
    let (mode, pinned, records_before) = match mode {
        UploadMode::Append => (VersionMode::Append, &dataset.hierarchies, dataset.records),
        UploadMode::Replace => (VersionMode::Replace, &nothing, 0),
    };
    let hierarchies =
        upload::load_hierarchies(state.store.as_ref(), &schema, pinned, false).await?;
    Ok(Intake {
        hierarchies,
        schema,
        format,
        coding: (
            coding,
            Growth {
                ratio_max: limits.inflation_ratio_max,
                bytes_max: limits.upload_bytes_max,
            },
        ),
        mode,
        limits: ReadLimits {
            records_max: limits.records_max.saturating_sub(records_before),
            ..limits.of_records()
        },
        dataset,
    })
}
