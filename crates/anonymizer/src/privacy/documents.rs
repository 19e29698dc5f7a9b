//! What subjects ask for, document by document: most give the same few, and
//! joining one with a policy takes longer than comparing it with another.

use crate::microdata::{Preference, Terms};

/// Documents that are remembered while others are read.
const REMEMBERED: usize = 64;

/// The documents given, each only once as long as it is remembered, and the
/// position of each preference's own.
pub(super) fn documents(preferences: &[Preference]) -> (Vec<&Terms>, Vec<u32>) {
    let mut documents: Vec<&Terms> = Vec::new();
    let mut remembered: Vec<u32> = Vec::with_capacity(REMEMBERED);
    let of_preferences = preferences.iter().map(|Preference { terms, .. }| {
        let mut known = remembered.iter();
        if let Some(at) = known.position(|&document| documents[document as usize] == terms) {
            // Those that are given most come to stand first.
            let before = at.saturating_sub(1);
            remembered.swap(at, before);
            return remembered[before];
        }
        let document = documents.len() as u32;
        documents.push(terms);
        // Room is made by forgetting the last one. New ones come to stand in
        // the middle, where two that alternate do not push each other out.
        remembered.truncate(REMEMBERED - 1);
        remembered.insert(remembered.len() / 2, document);
        document
    });
    let of_preferences = of_preferences.collect();
    (documents, of_preferences)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(sensitive: usize) -> Preference {
        Preference {
            subject: String::new(),
            terms: Terms {
                sensitive: Some(vec![format!("a{sensitive}")]),
                ..Terms::default()
            },
        }
    }

    #[test]
    fn every_preference_finds_its_own_document_however_many_there_are() {
        let few: Vec<Preference> = [1, 1, 2, 1, 3, 2].map(given).into();
        assert_eq!(documents(&few).1, [0, 0, 1, 0, 2, 1]);
        let many = (0..3 * REMEMBERED).flat_map(|at| [at % (2 * REMEMBERED), 0]);
        let many: Vec<Preference> = many.map(given).collect();
        let (documents, of_preferences) = documents(&many);
        for (preference, document) in many.iter().zip(of_preferences) {
            assert_eq!(&preference.terms, documents[document as usize]);
        }
        assert!(documents.len() < many.len());
    }

    #[test]
    fn documents_that_alternate_are_remembered_whatever_came_before() {
        let once = 0..4 * REMEMBERED;
        let twins = (0..100).map(|at| 1_000 + at % 2);
        let all: Vec<Preference> = once.clone().chain(twins).map(given).collect();
        assert_eq!(documents(&all).0.len(), once.len() + 2);
    }
}
