//! What every page has around it: title, the ways to other pages, sign-out.

use axum::http::{Method, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use serde_json::Value;

use super::api::Failure;
use super::assets::{SCRIPT_PLACE, STYLE_PLACE};
use super::visitor::{FORM_TOKEN, Visitor};
use super::words::{holder, short, state, text, time, turns_direction};
use crate::http::Drawn;
use crate::http::auth::Role;

/// The pages that a visitor can go to, each with the operation behind it.
const PLACES: [(&str, &str, &str); 4] = [
    ("/datasets", "Datasets", "/v1/datasets"),
    ("/jobs", "Jobs", "/v1/jobs"),
    ("/releases", "Releases", "/v1/releases"),
    ("/audit", "Audit", "/v1/audit"),
];

/// The content of a page.
pub struct Page {
    title: String,
    content: Markup,
    above: Option<(String, String)>,
}

impl Page {
    /// A page with a title, which stands above its content as well.
    pub fn new(title: impl Into<String>, content: Markup) -> Self {
        Self {
            title: title.into(),
            content,
            above: None,
        }
    }

    /// The same, with a way to the page above it.
    #[must_use]
    pub fn below(mut self, place: impl Into<String>, title: impl Into<String>) -> Self {
        self.above = Some((place.into(), title.into()));
        self
    }

    /// The whole page as this visitor gets it.
    pub fn drawn(self, visitor: &Visitor) -> Response {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " – Vizard" }
                    link rel="icon" type="image/svg+xml" href="/assets/icon.svg";
                    link rel="stylesheet" href=(STYLE_PLACE.as_str());
                    script src=(SCRIPT_PLACE.as_str()) defer {}
                }
                body {
                    a.skip href="#content" { "Skip to content" }
                    (header(visitor))
                    main #content tabindex="-1" {
                        @if let Some((place, title)) = &self.above {
                            nav.above aria-label="Above this page" { a href=(place) { "‹ " (title) } }
                        }
                        h1 { (self.title) }
                        (self.content)
                    }
                }
            }
        };
        let mut response = Html(page.into_string()).into_response();
        response.extensions_mut().insert(Drawn);
        response
    }
}

fn header(visitor: &Visitor) -> Markup {
    html! {
        header.top {
            a.brand href="/" { "Vizard" }
            nav aria-label="Pages" {
                @for (place, title, operation) in PLACES {
                    @if visitor.may(&Method::GET, operation) {
                        a href=(place) aria-current=[is_at(visitor, place).then_some("page")] { (called(visitor, title)) }
                    }
                }
                a href="/docs/" { "API" }
            }
            @match &visitor.principal {
                Some(principal) => {
                    form.out method="post" action="/signout" {
                        (form_token(visitor))
                        span.who title=(principal.name()) { (holder(principal)) }
                        button.plain type="submit" { "Sign out" }
                    }
                }
                None => { a.button href="/signin" { "Sign in" } }
            }
        }
    }
}

/// To who may only read what is published, releases are a catalogue.
fn called<'a>(visitor: &Visitor, title: &'a str) -> &'a str {
    match title {
        "Releases" if !visitor.has(Role::Steward) => "Catalogue",
        other => other,
    }
}

fn is_at(visitor: &Visitor, place: &str) -> bool {
    let rest = visitor.place.strip_prefix(place);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
}

/// What every form carries.
pub fn form_token(visitor: &Visitor) -> Markup {
    html! { input type="hidden" name=(FORM_TOKEN) value=(visitor.form_token()); }
}

/// A button that does one thing: a form of its own.
pub fn button(visitor: &Visitor, action: &str, label: &str, class: &str) -> Markup {
    html! {
        form method="post" action=(action) {
            (form_token(visitor))
            button class=(class) type="submit" { (label) }
        }
    }
}

/// What is shown in place of a page.
pub fn failure(failure: &Failure) -> Page {
    let content = html! {
        p { (failure.detail) }
        @if failure.status == StatusCode::FORBIDDEN {
            p.note { "You are signed in with a key that may not do this. Sign out, and sign in with one that may." }
        }
        p { a href="/" { "To the first page" } }
    };
    Page::new(failure.title.clone(), content)
}

/// The way to the next page of a list, where there is one; with what it is
/// restricted to.
pub fn more(place: &str, query: Option<&str>, next_cursor: &Value) -> Markup {
    let cursor = next_cursor.as_str().unwrap_or_default();
    let mut next = form_urlencoded::Serializer::new(String::new());
    let shown = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    next.extend_pairs(shown.filter(|(name, _)| name != "cursor"));
    next.append_pair("cursor", cursor);
    html! {
        @if !cursor.is_empty() {
            p { a href={ (place) "?" (next.finish()) } { "Older ones" } }
        }
    }
}

/// Jobs or releases, each with the way to its page at a place and when it was made,
/// with a word before that.
pub fn made((place, since): (&str, &str), found: &[Value]) -> Markup {
    html! {
        ul.rows { @for one in found { li {
            a href={ (place) "/" (text(one, "id")) } { (text(one, "engine")) " " (short(text(one, "id"))) }
            (state(text(one, "state")))
            span.note { (since) (time(&one["created_at"])) }
        } } }
    }
}

/// A table, which moves sideways on its own where the window is narrow.
pub fn table(name: &str, table: Markup) -> Markup {
    html! { div.wide role="region" aria-label=(name) tabindex="0" { (table) } }
}

/// Text of a program; it moves sideways on its own. Signs that turn the direction
/// of writing stand as JSON, Python and R write them in texts: as they are, they
/// would show a program in another order than it has.
pub fn program_text(name: &str, text: &str) -> Markup {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if turns_direction(character) {
            shown.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            shown.push(character);
        }
    }
    html! { pre role="region" aria-label=(name) tabindex="0" { (shown) } }
}

/// What stands where a list is empty.
pub fn nothing(text: &str) -> Markup {
    html! { p.empty { (text) } }
}
