//! How ids, times, roles and states are written for people.

use maud::{Markup, html};
use serde_json::Value;

use crate::http::auth::Principal;

/// Characters of an id's end that are shown.
const ID_END_CHARACTERS: usize = 6;

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

/// A time as people read it, in UTC: `2026-11-28 02:11`.
pub fn time(value: &Value) -> Markup {
    let Some(text) = value.as_str() else {
        return html! { "–" };
    };
    let shown = text.get(..16).unwrap_or(text).replace('T', " ");
    html! { time datetime=(text) title={ (text) " (UTC)" } { (shown) } }
}

/// The end of an id, which tells it from its neighbours; the whole on hover.
pub fn short(id: &str) -> Markup {
    let start = id.len().saturating_sub(ID_END_CHARACTERS);
    let end = id.get(start..).unwrap_or(id);
    html! { code title=(id) { "…" (end) } }
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
    fn times_are_written_to_the_minute() {
        let markup = time(&json!("2026-11-28T02:11:15.293226Z")).into_string();
        assert!(markup.contains(">2026-11-28 02:11<"), "{markup}");
        assert_eq!(time(&Value::Null).into_string(), "–");
    }
}
