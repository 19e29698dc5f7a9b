//! Ordering an exploration: which engines, and which values of what they promise.
//!
//! Controls for what most need; what all settings of an engine share is JSON, as
//! the API takes it. A list that cannot be read is told before anything is sent.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use maud::{Markup, html};
use serde_json::{Map, Value, json};
use vizard_anonymizer::catalog::exploration::{LossAxis, RiskAxis};

use super::api::{Api, Failure};
use super::frame::{Page, form_token};
use super::order::{below, fitting, known};
use super::site::Site;
use super::visitor::{Posted, Visitor};
use super::words::text;
use crate::ids::ExplorationId;
use crate::web::markup::words;

/// Lists of values, each with its field, an example and what it is.
const VALUES: [(&str, &str, &str); 3] = [
    (
        "k",
        "5, 12, 20",
        "At most 1 in k that a row is a certain person's. Numbers with commas between.",
    ),
    (
        "l",
        "2, 5",
        "At most 1 in l of the values shown together is the person's.",
    ),
    (
        "t",
        "0.2, 0.3",
        "How far what a group shows may be from the whole table; for engines that have it. May be empty.",
    ),
];
/// Levels of effort, as engines call them.
const EFFORTS: [&str; 3] = ["none", "fast", "best"];
/// Parameters of an engine that the lists above give.
const LISTED: [&str; 4] = ["k", "l", "t_closeness", "effort"];

pub(super) fn router() -> Router<Site> {
    Router::new().route("/datasets/{id}/explore", get(show).post(order))
}

async fn show(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
) -> Response {
    let page = form((&api, &visitor), &wanted, None).await;
    visitor.answer(page)
}

async fn form(
    (api, visitor): (&Api, &Visitor),
    wanted: &str,
    tried: Option<(&Posted, &Failure)>,
) -> Result<Page, Failure> {
    let (dataset, engines) = known(api, visitor, wanted).await?;
    let engines = fitting(&dataset, &engines);
    let given = |name: &str, first: &str| match tried {
        Some((posted, _)) => posted.text(name).to_owned(),
        None => first.to_owned(),
    };
    let ticked = |name: &str, value: &str, first: bool| match tried {
        Some((posted, _)) => posted.texts(name).any(|one| one == value),
        None => first,
    };
    let content = html! {
        p.lead { "Many settings on the same records, each a job of its own: verified, measured, and set side by side by what they lose and what their readers may find." }
        @if let Some((_, failure)) = tried {
            div.wrong role="alert" { p { strong { (failure.title) } } p { (failure.detail) } }
        }
        form method="post" {
            (form_token(visitor))
            fieldset {
                legend { "Engines" }
                @for engine in &engines {
                    @let name = text(engine, "name");
                    div {
                        label.box { input type="checkbox" name="engine" value=(name) checked[ticked("engine", name, matches!(name, "lgb" | "mondrian"))]; span { (text(engine, "question")) " " code { (name) } } }
                    }
                }
            }
            fieldset {
                legend { "Values to try" }
                @for (name, first, note) in VALUES {
                    label for=(name) { (name) }
                    input #(name) name=(name) inputmode="decimal" autocomplete="off" value=(given(name, if name == "t" { "" } else { first })) placeholder=(first) aria-describedby={ "about-" (name) };
                    p.note #{ "about-" (name) } { (note) }
                }
                div.boxes role="group" aria-label="Effort" {
                    span { "effort" }
                    @for effort in EFFORTS { label.box { input type="checkbox" name="effort" value=(effort) checked[ticked("effort", effort, false)]; " " (effort) } }
                }
                p.note { "Each engine is tried with each combination of those that it has, 200 settings at most." }
            }
            fieldset {
                legend { "How they are compared" }
                (choice("loss", "Loss", LossAxis::ALL.iter().filter(|axis| **axis != LossAxis::Fit).map(|axis| (axis.as_str(), axis.title())), &given("loss", LossAxis::default().as_str())))
                (choice("risk", "Risk", RiskAxis::ALL.iter().map(|axis| (axis.as_str(), axis.title())), &given("risk", RiskAxis::default().as_str())))
                label for="keep" { "Candidates that are kept as drafts" }
                input #keep name="keep" type="number" min="1" max="20" value=(given("keep", "3"));
                label for="minutes" { "Minutes after which no setting is begun any more" }
                input #minutes name="minutes" type="number" min="1" max="10080" value=(given("minutes", "60"));
            }
            (shared(&engines, &given))
            p { button type="submit" { "Explore" } }
        }
    };
    Ok(below(Page::new("Explore settings", content), &dataset))
}

fn choice(
    name: &str,
    label: &str,
    choices: impl Iterator<Item = (&'static str, &'static str)>,
    given: &str,
) -> Markup {
    html! {
        label for=(name) { (label) }
        select #(name) name=(name) {
            @for (word, title) in choices { option value=(word) selected[word == given] { (title) } }
        }
    }
}

/// What all settings of an engine share, as JSON.
fn shared(engines: &[&Value], given: &dyn Fn(&str, &str) -> String) -> Markup {
    html! {
        details {
            summary { "Other parameters of an engine, the same in all of its settings" }
            @for engine in engines {
                @let name = text(engine, "name");
                @let field = format!("shared.{name}");
                @let properties = engine["parameters"]["properties"].as_object();
                @let others: Vec<_> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).filter(|name| !LISTED.contains(name)).collect();
                label for=(field) { (name) }
                textarea #(field) name=(field) rows="2" spellcheck="false" placeholder="{}" aria-describedby={ "about-" (field) } { (given(&field, "")) }
                p.note #{ "about-" (field) } { "JSON: " (others.iter().map(|name| words(name)).collect::<Vec<_>>().join(", ")) "." }
            }
        }
    }
}

fn unreadable(detail: String) -> Failure {
    Failure::form(StatusCode::UNPROCESSABLE_ENTITY, &detail)
}

/// Numbers with commas or blanks between.
fn numbers(field: &str, given: &str) -> Result<Vec<Value>, Failure> {
    let parts = given.split([',', ';', ' ']).map(str::trim);
    let numbers = parts.filter(|part| !part.is_empty()).map(|part| {
        let number: Option<Value> = serde_json::from_str(part).ok();
        let number = number.filter(Value::is_number);
        let wrong = || format!("{field}: numbers with commas between, as 5, 12, 20.");
        number.ok_or_else(|| unreadable(wrong()))
    });
    numbers.collect()
}

/// What the API takes for a form.
fn document(dataset: &Value, posted: &Posted) -> Result<Value, Failure> {
    let mut asked = Map::new();
    asked.insert("dataset".into(), dataset["id"].clone());
    let mut engines = Vec::new();
    for name in posted.texts("engine") {
        let shared = posted.text(&format!("shared.{name}")).trim();
        let mut engine = json!({"engine": name});
        if !shared.is_empty() {
            let shared = serde_json::from_str(shared);
            let shared: Map<_, _> = shared
                .map_err(|_| unreadable(format!("The parameters of {name} are no JSON object.")))?;
            engine["parameters"] = Value::Object(shared);
        }
        engines.push(engine);
    }
    if engines.is_empty() {
        return Err(unreadable("Choose at least one engine.".into()));
    }
    asked.insert("engines".into(), engines.into());
    for (name, _, _) in VALUES {
        asked.insert(name.into(), numbers(name, posted.text(name))?.into());
    }
    let efforts: Vec<&str> = posted.texts("effort").collect();
    asked.insert("effort".into(), json!(efforts));
    for (name, seconds) in [("keep", 1), ("minutes", 60)] {
        let given: Result<u64, _> = posted.text(name).trim().parse();
        let given = given.map_err(|_| unreadable(format!("{name}: a whole number.")))?;
        let field = if name == "minutes" {
            "seconds_max"
        } else {
            name
        };
        asked.insert(field.into(), given.saturating_mul(seconds).into());
    }
    for name in ["loss", "risk"] {
        if !posted.text(name).is_empty() {
            asked.insert(name.into(), posted.text(name).into());
        }
    }
    Ok(Value::Object(asked))
}

async fn order(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
    posted: Posted,
) -> Response {
    let begun = async {
        posted.checked(&visitor)?;
        let (dataset, _) = known(&api, &visitor, &wanted).await?;
        let document = document(&dataset, &posted)?;
        let begun = api
            .post(&visitor, "/v1/explorations", Some(&document))
            .await?;
        let id: ExplorationId = text(&begun, "id").parse()?;
        Ok::<_, Failure>(id)
    };
    match begun.await {
        Ok(id) => Redirect::to(&format!("/explorations/{id}")).into_response(),
        Err(failure) if failure.status == StatusCode::UNPROCESSABLE_ENTITY => {
            let page = form((&api, &visitor), &wanted, Some((&posted, &failure))).await;
            let mut response = visitor.answer(page);
            *response.status_mut() = failure.status;
            response
        }
        Err(failure) => visitor.answer(Err(failure)),
    }
}
