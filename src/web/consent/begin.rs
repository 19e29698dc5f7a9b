//! The pages that ask for a code, and what they say where one opens nothing.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::asked::{Asked, CODE, SWITCH};
use super::code::Kind;
use super::frame::{self, Page};
use crate::web::pages::api::Failure;

/// What a page that asks for a code says.
struct Door {
    kind: Kind,
    /// Where the code goes.
    action: &'static str,
    /// Where the form goes when the language is changed.
    switch: &'static str,
    title: &'static str,
    lead: &'static str,
    help: &'static str,
    go: &'static str,
    /// The way to the other such page.
    other: (&'static str, &'static str),
    /// What is said of a code that opens nothing.
    wrong: &'static str,
}

const CHOICE: Door = Door {
    kind: Kind::Choice,
    action: "/consent",
    switch: "/consent/language",
    title: "code_title",
    lead: "code_lead",
    help: "code_help",
    go: "code_go",
    other: ("/my-preferences/receipt", "code_to_receipt"),
    wrong: "error_code",
};

const RECEIPT: Door = Door {
    kind: Kind::Receipt,
    action: "/my-preferences/receipt",
    switch: "/my-preferences/receipt/language",
    title: "lookup_title",
    lead: "lookup_lead",
    help: "lookup_help",
    go: "lookup_go",
    other: ("/consent", "lookup_to_choice"),
    wrong: "error_receipt",
};

fn door(kind: Kind) -> &'static Door {
    match kind {
        Kind::Choice => &CHOICE,
        Kind::Receipt => &RECEIPT,
    }
}

/// The page that asks for a code of a kind. Where the language was changed, what was
/// typed stands in the field again.
pub fn page(asked: &Asked, kind: Kind) -> Response {
    let typed = if asked.has(SWITCH) {
        asked.field(CODE)
    } else {
        ""
    };
    let door = door(kind);
    let content = content(asked, door, (None, typed));
    Page::new(asked.words.say(door.title), door.switch, content).drawn(asked)
}

/// The same where a code opened nothing, or nothing could be asked. What was typed
/// is not repeated: every refusal is the same page.
pub fn refused(asked: &Asked, kind: Kind, failure: &Failure) -> Response {
    let door = door(kind);
    let (status, wrong) = match failure.status {
        StatusCode::UNAUTHORIZED => (StatusCode::UNAUTHORIZED, door.wrong),
        StatusCode::TOO_MANY_REQUESTS => (StatusCode::TOO_MANY_REQUESTS, "error_often"),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "error_service"),
    };
    let content = content(asked, door, (Some(asked.words.say(wrong)), ""));
    let page = Page::new(asked.words.say(door.title), door.switch, content);
    page.with_status(status).drawn(asked)
}

fn content(asked: &Asked, door: &Door, (wrong, typed): (Option<&str>, &str)) -> Markup {
    let words = &asked.words;
    let (other, title) = door.other;
    let described = if wrong.is_some() {
        "wrong about-code"
    } else {
        "about-code"
    };
    let fields = html! {
        label for=(CODE) { (words.say("code_label")) }
        input.code id=(CODE) name=(CODE) value=(typed) required autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false" aria-invalid=[wrong.map(|_| "true")] aria-describedby=(described) data-begins=(door.kind.prefix());
        p.note #about-code { (words.say(door.help)) }
        p { button type="submit" { (words.say(door.go)) } }
    };
    html! {
        (frame::wrong(wrong))
        p.lead { (words.say(door.lead)) }
        (frame::form(words, door.action, &[], fields))
        p.other { a href=(words.link(other)) { (words.say(title)) } }
    }
}
