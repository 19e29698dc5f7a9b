//! How deep JSON nests, how many objects it has, and whether a member stands
//! twice, before anyone parses it.
//!
//! A parser that recurses has its own bound on depth, far from any setting,
//! and one that builds a tree has spent the memory by the time the tree can be
//! counted. This looks at brackets and quotes alone, once, at no memory, and
//! is right for every text that is JSON; what it says of another text does not
//! matter, for the parser refuses that.
//!
//! A parser that keeps the last of two members of one name would take
//! `{"exclude": true, "exclude": false}` for a person who wants to be published.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

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

/// Name of the first member that stands twice in one object of a JSON text,
/// at any depth; `None` where there is none before the text stops being JSON.
pub fn repeated_member(text: &[u8]) -> Option<String> {
    let mut repeated = None;
    let mut text = serde_json::Deserializer::from_slice(text);
    // An error is either the repetition, which is noted, or the parser's own to tell.
    let _ = Members(&mut repeated).deserialize(&mut text);
    repeated
}

/// Walks through a value and notes the first member that stands twice.
struct Members<'a>(&'a mut Option<String>);

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Members(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if seen.contains(&name) {
                *self.0 = Some(name);
                return Err(A::Error::custom("a member stands twice"));
            }
            seen.insert(name);
            members.next_value_seed(Members(&mut *self.0))?;
        }
        Ok(())
    }
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
    fn a_member_that_stands_twice_is_named_at_any_depth() {
        let repeated = |text: &str| repeated_member(text.as_bytes());
        let name = |name: &str| Some(name.to_owned());
        assert_eq!(
            repeated(r#"{"a": 1, "b": {"a": 2}, "c": [{"a": 3}]}"#),
            None
        );
        assert_eq!(
            repeated(r#"{"exclude": true, "exclude": false}"#),
            name("exclude")
        );
        assert_eq!(
            repeated(r#"[{"a": {"k": 2, "l": null, "k": 2.5}}]"#),
            name("k")
        );
        // The same name, written with an escape.
        assert_eq!(repeated(r#"{"k": 1, "\u006b": 2}"#), name("k"));
        // What is no JSON is left to the parser.
        assert_eq!(repeated(r#"{"k": 1, "l"#), None);
        assert_eq!(repeated("7 8"), None);
    }

    #[test]
    fn as_many_levels_as_the_parser_reads_are_counted_alike() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(serde_json::from_str::<serde_json::Value>(&nested(127)).is_ok());
        assert!(serde_json::from_str::<serde_json::Value>(&nested(128)).is_err());
        assert_eq!(shape(&nested(127)).0, 127);
    }
}
