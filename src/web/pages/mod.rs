//! Pages for people: stewards, analysts, auditors.
//!
//! Drawn by the server from what the REST operations answer (`api`), with
//! templates that the compiler checks (maud: they are Rust, so a name that is
//! gone is an error of the build, and every text is escaped unless it says
//! otherwise). One stylesheet, a few small scripts of our own, nothing from
//! another host. Pages work without scripts; with them progress is live.

pub(super) mod api;
pub(super) mod assets;
mod at_issuer;
mod audit;
mod datasets;
mod dictionary;
mod explorations;
mod explore;
mod first_rows;
mod frame;
mod hierarchies;
mod home;
mod intake;
mod jobs;
mod ledger;
mod order;
mod order_pictures;
mod query;
mod release;
mod releases;
mod risk;
mod signin;
mod site;
mod snippets;
pub(super) mod visitor;
mod words;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRef, Request};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::Response;

use crate::http::{AppState, Drawn};
use crate::web::{browser_rules, consent};
use api::Failure;
use site::Site;
use visitor::Visitor;

/// What a page may load: style, scripts, pictures and answers of this service.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Bytes of a form.
const FORM_BYTES_MAX: usize = 64 << 10;

/// The pages of a server.
pub fn pages(state: &AppState) -> Router<AppState> {
    let site = Site::of(state);
    let consent = consent::router(FromRef::from_ref(&site), &state.settings.consent_texts);
    Router::new()
        .merge(home::router())
        .merge(signin::router())
        .merge(intake::router())
        .merge(datasets::router())
        .merge(risk::router())
        .merge(hierarchies::router())
        .merge(order::router())
        .merge(explore::router())
        .merge(explorations::router())
        .merge(jobs::router())
        .merge(releases::router())
        .merge(query::router())
        .merge(audit::router())
        .merge(ledger::router())
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .layer(middleware::from_fn(guard))
        .merge(assets::router())
        .with_state(site)
        .merge(consent)
}

/// Says of every page what a browser may do with it, and that nobody keeps it.
async fn guard(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let status = response.status();
    let is_told = response.extensions().get::<Drawn>().is_some();
    if (status.is_client_error() || status.is_server_error()) && !is_told {
        // Refused before a page could be drawn: a path or a store that cannot be read.
        response = frame::failure(&Failure::of_status(status)).drawn(&Visitor::nobody());
        *response.status_mut() = status;
    }
    let headers = response.headers_mut();
    // A document of the API that a page hands on has a policy of its own.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(POLICY));
    // Not `no-referrer`: browsers would then name no origin where a form is sent.
    browser_rules::tell(headers, "same-origin");
    response
}
