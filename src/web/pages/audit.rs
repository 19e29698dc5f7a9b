//! The audit log, newest first, and whether its chain is whole.

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::Method;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use serde_json::Value;

use super::api::{Api, Failure};
use super::datasets::listing;
use super::frame::{Page, more, nothing, program_text, table};
use super::site::Site;
use super::visitor::{Posted, Visitor};
use super::words::{actor, short, text, time};
use crate::web::markup::{list, number, shortened, words};

/// Characters of one detail: enough of a digest to tell it from another.
const DETAIL_CHARACTERS: usize = 48;

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
    let asked = given(query.unwrap_or_default());
    let found = api
        .get(visitor, &listing("/v1/audit", Some(&asked)))
        .await?;
    let rows = list(&found["items"]);
    let is_restricted = !asked.is_empty();
    let content = html! {
        div.row {
            a.button href="/audit/chain" { "Check the chain of rows" }
            @if visitor.may(&Method::GET, "/v1/ledger") { a.button href="/audit/ledger" { "Ledger of releases" } }
        }
        (restrictions(&Posted::of_query(&asked)))
        @if rows.is_empty() { (nothing(if is_restricted { "No row is like that." } else { "Nothing was done yet." })) }
        @else {
            (table("Rows of the log", html! { table {
                thead { tr {
                    th.n scope="col" { "Row" }
                    th scope="col" { "When" }
                    th scope="col" { "Who" }
                    th scope="col" { "What" }
                    th scope="col" { "Of what" }
                    th scope="col" { "With" }
                } }
                tbody { @for row in rows { tr {
                    td.n { (number(&row["position"])) }
                    td { (time(&row["occurred_at"])) }
                    td { (actor(text(row, "actor"))) }
                    td { (words(text(row, "action"))) }
                    td { (words(text(row, "object_kind"))) " " (object(visitor, row)) }
                    td.note { (detail(&row["detail"])) }
                } } }
            } }))
        }
        (more("/audit", Some(&asked), &found["next_cursor"]))
    };
    Ok(Page::new("Audit log", content))
}

/// The fields of a query that say something: a form sends empty ones too.
fn given(query: &str) -> String {
    let fields = form_urlencoded::parse(query.as_bytes());
    let fields = fields.filter(|(_, value)| !value.trim().is_empty());
    let mut given = form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields {
        given.append_pair(&name, value.trim());
    }
    given.finish()
}

/// What the rows may be restricted to.
fn restrictions(asked: &Posted) -> Markup {
    let fields = [
        ("actor", "Who (a key's id, operator, nobody)"),
        ("action", "What (as get_release_table)"),
        ("dataset", "Dataset (its id)"),
    ];
    let is_used = fields.iter().any(|(name, _)| !asked.text(name).is_empty());
    html! {
        details open[is_used] {
            summary { "Some rows only" }
            form.sheet method="get" {
                @for (name, label) in fields {
                    label for=(name) { (label) }
                    input #(name) name=(name) value=(asked.text(name)) autocomplete="off" spellcheck="false";
                }
                p { button.plain type="submit" { "Show these rows" } " " a href="/audit" { "All rows" } }
            }
        }
    }
}

/// Counts, versions and digests, in a line.
fn detail(detail: &Value) -> String {
    let fields = detail.as_object().into_iter().flatten();
    let says = |value: &Value| match value {
        Value::Null => false,
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    let fields = fields
        .filter(|(_, value)| says(value))
        .map(|(name, value)| {
            let value = match value {
                Value::Array(_) | Value::Object(_) => value.to_string(),
                other => number(other),
            };
            format!("{} {}", words(name), shortened(&value, DETAIL_CHARACTERS))
        });
    fields.collect::<Vec<_>>().join(" · ")
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

fn object(visitor: &Visitor, row: &Value) -> Markup {
    let object = text(row, "object_id");
    let place = match text(row, "object_kind") {
        "release" => Some(("/releases", "/v1/releases/{id}")),
        "dataset" => Some(("/datasets", "/v1/datasets/{id}")),
        "job" => Some(("/jobs", "/v1/jobs/{id}")),
        "exploration" => Some(("/explorations", "/v1/explorations/{id}")),
        _ => None,
    };
    // A way that ends at a refusal is none.
    let place = place.filter(|(_, operation)| visitor.may(&Method::GET, operation));
    html! {
        @match place {
            _ if object.is_empty() => {},
            Some((place, _)) => a href={ (place) "/" (object) } { (short(object)) },
            None => (short(object)),
        }
    }
}
