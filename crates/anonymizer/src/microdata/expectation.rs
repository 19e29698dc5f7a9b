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

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Written {
        #[serde(rename = "k")]
        _k: crate::privacy::K,
        #[serde(rename = "kind")]
        _kind: Option<crate::microdata::AttributeType>,
        #[serde(rename = "pair")]
        _pair: Option<(u8, u8)>,
    }

    /// serde has no typed errors: a release of it with other texts fails here.
    #[test]
    fn the_texts_of_serde_are_those_that_are_read_here() {
        for (document, expected) in [
            (r#"{}"#, "missing field `k`"),
            (r#"{"k": "canary"}"#, "expected u32"),
            (r#"{"k": 1.5}"#, "expected u32"),
            (r#"{"k": -1}"#, "expected u32"),
            (r#"{"k": 0}"#, "k must be a whole number of at least 1"),
            (
                r#"{"k": 2, "canary": 1}"#,
                "expected one of `k`, `kind`, `pair`",
            ),
            (
                r#"{"k": 2, "kind": "canary"}"#,
                "expected one of `integer`, `decimal`, `date`, `categorical`",
            ),
            (r#"{"k": 2, "pair": [1]}"#, "expected a tuple of size 2"),
            (r#"{"k": 2, "k": 3}"#, "does not fit"),
            (r#"["canary"]"#, "expected u32"),
            (r#"{"k": 2"#, "does not fit"),
            (r#"{"k": 2} canary"#, "does not fit"),
        ] {
            let error = serde_json::from_str::<Written>(document).expect_err(document);
            assert_eq!(expectation(&error), expected, "{document}");
        }
    }

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
