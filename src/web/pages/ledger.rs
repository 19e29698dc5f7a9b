//! The ledger: every release that ever was, what it claimed, who asked for it,
//! published it and took it back, and how often it was read.

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
use super::release::promised;
use super::site::Site;
use super::visitor::Visitor;
use super::words::{actor, short, state, text, time};
use crate::web::markup::{list, number, words};

pub(super) fn router() -> Router<Site> {
    Router::new().route("/audit/ledger", get(ledger))
}

async fn ledger(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let page = shown(&api, &visitor, query.as_deref()).await;
    visitor.answer(page)
}

async fn shown(api: &Api, visitor: &Visitor, query: Option<&str>) -> Result<Page, Failure> {
    let found = api.get(visitor, &listing("/v1/ledger", query)).await?;
    let entries = list(&found["items"]);
    let content = html! {
        @if entries.is_empty() { (nothing("No release was ever made.")) }
        @else {
            (table("Releases", html! { table {
                thead { tr {
                    th scope="col" { "Release" }
                    th scope="col" { "State" }
                    th scope="col" { "Claims" }
                    th.n scope="col" { "Records" }
                    th.n scope="col" { "Left out" }
                    th scope="col" { "Ordered" }
                    th scope="col" { "Published" }
                    th scope="col" { "Ended" }
                    th scope="col" { "Read" }
                } }
                tbody { @for entry in entries { (row(entry)) } }
            } }))
        }
        (more("/audit/ledger", query, &found["next_cursor"]))
    };
    Ok(Page::new("Ledger of releases", content).below("/audit", "Audit log"))
}

fn row(entry: &Value) -> Markup {
    let claims = promised(&entry["guarantees"]);
    let ended = [
        ("withdrawn", &entry["withdrawn"]),
        ("erased", &entry["erased"]),
    ];
    html! {
        tr {
            th scope="row" { code { (text(entry, "engine")) } " " (short(text(entry, "release"))) div.note { "of " (short(text(entry, "dataset"))) ", version " (number(&entry["version"])) } }
            td { (state(text(entry, "state"))) (conditions(entry)) }
            td {
                @if claims.is_empty() { "none" }
                @else { details { summary { (claims.len()) } ul { @for claim in claims { li { (claim) } } } } }
            }
            td.n { (number(&entry["records"])) }
            td.n { (number(&entry["excluded"])) }
            td { (time(&entry["created_at"])) div.note { "by " (actor(text(entry, "requested_by"))) } }
            td { (step(&entry["published"])) }
            td { @for (word, what) in ended { @if !what.is_null() { div { (word) " " (step(what)) } } } }
            td { (reads(&entry["reads"])) }
        }
    }
}

/// Under which exceptions it was published, and whom it has come to hold.
fn conditions(entry: &Value) -> Markup {
    html! {
        @for ground in list(&entry["grounds"]) {
            div.note { "two stewards: " (ground.as_str().map_or_else(|| ground.to_string(), words)) }
        }
        @if entry["affected_at"].is_string() {
            div.no { "affected since " (time(&entry["affected_at"])) }
            @if entry["affected_subjects"].is_number() { div.note { "up to " (number(&entry["affected_subjects"])) " people" } }
        }
    }
}

fn step(step: &Value) -> Markup {
    html! {
        (time(&step["at"]))
        @if step["by"].is_string() { div.note { "by " (actor(text(step, "by"))) } }
    }
}

fn reads(reads: &Value) -> Markup {
    let kinds = ["tables", "reports", "verifications", "queries"];
    let kinds = kinds.iter().filter(|kind| reads[**kind].as_u64() > Some(0));
    html! { @for kind in kinds { div { (kind) " " (number(&reads[*kind])) } } }
}
