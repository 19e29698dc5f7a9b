//! Inspections: what a file is, before there is a dataset for it.

use axum::extract::{Request, State};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::catalog::JobProposal;
use vizard_anonymizer::inspect;
use vizard_anonymizer::microdata::attribute::NAME_CHARACTERS_MAX;

use super::query::InspectionQuery;
use super::records::upload_share;
use super::tables::Binary;
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::coding;
use crate::http::described::SchemaDocument;
use crate::http::extract::{UrlQuery, require_media_type};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::http::upload::inspect_body;

/// Media types of files that are inspected; what a file is, its bytes say.
const MEDIA_TYPES: [&str; 3] = [
    "text/csv",
    "application/x-ndjson",
    "application/vnd.apache.parquet",
];

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(inspect_file))
}

/// What a file is, and what its schema may be.
#[derive(ToSchema)]
#[schema(as = Inspection)]
#[allow(dead_code, reason = "describes what `inspect` says of a file")]
struct InspectionView {
    /// Records behind the header.
    records: u64,
    /// Whether the body was as large as it may be, so that the file goes on.
    is_cut: bool,
    /// How the file is written, as a schema's `format` says it.
    #[schema(value_type = Object)]
    format: Value,
    /// What shows how the file is written.
    evidence: Vec<String>,
    /// What a person must decide or mend.
    questions: Vec<String>,
    /// The columns in the order of the file.
    attributes: Vec<AttributeProposalView>,
    /// Small sets of quasi-identifiers by which many records stand alone.
    sets: Vec<SmallSetView>,
    /// Records that shares of attributes were measured on: all, or evenly spaced
    /// ones.
    records_measured: u64,
    /// Records that sets were measured on; of fewer, more stand alone.
    records_of_sets: u64,
    /// The proposed schema, as `POST /v1/datasets` takes it; null where no
    /// column names the person.
    schema: Option<SchemaDocument>,
    /// Hierarchies that the schema names, each as `PUT /v1/hierarchies/{name}`
    /// takes it.
    #[schema(value_type = Object)]
    hierarchies: Value,
    /// How often the most frequent value of each sensitive attribute stands.
    sensitive: Vec<SensitiveView>,
    /// A job for each purpose.
    jobs: Vec<JobProposalView>,
}

/// One column, and what it may be.
#[derive(ToSchema)]
#[schema(as = AttributeProposal)]
#[allow(dead_code, reason = "describes what `inspect` says of a column")]
struct AttributeProposalView {
    /// Its name in the header.
    name: String,
    /// The proposed role.
    role: String,
    /// The proposed type.
    r#type: Option<String>,
    /// Why, a sentence each.
    reasons: Vec<String>,
    /// Distinct values, missing ones aside.
    distinct: u64,
    /// Whether `distinct` is an estimate.
    is_estimate: bool,
    /// Cells without a value.
    missing: u64,
    /// What it tells apart; of quasi-identifiers.
    risk: Option<AttributeRiskView>,
    /// Hierarchies by rule that fit it: rule, words, and an example line.
    #[schema(value_type = Vec<Object>)]
    hierarchies: Vec<Value>,
}

/// What an attribute tells apart.
#[derive(ToSchema)]
#[schema(as = AttributeRisk)]
#[allow(dead_code, reason = "describes what `inspect` says of a column")]
struct AttributeRiskView {
    /// Share of records whose value no other record has.
    distinction: f64,
    /// Share of pairs of records whose values differ.
    separation: f64,
}

/// A set of attributes by which many records stand alone.
#[derive(ToSchema)]
#[schema(as = SmallSet)]
#[allow(dead_code, reason = "describes what `inspect` says of a file")]
struct SmallSetView {
    /// Their names.
    attributes: Vec<String>,
    /// Share of records that no other one is like.
    unique: f64,
}

/// How the values of a sensitive attribute are spread.
#[derive(ToSchema)]
#[schema(as = SensitiveCount)]
#[allow(dead_code, reason = "describes what `inspect` says of a column")]
struct SensitiveView {
    /// Name of the attribute.
    attribute: String,
    /// Records with the most frequent known value.
    most_frequent: u64,
    /// Records without a value.
    missing: u64,
    /// Distinct known values.
    distinct: u64,
}

/// A job that fits a purpose.
#[derive(ToSchema)]
#[schema(as = JobProposal)]
#[allow(dead_code, reason = "describes what `catalog` proposes")]
struct JobProposalView {
    /// `public` (largest re-identification 0.09), `contract` (0.2), or one of the
    /// operator's own.
    purpose: String,
    /// What a job calls its engine.
    engine: String,
    /// Its parameters.
    #[schema(value_type = Object)]
    parameters: Value,
    /// Why, a sentence each.
    reasons: Vec<String>,
}

/// An inspection with the jobs that fit.
#[derive(Serialize)]
struct Proposed {
    #[serde(flatten)]
    inspection: Value,
    jobs: Vec<JobProposal>,
}

/// Inspect a file
///
/// Says what a file of CSV, in whatever dialect, of NDJSON or of Parquet is, and
/// proposes a schema with reasons, hierarchies by rule and a job for each purpose.
/// The body is the file or its first 64 MiB; of Parquet the whole of it. Nothing is
/// kept of it, and nothing is made: a person reads the answer, changes it, and sends
/// the parts to `POST /v1/datasets`, `PUT /v1/hierarchies/{name}` and `POST /v1/jobs`.
#[utoipa::path(
    post, path = "/v1/inspections", operation_id = "inspect_file", tag = "datasets",
    params(InspectionQuery,
        ("content-encoding" = Option<String>, Header, description = "`gzip` or `zstd`, where the body is packed.")),
    request_body(description = "A file of CSV with a header or of NDJSON, or its first 64 MiB; or one of Parquet.",
        content((String = "text/csv", example = "Patient;Alter;PLZ\n0017;90+;01067\n"),
            (String = "application/x-ndjson"), (Binary = "application/vnd.apache.parquet"))),
    responses((status = 200, description = "What the file is, and what its schema may be.", body = InspectionView)),
)]
async fn inspect_file(
    State(state): State<AppState>,
    principal: Principal,
    UrlQuery(query): UrlQuery<InspectionQuery>,
    request: Request,
) -> Result<Answer, Problem> {
    let is_name = (1..=NAME_CHARACTERS_MAX).contains(&query.name.chars().count());
    if !is_name || query.name.contains(char::is_control) {
        let detail = "name has 1 to 64 characters and no control character";
        return Err(Problem::new(ProblemKind::InvalidQuery, detail));
    }
    let (parts, body) = request.into_parts();
    require_media_type(&parts.headers, &MEDIA_TYPES)?;
    let coding = coding::of_body(&parts.headers)?;
    let share = upload_share(&state, &principal)?;
    let (inspection, jobs) = inspect_body(&state, body, (query.name, coding), share).await?;
    Ok(Answer::ok(&Proposed {
        inspection: inspect::document(&inspection),
        jobs,
    }))
}
