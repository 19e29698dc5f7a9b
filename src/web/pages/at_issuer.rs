//! Signing in at the issuer: the way there, and the way back.
//!
//! What a browser keeps meanwhile is a cookie of this host (`http::auth`). The
//! cookie of a session is `SameSite=Strict`, and a browser that the issuer sent
//! here holds it back until a page of this service leads on. So the way back ends
//! with a page that goes on by itself, and not with a redirect.

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use maud::html;

use super::frame::Page;
use super::signin::{asked, end_session, own_place, set_session};
use super::site::Site;
use super::visitor::{Visitor, cookie_of, query_text};
use crate::http::ProblemKind;
use crate::http::auth::{CALLBACK, FLOW_S, Returned, SESSION_S};

/// Where the way to the issuer begins.
pub(super) const ISSUER: &str = "/signin/issuer";
/// What a browser keeps on the way.
const FLOW_COOKIE: &str = "__Host-vizard-flow";
/// Bytes of the place to go on to in that cookie; browsers take 4,096 of the whole.
const NEXT_BYTES_MAX: usize = 3_072;

pub(super) fn router() -> Router<Site> {
    Router::new()
        .route(ISSUER, get(leave))
        .route(CALLBACK, get(come_back))
}

async fn leave(State(site): State<Site>, visitor: Visitor, RawQuery(query): RawQuery) -> Response {
    let next = asked(query.as_deref(), "next").unwrap_or_default();
    let gate = site.gate();
    let begun = match gate.begin_at_issuer(visitor.from).await {
        Ok(begun) => begun,
        Err(problem) => return refused(&visitor, problem.kind()),
    };
    if let Err(problem) = end_session(gate, &visitor).await {
        return problem.into_response();
    }
    let mut response = Redirect::to(begun.place.as_str()).into_response();
    let kept = format!("{}:{}", begun.cookie.expose(), kept_place(&next));
    set_flow(&mut response, &kept, FLOW_S);
    response
}

/// Where to go on to, as a cookie keeps it: nothing, which is the first page,
/// where the whole cookie would be larger than browsers take.
fn kept_place(next: &str) -> String {
    let place: String = form_urlencoded::byte_serialize(own_place(next).as_bytes()).collect();
    if place.len() > NEXT_BYTES_MAX {
        String::new()
    } else {
        place
    }
}

async fn come_back(
    State(site): State<Site>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
    headers: axum::http::HeaderMap,
) -> Response {
    let field = |name| asked(query.as_deref(), name);
    let returned = Returned {
        code: field("code"),
        state: field("state"),
        issuer: field("iss"),
        error: field("error"),
    };
    let kept = cookie_of(&headers, FLOW_COOKIE).and_then(|kept| kept.split_once(':'));
    let pending = kept.map(|(pending, _)| pending);
    let finished = site.gate();
    let finished = finished.finish_at_issuer(pending, &returned, visitor.asking());
    let mut response = match finished.await {
        Ok(begun) => {
            // There is one where the issuer is on the same site, and another page of
            // this browser signed in meanwhile.
            if let Err(problem) = end_session(site.gate(), &visitor).await {
                return problem.into_response();
            }
            let next = kept.map(|(_, next)| format!("next={next}"));
            let next = asked(next.as_deref(), "next").unwrap_or_default();
            let mut response = lead_on(&visitor, own_place(&next));
            set_session(&mut response, begun.secret.expose(), SESSION_S);
            response
        }
        Err(problem) => refused(&visitor, problem.kind()),
    };
    set_flow(&mut response, "", 0);
    response
}

/// A page that goes on by itself.
fn lead_on(visitor: &Visitor, next: &str) -> Response {
    let content = html! { p { a href=(next) { "Go on" } } };
    let mut response = Page::new("You are signed in", content).drawn(visitor);
    // What `own_place` lets through is a header's value.
    if let Ok(place) = HeaderValue::from_str(&format!("0; url={next}")) {
        let refresh = HeaderName::from_static("refresh");
        response.headers_mut().insert(refresh, place);
    }
    response
}

/// The same page for whatever went wrong, so that nobody learns what did.
fn refused(visitor: &Visitor, kind: ProblemKind) -> Response {
    let (status, text) = match kind {
        ProblemKind::TooManyRequests => (
            StatusCode::TOO_MANY_REQUESTS,
            "Too many attempts from your address. Wait a minute, and try again.",
        ),
        ProblemKind::Unavailable => (
            StatusCode::SERVICE_UNAVAILABLE,
            "The place where you sign in does not answer. Try again in a moment.",
        ),
        _ => (
            StatusCode::UNAUTHORIZED,
            "The sign-in did not work. Try again.",
        ),
    };
    let content = html! {
        p.wrong role="alert" { (text) }
        p { a href={ "/signin?" (query_text("next", "/")) } { "To the sign-in" } }
    };
    let mut response = Page::new("Not signed in", content).drawn(visitor);
    *response.status_mut() = status;
    response
}

/// Sets what the browser keeps on the way, or takes it away. It has to come along
/// when the issuer sends the browser back: `Lax`.
fn set_flow(response: &mut Response, text: &str, seconds: i64) {
    let cookie =
        format!("{FLOW_COOKIE}={text}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Lax");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}
