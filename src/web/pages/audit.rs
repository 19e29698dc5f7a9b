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
use super::frame::{Page, more, nothing, program_text, table};
use super::site::Site;
use super::visitor::Visitor;
use super::words::{short, text, time};
use crate::web::markup::{list, number, words};

pub(super) fn router() -> Router<Site> {
    Router::new()
        .route("/audit", get(log))
        .route("/audit/chain", get(chain))
}

async fn log(State(api): State<Arc<Api>>, visitor: Visitor, RawQuery(query): RawQuery) -> Response {
    let page = shown(&api, &visitor, query.as_deref()).await;
    visitor.answer(page)
}

async fn shown(api: &Api, visitor: &Visitor, query: Option<&str>) -> Result<Page, Failure> {
    let found = api.get(visitor, &listing("/v1/audit", query)).await?;
    let rows = list(&found["items"]);
    let content = html! {
        p { a.button href="/audit/chain" { "Check the chain of rows" } }
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
        (more("/audit", query, &found["next_cursor"]))
    };
    Ok(Page::new("Audit log", content))
}

/// It reads the whole log: only where somebody asks for it.
async fn chain(State(api): State<Arc<Api>>, visitor: Visitor) -> Response {
    let page = api.get(&visitor, "/v1/audit/verify").await;
    visitor.answer(page.map(|chain| whole(&chain)))
}

fn whole(chain: &Value) -> Page {
    let content = html! {
        @if chain["valid"] == true {
            p { span.yes { "✓ The chain is whole: " } "each of its " (number(&chain["rows"])) " rows fits the one before it." }
            p { "A log that was cut at its end, or written anew as a whole, is whole too. Hold its anchor against one that was kept elsewhere:" }
            (program_text("Anchor", text(chain, "anchor")))
        } @else {
            p.wrong role="alert" { "✗ The chain is broken: a row was changed or taken away." }
            (program_text("Where it is broken", &format!("{:#}", chain["broken"])))
        }
    };
    Page::new("The chain of the audit log", content).below("/audit", "Audit log")
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
