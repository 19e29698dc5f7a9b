//! Typed ids of the things that have a life of their own.
//!
//! Every id is a UUIDv7, so ids made later sort later: lists are "newest
//! first" by id, and a list's cursor is the id it stopped at. The text form
//! carries the kind (`job_0199…`), so that an id pasted in the wrong place is
//! an error (`IdError::Prefix`) and not a silent miss. One id has one text:
//! lower-case, hyphenated.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// Why a text is not an id of the kind asked for.
///
/// The messages never repeat the text: it came from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text does not begin with the kind's prefix.
    #[error("an id of this kind begins with `{expected}_`")]
    Prefix {
        /// The prefix that was expected, without the underscore.
        expected: &'static str,
    },
    /// What follows the prefix is no lower-case hyphenated UUID.
    #[error("after `{expected}_` an id is a lower-case hyphenated UUID")]
    Uuid {
        /// The prefix that was found, without the underscore.
        expected: &'static str,
    },
}

/// Reads `<prefix>_<uuid>`; only the one canonical spelling is accepted.
fn parse(text: &str, expected: &'static str) -> Result<Uuid, IdError> {
    let rest = text
        .strip_prefix(expected)
        .and_then(|rest| rest.strip_prefix('_'))
        .ok_or(IdError::Prefix { expected })?;
    let id = Uuid::try_parse(rest).map_err(|_| IdError::Uuid { expected })?;
    let mut canonical = Uuid::encode_buffer();
    if *id.hyphenated().encode_lower(&mut canonical) == *rest {
        Ok(id)
    } else {
        Err(IdError::Uuid { expected })
    }
}

/// Defines one id type: its prefix, text form, serde form and schema.
macro_rules! typed_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $example:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// The word before the underscore in the text form.
            pub const PREFIX: &'static str = $prefix;

            /// A new id, later in order than those this process made before.
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }

            /// The bare UUID, as it stands in the database.
            pub fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}_{}", Self::PREFIX, self.0.hyphenated())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, formatter)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse(text, Self::PREFIX).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                id_schema(Self::PREFIX, $example)
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
        }
    };
}

/// The OpenAPI schema of an id: a string with the pattern of its text form.
fn id_schema(
    prefix: &str,
    example: &str,
) -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
    use utoipa::openapi::schema::{ObjectBuilder, Type};
    const UUID_PATTERN: &str = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
    ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(format!("^{prefix}_{UUID_PATTERN}$")))
        .examples([serde_json::Value::from(example)])
        .into()
}

typed_id!(
    /// Names a dataset: `dataset_<uuid>`.
    DatasetId,
    "dataset",
    "dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70"
);
typed_id!(
    /// Names a job: `job_<uuid>`.
    JobId,
    "job",
    "job_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b71"
);
typed_id!(
    /// Names a release: `release_<uuid>`.
    ReleaseId,
    "release",
    "release_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b72"
);
typed_id!(
    /// Names an exploration: `exploration_<uuid>`.
    ExplorationId,
    "exploration",
    "exploration_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b74"
);
typed_id!(
    /// Names a re-identification: `reidentification_<uuid>`.
    ReidentificationId,
    "reidentification",
    "reidentification_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b75"
);
typed_id!(
    /// Names an API key: `key_<uuid>`.
    KeyId,
    "key",
    "key_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b73"
);
typed_id!(
    /// Names a webhook: `webhook_<uuid>`.
    WebhookId,
    "webhook",
    "webhook_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b75"
);
typed_id!(
    /// Names a message to a webhook: `msg_<uuid>`.
    MessageId,
    "msg",
    "msg_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b76"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_is_read_back_as_the_same_id() {
        let id = JobId::generate();
        assert_eq!(id.to_string().parse::<JobId>(), Ok(id));
        let json = serde_json::to_string(&id).expect("an id is a string");
        assert_eq!(json, format!("\"job_{}\"", id.uuid()));
        assert_eq!(serde_json::from_str::<JobId>(&json).expect("same text"), id);
    }

    #[test]
    fn wrong_prefix_is_an_error_of_its_own() {
        let text = DatasetId::generate().to_string();
        assert_eq!(
            text.parse::<JobId>(),
            Err(IdError::Prefix { expected: "job" })
        );
        assert_eq!(
            "job".parse::<JobId>(),
            Err(IdError::Prefix { expected: "job" })
        );
    }

    #[test]
    fn only_the_canonical_spelling_is_an_id() {
        let id = KeyId::generate();
        let wrong = IdError::Uuid { expected: "key" };
        for text in [
            format!("key_{}", id.uuid().simple()),
            format!("key_{}", id.uuid())
                .to_uppercase()
                .replace("KEY_", "key_"),
            format!("key_{{{}}}", id.uuid()),
            "key_".to_owned(),
        ] {
            // Digits alone have no case: skip the one id in 10^13 without a letter.
            if text != id.to_string() {
                assert_eq!(text.parse::<KeyId>(), Err(wrong));
            }
        }
    }

    #[test]
    fn ids_made_later_sort_later() {
        let ids: Vec<ReleaseId> = (0..1000).map(|_| ReleaseId::generate()).collect();
        assert!(ids.is_sorted());
    }
}
