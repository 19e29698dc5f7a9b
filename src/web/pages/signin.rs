//! Signing in with a key, an issuer's token or at the issuer, and signing out.

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::html;

use super::at_issuer::{self, ISSUER};
use super::frame::Page;
use super::site::Site;
use super::visitor::{COOKIE, Posted, Visitor, query_text};
use crate::http::auth::{Gate, SESSION_S};
use crate::http::{Problem, ProblemKind};

pub(super) fn router() -> Router<Site> {
    Router::new()
        .route("/signin", get(show).post(sign_in))
        .route("/signout", post(sign_out))
        .merge(at_issuer::router())
}

async fn show(State(site): State<Site>, visitor: Visitor, RawQuery(query): RawQuery) -> Response {
    let wished = asked(query.as_deref(), "next").unwrap_or_default();
    let next = own_place(&wished);
    if visitor.principal.is_some() {
        return Redirect::to(next).into_response();
    }
    visitor.answer(Ok(form(next, None, site.gate().issuer_host())))
}

/// The ways in. The one to the issuer is a link: a form may be sent to this
/// service alone.
fn form(next: &str, wrong: Option<&str>, issuer: Option<&str>) -> Page {
    let content = html! {
        @if let Some(wrong) = wrong {
            p.wrong role="alert" { (wrong) }
        }
        @if let Some(host) = issuer {
            p { a.button href={ (ISSUER) "?" (query_text("next", next)) } { "Sign in at " (host) } }
            p.note { "Or with a key:" }
        }
        form.sheet method="post" action="/signin" {
            input type="hidden" name="next" value=(next);
            label for="key" { "Key" }
            input #key name="key" type="password" required autocomplete="off" autocapitalize="none" spellcheck="false" autofocus aria-invalid=[wrong.map(|_| "true")] aria-describedby="about-key";
            p.note #about-key { "The key that the operator gave you. It begins with vz_. It is not kept in the browser." }
            button type="submit" { "Sign in" }
        }
        p.note { "You are signed out after 8 hours, and after 30 minutes in which you open no page." }
    };
    Page::new("Sign in", content)
}

/// A field of a query, the first of its name.
pub(super) fn asked(query: Option<&str>, name: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let found = fields.find(|(own, _)| own == name);
    found.map(|(_, value)| value.into_owned())
}

/// A place of this service to go on to; the first page for anything else.
pub(super) fn own_place(next: &str) -> &str {
    let is_own = next.starts_with('/')
        && !next.starts_with("//")
        && !next.starts_with("/sign")
        && next
            .bytes()
            .all(|byte| (0x21..0x7f).contains(&byte) && byte != b'\\');
    if is_own { next } else { "/" }
}

async fn sign_in(State(site): State<Site>, visitor: Visitor, posted: Posted) -> Response {
    let next = own_place(posted.text("next"));
    let gate = site.gate();
    let begun = gate
        .sign_in(posted.text("key").trim(), visitor.asking())
        .await;
    match begun {
        Ok(begun) => {
            if let Err(problem) = end_session(gate, &visitor).await {
                return problem.into_response();
            }
            cookie_and(begun.secret.expose(), SESSION_S, next)
        }
        Err(problem) => {
            let wrong = match problem.kind() {
                ProblemKind::Unauthenticated => {
                    "This key opens nothing here. It may be mistyped, revoked, or over."
                }
                ProblemKind::TooManyRequests => {
                    "Too many attempts from your address. Wait a minute, and try again."
                }
                _ => "The service cannot look up keys now. Try again in a moment.",
            };
            let mut response = visitor.answer(Ok(form(next, Some(wrong), gate.issuer_host())));
            *response.status_mut() = problem.kind().status();
            response
        }
    }
}

async fn sign_out(State(site): State<Site>, visitor: Visitor, posted: Posted) -> Response {
    if let Err(failure) = posted.checked(&visitor) {
        return visitor.answer(Err(failure));
    }
    if let Err(problem) = end_session(site.gate(), &visitor).await {
        return problem.into_response();
    }
    cookie_and("", 0, "/")
}

/// Ends the session that the browser has, if any: nobody goes on in it.
pub(super) async fn end_session(gate: &Gate, visitor: &Visitor) -> Result<(), Problem> {
    match visitor.session {
        Some(session) => gate.sign_out(session, visitor.asking()).await,
        None => Ok(()),
    }
}

/// Sets the cookie of a session, or takes it away, and goes on to a page.
fn cookie_and(secret: &str, seconds: i64, next: &str) -> Response {
    let mut response = Redirect::to(next).into_response();
    set_session(&mut response, secret, seconds);
    response
}

/// Sets the cookie of a session, or takes it away.
pub(super) fn set_session(response: &mut Response, secret: &str, seconds: i64) {
    let cookie =
        format!("{COOKIE}={secret}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Strict");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    if seconds == 0 {
        // What the browser kept of pages goes too.
        response.headers_mut().insert(
            HeaderName::from_static("clear-site-data"),
            HeaderValue::from_static("\"cache\""),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_another_host() {
        for good in ["/", "/releases/x?tab=1", "/datasets"] {
            assert_eq!(own_place(good), good);
        }
        for bad in [
            "",
            "https://evil.example/",
            "//evil.example",
            "/\\evil.example",
            "/a\nb",
            "/signout",
            "javascript:alert(1)",
        ] {
            assert_eq!(own_place(bad), "/", "{bad:?}");
        }
    }
}
