//! Queries on a release: counts, sums and averages with bounds, from what is
//! published alone.
//!
//! An answer tells nothing that the tables do not: it is computed from their
//! bytes, the manifest and the hierarchies that are published, as `vizard query`
//! computes it from files. Decoding and computing run on threads that may block,
//! so many at a time, and no longer than a limit.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::privacy::CancelFlag;
use vizard_anonymizer::query::{AnsweredCell, InvalidQuery, Query, QueryAnswer, QueryIndex};
use vizard_anonymizer::release::{
    Guarantee, HierarchyList, Packed, PublishedTable, TableDescription, Unpacker, decode_csv, trees,
};

use super::release_hierarchies::{readable_release, shown};
use super::tables::description;
use crate::http::auth::Principal;
use crate::http::described_query::{AnsweredCellDocument, QueryDocument};
use crate::http::extract::{JsonBody, UrlPath};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::query_indexes::Index;
use crate::http::shares::Share;
use crate::http::state::AppState;
use crate::ids::ReleaseId;
use crate::store::{ReleaseRead, ReleaseRow, ReleaseState};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(query_release))
}

/// The answer to a query.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = QueryAnswer)]
struct AnswerView {
    /// The release.
    release: ReleaseId,
    /// The attributes that are grouped by.
    group_by: Vec<String>,
    /// One cell for each combination of values that may occur; without
    /// `group_by` exactly one.
    #[schema(value_type = Vec<AnsweredCellDocument>)]
    cells: Vec<AnsweredCell>,
}

/// Ask a release
///
/// Counts, sums and averages of records, with bounds, answered from the published
/// tables and hierarchies alone. Up to 64 conditions, all of which have to hold,
/// and 1,000 cells. Each answer is in the audit log; what was asked is not.
#[utoipa::path(
    post, path = "/v1/releases/{id}/query", operation_id = "query_release", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release.")),
    request_body(content = QueryDocument),
    responses((status = 200, description = "The answer.", body = AnswerView)),
)]
async fn query_release(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReleaseId>,
    JsonBody(query): JsonBody<Query>,
) -> Result<Json<AnswerView>, Problem> {
    let release = readable_release(&state, &principal, id).await?;
    let slot = state.queries.shares.begin(principal.name(), 1)?;
    let make = made(&state, &release);
    let index = match release.state {
        ReleaseState::Published => state.queries.indexes.get(id, make).await?,
        _ => make.await?,
    };
    let QueryAnswer { group_by, cells } = answered(&state, index, query, slot).await?;
    let read = state
        .store
        .release_read(principal.act(), id, ReleaseRead::Query);
    read.await?;
    Ok(Json(AnswerView {
        release: id,
        group_by,
        cells,
    }))
}

/// Ends the work when its request ends.
struct Waiting(CancelFlag);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Computes the answer where waiting harms nobody, as long as a limit allows.
async fn answered(
    state: &AppState,
    index: Index,
    query: Query,
    slot: Share,
) -> Result<QueryAnswer, Problem> {
    let limit = state.settings.limits.query_timeout_ms();
    let waiting = Waiting(CancelFlag::default());
    let cancel = waiting.0.clone();
    let computing = tokio::task::spawn_blocking(move || {
        let answer = cancel.run(|| index.answer(&query, &cancel));
        drop(slot);
        answer
    });
    let answer = tokio::time::timeout(Duration::from_millis(limit.value), computing).await;
    match answer {
        Err(_) => {
            let detail =
                format!("more than {limit}; group by fewer values, or ask fewer figures at once");
            Err(Problem::new(ProblemKind::LimitExceeded, detail))
        }
        Ok(Ok(Ok(answer))) => answer.map_err(|error| refused(&error)),
        Ok(_) => Err(Problem::internal()),
    }
}

/// Reads a release and makes it ready for queries.
async fn made(state: &AppState, release: &ReleaseRow) -> Result<Index, Problem> {
    let turn = state.queries.reading.acquire().await;
    let _turn = turn.map_err(|_| Problem::internal())?;
    let shown = shown(state, release).await?;
    let mut tables = Vec::new();
    for table in state.store.table_list(release.id).await? {
        let mut pieces = Vec::with_capacity(table.pieces as usize);
        for position in 0..table.pieces {
            let piece = state
                .store
                .table_piece(release.id, table.name.clone(), position);
            pieces.push(piece.await?);
        }
        tables.push((description(&table)?, pieces));
    }
    let guarantees = serde_json::from_value(release.manifest["guarantees"].clone());
    let guarantees: Vec<Guarantee> = guarantees.map_err(|_| damaged(release.id))?;
    let id = release.id;
    let indexing = tokio::task::spawn_blocking(move || {
        let list = HierarchyList {
            withheld: shown.withheld,
            ..HierarchyList::default()
        };
        let tables = tables
            .into_iter()
            .map(|(table, pieces)| decoded(&table, pieces));
        let tables = tables
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| damaged(id))?;
        let beside = (&trees(shown.hierarchies), &list);
        let index = QueryIndex::of_release(&tables, &guarantees, beside);
        index.map(Arc::new).map_err(|_| {
            let detail = "the rows of the release are no records: it cannot be asked; download \
                          its tables";
            Problem::new(ProblemKind::InvalidParameter, detail)
        })
    });
    indexing.await.map_err(|_| Problem::internal())?
}

/// A table from its stored pieces.
fn decoded(table: &TableDescription, pieces: Vec<Vec<u8>>) -> Option<PublishedTable> {
    let mut unpacker = Unpacker::default();
    let texts = pieces.into_iter().map(|piece| {
        let (mut piece, mut text) = (Packed::new(piece), Vec::new());
        while let Some(frame) = unpacker.frame(&mut piece).ok()? {
            text.extend(frame);
        }
        Some(text)
    });
    let texts: Vec<Vec<u8>> = texts.collect::<Option<_>>()?;
    decode_csv(table, texts).ok()
}

fn damaged(id: ReleaseId) -> Problem {
    tracing::error!(release = %id, "a stored release cannot be read");
    Problem::internal()
}

/// Why a query is refused: the place in it, never a value.
fn refused(error: &InvalidQuery) -> Problem {
    let kind = match error {
        InvalidQuery::NothingAsked => ProblemKind::InvalidBody,
        error if error.is_of_size() => ProblemKind::LimitExceeded,
        _ => ProblemKind::InvalidParameter,
    };
    let problem = Problem::new(kind, error.to_string());
    match error.place() {
        Some(place) => problem.with_parameter(place.to_string()),
        None => problem,
    }
}
