//! A column of text kept as one run of bytes, without a `String` per cell.

/// Texts one behind the other, addressed by position.
///
/// Costs 4 bytes a text beside the text itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextColumn {
    bytes: String,
    ends: Ends<32>,
}

/// Where texts end, of which only the low `BITS` bits are kept for each; at
/// most 32.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ends<const BITS: u32> {
    low: Vec<u32>,
    /// Positions of the texts in which a bit above those is passed, one for
    /// each time. Hardly anything has 4 GiB of text, so there is none.
    carries: Vec<usize>,
}

impl<const BITS: u32> Ends<BITS> {
    /// Appends an end, which is not before the last.
    fn push(&mut self, end: usize) {
        let (high, carried) = (end >> BITS, self.carries.len());
        let carries = std::iter::repeat_n(self.low.len(), high - carried);
        self.carries.extend(carries);
        self.low.push((end & ((1 << BITS) - 1)) as u32);
    }

    #[inline]
    fn get(&self, position: usize) -> usize {
        let low = self.low[position] as usize;
        if self.carries.is_empty() {
            return low;
        }
        let carried = self.carries.partition_point(|&at| at <= position);
        (carried << BITS) | low
    }

    /// Where the text at `position` is.
    #[inline]
    fn range(&self, position: usize) -> std::ops::Range<usize> {
        let start = match position {
            0 => 0,
            _ => self.get(position - 1),
        };
        start..self.get(position)
    }
}

impl TextColumn {
    /// An empty column.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends one text.
    pub fn push(&mut self, text: &str) {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
    }

    /// Appends all texts of another column.
    pub fn append(&mut self, other: &Self) {
        let start = self.bytes.len();
        self.bytes.push_str(&other.bytes);
        (0..other.len()).for_each(|position| self.ends.push(start + other.ends.get(position)));
    }

    /// The text at `position`; panics beyond the end, as a slice does.
    pub fn get(&self, position: usize) -> &str {
        &self.bytes[self.ends.range(position)]
    }

    /// The bytes of the text at `position`; panics beyond the end.
    #[inline]
    pub fn bytes_at(&self, position: usize) -> &[u8] {
        &self.bytes.as_bytes()[self.ends.range(position)]
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.low.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.ends.low.is_empty()
    }

    /// All texts in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|position| self.get(position))
    }

    /// Bytes of text held, without the positions.
    pub fn text_bytes(&self) -> usize {
        self.bytes.len()
    }
}

impl<'a> FromIterator<&'a str> for TextColumn {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        let mut column = Self::new();
        texts.into_iter().for_each(|text| column.push(text));
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
    fn ends_that_need_more_bits_than_are_kept_come_back() {
        let mut ends = Ends::<4>::default();
        let all = [0, 3, 15, 16, 16, 50, 63, 64, 64, 200];
        all.iter().for_each(|&end| ends.push(end));
        let found: Vec<usize> = (0..all.len()).map(|position| ends.get(position)).collect();
        assert_eq!(found, all);
        assert_eq!((ends.range(0), ends.range(5)), (0..0, 16..50));
        assert!(ends.low.iter().all(|&low| low < 16));
    }
}
