//! Parameters of an engine with words for the names of attributes.
//!
//! Numbers that are no whole ones go by their bits: what is read is what was written,
//! to the last digit.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

/// A document, exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Written {
    Nothing,
    Truth(bool),
    Whole(i64),
    Large(u64),
    Bits(u64),
    Word(String),
    List(Vec<Written>),
    Members(Vec<(String, Written)>),
}

impl Written {
    /// Writes a document down.
    pub fn of(document: &Value) -> Self {
        match document {
            Value::Null => Self::Nothing,
            Value::Bool(truth) => Self::Truth(*truth),
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(whole), ..) => Self::Whole(whole),
                (_, Some(large), _) => Self::Large(large),
                (_, _, Some(number)) => Self::Bits(number.to_bits()),
                _ => Self::Nothing,
            },
            Value::String(word) => Self::Word(word.clone()),
            Value::Array(list) => Self::List(list.iter().map(Self::of).collect()),
            Value::Object(members) => {
                let members = members.iter();
                Self::Members(
                    members
                        .map(|(name, own)| (name.clone(), Self::of(own)))
                        .collect(),
                )
            }
        }
    }

    /// The document.
    pub fn document(&self) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Truth(truth) => Value::Bool(*truth),
            Self::Whole(whole) => Value::Number((*whole).into()),
            Self::Large(large) => Value::Number((*large).into()),
            Self::Bits(bits) => {
                Number::from_f64(f64::from_bits(*bits)).map_or(Value::Null, Value::Number)
            }
            Self::Word(word) => Value::String(word.clone()),
            Self::List(list) => list.iter().map(Self::document).collect(),
            Self::Members(members) => {
                let members = members.iter();
                Value::Object(
                    members
                        .map(|(name, own)| (name.clone(), own.document()))
                        .collect(),
                )
            }
        }
    }
}

/// Parameters with other names of attributes. Of the engines that publish in parts,
/// `lgb` and `mondrian` have an object by attribute, and `personalized` names one.
pub(super) fn renamed(parameters: &Value, name: impl Fn(&str) -> String) -> Value {
    let mut renamed = parameters.clone();
    if let Some(own) = renamed.get_mut("attributes").and_then(Value::as_object_mut) {
        let members = std::mem::take(own).into_iter();
        let members = members.map(|(attribute, own)| (name(&attribute), own));
        *own = members.collect::<Map<String, Value>>();
    }
    if let Some(Value::String(sensitive)) = renamed.get_mut("sensitive") {
        *sensitive = name(sensitive);
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_read_back_as_it_was_with_other_names_of_attributes() {
        let document = json!({
            "k": 5, "max_excluded": 0.1 + 0.2, "most": u64::MAX, "least": -1, "none": null,
            "is": true, "attributes": {"b": {"l": 2}, "k": {"min_spread": 1e-300}},
            "sensitive": "k", "list": [1, "b"],
        });
        assert_eq!(Written::of(&document).document(), document);
        let renamed = renamed(&document, |name| format!("{name}{name}"));
        assert_eq!(
            renamed["attributes"],
            json!({"bb": {"l": 2}, "kk": {"min_spread": 1e-300}})
        );
        assert_eq!(
            (&renamed["sensitive"], &renamed["k"]),
            (&json!("kk"), &json!(5))
        );
    }
}
