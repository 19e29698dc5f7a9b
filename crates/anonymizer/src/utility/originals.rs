//! What must be known of the whole table before a portion of its release is
//! measured: how often each code occurs.
//!
//! Intervals of an attribute are cut by the codes of all records that are
//! published, and what is known of sensitive values is held against the records
//! that are not published as well. Both are counts that add up: of the table at
//! once, or of parts of it.

use rayon::prelude::*;

use crate::microdata::{AttributeIndex, Role, SubjectIndex, Table};

/// How often codes occur in a dataset version and among what is published of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Originals {
    /// For each attribute of the schema the records with each code that are
    /// published; none of identifiers.
    published: Vec<Vec<u64>>,
    /// The same of all records; none of attributes that are not sensitive.
    all: Vec<Vec<u64>>,
}

impl Originals {
    /// Counts a table with one record a subject of which these subjects are
    /// published; others that are not there are not counted.
    pub fn of(table: &Table, published: &[SubjectIndex]) -> Self {
        let mut originals = Self::default();
        originals.add(table, published);
        originals
    }

    /// Adds a part of the table. Parts have the schema and the domains of the
    /// whole, no record twice, and together all of them: of records that are not
    /// published there is a part too.
    pub fn add(&mut self, table: &Table, published: &[SubjectIndex]) {
        let attributes = table.schema().attributes().len();
        self.published.resize(attributes, Vec::new());
        self.all.resize(attributes, Vec::new());
        let counts = self.published.par_iter_mut().zip(&mut self.all).enumerate();
        counts.for_each(|(at, (counts, all))| {
            let index = AttributeIndex::from_usize(at);
            let Some(column) = table.coded(index) else {
                return;
            };
            counts.resize(column.domain.len(), 0);
            let subjects = published.iter().map(|subject| subject.at());
            for record in subjects.filter(|&record| record < table.records()) {
                counts[column.codes.at(record) as usize] += 1;
            }
            if table.schema().attribute(index).role == Role::Sensitive {
                all.resize(column.domain.len(), 0);
                let histogram = column.histogram();
                let pairs = all.iter_mut().zip(histogram);
                pairs.for_each(|(all, count)| *all += u64::from(count));
            }
        });
    }

    /// How many published records have each code of an attribute.
    pub(super) fn published(&self, index: AttributeIndex) -> &[u64] {
        self.published.get(index.at()).map_or(&[], Vec::as_slice)
    }

    /// How many records have each code of a sensitive attribute.
    pub(super) fn all(&self, index: AttributeIndex) -> &[u64] {
        self.all.get(index.at()).map_or(&[], Vec::as_slice)
    }
}
