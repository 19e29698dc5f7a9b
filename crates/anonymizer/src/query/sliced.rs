//! Counting in a sliced release: columns are independent inside a bucket.
//!
//! Of a bucket's rows exactly m_c satisfy the conditions on the attributes of
//! column c, whichever records they belong to. The expected number of records
//! that satisfy all of them is size · Π_c m_c / size; certainly no more than
//! the least m_c do, and no fewer than Σ_c m_c − (columns − 1) · size. A
//! generalized cell satisfies with its share, and bounds as elsewhere. An
//! attribute that two columns show is read in the first. Sums and averages take
//! the values of a bucket as those of a pool.

use crate::microdata::Codes;
use crate::release::layout::{SLICED, SlicedLayout};
use crate::release::{JoinError, PublishedTable};

use super::attribute::IndexedAttribute;
use super::condition::Condition;
use super::count::Count;
use super::index::{Conditions, QueryIndex};
use super::knowledge::PublicDomain;
use super::sum::{PoolValue, Total, ascending};

/// Rows of a sliced table by bucket, attributes by column.
#[derive(Debug)]
pub(super) struct SlicedRows {
    /// Column of each attribute of the index, from 1; 0 where generalized.
    column_of: Vec<u64>,
    /// Rows of each bucket.
    buckets: Vec<Vec<u32>>,
}

impl SlicedRows {
    /// Reads which column each of these attributes is in, and which rows each
    /// bucket has.
    pub fn new(tables: &[PublishedTable], attributes: &[&str]) -> Result<Self, JoinError> {
        let layout = SlicedLayout::read(tables)?;
        let column_of = attributes.iter().map(|attribute| {
            let mut entries = layout.entries.iter();
            let found = entries.find(|(_, header)| header == attribute);
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
    pub fn count(&self, index: &QueryIndex<'_>, conditions: &Conditions) -> Count {
        let judged = self.judged(index, conditions);
        let columns = columns_of(&judged);
        let mut sum = Count::default();
        for rows in &self.buckets {
            let count = count_in(rows, &judged, &columns);
            sum.estimate += count.estimate;
            sum.lower += count.lower;
            sum.upper += count.upper;
            if count.upper > 0 {
                sum.rows += rows.len() as u64;
                sum.groups_touched += 1;
            }
        }
        sum
    }

    /// Sums attribute number `measure`, where it satisfies `own`, over records
    /// that satisfy all other conditions.
    ///
    /// Of a bucket's values of the measure those on rows that satisfy the
    /// conditions in its own column count, each in the share that the other
    /// columns satisfy.
    pub fn total(
        &self,
        index: &QueryIndex<'_>,
        (measure, own): (usize, &Condition),
        others: &Conditions,
    ) -> Total {
        let (attribute, domain) = (&index.attributes[measure], &index.domains[measure]);
        let parts: Vec<_> = (attribute.cells.iter())
            .map(|cell| own.part(cell, domain))
            .collect();
        let shares = shares_of(own, attribute, domain);
        let home = self.column_of[measure];
        let (beside, elsewhere): (Vec<_>, Vec<_>) = self
            .judged(index, others)
            .into_iter()
            .partition(|judged| judged.0 == home && home > 0);
        let columns = columns_of(&elsewhere);
        let mut total = Total::default();
        let mut values = Vec::new();
        for rows in self.buckets.iter().filter(|rows| !rows.is_empty()) {
            let expected = count_in(rows, &elsewhere, &columns).estimate;
            let code = |row: u32| attribute.codes.at(row as usize) as usize;
            if home == 0 {
                let records = expected * shares[code(rows[0])].0;
                if let (true, Some(part)) = (records > 0.0, parts[code(rows[0])]) {
                    total.add_cell(records, part);
                }
                continue;
            }
            let satisfies = |row: &&u32| {
                let mut beside = beside.iter();
                beside.all(|(_, codes, judged)| judged[codes.at(**row as usize) as usize].1)
            };
            let satisfying = rows.iter().filter(satisfies);
            let found = satisfying.filter_map(|&row| parts[code(row)].map(|part| part.min));
            values.clear();
            values.extend(found.map(|value| PoolValue { value, copies: 1.0 }));
            let share = expected / rows.len() as f64;
            let sum: f64 = values.iter().map(|one| one.value).sum();
            let records = share * values.len() as f64;
            if records > 0.0 {
                ascending(&mut values);
                total.add_pool(records, share * sum, &values);
            }
        }
        total
    }

    fn judged<'i>(&self, index: &'i QueryIndex<'_>, conditions: &Conditions) -> Vec<Judged<'i>> {
        let judged = conditions.iter().map(|(at, condition)| {
            let attribute = &index.attributes[*at];
            let shares = shares_of(condition, attribute, &index.domains[*at]);
            (self.column_of[*at], &*attribute.codes, shares)
        });
        judged.collect()
    }
}

/// Share, certain and possible of each cell.
fn shares_of(
    condition: &Condition,
    attribute: &IndexedAttribute<'_>,
    domain: &PublicDomain,
) -> Vec<(f64, bool, bool)> {
    let mut judgements = Vec::with_capacity(attribute.cells.len());
    condition.judge_all(&attribute.cells, &domain.cells, domain, &mut judgements);
    let judgements = judgements.iter();
    judgements
        .map(|found| (found.share, found.certain, found.possible))
        .collect()
}

/// The columns that conditions are about, each once.
fn columns_of(judged: &[Judged<'_>]) -> Vec<u64> {
    let mut columns: Vec<u64> = judged.iter().map(|judged| judged.0).collect();
    columns.sort_unstable();
    columns.dedup();
    columns.retain(|&column| column > 0);
    columns
}

/// Column of an attribute, cell of each row, and share, certain and possible
/// of each cell.
type Judged<'a> = (u64, &'a Codes, Vec<(f64, bool, bool)>);

fn count_in(rows: &[u32], judged: &[Judged<'_>], columns: &[u64]) -> Count {
    let size = rows.len() as u64;
    let mut count = Count {
        estimate: size as f64,
        lower: size,
        upper: size,
        ..Count::default()
    };
    // Cells of generalized attributes are the same on all rows of a bucket.
    for (_, codes, judgements) in judged.iter().filter(|judged| judged.0 == 0) {
        let Some(&first) = rows.first() else {
            return Count::default();
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
