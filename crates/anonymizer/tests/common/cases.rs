//! How many random cases a property test runs.
//!
//! A test names the number it can afford on every run; CI asks for the full
//! number by `VIZARD_PROPERTY_CASES`.

/// The number of cases: `VIZARD_PROPERTY_CASES` where it is set, else `by_default`.
pub fn property_cases(by_default: u32) -> u32 {
    cases_from(
        std::env::var("VIZARD_PROPERTY_CASES").ok().as_deref(),
        by_default,
    )
}

/// [`property_cases`] on a given setting; a setting that is no number is a mistake worth stopping for.
pub fn cases_from(setting: Option<&str>, by_default: u32) -> u32 {
    match setting {
        None | Some("") => by_default,
        Some(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("VIZARD_PROPERTY_CASES={text} is not a number")),
    }
}
