//! One record's values with their names, for a copy of what is held of a person.

use serde_json::{Map, Value};

use super::chunk::{Chunk, ChunkColumn};
use super::schema::Schema;
use super::value_text::date_text;

impl Chunk {
    /// The records whose subject has this key, by their places.
    pub fn records_of(&self, schema: &Schema, key: &str) -> Vec<usize> {
        let Some(ChunkColumn::Text(keys)) = self.columns.get(schema.subject_key().at()) else {
            return Vec::new();
        };
        let all = keys.iter().enumerate();
        all.filter(|(_, own)| *own == key)
            .map(|(at, _)| at)
            .collect()
    }

    /// The records of the subjects whose key `stays`.
    #[must_use]
    pub fn of_subjects(self, schema: &Schema, stays: impl Fn(&str) -> bool) -> Self {
        let Some(ChunkColumn::Text(keys)) = self.columns.get(schema.subject_key().at()) else {
            return self;
        };
        let stays: Vec<bool> = keys.iter().map(stays).collect();
        if stays.iter().all(|&stays| stays) {
            return self;
        }
        self.filtered(|at| stays[at])
    }

    /// The values of the record at `at`, by attribute; null where one is missing.
    pub fn values_of(&self, schema: &Schema, at: usize) -> Map<String, Value> {
        let columns = schema.attributes().iter().zip(&self.columns);
        columns
            .map(|(attribute, column)| (attribute.name.clone(), column.value(at)))
            .collect()
    }
}

impl ChunkColumn {
    fn value(&self, at: usize) -> Value {
        match self {
            Self::Text(texts) => texts.get(at).into(),
            Self::Integer(values) => values[at].into(),
            Self::Decimal(values) => values[at].into(),
            Self::Date(values) => date_text(values[at]).into(),
            Self::Category { labels, codes } => labels.get(codes[at] as usize).into(),
            Self::WithMissing { known, missing } => match missing.binary_search(&(at as u32)) {
                Ok(_) => Value::Null,
                Err(before) => known.value(at - before),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_told_by_attribute_with_null_for_what_is_missing() {
        let schema = serde_json::json!({"name": "n", "subject_key": "p", "missing": "category",
            "multiplicity": "many", "attributes": [
                {"name": "p", "role": "identifier"},
                {"name": "day", "role": "sensitive", "type": "date"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"},
                {"name": "sex", "role": "quasi_identifier", "type": "categorical"}]});
        let schema: Schema = serde_json::from_value(schema).unwrap();
        let chunk = Chunk {
            records: 3,
            columns: vec![
                ChunkColumn::Text(["a", "b", "a"].into_iter().collect()),
                ChunkColumn::WithMissing {
                    known: Box::new(ChunkColumn::Date(vec![0, 1])),
                    missing: vec![1],
                },
                ChunkColumn::Integer(vec![30, 31, 32]),
                ChunkColumn::Category {
                    labels: ["F", "M"].into_iter().collect(),
                    codes: vec![0, 0, 1],
                },
            ],
        };
        assert_eq!(chunk.records_of(&schema, "a"), [0, 2]);
        let told = |at| Value::from(chunk.values_of(&schema, at));
        assert_eq!(
            told(2),
            serde_json::json!({"p": "a", "day": "1970-01-02", "age": 32, "sex": "M"})
        );
        assert_eq!(
            told(1),
            serde_json::json!({"p": "b", "day": null, "age": 31, "sex": "F"})
        );
    }
}
