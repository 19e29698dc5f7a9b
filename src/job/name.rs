//! What a steward calls a job, and with it the release that it makes.
//!
//! A name is text for people: it decides nothing and identifies nothing, and
//! analysts read it. It is kept with the job's specification and stands in no
//! manifest. Signs that nobody sees, or that turn the direction of a line, are
//! refused: one name must not look like another.

/// Characters of a name, spaces at its ends included.
pub const NAME_CHARACTERS_MAX: usize = 200;

/// The name without spaces at its ends; `None` where it is empty, too long, or
/// has a control character, a line break or a sign that turns the direction.
pub fn job_name(text: &str) -> Option<String> {
    let is_fit = !text.chars().any(is_refused) && text.chars().count() <= NAME_CHARACTERS_MAX;
    let name = text.trim();
    (is_fit && !name.is_empty()).then(|| name.to_owned())
}

fn is_refused(sign: char) -> bool {
    let turns = matches!(
        sign,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    turns || sign.is_control() || matches!(sign, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_text_that_looks_like_what_it_is() {
        assert_eq!(
            job_name(" Käfer, 2026/Q1 ").as_deref(),
            Some("Käfer, 2026/Q1")
        );
        assert!(job_name(&"ä".repeat(NAME_CHARACTERS_MAX)).is_some());
        let refused = [
            "",
            "  ",
            "a\nb",
            "a\u{0}",
            "a\u{202e}b",
            "\u{2067}a",
            "a\u{2028}b",
        ];
        for text in refused {
            assert_eq!(job_name(text), None, "{text:?}");
        }
        assert_eq!(job_name(&"a".repeat(NAME_CHARACTERS_MAX + 1)), None);
    }
}
