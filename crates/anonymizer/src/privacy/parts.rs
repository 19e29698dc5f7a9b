//! How a table that is published in parts is parted.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::parameter::ParameterError;

/// Whether tables are published in parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartsRule {
    /// Large ones, where the engine can.
    #[default]
    BySize,
    /// All of them, or none, as a job says.
    Given(Option<Parts>),
}

impl PartsRule {
    /// Whether a job says nothing.
    pub fn is_by_size(&self) -> bool {
        *self == Self::BySize
    }
}

impl Serialize for PartsRule {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::BySize => to.serialize_none(),
            Self::Given(parts) => parts.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for PartsRule {
    /// Of a member that is there: null asks for the whole table at once.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Option::deserialize(from).map(Self::Given)
    }
}

/// A table is cut into parts of at most so many records, each of which is published
/// by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Parts {
    records_max: u64,
    records_min: u64,
}

/// As it is written.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    records_max: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    records_min: Option<u64>,
}

impl Parts {
    /// Tables with more records are published in parts, unless a job says otherwise.
    pub const WHOLE_RECORDS_MAX: u64 = 1 << 24;
    /// So many records has a part at most, unless a job says otherwise.
    pub const RECORDS_MAX: u64 = 1 << 22;
    /// A side of a cut has at least one in so many of a part's records, unless a job
    /// says otherwise.
    const LEAST_SHARE: u64 = 64;

    /// Parts of at most so many records.
    ///
    /// # Errors
    /// Not a single one.
    pub fn of(records_max: u64, records_min: Option<u64>) -> Result<Self, ParameterError> {
        let records_min = records_min.unwrap_or(records_max / Self::LEAST_SHARE);
        if records_max == 0 {
            return Err(ParameterError {
                name: "parts",
                bounds: "null, or an object with `records_max` of at least 1",
            });
        }
        Ok(Self {
            records_max,
            records_min,
        })
    }

    /// What holds for a table of so many records whose job says nothing.
    pub fn by_default(records: u64) -> Option<Self> {
        (records > Self::WHOLE_RECORDS_MAX).then_some(Self {
            records_max: Self::RECORDS_MAX,
            records_min: Self::RECORDS_MAX / Self::LEAST_SHARE,
        })
    }

    /// Sets with more records are cut, if they can be.
    pub fn records_max(self) -> u64 {
        self.records_max
    }

    /// No side of a cut has fewer records.
    pub fn records_min(self) -> u64 {
        self.records_min
    }
}

impl TryFrom<Written> for Parts {
    type Error = ParameterError;

    fn try_from(written: Written) -> Result<Self, ParameterError> {
        Self::of(written.records_max, written.records_min)
    }
}

impl From<Parts> for Written {
    fn from(parts: Parts) -> Self {
        let is_default = parts.records_min == parts.records_max / Parts::LEAST_SHARE;
        Self {
            records_max: parts.records_max,
            records_min: (!is_default).then_some(parts.records_min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json, to_value};

    #[test]
    fn sizes_are_read_strictly_and_written_as_they_were_given() {
        for document in [
            json!({"records_max": 1}),
            json!({"records_max": 6400}),
            json!({"records_max": 6400, "records_min": 7}),
        ] {
            let parts: Parts = from_value(document.clone()).unwrap();
            assert_eq!(to_value(parts).unwrap(), document);
        }
        let parts: Parts = from_value(json!({"records_max": 6400})).unwrap();
        assert_eq!((parts.records_max(), parts.records_min()), (6400, 100));
        for document in [
            json!({}),
            json!({"records_max": 0}),
            json!({"records_max": 5, "records": 6}),
            json!({"records_max": -1}),
        ] {
            assert!(from_value::<Parts>(document.clone()).is_err(), "{document}");
        }
    }

    #[test]
    fn a_table_is_published_in_parts_by_itself_once_it_is_large() {
        assert_eq!(Parts::by_default(Parts::WHOLE_RECORDS_MAX), None);
        let parts = Parts::by_default(Parts::WHOLE_RECORDS_MAX + 1).unwrap();
        assert_eq!(parts, Parts::of(4_194_304, None).unwrap());
    }
}
