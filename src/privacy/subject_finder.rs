//! Subjects by their keys, for readers who come with many keys.
//!
//! Consent forms and records mostly come out of one register in one order: a
//! key is looked for just behind the last one that was found. Only where it is
//! not there are all keys hashed, once.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use crate::microdata::{SubjectIndex, TextColumn};

/// Subjects in which a key is looked for before all keys are hashed.
const AHEAD: usize = 16;

/// Finds subjects one after the other.
pub(super) struct SubjectFinder<'a> {
    keys: &'a TextColumn,
    /// Behind the subject that was found last.
    next: usize,
    by_key: OnceCell<FxHashMap<&'a str, usize>>,
}

impl<'a> SubjectFinder<'a> {
    /// `keys` holds each subject's key once.
    pub fn new(keys: &'a TextColumn) -> Self {
        Self {
            keys,
            next: 0,
            by_key: OnceCell::new(),
        }
    }

    /// The subject with this key.
    pub fn find(&mut self, key: &str) -> Option<SubjectIndex> {
        let ahead = self.next..self.keys.len().min(self.next + AHEAD);
        let near = ahead.into_iter().find(|&at| self.keys.get(at) == key);
        let at = near.or_else(|| self.by_key().get(key).copied())?;
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

    #[test]
    fn subjects_are_found_in_any_order_and_only_where_they_are() {
        let names: Vec<String> = (0..100).map(|at| format!("s{at}")).collect();
        let keys: TextColumn = names.iter().map(String::as_str).collect();
        let mut finder = SubjectFinder::new(&keys);
        let in_order = (0..100).step_by(7);
        let far = [0, 99, 98, 50, 50, 49, 17, 18, 99, 3];
        for at in in_order.chain(far) {
            assert_eq!(finder.find(&names[at]), Some(SubjectIndex(at as u32)));
            assert_eq!(finder.find("nobody"), None);
        }
    }

    #[test]
    fn keys_in_order_need_no_hashes() {
        let names: Vec<String> = (0..100).map(|at| format!("s{at}")).collect();
        let keys: TextColumn = names.iter().map(String::as_str).collect();
        let mut finder = SubjectFinder::new(&keys);
        for at in (0..100).step_by(AHEAD - 1) {
            assert!(finder.find(&names[at]).is_some());
        }
        assert!(finder.by_key.get().is_none());
    }
}
