//! All of a release as one zip: what an analyst takes away.
//!
//! A principal who may download its tables may take it, and it has what they
//! may read one by one: tables as Parquet, published hierarchies, the visible
//! parts of manifest, report and verification, a data dictionary and a page that
//! says how to read this very release.

use std::collections::BTreeSet;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::microdata::{Attribute, Wording};
use vizard_anonymizer::release::{
    AttributeNote, AttributeNotes, Format, HierarchyList, HierarchyUse, Manifest, data_dictionary,
    hierarchy_file_name, howto,
};

use super::documents::{Documents, visible_documents};
use super::release_hierarchies::{Shown, readable_release, shown};
use super::releases::{visible_manifest, whole_manifest};
use super::tables::{Binary, description};
use crate::http::auth::Principal;
use crate::http::bundle::{Content, Entry, bundle};
use crate::http::coding::ContentCoding;
use crate::http::download::{Download, Form};
use crate::http::extract::UrlPath;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::ids::ReleaseId;
use crate::store::{ReleaseRead, ReleaseRow};

/// Tables are in the form that most programs read, and packed.
const FORM: Form = Form {
    format: Format::Parquet,
    spreadsheet_safe: false,
    coding: ContentCoding::Identity,
};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(get_release_bundle))
}

/// Download all of a release
///
/// One zip, streamed: tables as Parquet, published hierarchies, manifest, report
/// and verification as far as the caller sees them, a data dictionary, a page on
/// how to read them with pandas, polars, R and DuckDB, and `SHA256SUMS`.
#[utoipa::path(
    get, path = "/v1/releases/{id}/bundle.zip", operation_id = "get_release_bundle", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release.")),
    responses((status = 200, description = "The bundle.", content((Binary = "application/zip")))),
)]
async fn get_release_bundle(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReleaseId>,
) -> Result<Response, Problem> {
    let release = readable_release(&state, &principal, id).await?;
    let slot = state.downloads.begin(principal.name(), FORM.weight())?;
    let standing = principal.standing();
    let mut entries = documents(&state, &principal, release).await?;
    for table in state.store.table_list(id).await? {
        let name = format!("{}.{}", table.name, FORM.format.extension());
        let download = Download {
            description: description(&table)?,
            state: state.clone(),
            table,
            form: FORM,
            standing,
        };
        entries.push(Entry {
            name,
            content: Content::Table(Box::new(download)),
        });
    }
    let read = state
        .store
        .release_read(principal.act(), id, ReleaseRead::Bundle);
    read.await?;
    let file = format!("attachment; filename=\"{id}.zip\"");
    let file = HeaderValue::from_str(&file).map_err(|_| Problem::internal())?;
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/zip"),
        ),
        (header::CONTENT_DISPOSITION, file),
    ];
    let body = bundle((state, id, standing), entries, slot);
    Ok((headers, body).into_response())
}

/// Everything but the tables.
async fn documents(
    state: &AppState,
    principal: &Principal,
    mut release: ReleaseRow,
) -> Result<Vec<Entry>, Problem> {
    let Shown {
        hierarchies,
        withheld,
    } = shown(state, &release).await?;
    let notes = notes(state, &release).await?;
    // As it was verified: what is known since stands in the published one.
    let made: Manifest = serde_json::from_value(release.manifest.clone())
        .map_err(|_| damaged(release.id, "manifest"))?;
    let Documents {
        report,
        verification,
        page,
    } = visible_documents(state, principal, &release).await?;
    let name = release.name.clone();
    let manifest = visible_manifest(whole_manifest(&mut release), principal);
    let writing = move || {
        let published: BTreeSet<String> = hierarchies
            .iter()
            .map(|one| one.attribute.clone())
            .collect();
        let list = HierarchyList {
            withheld,
            ..HierarchyList::of(&hierarchies, HierarchyUse::Publish)
        };
        let entry = |name: &str, bytes: Vec<u8>| Entry {
            name: name.to_owned(),
            content: Content::Bytes(Bytes::from(bytes)),
        };
        let mut entries = vec![
            entry("HOWTO.md", howto(&made, name.as_deref()).into_bytes()),
            entry("manifest.json", json(&manifest)?),
            entry(
                "data_dictionary.csv",
                data_dictionary(&made, &notes, &published),
            ),
            entry("hierarchies.json", json(&list)?),
            entry("utility.json", json(&report)?),
            entry("verification.json", json(&verification)?),
        ];
        entries.extend(page.map(|page| entry("report.html", page.into_bytes())));
        for one in &hierarchies {
            let name = format!("hierarchies/{}", hierarchy_file_name(&one.attribute));
            entries.push(entry(&name, one.tree.to_csv().into_bytes()));
        }
        Ok(entries)
    };
    let written = tokio::task::spawn_blocking(writing).await;
    written.map_err(|_| Problem::internal())?
}

fn json(document: &impl Serialize) -> Result<Vec<u8>, Problem> {
    let text = serde_json::to_vec_pretty(document);
    text.map_err(|_| Problem::internal())
}

/// What the schema of the release's version says of attributes.
async fn notes(state: &AppState, release: &ReleaseRow) -> Result<AttributeNotes, Problem> {
    let versions = state.store.version_list(release.dataset).await?;
    let mut version = versions.into_iter();
    let version = version.find(|row| row.version == release.dataset_version);
    let version = version.ok_or_else(|| Problem::not_found("version"))?;
    let schema = super::version_schema(&version)?;
    let said = |wording: &Wording| wording.in_language(&[]).unwrap_or_default().to_owned();
    let note = |attribute: &Attribute| {
        let role = serde_json::to_value(attribute.role).unwrap_or_default();
        let note = AttributeNote {
            role: role.as_str().unwrap_or_default().to_owned(),
            title: said(&attribute.title),
            description: said(&attribute.description),
        };
        (attribute.name.clone(), note)
    };
    Ok(schema.attributes().iter().map(note).collect())
}

fn damaged(id: ReleaseId, what: &'static str) -> Problem {
    tracing::error!(release = %id, what, "a stored release cannot be read");
    Problem::internal()
}
