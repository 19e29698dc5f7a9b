//! From a file to a dataset: what the file is, a proposed schema to correct, and
//! the upload with its progress.
//!
//! The browser sends the file twice, as the API takes it: once to be looked at,
//! of which nothing is kept, and once to be stored. Nothing in between holds it.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::api::{Api, Failure, segment};
use super::datasets::listing;
use super::frame::{Page, table};
use super::site::Site;
use super::visitor::Visitor;
use super::words::text;
use crate::http::Drawn;
use crate::ids::DatasetId;
use crate::web::markup::{list, number, words};

/// Bytes of a schema with its hierarchies.
const PROPOSAL_BYTES_MAX: usize = 16 << 20;
/// The roles that an attribute may have.
const ROLES: [&str; 5] = [
    "identifier",
    "quasi_identifier",
    "semi_sensitive",
    "sensitive",
    "insensitive",
];

pub(super) fn router() -> Router<Site> {
    Router::new()
        .route("/datasets/new", get(show))
        .route("/datasets/new/inspection", post(inspect))
        .route("/datasets/new/dataset", post(create))
        .route("/datasets/{id}/records", post(upload))
}

async fn show(visitor: Visitor) -> Response {
    let page = if visitor.principal.is_none() {
        Err(Failure::of_status(StatusCode::UNAUTHORIZED))
    } else if visitor.may(&Method::POST, "/v1/datasets") {
        Ok(empty(&visitor))
    } else {
        Err(Failure::of_status(StatusCode::FORBIDDEN))
    };
    visitor.answer(page)
}

fn empty(visitor: &Visitor) -> Page {
    let content = html! {
        p.lead { "Choose an export as it is: CSV with any delimiter and encoding, NDJSON or Parquet. It is looked at, nothing of it is kept, and you get a proposal." }
        noscript { p.wrong { "This page needs scripts: a form could not show how far the upload is. Programs use the API." } }
        div #intake data-token=(visitor.form_token()) {
            label for="file" { "File" }
            input #file type="file" accept=".csv,.txt,.tsv,.ndjson,.jsonl,.parquet";
            p #said role="status" aria-live="polite" {}
            progress #sent max="1" value="0" hidden aria-label="Sent" {}
            div #proposal {}
            div #wrong {}
        }
    };
    Page::new("New dataset", content).below("/datasets", "Datasets")
}

/// What the API says of the file, as the part of the page that shows it.
async fn inspect(State(api): State<Arc<Api>>, visitor: Visitor, request: Request) -> Response {
    let found = async {
        visitor.sent_by_page(request.headers())?;
        let path = listing("/v1/inspections", request.uri().query());
        let response = forwarded(&api, &visitor, (Method::POST, &path), request).await;
        if !response.status().is_success() {
            return Err(Failure::of_response(response).await);
        }
        let bytes = to_bytes(response.into_body(), PROPOSAL_BYTES_MAX).await;
        let found: Value = serde_json::from_slice(&bytes.unwrap_or_default()).unwrap_or_default();
        Ok(Html(proposal(&found).into_string()).into_response())
    };
    told(found.await)
}

/// A request with the body of another, of which the browser said the type.
async fn forwarded(
    api: &Api,
    visitor: &Visitor,
    (method, path): (Method, &str),
    request: Request,
) -> Response {
    let kind = request.headers().get(header::CONTENT_TYPE).cloned();
    let mut inner = Request::new(request.into_body());
    *inner.method_mut() = method;
    if let Ok(path) = path.parse() {
        *inner.uri_mut() = path;
    }
    if let Some(kind) = kind {
        inner.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    api.send(visitor, inner).await
}

/// An answer for the script of the page: of a refusal its two sentences.
fn told(done: Result<Response, Failure>) -> Response {
    match done {
        Ok(response) => response,
        Err(failure) => {
            let said = json!({"title": failure.title, "detail": failure.detail}).to_string();
            let mut response = Response::new(Body::from(said));
            *response.status_mut() = failure.status;
            response.extensions_mut().insert(Drawn);
            response
        }
    }
}

fn proposal(found: &Value) -> Markup {
    let proposed = json!({"schema": found["schema"], "hierarchies": found["hierarchies"]});
    html! {
        section {
            h2 #found tabindex="-1" { "What the file is" }
            @if found["is_cut"] == true { p.wrong { "Its first 64 MiB alone were looked at: figures and roles are of these." } }
            p { (number(&found["records"])) " records, " (list(&found["attributes"]).len()) " attributes." }
            ul { @for line in list(&found["evidence"]) { li { (line.as_str().unwrap_or_default()) } } }
        }
        @if !list(&found["questions"]).is_empty() {
            section {
                h2 { "Questions that the file cannot answer" }
                ul { @for line in list(&found["questions"]) { li { (line.as_str().unwrap_or_default()) } } }
            }
        }
        section {
            h2 { "What its attributes are" }
            p.note { "Correct the roles that are wrong. Identifiers are never published; quasi-identifiers are made coarser; sensitive values are protected." }
            (attributes(found))
        }
        details {
            summary { "The schema as JSON" }
            label for="schema" { "Schema and hierarchies" }
            textarea #schema rows="18" spellcheck="false" { (format!("{proposed:#}")) }
        }
        p { button #keep type="button" { "Make the dataset, and upload the file" } }
    }
}

fn attributes(found: &Value) -> Markup {
    table(
        "Attributes",
        html! { table {
            thead { tr {
                th scope="col" { "Attribute" }
                th scope="col" { "Role" }
                th scope="col" { "Type" }
                th.n scope="col" { "Values" }
                th.n scope="col" { "Missing" }
                th scope="col" { "Why" }
            } }
            tbody { @for attribute in list(&found["attributes"]) {
                @let (name, role) = (text(attribute, "name"), text(attribute, "role"));
                tr {
                    th scope="row" { (name) }
                    td {
                        select data-attribute=(name) aria-label={ "Role of " (name) } {
                            @for one in ROLES { option value=(one) selected[one == role] { (words(one)) } }
                        }
                    }
                    td { (words(text(attribute, "type"))) }
                    td.n { (number(&attribute["distinct"])) }
                    td.n { (number(&attribute["missing"])) }
                    td.note { @for reason in list(&attribute["reasons"]) { (reason.as_str().unwrap_or_default()) ". " } }
                }
            } }
        } },
    )
}

/// Makes the dataset, and puts its hierarchies.
async fn create(State(api): State<Arc<Api>>, visitor: Visitor, request: Request) -> Response {
    let done = async {
        visitor.sent_by_page(request.headers())?;
        let bytes = to_bytes(request.into_body(), PROPOSAL_BYTES_MAX).await;
        let proposed: Value =
            serde_json::from_slice(&bytes.unwrap_or_default()).map_err(|_| not_json())?;
        let schema = &proposed["schema"];
        let made = api.post(&visitor, "/v1/datasets", Some(schema)).await?;
        let dataset: DatasetId = text(&made, "id").parse()?;
        for (name, hierarchy) in proposed["hierarchies"].as_object().into_iter().flatten() {
            let place = format!("/v1/datasets/{dataset}/hierarchies/{}", segment(name));
            api.put(&visitor, &place, hierarchy).await?;
        }
        Ok(json!({"id": dataset}).to_string().into_response())
    };
    told(done.await)
}

fn not_json() -> Failure {
    Failure::form(
        StatusCode::UNPROCESSABLE_ENTITY,
        "The schema is not JSON any more. Undo the last change, or choose the file again.",
    )
}

/// Hands the file on to the API, and its answer back: errors by line are in it.
async fn upload(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    Path(wanted): Path<String>,
    request: Request,
) -> Response {
    if let Err(failure) = visitor.sent_by_page(request.headers()) {
        return told(Err(failure));
    }
    let Ok(dataset) = wanted.parse::<DatasetId>() else {
        return told(Err(Failure::not_found()));
    };
    let path = format!("/v1/datasets/{dataset}/records");
    let mut response = forwarded(&api, &visitor, (Method::POST, &path), request).await;
    response.extensions_mut().insert(Drawn);
    response
}
