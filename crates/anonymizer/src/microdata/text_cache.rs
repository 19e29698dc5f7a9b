//! The texts seen lately, by a cheap hash.
//!
//! Most cells of a column hold one of few texts: they are found here, without
//! the keyed hash of the whole dictionary, and short ones without a look at
//! the dictionary's texts. Texts made to collide only cost that hash.

/// Slots of a new table; most columns need no more.
const SLOTS_MIN: usize = 64;
/// Slots of the largest table, which still fits a fast cache.
const SLOTS_MAX: usize = 1024;
/// A table in which so many texts were noted for each slot grows.
const NOTES_PER_SLOT: usize = 2;

/// Numbers of the texts seen lately.
#[derive(Clone, Debug)]
pub struct TextCache {
    slots: Vec<Slot>,
    /// Texts noted since the table has had its size.
    notes: usize,
}

/// A text by its length and both ends, which up to [`WHOLE`] bytes are the
/// whole text, and its number plus one; 0 is a free slot.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    first: u64,
    last: u64,
    length: u32,
    number: u32,
}

/// Longest text of which a slot tells everything.
const WHOLE: usize = 16;

impl Slot {
    #[inline]
    fn of(text: &[u8], number: u32) -> Self {
        let (first, last) = match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
                (Some(first), Some(last)) => {
                    let [first, last] = [first, last].map(|word| u32::from_le_bytes(*word));
                    (first.into(), last.into())
                }
                _ => match *text {
                    [] => (0, 0),
                    [one] => (one.into(), 0),
                    [one, two] => (one.into(), two.into()),
                    [one, two, three, ..] => (one.into(), u64::from(two) << 8 | u64::from(three)),
                },
            },
        };
        Self {
            first,
            last,
            length: text.len() as u32,
            number,
        }
    }

    /// Its place among `slots`, a power of two above 1.
    #[inline]
    fn place(&self, slots: usize) -> usize {
        let mixed = self.first ^ self.last.rotate_left(29) ^ u64::from(self.length);
        // All of the input has a say in the uppermost bits of the product.
        let product = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (product >> (u64::BITS - slots.trailing_zeros())) as usize
    }

    #[inline]
    fn has_same_text_ends(&self, other: &Self) -> bool {
        (self.first, self.last, self.length) == (other.first, other.last, other.length)
    }
}

impl Default for TextCache {
    fn default() -> Self {
        Self {
            slots: vec![Slot::default(); SLOTS_MIN],
            notes: 0,
        }
    }
}

impl TextCache {
    /// The number noted for `text`. `text_of` gives the text of a number; it
    /// is asked for long ones only.
    #[inline]
    pub fn find<'t>(&self, text: &[u8], text_of: impl FnOnce(u32) -> &'t [u8]) -> Option<u32> {
        let sought = Slot::of(text, 0);
        let slot = &self.slots[sought.place(self.slots.len())];
        let number = slot.number.checked_sub(1)?;
        let is_it =
            slot.has_same_text_ends(&sought) && (text.len() <= WHOLE || text_of(number) == text);
        is_it.then_some(number)
    }

    /// Notes the number of a text, below `u32::MAX`.
    #[inline]
    pub fn note(&mut self, text: &[u8], number: u32) {
        if self.notes == NOTES_PER_SLOT * self.slots.len() && self.slots.len() < SLOTS_MAX {
            self.grow();
        }
        self.notes += 1;
        let slot = Slot::of(text, number + 1);
        let at = slot.place(self.slots.len());
        self.slots[at] = slot;
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![Slot::default(); self.slots.len() * 2];
        let held = std::mem::replace(&mut self.slots, larger);
        for slot in held.into_iter().filter(|slot| slot.number > 0) {
            let at = slot.place(self.slots.len());
            self.slots[at] = slot;
        }
        self.notes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never(_: u32) -> &'static [u8] {
        panic!("short texts are told apart by the table")
    }

    #[test]
    fn a_text_is_found_until_another_takes_its_slot() {
        let mut text_cache = TextCache::default();
        assert_eq!(text_cache.find(b"flu", never), None);
        text_cache.note(b"flu", 7);
        assert_eq!(text_cache.find(b"flu", never), Some(7));
        // Alike in length and both ends.
        let twins: [&[u8]; 2] = [b"abcdefgh 1 abcdefgh", b"abcdefgh 2 abcdefgh"];
        text_cache.note(twins[0], 1);
        assert_eq!(text_cache.find(twins[0], |_| twins[0]), Some(1));
        assert_eq!(
            text_cache.find(twins[1], |_| twins[0]),
            None,
            "another text's"
        );
        text_cache.note(twins[1], 2);
        assert_eq!(text_cache.find(twins[0], |_| twins[1]), None);
    }

    #[test]
    fn no_two_short_texts_are_taken_for_each_other() {
        // All texts of up to six bytes of two, then longer ones that differ in
        // one byte.
        let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
        for length in 0..6 {
            let longest = texts.iter().filter(|text| text.len() == length);
            let more =
                longest.flat_map(|text| [0_u8, b'a'].map(|byte| [&text[..], &[byte]].concat()));
            texts.extend(more.collect::<Vec<_>>());
        }
        for length in 7..=WHOLE {
            texts.extend((0..length).map(|at| {
                let mut text = vec![b'a'; length];
                text[at] = b'b';
                text
            }));
        }
        let slots: Vec<Slot> = texts.iter().map(|text| Slot::of(text, 1)).collect();
        for (at, slot) in slots.iter().enumerate() {
            let mut before = slots[..at].iter();
            let same = before.any(|other| other.has_same_text_ends(slot));
            assert!(!same, "{:?}", texts[at]);
        }
    }

    #[test]
    fn texts_that_differ_in_one_place_spread_over_the_slots() {
        let kinds: [fn(u32) -> String; 6] = [
            |at| format!("20..{}", 21 + at),
            |at| format!("{}", 100_000 + at),
            |at| format!("{}..99", 10 + at),
            |at| format!("12.{at:02}"),
            |at| format!("A{at:02}.0"),
            |at| format!("a long label of a leaf that ends in {at}"),
        ];
        for text in kinds {
            let places = |slots: usize| {
                let places = (0..64).map(|at| Slot::of(text(at).as_bytes(), 1).place(slots));
                places.collect::<std::collections::BTreeSet<usize>>().len()
            };
            // Chance alone would fill 40 of 64, and 62 of 1,024.
            assert!(
                places(SLOTS_MIN) >= 32,
                "{}: {}",
                text(0),
                places(SLOTS_MIN)
            );
            assert!(
                places(SLOTS_MAX) >= 48,
                "{}: {}",
                text(0),
                places(SLOTS_MAX)
            );
        }
    }

    #[test]
    fn a_table_of_many_texts_grows_and_keeps_what_it_holds() {
        let mut text_cache = TextCache::default();
        for number in 0..SLOTS_MAX as u32 {
            text_cache.note(format!("{number}").as_bytes(), number);
        }
        assert!(text_cache.slots.len() > SLOTS_MIN);
        for number in 0..SLOTS_MAX as u32 {
            let found = text_cache.find(format!("{number}").as_bytes(), never);
            assert!(found.is_none_or(|found| found == number));
        }
        let last = SLOTS_MAX as u32 - 1;
        assert_eq!(
            text_cache.find(format!("{last}").as_bytes(), never),
            Some(last)
        );
        for number in 0..4 * NOTES_PER_SLOT as u32 * SLOTS_MAX as u32 {
            text_cache.note(format!("{number}").as_bytes(), number);
        }
        assert_eq!(text_cache.slots.len(), SLOTS_MAX);
    }
}
