//! Counting in a sliced release: columns are independent inside a bucket.
//!
//! Of a bucket's rows exactly m_c satisfy the conditions on the attributes of
//! column c, whichever records they belong to. The expected number of records
//! that satisfy all of them is size · Π_c m_c / size; certainly no more than
//! the least m_c do, and no fewer than Σ_c m_c − (columns − 1) · size. A
//! generalized cell satisfies with its share, and bounds as elsewhere. An
//! attribute that two columns show is read in the first.

use crate::microdata::Codes;
use crate::release::layout::{SLICED, SlicedLayout};
use crate::release::{JoinError, PublishedTable};

use super::index::{Conditions, QueryIndex};

/// Rows of a sliced table by bucket, attributes by column.
#[derive(Debug)]
pub(super) struct SlicedRows {
    /// Column of each attribute of the index, from 1; 0 where generalized.
    column_of: Vec<u64>,
    /// Rows of each bucket.
    buckets: Vec<Vec<u32>>,
}

/// A count with its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SlicedCount {
    pub estimate: f64,
    pub lower: u64,
    pub upper: u64,
}

impl SlicedRows {
    pub fn new(tables: &[PublishedTable], index: &QueryIndex<'_>) -> Result<Self, JoinError> {
        let layout = SlicedLayout::read(tables)?;
        let attributes = index.joined.attributes().iter();
        let column_of = attributes.map(|attribute| {
            let mut entries = layout.entries.iter();
            let found = entries.find(|(_, header)| *header == attribute.name);
            let unfit = || JoinError {
                table: SLICED.into(),
                reason: "an attribute is in no column",
            };
            found.map(|&(number, _)| number).ok_or_else(unfit)
        });
        Ok(Self {
            column_of: column_of.collect::<Result<_, _>>()?,
            buckets: layout.rows_by_bucket(),
        })
    }

    /// Records that satisfy all conditions.
    pub fn count(&self, index: &QueryIndex<'_>, conditions: &Conditions) -> SlicedCount {
        let judged: Vec<Judged<'_>> = conditions
            .iter()
            .map(|(at, condition)| {
                let attribute = &index.joined.attributes()[*at];
                let domain = &index.domains[*at];
                let mut judgements = Vec::with_capacity(attribute.cells.len());
                condition.judge_all(attribute.cells, &domain.cells, domain, &mut judgements);
                let judgements = judgements.iter();
                let judgements =
                    judgements.map(|found| (found.share, found.certain, found.possible));
                (self.column_of[*at], &*attribute.codes, judgements.collect())
            })
            .collect();
        let mut columns: Vec<u64> = judged.iter().map(|judged| judged.0).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.retain(|&column| column > 0);
        let mut sum = SlicedCount::default();
        for rows in &self.buckets {
            let count = count_in(rows, &judged, &columns);
            sum.estimate += count.estimate;
            sum.lower += count.lower;
            sum.upper += count.upper;
        }
        sum
    }
}

/// Column of an attribute, cell of each row, and share, certain and possible
/// of each cell.
type Judged<'a> = (u64, &'a Codes, Vec<(f64, bool, bool)>);

fn count_in(rows: &[u32], judged: &[Judged<'_>], columns: &[u64]) -> SlicedCount {
    let size = rows.len() as u64;
    let mut count = SlicedCount {
        estimate: size as f64,
        lower: size,
        upper: size,
    };
    // Cells of generalized attributes are the same on all rows of a bucket.
    for (_, codes, judgements) in judged.iter().filter(|judged| judged.0 == 0) {
        let Some(&first) = rows.first() else {
            return SlicedCount::default();
        };
        let (share, certain, possible) = judgements[codes.at(first as usize) as usize];
        count.estimate *= share;
        count.lower *= u64::from(certain);
        count.upper *= u64::from(possible);
    }
    let (mut missing, mut least) = (0, size);
    for &column in columns {
        let of_column = || judged.iter().filter(|judged| judged.0 == column);
        let satisfies = |row: &&u32| {
            of_column()
                .all(|(_, codes, judgements)| judgements[codes.at(**row as usize) as usize].1)
        };
        let satisfying = rows.iter().filter(satisfies).count() as u64;
        count.estimate *= satisfying as f64 / size.max(1) as f64;
        missing += size - satisfying;
        least = least.min(satisfying);
    }
    count.lower = count.lower.saturating_sub(missing);
    count.upper = count.upper.min(least);
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const YES: (f64, bool, bool) = (1.0, true, true);
    const NO: (f64, bool, bool) = (0.0, false, false);

    fn codes<const N: usize>(codes: [u32; N]) -> Codes {
        codes.into_iter().collect()
    }

    #[test]
    fn columns_are_independent_inside_a_bucket() {
        let (one, other) = (codes([0, 0, 0, 1]), codes([0, 0, 1, 1]));
        let judged = [(1, &one, vec![YES, NO]), (2, &other, vec![YES, NO])];
        let count = count_in(&[0, 1, 2, 3], &judged, &[1, 2]);
        assert_eq!((count.lower, count.upper), (1, 2));
        assert!((count.estimate - 1.5).abs() < 1e-12);
    }

    #[test]
    fn attributes_of_one_column_are_counted_row_by_row() {
        let (one, other) = (codes([0, 0, 1, 1]), codes([0, 1, 0, 1]));
        let judged = [(1, &one, vec![YES, NO]), (1, &other, vec![YES, NO])];
        let count = count_in(&[0, 1, 2, 3], &judged, &[1]);
        assert_eq!((count.lower, count.upper, count.estimate), (1, 1, 1.0));
    }

    #[test]
    fn a_generalized_cell_satisfies_by_its_share() {
        let (wide, exact) = (codes([0, 0]), codes([0, 1]));
        let half = (0.5, false, true);
        let judged = [(0, &wide, vec![half]), (1, &exact, vec![YES, NO])];
        let count = count_in(&[0, 1], &judged, &[1]);
        assert_eq!((count.lower, count.upper, count.estimate), (0, 1, 0.5));
    }
}
