//! The hierarchies of a dataset as trees: folded, searched, corrected.
//!
//! A correction makes a new revision of the dataset's own; one of the library's
//! becomes the dataset's own that way. Records are read with the revision that
//! their version pins until somebody says otherwise, so a correction harms nobody
//! before it is put to use, and what the review finds is read in between.

mod correct;
mod draw;
mod known;
mod review;
mod tree;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;

use super::api::{Api, Failure, segment};
use super::frame::Page;
use super::site::Site;
use super::visitor::{Posted, Visitor};
use super::words::text;
use crate::ids::DatasetId;
use correct::{Correction, corrected};
use draw::{Asked, content};
use known::{Known, path};

/// Bytes of a form with the text of a hierarchy, of which each may become three.
const FORM_BYTES_MAX: usize = 192 << 10;
pub(super) fn router() -> Router<Site> {
    Router::new()
        .route("/datasets/{id}/hierarchies/{name}", get(show).post(change))
        .route("/datasets/{id}/hierarchies/{name}/content", get(download))
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
}

async fn show(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path((wanted, name)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Response {
    let asked = Posted::of_query(&query.unwrap_or_default());
    let asked = Asked {
        at: asked.text("at"),
        search: asked.text("q"),
        wrong: None,
    };
    let page = drawn((&api, &visitor), (&wanted, &name), &asked).await;
    visitor.answer(page)
}

async fn drawn(
    (api, visitor): (&Api, &Visitor),
    (wanted, name): (&str, &str),
    asked: &Asked<'_>,
) -> Result<Page, Failure> {
    let dataset: DatasetId = wanted.parse()?;
    let known = Known::found((api, visitor), (dataset, name)).await?;
    let page = Page::new(format!("Hierarchy {name}"), content(visitor, &known, asked));
    let above = super::words::dataset_title(&known.dataset).to_owned();
    Ok(page.below(format!("/datasets/{dataset}"), above))
}

/// The hierarchy as it was put.
async fn download(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path((wanted, name)): Path<(String, String)>,
) -> Response {
    let Ok(dataset) = wanted.parse::<DatasetId>() else {
        return visitor.answer(Err(Failure::not_found()));
    };
    let path = format!("{}?content=true", path(dataset, &name));
    api.hand_on(&visitor, &path, "*/*").await
}

async fn change(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path((wanted, name)): Path<(String, String)>,
    posted: Posted,
) -> Response {
    let done = changed((&api, &visitor), (&wanted, &name), &posted).await;
    let failure = match done {
        Ok(at) => {
            let place = format!("/datasets/{wanted}/hierarchies/{}", segment(&name));
            let way = if at.is_empty() {
                String::new()
            } else {
                tree::way(&at)
            };
            return Redirect::to(&format!("{place}{way}")).into_response();
        }
        Err(failure) => failure,
    };
    let is_told = matches!(failure.status.as_u16(), 409 | 422);
    if !is_told {
        return visitor.answer(Err(failure));
    }
    let asked = Asked {
        at: posted.text("node"),
        search: "",
        wrong: Some((&failure, posted.text("content"))),
    };
    let page = drawn((&api, &visitor), (&wanted, &name), &asked).await;
    let mut response = visitor.answer(page);
    *response.status_mut() = failure.status;
    response
}

/// Does what a form asks; the node to look at afterwards.
async fn changed(
    (api, visitor): (&Api, &Visitor),
    (wanted, name): (&str, &str),
    posted: &Posted,
) -> Result<String, Failure> {
    posted.checked(visitor)?;
    let dataset: DatasetId = wanted.parse()?;
    let known = Known::found((api, visitor), (dataset, name)).await?;
    // Somebody else's correction is not overwritten unseen.
    if text(&known.head, "digest") != posted.text("digest") {
        let detail = "Somebody changed the hierarchy since this page was opened. Here it is as it is now: look at it, and correct it again.";
        return Err(Failure::form(StatusCode::CONFLICT, detail));
    }
    if posted.text("do") == "use" {
        put_to_use(api, visitor, dataset).await?;
        return Ok(String::new());
    }
    let (node, to) = (posted.text("node"), posted.text("to"));
    let correction = match posted.text("do") {
        "rename" => Some((Correction::Rename(node, to), to.trim())),
        "move" => Some((Correction::Move(node, to), node)),
        "add" => Some((Correction::Add(to, node), node)),
        _ => None,
    };
    let (kind, body, at) = match (correction, &known.tree) {
        (Some((correction, at)), Some(tree)) => {
            let csv = corrected(tree, &correction).map_err(|detail| unfit(&detail))?;
            ("text/csv", csv, at)
        }
        (Some(_), None) => return Err(unfit("Intervals have no nodes. Edit their text.")),
        (None, Some(_)) => ("text/csv", posted.text("content").to_owned(), ""),
        (None, None) => ("application/json", posted.text("content").to_owned(), ""),
    };
    let place = format!("{}?new_version=true", path(dataset, name));
    api.put_text(visitor, &place, (kind, body)).await?;
    Ok(at.to_owned())
}

fn unfit(detail: &str) -> Failure {
    Failure::form(StatusCode::UNPROCESSABLE_ENTITY, detail)
}

/// Reads the latest version's records with the latest revisions from now on.
async fn put_to_use(api: &Api, visitor: &Visitor, dataset: DatasetId) -> Result<(), Failure> {
    let place = format!("/v1/datasets/{dataset}");
    let (found, tag) = api.get_tagged(visitor, &place).await?;
    let place = format!("{place}/schema?hierarchies=latest");
    let schema = &found["schema"];
    api.put_if_match(visitor, &place, (schema, tag)).await?;
    Ok(())
}
