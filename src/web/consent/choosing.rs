//! The page of choices: what is in question, what happens by itself, and what the
//! person may say.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::asked::{Asked, CODE};
use super::choice::Choice;
use super::code::{Code, Kind};
use super::figures::picture;
use super::frame::{self, Page};
use super::offer::{Attribute, Offer};
use super::selection::{IN, NO, OUT, PEOPLE, Selection, TAKE, YES, field};
use super::words::Words;
use super::{begin, said};

/// Where the choices are shown.
pub const PLACE: &str = "/consent";
/// Where a choice goes.
pub const CHOSEN: &str = "/consent/choice";

/// Shows what may be chosen to the holder of the code that was typed.
pub async fn show(asked: Asked) -> Response {
    let code = Code::typed(Kind::Choice, asked.field(CODE));
    match asked.offer(&code).await {
        Err(failure) => begin::refused(&asked, Kind::Choice, &failure),
        Ok(offer) => {
            let posted = Selection::posted(&asked.fields, &offer);
            let selection = posted.unwrap_or_else(|| Selection::of(&offer));
            page(&asked, &code, (&offer, &selection), None)
        }
    }
}

/// The page, with what went wrong where something did.
pub fn page(
    asked: &Asked,
    code: &Code,
    (offer, selection): (&Offer, &Selection),
    wrong: Option<(StatusCode, &str)>,
) -> Response {
    let words = &asked.words;
    let code = code.text();
    let fields = html! {
        (take(words, selection))
        div.finer {
            (attributes(words, offer, selection))
            (steps(words, offer, selection))
            p { (words.say("cannot")) }
        }
        p { button type="submit" { (words.say("next")) } }
    };
    let content = html! {
        (frame::wrong(wrong.map(|(_, key)| words.say(key))))
        @if !offer.dataset.purpose.is_empty() {
            section {
                h2 { (words.say("purpose_title")) }
                p { (words.shown(&offer.dataset.purpose, "")) }
            }
        }
        (data(words, offer))
        section {
            h2 { (words.say("nothing_title")) }
            @for sentence in by_itself(words, offer) { p { (sentence) } }
            p { (words.fill("until", &[("date", &words.day(offer.expires_at))])) }
        }
        (frame::form(words, CHOSEN, &[(CODE, &code)], fields))
    };
    let page = Page::new(words.say("title"), PLACE, content).about(&offer.dataset);
    let status = wrong.map_or(StatusCode::OK, |(status, _)| status);
    page.with_status(status).drawn(asked)
}

fn data(words: &Words, offer: &Offer) -> Markup {
    html! {
        section {
            h2 { (words.say("data_title")) }
            ul.data {
                @for one in &offer.attributes {
                    li {
                        strong { (words.shown(&one.title, &one.name)) }
                        @if !one.description.is_empty() {
                            p { (words.shown(&one.description, "")) }
                        }
                        p.note { (words.say(one.published.key())) }
                    }
                }
            }
        }
    }
}

/// What happens where the person does nothing, in sentences.
fn by_itself(words: &Words, offer: &Offer) -> Vec<String> {
    let Some(terms) = &offer.terms else {
        return said::nothing(words, &offer.without_terms, offer);
    };
    let mut sentences = vec![match Choice::of(terms, offer) {
        Some(choice) => {
            let choice = said::choice(words, &choice, offer);
            words.fill("nothing_earlier", &[("choice", &choice)])
        }
        None => words.say("nothing_other").to_owned(),
    }];
    if offer.without_terms.exclude && !terms.exclude {
        sentences.push(words.say("all_out").to_owned());
    }
    sentences
}

/// One way of several, as a radio button with its words.
fn way(name: &str, (value, id): (&str, &str), is_selected: bool, label: Markup) -> Markup {
    html! {
        label.way {
            input type="radio" id=(id) name=(name) value=(value) required checked[is_selected];
            span { (label) }
        }
    }
}

fn take(words: &Words, selection: &Selection) -> Markup {
    let label = |key: &str, note: &str| {
        html! {
            strong { (words.say(key)) }
            br;
            (words.say(note))
        }
    };
    let is_in = selection.is_in;
    html! {
        fieldset {
            legend { h2 { (words.say("choice_title")) } }
            (way(TAKE, (OUT, OUT), is_in == Some(false), label("choice_out", "choice_out_note")))
            (way(TAKE, (IN, IN), is_in == Some(true), label("choice_in", "choice_in_note")))
        }
    }
}

fn attributes(words: &Words, offer: &Offer, selection: &Selection) -> Markup {
    let ways = |at: usize, one: &Attribute| {
        let (name, is_hidden) = (field(one), selection.hidden.contains(&one.name));
        let (show, hide) = (format!("show-{at}"), format!("hide-{at}"));
        html! {
            fieldset.attribute {
                legend { (words.shown(&one.title, &one.name)) }
                (way(&name, (YES, &hide), is_hidden, html! { (words.say("hide")) }))
                (way(&name, (NO, &show), !is_hidden, html! { (words.say("show")) }))
            }
        }
    };
    html! {
        @if offer.to_choose().next().is_some() {
            h3 { (words.say("hide_title")) }
            p { (words.say("hide_help")) }
            @for (at, one) in offer.to_choose().enumerate() { (ways(at, one)) }
        }
    }
}

fn steps(words: &Words, offer: &Offer, selection: &Selection) -> Markup {
    let step = |people: u32| {
        let text = people.to_string();
        let filled = |key: &str| words.fill(key, &[("n", &text)]);
        let label = html! {
            (filled("people"))
            (picture(people, &filled("picture")))
        };
        let id = format!("people-{people}");
        way(
            PEOPLE,
            (&text, &id),
            selection.people == Some(people),
            label,
        )
    };
    html! {
        fieldset {
            legend { h3 { (words.say("people_title")) } }
            @for &people in &offer.steps { (step(people)) }
        }
    }
}
