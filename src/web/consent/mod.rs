//! Consent pages: a person with a telephone says what may become of their data.
//!
//! `/consent` takes a code, shows what may be chosen (`offer`, `choosing`), repeats
//! the choice (`confirming`) and gives a receipt; `/my-preferences/receipt` (`lookup`)
//! says later what became of it, and withdraws it. Everything is drawn by the server
//! and works without scripts; the one there is moves a code from behind the `#` of a
//! link into the form. The pages ask the operations under `/v1/my-preferences`, and can
//! do no more than the code can.
//!
//! The code is the whole secret, and travels in bodies alone: no cookie is set, so
//! there is nothing of the person's that another site could make their browser use.
//! That is why these forms carry no token of their own and `Origin` is not looked at:
//! who can send one of them has the code, and needs no browser of the person's. So no
//! address needs to be told either, and the pages ask for `no-referrer`.

mod asked;
mod assets;
mod begin;
mod choice;
mod choosing;
mod code;
mod confirming;
mod figures;
mod frame;
mod language;
mod lookup;
mod offer;
mod receipt;
mod said;
mod selection;
mod texts;
mod words;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{Redirect, Response};
use axum::routing::get;

use crate::config::TextsByLanguage;
use crate::web::browser_rules;
use crate::web::pages::api::Api;
use asked::{Asked, Consent, Opened};
use code::Kind;
use texts::Texts;

pub use texts::{SHIPPED, misfit};

/// What a page may load: style, script and icon of this service; and nothing may be
/// asked but by its forms.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Bytes of a form: 64 attributes with long names, and a code.
const FORM_BYTES_MAX: usize = 64 << 10;

/// The pages, with texts of the operator's own.
pub fn router<S: Clone + Send + Sync + 'static>(api: Arc<Api>, own: &TextsByLanguage) -> Router<S> {
    let to_start = async || Redirect::to(choosing::PLACE);
    let to_lookup = async || Redirect::to(lookup::LOOKUP);
    let ask = async |asked: Asked| begin::page(&asked, Kind::Choice);
    let ask_receipt = async |asked: Asked| begin::page(&asked, Kind::Receipt);
    let open = async |Opened(asked): Opened| begin::page(&asked, Kind::Choice);
    let open_receipt = async |Opened(asked): Opened| begin::page(&asked, Kind::Receipt);
    Router::new()
        .route(choosing::PLACE, get(open).post(choosing::show))
        .route("/consent/language", get(to_start).post(ask))
        .route(choosing::CHOSEN, get(to_start).post(confirming::chosen))
        .route(receipt::PLACE, get(to_start).post(receipt::again))
        .route(lookup::LOOKUP, get(open_receipt).post(lookup::show))
        .route(
            "/my-preferences/receipt/language",
            get(to_lookup).post(ask_receipt),
        )
        .route(lookup::WITHDRAWAL, get(to_lookup).post(lookup::withdraw))
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .layer(middleware::from_fn(guard))
        .merge(assets::router())
        .with_state(Consent::new(api, Texts::with_own(own)))
}

/// Says of every page what a browser may do with it, and that nobody keeps it.
async fn guard(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let policy = HeaderValue::from_static(POLICY);
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    browser_rules::tell(headers, "no-referrer");
    response
}
