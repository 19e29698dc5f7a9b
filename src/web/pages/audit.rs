//! The audit log, newest first, and whether its chain is whole.

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use serde_json::Value;

use super::api::{Api, Failure};
use super::datasets::listing;
use super::frame::{Page, more, nothing, table};
use super::site::Site;
use super::visitor::Visitor;
use super::words::{short, text, time};
use crate::web::markup::{list, number, words};

pub(super) fn router() -> Router<Site> {
    Router::new().route("/audit", get(log))
}

async fn log(State(api): State<Arc<Api>>, visitor: Visitor, RawQuery(query): RawQuery) -> Response {
    let page = shown(&api, &visitor, query.as_deref()).await;
    visitor.answer(page)
}

async fn shown(api: &Api, visitor: &Visitor, query: Option<&str>) -> Result<Page, Failure> {
    let found = api.get(visitor, &listing("/v1/audit", query)).await?;
    let chain = api.get(visitor, "/v1/audit/verify").await?;
    let rows = list(&found["items"]);
    let content = html! {
        (whole(&chain))
        @if rows.is_empty() { (nothing("Nothing was done yet.")) }
        @else {
            (table("Rows of the log", html! { table {
                thead { tr {
                    th.n scope="col" { "Row" }
                    th scope="col" { "When" }
                    th scope="col" { "Who" }
                    th scope="col" { "What" }
                    th scope="col" { "Of what" }
                } }
                tbody { @for row in rows { tr {
                    td.n { (number(&row["position"])) }
                    td { (time(&row["occurred_at"])) }
                    td { (who(text(row, "actor"))) }
                    td { (words(text(row, "action"))) }
                    td { (words(text(row, "object_kind"))) " " (object(row)) }
                } } }
            } }))
        }
        (more("/audit", &found["next_cursor"]))
    };
    Ok(Page::new("Audit log", content))
}

/// Whether every row is what it was when it was written.
fn whole(chain: &Value) -> Markup {
    html! {
        @if chain["valid"] == true {
            p { span.yes { "✓ The chain is whole: " } "no row was changed or taken away." }
        } @else {
            p.wrong role="alert" { "✗ The chain is broken: a row was changed or taken away. GET /v1/audit/verify says where." }
        }
    }
}

fn who(actor: &str) -> Markup {
    html! {
        @if actor.starts_with("key_") { "key " (short(actor)) }
        @else { (actor) }
    }
}

fn object(row: &Value) -> Markup {
    let object = text(row, "object_id");
    html! {
        @match text(row, "object_kind") {
            "release" => a href={ "/releases/" (object) } { (short(object)) },
            "dataset" => a href={ "/datasets/" (object) } { (short(object)) },
            "job" => a href={ "/jobs/" (object) } { (short(object)) },
            _ if object.is_empty() => {},
            _ => (short(object)),
        }
    }
}
