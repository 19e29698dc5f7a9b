//! `Range` and `If-Range`: a part of a body, to go on where a download broke
//! off.

use axum::body::Bytes;
use axum::http::{HeaderMap, header};

/// One range of bytes, as a client asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// From this byte on.
    From(u64),
    /// Between two bytes, both included.
    Between(u64, u64),
    /// So many bytes at the end.
    Last(u64),
}

/// A part of a body: first and last byte, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// First byte, from 0.
    pub first: u64,
    /// Last byte.
    pub last: u64,
}

impl ByteRange {
    /// The one range of bytes that a request asks for; `tag` is that of the
    /// body, without quotes. `None`: the whole body is wanted, as also where
    /// several ranges are asked for, or `If-Range` names another body
    /// (RFC 9110 lets a server answer these with the whole).
    pub fn read(headers: &HeaderMap, tag: &str) -> Option<Self> {
        let mut values = headers.get_all(header::RANGE).iter();
        let value = values.next()?.to_str().ok()?;
        if values.next().is_some() {
            return None;
        }
        if let Some(condition) = headers.get(header::IF_RANGE) {
            let named = condition.to_str().ok()?;
            if named.trim() != format!("\"{tag}\"") {
                return None;
            }
        }
        let (first, last) = value.trim().strip_prefix("bytes=")?.split_once('-')?;
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Some(Self::Between(first, last)),
            (Some(first), None) if last.trim().is_empty() => Some(Self::From(first)),
            (None, Some(last)) if first.trim().is_empty() => Some(Self::Last(last)),
            _ => None,
        }
    }

    /// The last byte that has to be known of a body to give its part; `None`
    /// where that is the body's own last one.
    pub fn last_wanted(self) -> Option<u64> {
        match self {
            Self::Between(_, last) => Some(last),
            Self::From(_) | Self::Last(_) => None,
        }
    }

    /// The part of a body of `length` bytes; `None` if it has no such byte.
    pub fn of(self, length: u64) -> Option<Part> {
        let end = length.checked_sub(1)?;
        let (first, last) = match self {
            Self::From(first) => (first, end),
            Self::Between(first, last) => (first, last.min(end)),
            Self::Last(0) => return None,
            Self::Last(count) => (length.saturating_sub(count), end),
        };
        (first <= end).then_some(Part { first, last })
    }
}

/// Digits alone: `+1` is no number here.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

impl Part {
    /// Number of bytes.
    pub fn length(self) -> u64 {
        self.last - self.first + 1
    }

    /// `Content-Range` of the part of a body of `length` bytes; `None` where
    /// the length is not known.
    pub fn content_range(self, length: Option<u64>) -> String {
        let Self { first, last } = self;
        match length {
            Some(length) => format!("bytes {first}-{last}/{length}"),
            None => format!("bytes {first}-{last}/*"),
        }
    }
}

/// Cuts a part out of a body that passes piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct BodyCut {
    skip: u64,
    left: u64,
}

impl BodyCut {
    /// The window of a part, or of everything.
    pub fn new(part: Option<Part>) -> Self {
        match part {
            None => Self {
                skip: 0,
                left: u64::MAX,
            },
            Some(part) => Self {
                skip: part.first,
                left: part.length(),
            },
        }
    }

    /// What of the next piece lies in the window.
    pub fn cut(&mut self, piece: &Bytes) -> Bytes {
        let skipped = self.skip.min(piece.len() as u64);
        self.skip -= skipped;
        let kept = (piece.len() as u64 - skipped).min(self.left);
        self.left -= kept;
        piece.slice(skipped as usize..(skipped + kept) as usize)
    }

    /// Whether nothing more will be in it.
    pub fn is_past(self) -> bool {
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::near::{self, cases, near};
    use proptest::prelude::*;

    fn read(value: &'static str) -> Option<ByteRange> {
        let headers = HeaderMap::from_iter([(header::RANGE, value.parse().expect("a value"))]);
        ByteRange::read(&headers, "tag")
    }

    #[test]
    fn one_range_is_read_and_anything_else_is_the_whole() {
        assert_eq!(read("bytes=0-99"), Some(ByteRange::Between(0, 99)));
        assert_eq!(read("bytes=100-"), Some(ByteRange::From(100)));
        assert_eq!(read("bytes=-5"), Some(ByteRange::Last(5)));
        for whole in [
            "bytes=5-2",
            "bytes=-",
            "bytes=0-1,3-4",
            "rows=0-9",
            "bytes=+1-2",
            "bytes=x-",
            "bytes=99999999999999999999-",
        ] {
            assert_eq!(read(whole), None, "{whole}");
        }
    }

    #[test]
    fn a_range_of_another_body_is_the_whole() {
        let read = |condition: &'static str| {
            let headers = HeaderMap::from_iter([
                (header::RANGE, "bytes=1-".parse().expect("a value")),
                (header::IF_RANGE, condition.parse().expect("a value")),
            ]);
            ByteRange::read(&headers, "tag")
        };
        assert_eq!(read("\"tag\""), Some(ByteRange::From(1)));
        assert_eq!(read("\"other\""), None);
        assert_eq!(read("W/\"tag\""), None);
    }

    #[test]
    fn a_part_lies_inside_the_body() {
        let part = |first, last| Some(Part { first, last });
        assert_eq!(ByteRange::Between(2, 100).of(10), part(2, 9));
        assert_eq!(ByteRange::Between(9, 9).of(10), part(9, 9));
        assert_eq!(ByteRange::Between(10, 12).of(10), None);
        assert_eq!(ByteRange::From(0).of(0), None);
        assert_eq!(ByteRange::Last(3).of(10), part(7, 9));
        assert_eq!(ByteRange::Last(30).of(10), part(0, 9));
        assert_eq!(ByteRange::Last(0).of(10), None);
    }

    #[test]
    fn a_window_cuts_across_pieces() {
        let text = Bytes::from_static(b"0123456789");
        for first in 0..10 {
            for last in first..10 {
                for size in 1..=10 {
                    let mut window = BodyCut::new(Some(Part { first, last }));
                    let pieces = text.chunks(size).map(|piece| text.slice_ref(piece));
                    let cut: Vec<u8> = pieces.flat_map(|piece| window.cut(&piece)).collect();
                    assert_eq!(cut, text[first as usize..=last as usize]);
                    assert!(window.is_past());
                }
            }
        }
        assert_eq!(BodyCut::new(None).cut(&text), text);
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn any_text_is_one_range_as_it_is_written_or_the_whole(
            text in near(&["bytes=0-99", "bytes=100-", "bytes=-5"]), length in any::<u64>(),
        ) {
            let Some(headers) = near::header(header::RANGE, &text) else { return Ok(()) };
            let Some(range) = ByteRange::read(&headers, "tag") else { return Ok(()) };
            let written = match range {
                ByteRange::Between(first, last) => format!("bytes={first}-{last}"),
                ByteRange::From(first) => format!("bytes={first}-"),
                ByteRange::Last(count) => format!("bytes=-{count}"),
            };
            let headers = near::header(header::RANGE, &written).expect("a value");
            prop_assert_eq!(ByteRange::read(&headers, "tag"), Some(range));
            if let Some(part) = range.of(length) {
                prop_assert!(part.first <= part.last && part.last < length);
                prop_assert!(part.length() <= length);
            }
        }
    }
}
