//! The risk of a dataset before any job: which attributes tell people apart.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use serde_json::Value;

use super::api::{Api, Failure};
use super::datasets::card;
use super::frame::{Page, table};
use super::site::Site;
use super::visitor::Visitor;
use super::words::text;
use crate::ids::DatasetId;
use crate::web::markup::{decimal, list, number};

/// Sets of attributes that the table shows.
const SETS_SHOWN: usize = 15;
/// Width of the picture of a set, in its own units.
const PICTURE: f64 = 300.0;
/// Height of one of its bars.
const BAR: f64 = 22.0;

pub(super) fn router() -> Router<Site> {
    Router::new().route("/datasets/{id}/risk", get(risk))
}

async fn risk(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
) -> Response {
    let page = shown(&api, &visitor, &wanted).await;
    visitor.answer(page)
}

async fn shown(api: &Api, visitor: &Visitor, wanted: &str) -> Result<Page, Failure> {
    let dataset: DatasetId = wanted.parse()?;
    let place = format!("/v1/datasets/{dataset}");
    let known = api.get(visitor, &place).await?;
    let risk = api.get(visitor, &format!("{place}/risk")).await?;
    let growing = list(&risk["growing"]);
    let all = growing.last();
    let content = html! {
        p.lead { "What somebody could tell apart who knows these attributes of a person, if the records went out as they are. Nothing here is published." }
        @if let Some(all) = all {
            div.cards {
                (card(&percent(&all["unique"]), "of people are alone with their values"))
                (card(&percent(&all["marketer"]), "of records that a list of everybody would name"))
                (card(&number(&all["k_min"]), "people in the smallest group"))
                (card(&number(&risk["subjects"]), "people"))
            }
        }
        section {
            h2 { "How fast people become unique" }
            p.note { "One attribute after the other, the one that tells most people apart first. Bars: share of people who are alone with their values." }
            (picture(growing))
        }
        section {
            h2 { "Sets of attributes that tell most" }
            (sets(list(&risk["sets"])))
        }
        section {
            h2 { "Sensitive values" }
            (sensitive(list(&risk["sensitive"])))
        }
        p.note { "What would help: coarser values (hierarchies, " code { "top" } " and " code { "bottom" } "), or leaving out the attributes that stand first in the picture." }
    };
    let page = Page::new("Risk before any job", content);
    Ok(page.below(
        format!("/datasets/{dataset}"),
        text(&known, "name").to_owned(),
    ))
}

fn percent(share: &Value) -> String {
    share.as_f64().map_or_else(
        || "–".into(),
        |share| format!("{} %", decimal((share * 1_000.0).round() / 10.0)),
    )
}

fn names(set: &Value) -> String {
    let names = list(&set["attributes"]).iter().filter_map(Value::as_str);
    names.collect::<Vec<_>>().join(", ")
}

/// Bars, with a table behind them for who does not see the picture.
fn picture(growing: &[Value]) -> Markup {
    let height = BAR * growing.len() as f64;
    // Each set has the one before in it, and one attribute more.
    let added = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| growing.get(before));
        let before = before.map_or(&[][..], |set| list(&set["attributes"]));
        let now = list(&growing[at]["attributes"]);
        let new = now.iter().find(|name| !before.contains(name));
        let name = new.and_then(Value::as_str).unwrap_or_default();
        format!("{}{name}", if at > 0 { "+ " } else { "" })
    };
    html! {
        figure {
            svg viewBox=(format!("0 0 {} {height}", PICTURE * 2.0)) role="img" aria-label="Share of people who are alone, by attributes known" {
                @for (at, set) in growing.iter().enumerate() {
                    @let y = BAR * at as f64;
                    @let share = set["unique"].as_f64().unwrap_or_default().clamp(0.0, 1.0);
                    text x="0" y=(format!("{:.1}", y + 15.0)) { (added(at)) }
                    rect.track x="180" y=(format!("{:.1}", y + 4.0)) width=(PICTURE) height="14" {}
                    rect.bar x="180" y=(format!("{:.1}", y + 4.0)) width=(format!("{:.1}", PICTURE * share)) height="14" {}
                    text.value x=(PICTURE + 190.0) y=(format!("{:.1}", y + 15.0)) { (percent(&set["unique"])) }
                }
            }
        }
        details {
            summary { "The same as a table" }
            (sets(growing))
        }
    }
}

fn sets(sets: &[Value]) -> Markup {
    html! {
        (table("Sets of attributes", html! { table {
            thead { tr {
                th scope="col" { "Attributes" }
                th.n scope="col" { "Alone" }
                th.n scope="col" { "Smallest group" }
                th.n scope="col" { "Prosecutor" }
                th.n scope="col" { "Marketer" }
            } }
            tbody { @for set in sets.iter().take(SETS_SHOWN) { tr {
                td { (names(set)) }
                td.n { (percent(&set["unique"])) }
                td.n { (number(&set["k_min"])) }
                td.n { (percent(&set["prosecutor"])) }
                td.n { (percent(&set["marketer"])) }
            } } }
        } }))
        @if sets.len() > SETS_SHOWN {
            p.note { "The first " (SETS_SHOWN) " of " (sets.len()) "; " code { "GET /v1/datasets/{id}/risk" } " has all." }
        }
    }
}

fn sensitive(attributes: &[Value]) -> Markup {
    html! {
        @if attributes.is_empty() { p.empty { "No attribute is sensitive." } }
        @else {
            (table("Sensitive attributes", html! { table {
                thead { tr {
                    th scope="col" { "Attribute" }
                    th.n scope="col" { "Different values" }
                    th.n scope="col" { "The most frequent" }
                    th.n scope="col" { "Missing" }
                } }
                tbody { @for attribute in attributes { tr {
                    th scope="row" { (text(attribute, "name")) }
                    td.n { (number(&attribute["distinct"])) }
                    td.n { (percent(&attribute["most_frequent"])) }
                    td.n { (number(&attribute["missing"])) }
                } } }
            } }))
        }
    }
}
