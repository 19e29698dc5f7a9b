//! Distinct texts numbered in order of first appearance.
//!
//! Texts are what users write, so the table is hashed with a keyed hash whose
//! key nobody knows; the numbers do not depend on it. There is one allocation
//! for all texts, not one a text.

use std::hash::{BuildHasher, RandomState};

use super::text::TextColumn;

/// Distinct texts, each with its number.
#[derive(Debug, Default)]
pub(super) struct TextDictionary {
    texts: TextColumn,
    /// Open addressing: upper half a tag from the hash, lower half the number
    /// of the text plus one; 0 is a free slot. At most half are taken.
    slots: Vec<u64>,
    hasher: RandomState,
}

const SLOTS_MIN: usize = 64;

impl TextDictionary {
    /// The number of `text`, if it is known.
    pub fn find(&self, text: &str) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.seek(text, self.tag(text)).ok()
    }

    /// The number of `text`, which is added if it is new, and whether it was.
    pub fn intern(&mut self, text: &str) -> (u32, bool) {
        if self.texts.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let tag = self.tag(text);
        match self.seek(text, tag) {
            Ok(known) => (known, false),
            Err(slot) => {
                let number = self.texts.len() as u32;
                self.texts.push(text);
                self.slots[slot] = (u64::from(tag) << 32) | u64::from(number + 1);
                (number, true)
            }
        }
    }

    /// The texts by number.
    pub fn texts(&self) -> &TextColumn {
        &self.texts
    }

    /// The texts by number, without the table.
    pub fn into_texts(self) -> TextColumn {
        self.texts
    }

    /// Hands the texts over and forgets them; the table keeps its size.
    pub fn take_texts(&mut self) -> TextColumn {
        self.slots.fill(0);
        std::mem::take(&mut self.texts)
    }

    fn tag(&self, text: &str) -> u32 {
        (self.hasher.hash_one(text) >> 32) as u32
    }

    /// The number of `text`, or the free slot where it belongs.
    fn seek(&self, text: &str, tag: u32) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = tag as usize & mask;
        loop {
            let entry = self.slots[slot];
            if entry == 0 {
                return Err(slot);
            }
            let number = (entry as u32) - 1;
            if (entry >> 32) as u32 == tag
                && self.texts.bytes_at(number as usize) == text.as_bytes()
            {
                return Ok(number);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(SLOTS_MIN);
        let old = std::mem::replace(&mut self.slots, vec![0; size]);
        for entry in old.into_iter().filter(|&entry| entry != 0) {
            let mut slot = (entry >> 32) as usize & (size - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbered_in_order_of_first_appearance() {
        let mut dictionary = TextDictionary::default();
        assert_eq!(dictionary.find("x"), None);
        for round in 0..2 {
            for number in 0..5000_u32 {
                let text = format!("text {number}");
                assert_eq!(dictionary.intern(&text), (number, round == 0));
                assert_eq!(dictionary.find(&text), Some(number));
            }
        }
        assert_eq!(dictionary.find("text 5000"), None);
        assert_eq!(dictionary.take_texts().len(), 5000);
        assert_eq!(dictionary.find("text 1"), None);
        assert_eq!(dictionary.intern("text 7"), (0, true));
    }
}
