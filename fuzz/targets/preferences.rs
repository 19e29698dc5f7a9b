//! Preferences as CSV and NDJSON, and the terms that one subject sends: any
//! bytes are terms that are read again as they were written, or errors. The
//! first byte chooses the form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vizard_anonymizer::microdata::{Preference, RecordFormat, Terms, check_terms, read_preferences};
use vizard_fuzz::records::{Trickle, target};

fuzz_target!(init: vizard_fuzz::begin(), |bytes: &[u8]| {
    let Some((choice, content)) = bytes.split_first() else {
        return;
    };
    vizard_fuzz::plant(bytes);
    let format = match choice % 3 {
        0 => RecordFormat::Csv,
        1 => RecordFormat::Ndjson,
        _ => return one(content),
    };
    let read = read_preferences(content, format, &target());
    let in_pieces = read_preferences(Trickle::new(content), format, &target());
    assert_eq!(in_pieces, read);
    for preference in read.into_iter().flatten() {
        let written = serde_json::to_value(&preference).expect("terms can be written");
        let again: Preference = serde_json::from_value(written).expect("and read");
        assert_eq!(again, preference);
        fits(&preference.terms);
    }
});

fn one(document: &[u8]) {
    let Ok(terms) = serde_json::from_slice::<Terms>(document) else {
        return;
    };
    let written = serde_json::to_value(&terms).expect("terms can be written");
    assert_eq!(
        serde_json::from_value::<Terms>(written).expect("and read"),
        terms
    );
    let _ = check_terms(&terms, target().schema, target().hierarchies);
}

fn fits(terms: &Terms) {
    let checked = check_terms(terms, target().schema, target().hierarchies);
    assert_eq!(checked, Ok(()), "what a bulk accepts fits the schema");
}
