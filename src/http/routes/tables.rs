//! Tables of releases, streamed piece by piece in the format asked for.
//!
//! A table is stored as compressed pieces of canonical CSV. A download holds
//! one piece at a time: it is inflated and turned into the other format on a
//! thread that may block, and the next one is fetched when the client has
//! taken it. An error in the middle breaks the connection off: a shorter
//! table must not look like a whole one.

use std::io;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::super::auth::Principal;
use super::super::extract::{UrlPath, UrlQuery};
use super::super::negotiate::preferred;
use super::super::precondition::Precondition;
use super::super::problem::Problem;
use super::super::state::AppState;
use super::query::TableQuery;
use super::releases::visible_release;
use crate::ids::ReleaseId;
use crate::release::{Format, TableDescription, Transcoder};
use crate::store::{Conflict, ReleaseState, ReleaseTableRow, StoreError};

/// Pieces that wait for a slow client.
const PIECES_WAITING: usize = 1;
/// Largest piece before compression that this program writes, with room.
const PIECE_RAW_BYTES_MAX: usize = 64 << 20;

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(get_release_table))
}

/// Download a table
///
/// Streamed. The SHA-256 in the manifest is that of the CSV form; other forms
/// are made from it.
#[utoipa::path(
    get, path = "/v1/releases/{id}/tables/{table}", operation_id = "get_release_table", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release."),
        ("table" = String, Path, description = "Name of the table, as in the manifest."), TableQuery,
        ("if-none-match" = Option<String>, Header, description = "Tags of what the client has already.")),
    responses(
        (status = 200, description = "The table.",
            content((String = "text/csv"), (String = "application/x-ndjson"),
                (Binary = "application/vnd.apache.parquet"), (Binary = "application/vnd.apache.arrow.stream")),
            headers(("etag" = String, description = "Tag of the table in this format."))),
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
    let wanted = Wanted::read(&query, &headers)?;
    let tag = wanted.tag(&table);
    if Precondition::read(&headers)?.is_some_and(|condition| condition.has_already(&tag)) {
        return Ok((StatusCode::NOT_MODIFIED, etag(&tag)).into_response());
    }
    let description = description(&table)?;
    let response_headers = wanted.headers(&table);
    let body = stream(state, table, description, wanted);
    Ok((etag(&tag), response_headers, body).into_response())
}

/// Bytes, for openapi.yaml: utoipa would take `Vec<u8>` for a list of numbers.
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
#[allow(dead_code, reason = "describes a body of bytes")]
struct Binary(Vec<u8>);

/// The form in which a table is wanted.
#[derive(Clone, Copy)]
struct Wanted {
    format: Format,
    spreadsheet_safe: bool,
}

impl Wanted {
    fn read(query: &TableQuery, headers: &HeaderMap) -> Result<Self, Problem> {
        let offered = Format::ALL.map(Format::media_type);
        let format = match query.format {
            Some(format) => format,
            None => Format::of_media_type(preferred(headers, &offered)?).unwrap_or_default(),
        };
        Ok(Self {
            format,
            spreadsheet_safe: query.spreadsheet_safe && format == Format::Csv,
        })
    }

    /// Whether the stored pieces are what is wanted.
    fn is_canonical(self) -> bool {
        self.format == Format::Csv && !self.spreadsheet_safe
    }

    fn tag(self, table: &ReleaseTableRow) -> String {
        let safe = if self.spreadsheet_safe { "-safe" } else { "" };
        format!(
            "{}-{}{safe}",
            super::hex(&table.sha256),
            self.format.as_str()
        )
    }

    fn headers(self, table: &ReleaseTableRow) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let media_type = match self.format {
            Format::Csv => "text/csv; charset=utf-8; header=present",
            other => other.media_type(),
        };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        headers.insert(header::VARY, HeaderValue::from_static("accept"));
        // Names of tables are words of ours; any other is left to the browser.
        let file = format!(
            "attachment; filename=\"{}.{}\"",
            table.name,
            self.format.as_str()
        );
        if let Ok(value) = HeaderValue::from_str(&file) {
            headers.insert(header::CONTENT_DISPOSITION, value);
        }
        if self.is_canonical() {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(table.raw_bytes));
        }
        headers
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

fn description(table: &ReleaseTableRow) -> Result<TableDescription, Problem> {
    let columns = serde_json::from_value(table.columns.clone()).map_err(|_| {
        tracing::error!(release = %table.release, "stored columns cannot be read");
        Problem::internal()
    })?;
    Ok(TableDescription {
        name: table.name.clone(),
        rows: table.rows,
        sha256: super::hex(&table.sha256),
        columns,
    })
}

/// The table as a body that is made while it is taken.
fn stream(
    state: AppState,
    table: ReleaseTableRow,
    description: TableDescription,
    wanted: Wanted,
) -> Body {
    let (sender, receiver) = mpsc::channel(PIECES_WAITING);
    let span = tracing::Span::current();
    let release = table.release;
    tokio::spawn(tracing::Instrument::instrument(
        async move {
            let made = send_pieces(&state, &table, &description, wanted, &sender).await;
            if let Err(error) = made {
                tracing::error!(%release, %error, "a download was broken off");
                // Nobody may be left to hear it.
                let _ = sender.send(Err(error)).await;
            }
        },
        span,
    ));
    Body::from_stream(ReceiverStream::new(receiver))
}

async fn send_pieces(
    state: &AppState,
    table: &ReleaseTableRow,
    description: &TableDescription,
    wanted: Wanted,
    sender: &mpsc::Sender<io::Result<Bytes>>,
) -> io::Result<()> {
    let mut pieces = Pieces::new(description, wanted)?;
    for position in 0..table.pieces {
        let name = table.name.clone();
        let stored = state.store.table_piece(table.release, name, position);
        let stored = stored.await.map_err(store_failed)?;
        let (back, ready) = on_blocking_thread(move || pieces.piece(&stored)).await?;
        pieces = back;
        // The client may have gone away.
        if !ready.is_empty() && sender.send(Ok(ready.into())).await.is_err() {
            return Ok(());
        }
    }
    let rest = on_blocking_thread(move || pieces.finish()).await?;
    if !rest.is_empty() {
        // The client may have gone away.
        let _ = sender.send(Ok(rest.into())).await;
    }
    Ok(())
}

async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(io::Error::other("a piece could not be turned")),
    }
}

fn store_failed(error: StoreError) -> io::Error {
    io::Error::other(error)
}

/// Turns stored pieces into the form that is wanted, one after the other.
enum Pieces {
    Canonical,
    Transcoded(Box<Transcoder>),
}

impl Pieces {
    fn new(description: &TableDescription, wanted: Wanted) -> io::Result<Self> {
        if wanted.is_canonical() {
            return Ok(Self::Canonical);
        }
        let transcoder = Transcoder::new(description, wanted.format).map_err(io::Error::other)?;
        Ok(Self::Transcoded(Box::new(transcoder)))
    }

    fn piece(mut self, stored: &[u8]) -> io::Result<(Self, Vec<u8>)> {
        let csv = zstd::bulk::decompress(stored, PIECE_RAW_BYTES_MAX)?;
        let ready = match &mut self {
            Self::Canonical => csv,
            Self::Transcoded(transcoder) => {
                let mut out = Vec::new();
                transcoder.piece(&csv, &mut out).map_err(io::Error::other)?;
                out
            }
        };
        Ok((self, ready))
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        if let Self::Transcoded(transcoder) = self {
            transcoder.finish(&mut out).map_err(io::Error::other)?;
        }
        Ok(out)
    }
}
