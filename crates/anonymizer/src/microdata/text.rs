//! A column of text kept as one run of bytes, without a `String` per cell.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Texts one behind the other, addressed by position.
///
/// Costs 4 bytes a text beside the text itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextColumn {
    bytes: String,
    /// The lower 32 bits of where each text ends.
    ends: Vec<u32>,
    /// Positions of the texts that end in the next 4 GiB: most columns have none.
    turns: Vec<usize>,
}

impl TextColumn {
    /// An empty column.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends one text.
    pub fn push(&mut self, text: &str) {
        self.bytes.push_str(text);
        self.end_at(self.bytes.len());
    }

    /// Appends all texts of another column.
    pub fn append(&mut self, other: &Self) {
        let start = self.bytes.len();
        self.bytes.push_str(&other.bytes);
        self.ends.reserve(other.len());
        (0..other.len()).for_each(|position| self.end_at(start + other.end(position)));
    }

    /// The last text ends there.
    fn end_at(&mut self, end: usize) {
        let gigabytes = end >> u32::BITS;
        while self.turns.len() < gigabytes {
            self.turns.push(self.ends.len());
        }
        self.ends.push(end as u32);
    }

    /// Where a text ends.
    #[inline]
    fn end(&self, position: usize) -> usize {
        let turns = if self.turns.is_empty() {
            0
        } else {
            self.turns.partition_point(|&turn| turn <= position)
        };
        (turns << u32::BITS) | self.ends[position] as usize
    }

    /// Where a text starts.
    #[inline]
    fn start(&self, position: usize) -> usize {
        match position {
            0 => 0,
            _ => self.end(position - 1),
        }
    }

    /// Gives memory back that is held for further texts.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// The texts at these positions, in their order; panics beyond the end.
    #[must_use]
    pub fn some(&self, positions: impl Iterator<Item = usize>) -> Self {
        let mut some = Self::default();
        positions.for_each(|position| some.push(self.get(position)));
        some
    }

    /// The text at `position`; panics beyond the end, as a slice does.
    pub fn get(&self, position: usize) -> &str {
        &self.bytes[self.start(position)..self.end(position)]
    }

    /// The bytes of the text at `position`; panics beyond the end.
    #[inline]
    pub fn bytes_at(&self, position: usize) -> &[u8] {
        &self.bytes.as_bytes()[self.start(position)..self.end(position)]
    }

    /// Takes the text at `position` out; panics beyond the end.
    pub fn remove(&mut self, position: usize) {
        let others = (0..self.len()).filter(|&other| other != position);
        *self = self.some(others);
    }

    /// The position of a text in a column whose texts ascend.
    pub fn find_sorted(&self, text: &str) -> Option<usize> {
        self.search(0..self.len(), text).ok()
    }

    /// The same, found at once where it stands at `from` or soon behind: for texts
    /// that mostly ascend as well. Where there is none, the position that it would
    /// have.
    ///
    /// # Errors
    /// There is none.
    pub fn search_from(&self, from: usize, text: &str) -> Result<usize, usize> {
        let is_behind = |position: usize| position < self.len() && self.get(position) < text;
        if from > 0 && !is_behind(from - 1) {
            return self.search(0..from.min(self.len()), text);
        }
        let (mut start, mut step) = (from, 1);
        while is_behind(start + step - 1) {
            start += step;
            step *= 2;
        }
        self.search(start..(start + step).min(self.len()), text)
    }

    fn search(&self, positions: Range<usize>, text: &str) -> Result<usize, usize> {
        let Range { mut start, mut end } = positions;
        while start < end {
            let middle = start + (end - start) / 2;
            match self.get(middle).cmp(text) {
                Ordering::Less => start = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => end = middle,
            }
        }
        Err(start)
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All texts in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.len()).map(|position| self.get(position))
    }

    /// Bytes of text held, without the positions.
    pub fn text_bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// A list of texts.
impl Serialize for TextColumn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for TextColumn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = TextColumn;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of texts")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<TextColumn, A::Error> {
                let mut column = TextColumn::new();
                while let Some(text) = texts.next_element::<Cow<'_, str>>()? {
                    column.push(&text);
                }
                column.shrink();
                Ok(column)
            }
        }
        deserializer.deserialize_seq(Texts)
    }
}

impl<T: AsRef<str>> FromIterator<T> for TextColumn {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut column = Self::new();
        texts
            .into_iter()
            .for_each(|text| column.push(text.as_ref()));
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_went_in() {
        let column: TextColumn = ["", "ä", "two words", ""].into_iter().collect();
        assert_eq!(
            column.iter().collect::<Vec<_>>(),
            ["", "ä", "two words", ""]
        );
        assert_eq!(column.text_bytes(), 11);
    }

    #[test]
    fn positions_beyond_4_gib_are_kept_without_holding_so_much_text() {
        let mut column = TextColumn::new();
        let gib = 1_usize << 30;
        let ends = [gib, 4 * gib - 1, 4 * gib, 4 * gib + 7, 9 * gib, 9 * gib];
        ends.iter().for_each(|&end| column.end_at(end));
        let found: Vec<usize> = (0..ends.len()).map(|at| column.end(at)).collect();
        assert_eq!(found, ends);
        assert_eq!(column.start(3), 4 * gib);
    }

    #[test]
    fn a_text_is_found_from_any_position() {
        let texts: Vec<String> = (0..40).map(|at| format!("{:02}", 2 * at + 1)).collect();
        let column: TextColumn = texts.iter().collect();
        for wanted in 0..=81 {
            let wanted = format!("{wanted:02}");
            for from in 0..=column.len() {
                assert_eq!(
                    column.search_from(from, &wanted),
                    texts.binary_search(&wanted)
                );
            }
        }
        assert_eq!(TextColumn::new().search_from(0, ""), Err(0));
    }

    #[test]
    fn columns_are_joined_searched_and_written_as_lists() {
        let mut column: TextColumn = ["a", "c"].into_iter().collect();
        column.append(&["d", "", "e"].into_iter().collect());
        column.remove(3);
        assert_eq!(column.iter().collect::<Vec<_>>(), ["a", "c", "d", "e"]);
        assert_eq!(column.find_sorted("d"), Some(2));
        assert_eq!(column.find_sorted("b"), None);
        let text = serde_json::to_string(&column).unwrap();
        assert_eq!(text, r#"["a","c","d","e"]"#);
        assert_eq!(serde_json::from_str::<TextColumn>(&text).unwrap(), column);
        let escaped: TextColumn = serde_json::from_str(r#"["\u00e4\n"]"#).unwrap();
        assert_eq!(escaped.get(0), "ä\n");
    }
}
