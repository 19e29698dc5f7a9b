//! Explorations: what to try, how far it is, the candidates side by side, and the
//! choice of one.
//!
//! The picture and the tables are those of the file that `vizard explore` writes.
//! Choosing is what the API has: a candidate is a draft, which is published on its
//! own page; the drafts beside it stay until they are withdrawn.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::api::{Api, Failure};
use super::datasets::card;
use super::frame::{Page, button, form_token};
use super::site::Site;
use super::visitor::{Posted, Visitor};
use super::words::{dataset_title, state, text, time};
use crate::ids::ExplorationId;
use crate::web::exploration::{exploration_part, parameters};
use crate::web::markup::{list, number};

/// What stands first on the card of a candidate.
const FIGURES: [(&str, &str); 6] = [
    ("/loss", "loss, by which it was compared"),
    ("/risk", "risk, by which it was compared"),
    ("/measures/ncp", "mean loss of a cell"),
    ("/measures/query_error", "mean error of a count"),
    (
        "/measures/reidentification_max",
        "largest re-identification risk",
    ),
    ("/measures/left_out", "share of records left out"),
];

pub(super) fn router() -> Router<Site> {
    Router::new()
        .route("/explorations/{id}", get(one))
        .route("/explorations/{id}/cancel", post(cancel))
        .route("/explorations/{id}/choose", post(choose))
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
    let id: ExplorationId = wanted.parse()?;
    let found = api.get(visitor, &format!("/v1/explorations/{id}")).await?;
    let dataset = format!("/v1/datasets/{}", text(&found, "dataset"));
    let dataset = api.get(visitor, &dataset).await?;
    let goes_on = text(&found, "state") == "running";
    let ways = |setting: &Value| way(text(&found, "dataset"), setting);
    let content = html! {
        div data-watch=[goes_on.then_some("#exploration")] {
            div #exploration {
                (progress(visitor, &found))
                (candidates(visitor, &found))
                (PreEscaped(exploration_part(&found, &ways)))
                p.note { "Begun " (time(&found["created_at"])) " on version " (found["version"]) " · " code { (id) } }
            }
        }
    };
    let title = format!("Exploration of {}", dataset_title(&dataset));
    let above = format!("/datasets/{}", text(&found, "dataset"));
    Ok(Page::new(title, content).below(above, dataset_title(&dataset).to_owned()))
}

/// Where a setting leads: to its draft, else to a job with its parameters.
fn way(dataset: &str, setting: &Value) -> Option<(String, &'static str)> {
    if let Some(release) = setting["release"].as_str() {
        return Some((format!("/releases/{release}"), "look at its release"));
    }
    if text(setting, "state") != "succeeded" {
        return None;
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("engine", text(setting, "engine"));
    for (name, value) in setting["parameters"].as_object().into_iter().flatten() {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        query.append_pair(&format!("parameter.{name}"), &value);
    }
    Some((
        format!("/datasets/{dataset}/job?{}", query.finish()),
        "order it again",
    ))
}

fn progress(visitor: &Visitor, found: &Value) -> Markup {
    let goes_on = text(found, "state") == "running";
    let said = match text(found, "state") {
        "running" => "Settings are run one after the other, after all other jobs.",
        "done" => "Every setting has ended.",
        "cancelled" => "Somebody stopped it. What had ended by then is here.",
        "time_up" => "Its time was over before all settings were begun.",
        _ => "",
    };
    html! {
        p { "State: " (state(text(found, "state"))) " " span.note { (said) } }
        @if goes_on {
            label for="progress" { (found["settings_ended"]) " of " (found["settings_total"]) " settings have ended" }
            progress #progress max=(found["settings_total"]) value=(found["settings_ended"]) {}
            noscript { p.note { "Load the page again to see how far it is." } }
            (button(visitor, &format!("/explorations/{}/cancel", text(found, "id")), "Stop it", "plain"))
        }
    }
}

/// The best, side by side.
fn candidates(visitor: &Visitor, found: &Value) -> Markup {
    let settings = list(&found["settings"]);
    let best = list(&found["best"]).iter();
    let best = best.filter_map(|number| settings.iter().find(|one| one["setting"] == *number));
    let kept: Vec<_> = best.filter(|one| one["release"].is_string()).collect();
    html! {
        @if !kept.is_empty() {
            section {
                h2 { "Candidates" }
                p.note { "The best so far, whose tables are kept as drafts. Nobody but stewards sees them." }
                div.questions { @for one in &kept { (candidate(visitor, found, one)) } }
            }
        }
    }
}

fn candidate(visitor: &Visitor, found: &Value, setting: &Value) -> Markup {
    let place = format!("/explorations/{}/choose", text(found, "id"));
    html! {
        section {
            h3 { "No. " (number(&setting["setting"])) ": " (text(setting, "engine")) }
            p.note { (parameters(setting)) }
            div.cards { @for (place, what) in FIGURES {
                @if let Some(figure) = setting.pointer(place).filter(|one| one.is_number()) {
                    (card(&number(figure), what))
                }
            } }
            p { a.button href={ "/releases/" (text(setting, "release")) } { "Look at it" } }
            @if text(found, "state") != "running" && visitor.may(&Method::POST, "/v1/releases/{id}/withdraw") {
                form method="post" action=(place) {
                    (form_token(visitor))
                    input type="hidden" name="setting" value=(setting["setting"]);
                    button.plain type="submit" { "Choose it, and withdraw the other drafts" }
                }
            }
        }
    }
}

async fn cancel(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
    posted: Posted,
) -> Response {
    let done = async {
        posted.checked(&visitor)?;
        let id: ExplorationId = wanted.parse()?;
        let place = format!("/v1/explorations/{id}/cancel");
        api.post(&visitor, &place, None).await?;
        Ok(Redirect::to(&format!("/explorations/{id}")).into_response())
    };
    done.await
        .unwrap_or_else(|failure: Failure| visitor.answer(Err(failure)))
}

/// Withdraws the other drafts, and goes on to the one that was chosen.
async fn choose(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
    posted: Posted,
) -> Response {
    let done = async {
        posted.checked(&visitor)?;
        let id: ExplorationId = wanted.parse()?;
        let found = api.get(&visitor, &format!("/v1/explorations/{id}")).await?;
        if text(&found, "state") == "running" {
            let detail = "It still runs: more candidates may come. Wait, or stop it first.";
            return Err(Failure::form(StatusCode::CONFLICT, detail));
        }
        let settings = list(&found["settings"]);
        let chosen = settings.iter().find(|one| {
            one["release"].is_string() && number(&one["setting"]) == posted.text("setting")
        });
        let chosen = text(chosen.ok_or_else(Failure::not_found)?, "release");
        let kept = settings.iter().filter_map(|one| one["release"].as_str());
        for other in kept.filter(|other| *other != chosen) {
            let place = format!("/v1/releases/{other}");
            // What was published already is nobody's draft.
            let release = api.get(&visitor, &place).await?;
            if text(&release, "state") == "draft" {
                api.post(&visitor, &format!("{place}/withdraw"), None)
                    .await?;
            }
        }
        Ok(Redirect::to(&format!("/releases/{chosen}")).into_response())
    };
    done.await
        .unwrap_or_else(|failure| visitor.answer(Err(failure)))
}
