//! Datasets: the list, and one with what is known of it.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::Method;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use serde_json::Value;

use super::api::{Api, Failure, segment};
use super::frame::{Page, made, more, nothing, table};
use super::site::Site;
use super::visitor::Visitor;
use super::words::{dataset_title, role, short, state, text, time, wording};
use crate::ids::DatasetId;
use crate::web::markup::{list, number, words};

/// Versions that the page of a dataset shows.
const VERSIONS_SHOWN: usize = 30;

pub(super) fn router() -> Router<Site> {
    Router::new()
        .route("/datasets", get(all))
        .route("/datasets/{id}", get(one))
}

async fn all(State(api): State<Arc<Api>>, visitor: Visitor, RawQuery(query): RawQuery) -> Response {
    let page = listed(&api, &visitor, query.as_deref()).await;
    visitor.answer(page)
}

/// The list behind a path of the API, with the query of the page.
pub fn listing(path: &str, query: Option<&str>) -> String {
    match query {
        Some(query) if !query.is_empty() => format!("{path}?{query}"),
        _ => path.to_owned(),
    }
}

async fn listed(api: &Api, visitor: &Visitor, query: Option<&str>) -> Result<Page, Failure> {
    let found = api.get(visitor, &listing("/v1/datasets", query)).await?;
    let datasets = list(&found["items"]);
    let content = html! {
        @if visitor.may(&Method::POST, "/v1/datasets") {
            p { a.button href="/datasets/new" { "New dataset from a file" } }
        }
        @if datasets.is_empty() {
            (nothing("No dataset yet."))
        } @else {
            (table("Datasets", html! { table {
                thead { tr {
                    th scope="col" { "Name" }
                    th.n scope="col" { "Version" }
                    th.n scope="col" { "Records" }
                    th.n scope="col" { "People with terms" }
                    th scope="col" { "Made" }
                } }
                tbody { @for dataset in datasets { tr {
                    td { a href={ "/datasets/" (text(dataset, "id")) } { (dataset_title(dataset)) } }
                    td.n { (number(&dataset["version"])) }
                    td.n { (number(&dataset["records"])) }
                    td.n { (number(&dataset["preferences"]["subjects"])) }
                    td { (time(&dataset["created_at"])) }
                } } }
            } }))
        }
        (more("/datasets", query, &found["next_cursor"]))
    };
    Ok(Page::new("Datasets", content))
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
    let dataset_id: DatasetId = wanted.parse()?;
    let dataset = api
        .get(visitor, &format!("/v1/datasets/{dataset_id}"))
        .await?;
    let of_it = format!("dataset={dataset_id}&limit=10");
    let jobs = api.get_if_may(visitor, "/v1/jobs", &of_it).await?;
    let releases = api.get_if_may(visitor, "/v1/releases", &of_it).await?;
    let explored = api.get_if_may(visitor, "/v1/explorations", &of_it).await?;
    let schema = &dataset["schema"];
    let content = html! {
        @if let Some(purpose) = wording(&schema["purpose"]) { p.lead { (purpose) } }
        @if let Some(contact) = wording(&schema["contact"]) { p.note { "Questions: " (contact) } }
        div.cards {
            (card(&number(&dataset["records"]), if text(schema, "multiplicity") == "many" { "records, several of one person" } else { "records, one of each person" }))
            (card(&number(&dataset["version"]), "version"))
            (card(&number(&dataset["preferences"]["subjects"]), "people with terms of their own, with and without a record"))
            (card(&kept_for(&dataset), "days that records are kept, where this dataset says it"))
        }
        @if dataset["records"].is_number() { (ways(visitor, &dataset_id)) }
        (affected(&dataset["affected_releases"]))
        section {
            h2 { "Attributes" }
            (attributes(&dataset))
        }
        (versions(list(&dataset["versions"])))
        (explorations(&explored))
        (made_of_it("Jobs", "/jobs", &jobs))
        (made_of_it("Releases", "/releases", &releases))
        p.note { "Made " (time(&dataset["created_at"])) " · " code { (dataset_id) } }
    };
    let page = Page::new(dataset_title(&dataset).to_owned(), content);
    Ok(page.below("/datasets", "Datasets"))
}

/// What its stewards do with it.
fn ways(visitor: &Visitor, dataset: &DatasetId) -> Markup {
    let may = |method, path| visitor.may(&method, path);
    html! {
        div.row {
            @if may(Method::GET, "/v1/datasets/{id}/risk") { a.button href={ "/datasets/" (dataset) "/risk" } { "Risk before any job" } }
            @if may(Method::POST, "/v1/explorations") { a.button href={ "/datasets/" (dataset) "/explore" } { "Explore settings" } }
            @if may(Method::POST, "/v1/jobs") { a.button href={ "/datasets/" (dataset) "/job" } { "New job" } }
        }
    }
}

/// A figure with what it is of.
pub fn card(figure: &str, what: &str) -> Markup {
    html! { div.card { b { (figure) } span { (what) } } }
}

/// Published releases that somebody in them has since objected to.
fn affected(releases: &Value) -> Markup {
    let releases = list(releases);
    html! {
        @if !releases.is_empty() {
            section.wrong {
                h2 { "Releases that people have since asked more of" }
                p { "They hold people who excluded themselves or ask for more than these releases give. Withdraw them, and publish others." }
                ul { @for one in releases { li {
                    a href={ "/releases/" (text(one, "release")) } { "Release " (short(text(one, "release"))) }
                    @if one["subjects"].is_number() { ": up to " (number(&one["subjects"])) " people" }
                } } }
            }
        }
    }
}

/// How the records came to be what they are, newest first.
fn versions(versions: &[Value]) -> Markup {
    html! {
        @if !versions.is_empty() {
            section {
                h2 { "Versions" }
                (table("Versions", html! { table {
                    thead { tr {
                        th.n scope="col" { "Version" }
                        th scope="col" { "Made by" }
                        th.n scope="col" { "Records sent" }
                        th.n scope="col" { "Left out" }
                        th.n scope="col" { "Records in it" }
                        th scope="col" { "When" }
                    } }
                    tbody { @for version in versions.iter().take(VERSIONS_SHOWN) { tr {
                        th.n scope="row" { (number(&version["version"])) }
                        td { (mode(text(version, "mode"))) }
                        td.n { (number(&version["records"])) }
                        td.n { (number(&version["dropped"])) }
                        td.n { (number(&version["total_records"])) }
                        td { (time(&version["created_at"])) @if version["purged_at"].is_string() { div.note { "purged " (time(&version["purged_at"])) } } }
                    } } }
                } }))
                @if versions.len() > VERSIONS_SHOWN { p.note { "The newest " (VERSIONS_SHOWN) " of " (versions.len()) "." } }
            }
        }
    }
}

/// How a version came to be.
fn mode(word: &str) -> &str {
    match word {
        "append" => "records added",
        "replace" => "all records replaced",
        "upsert" => "records of some people replaced",
        "schema" => "another schema, or other hierarchies",
        other => other,
    }
}

fn kept_for(dataset: &Value) -> String {
    match dataset["raw_retention_days"].as_u64() {
        Some(days) => days.to_string(),
        None => "–".into(),
    }
}

fn attributes(dataset: &Value) -> Markup {
    let schema = &dataset["schema"];
    html! {
        (table("Attributes", html! { table {
            thead { tr {
                th scope="col" { "Attribute" }
                th scope="col" { "Role" }
                th scope="col" { "Type" }
                th scope="col" { "Hierarchy" }
            } }
            tbody { @for attribute in list(&schema["attributes"]) { tr {
                th scope="row" {
                    (text(attribute, "name"))
                    @if let Some(title) = wording(&attribute["title"]) { div.note { (title) } }
                }
                td {
                    (words(text(attribute, "role")))
                    div.note { (role(text(attribute, "role"))) }
                }
                td { (words(text(attribute, "type"))) }
                td {
                    @let name = text(attribute, "hierarchy");
                    @if !name.is_empty() { a href={ "/datasets/" (text(dataset, "id")) "/hierarchies/" (segment(name)) } { (name) } }
                }
            } } }
        } }))
    }
}

/// Jobs or releases of it, under their heading; nothing where there are none.
fn made_of_it(heading: &str, place: &str, found: &Value) -> Markup {
    let found = list(&found["items"]);
    html! {
        @if !found.is_empty() {
            section {
                h2 { (heading) }
                (made((place, ""), found))
            }
        }
    }
}

/// The explorations of a dataset, under a heading; nothing where there are none.
fn explorations(found: &Value) -> Markup {
    let found = list(&found["items"]);
    html! {
        @if !found.is_empty() {
            section {
                h2 { "Explorations" }
                ul.rows { @for one in found { li {
                    a href={ "/explorations/" (text(one, "id")) } { (one["settings_total"]) " settings" }
                    (state(text(one, "state")))
                    span.note { (time(&one["created_at"])) }
                } } }
            }
        }
    }
}
