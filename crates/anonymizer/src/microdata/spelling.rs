//! In which ways two texts of one value may differ.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A way in which two texts of one value may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Codes of ICD-10 with and without the dot.
    Icd10,
    /// Upper and lower case.
    Case,
    /// White space at both ends, and characters that nobody sees.
    Trim,
}

/// What holds for sensitive categories whose schema says nothing.
pub const DEFAULT_FORMS: &[Form] = &[Form::Icd10, Form::Case, Form::Trim];

/// A text without characters of no width, which copying from pages and sheets
/// leaves in cells.
pub(super) fn seen(text: &str) -> Cow<'_, str> {
    let is_unseen = |letter: char| {
        matches!(
            letter,
            '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
        )
    };
    if text.contains(is_unseen) {
        Cow::Owned(text.replace(is_unseen, ""))
    } else {
        Cow::Borrowed(text)
    }
}
