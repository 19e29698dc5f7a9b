//! Choices and terms in words.

use super::choice::Choice;
use super::offer::Offer;
use super::words::Words;
use vizard_anonymizer::microdata::Terms;

/// A choice in one sentence.
pub fn choice(words: &Words, choice: &Choice, offer: &Offer) -> String {
    let Choice::In { hidden, people } = choice else {
        return words.say("said_out").to_owned();
    };
    let is_hidden = |name: &String| hidden.contains(name);
    let hidden = offer.titles(words, |one| one.may_hide && is_hidden(&one.name));
    let shown = offer.titles(words, |one| one.may_hide && !is_hidden(&one.name));
    let key = match (hidden.is_empty(), shown.is_empty()) {
        (true, true) => "said_in",
        (false, true) => "said_in_hidden",
        (true, false) => "said_in_shown",
        (false, false) => "said_in_both",
    };
    let (hidden, shown) = (words.listed(&hidden), words.listed(&shown));
    let people = people.to_string();
    words.fill(
        key,
        &[("hidden", &hidden), ("shown", &shown), ("n", &people)],
    )
}

/// What holds for people who say nothing, in a few sentences.
pub fn nothing(words: &Words, terms: &Terms, offer: &Offer) -> Vec<String> {
    if terms.exclude {
        return vec![words.say("nothing_out").to_owned()];
    }
    let mut said = vec![words.say("nothing_in").to_owned()];
    let named = terms.sensitive.as_deref().unwrap_or_default();
    let hidden = offer.titles(words, |one| one.may_hide && named.contains(&one.name));
    if !hidden.is_empty() {
        said.push(words.fill("nothing_hidden", &[("hidden", &words.listed(&hidden))]));
    }
    if let Some(bound) = terms.max_reidentification {
        let people = bound.reciprocal_ceiling().to_string();
        said.push(words.fill("nothing_people", &[("n", &people)]));
    }
    said
}
