//! Subjects by their keys, for readers who come with many keys.
//!
//! Consent forms and records mostly come out of one register in one order: a
//! key is looked for behind the last one that was found. A caller that passes over
//! too many keys that way has them in another order; only then are all keys
//! hashed, once.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use crate::microdata::{SubjectIndex, TextColumn};

/// Finds subjects one after the other.
pub(super) struct SubjectFinder<'a> {
    keys: &'a TextColumn,
    /// Behind the subject that was found last.
    next: usize,
    /// Keys that may still be passed over before all of them are hashed.
    patience: usize,
    by_key: OnceCell<FxHashMap<&'a str, usize>>,
}

impl<'a> SubjectFinder<'a> {
    /// `keys` holds each subject's key once.
    pub fn new(keys: &'a TextColumn) -> Self {
        Self {
            keys,
            next: 0,
            // In one order no key is passed over twice; a key that nobody has
            // is looked for among all of them.
            patience: 2 * keys.len(),
            by_key: OnceCell::new(),
        }
    }

    /// The subject with this key.
    pub fn find(&mut self, key: &str) -> Option<SubjectIndex> {
        let all = self.keys.len();
        let reach = all.min(self.patience);
        let mut places = (self.next..all).chain(0..self.next).take(reach);
        let passed = places.position(|at| self.keys.bytes_at(at) == key.as_bytes());
        self.patience -= passed.unwrap_or(reach);
        let at = match passed {
            Some(passed) => (self.next + passed) % all,
            None if reach == all => return None,
            None => self.by_key().get(key).copied()?,
        };
        self.next = at + 1;
        Some(SubjectIndex::from_usize(at))
    }

    fn by_key(&self) -> &FxHashMap<&'a str, usize> {
        let keys = || self.keys.iter().enumerate().map(|(at, key)| (key, at));
        self.by_key.get_or_init(|| keys().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("s{at}")).collect()
    }

    #[test]
    fn subjects_are_found_in_any_order_and_only_where_they_are() {
        let names = names(100);
        let keys: TextColumn = names.iter().map(String::as_str).collect();
        let mut finder = SubjectFinder::new(&keys);
        let in_order = (0..100).step_by(7);
        let far = [0, 99, 98, 50, 50, 49, 17, 18, 99, 3];
        for at in in_order.chain(far) {
            assert_eq!(finder.find(&names[at]), Some(SubjectIndex(at as u32)));
            assert_eq!(finder.find("nobody"), None);
        }
        assert!(finder.by_key.get().is_some(), "the patience has an end");
    }

    #[test]
    fn keys_in_order_need_no_hashes_however_far_apart_they_are() {
        let names = names(100);
        let keys: TextColumn = names.iter().map(String::as_str).collect();
        for (step, stranger) in [(1, "nobody"), (3, "nobody"), (90, "nobody")] {
            let mut finder = SubjectFinder::new(&keys);
            assert_eq!(finder.find(stranger), None);
            for at in (0..100).step_by(step) {
                assert_eq!(finder.find(&names[at]), Some(SubjectIndex(at as u32)));
            }
            assert!(finder.by_key.get().is_none());
        }
    }

    #[test]
    fn among_no_subjects_none_is_found() {
        let keys = TextColumn::new();
        assert_eq!(SubjectFinder::new(&keys).find("s0"), None);
    }
}
