//! Strings that occur nowhere by chance, and how they are found again.

use std::cell::Cell;

/// Begins every string that is text.
const WORD: &str = "cnrykx";

/// Begins every string that is a number: a column of numbers takes no letters.
const NUMBER: &str = "7731177319";

/// Makes strings, each one once.
#[derive(Default)]
pub struct Strings(Cell<usize>);

impl Strings {
    fn next(&self) -> usize {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }

    /// A word of letters and digits.
    pub fn word(&self) -> String {
        format!("{WORD}{:05}", self.next())
    }

    /// An integer, as text.
    pub fn number(&self) -> String {
        format!("{NUMBER}{:05}", self.next())
    }

    /// How many were made.
    pub fn count(&self) -> usize {
        self.0.get()
    }

    /// Those that occur in a text, whatever stands around them.
    pub fn found_in(&self, text: &str) -> Vec<String> {
        let text = text.to_lowercase();
        let places = text.match_indices(WORD).chain(text.match_indices(NUMBER));
        let mut found: Vec<_> = places
            .map(|(at, _)| text[at..].chars().take(15).collect::<String>())
            .collect();
        found.sort();
        found.dedup();
        found
    }
}
