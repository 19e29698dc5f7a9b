//! What a JSON document should have been, without what it was.
//!
//! serde's texts begin with what was found, which may be anybody's: a name, a
//! cell in the wrong place. They end with what was expected, which is ours. An
//! error that is shown or logged keeps the end alone; of errors that have no
//! such end, those are kept whose beginning is a text of our own.

/// What was expected, without what was found: serde's texts quote the latter.
pub fn expectation(error: &serde_json::Error) -> String {
    /// Beginnings of texts that are made of our own words alone.
    const OURS: &[&str] = &[
        "missing field",
        "data did not match",
        "schema: ",
        "a probability lies",
        "an id of this kind",
        "after `",
        "k must be",
        "l must be",
    ];
    let text = error.to_string();
    // serde puts what it found first: whatever that holds, the last
    // "expected" is serde's own.
    if let Some(at) = text.rfind(", expected ") {
        let tail = &text[at + 2..];
        return without_place(tail).to_owned();
    }
    let ours = OURS.iter().any(|beginning| text.starts_with(beginning));
    let said = if ours {
        without_place(&text)
    } else {
        "does not fit"
    };
    said.to_owned()
}

fn without_place(text: &str) -> &str {
    text.rfind(" at line ").map_or(text, |at| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microdata::Schema;

    #[test]
    fn what_was_found_is_never_quoted() {
        for document in [
            r#"{"name": 7, "canary": 1}"#,
            r#"{"canary": 1}"#,
            r#""canary""#,
            r#"{"name": {"canary": ", expected canary"}}"#,
            r#"{"name": "x", "subject_key": "y", "attributes": [{"name": "y", "role": "canary"}]}"#,
        ] {
            let error = serde_json::from_str::<Schema>(document).expect_err(document);
            let said = expectation(&error);
            assert!(!said.contains("canary"), "{document}: {said}");
            assert!(!said.is_empty());
        }
    }
}
