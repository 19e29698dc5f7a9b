//! What became of a choice, for the holder of its receipt; and its withdrawal.
//!
//! A receipt tells neither whose choice it is nor what was chosen: whoever finds the
//! paper learns no more from these pages than the paper says.

use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use maud::{Markup, html};
use serde::Deserialize;

use super::asked::{Asked, CODE, CONFIRM};
use super::begin;
use super::code::{Code, Kind};
use super::frame::{self, Page};
use super::receipt::{self, Made, made_on, spoken};
use super::words::Words;
use crate::web::pages::api::Failure;

/// Where a receipt is looked up.
pub const LOOKUP: &str = "/my-preferences/receipt";
/// Where a choice is withdrawn.
pub const WITHDRAWAL: &str = "/my-preferences/withdrawal";

/// What the API says of a receipt.
#[derive(Deserialize)]
pub struct Receipt {
    /// When the choice was made.
    pub made_at: DateTime<Utc>,
    state: State,
    replaced_at: Option<DateTime<Utc>>,
    releases: Vec<Release>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum State {
    InForce,
    Replaced,
}

#[derive(Deserialize)]
struct Release {
    id: String,
    published_at: DateTime<Utc>,
    result: Outcome,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Kept,
    MadeBefore,
    Replaced,
    NotApplied,
}

impl Outcome {
    fn key(self) -> &'static str {
        match self {
            Self::Kept => "result_kept",
            Self::MadeBefore => "result_made_before",
            Self::Replaced => "result_replaced",
            Self::NotApplied => "result_not_applied",
        }
    }
}

/// Shows what became of a choice to the holder of the code that was typed.
pub async fn show(asked: Asked) -> Response {
    let code = Code::typed(Kind::Receipt, asked.field(CODE));
    match Receipt::of(&asked, &code).await {
        Ok(found) => found.page(&asked, &code),
        Err(failure) => begin::refused(&asked, Kind::Receipt, &failure),
    }
}

/// Asks whether a choice is to be withdrawn; withdraws it once that is confirmed.
pub async fn withdraw(asked: Asked) -> Response {
    let code = Code::typed(Kind::Receipt, asked.field(CODE));
    if !asked.has(CONFIRM) {
        return match Receipt::of(&asked, &code).await {
            Ok(_) => confirmation(&asked, &code, None),
            Err(failure) => begin::refused(&asked, Kind::Receipt, &failure),
        };
    }
    let made = asked.post(&code, "/v1/my-preferences/withdrawal").await;
    match made.map(Made::read) {
        Ok(Some(made)) => receipt::page(&asked, None, &made),
        Err(failure) if failure.status.is_client_error() => {
            begin::refused(&asked, Kind::Receipt, &failure)
        }
        _ => confirmation(&asked, &code, Some("error_saving")),
    }
}

fn confirmation(asked: &Asked, code: &Code, wrong: Option<&str>) -> Response {
    let (words, code) = (&asked.words, code.text());
    let buttons = html! {
        p.ways {
            button.bad type="submit" name=(CONFIRM) value="yes" { (words.say("withdraw_yes")) }
            button.plain type="submit" formaction=(LOOKUP) { (words.say("withdraw_no")) }
        }
    };
    let content = html! {
        (frame::wrong(wrong.map(|key| words.say(key))))
        p.said { (words.say("said_out")) }
        p { (words.say("from_now")) }
        p { (words.say("withdraw_lead")) }
        (frame::form(words, WITHDRAWAL, &[(CODE, &code)], buttons))
    };
    let status = match wrong {
        Some(_) => StatusCode::SERVICE_UNAVAILABLE,
        None => StatusCode::OK,
    };
    let page = Page::new(words.say("withdraw_title"), WITHDRAWAL, content);
    page.with_status(status).drawn(asked)
}

impl Receipt {
    /// As the API tells the holder of its code.
    pub async fn of(asked: &Asked, code: &Code) -> Result<Self, Failure> {
        let found = asked.get(code, "/v1/my-preferences/receipt").await?;
        serde_json::from_value(found).map_err(|_| Failure::not_found())
    }

    /// Whether no later choice has replaced it.
    pub fn is_in_force(&self) -> bool {
        self.state == State::InForce
    }

    /// The page that says what became of it.
    pub fn page(&self, asked: &Asked, code: &Code) -> Response {
        let words = &asked.words;
        let text = code.text();
        let button = html! {
            p { button.bad type="submit" { (words.say("withdraw")) } }
        };
        let content = html! {
            p.said { (made_on(words, self.made_at)) " " (self.state_in(words)) }
            section {
                h2 { (words.say("releases_title")) }
                (self.releases_in(words))
            }
            dl.receipt {
                dt { (words.say("receipt_code")) }
                dd { (spoken(code)) }
            }
            (frame::form(words, WITHDRAWAL, &[(CODE, &text)], button))
        };
        Page::new(words.say("lookup_title"), LOOKUP, content).drawn(asked)
    }

    fn state_in(&self, words: &Words) -> String {
        match (self.state, self.replaced_at) {
            (State::InForce, _) => words.say("in_force").to_owned(),
            (State::Replaced, Some(at)) => words.fill("replaced", &[("date", &words.moment(at))]),
            (State::Replaced, None) => words.say("ended").to_owned(),
        }
    }

    fn releases_in(&self, words: &Words) -> Markup {
        html! {
            @if self.releases.is_empty() {
                p { (words.say("releases_none")) }
            } @else {
                ul.data {
                    @for one in &self.releases {
                        li {
                            strong { (words.fill("released", &[("date", &words.day(one.published_at))])) }
                            p { (words.say(one.result.key())) }
                            p.note { code { (one.id) } }
                        }
                    }
                }
            }
        }
    }
}
