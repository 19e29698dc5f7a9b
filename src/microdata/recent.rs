//! The texts seen lately, by a cheap hash.
//!
//! Most cells of a column hold one of few texts: they are found here, without
//! the keyed hash of the whole dictionary. Texts made to collide only cost
//! that hash.

/// Slots of the table.
const SLOTS: usize = 256;

/// Numbers of the texts seen lately.
#[derive(Clone, Debug)]
pub struct Recent {
    /// The number plus one; 0 is a free slot.
    numbers: [u32; SLOTS],
}

impl Default for Recent {
    fn default() -> Self {
        Self {
            numbers: [0; SLOTS],
        }
    }
}

impl Recent {
    /// The number noted for `text`, if `is_it` says that it is this text's.
    #[inline]
    pub fn find(&self, text: &[u8], is_it: impl FnOnce(u32) -> bool) -> Option<u32> {
        let number = self.numbers[slot_of(text)].checked_sub(1)?;
        is_it(number).then_some(number)
    }

    /// Notes the number of a text, below `u32::MAX`.
    #[inline]
    pub fn note(&mut self, text: &[u8], number: u32) {
        self.numbers[slot_of(text)] = number + 1;
    }
}

/// A cheap hash of a text: its length and its first and last eight bytes.
#[inline]
fn slot_of(text: &[u8]) -> usize {
    let word = |bytes: &[u8]| {
        let mut word = [0_u8; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    let mixed = match text.len() {
        0..=8 => word(text),
        length => word(&text[..8]) ^ word(&text[length - 8..]).rotate_left(29),
    } ^ text.len() as u64;
    // The golden ratio spreads any input over the upper bits.
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_until_another_takes_its_slot() {
        let mut recent = Recent::default();
        assert_eq!(recent.find(b"flu", |_| true), None);
        recent.note(b"flu", 7);
        assert_eq!(recent.find(b"flu", |number| number == 7), Some(7));
        assert_eq!(recent.find(b"flu", |_| false), None, "another text's");
        // Alike in length and both ends.
        let twins: [&[u8]; 2] = [b"abcdefgh 1 abcdefgh", b"abcdefgh 2 abcdefgh"];
        recent.note(twins[0], 1);
        assert_eq!(
            recent.find(twins[1], |_| true),
            Some(1),
            "the caller tells them apart"
        );
        recent.note(twins[1], 2);
        assert_eq!(recent.find(twins[0], |number| number == 1), None);
    }
}
