//! Asking a release: counts, sums and averages with bounds, as the API answers
//! them from what is published.
//!
//! A question is sent, never part of an address: it may hold values, and
//! addresses are kept by browsers and logs. Nothing of it is kept here either;
//! the form carries all of it from one round to the next.

mod answer;
mod asked;
mod attributes;
mod code;
mod form;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use maud::{Markup, html};
use serde_json::Value;

use super::api::{Api, Failure};
use super::frame::{Page, form_token};
use super::site::Site;
use super::visitor::{Posted, Visitor};
use super::words::{release_title, text};
use crate::ids::ReleaseId;
use asked::{Asked, Asking, Wrong};
use attributes::{Attribute, Kind, attributes, choices};
use form::Sheet;

/// The operation behind the page.
const OPERATION: &str = "/v1/releases/{id}/query";

pub(super) fn router() -> Router<Site> {
    Router::new().route("/releases/{id}/query", get(show).post(round))
}

/// The way to the page of a release, where its reader may ask.
pub fn way(visitor: &Visitor, release: &Value) -> Markup {
    let can_be_asked = !attributes(&release["manifest"]).is_empty();
    html! {
        @if can_be_asked && visitor.may(&Method::POST, OPERATION) {
            a.button href={ "/releases/" (text(release, "id")) "/query" } { "Ask it: counts, sums, averages" }
        }
    }
}

/// A release that is asked.
struct Subject {
    id: ReleaseId,
    attributes: Vec<Attribute>,
    title: String,
}

impl Subject {
    async fn found(api: &Api, visitor: &Visitor, wanted: &str) -> Result<Self, Failure> {
        let id: ReleaseId = wanted.parse()?;
        let release = api.get(visitor, &format!("/v1/releases/{id}")).await?;
        if !visitor.may(&Method::POST, OPERATION) {
            return Err(Failure::of_status(StatusCode::FORBIDDEN));
        }
        Ok(Self {
            id,
            attributes: attributes(&release["manifest"]),
            title: release_title(&release, &Value::Null),
        })
    }

    fn place(&self) -> String {
        format!("/releases/{}/query", self.id)
    }
}

async fn show(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
) -> Response {
    let page = async {
        let subject = Subject::found(&api, &visitor, &wanted).await?;
        Ok(drawn((&api, &visitor), &subject, &Asked::first(), Told::Nothing).await)
    };
    visitor.answer(page.await)
}

/// What stands above the form.
enum Told<'a> {
    /// Nothing yet.
    Nothing,
    /// That a condition is gone.
    OneLess,
    /// What is wrong with the question.
    Wrong(&'a Wrong),
    /// The answer to a query.
    Answer(&'a Value, &'a Value),
}

/// One round: a condition more or less, or the answer.
async fn round(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
    posted: Posted,
) -> Response {
    let asking = (&*api, &visitor);
    let answered = async {
        posted.checked(&visitor)?;
        let subject = Subject::found(&api, &visitor, &wanted).await?;
        let mut asked = Asked::of(&posted, &subject.attributes);
        let action = posted.text("do");
        if let Some(row) = action.strip_prefix("remove.") {
            if row
                .parse()
                .is_ok_and(|row: usize| row < asked.conditions.len())
            {
                asked.conditions.remove(row.parse().unwrap_or_default());
            }
        } else if action == "add" {
            let attribute = posted.text("add").parse().unwrap_or(usize::MAX);
            if attribute < subject.attributes.len() {
                asked.conditions.push(Asking {
                    attribute,
                    ..Asking::default()
                });
            }
        } else {
            return asked_for(asking, &subject, &asked, action == "json").await;
        }
        let told = if action == "add" {
            Told::Nothing
        } else {
            Told::OneLess
        };
        let page = drawn(asking, &subject, &asked, told).await;
        Ok(page.drawn(&visitor))
    };
    match answered.await {
        Ok(response) => response,
        Err(failure) => visitor.answer(Err(failure)),
    }
}

/// The answer on a page, or as the API gives it; what is wrong beside its field.
async fn asked_for(
    (api, visitor): (&Api, &Visitor),
    subject: &Subject,
    asked: &Asked,
    is_file: bool,
) -> Result<Response, Failure> {
    let place = format!("/v1/releases/{}/query", subject.id);
    let told = match asked.meant(&subject.attributes) {
        Err(wrong) => Err(wrong),
        Ok(meant) => match api.post(visitor, &place, Some(&meant.query)).await {
            Ok(answer) => Ok((meant.query, answer)),
            // The question is wrong, not who asks, nor when.
            Err(failure) if failure.status == StatusCode::UNPROCESSABLE_ENTITY => {
                Err(meant.wrong(&failure))
            }
            Err(failure) => return Err(failure),
        },
    };
    let asking = (api, visitor);
    match told {
        Ok((_, answer)) if is_file => Ok(file(&answer)),
        Ok((query, answer)) => {
            let told = Told::Answer(&query, &answer);
            let page = drawn(asking, subject, asked, told).await;
            Ok(page.drawn(visitor))
        }
        Err(wrong) => {
            let page = drawn(asking, subject, asked, Told::Wrong(&wrong)).await;
            let mut response = page.drawn(visitor);
            *response.status_mut() = wrong.status;
            Ok(response)
        }
    }
}

/// An answer to be kept.
fn file(answer: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"answer.json\"",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    (headers, answer.to_string()).into_response()
}

async fn drawn(asking: (&Api, &Visitor), subject: &Subject, asked: &Asked, told: Told<'_>) -> Page {
    let visitor = asking.1;
    let (place, release) = (subject.place(), subject.id.to_string());
    let mut offered = Vec::new();
    for condition in &asked.conditions {
        let attribute = &subject.attributes[condition.attribute];
        offered.push(match attribute.kind {
            Kind::Category => choices(asking, &release, &attribute.name).await,
            _ => None,
        });
    }
    let sheet = Sheet {
        place: &place,
        attributes: &subject.attributes,
        asked,
        choices: &offered,
        wrong: match &told {
            Told::Wrong(wrong) => Some(wrong),
            _ => None,
        },
        has_lost_one: matches!(told, Told::OneLess),
    };
    let content = html! {
        @if let Told::Answer(query, answer) = &told {
            section #answer {
                h2 { "Answer" }
                (answer::answer(answer))
                (code::code(&release, query))
                (as_file(visitor, &sheet))
            }
            h2 { "The question" }
        } @else {
            p.lead { "Answers come from what is published alone: they tell nothing that the tables do not. Each is a row in the audit log, without the question." }
        }
        @if subject.attributes.is_empty() {
            p.wrong { "The rows of this release are people and no records, or its values cannot be counted: it cannot be asked. Download its tables." }
        } @else {
            (form::form(visitor, &sheet))
        }
    };
    let above = format!("/releases/{release}");
    Page::new("Ask the release", content).below(above, subject.title.clone())
}

/// The same question again, for the answer as a file.
fn as_file(visitor: &Visitor, sheet: &Sheet<'_>) -> Markup {
    html! {
        form method="post" action=(sheet.place) {
            (form_token(visitor))
            @for (name, value) in sheet.asked.fields() { input type="hidden" name=(name) value=(value); }
            p { button.plain type="submit" name="do" value="json" { "Download the answer as JSON" } }
        }
    }
}
