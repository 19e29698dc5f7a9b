//! The receipt of a choice, to be printed.
//!
//! Its code is shown once. In another language it is drawn from what the API still
//! says of code and receipt: never from what a form brings, which could be anybody's.

use axum::response::Response;
use chrono::{DateTime, Utc};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use vizard_anonymizer::microdata::Terms;

use super::asked::{Asked, CODE};
use super::choice::Choice;
use super::code::{Code, Kind};
use super::frame::{self, Page};
use super::lookup::{LOOKUP, Receipt};
use super::offer::Offer;
use super::words::Words;
use super::{begin, said};

/// Where a receipt is drawn again.
pub const PLACE: &str = "/consent/receipt";
/// The field of a receipt's code.
pub const RECEIPT: &str = "receipt";

/// A choice that was just made.
pub struct Made {
    terms: Terms,
    receipt: Code,
    made_at: DateTime<Utc>,
}

impl Made {
    /// As the API answers; `None` where it answers something else.
    pub fn read(answer: Value) -> Option<Self> {
        #[derive(Deserialize)]
        struct Answer {
            terms: Terms,
            receipt: String,
            made_at: DateTime<Utc>,
        }
        let answer: Answer = serde_json::from_value(answer).ok()?;
        Some(Self {
            terms: answer.terms,
            receipt: Code::typed(Kind::Receipt, &answer.receipt),
            made_at: answer.made_at,
        })
    }
}

/// Draws a receipt again, in another language.
pub async fn again(asked: Asked) -> Response {
    let code = Code::typed(Kind::Choice, asked.field(CODE));
    let receipt = Code::typed(Kind::Receipt, asked.field(RECEIPT));
    let offer = match asked.offer(&code).await {
        Ok(offer) => offer,
        Err(failure) => return begin::refused(&asked, Kind::Choice, &failure),
    };
    let found = match Receipt::of(&asked, &receipt).await {
        Ok(found) => found,
        Err(failure) => return begin::refused(&asked, Kind::Receipt, &failure),
    };
    match offer.terms.clone() {
        Some(terms) if found.is_in_force() => {
            let made_at = found.made_at;
            let made = Made {
                terms,
                receipt,
                made_at,
            };
            page(&asked, Some((&code, &offer)), &made)
        }
        // It was replaced meanwhile: what the code is good for says the other page.
        _ => found.page(&asked, &receipt),
    }
}

/// The page, for the holder of a code or of an earlier receipt.
pub fn page(asked: &Asked, by: Option<(&Code, &Offer)>, made: &Made) -> Response {
    let words = &asked.words;
    let choice = match by {
        Some((_, offer)) => {
            let choice = Choice::of(&made.terms, offer);
            choice.map(|choice| said::choice(words, &choice, offer))
        }
        None => made.terms.exclude.then(|| words.say("said_out").to_owned()),
    };
    let receipt = made.receipt.text();
    // Without the code of the choice the receipt's own opens the other page.
    let (switch, fields) = match by {
        Some((code, _)) => (PLACE, vec![(CODE, code.text()), (RECEIPT, receipt)]),
        None => (LOOKUP, vec![(CODE, receipt)]),
    };
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let content = html! {
        dl.receipt {
            dt { (words.say("receipt_date")) }
            dd { (words.moment(made.made_at)) }
            @if let Some(choice) = choice {
                dt { (words.say("receipt_choice")) }
                dd { (choice) }
            }
            dt { (words.say("receipt_code")) }
            dd { (spoken(&made.receipt)) }
        }
        p { (words.say("receipt_keep")) }
        p { (words.say("receipt_where")) " " (link(asked)) }
        p { (words.say("from_now")) }
        (frame::form(words, switch, &fields, html! {}))
    };
    let page = Page::new(words.say("receipt_title"), switch, content);
    match by {
        Some((_, offer)) => page.about(&offer.dataset).drawn(asked),
        None => page.drawn(asked),
    }
}

/// A code in groups that can be read aloud.
pub fn spoken(code: &Code) -> Markup {
    html! { code.spoken { (code.groups()) } }
}

/// The way to where a receipt's code is used: on paper its whole address.
fn link(asked: &Asked) -> Markup {
    html! { a href=(asked.words.link(LOOKUP)) { (asked.host()) (LOOKUP) } }
}

/// When a choice was made, in words.
pub fn made_on(words: &Words, made_at: DateTime<Utc>) -> String {
    words.fill("made", &[("date", &words.moment(made_at))])
}
