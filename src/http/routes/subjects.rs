//! One person's rights: a copy of what is held of them, a correction, an
//! erasure.
//!
//! The copy is the one door through which raw records leave the service: those
//! of one subject, to a steward, with a row in the audit log.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::query::{SubjectEraseQuery, UploadQuery};
use super::records::{UploadView, take_upload, upload_share};
use super::tables::Binary;
use super::{subject_of, subject_search};
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::described::TermsDocument;
use crate::http::extract::{UrlPath, UrlQuery};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::http::upload::without_subject;
use crate::ids::{DatasetId, ReleaseId};
use crate::store::{HeldTerms, HeldToken, ReleaseState, Remains, SubjectErasure};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(get_subject, put_subject, erase_subject))
}

/// A copy of what is held of one person.
#[derive(Serialize, ToSchema)]
struct SubjectView {
    /// The subject's key, as it is kept.
    #[schema(examples("1002"))]
    subject: String,
    /// Their records, in every version that is still held.
    records: Vec<SubjectRecordView>,
    /// Their terms and the history of them, oldest first.
    terms: Vec<SubjectTermsView>,
    /// Tokens that were made for them and can be used; never the tokens.
    tokens: Vec<SubjectTokenHeldView>,
    /// Releases of the dataset that they are in.
    releases: Vec<SubjectReleaseView>,
}

/// A record.
#[derive(Serialize, ToSchema)]
struct SubjectRecordView {
    /// The versions that have it.
    versions: Vec<u64>,
    /// Its values by attribute; null where one is missing.
    #[schema(value_type = Object)]
    values: Value,
}

/// Terms, in force or of before.
#[derive(Serialize, ToSchema)]
struct SubjectTermsView {
    /// The preference version that brought them.
    version: u64,
    /// The one that replaced or removed them; null: they are in force.
    until_version: Option<u64>,
    /// When they were brought.
    created_at: DateTime<Utc>,
    /// What the subject asked for.
    #[schema(value_type = TermsDocument)]
    terms: Value,
}

/// A token.
#[derive(Serialize, ToSchema)]
struct SubjectTokenHeldView {
    /// When it was made.
    created_at: DateTime<Utc>,
    /// Until when it can be used.
    expires_at: DateTime<Utc>,
}

/// A release that a subject is in.
#[derive(Serialize, ToSchema)]
struct SubjectReleaseView {
    /// The release.
    release: ReleaseId,
    /// Where it stands.
    state: ReleaseState,
    /// When it was made.
    created_at: DateTime<Utc>,
    /// When it was published, if it was.
    published_at: Option<DateTime<Utc>>,
    /// When it was withdrawn, if it was.
    withdrawn_at: Option<DateTime<Utc>>,
}

impl From<HeldTerms> for SubjectTermsView {
    fn from(held: HeldTerms) -> Self {
        Self {
            version: held.version,
            until_version: held.until_version,
            created_at: held.created_at,
            terms: held.document,
        }
    }
}

impl From<HeldToken> for SubjectTokenHeldView {
    fn from(held: HeldToken) -> Self {
        Self {
            created_at: held.created_at,
            expires_at: held.expires_at,
        }
    }
}

/// Give a copy of what is held of one person
///
/// Their records in every version that is still held, their terms with their
/// history, their tokens and the releases that they are in. Lists are empty
/// where nothing is held. The audit log tells of it, without the subject.
#[utoipa::path(
    get, path = "/v1/datasets/{id}/subjects/{subject}", operation_id = "get_subject", tag = "subjects",
    params(("id" = DatasetId, Path, description = "The dataset."),
        ("subject" = String, Path, description = "Key of the subject.")),
    responses((status = 200, description = "What is held.", body = SubjectView)),
)]
async fn get_subject(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath((id, subject)): UrlPath<(DatasetId, String)>,
) -> Result<Json<SubjectView>, Problem> {
    principal.sees(id, "dataset")?;
    let dataset = state.store.dataset_get(id).await?;
    let subject = subject_of(&super::stored_schema(&dataset)?, &subject);
    let _share = upload_share(&state, &principal)?;
    let records = subject_search::records(&state, id, &subject).await?;
    let releases = subject_search::releases(&state, id, &subject).await?;
    let count = records.len() as u64;
    let held = state
        .store
        .subject_export(principal.act(), id, subject.clone(), count);
    let held = held.await?;
    let records = records.into_iter().map(|record| SubjectRecordView {
        versions: record.versions,
        values: Value::Object(record.values),
    });
    let releases = releases.into_iter().filter(|release| release.holds());
    let releases = releases.map(|release| SubjectReleaseView {
        release: release.row.id,
        state: release.row.state,
        created_at: release.row.created_at,
        published_at: release.row.published_at,
        withdrawn_at: release.row.withdrawn_at,
    });
    Ok(Json(SubjectView {
        subject,
        records: records.collect(),
        terms: held.terms.into_iter().map(SubjectTermsView::from).collect(),
        tokens: held
            .tokens
            .into_iter()
            .map(SubjectTokenHeldView::from)
            .collect(),
        releases: releases.collect(),
    }))
}

/// Correct one person's records
///
/// The body has all records of this subject, in any form of an upload, and of
/// nobody else. They take the place of those that are there: a new version, as
/// by `mode=upsert`. Earlier versions keep what was wrong for as long as the
/// dataset's retention says.
#[utoipa::path(
    put, path = "/v1/datasets/{id}/subjects/{subject}", operation_id = "put_subject", tag = "subjects",
    params(("id" = DatasetId, Path, description = "The dataset."),
        ("subject" = String, Path, description = "Key of the subject."),
        ("if-match" = Option<String>, Header, description = "Tags, one of which the dataset must have; `*`: any."),
        ("content-encoding" = Option<String>, Header, description = "`gzip` or `zstd`, where the body is packed.")),
    request_body(description = "The subject's records; the header of CSV names the attributes of the schema.",
        content((String = "text/csv", example = "patient,age,salary\n1001,34,52000\n"), (String = "application/x-ndjson"),
            (Binary = "application/vnd.apache.parquet"))),
    responses((status = 201, description = "The new version.", body = UploadView)),
)]
async fn put_subject(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath((id, subject)): UrlPath<(DatasetId, String)>,
    request: Request,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let query = UploadQuery::of_one_subject();
    take_upload(&state, &principal, (id, Some(subject)), query, request).await
}

/// What an erasure of a person removed.
#[derive(Serialize, ToSchema)]
struct SubjectErasureView {
    /// The latest version of the records: a new one, if they were in it.
    version: u64,
    /// Chunks of earlier versions, which went with it.
    chunks: u64,
    /// Jobs that were queued or running.
    jobs_cancelled: u64,
    /// Drafts that they were in.
    drafts: u64,
    /// Documents of terms, the history included, in every dataset of the population.
    terms: u64,
    /// Tokens that could be used.
    tokens: u64,
    /// Published releases that they are in: withdraw them, or publish others in
    /// their place.
    affected_releases: Vec<ReleaseId>,
    /// Whether the bytes are gone from the store's files.
    complete: bool,
    /// What stays of them.
    remains: Remains,
}

/// Erase one person
///
/// Their records from all versions (those before the new latest one go as a
/// whole, with jobs on them), drafts that they are in, their rows in what is
/// kept beside releases, their terms and tokens, and the answers kept under
/// idempotency keys of the dataset. An exclusion stays in force, so that
/// the next upload does not publish them again, unless `keep_exclusion` is false.
/// Published releases stay, and are named. 202: bytes are still in the store's
/// files; the same request later answers 200 when they are gone. On PostgreSQL
/// they stay until it writes over them (`remains`); the dataset's keys, which
/// open sealed ones, stay too.
#[utoipa::path(
    delete, path = "/v1/datasets/{id}/subjects/{subject}", operation_id = "erase_subject", tag = "subjects",
    params(("id" = DatasetId, Path, description = "The dataset."),
        ("subject" = String, Path, description = "Key of the subject."), SubjectEraseQuery),
    responses((status = 200, description = "What was removed.", body = SubjectErasureView),
        (status = 202, description = "What was removed; bytes are being wiped.", body = SubjectErasureView)),
)]
async fn erase_subject(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath((id, subject)): UrlPath<(DatasetId, String)>,
    UrlQuery(query): UrlQuery<SubjectEraseQuery>,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let dataset = state.store.dataset_get(id).await?;
    let schema = super::stored_schema(&dataset)?;
    let subject = subject_of(&schema, &subject);
    let _share = upload_share(&state, &principal)?;
    let records = subject_search::records(&state, id, &subject).await?;
    let releases = subject_search::releases(&state, id, &subject).await?;
    let rewritten = without_subject(&state, &dataset, (schema, subject.clone())).await?;
    let is_draft = |state: ReleaseState| state == ReleaseState::Draft;
    let mut erasure = SubjectErasure {
        dataset: id,
        subject,
        base_version: dataset.version,
        releases: releases.iter().map(|release| release.row.id).collect(),
        is_in_records: !records.is_empty(),
        hierarchies: dataset.hierarchies,
        drafts: Vec::new(),
        lineages: Vec::new(),
        candidates: Vec::new(),
        keep_exclusion: query.keep_exclusion,
        created_by: principal.name().to_owned(),
    };
    let mut affected_releases = Vec::new();
    for release in releases.into_iter().filter(|release| release.holds()) {
        let row = release.row;
        match row.state {
            state if is_draft(state) => {
                erasure.drafts.push(row.id);
                continue;
            }
            ReleaseState::Published => affected_releases.push(row.id),
            _ => {}
        }
        erasure
            .lineages
            .extend(release.lineage.map(|kept| (row.id, kept)));
        erasure
            .candidates
            .extend(release.candidates.map(|kept| (row.id, kept)));
    }
    let erased = state
        .store
        .subject_erase(principal.act(), erasure, rewritten)
        .await?;
    let status = match erased.remains {
        Remains::Wiping => StatusCode::ACCEPTED,
        _ => StatusCode::OK,
    };
    let view = SubjectErasureView {
        version: erased.version,
        chunks: erased.chunks,
        jobs_cancelled: erased.jobs_cancelled,
        drafts: erased.drafts,
        terms: erased.terms,
        tokens: erased.tokens,
        affected_releases,
        complete: erased.remains.is_complete(),
        remains: erased.remains,
    };
    Ok(Answer::new(status, &view))
}
