//! Report and verification of a release: all of it for stewards, the public
//! part for analysts.
//!
//! Public is what the release alone shows: measures that need the original
//! table stay with stewards, and of the verification analysts see which
//! guarantees were claimed and attained, not where they came out worst, nor
//! how near anyone's own terms were reached: nobody published those.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{Html, IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::utility::{UtilityReport, public_part};

use super::affected::affected_release;
use super::explorations::explored;
use super::releases::{visible_manifest, visible_release, whole_manifest};
use crate::http::auth::{Principal, Role};
use crate::http::extract::UrlPath;
use crate::http::negotiate::preferred;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::ids::ReleaseId;
use crate::store::{ReleaseDocument, ReleaseRead, ReleaseRow};

/// What a browser is told of a page: it loads and runs nothing.
pub(super) const PAGE_HEADERS: [(HeaderName, &str); 2] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(get_release_report))
        .routes(routes!(get_release_verification))
}

/// Utility and risk of a release.
#[derive(ToSchema)]
#[schema(as = Report)]
#[allow(
    dead_code,
    reason = "describes `utility::UtilityReport`, which knows nothing of OpenAPI"
)]
struct ReportDocument {
    /// `vizard-report/1`.
    format: String,
    /// Records published.
    records: u64,
    /// Measures by name.
    measures: std::collections::BTreeMap<String, MeasureDocument>,
}

/// One measure of a report.
#[derive(ToSchema)]
#[schema(as = Measure)]
#[allow(
    dead_code,
    reason = "describes `utility::Measure`, which knows nothing of OpenAPI"
)]
struct MeasureDocument {
    /// A short name for people.
    title: String,
    /// Who may see it: `analyst` or `steward`.
    audience: String,
    /// The definition, in words and symbols.
    definition: String,
    /// Where the definition comes from.
    source: String,
    /// The figures.
    value: Value,
}

/// What the verifier found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Verification)]
struct VerificationView {
    /// Whether every guarantee and every structural check holds.
    holds: bool,
    /// What the manifest claims, and what the published bytes attain.
    #[schema(value_type = Vec<CheckDocument>)]
    guarantees: Vec<Value>,
    /// What every release must be. Stewards only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<CheckDocument>>)]
    structure: Option<Value>,
    /// What attacks attain. Stewards only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<CheckDocument>>)]
    attacks: Option<Value>,
}

/// One check of a verification.
#[derive(ToSchema)]
#[schema(as = Check)]
#[allow(
    dead_code,
    reason = "describes `verify::Check`, which knows nothing of OpenAPI"
)]
struct CheckDocument {
    /// What was checked.
    kind: String,
    /// Attribute concerned, where one is.
    #[schema(required = false, nullable = false)]
    attribute: Option<String>,
    /// What is claimed or demanded.
    #[schema(required = false)]
    claimed: Option<f64>,
    /// What the published tables attain.
    attained: Option<f64>,
    /// Whether it is good enough; true as well where nothing bounds it.
    holds: bool,
    /// `holds`, `does_not_hold` or `no_bound`: then nothing bounds the figure,
    /// and a steward has to look at it.
    state: String,
}

/// Read a release's report
///
/// Utility and risk; measures that need the original table are for stewards.
#[utoipa::path(
    get, path = "/v1/releases/{id}/report", operation_id = "get_release_report", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release.")),
    responses((status = 200, description = "The report; as a page with pictures for `Accept: text/html`.",
        content((ReportDocument = "application/json"), (String = "text/html")))),
)]
async fn get_release_report(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReleaseId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let offered = match state.report_page {
        Some(_) => &["application/json", "text/html"][..],
        None => &["application/json"],
    };
    let media_type = preferred(&headers, offered)?;
    let release = visible_release(&state, &principal, id).await?;
    let report = visible_report(&state, &principal, id).await?;
    let read = state
        .store
        .release_read(principal.act(), id, ReleaseRead::Report);
    read.await?;
    let vary = [(header::VARY, "accept")];
    if media_type == "text/html"
        && let Some(page) = visible_documents(&state, &principal, &release).await?.page
    {
        return Ok((vary, PAGE_HEADERS, Html(page)).into_response());
    }
    Ok((vary, Json(report)).into_response())
}

/// What a principal may read about a release beside its manifest.
pub(super) struct Documents {
    /// The report.
    pub report: Value,
    /// The verification.
    pub verification: Value,
    /// Both as a page, where pages are drawn.
    pub page: Option<String>,
}

/// The documents of a release that the principal may see.
pub(super) async fn visible_documents(
    state: &AppState,
    principal: &Principal,
    release: &ReleaseRow,
) -> Result<Documents, Problem> {
    let report = to_value(&visible_report(state, principal, release.id).await?)?;
    let verification = to_value(&visible_verification(state, principal, release.id).await?)?;
    let Some(draw) = state.report_page else {
        return Ok(Documents {
            report,
            verification,
            page: None,
        });
    };
    let mut manifest = visible_manifest(whole_manifest(&mut release.clone()), principal);
    if let Some(affected) = affected_release(state, principal, release).await? {
        manifest["affected"] = to_value(&affected)?;
    }
    manifest["explored"] = explored(state, principal, release).await?;
    let dataset = state.store.dataset_get(release.dataset).await;
    // An erased dataset has no name any more.
    let dataset = dataset.map_or(Value::Null, |row| named(&row.schema));
    let page = draw(&report, &verification, &manifest, &dataset);
    Ok(Documents {
        page: Some(page),
        report,
        verification,
    })
}

/// Read a release's verification
#[utoipa::path(
    get, path = "/v1/releases/{id}/verification", operation_id = "get_release_verification", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release.")),
    responses((status = 200, description = "What the verifier found.", body = VerificationView)),
)]
async fn get_release_verification(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReleaseId>,
) -> Result<Json<VerificationView>, Problem> {
    visible_release(&state, &principal, id).await?;
    let verification = visible_verification(&state, &principal, id).await?;
    let read = state
        .store
        .release_read(principal.act(), id, ReleaseRead::Verification);
    read.await?;
    Ok(Json(verification))
}

/// The part of a report that the principal may see.
async fn visible_report(
    state: &AppState,
    principal: &Principal,
    id: ReleaseId,
) -> Result<UtilityReport, Problem> {
    let stored = state.store.release_document(id, ReleaseDocument::Report);
    let report: UtilityReport = serde_json::from_value(stored.await?).map_err(|_| {
        tracing::error!(release = %id, "a stored report cannot be read");
        Problem::internal()
    })?;
    Ok(if principal.has(Role::Steward) {
        report
    } else {
        public_part(&report)
    })
}

/// The part of a verification that the principal may see.
async fn visible_verification(
    state: &AppState,
    principal: &Principal,
    id: ReleaseId,
) -> Result<VerificationView, Problem> {
    let stored = state
        .store
        .release_document(id, ReleaseDocument::Verification);
    let mut verdict = stored.await?;
    let is_steward = principal.has(Role::Steward);
    let guarantees = match verdict["guarantees"].take() {
        Value::Array(checks) if is_steward => checks,
        Value::Array(checks) => checks.iter().map(public_check).collect(),
        _ => Vec::new(),
    };
    let mut private = |name: &str| is_steward.then(|| verdict[name].take());
    let (structure, attacks) = (private("structure"), private("attacks"));
    Ok(VerificationView {
        holds: verdict["holds"] == true,
        guarantees,
        structure,
        attacks,
    })
}

/// What a dataset of this schema is called.
pub(super) fn named(schema: &Value) -> Value {
    serde_json::json!({ "name": schema["name"], "purpose": schema["purpose"] })
}

fn to_value(document: &impl Serialize) -> Result<Value, Problem> {
    serde_json::to_value(document).map_err(|_| Problem::internal())
}

/// What analysts see of a check.
fn public_check(check: &Value) -> Value {
    const PUBLIC: [&str; 6] = ["kind", "attribute", "claimed", "attained", "holds", "state"];
    let fields = check.as_object().into_iter().flatten();
    let public = fields.filter(|(name, _)| PUBLIC.contains(&name.as_str()));
    let is_of_terms = check["kind"] == "max_leakage";
    let shown = |name: &String, value: &Value| match name.as_str() {
        "attained" if is_of_terms => Value::Null,
        _ => value.clone(),
    };
    Value::Object(
        public
            .map(|(name, value)| (name.clone(), shown(name, value)))
            .collect(),
    )
}
