//! What every consent page has around it: the title of the data above, who answers
//! questions below, and a switch between languages that keeps what the form has.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

use super::asked::{Asked, LANGUAGE, SWITCH};
use super::assets::{SCRIPT_PLACE, STYLE_PLACE};
use super::offer::Dataset;
use super::words::Words;
use crate::http::Drawn;

/// The id of the form of a page.
const FORM: &str = "main";

/// The content of a page.
pub struct Page<'p> {
    title: &'p str,
    content: Markup,
    dataset: Option<&'p Dataset>,
    switch: &'p str,
    status: StatusCode,
}

impl<'p> Page<'p> {
    /// A page with a title; its form goes to `switch` when the language is changed.
    pub fn new(title: &'p str, switch: &'p str, content: Markup) -> Self {
        Self {
            title,
            content,
            dataset: None,
            switch,
            status: StatusCode::OK,
        }
    }

    /// The same, about a dataset.
    #[must_use]
    pub fn about(mut self, dataset: &'p Dataset) -> Self {
        self.dataset = Some(dataset);
        self
    }

    /// The same, with another status than 200.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The whole page.
    pub fn drawn(self, asked: &Asked) -> Response {
        let words = &asked.words;
        let name = self.dataset.map_or_else(
            || words.say("title"),
            |dataset| words.own(&dataset.title, &dataset.name),
        );
        let page = html! {
            (DOCTYPE)
            html lang=(words.language()) dir=(words.say("direction")) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " – " (name) }
                    link rel="icon" type="image/svg+xml" href="/assets/consent.svg";
                    link rel="stylesheet" href=(STYLE_PLACE.as_str());
                    script src=(SCRIPT_PLACE.as_str()) defer {}
                }
                body {
                    header {
                        p.about {
                            @match self.dataset {
                                Some(dataset) => (words.shown(&dataset.title, &dataset.name)),
                                None => (name),
                            }
                        }
                        (switch(words, self.switch))
                    }
                    main {
                        h1 { (self.title) }
                        (self.content)
                    }
                    (footer(words, self.dataset))
                }
            }
        };
        let mut response = (self.status, Html(page.into_string())).into_response();
        response.extensions_mut().insert(Drawn);
        response
    }
}

/// The languages as buttons of the page's form. The first button of a form is what
/// the key Enter presses: a hidden one that goes on stands before them.
fn switch(words: &Words, place: &str) -> Markup {
    html! {
        nav aria-label=(words.say("languages")) {
            button hidden form=(FORM) type="submit" {}
            @for (tag, name) in words.languages() {
                button.language form=(FORM) type="submit" formaction=(place) formnovalidate name=(SWITCH) value=(tag) lang=(tag) aria-current=[(tag == words.language()).then_some("true")] { (name) }
            }
        }
    }
}

fn footer(words: &Words, dataset: Option<&Dataset>) -> Markup {
    let contact = dataset.map(|dataset| words.shown(&dataset.contact, ""));
    let is_there = dataset.is_some_and(|dataset| !dataset.contact.is_empty());
    html! {
        @if let Some(contact) = contact.filter(|_| is_there) {
            footer {
                h2 { (words.say("contact_title")) }
                p { (contact) }
            }
        }
    }
}

/// The form of a page, with fields that are not shown.
pub fn form(words: &Words, action: &str, hidden: &[(&str, &str)], shown: Markup) -> Markup {
    html! {
        form id=(FORM) method="post" action=(action) autocomplete="off" {
            input type="hidden" name=(LANGUAGE) value=(words.language());
            @for (name, value) in hidden {
                input type="hidden" name=(name) value=(value);
            }
            (shown)
        }
    }
}

/// What went wrong, before anything else is read.
pub fn wrong(text: Option<&str>) -> Markup {
    html! {
        @if let Some(text) = text {
            p.wrong #wrong role="alert" { (text) }
        }
    }
}
