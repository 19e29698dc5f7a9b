//! Records as a job sees them: with numbers capped, dates moved and intervals
//! counted as the schema declares.
//!
//! A subject's dates all move by one number of days, drawn by the dataset's
//! secret: what lies between them stays as it is, in every release of the
//! dataset, and nobody without the secret knows by how much.

use std::borrow::Cow;
use std::sync::Arc;

use super::Seed;
use crate::microdata::value_text::date_days;
use crate::microdata::{Attribute, Chunk, ChunkColumn, Schema};

/// What is made of the records of a schema.
pub struct Transformation {
    schema: Arc<Schema>,
    key: usize,
    /// Changed columns, in the order of the schema.
    changes: Vec<(usize, Change)>,
    /// Days by which dates are moved at most, and what draws them.
    shift: Option<(u32, Seed)>,
}

/// What is made of one column.
struct Change {
    /// The dates that days are counted from: their column and their attribute.
    since: Option<(usize, Attribute)>,
    attribute: Attribute,
}

impl Transformation {
    /// What a schema declares, with dates moved as the dataset's secret says.
    pub fn new(schema: &Schema, secret: &Seed) -> Self {
        Self::with(schema, Some(secret))
    }

    /// The same without moving dates: for counts of who is alike, which have no
    /// secret.
    pub fn unmoved(schema: &Schema) -> Self {
        Self::with(schema, None)
    }

    fn with(schema: &Schema, secret: Option<&Seed>) -> Self {
        let attributes = schema.attributes().iter().enumerate();
        let changed = attributes.filter(|(_, attribute)| !attribute.transform.is_nothing());
        let mut shift_days = None;
        let changes = changed.map(|(at, attribute)| {
            let transform = &attribute.transform;
            shift_days = shift_days.or(transform.shift_days);
            let since = transform.days_since.as_ref();
            let change = Change {
                since: since
                    .and_then(|name| schema.find(name))
                    .map(|index| (index.at(), schema.attribute(index).clone())),
                attribute: attribute.clone(),
            };
            (at, change)
        });
        let changes = changes.collect();
        Self {
            schema: Arc::new(schema.transformed()),
            key: schema.subject_key().at(),
            changes,
            shift: shift_days.zip(secret.cloned()),
        }
    }

    /// The schema of what is made.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The same of a chunk that is given away.
    pub fn made(&self, chunk: Chunk) -> Chunk {
        match self.of(&chunk) {
            Cow::Owned(made) => made,
            Cow::Borrowed(_) => chunk,
        }
    }

    /// What is made of a chunk of the dataset's records. Columns that are not of
    /// their type stay as they are: who takes the chunk refuses them.
    pub fn of<'c>(&self, chunk: &'c Chunk) -> Cow<'c, Chunk> {
        if self.changes.is_empty() {
            return Cow::Borrowed(chunk);
        }
        let moved = self.days_moved(chunk);
        let columns = chunk.columns.iter().enumerate().map(|(at, column)| {
            let change = self.changes.binary_search_by_key(&at, |(at, _)| *at);
            match change {
                Ok(found) => self.changes[found].1.of(column, (chunk, &moved)),
                Err(_) => column.clone(),
            }
        });
        Cow::Owned(Chunk {
            records: chunk.records,
            columns: columns.collect(),
        })
    }

    /// Days by which the dates of each record move; nothing where none does.
    fn days_moved(&self, chunk: &Chunk) -> Vec<i32> {
        let (Some((most, secret)), Some(ChunkColumn::Text(keys))) =
            (&self.shift, chunk.columns.get(self.key))
        else {
            return Vec::new();
        };
        let mut last: Option<(&str, i32)> = None;
        let keys = keys.iter().map(|key| match last {
            // A subject's records mostly stand together.
            Some((before, days)) if before == key => days,
            _ => {
                let days = days_of(secret, *most, key);
                last = Some((key, days));
                days
            }
        });
        keys.collect()
    }
}

/// By how many days the dates of a subject move: from 1 to `most`, back or forth.
fn days_of(secret: &Seed, most: u32, subject: &str) -> i32 {
    let drawn = secret.number((Seed::SHIFT_DAYS, 0), subject) % (2 * u64::from(most));
    // At most 2 * 3653.
    let drawn = drawn as i32;
    let most = most as i32;
    if drawn < most {
        drawn - most
    } else {
        drawn - most + 1
    }
}

impl Change {
    fn is_moved(&self) -> bool {
        self.attribute.transform.shift_days.is_some()
    }

    fn of(&self, column: &ChunkColumn, (chunk, moved): (&Chunk, &[i32])) -> ChunkColumn {
        if let Some((since, index)) = &self.since {
            let from = chunk.columns.get(*since);
            let from = from.and_then(|dates| days_in(dates, index));
            return match (days_in(column, &self.attribute), from) {
                (Some(to), Some(from)) => self.days_between(&to, &from),
                _ => column.clone(),
            };
        }
        match column {
            ChunkColumn::WithMissing { known, missing } => {
                // Days by which dates move are those of the records that have one.
                let is_known = |record: u32| missing.binary_search(&record).is_err();
                let moved = (0..).zip(moved).filter(|(record, _)| is_known(*record));
                let moved: Vec<i32> = moved.map(|(_, &days)| days).collect();
                ChunkColumn::WithMissing {
                    known: Box::new(self.of(known, (chunk, &moved))),
                    missing: missing.clone(),
                }
            }
            ChunkColumn::Date(days) if moved.len() == days.len() && self.is_moved() => {
                let moved = days.iter().zip(moved).map(|(&day, &by)| {
                    // No plausible day leaves the calendar by ten years.
                    if self.attribute.stands_for_no_date(day) {
                        day
                    } else {
                        day + by
                    }
                });
                ChunkColumn::Date(moved.collect())
            }
            ChunkColumn::Integer(values) => {
                let values = values
                    .iter()
                    .map(|&value| self.attribute.transform.whole(value));
                ChunkColumn::Integer(values.collect())
            }
            ChunkColumn::Decimal(values) => {
                let values = values
                    .iter()
                    .map(|&value| self.attribute.transform.fraction(value));
                ChunkColumn::Decimal(values.collect())
            }
            other => other.clone(),
        }
    }

    /// Days from one date of each record to the other; missing where one is.
    fn days_between(&self, to: &[Option<i32>], from: &[Option<i32>]) -> ChunkColumn {
        let mut known = Vec::with_capacity(to.len());
        let mut missing = Vec::new();
        for (record, (to, from)) in (0..).zip(to.iter().zip(from)) {
            match to.zip(*from) {
                Some((to, from)) => {
                    known.push(
                        self.attribute
                            .transform
                            .whole(i64::from(to) - i64::from(from)),
                    );
                }
                None => missing.push(record),
            }
        }
        let known = ChunkColumn::Integer(known);
        if missing.is_empty() {
            known
        } else {
            ChunkColumn::WithMissing {
                known: Box::new(known),
                missing,
            }
        }
    }
}

/// The dates of a column of dates, or of an identifier that was read as dates;
/// `None` where a record has none. What stands for no date is none.
fn days_in(column: &ChunkColumn, attribute: &Attribute) -> Option<Vec<Option<i32>>> {
    let day = |day: i32| (!attribute.stands_for_no_date(day)).then_some(day);
    match column {
        ChunkColumn::Date(days) => Some(days.iter().map(|&one| day(one)).collect()),
        ChunkColumn::Text(texts) => {
            let days = texts.iter().map(|text| date_days(text).and_then(day));
            Some(days.collect())
        }
        ChunkColumn::WithMissing { known, missing } => {
            let mut known = days_in(known, attribute)?.into_iter();
            let records = known.len() + missing.len();
            let mut gaps = missing.iter().peekable();
            let days =
                (0..records as u32).map(|record| match gaps.next_if(|gap| **gap == record) {
                    Some(_) => None,
                    None => known.next().flatten(),
                });
            Some(days.collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
