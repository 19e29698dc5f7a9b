//! Tables of releases: in the format, packing and part that is asked for.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::release::{Format, TableDescription};

use super::query::TableQuery;
use super::releases::visible_release;
use crate::http::auth::Principal;
use crate::http::coding::{self, ContentCoding};
use crate::http::download::{Download, Form, Length};
use crate::http::extract::{UrlPath, UrlQuery};
use crate::http::negotiate::preferred;
use crate::http::precondition;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::range::ByteRange;
use crate::http::shares::Share;
use crate::http::state::AppState;
use crate::ids::ReleaseId;
use crate::store::{Conflict, ReleaseRead, ReleaseState, ReleaseTableRow};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(get_release_table))
}

/// Download a table
///
/// Streamed, packed as `Accept-Encoding` says. The SHA-256 in the manifest is
/// that of the CSV form; other forms are made from it, always in the same
/// bytes, so that a download can go on where it broke off (`Range`).
#[utoipa::path(
    get, path = "/v1/releases/{id}/tables/{table}", operation_id = "get_release_table", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release."),
        ("table" = String, Path, description = "Name of the table, as in the manifest."), TableQuery,
        ("if-none-match" = Option<String>, Header, description = "Tags of what the client has already."),
        ("range" = Option<String>, Header, description = "One range of bytes of the unpacked form, `bytes=1000-`."),
        ("if-range" = Option<String>, Header, description = "Tag that the part must belong to; else the whole is sent.")),
    responses(
        (status = 200, description = "The table.",
            content((String = "text/csv"), (String = "application/x-ndjson"),
                (Binary = "application/vnd.apache.parquet"), (Binary = "application/vnd.apache.arrow.stream"),
                (Binary = "application/vnd.apache.arrow.file")),
            headers(("etag" = String, description = "Tag of the table in this format."))),
        (status = 206, description = "The part that was asked for.",
            content((String = "text/csv"), (String = "application/x-ndjson"),
                (Binary = "application/vnd.apache.parquet"), (Binary = "application/vnd.apache.arrow.stream"),
                (Binary = "application/vnd.apache.arrow.file")),
            headers(("content-range" = String, description = "Which bytes these are, and of how many."))),
        (status = 304, description = "The client has it already.")),
)]
async fn get_release_table(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath((id, name)): UrlPath<(ReleaseId, String)>,
    UrlQuery(query): UrlQuery<TableQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let release = visible_release(&state, &principal, id).await?;
    if release.state == ReleaseState::Withdrawn {
        return Err(Conflict::ReleaseState.into());
    }
    let table = state.store.table_get(id, name).await?;
    let form = form(&query, &headers)?;
    let tag = tag(form, &table);
    if precondition::has_already(&headers, &tag)? {
        return Ok((StatusCode::NOT_MODIFIED, etag(&tag)).into_response());
    }
    let read = ReleaseRead::Table {
        name: table.name.clone(),
        format: form.format.as_str(),
    };
    let download = Download {
        description: description(&table)?,
        state,
        table,
        form,
        standing: principal.standing(),
    };
    let store = Arc::clone(&download.state.store);
    let slot = (download.state.downloads).begin(principal.name(), form.weight())?;
    let reading = store.release_read(principal.act(), id, read);
    match ByteRange::read(&headers, &tag) {
        None => {
            let headers = response_headers(&download);
            // Begun while the log takes the reading; nothing leaves before it has.
            let body = download.body(None, slot);
            reading.await?;
            Ok((etag(&tag), headers, body).into_response())
        }
        Some(range) => {
            reading.await?;
            part(download, range, &tag, slot).await
        }
    }
}

/// Answers with a part of the body.
async fn part(
    download: Download,
    range: ByteRange,
    tag: &str,
    slot: Share,
) -> Result<Response, Problem> {
    let length = download.length(range.last_wanted()).await;
    let length = length.map_err(|error| {
        tracing::error!(release = %download.table.release, %error, "a table cannot be made");
        Problem::internal()
    })?;
    let (length, known) = match length {
        Length::Whole(length) => (length, Some(length)),
        Length::AtLeast(length) => (length, None),
    };
    let Some(part) = range.of(length) else {
        let detail = format!("the table has {length} bytes in this form");
        let mut refused = Problem::new(ProblemKind::RangeNotSatisfiable, detail).into_response();
        insert_text(
            refused.headers_mut(),
            header::CONTENT_RANGE,
            &format!("bytes */{length}"),
        );
        return Ok(refused);
    };
    let mut headers = response_headers(&download);
    insert_text(
        &mut headers,
        header::CONTENT_RANGE,
        &part.content_range(known),
    );
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(part.length()));
    let body = download.body(Some(part), slot);
    Ok((StatusCode::PARTIAL_CONTENT, etag(tag), headers, body).into_response())
}

/// Bytes, for openapi.yaml: utoipa would take `Vec<u8>` for a list of numbers.
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
#[allow(dead_code, reason = "describes a body of bytes")]
pub(super) struct Binary(Vec<u8>);

/// The form in which a table is wanted. A part is one of the unpacked form,
/// and columnar formats are packed already.
fn form(query: &TableQuery, headers: &HeaderMap) -> Result<Form, Problem> {
    let offered = Format::ALL.map(Format::media_type);
    let format = match query.format {
        Some(format) => format,
        None => Format::of_media_type(preferred(headers, &offered)?).unwrap_or_default(),
    };
    let is_text = matches!(format, Format::Csv | Format::Ndjson);
    let coding = if is_text && !headers.contains_key(header::RANGE) {
        coding::accepted(headers)
    } else {
        ContentCoding::Identity
    };
    Ok(Form {
        format,
        spreadsheet_safe: query.spreadsheet_safe && format == Format::Csv,
        coding,
    })
}

/// A tag names the bytes that are sent: content, format and packing.
fn tag(form: Form, table: &ReleaseTableRow) -> String {
    let safe = if form.spreadsheet_safe { "-safe" } else { "" };
    let packed = match form.coding {
        ContentCoding::Identity => "",
        ContentCoding::Gzip => "-gzip",
        ContentCoding::Zstd => "-zstd",
    };
    let digest = vizard_anonymizer::microdata::to_hex(&table.sha256);
    format!("{digest}-{}{safe}{packed}", form.format.as_str())
}

fn response_headers(download: &Download) -> HeaderMap {
    let Download { table, form, .. } = download;
    let mut headers = HeaderMap::new();
    let media_type = match form.format {
        Format::Csv => "text/csv; charset=utf-8; header=present",
        other => other.media_type(),
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(
        header::VARY,
        HeaderValue::from_static("accept, accept-encoding"),
    );
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.extend(coding::content_encoding(form.coding));
    // Names of tables are words of ours; any other is left to the browser.
    let file = format!(
        "attachment; filename=\"{}.{}\"",
        table.name,
        form.format.extension()
    );
    insert_text(&mut headers, header::CONTENT_DISPOSITION, &file);
    if form.is_canonical() && form.coding == ContentCoding::Identity {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(table.raw_bytes));
    }
    headers
}

/// A header whose text is made of our own words and digits.
fn insert_text(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.insert(name, value);
    }
}

fn etag(tag: &str) -> [(HeaderName, HeaderValue); 1] {
    let value = HeaderValue::from_str(&format!("\"{tag}\""));
    // A tag is made of digits and words: always a header's value.
    [(
        header::ETAG,
        value.unwrap_or(HeaderValue::from_static("\"\"")),
    )]
}

pub(super) fn description(table: &ReleaseTableRow) -> Result<TableDescription, Problem> {
    let columns = serde_json::from_value(table.columns.clone()).map_err(|_| {
        tracing::error!(release = %table.release, "stored columns cannot be read");
        Problem::internal()
    })?;
    Ok(TableDescription {
        name: table.name.clone(),
        rows: table.rows,
        sha256: vizard_anonymizer::microdata::to_hex(&table.sha256),
        columns,
    })
}
