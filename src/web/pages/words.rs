//! How ids, times, roles and states are written for people.

use maud::{Markup, html};
use serde_json::Value;

use crate::http::auth::Principal;

/// Characters of an id's end that are shown.
const ID_END_CHARACTERS: usize = 6;
/// Characters of an id behind its kind.
const ID_CHARACTERS: usize = 36;

/// Who signed in, by their roles.
pub fn holder(principal: &Principal) -> String {
    let roles = principal.roles().iter().map(|role| role.as_str());
    let roles: Vec<_> = roles.collect();
    match roles.as_slice() {
        [] => "no role".into(),
        roles => roles.join(", "),
    }
}

/// A member that is a text; empty where it is none.
pub fn text<'a>(document: &'a Value, name: &str) -> &'a str {
    document[name].as_str().unwrap_or_default()
}

/// A text that may be given in several languages: in English, else in the first
/// that it has; nothing where it is not there.
pub fn wording(value: &Value) -> Option<&str> {
    let by_language = value.as_object();
    let english = by_language.and_then(|all| {
        let mut near = all.iter();
        let near = near.find(|(tag, _)| tag.split('-').next() == Some("en"));
        all.get("en").or(near.map(|(_, text)| text))
    });
    let any = by_language.and_then(|all| all.values().next());
    let text = value.as_str().or(english.or(any).and_then(Value::as_str));
    text.filter(|text| !text.trim().is_empty())
}

/// What a dataset is called: its title, else its name.
pub fn dataset_title(dataset: &Value) -> &str {
    wording(&dataset["schema"]["title"]).unwrap_or_else(|| text(dataset, "name"))
}

/// What a release is called: its own name, else after its dataset where that may
/// be seen, else after its engine.
pub fn release_title(release: &Value, dataset: &Value) -> String {
    match (wording(&release["name"]), dataset_title(dataset)) {
        (Some(name), _) => name.to_owned(),
        (None, "") => format!("Release by {}", text(release, "engine")),
        (None, name) => format!("Release of {name}"),
    }
}

/// A time as people read it, in UTC: `2026-11-28 02:11`.
pub fn time(value: &Value) -> Markup {
    let Some(text) = value.as_str() else {
        return html! { "–" };
    };
    let shown = text.get(..16).unwrap_or(text).replace('T', " ");
    html! { time datetime=(text) title={ (text) " (UTC)" } { (shown) } }
}

/// The end of an id, which tells it from its neighbours; the whole on hover. What
/// is no id, as a name, is shown as it is.
pub fn short(id: &str) -> Markup {
    let is_id = id
        .rsplit('_')
        .next()
        .is_some_and(|end| end.len() == ID_CHARACTERS);
    let start = id.len().saturating_sub(ID_END_CHARACTERS);
    let end = id.get(start..).filter(|_| is_id);
    html! {
        @if let Some(end) = end { code.id title=(id) { "…" (end) } }
        @else { code { (id) } }
    }
}

/// Who did something, as the log names them.
pub fn actor(name: &str) -> Markup {
    html! {
        @if name.starts_with("key_") { "key " (short(name)) }
        @else { (name) }
    }
}

/// Whether a character turns the direction of writing of what stands behind it.
pub fn turns_direction(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A state with a colour, and the word beside it.
pub fn state(word: &str) -> Markup {
    let class = match word {
        "published" | "succeeded" => "state good",
        "failed" | "withdrawn" => "state bad",
        "draft" | "running" | "queued" => "state wait",
        _ => "state",
    };
    html! { span class=(class) { (word) } }
}

/// What a role of an attribute means, in a few words.
pub fn role(word: &str) -> &'static str {
    match word {
        "identifier" => "names the person: never published",
        "quasi_identifier" => "others may know it: made coarser",
        "sensitive" => "to be protected",
        "semi_sensitive" => "others may know it, and some people want it protected",
        "insensitive" => "published as it is",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_is_shown_in_english_or_in_what_there_is() {
        assert_eq!(wording(&json!({"de": "Alter", "en": "Age"})), Some("Age"));
        assert_eq!(
            wording(&json!({"de": "Alter", "en-GB": "Age"})),
            Some("Age")
        );
        assert_eq!(wording(&json!({"de": "Alter"})), Some("Alter"));
        assert_eq!(wording(&json!("Age")), Some("Age"));
        assert_eq!(wording(&Value::Null).or(wording(&json!({"en": " "}))), None);
        let dataset = json!({"name": "adm", "schema": {"title": {"en": "Admissions"}}});
        let release = json!({"engine": "lgb", "name": null});
        assert_eq!(release_title(&release, &dataset), "Release of Admissions");
        assert_eq!(release_title(&release, &Value::Null), "Release by lgb");
        assert_eq!(release_title(&json!({"name": "Q3"}), &dataset), "Q3");
    }

    #[test]
    fn times_are_written_to_the_minute() {
        let markup = time(&json!("2026-11-28T02:11:15.293226Z")).into_string();
        assert!(markup.contains(">2026-11-28 02:11<"), "{markup}");
        assert_eq!(time(&Value::Null).into_string(), "–");
    }
}
