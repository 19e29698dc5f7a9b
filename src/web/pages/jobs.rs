//! Jobs: the list, and one with its progress, live where scripts run.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use serde_json::Value;

use super::api::{Api, Failure};
use super::datasets::listing;
use super::frame::{Page, button, more, nothing, program_text, table};
use super::site::Site;
use super::visitor::{Posted, Visitor};
use super::words::{short, state, text, time};
use crate::ids::JobId;
use crate::web::markup::list;

pub(super) fn router() -> Router<Site> {
    Router::new()
        .route("/jobs", get(all))
        .route("/jobs/{id}", get(one))
        .route("/jobs/{id}/events", get(events))
        .route("/jobs/{id}/cancel", post(cancel))
}

async fn all(State(api): State<Arc<Api>>, visitor: Visitor, RawQuery(query): RawQuery) -> Response {
    let page = listed(&api, &visitor, query.as_deref()).await;
    visitor.answer(page)
}

async fn listed(api: &Api, visitor: &Visitor, query: Option<&str>) -> Result<Page, Failure> {
    let found = api.get(visitor, &listing("/v1/jobs", query)).await?;
    let jobs = list(&found["items"]);
    let content = html! {
        @if jobs.is_empty() { (nothing("No job yet.")) }
        @else {
            (table("Jobs", html! { table {
                thead { tr {
                    th scope="col" { "Job" }
                    th scope="col" { "State" }
                    th scope="col" { "Made" }
                    th scope="col" { "Ended" }
                } }
                tbody { @for job in jobs { tr {
                    td { a href={ "/jobs/" (text(job, "id")) } { (text(job, "engine")) " " (short(text(job, "id"))) } }
                    td { (state(text(job, "state"))) }
                    td { (time(&job["created_at"])) }
                    td { (time(&job["finished_at"])) }
                } } }
            } }))
        }
        (more("/jobs", query, &found["next_cursor"]))
    };
    Ok(Page::new("Jobs", content))
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
    let job_id: JobId = wanted.parse()?;
    let job = api.get(visitor, &format!("/v1/jobs/{job_id}")).await?;
    let word = text(&job, "state");
    let goes_on = matches!(word, "queued" | "running");
    let content = html! {
        div #job data-state=(word) data-events=[goes_on.then(|| format!("/jobs/{job_id}/events"))] {
            p { "State: " (state(word)) " " span.note { (said(&job)) } }
            (progress(&job["progress"], goes_on))
        }
        @if goes_on && job["cancel_requested"] != true {
            (button(visitor, &format!("/jobs/{job_id}/cancel"), "Cancel the job", "plain"))
        }
        @if let Some(release) = job["release"].as_str() {
            p { a.button href={ "/releases/" (release) } { "To the release" } }
        }
        @if !job["problem"].is_null() {
            section.wrong {
                h2 { (text(&job["problem"], "title")) }
                p { (text(&job["problem"], "detail")) }
            }
        }
        section {
            h2 { "What was ordered" }
            p { a href={ "/datasets/" (text(&job, "dataset")) } { "The dataset" } ", version " (job["version"]) ", the engine " code { (text(&job, "engine")) } "." }
            (program_text("Parameters", &format!("{:#}", job["parameters"])))
        }
        p.note { "Made " (time(&job["created_at"])) " · begun " (time(&job["started_at"])) " · ended " (time(&job["finished_at"])) }
    };
    let page = Page::new(format!("Job: {}", text(&job, "engine")), content);
    Ok(page.below("/jobs", "Jobs"))
}

/// What the state means, in a sentence.
fn said(job: &Value) -> &'static str {
    match text(job, "state") {
        _ if job["cancel_requested"] == true && job["finished_at"].is_null() => {
            "It is being cancelled."
        }
        "queued" => "It waits for a worker.",
        "running" => "A worker is at it.",
        "succeeded" => "The release was verified and is a draft until a steward publishes it.",
        "failed" => "There is no release. Nothing was published.",
        "cancelled" => "Somebody cancelled it. Nothing was published.",
        _ => "",
    }
}

fn progress(progress: &Value, goes_on: bool) -> Markup {
    let fraction = progress["fraction"].as_f64().unwrap_or_default();
    html! {
        @if goes_on {
            label for="progress" { "Step " span #step { (progress["step"]) } " of " span #steps { (progress["steps"]) } ": " span #label { (text(progress, "label")) } }
            progress #progress max="1" value=(format!("{fraction:.3}")) {}
            noscript { p.note { "Load the page again to see how far it is." } }
        }
    }
}

/// The job's events, as the API sends them.
async fn events(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
) -> Response {
    let Ok(job) = wanted.parse::<JobId>() else {
        return visitor.answer(Err(Failure::not_found()));
    };
    let path = format!("/v1/jobs/{job}/events");
    api.hand_on(&visitor, &path, "text/event-stream").await
}

async fn cancel(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
    posted: Posted,
) -> Response {
    let done = async {
        posted.checked(&visitor)?;
        let job: JobId = wanted.parse()?;
        let place = format!("/v1/jobs/{job}/cancel");
        api.post(&visitor, &place, None).await?;
        Ok(Redirect::to(&format!("/jobs/{job}")).into_response())
    };
    match done.await {
        Ok(response) => response,
        Err(failure) => visitor.answer(Err(failure)),
    }
}
