//! What the classes of a portion are held against, counted of the whole release.

use crate::microdata::RecordIndex;
use crate::privacy::{Model, ProtectedIndex, RecordTerms};

use crate::verify::buckets::{Owner, totals};
use crate::verify::evidence::Evidence;
use crate::verify::meaning::MeaningColumn;
use crate::verify::shape::{BUCKETS, MICRODATA};
use crate::verify::whole::OfWhole;
use crate::verify::wishes::Wishes;

/// What is counted of a release; none where a column cannot be read.
pub(super) fn of_whole(evidence: &Evidence) -> Option<OfWhole> {
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
    Some(OfWhole {
        published,
        all,
        wishes,
    })
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

/// What the subject of a row of a regular release asks for.
fn terms_of_row<'a>(evidence: &Evidence<'a>, row: usize) -> Option<&'a RecordTerms> {
    let subject = evidence.lineage.of(MICRODATA)?.get(row)?;
    Some(evidence.requirements.of(RecordIndex(subject.0)))
}
