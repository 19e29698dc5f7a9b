//! An object is written as an object.
//!
//! For a struct, serde also takes a list of its fields' values in their order:
//! `[null, 0.25]` would pass for someone's terms. openapi.yaml describes
//! objects, nobody means a list there, and what was meant by place today would
//! mean something else when a field is added. So a body that could be read is
//! read once more by a deserializer that insists.

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde_json::{Error, Value};

/// Whether some object of `T` stands as a list in `body`, which is read as a `T` otherwise.
pub fn has_list_for_object<T: DeserializeOwned>(body: &[u8]) -> bool {
    let value = serde_json::from_slice::<Value>(body);
    value.is_ok_and(|value| T::deserialize(Written(value)).is_err())
}

/// A value in which a list is never an object.
struct Written(Value);

impl<'de> IntoDeserializer<'de, Error> for Written {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn members(map: serde_json::Map<String, Value>) -> impl Iterator<Item = (String, Written)> {
    map.into_iter().map(|(name, value)| (name, Written(value)))
}

impl<'de> Deserializer<'de> for Written {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Written)))
            }
            Value::Object(map) => visitor.visit_map(MapDeserializer::new(members(map))),
            plain => plain.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(_) => Err(Error::custom("a list in place of an object")),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(map) => {
                let access = MapDeserializer::new(members(map));
                visitor.visit_enum(MapAccessDeserializer::new(access))
            }
            plain => plain.deserialize_enum(name, variants, visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf unit unit_struct seq tuple tuple_struct map identifier
        ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobSpec;
    use vizard_anonymizer::microdata::Schema;

    #[test]
    fn lists_are_refused_where_objects_belong_and_only_there() {
        let job = |report: &str| {
            format!(
                "{{\"dataset\": \"dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70\", \
                 \"engine\": \"lgb\", \"parameters\": {{\"k\": [5]}}, \"seed\": 7, \
                 \"publish\": \"manual\", \"report\": {report}}}"
            )
        };
        let (good, bad) = (job("{\"queries\": 5}"), job("[5]"));
        for body in [&good, &bad] {
            assert!(serde_json::from_str::<JobSpec>(body).is_ok(), "{body}");
        }
        assert!(!has_list_for_object::<JobSpec>(good.as_bytes()));
        assert!(has_list_for_object::<JobSpec>(bad.as_bytes()));
    }

    #[test]
    fn a_whole_schema_is_read_the_same_both_ways() {
        let specification = include_bytes!("../../sample/spec.json");
        let document: Value = serde_json::from_slice(specification).expect("JSON");
        let schema = document["schema"].to_string();
        assert!(serde_json::from_str::<Schema>(&schema).is_ok());
        assert!(!has_list_for_object::<Schema>(schema.as_bytes()));
    }
}
