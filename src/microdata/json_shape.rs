//! How deep JSON nests and how many objects it has, before anyone parses it.
//!
//! A parser that recurses has its own bound on depth, far from any setting,
//! and one that builds a tree has spent the memory by the time the tree can be
//! counted. This looks at brackets and quotes alone, once, at no memory, and
//! is right for every text that is JSON; what it says of another text does not
//! matter, for the parser refuses that.

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonShape {
    /// Arrays and objects around the innermost value.
    pub levels: usize,
    /// Objects.
    pub objects: usize,
}

/// Counts levels and objects of a JSON text.
pub fn json_shape(text: &[u8]) -> JsonShape {
    let mut shape = JsonShape::default();
    let mut open = 0_usize;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                open += 1;
                shape.levels = shape.levels.max(open);
                shape.objects += usize::from(*byte == b'{');
            }
            b']' | b'}' => open = open.saturating_sub(1),
            b'"' => {
                // To the closing quote; an escaped byte closes nothing.
                while let Some(inner) = bytes.next() {
                    match inner {
                        b'\\' => drop(bytes.next()),
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> (usize, usize) {
        let shape = json_shape(text.as_bytes());
        (shape.levels, shape.objects)
    }

    #[test]
    fn brackets_are_counted_outside_of_texts_only() {
        assert_eq!(shape("7"), (0, 0));
        assert_eq!(shape("{}"), (1, 1));
        assert_eq!(shape(r#"{"a": [1, {"b": []}], "c": {}}"#), (4, 3));
        assert_eq!(shape(r#"["[[", "\"[[", "\\", {}]"#), (2, 1));
        assert_eq!(shape("[1,[2],[3,[4]]]"), (3, 0));
    }

    #[test]
    fn what_is_no_json_is_counted_without_an_end_in_sight() {
        assert_eq!(shape("]]]]["), (1, 0));
        assert_eq!(shape(r#"{"\"#), (1, 1));
        assert_eq!(shape(&"[".repeat(100_000)).0, 100_000);
    }

    #[test]
    fn as_many_levels_as_the_parser_reads_are_counted_alike() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(serde_json::from_str::<serde_json::Value>(&nested(127)).is_ok());
        assert!(serde_json::from_str::<serde_json::Value>(&nested(128)).is_err());
        assert_eq!(shape(&nested(127)).0, 127);
    }
}
