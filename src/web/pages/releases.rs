//! Releases: the catalogue, and one that answers three questions first: who is
//! protected against what, what is lost, what may I do with it.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::html;
use serde_json::{Value, json};

use super::api::{Api, Failure};
use super::datasets::listing;
use super::frame::{Page, more, nothing, table};
use super::release;
use super::site::Site;
use super::visitor::{Posted, Visitor};
use super::words::{short, state, text, time};
use crate::http::auth::Role;
use crate::ids::ReleaseId;
use crate::web::markup::list;

pub(super) fn router() -> Router<Site> {
    Router::new()
        .route("/releases", get(all))
        .route("/releases/{id}", get(one))
        .route("/releases/{id}/report", get(report))
        .route("/releases/{id}/tables/{table}", get(download))
        .route("/releases/{id}/publish", post(publish))
        .route("/releases/{id}/withdraw", post(withdraw))
}

async fn all(State(api): State<Arc<Api>>, visitor: Visitor, RawQuery(query): RawQuery) -> Response {
    let page = listed(&api, &visitor, query.as_deref()).await;
    visitor.answer(page)
}

async fn listed(api: &Api, visitor: &Visitor, query: Option<&str>) -> Result<Page, Failure> {
    let found = api.get(visitor, &listing("/v1/releases", query)).await?;
    let releases = list(&found["items"]);
    let content = html! {
        @if releases.is_empty() {
            (nothing(if visitor.has(Role::Steward) { "No release yet. A job makes one." } else { "Nothing is published yet." }))
        } @else {
            (table("Releases", html! { table {
                thead { tr {
                    th scope="col" { "Release" }
                    th scope="col" { "State" }
                    th scope="col" { "Made" }
                    th scope="col" { "Published" }
                } }
                tbody { @for release in releases { tr {
                    td { a href={ "/releases/" (text(release, "id")) } { (text(release, "engine")) " " (short(text(release, "id"))) } }
                    td { (state(text(release, "state"))) }
                    td { (time(&release["created_at"])) }
                    td { (time(&release["published_at"])) }
                } } }
            } }))
        }
        (more("/releases", query, &found["next_cursor"]))
    };
    Ok(Page::new("Releases", content))
}

async fn one(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
) -> Response {
    let page = shown(&api, &visitor, &wanted).await;
    visitor.answer(page)
}

async fn shown(api: &Api, visitor: &Visitor, wanted: &str) -> Result<Page, Failure> {
    let release_id: ReleaseId = wanted.parse()?;
    let place = format!("/v1/releases/{release_id}");
    let found = api.get(visitor, &place).await?;
    let report = match text(&found, "state") {
        // Its figures went with its tables.
        "withdrawn" => Value::Null,
        _ => api.get(visitor, &format!("{place}/report")).await?,
    };
    let dataset = if visitor.has(Role::Steward) {
        let dataset = format!("/v1/datasets/{}", text(&found, "dataset"));
        api.get(visitor, &dataset).await?
    } else {
        Value::Null
    };
    let name = match text(&dataset, "name") {
        "" => format!("Release by {}", text(&found, "engine")),
        name => format!("Release of {name}"),
    };
    let page = Page::new(name, release::content(visitor, &found, &report));
    Ok(page.below("/releases", "Releases"))
}

async fn report(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
) -> Response {
    let Ok(release) = wanted.parse::<ReleaseId>() else {
        return visitor.answer(Err(Failure::not_found()));
    };
    let path = format!("/v1/releases/{release}/report");
    api.hand_on(&visitor, &path, "text/html").await
}

async fn download(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path((wanted, table)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Response {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let release = wanted.parse::<ReleaseId>().ok();
    let Some(release) = release.filter(|_| table.bytes().all(is_plain)) else {
        return visitor.answer(Err(Failure::not_found()));
    };
    let path = format!("/v1/releases/{release}/tables/{table}");
    let path = listing(&path, query.as_deref());
    api.hand_on(&visitor, &path, "*/*").await
}

async fn publish(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
    posted: Posted,
) -> Response {
    let reason = posted.text("reason").trim().to_owned();
    let wish = if reason.is_empty() {
        json!({})
    } else {
        json!({"acknowledge_composition": true, "reason": reason})
    };
    moved(&api, &visitor, (&wanted, "publish"), (posted, Some(wish))).await
}

async fn withdraw(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
    posted: Posted,
) -> Response {
    moved(&api, &visitor, (&wanted, "withdraw"), (posted, None)).await
}

/// Brings a release into another state, and goes back to its page.
async fn moved(
    api: &Api,
    visitor: &Visitor,
    (wanted, verb): (&str, &str),
    (posted, wish): (Posted, Option<Value>),
) -> Response {
    let done = async {
        posted.checked(visitor)?;
        let release: ReleaseId = wanted.parse()?;
        let place = format!("/v1/releases/{release}/{verb}");
        api.post(visitor, &place, wish.as_ref()).await?;
        Ok::<_, Failure>(Redirect::to(&format!("/releases/{release}")).into_response())
    };
    match done.await {
        Ok(response) => response,
        Err(failure) if failure.code == "composition" => {
            let content = release::beside_others(visitor, wanted, &failure.detail);
            let page = Page::new("Other releases show the same people", content);
            let page = page.below(format!("/releases/{wanted}"), "Release");
            let mut response = visitor.answer(Ok(page));
            *response.status_mut() = failure.status;
            response
        }
        Err(failure) => visitor.answer(Err(failure)),
    }
}
