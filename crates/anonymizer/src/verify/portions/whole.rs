//! What the classes of a portion are held against, counted of the whole release.

use crate::privacy::{Model, ProtectedIndex};

use super::terms_of_row;
use crate::verify::bucketized::Wishes;
use crate::verify::buckets::{Owner, totals};
use crate::verify::evidence::Evidence;
use crate::verify::meaning::MeaningColumn;
use crate::verify::shape::{BUCKETS, MICRODATA};

/// What is counted of the whole release, by protectable attribute.
#[derive(Debug)]
pub(in crate::verify) struct OfWhole {
    published: Vec<Vec<u64>>,
    all: Vec<Vec<u64>>,
    wishes: Wishes,
}

impl OfWhole {
    /// How often each code occurs in all classes that are published.
    pub(in crate::verify) fn published(&self, index: ProtectedIndex) -> &[u64] {
        &self.published[index.at()]
    }

    /// How often each code occurs among all records.
    pub(in crate::verify) fn all(&self, index: ProtectedIndex) -> &[u64] {
        &self.all[index.at()]
    }

    /// What those flagged whose rows show the same.
    pub(in crate::verify) fn wishes(&self) -> &Wishes {
        &self.wishes
    }

    /// None where a column cannot be read.
    pub(super) fn of(evidence: &Evidence) -> Option<Self> {
        let (table, requirements) = (evidence.table, evidence.requirements);
        let published = evidence.published(MICRODATA)?;
        let mut owners = Vec::new();
        let mut cells = Vec::new();
        let mut all = Vec::new();
        for index in requirements.protected() {
            let attribute = requirements.attribute(index);
            let source = table.coded(attribute)?;
            let name = table.schema().attribute(attribute).name.as_str();
            owners.push(Owner {
                index,
                name,
                domain: &source.domain,
            });
            cells.push(MeaningColumn::of(published.column(name)?, &source.domain)?);
            let counts = source.histogram().into_iter();
            all.push(counts.map(u64::from).collect());
        }
        let is_bucketized = matches!(requirements.policy().model, Model::Bucketized { .. });
        let columns = requirements.protected().zip(&cells);
        let columns: Vec<(ProtectedIndex, &MeaningColumn)> = columns.collect();
        let wishes = if is_bucketized {
            let terms = |row| terms_of_row(evidence, row);
            Wishes::of(&columns, published.rows(), terms)
        } else {
            Wishes::default()
        };
        let published = if is_bucketized {
            totals(evidence.published(BUCKETS)?, &owners)?
        } else {
            let columns = columns.iter().zip(&owners);
            columns
                .map(|((_, cells), owner)| shown(cells, owner.domain.len()))
                .collect()
        };
        Some(Self {
            published,
            all,
            wishes,
        })
    }
}

/// How often each code is shown by itself.
fn shown(cells: &MeaningColumn, codes: usize) -> Vec<u64> {
    let mut of_cell = vec![0_u64; cells.meanings.len()];
    for cell in cells.codes {
        of_cell[cell as usize] += 1;
    }
    let mut counts = vec![0_u64; codes];
    for (meaning, count) in cells.meanings.iter().zip(of_cell) {
        if let Some(code) = meaning.single() {
            counts[code as usize] += count;
        }
    }
    counts
}
