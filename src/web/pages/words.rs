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

/// An id of this kind, as it may stand in a path of the API; `None` for any
/// other text, which is nobody's.
pub fn id<'a>(kind: &str, text: &'a str) -> Option<&'a str> {
    let rest = text.strip_prefix(kind)?.strip_prefix('_')?;
    let is_plain = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    (rest.len() == 36 && rest.bytes().all(is_plain)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_id_of_another_kind_or_with_more_than_an_id_is_none() {
        let good = "release_01a21feb-c6d1-72f2-908e-0662ec8fedfa";
        assert_eq!(id("release", good), Some(good));
        for bad in [
            "job_01a21feb-c6d1-72f2-908e-0662ec8fedfa",
            "release_01a21feb-c6d1-72f2-908e-0662ec8fed/a",
            "release_01a21feb-c6d1-72f2-908e-0662ec8fedfa?x=1",
            "release_",
            "",
        ] {
            assert_eq!(id("release", bad), None, "{bad}");
        }
    }

    #[test]
    fn times_are_written_to_the_minute() {
        let markup = time(&json!("2026-11-28T02:11:15.293226Z")).into_string();
        assert!(markup.contains(">2026-11-28 02:11<"), "{markup}");
        assert_eq!(time(&Value::Null).into_string(), "–");
    }
}
