//! The page that repeats a choice before it is made, and the making of it.

use axum::http::StatusCode;
use axum::response::Response;
use maud::html;

use super::asked::{Asked, CODE, CONFIRM};
use super::choice::Choice;
use super::choosing::{self, CHOSEN, PLACE};
use super::code::{Code, Kind};
use super::frame::{self, Page};
use super::offer::Offer;
use super::receipt::{self, Made};
use super::selection::Selection;
use super::{begin, said};

/// Repeats a choice; makes it once it is confirmed.
pub async fn chosen(asked: Asked) -> Response {
    let code = Code::typed(Kind::Choice, asked.field(CODE));
    let offer = match asked.offer(&code).await {
        Ok(offer) => offer,
        Err(failure) => return begin::refused(&asked, Kind::Choice, &failure),
    };
    let posted = Selection::posted(&asked.fields, &offer);
    let selection = posted.unwrap_or_else(|| Selection::of(&offer));
    let Some(choice) = selection.choice() else {
        let wrong = Some((StatusCode::UNPROCESSABLE_ENTITY, "error_choose"));
        return choosing::page(&asked, &code, (&offer, &selection), wrong);
    };
    if !asked.has(CONFIRM) {
        return page(&asked, &code, (&offer, &selection, &choice), None);
    }
    let terms = choice.terms(&offer);
    let made = asked.put(&code, "/v1/my-preferences", &terms).await;
    let failure = match made.map(Made::read) {
        Ok(Some(made)) => return receipt::page(&asked, Some((&code, &offer)), &made),
        Ok(None) => None,
        Err(failure) => Some(failure),
    };
    let status = failure.as_ref().map(|failure| failure.status);
    match (failure, status) {
        (Some(failure), Some(StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS)) => {
            begin::refused(&asked, Kind::Choice, &failure)
        }
        (_, Some(status)) if status.is_client_error() => {
            let wrong = Some((status, "error_changed"));
            choosing::page(&asked, &code, (&offer, &selection), wrong)
        }
        _ => {
            let wrong = Some((StatusCode::SERVICE_UNAVAILABLE, "error_saving"));
            page(&asked, &code, (&offer, &selection, &choice), wrong)
        }
    }
}

fn page(
    asked: &Asked,
    code: &Code,
    (offer, selection, choice): (&Offer, &Selection, &Choice),
    wrong: Option<(StatusCode, &str)>,
) -> Response {
    let words = &asked.words;
    let (code, fields) = (code.text(), selection.fields(offer));
    let mut hidden = vec![(CODE, code.as_str())];
    hidden.extend(
        fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    );
    let buttons = html! {
        p.ways {
            button type="submit" name=(CONFIRM) value="yes" { (words.say("confirm")) }
            button.plain type="submit" formaction=(PLACE) { (words.say("change")) }
        }
    };
    let content = html! {
        (frame::wrong(wrong.map(|(_, key)| words.say(key))))
        p.said { (said::choice(words, choice, offer)) }
        @if matches!(choice, Choice::In { .. }) { p { (words.say("cannot")) } }
        p { (words.say("from_now")) }
        (frame::form(words, CHOSEN, &hidden, buttons))
    };
    let page = Page::new(words.say("confirm_title"), CHOSEN, content).about(&offer.dataset);
    let status = wrong.map_or(StatusCode::OK, |(status, _)| status);
    page.with_status(status).drawn(asked)
}
