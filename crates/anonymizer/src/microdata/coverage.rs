//! What records have of a hierarchy, and what they have that it lacks. *Ours.*
//!
//! An upload refuses values that a hierarchy lacks, and a change of the schema
//! does: this says before which they are. A value that few people share may name
//! them, so only those are told that at least five share.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::attribute::{AttributeType, Role};
use super::chunk::{Chunk, ChunkColumn};
use super::hierarchy::{Hierarchy, HierarchySource};
use super::index::AttributeIndex;
use super::number::{Number, leaf_keys};
use super::schema::{Multiplicity, Schema};
use super::value_text::MISSING_LABEL;

/// Subjects who must share a value that is told.
pub const SUBJECTS_MIN: usize = 5;
/// Values that are told.
pub const TOLD_MAX: usize = 20;
/// Distinct values without a leaf that are held apart.
const HELD_MAX: usize = 100_000;

/// What an attribute of records has of a hierarchy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttributeCoverage {
    /// Its name.
    pub attribute: String,
    /// Records looked at.
    pub records: u64,
    /// Those of them without a value.
    pub missing: u64,
    /// Why the hierarchy does not fit an attribute of this type, whatever its
    /// values are.
    pub obstacle: Option<&'static str>,
    /// Leaves that no record has.
    pub unused_leaves: u64,
    /// What records have that is no leaf.
    pub lacking: Lacking,
}

/// Values that are no leaves of a hierarchy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lacking {
    /// Distinct values.
    pub distinct: u64,
    /// Whether there are more of them than were told apart.
    pub is_least: bool,
    /// Records that have them.
    pub records: u64,
    /// The most frequent of those that at least [`SUBJECTS_MIN`] subjects share,
    /// at most [`TOLD_MAX`].
    pub values: Vec<LackingValue>,
}

/// A value that is no leaf.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LackingValue {
    /// As it is published.
    pub value: String,
    /// Records that have it.
    pub records: u64,
}

/// Looks at the values of an attribute, chunk by chunk.
pub struct Coverage {
    schema: Arc<Schema>,
    attribute: AttributeIndex,
    leaves: Leaves,
    obstacle: Option<&'static str>,
    used: Vec<bool>,
    records: u64,
    missing: u64,
    lacking: Values,
}

/// What values are held against.
enum Leaves {
    /// Intervals have room for every number.
    All,
    /// By label.
    Labels(Arc<Hierarchy>),
    /// By key of a number; and the place of a missing one, if it is a leaf.
    Keys(FxHashMap<u64, u32>, Arc<Hierarchy>),
}

/// Distinct values without a leaf, each at a place.
#[derive(Default)]
struct Values {
    by_text: FxHashMap<Box<str>, u32>,
    by_key: FxHashMap<u64, u32>,
    held: Vec<Held>,
    is_least: bool,
    records: u64,
}

/// A value, its records, and the first of its subjects.
struct Held {
    text: Box<str>,
    records: u64,
    subjects: Vec<Box<str>>,
}

/// The subject of a record where subjects have many; none where each record is
/// one of its own.
type SubjectOf<'a> = dyn Fn(usize) -> Option<&'a str> + 'a;

impl Held {
    fn take(&mut self, subject: Option<&str>) {
        self.records += 1;
        let Some(subject) = subject.filter(|_| self.subjects.len() < SUBJECTS_MIN) else {
            return;
        };
        if !self.subjects.iter().any(|known| **known == *subject) {
            self.subjects.push(subject.into());
        }
    }
}

impl Values {
    /// The place of a value; none where too many are held.
    fn place(&mut self, found: Option<u32>, text: impl FnOnce() -> Box<str>) -> Option<u32> {
        if found.is_some() {
            return found;
        }
        if self.held.len() == HELD_MAX {
            self.is_least = true;
            return None;
        }
        self.held.push(Held {
            text: text(),
            records: 0,
            subjects: Vec::new(),
        });
        Some(self.held.len() as u32 - 1)
    }

    fn place_of_text(&mut self, text: &str) -> Option<u32> {
        let known = self.by_text.get(text).copied();
        let place = self.place(known, || text.into());
        if let (None, Some(new)) = (known, place) {
            self.by_text.insert(text.into(), new);
        }
        place
    }

    fn place_of_number<N: Number>(&mut self, value: N) -> Option<u32> {
        let known = self.by_key.get(&value.key()).copied();
        let place = self.place(known, || value.text().into());
        if let (None, Some(new)) = (known, place) {
            self.by_key.insert(value.key(), new);
        }
        place
    }

    fn take(&mut self, place: Option<u32>, subject: Option<&str>) {
        self.records += 1;
        if let Some(place) = place {
            self.held[place as usize].take(subject);
        }
    }

    fn told(self, is_many: bool) -> Lacking {
        let is_shared = |held: &Held| {
            if is_many {
                held.subjects.len() >= SUBJECTS_MIN
            } else {
                held.records >= SUBJECTS_MIN as u64
            }
        };
        let mut shared: Vec<LackingValue> = self
            .held
            .iter()
            .filter(|held| is_shared(held))
            .map(|held| LackingValue {
                value: held.text.to_string(),
                records: held.records,
            })
            .collect();
        let order = |one: &LackingValue| (std::cmp::Reverse(one.records), one.value.clone());
        shared.sort_by_cached_key(order);
        shared.truncate(TOLD_MAX);
        Lacking {
            distinct: self.held.len() as u64,
            is_least: self.is_least,
            records: self.records,
            values: shared,
        }
    }
}

impl Coverage {
    /// Nothing looked at yet; `None` for an identifier, which has no hierarchy.
    pub fn new(
        schema: Arc<Schema>,
        attribute: AttributeIndex,
        source: &HierarchySource,
    ) -> Option<Self> {
        let own = schema.attribute(attribute);
        let kind = own.kind.filter(|_| own.role != Role::Identifier)?;
        let (leaves, obstacle) = match (source, kind) {
            (HierarchySource::Intervals(_), AttributeType::Categorical | AttributeType::Date) => (
                Leaves::All,
                Some("intervals are laid over integers and decimals only"),
            ),
            (HierarchySource::Intervals(_), _) => (Leaves::All, None),
            (HierarchySource::Tree(tree), AttributeType::Categorical) => {
                (Leaves::Labels(Arc::clone(tree)), None)
            }
            (HierarchySource::Tree(tree), AttributeType::Integer) => keys::<i64>(tree),
            (HierarchySource::Tree(tree), AttributeType::Decimal) => keys::<f64>(tree),
            (HierarchySource::Tree(tree), AttributeType::Date) => keys::<i32>(tree),
        };
        Some(Self {
            used: vec![false; source.leaf_count()],
            leaves,
            obstacle,
            schema,
            attribute,
            records: 0,
            missing: 0,
            lacking: Values::default(),
        })
    }

    /// Looks at the records of a chunk.
    pub fn add(&mut self, chunk: &Chunk) {
        self.records += chunk.records as u64;
        let is_many = self.schema.multiplicity() == Multiplicity::Many;
        let keys = match &chunk.columns[self.schema.subject_key().at()] {
            ChunkColumn::Text(keys) if is_many => Some(keys),
            _ => None,
        };
        let subject = |record: usize| keys.map(|keys| keys.get(record));
        self.take(&chunk.columns[self.attribute.at()], &subject);
    }

    fn take(&mut self, column: &ChunkColumn, subject: &SubjectOf<'_>) {
        match column {
            // Identifiers were refused.
            ChunkColumn::Text(_) => {}
            ChunkColumn::Integer(values) => self.take_numbers(values, subject),
            ChunkColumn::Decimal(values) => self.take_numbers(values, subject),
            ChunkColumn::Date(values) => self.take_numbers(values, subject),
            ChunkColumn::Category { labels, codes } => {
                let labels = labels.iter();
                let places: Vec<_> = labels.map(|label| self.place_of_label(label)).collect();
                for (record, &code) in codes.iter().enumerate() {
                    match places[code as usize] {
                        Place::Leaf => {}
                        Place::Missing => self.missing += 1,
                        Place::Lacking(place) => self.lacking.take(place, subject(record)),
                    }
                }
            }
            ChunkColumn::WithMissing { known, missing } => {
                self.missing += missing.len() as u64;
                if self.place_of_label(MISSING_LABEL) != Place::Missing {
                    let place = self.lacking.place_of_text(MISSING_LABEL);
                    for &record in missing {
                        self.lacking.take(place, subject(record as usize));
                    }
                }
                // Where each known value stands among all records.
                let mut gaps = missing.iter().peekable();
                let all = 0..known.len() + missing.len();
                let records: Vec<usize> = all
                    .filter(|&record| gaps.next_if(|next| **next as usize == record).is_none())
                    .collect();
                self.take(known, &|at| subject(records[at]));
            }
        }
    }

    fn take_numbers<N: Number>(&mut self, values: &[N], subject: &SubjectOf<'_>) {
        let Leaves::Keys(keys, _) = &self.leaves else {
            return;
        };
        for (record, value) in values.iter().enumerate() {
            match keys.get(&value.key()) {
                Some(&leaf) => self.used[leaf as usize] = true,
                None => {
                    let place = self.lacking.place_of_number(*value);
                    self.lacking.take(place, subject(record));
                }
            }
        }
    }

    /// Where a label of a chunk stands. A missing value needs no leaf, but none
    /// stands above leaves.
    fn place_of_label(&mut self, label: &str) -> Place {
        let is_missing = label == MISSING_LABEL;
        let tree = match &self.leaves {
            Leaves::All => None,
            Leaves::Labels(tree) | Leaves::Keys(_, tree) => Some(tree),
        };
        let leaf = tree.and_then(|tree| tree.leaf(label));
        if let Some(leaf) = leaf {
            self.used[leaf.at()] = true;
        }
        match (leaf, tree) {
            (None, Some(tree)) if !is_missing || tree.find(label).is_some() => {
                Place::Lacking(self.lacking.place_of_text(label))
            }
            _ if is_missing => Place::Missing,
            _ => Place::Leaf,
        }
    }

    /// What was found.
    pub fn finish(self) -> AttributeCoverage {
        let is_many = self.schema.multiplicity() == Multiplicity::Many;
        AttributeCoverage {
            attribute: self.schema.attribute(self.attribute).name.clone(),
            records: self.records,
            missing: self.missing,
            obstacle: self.obstacle,
            unused_leaves: self.used.iter().filter(|&&used| !used).count() as u64,
            lacking: self.lacking.told(is_many),
        }
    }
}

/// Where a label stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Leaf,
    Missing,
    /// Among the values that are held, unless there are too many.
    Lacking(Option<u32>),
}

/// The leaves that are numbers, and what is in the way of using them.
fn keys<N: Number>(tree: &Arc<Hierarchy>) -> (Leaves, Option<&'static str>) {
    let leaves = (0_u32..).zip(tree.leaf_labels());
    let keys = leaves.filter_map(|(leaf, label)| {
        let value = N::read(label.as_bytes()).filter(|value| value.text() == label)?;
        Some((value.key(), leaf))
    });
    let keys = keys.collect();
    let obstacle = leaf_keys::<N>(tree)
        .err()
        .map(|_| "the leaves of a numeric attribute must ascend");
    (Leaves::Keys(keys, Arc::clone(tree)), obstacle)
}

#[cfg(test)]
mod tests;
