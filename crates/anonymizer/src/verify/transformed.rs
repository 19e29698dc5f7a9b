//! Values that the schema says are changed beforehand: the table that the release
//! was made from holds none that should have been changed. Dates are looked at while
//! records are read, beside those that were stored: the table shows no more whether
//! they moved.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde_json::Number;

use super::evidence::Evidence;
use super::verdict::{Check, Failures};
use crate::microdata::{Attribute, Chunk, ChunkColumn, Schema, TableColumn, TableError, Values};
use crate::privacy::Transformation;

/// Whether the dates of each subject moved by the same days, as a schema declares.
pub struct MovedDates<'s> {
    key: usize,
    /// Columns of dates that move, and by how many days at most.
    columns: Vec<(usize, &'s Attribute, u32)>,
    by: FxHashMap<String, i64>,
    holds: bool,
}

impl<'s> MovedDates<'s> {
    /// Nothing was looked at yet.
    pub fn new(schema: &'s Schema) -> Self {
        let attributes = schema.attributes().iter().enumerate();
        let moving = attributes.filter_map(|(at, attribute)| {
            let days = attribute.transform.shift_days?;
            Some((at, attribute, days))
        });
        Self {
            key: schema.subject_key().at(),
            columns: moving.collect(),
            by: FxHashMap::default(),
            holds: true,
        }
    }

    /// Looks at a chunk as it was stored, and at what was made of it.
    pub fn add(&mut self, stored: &Chunk, made: &Chunk) {
        if self.columns.is_empty() {
            return;
        }
        let Some(ChunkColumn::Text(keys)) = stored.columns.get(self.key) else {
            self.holds = false;
            return;
        };
        for &(at, attribute, most) in &self.columns {
            let before = stored.columns.get(at).and_then(dates_of);
            let after = made.columns.get(at).and_then(dates_of);
            let (Some((before, gaps)), Some((after, gaps_after))) = (before, after) else {
                self.holds = false;
                continue;
            };
            self.holds &= gaps == gaps_after && before.len() == after.len();
            let mut gaps = gaps.iter().peekable();
            let records = (0..).filter(|record| gaps.next_if_eq(&record).is_none());
            for ((record, &before), &after) in records.zip(before).zip(after) {
                let days = i64::from(after) - i64::from(before);
                if attribute.stands_for_no_date(before) {
                    self.holds &= days == 0;
                    continue;
                }
                self.holds &= days != 0 && days.unsigned_abs() <= u64::from(most);
                let key = keys.get(record as usize);
                match self.by.get(key) {
                    Some(&by) => self.holds &= by == days,
                    None => {
                        self.by.insert(key.to_owned(), days);
                    }
                }
            }
        }
    }

    /// What a transformation makes of a chunk, once it was looked at.
    pub fn made(&mut self, transformation: &Transformation, chunk: Chunk) -> Chunk {
        match transformation.of(&chunk) {
            Cow::Borrowed(_) => chunk,
            Cow::Owned(made) => {
                self.add(&chunk, &made);
                made
            }
        }
    }

    /// Whether all that was looked at moved so.
    pub fn holds(&self) -> bool {
        self.holds
    }

    /// Refuses a table whose dates did not.
    ///
    /// # Errors
    /// A chunk's fault.
    pub fn check(&self) -> Result<(), TableError> {
        let what = "dates were not moved as the schema declares";
        let refused = || TableError::Chunk(what.into());
        self.holds.then_some(()).ok_or_else(refused)
    }
}

/// The dates of a column, and the records that have none.
fn dates_of(column: &ChunkColumn) -> Option<(&[i32], &[u32])> {
    match column {
        ChunkColumn::Date(days) => Some((days, &[])),
        ChunkColumn::WithMissing { known, missing } => {
            let (days, _) = dates_of(known)?;
            Some((days, missing))
        }
        _ => None,
    }
}

/// `transformed`, where the schema changes something.
pub(super) fn check(evidence: &Evidence) -> Option<Check> {
    let schema = evidence.table.schema();
    if !schema.is_transformed() {
        return None;
    }
    let mut failures = Failures::none();
    let columns = evidence.table.columns().iter();
    for (attribute, column) in schema.attributes().iter().zip(columns) {
        let TableColumn::Coded(column) = column else {
            continue;
        };
        if !is_within(attribute, column.domain.values()) {
            failures.add("a value lies beyond the top or the bottom that the schema declares");
        }
    }
    Some(Check::structure("transformed", &failures))
}

/// Whether values, which ascend, lie between the bottom and the top.
fn is_within(attribute: &Attribute, values: &Values) -> bool {
    let bounds = [&attribute.transform.bottom, &attribute.transform.top];
    match values {
        Values::Integer(values) => {
            let [bottom, top] = bounds.map(|bound| bound.as_ref().and_then(Number::as_i64));
            lies_between(values, bottom, top)
        }
        Values::Decimal(values) => {
            let [bottom, top] = bounds.map(|bound| bound.as_ref().and_then(Number::as_f64));
            lies_between(values, bottom, top)
        }
        Values::Date(_) | Values::Category(_) => true,
    }
}

fn lies_between<N: PartialOrd + Copy>(ascending: &[N], bottom: Option<N>, top: Option<N>) -> bool {
    let [Some(&first), Some(&last)] = [ascending.first(), ascending.last()] else {
        return true;
    };
    bottom.is_none_or(|bottom| bottom <= first) && top.is_none_or(|top| last <= top)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chunk(dates: ChunkColumn) -> Chunk {
        let keys = ["a", "a", "b", "c"].into_iter().collect();
        Chunk {
            records: 4,
            columns: vec![ChunkColumn::Text(keys), dates],
        }
    }

    #[test]
    fn dates_that_stayed_or_moved_otherwise_are_found() {
        let schema: Schema = serde_json::from_value(json!({"name": "x", "subject_key": "id",
            "multiplicity": "many", "missing": "category", "attributes": [
                {"name": "id", "role": "identifier"},
                {"name": "day", "role": "sensitive", "type": "date",
                 "transform": {"shift_days": 9}}]}))
        .unwrap();
        let stored = chunk(ChunkColumn::Date(vec![100, 200, 300, 0]));
        let holds = |days: [i32; 4]| {
            let mut moved = MovedDates::new(&schema);
            moved.add(&stored, &chunk(ChunkColumn::Date(days.to_vec())));
            moved.holds()
        };
        assert!(holds([109, 209, 291, 0]));
        for wrong in [
            [100, 200, 291, 0],
            [109, 208, 291, 0],
            [110, 210, 291, 0],
            [109, 209, 300, 0],
            [109, 209, 291, 5],
        ] {
            assert!(!holds(wrong), "{wrong:?}");
        }
        let with = |known: Vec<i32>, missing: Vec<u32>| {
            let known = Box::new(ChunkColumn::Date(known));
            chunk(ChunkColumn::WithMissing { known, missing })
        };
        let mut moved = MovedDates::new(&schema);
        moved.add(
            &with(vec![100, 300, 400], vec![1]),
            &with(vec![101, 305, 396], vec![1]),
        );
        assert!(moved.holds());
        // A subject's dates of another chunk move by the same days.
        moved.add(
            &with(vec![50], vec![1, 2, 3]),
            &with(vec![52], vec![1, 2, 3]),
        );
        assert!(!moved.holds());
    }
}
