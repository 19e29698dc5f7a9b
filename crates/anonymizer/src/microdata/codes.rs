//! Codes in the narrowest integer that holds them.
//!
//! Most attributes have fewer than 256 values, nearly all fewer than 65,536: a
//! list takes one or two bytes a code instead of four, and as much less of the
//! caches of the code that walks over it.

/// One code per record or row.
///
/// Two lists are equal if their codes are, whatever their widths.
#[derive(Clone, Debug)]
pub enum Codes {
    /// All are below 2⁸.
    Byte(Vec<u8>),
    /// All are below 2¹⁶.
    Short(Vec<u16>),
    /// Any.
    Wide(Vec<u32>),
}

/// Evaluates an expression with the codes as a slice of their own integers,
/// for loops that should not ask for the width at each code.
macro_rules! of_width {
    ($codes:expr, $slice:ident => $body:expr) => {
        match $codes {
            $crate::microdata::Codes::Byte($slice) => $body,
            $crate::microdata::Codes::Short($slice) => $body,
            $crate::microdata::Codes::Wide($slice) => $body,
        }
    };
}
pub(crate) use of_width;

const BYTE_MAX: u32 = u8::MAX as u32;
const SHORT_MAX: u32 = u16::MAX as u32;

impl Codes {
    /// Codes that are all below `limit`.
    pub fn below(limit: usize, codes: impl Iterator<Item = u32>) -> Self {
        match limit {
            0..=0x100 => Self::Byte(codes.map(|code| code as u8).collect()),
            0x101..=0x1_0000 => Self::Short(codes.map(|code| code as u16).collect()),
            _ => Self::Wide(codes.collect()),
        }
    }

    /// The code at `row`; panics beyond the end, as a slice does.
    #[inline]
    pub fn at(&self, row: usize) -> u32 {
        match self {
            Self::Byte(codes) => codes[row].into(),
            Self::Short(codes) => codes[row].into(),
            Self::Wide(codes) => codes[row],
        }
    }

    /// The codes of these rows, in their order and in the same width; panics
    /// beyond the end.
    #[must_use]
    pub fn some(&self, rows: &[u32]) -> Self {
        let rows = rows.iter().map(|&row| row as usize);
        match self {
            Self::Byte(codes) => Self::Byte(rows.map(|row| codes[row]).collect()),
            Self::Short(codes) => Self::Short(rows.map(|row| codes[row]).collect()),
            Self::Wide(codes) => Self::Wide(rows.map(|row| codes[row]).collect()),
        }
    }

    /// The code at `row`, if there is one.
    pub fn get(&self, row: usize) -> Option<u32> {
        (row < self.len()).then(|| self.at(row))
    }

    /// Number of codes.
    pub fn len(&self) -> usize {
        of_width!(self, codes => codes.len())
    }

    /// Whether there is no code.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All codes in order.
    pub fn iter(&self) -> CodesIter<'_> {
        match self {
            Self::Byte(codes) => CodesIter::Byte(codes.iter()),
            Self::Short(codes) => CodesIter::Short(codes.iter()),
            Self::Wide(codes) => CodesIter::Wide(codes.iter()),
        }
    }

    /// Appends a code; the list is widened if it must be.
    #[inline]
    pub fn push(&mut self, code: u32) {
        match self {
            Self::Byte(codes) if code <= BYTE_MAX => codes.push(code as u8),
            Self::Short(codes) if code <= SHORT_MAX => codes.push(code as u16),
            Self::Wide(codes) => codes.push(code),
            _ => {
                self.widen(code);
                self.push(code);
            }
        }
    }

    /// How often each code below `limit` occurs; all are.
    pub fn histogram(&self, limit: usize) -> Vec<u32> {
        let mut counts = vec![0_u32; limit];
        of_width!(self, codes => codes.iter().for_each(|&code| counts[code as usize] += 1));
        counts
    }

    /// Drops all codes but the first `length`.
    pub fn truncate(&mut self, length: usize) {
        of_width!(self, codes => codes.truncate(length));
    }

    /// Gives memory back that is held for further codes.
    pub fn shrink(&mut self) {
        of_width!(self, codes => codes.shrink_to_fit());
    }

    /// Wide enough for `code`, which it is not yet.
    #[cold]
    fn widen(&mut self, code: u32) {
        *self = match code {
            0..=SHORT_MAX => Self::Short(self.iter().map(|code| code as u16).collect()),
            _ => Self::Wide(self.iter().collect()),
        };
    }
}

impl Default for Codes {
    fn default() -> Self {
        Self::Byte(Vec::new())
    }
}

impl From<Vec<u32>> for Codes {
    fn from(codes: Vec<u32>) -> Self {
        let largest = codes.iter().copied().max().unwrap_or(0);
        match largest {
            0..=SHORT_MAX => Self::below(largest as usize + 1, codes.into_iter()),
            _ => Self::Wide(codes),
        }
    }
}

impl FromIterator<u32> for Codes {
    fn from_iter<I: IntoIterator<Item = u32>>(codes: I) -> Self {
        let mut all = Self::default();
        all.extend(codes);
        all
    }
}

impl Extend<u32> for Codes {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, codes: I) {
        let codes = codes.into_iter();
        let (more, _) = codes.size_hint();
        of_width!(&mut *self, held => held.reserve(more));
        codes.for_each(|code| self.push(code));
    }
}

impl<'a> IntoIterator for &'a Codes {
    type Item = u32;
    type IntoIter = CodesIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Codes {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<const N: usize> PartialEq<[u32; N]> for Codes {
    fn eq(&self, other: &[u32; N]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

/// The codes of a list, in order.
#[derive(Clone, Debug)]
pub enum CodesIter<'a> {
    /// Of one byte each.
    Byte(std::slice::Iter<'a, u8>),
    /// Of two bytes each.
    Short(std::slice::Iter<'a, u16>),
    /// Of four bytes each.
    Wide(std::slice::Iter<'a, u32>),
}

impl Iterator for CodesIter<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        match self {
            Self::Byte(codes) => codes.next().map(|&code| code.into()),
            Self::Short(codes) => codes.next().map(|&code| code.into()),
            Self::Wide(codes) => codes.next().copied(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Byte(codes) => codes.size_hint(),
            Self::Short(codes) => codes.size_hint(),
            Self::Wide(codes) => codes.size_hint(),
        }
    }

    /// Asks for the width once: what `for_each`, `sum` and `collect` run on.
    fn fold<B, F: FnMut(B, u32) -> B>(self, start: B, mut each: F) -> B {
        match self {
            Self::Byte(codes) => codes.fold(start, |so_far, &code| each(so_far, code.into())),
            Self::Short(codes) => codes.fold(start, |so_far, &code| each(so_far, code.into())),
            Self::Wide(codes) => codes.fold(start, |so_far, &code| each(so_far, code)),
        }
    }
}

impl ExactSizeIterator for CodesIter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: [u32; 7] = [0, 0xff, 0x100, 0xffff, 0x1_0000, 7, u32::MAX];

    fn width(codes: &Codes) -> u32 {
        match codes {
            Codes::Byte(_) => 8,
            Codes::Short(_) => 16,
            Codes::Wide(_) => 32,
        }
    }

    #[test]
    fn a_list_is_widened_by_the_first_code_that_needs_it_and_keeps_those_before() {
        let mut codes = Codes::default();
        let mut widths = Vec::new();
        for (at, code) in EDGES.into_iter().enumerate() {
            codes.push(code);
            widths.push(width(&codes));
            assert_eq!(codes.iter().collect::<Vec<_>>(), EDGES[..=at]);
            assert_eq!(codes.at(at), code);
        }
        assert_eq!(widths, [8, 8, 16, 16, 32, 32, 32]);
        assert_eq!(codes.len(), EDGES.len());
        codes.truncate(1);
        assert_eq!(codes, [0]);
    }

    #[test]
    fn a_list_made_at_once_is_as_narrow_as_its_codes_allow() {
        for (largest, expected) in [
            (0, 8),
            (0xff, 8),
            (0x100, 16),
            (0xffff, 16),
            (0x1_0000, 32),
            (u32::MAX, 32),
        ] {
            let codes = Codes::from(vec![3, largest]);
            assert_eq!(
                (width(&codes), &codes),
                (expected, &[3, largest].into_iter().collect())
            );
            let limit = largest as usize + 1;
            let codes = Codes::below(limit, [largest].into_iter());
            assert_eq!((width(&codes), codes.at(0)), (expected, largest));
        }
        assert!(Codes::from(Vec::new()).is_empty());
    }

    #[test]
    fn lists_are_equal_by_their_codes_not_by_their_width() {
        let narrow = Codes::below(3, [2, 1].into_iter());
        let wide = Codes::below(1 << 20, [2, 1].into_iter());
        assert_eq!(narrow, wide);
        assert_ne!(narrow, Codes::from(vec![2, 1, 0]));
        assert_ne!(narrow, Codes::from(vec![2, 2]));
        assert_eq!(narrow.histogram(4), [0, 1, 1, 0]);
        assert_eq!(wide.iter().sum::<u32>(), 3);
    }
}
