//! Population tables: among whom the people of a dataset could be.
//!
//! A dataset has at most one. It is no record of the dataset and none of its
//! history: another one takes its place, a purge of the records leaves it alone,
//! and it goes when somebody takes it away or the dataset is erased. Not to be
//! confused with a dataset's *population*, the datasets about the same people.

use chrono::{DateTime, Utc};
use serde_json::Value;
use vizard_anonymizer::microdata::PopulationTable;
use vizard_anonymizer::microdata::population_table::PopulationAttribute;

use super::StoreError;
use crate::ids::DatasetId;

/// A population table to be kept.
#[derive(Clone)]
pub struct NewPopulationTable {
    /// The dataset.
    pub dataset: DatasetId,
    /// Name and type of each attribute, as JSON.
    pub attributes: Value,
    /// All people.
    pub people: u64,
    /// Combinations that somebody has.
    pub combinations: u64,
    /// SHA-256 of the canonical text, in hexadecimal.
    pub sha256: String,
    /// The canonical text, packed.
    pub content: Vec<u8>,
    /// Who puts it.
    pub created_by: String,
}

impl std::fmt::Debug for NewPopulationTable {
    /// Says nothing of what stands in it.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("NewPopulationTable")
            .field("dataset", &self.dataset)
            .finish_non_exhaustive()
    }
}

/// What is known of a population table without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PopulationTableRow {
    /// The dataset.
    pub dataset: DatasetId,
    /// Name and type of each attribute, as JSON.
    pub attributes: Value,
    /// All people.
    pub people: u64,
    /// Combinations that somebody has.
    pub combinations: u64,
    /// SHA-256 of the canonical text, in hexadecimal.
    pub sha256: String,
    /// Who put it.
    pub created_by: String,
    /// When it was put.
    pub created_at: DateTime<Utc>,
}

impl PopulationTableRow {
    /// Its attributes.
    ///
    /// # Errors
    /// Attributes that the store never wrote.
    pub fn attributes(&self) -> Result<Vec<PopulationAttribute>, StoreError> {
        serde_json::from_value(self.attributes.clone()).map_err(|_| self.damage("attributes"))
    }

    /// The table of its packed content; takes a while, and memory for each
    /// combination.
    ///
    /// # Errors
    /// Content that is not what was put: that is damage.
    pub fn unpack(&self, content: &[u8]) -> Result<PopulationTable, StoreError> {
        let table = PopulationTable::unpack(content, self.attributes()?);
        let table = table.ok().filter(|table| table.sha256() == self.sha256);
        table.ok_or_else(|| self.damage("content"))
    }

    fn damage(&self, column: &'static str) -> StoreError {
        StoreError::Inconsistent {
            table: "population_table",
            column,
            row: self.dataset.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use vizard_anonymizer::microdata::ReadLimits;

    use super::*;

    #[test]
    fn content_of_another_table_is_damage() {
        let schema = json!({"name": "x", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"}]});
        let schema = serde_json::from_value(schema).unwrap();
        let read = |text: &str| {
            PopulationTable::read(text.as_bytes(), &schema, &ReadLimits::default(), 9).unwrap()
        };
        let (own, other) = (read("age\n7\n"), read("age\n8\n"));
        let row = PopulationTableRow {
            dataset: DatasetId::generate(),
            attributes: json!(own.attributes()),
            people: 1,
            combinations: 1,
            sha256: own.sha256().to_owned(),
            created_by: "a test".into(),
            created_at: DateTime::UNIX_EPOCH,
        };
        assert_eq!(row.unpack(&own.pack().unwrap()).unwrap(), own);
        for (damaged, column) in [
            (row.unpack(&other.pack().unwrap()), "column content"),
            (row.unpack(b"no packed bytes"), "column content"),
            (
                PopulationTableRow {
                    attributes: json!("x"),
                    ..row.clone()
                }
                .unpack(&own.pack().unwrap()),
                "column attributes",
            ),
        ] {
            let error = damaged.unwrap_err().to_string();
            assert!(error.contains(column), "{error}");
        }
    }
}
