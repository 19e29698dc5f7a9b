//! Ordering a job: which engine for which question, and its parameters as
//! controls, made from what `GET /v1/engines` says of them.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::api::{Api, Failure};
use super::frame::{Page, form_token};
use super::order_pictures::picture;
use super::site::Site;
use super::visitor::{Posted, Visitor};
use super::words::{dataset_title, text};
use crate::ids::{DatasetId, JobId};
use crate::web::markup::{list, words};

/// What a field of a parameter is called in the form, before its name.
const FIELD: &str = "parameter.";
/// The field of the whole job as JSON.
const JOB: &str = "job";
/// Numbers above it are no bound that a control need show.
const BOUND_SHOWN_MAX: f64 = 1e6;

pub(super) fn router() -> Router<Site> {
    Router::new().route("/datasets/{id}/job", get(choose).post(order))
}

async fn choose(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    // What another page proposes stands in the form.
    let proposed = Posted::of_query(&query.unwrap_or_default());
    let page = match proposed.text("engine") {
        "" => questions(&api, &visitor, &wanted).await,
        engine => form(&api, &visitor, (&wanted, engine), (&proposed, None)).await,
    };
    visitor.answer(page)
}

/// The dataset, and the engines that there are.
pub async fn known(
    api: &Api,
    visitor: &Visitor,
    wanted: &str,
) -> Result<(Value, Vec<Value>), Failure> {
    let dataset: DatasetId = wanted.parse()?;
    let dataset = api.get(visitor, &format!("/v1/datasets/{dataset}")).await?;
    let engines = api.get(visitor, "/v1/engines").await?;
    Ok((dataset, list(&engines["items"]).to_vec()))
}

async fn questions(api: &Api, visitor: &Visitor, wanted: &str) -> Result<Page, Failure> {
    let (dataset, engines) = known(api, visitor, wanted).await?;
    let engines = fitting(&dataset, &engines);
    let content = html! {
        p.lead { "What do you want to publish? Each question has an engine that answers it." }
        ul.choices { @for engine in &engines { li {
            (picture(text(engine, "name")))
            a href={ "?engine=" (text(engine, "name")) } { (text(engine, "question")) }
            p { (text(engine, "costs")) }
            p.note { "Needs: " (text(engine, "needs")) " " code { (text(engine, "name")) } }
        } } }
        details {
            summary { "What each of them is" }
            dl.ways { @for engine in &engines { div {
                dt { code { (text(engine, "name")) } " – " (text(engine, "title")) }
                dd { "Holds against somebody who " (text(engine, "adversary")) "." }
                @for paper in list(&engine["papers"]) { dd.note { (paper.as_str().unwrap_or_default()) } }
            } } }
        }
    };
    Ok(below(Page::new("New job", content), &dataset))
}

/// The engines that publish datasets of its kind: one record a person, or many.
pub fn fitting<'e>(dataset: &Value, engines: &'e [Value]) -> Vec<&'e Value> {
    let multiplicity = match text(&dataset["schema"], "multiplicity") {
        "" => "one",
        word => word,
    };
    let fits = |engine: &&Value| text(engine, "multiplicity") == multiplicity;
    engines.iter().filter(fits).collect()
}

/// A page below that of a dataset.
pub fn below(page: Page, dataset: &Value) -> Page {
    let place = format!("/datasets/{}", text(dataset, "id"));
    page.below(place, dataset_title(dataset).to_owned())
}

async fn form(
    api: &Api,
    visitor: &Visitor,
    (wanted, name): (&str, &str),
    (given_fields, wrong): (&Posted, Option<&Failure>),
) -> Result<Page, Failure> {
    let (dataset, engines) = known(api, visitor, wanted).await?;
    let engine = engines.iter().find(|engine| text(engine, "name") == name);
    let engine = engine.ok_or_else(Failure::not_found)?;
    let required = list(&engine["parameters"]["required"]);
    let properties = engine["parameters"]["properties"].as_object();
    // What has to be given stands first.
    let mut properties: Vec<_> = properties.into_iter().flatten().collect();
    let is_required = |name: &str| required.iter().any(|one| one == name);
    properties.sort_by_key(|(name, _)| !is_required(name));
    let given = |name: &str| {
        let text = given_fields.text(&field(name));
        // What was emptied by hand stays empty.
        (wrong.is_some() || !text.is_empty()).then(|| text.to_owned())
    };
    let content = html! {
        p.lead { (text(engine, "question")) }
        @if let Some(failure) = wrong {
            div.wrong role="alert" { p { strong { (failure.title) } } p { (failure.detail) } }
        }
        form.sheet method="post" {
            (form_token(visitor))
            input type="hidden" name="engine" value=(name);
            @for (name, property) in &properties {
                (control((name.as_str(), property), is_required(name), given(name)))
            }
            p { button type="submit" { "Run the job" } }
        }
        (as_json(visitor, &dataset, (engine, given_fields)))
        details {
            summary { "What is not protected" }
            ul { @for sentence in list(&engine["not_protected"]) { li { (sentence.as_str().unwrap_or_default()) } } }
        }
        p { a href={ "/datasets/" (text(&dataset, "id")) "/job" } { "Another question" } }
    };
    let title = format!("New job: {name}");
    Ok(below(Page::new(title, content), &dataset))
}

/// The job as the API takes it, to be changed by hand: what no control is for, such
/// as its name, can be said here.
fn as_json(visitor: &Visitor, dataset: &Value, (engine, given): (&Value, &Posted)) -> Markup {
    let typed = given.text(JOB);
    let job = || {
        let mut parameters = parameters(engine, given).unwrap_or_else(|_| json!({}));
        for required in list(&engine["parameters"]["required"]) {
            let name = required.as_str().unwrap_or_default();
            if parameters[name].is_null() {
                parameters[name] = serde_json::from_str(proposed(name)).unwrap_or_default();
            }
        }
        let job =
            json!({"dataset": dataset["id"], "engine": engine["name"], "parameters": parameters});
        serde_json::to_string_pretty(&job).unwrap_or_default()
    };
    let shown = if typed.is_empty() {
        job()
    } else {
        typed.to_owned()
    };
    html! {
        details open[!typed.is_empty()] {
            summary { "The job as JSON" }
            form.sheet method="post" {
                (form_token(visitor))
                input type="hidden" name="engine" value=(text(engine, "name"));
                label for="job" { "What is sent to the API" }
                textarea.text #job name=(JOB) rows="12" spellcheck="false" aria-describedby="about-job" { (shown) }
                p.note #about-job { "Change it as you like. A " code { "name" } " and a " code { "report" } " can be said here alone." }
                p { button type="submit" { "Run this job" } }
            }
        }
    }
}

/// What a parameter that has to be given is, unless somebody says otherwise.
fn proposed(name: &str) -> &'static str {
    match name {
        "k" => "5",
        "l" => "3",
        _ => "",
    }
}

fn field(name: &str) -> String {
    format!("{FIELD}{name}")
}

/// Whether a property takes values of a kind; it may take null as well.
fn takes(property: &Value, kind: &str) -> bool {
    property["type"] == kind || list(&property["type"]).iter().any(|one| one == kind)
}

/// The label, the control and what the parameter means.
fn control((name, property): (&str, &Value), is_required: bool, given: Option<String>) -> Markup {
    let (field, note) = (field(name), format!("about-{name}"));
    let default = match &property["default"] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let value = given.unwrap_or_else(|| match default.as_str() {
        // Nothing given means the default, whatever a later version has.
        "" if is_required => proposed(name).into(),
        _ => String::new(),
    });
    let bound = |at: &str| {
        property[at]
            .as_f64()
            .filter(|bound| *bound < BOUND_SHOWN_MAX)
    };
    let is_whole = takes(property, "integer");
    html! {
        label for=(field) { (words(name)) @if is_required { span.note { " (required)" } } }
        @if property["enum"].is_array() {
            select #(field) name=(field) aria-describedby=(note) {
                option value="" selected[value.is_empty()] { @if default.is_empty() { "not given" } @else { (default) " (default)" } }
                @for choice in list(&property["enum"]).iter().filter_map(Value::as_str) {
                    @if choice != default { option value=(choice) selected[value == choice] { (choice) } }
                }
            }
        } @else if is_whole || takes(property, "number") {
            input #(field) name=(field) type="number" aria-describedby=(note)
                step=(if is_whole { "1" } else { "any" })
                min=[bound("minimum")] max=[bound("maximum")]
                required[is_required] placeholder=(default) value=(value);
        } @else {
            textarea #(field) name=(field) rows="2" spellcheck="false" aria-describedby=(note)
                placeholder=(if takes(property, "string") { String::new() } else { format!("JSON, {}", example(property)) }) { (value) }
        }
        p.note #(note) { (text(property, "description")) " " (meaning(name)) }
    }
}

fn example(property: &Value) -> String {
    match list(&property["examples"]).first() {
        Some(example) => format!("as {example}"),
        None if takes(property, "array") => "as [\"attribute\"]".into(),
        None => "as {}".into(),
    }
}

/// What a number of a frequent parameter means for one person.
fn meaning(name: &str) -> &'static str {
    match name {
        "k" => {
            "5 means: at most 1 in 5 that a row is a certain person's. 5 suits readers under contract, 12 a public release."
        }
        "l" => "3 means: at most 1 in 3 of the values shown together is the person's.",
        "t_closeness" => "0.2 means: what a group shows is at most 0.2 away from the whole table.",
        _ => "",
    }
}

/// The parameters that a form gives, as the API takes them.
fn parameters(engine: &Value, posted: &Posted) -> Result<Value, Failure> {
    let mut parameters = Map::new();
    let properties = engine["parameters"]["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        let given = posted.text(&field(name)).trim();
        if given.is_empty() {
            continue;
        }
        let is_text = takes(property, "string") || property["enum"].is_array();
        let value = if is_text {
            Ok(json!(given))
        } else {
            serde_json::from_str(given)
        };
        let value = value.map_err(|_| {
            let detail = format!("{}: it is a number, or JSON.", words(name));
            Failure::form(axum::http::StatusCode::UNPROCESSABLE_ENTITY, &detail)
        })?;
        parameters.insert(name.clone(), value);
    }
    Ok(Value::Object(parameters))
}

async fn order(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
    posted: Posted,
) -> Response {
    let engine = posted.text("engine").to_owned();
    match begun(&api, &visitor, (&wanted, &engine), &posted).await {
        Ok(job) => Redirect::to(&format!("/jobs/{job}")).into_response(),
        Err(failure) if failure.status.as_u16() == 422 => {
            // Shown beside what was typed, so that nothing is typed again.
            let tried = (&posted, Some(&failure));
            let page = form(&api, &visitor, (&wanted, &engine), tried).await;
            let mut response = visitor.answer(page);
            *response.status_mut() = failure.status;
            response
        }
        Err(failure) => visitor.answer(Err(failure)),
    }
}

/// Where reading a text of JSON stopped; never what stands there.
fn place(error: &serde_json::Error) -> String {
    format!(
        "reading stopped at line {}, column {}",
        error.line(),
        error.column()
    )
}

async fn begun(
    api: &Api,
    visitor: &Visitor,
    (wanted, name): (&str, &str),
    posted: &Posted,
) -> Result<JobId, Failure> {
    posted.checked(visitor)?;
    let (dataset, engines) = known(api, visitor, wanted).await?;
    let engine = engines.iter().find(|engine| text(engine, "name") == name);
    let engine = engine.ok_or_else(Failure::not_found)?;
    let unprocessable =
        |detail: &str| Failure::form(axum::http::StatusCode::UNPROCESSABLE_ENTITY, detail);
    let job = match posted.text(JOB) {
        "" => json!({
            "dataset": dataset["id"],
            "engine": name,
            "parameters": parameters(engine, posted)?,
        }),
        typed => serde_json::from_str(typed)
            .map_err(|error| unprocessable(&format!("The job is no JSON: {}.", place(&error))))?,
    };
    if job["dataset"] != dataset["id"] {
        return Err(unprocessable(
            "The job is of another dataset than this page.",
        ));
    }
    let begun = api.post(visitor, "/v1/jobs", Some(&job)).await?;
    Ok(text(&begun, "id").parse()?)
}
