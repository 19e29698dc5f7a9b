//! What subjects ask for, document by document: most give the same few, and
//! joining one with a policy takes longer than comparing it with another.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::microdata::{GivenTerms, Preference, Terms};

/// The documents given, each only once as long as it is remembered, and the
/// position of each preference's own.
pub(super) fn documents(preferences: &[Preference]) -> (Vec<Arc<Terms>>, Vec<u32>) {
    let mut given = GivenTerms::default();
    let mut documents: Vec<Arc<Terms>> = Vec::new();
    let mut positions: FxHashMap<*const Terms, u32> = FxHashMap::default();
    let of_preferences = preferences.iter().map(|preference| {
        let terms = given.shared(Arc::clone(&preference.terms));
        *positions.entry(Arc::as_ptr(&terms)).or_insert_with(|| {
            documents.push(terms);
            documents.len() as u32 - 1
        })
    });
    let of_preferences = of_preferences.collect();
    (documents, of_preferences)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REMEMBERED: usize = GivenTerms::REMEMBERED;

    fn given(sensitive: usize) -> Preference {
        Preference {
            subject: String::new(),
            terms: Arc::new(Terms {
                sensitive: Some(vec![format!("a{sensitive}")]),
                ..Terms::default()
            }),
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
            assert_eq!(preference.terms, documents[document as usize]);
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
