//! A column of text kept as one run of bytes, without a `String` per cell.

/// Texts one behind the other, addressed by position.
///
/// Costs 8 bytes a text beside the text itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextColumn {
    bytes: String,
    ends: Vec<usize>,
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
        self.ends.extend(other.ends.iter().map(|end| start + end));
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
        let start = match position {
            0 => 0,
            _ => self.ends[position - 1],
        };
        &self.bytes[start..self.ends[position]]
    }

    /// The bytes of the text at `position`; panics beyond the end.
    #[inline]
    pub fn bytes_at(&self, position: usize) -> &[u8] {
        let start = match position {
            0 => 0,
            _ => self.ends[position - 1],
        };
        &self.bytes.as_bytes()[start..self.ends[position]]
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
}
