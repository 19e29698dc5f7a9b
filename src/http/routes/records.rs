//! Records: uploaded, never given back.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::microdata::{
    Doubt, DoubtfulValues, Merged, PartsSummary, ReadLimits, ReadSummary, RecordFormat, Schema,
    UpsertCounts,
};

use super::part_views::{self, OtherResourceView, PartView, RecordParts};
use super::pinned::{self, PinnedView};
use super::query::{UploadHierarchies, UploadMode, UploadQuery};
use super::tables::Binary;
use crate::failpoint;
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::coding::{self, ContentCoding, Growth};
use crate::http::described::DoubtWord;
use crate::http::extract::{UrlPath, UrlQuery, require_media_type};
use crate::http::problem::{LossView, MissingView, Problem, ProblemKind};
use crate::http::shares::Share;
use crate::http::state::AppState;
use crate::http::upload::{self, Boundary, UploadContext, UploadFormat, Upserted};
use crate::ids::DatasetId;
use crate::store::{NewVersion, VersionMode, VersionRow};

/// Media types of many preferences.
const MEDIA_TYPES: [&str; 2] = ["text/csv", "application/x-ndjson"];
/// Media types of records; the last one is of anybody's records alone.
const RECORD_MEDIA_TYPES: [&str; 4] = [
    "text/csv",
    "application/x-ndjson",
    "application/vnd.apache.parquet",
    "multipart/form-data",
];

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(upload_records))
}

/// Spellings of one value in an upload: counts, never values.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct NearDuplicatesView {
    /// The attribute.
    #[schema(examples("diagnosis"))]
    attribute: String,
    /// Spellings that a job takes for another one, or for the missing value.
    #[schema(examples(14))]
    spellings: u64,
    /// Records that have them.
    #[schema(examples(341))]
    records: u64,
}

impl NearDuplicatesView {
    /// Those that a version's row tells of.
    pub(super) fn of(kept: &Value) -> Vec<Self> {
        // Written by this program: anything else says nothing.
        Vec::deserialize(kept).unwrap_or_default()
    }

    /// As a version keeps them.
    fn kept(merged: &[Merged], schema: &Schema) -> Value {
        let views = merged.iter().map(|merged| Self {
            attribute: schema.attribute(merged.attribute).name.clone(),
            spellings: merged.spellings,
            records: merged.records,
        });
        serde_json::to_value(views.collect::<Vec<_>>()).unwrap_or_default()
    }
}

/// What an upload made.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UploadView {
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
    /// Values that are probably not what they seem. They were taken; the schema
    /// answers what was meant.
    questions: Vec<QuestionView>,
    /// Records in the new version.
    #[schema(examples(98729))]
    total_records: u64,
    /// Spellings of one value in this upload, by attribute: a job counts each
    /// value once, whatever its spelling.
    near_duplicates: Vec<NearDuplicatesView>,
    /// Hierarchies that the upload was read with; the version pins them.
    hierarchies: Vec<PinnedView>,
    /// What each table brought, of an upload of parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<PartView>>,
    /// Resources that the mapping does not name, of an upload of parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_resources: Option<Vec<OtherResourceView>>,
    /// Subjects that an upsert touched.
    #[serde(skip_serializing_if = "Option::is_none")]
    subjects: Option<UpsertedView>,
    /// SHA-256 of the upload's content, whatever form it came in: told to who
    /// sent it, and kept nowhere.
    sha256: String,
}

/// Values of one attribute that are probably not what they seem.
#[derive(Debug, Serialize, ToSchema)]
struct QuestionView {
    /// The attribute.
    #[schema(examples("discharged"))]
    attribute: String,
    /// What was seen.
    #[schema(value_type = DoubtWord)]
    kind: Doubt,
    /// In so many cells.
    #[schema(examples(212))]
    count: u64,
    /// What the schema may say: one of these.
    answers: [&'static str; 2],
}

impl From<&DoubtfulValues> for QuestionView {
    fn from(question: &DoubtfulValues) -> Self {
        Self {
            attribute: question.attribute.clone(),
            kind: question.doubt,
            count: question.count,
            answers: question.answers(),
        }
    }
}

/// Subjects that an upsert touched.
#[derive(Debug, Serialize, ToSchema)]
struct UpsertedView {
    /// Subjects that were not there.
    #[schema(examples(12))]
    added: u64,
    /// Subjects whose records are now the upload's.
    #[schema(examples(230))]
    replaced: u64,
    /// Subjects that are there no more: missing values left out all of their records in the upload.
    #[schema(examples(0))]
    removed: u64,
    /// Subjects that the upload does not name.
    #[schema(examples(98499))]
    kept: u64,
}

impl From<UpsertCounts> for UpsertedView {
    fn from(counts: UpsertCounts) -> Self {
        Self {
            added: counts.added,
            replaced: counts.replaced,
            removed: counts.removed,
            kept: counts.kept,
        }
    }
}

impl UploadView {
    fn new(
        row: &VersionRow,
        (summary, parts): (&ReadSummary, Option<&PartsSummary>),
        upserted: Option<Upserted>,
        pinned: &[PinnedView],
    ) -> Self {
        Self {
            version: row.version,
            records: row.records,
            dropped: row.dropped,
            attributes: MissingView::of(summary),
            questions: summary.questions.iter().map(QuestionView::from).collect(),
            total_records: row.total_records,
            near_duplicates: NearDuplicatesView::of(&row.near_duplicates),
            hierarchies: pinned.to_vec(),
            parts: parts.map(part_views::tables),
            other_resources: parts.map(part_views::others),
            subjects: upserted.map(|upserted| upserted.subjects.into()),
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
    /// Values that are probably not what they seem.
    questions: Vec<QuestionView>,
    /// Records that the new version would have.
    #[schema(examples(98729))]
    total_records: u64,
    /// What each table brought, of an upload of parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<PartView>>,
    /// Resources that the mapping does not name, of an upload of parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_resources: Option<Vec<OtherResourceView>>,
    /// Subjects that an upsert would touch.
    #[serde(skip_serializing_if = "Option::is_none")]
    subjects: Option<UpsertedView>,
    /// Spellings of one value in the upload, by attribute.
    near_duplicates: Vec<NearDuplicatesView>,
    /// Hierarchies that the upload was read with.
    hierarchies: Vec<PinnedView>,
    /// SHA-256 of the upload's content, whatever form it came in.
    sha256: String,
}

impl UploadCheckView {
    fn new(
        (summary, parts): (&ReadSummary, Option<&PartsSummary>),
        (records_before, upserted): (u64, Option<Upserted>),
        near_duplicates: &Value,
        hierarchies: Vec<PinnedView>,
    ) -> Self {
        Self {
            records: summary.records,
            dropped: summary.dropped,
            attributes: MissingView::of(summary),
            questions: summary.questions.iter().map(QuestionView::from).collect(),
            total_records: records_before + summary.records,
            parts: parts.map(part_views::tables),
            other_resources: parts.map(part_views::others),
            subjects: upserted.map(|upserted| upserted.subjects.into()),
            near_duplicates: NearDuplicatesView::of(near_duplicates),
            hierarchies,
            sha256: summary.sha256_hex(),
        }
    }
}

/// Refuses an upload that leaves out many of its records, or that puts none in
/// the place of those that are there.
fn refuse_loss(
    (summary, parts): (&ReadSummary, Option<&PartsSummary>),
    replaced: u64,
) -> Result<(), Problem> {
    let (records, dropped) = (summary.records, summary.dropped);
    let empties = replaced > 0 && records == 0;
    let unknown = parts.and_then(PartsSummary::loses_many);
    let what = match (summary.loses_many(), unknown) {
        (true, _) => format!(
            "{dropped} of {} records lack a value and would be left out",
            records + dropped
        ),
        (_, Some(table)) => format!(
            "{} of {} rows of a table are of unknown subjects and would be left out",
            table.unknown_subjects, table.rows
        ),
        _ if empties => format!("{replaced} records would be replaced by none"),
        _ => return Ok(()),
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

/// Refuses a correction that says nothing, or whose missing values leave out
/// records: whose they are nobody looked at.
fn require_whole(summary: &ReadSummary) -> Result<(), Problem> {
    if summary.records > 0 && summary.dropped == 0 {
        Ok(())
    } else {
        let detail = "a correction has at least one record, and none that lacks a value; to \
                          take somebody out, erase them";
        Err(Problem::new(ProblemKind::InvalidBody, detail))
    }
}

/// The form of a body of records.
fn upload_format(headers: &HeaderMap, is_of_one: bool) -> Result<UploadFormat, Problem> {
    let known = &RECORD_MEDIA_TYPES[..RECORD_MEDIA_TYPES.len() - usize::from(is_of_one)];
    Ok(match require_media_type(headers, known)? {
        "text/csv" => UploadFormat::Streamed(RecordFormat::Csv),
        "application/x-ndjson" => UploadFormat::Streamed(RecordFormat::Ndjson),
        "multipart/form-data" => {
            let text = headers.get(header::CONTENT_TYPE);
            let text = text.and_then(|value| value.to_str().ok());
            let boundary = text.and_then(Boundary::of_media_type).ok_or_else(|| {
                let detail =
                    "the content type of parts names their boundary, of 1 to 70 characters";
                Problem::new(ProblemKind::UnsupportedMediaType, detail)
            })?;
            UploadFormat::Parts(boundary)
        }
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
/// The body is streamed, and may be packed by gzip or zstd. As
/// `multipart/form-data` it is several tables about one subject, which are joined
/// by the subject's key. An upload that
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
            (Binary = "application/vnd.apache.parquet"), (RecordParts = "multipart/form-data"))),
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
    take_upload(&state, &principal, (id, None), query, request).await
}

/// Takes an upload, of anybody's records or of those of one subject alone.
pub(super) async fn take_upload(
    state: &AppState,
    principal: &Principal,
    (id, only): (DatasetId, Option<String>),
    query: UploadQuery,
    request: Request,
) -> Result<Answer, Problem> {
    let (parts, body) = request.into_parts();
    let format = upload_format(&parts.headers, only.is_some())?;
    let share = Arc::new(upload_share(state, principal)?);
    let form = (format, coding::of_body(&parts.headers)?);
    let mut intake = intake(state, id, (query.mode, query.hierarchies), form).await?;
    intake.only = only.map(|named| super::subject_of(&intake.schema, &named));
    let is_of_one = intake.only.is_some();
    let demanded = super::datasets::demanded(&parts.headers, &intake.dataset)?;
    let (base_version, mode) = (intake.dataset.version, intake.mode);
    let records_before = intake.dataset.records;
    let hierarchies = upload::pins(&intake.hierarchies.set);
    let heads = intake.hierarchies.heads.clone();
    let pinned = PinnedView::of(&heads, &intake.dataset.hierarchies);
    let schema = intake.schema.clone();
    let received = match upload::receive(state, body, intake, Arc::clone(&share)).await {
        Err(problem) => return Err(pinned::hinted(state, problem, (id, &schema), &heads).await),
        Ok(received) => received,
    };
    let (summary, upserted, merged) = (received.summary, received.upserted, received.merged);
    let tables = received.parts;
    let replaced = match (mode, upserted) {
        (VersionMode::Replace, _) => records_before,
        (_, Some(upserted)) => upserted.records_replaced,
        (_, None) => 0,
    };
    failpoint::reached("upload-spooled");
    if is_of_one {
        require_whole(&summary)?;
    }
    if !query.allow_loss {
        refuse_loss((&summary, tables.as_ref()), replaced)?;
    }
    let near_duplicates = NearDuplicatesView::kept(&merged, &schema);
    if query.dry_run {
        let stays = match (mode, upserted) {
            (VersionMode::Replace, _) => 0,
            (_, Some(upserted)) => upserted.records_kept,
            (_, None) => records_before,
        };
        let read = (&summary, tables.as_ref());
        let view = UploadCheckView::new(read, (stays, upserted), &near_duplicates, pinned);
        return Ok(Answer::new(StatusCode::OK, &view));
    }
    let version = NewVersion {
        dataset: id,
        base_version,
        mode,
        records: summary.records,
        dropped: summary.dropped,
        hierarchies,
        near_duplicates,
        created_by: principal.name().to_owned(),
        rewrites: upserted
            .filter(|_| replaced > 0)
            .map(|upserted| upserted.records_kept),
        chunks: received.chunks,
    };
    let uploaded = move |row: &VersionRow| {
        let view = UploadView::new(row, (&summary, tables.as_ref()), upserted, &pinned);
        Answer::new(StatusCode::CREATED, &view)
    };
    let kept = uploaded.clone();
    let act = principal.act_answering(move |row| Some(kept(row)));
    let act = act.only_if(demanded);
    let row = state.store.version_commit(act, version).await?;
    failpoint::reached("upload-committed");
    Ok(uploaded(&row))
}

/// A place among those who read or look through records.
pub(super) fn upload_share(state: &AppState, principal: &Principal) -> Result<Share, Problem> {
    state.uploads.take(principal.name(), 1).map_err(|most| {
        let detail = format!("already at {most} at the same time");
        Problem::new(ProblemKind::TooManyUploads, detail)
    })
}

/// What the upload is read for, as it stands now.
async fn intake(
    state: &AppState,
    id: DatasetId,
    (mode, which): (UploadMode, UploadHierarchies),
    (format, coding): (UploadFormat, ContentCoding),
) -> Result<UploadContext, Problem> {
    let dataset = state.store.dataset_get(id).await?;
    let schema = super::stored_schema(&dataset)?;
    let limits = &state.settings.limits;
    let (mode, records_before) = match mode {
        UploadMode::Append => (VersionMode::Append, dataset.records),
        // Of those before some may go: what is left is counted with the upload.
        UploadMode::Upsert => (VersionMode::Upsert, 0),
        UploadMode::Replace => (VersionMode::Replace, 0),
    };
    let store = state.store.as_ref();
    let load = async |pinned| upload::load_hierarchies(store, id, &schema, pinned, false).await;
    let hierarchies = match which {
        UploadHierarchies::Pinned => load(&dataset.hierarchies).await?,
        UploadHierarchies::Latest => {
            let latest = load(&Value::Null).await?;
            if mode != VersionMode::Replace {
                let pinned = load(&dataset.hierarchies).await?;
                upload::require_extended(&pinned.set, &latest.set)?;
            }
            latest
        }
    };
    Ok(UploadContext {
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
        only: None,
        limits: ReadLimits {
            records_max: limits.records_max.saturating_sub(records_before),
            ..limits.of_records()
        },
        dataset,
    })
}
