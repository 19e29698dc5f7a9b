//! What stands behind the name of the figures on the command line.

use std::env::args;

/// The word at this place, from 0; an option that stands there is a word too.
pub fn word(at: usize) -> Option<String> {
    args().nth(at + 2)
}

/// Whether an option is there.
pub fn is_given(name: &str) -> bool {
    args().any(|argument| argument == name)
}

/// The word behind an option.
pub fn option(name: &str) -> Option<String> {
    args().skip_while(|argument| argument != name).nth(1)
}

/// The number behind an option.
pub fn number(name: &str, default: usize) -> usize {
    let value = option(name).and_then(|value| value.parse().ok());
    value.unwrap_or(default)
}
