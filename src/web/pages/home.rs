//! The first page: what this service is, and what waits for who signed in.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use serde_json::Value;

use super::api::{Api, Failure};
use super::frame::{Page, made};
use super::site::Site;
use super::visitor::Visitor;
use super::words::{text, time};
use crate::http::auth::Role;
use crate::web::markup::list;

pub(super) fn router() -> Router<Site> {
    Router::new().route("/", get(home))
}

async fn home(State(api): State<Arc<Api>>, visitor: Visitor) -> Response {
    let page = match &visitor.principal {
        Some(_) => waiting(&api, &visitor).await,
        None => Ok(welcome()),
    };
    visitor.answer(page)
}

fn welcome() -> Page {
    let content = html! {
        p.lead { "This service publishes tables about people and keeps each person's own privacy terms. Every release is checked, from the bytes that are published, before anybody can see it." }
        p { a.button href="/signin" { "Sign in" } }
        dl.ways {
            div {
                dt { "You work with data here" }
                dd { "Sign in with the key that the operator of this service gave you." }
            }
            div {
                dt { "You write a program" }
                dd {
                    a href="/docs/" { "The API" } " describes every operation; "
                    a href="/openapi.yaml" { "openapi.yaml" } " is the same for programs, "
                    a href="/v1/engines" { "/v1/engines" } " lists the ways of anonymizing (with a key), and "
                    a href="/readyz" { "/readyz" } " says whether the service can work now."
                }
            }
        }
        p.note { "Version " (env!("CARGO_PKG_VERSION")) }
    };
    Page::new("Tables about people, on their own terms", content)
}

/// Lists of a service that a page shows, newest first, a few of each.
async fn some(
    (api, visitor): (&Api, &Visitor),
    operation: &str,
    query: &str,
) -> Result<Vec<Value>, Failure> {
    let found = api.get_if_may(visitor, operation, query).await?;
    Ok(list(&found["items"]).to_vec())
}

async fn waiting(api: &Api, visitor: &Visitor) -> Result<Page, Failure> {
    let asking = (api, visitor);
    let drafts = if visitor.has(Role::Steward) {
        some(asking, "/v1/releases", "state=draft&limit=10").await?
    } else {
        Vec::new()
    };
    let running = some(asking, "/v1/jobs", "state=running&limit=10").await?;
    let queued = some(asking, "/v1/jobs", "state=queued&limit=10").await?;
    let datasets = some(asking, "/v1/datasets", "limit=10").await?;
    let published = some(asking, "/v1/releases", "state=published&limit=10").await?;
    let jobs: Vec<_> = running.into_iter().chain(queued).collect();
    let content = html! {
        @if visitor.has(Role::Steward) {
            section {
                h2 { "Drafts to look at" }
                (releases(&drafts, "No draft waits."))
            }
            section {
                h2 { "Jobs that go on" }
                @if jobs.is_empty() { p.empty { "No job runs or waits." } }
                (made(("/jobs", "since "), &jobs))
            }
        }
        @if visitor.may(&Method::GET, "/v1/datasets") {
            section {
                h2 { "Datasets" }
                @if datasets.is_empty() { p.empty { "No dataset yet." } }
                ul.rows {
                    @for dataset in &datasets {
                        li {
                            a href={ "/datasets/" (text(dataset, "id")) } { (text(dataset, "name")) }
                            span.note { "made " (time(&dataset["created_at"])) }
                        }
                    }
                }
            }
        }
        @if visitor.may(&Method::GET, "/v1/releases") {
            section {
                h2 { "Published" }
                (releases(&published, "Nothing is published yet."))
            }
        }
        @if visitor.may(&Method::GET, "/v1/audit") {
            section {
                h2 { "Audit" }
                p { a href="/audit" { "What was done here, by whom and when" } }
            }
        }
    };
    Ok(Page::new("What waits for you", content))
}

fn releases(found: &[Value], none: &str) -> Markup {
    html! {
        @if found.is_empty() { p.empty { (none) } }
        (made(("/releases", "made "), found))
    }
}
