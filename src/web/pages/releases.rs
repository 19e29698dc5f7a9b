//! Releases: the catalogue, and one that answers three questions first: who is
//! protected against what, what is lost, what may I do with it.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::Method;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::api::{Api, Failure, segment};
use super::datasets::listing;
use super::first_rows::first_rows;
use super::frame::{Page, more, nothing};
use super::release::{self, Known};
use super::site::Site;
use super::visitor::{Posted, Visitor};
use super::words::{dataset_title, release_title, short, state, text, time, wording};
use crate::http::auth::Role;
use crate::ids::ReleaseId;
use crate::web::markup::{list, number};

/// Releases of a page.
const ENTRIES: usize = 20;

pub(super) fn router() -> Router<Site> {
    Router::new()
        .route("/releases", get(all))
        .route("/releases/{id}", get(one))
        .route("/releases/{id}/report", get(report))
        .route("/releases/{id}/tables/{table}", get(download))
        .route("/releases/{id}/bundle.zip", get(bundle))
        .route("/releases/{id}/hierarchies/{attribute}", get(hierarchy))
        .route("/releases/{id}/publish", post(publish))
        .route("/releases/{id}/withdraw", post(withdraw))
}

async fn all(State(api): State<Arc<Api>>, visitor: Visitor, RawQuery(query): RawQuery) -> Response {
    let page = listed(&api, &visitor, query.as_deref()).await;
    visitor.answer(page)
}

/// The list; to who may only read what is published it is a catalogue.
async fn listed(api: &Api, visitor: &Visitor, query: Option<&str>) -> Result<Page, Failure> {
    let asked = listing("/v1/releases", Some(&with_limit(query.unwrap_or_default())));
    let found = api.get(visitor, &asked).await?;
    let engines = api.get(visitor, "/v1/engines").await?;
    let mut shown = Vec::new();
    for head in list(&found["items"]) {
        // What it holds, and of what it is, is not in the list.
        let place = format!("/v1/releases/{}", text(head, "id"));
        let release = api.get(visitor, &place).await?;
        let dataset = dataset_of(api, visitor, &release).await;
        let mut known = list(&engines["items"]).iter();
        let engine = known.find(|one| text(one, "name") == text(&release, "engine"));
        shown.push(entry(&release, &dataset, engine.unwrap_or(&Value::Null)));
    }
    let is_steward = visitor.has(Role::Steward);
    let content = html! {
        @if !is_steward { p.lead { "What is published here. Each release says who is protected against what, what its columns are, and how it is read." } }
        @if shown.is_empty() {
            (nothing(if is_steward { "No release yet. A job makes one." } else { "Nothing is published yet." }))
        } @else {
            ul.choices { @for one in shown { (one) } }
        }
        (more("/releases", query, &found["next_cursor"]))
    };
    let title = if is_steward { "Releases" } else { "Catalogue" };
    Ok(Page::new(title, content))
}

/// The query of a page with a number of entries that it can show at once.
fn with_limit(query: &str) -> String {
    let mut asked = form_urlencoded::parse(query.as_bytes());
    if asked.any(|(name, _)| name == "limit") {
        return query.to_owned();
    }
    let limit = format!("limit={ENTRIES}");
    [query, &limit]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("&")
}

/// The dataset of a release, for who may see that; else null, as for one that
/// was erased.
async fn dataset_of(api: &Api, visitor: &Visitor, release: &Value) -> Value {
    if !visitor.may(&Method::GET, "/v1/datasets/{id}") {
        return Value::Null;
    }
    let dataset = format!("/v1/datasets/{}", text(release, "dataset"));
    api.get(visitor, &dataset).await.unwrap_or_default()
}

/// One release: what it is called, what it is in plain words, and how much.
fn entry(release: &Value, dataset: &Value, engine: &Value) -> Markup {
    let schema = &dataset["schema"];
    html! {
        li {
            a href={ "/releases/" (text(release, "id")) } { (release_title(release, dataset)) } " "
            (state(text(release, "state")))
            @if let Some(purpose) = wording(&schema["purpose"]) { p { (purpose) } }
            p { (text(engine, "costs")) }
            p.note {
                (number(&release["manifest"]["records"])) " records · dataset "
                @if dataset.is_null() { (short(text(release, "dataset"))) } @else { bdi { (dataset_title(dataset)) } }
                ", version " (release["version"]) " · "
                @if release["published_at"].is_string() { "published " (time(&release["published_at"])) }
                @else { "made " (time(&release["created_at"])) }
                " · " code { (text(release, "engine")) } " " (short(text(release, "id")))
            }
        }
    }
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
    let is_there = text(&found, "state") != "withdrawn";
    let (report, hierarchies, first_rows) = if is_there {
        (
            api.get(visitor, &format!("{place}/report")).await?,
            api.get(visitor, &format!("{place}/hierarchies")).await?,
            first_rows((api, visitor), &found).await,
        )
    } else {
        // Its figures went with its tables.
        Default::default()
    };
    let dataset = dataset_of(api, visitor, &found).await;
    let title = release_title(&found, &dataset);
    let known = Known {
        release: found,
        report,
        hierarchies,
        dataset,
        first_rows,
    };
    let page = Page::new(title, release::content(visitor, &known));
    let above = if visitor.has(Role::Steward) {
        "Releases"
    } else {
        "Catalogue"
    };
    Ok(page.below("/releases", above))
}

/// A hierarchy of a release, as CSV.
async fn hierarchy(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path((wanted, attribute)): Path<(String, String)>,
) -> Response {
    let place = format!("hierarchies/{}", segment(&attribute));
    of_release(&api, &visitor, &wanted, (&place, "text/csv")).await
}

async fn report(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
) -> Response {
    of_release(&api, &visitor, &wanted, ("report", "text/html")).await
}

/// What the API answers beneath a release, in one of these media types.
async fn of_release(
    api: &Api,
    visitor: &Visitor,
    wanted: &str,
    (place, media_types): (&str, &'static str),
) -> Response {
    let Ok(release) = wanted.parse::<ReleaseId>() else {
        return visitor.answer(Err(Failure::not_found()));
    };
    let path = format!("/v1/releases/{release}/{place}");
    api.hand_on(visitor, &path, media_types).await
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

async fn bundle(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
) -> Response {
    of_release(&api, &visitor, &wanted, ("bundle.zip", "*/*")).await
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
