//! Counting in the original table, to hold estimates against.
//!
//! Records are those that were published: excluded ones are in no answer.
//! They are put in order of the attributes with the fewest values, as many as
//! leave long runs of records that are alike in them: a condition on one of
//! those is asked once a run. The records of the runs that are left are looked
//! at in blocks.

use std::ops::Range;

use rayon::prelude::*;

use crate::microdata::{Codes, Domain, SubjectIndex, Table};

use super::filter::{Admitted, BLOCK_ROWS, keep};
use super::index::QueryIndex;

/// The original values of the published records.
#[derive(Debug)]
pub struct ExactIndex<'a> {
    columns: Vec<ExactColumn<'a>>,
    /// Where each run of records begins, and the last one ends.
    starts: Vec<u32>,
}

#[derive(Debug)]
struct ExactColumn<'a> {
    domain: &'a Domain,
    codes: RecordCodes,
}

/// The codes of one attribute.
#[derive(Debug)]
enum RecordCodes {
    /// One for each run, whose records are alike in it.
    OfRun(Codes),
    /// One for each record, in order of runs.
    OfRecord(Codes),
}

/// A condition while it is counted.
struct Sought<'s> {
    codes: &'s Codes,
    admitted: Admitted,
}

/// Records that a run has at least, on average.
const RECORDS_PER_RUN: usize = 16;

impl<'a> ExactIndex<'a> {
    /// Indexes the originals of a release's rows; `subjects` is its lineage.
    /// `None` where an attribute of the release is not in the table, or the
    /// lineage does not fit.
    pub fn new(
        index: &QueryIndex<'_>,
        table: &'a Table,
        subjects: &[SubjectIndex],
    ) -> Option<Self> {
        let fits = subjects.len() == index.rows()
            && table.records() == table.subjects()
            && subjects
                .iter()
                .all(|subject| subject.at() < table.records());
        if !fits {
            return None;
        }
        let attributes = index.attributes.iter();
        let columns = attributes.map(|attribute| {
            let column = table.coded(table.schema().find(&attribute.name)?)?;
            Some((&*column.domain, &column.codes))
        });
        Some(Self::of(&columns.collect::<Option<Vec<_>>>()?, subjects))
    }

    /// Indexes these columns' codes of some records.
    fn of(columns: &[(&'a Domain, &'a Codes)], records: &[SubjectIndex]) -> Self {
        let (alike, (starts, records)) = runs(columns, records);
        let columns = columns
            .par_iter()
            .zip(alike)
            .map(|(&(domain, codes), alike)| {
                let limit = domain.len();
                let codes = if alike {
                    let firsts = starts[..starts.len() - 1].iter();
                    let codes = firsts.map(|&first| codes.at(records[first as usize] as usize));
                    RecordCodes::OfRun(Codes::below(limit, codes))
                } else {
                    let codes = records.iter().map(|&record| codes.at(record as usize));
                    RecordCodes::OfRecord(Codes::below(limit, codes))
                };
                ExactColumn { domain, codes }
            });
        Self {
            columns: columns.collect(),
            starts,
        }
    }

    /// Number of records whose code of each named column is marked.
    pub(super) fn count_marked(&self, marks: impl Iterator<Item = (usize, Vec<bool>)>) -> u64 {
        let (mut of_runs, mut of_records) = (Vec::new(), Vec::new());
        for (at, marks) in marks {
            let admitted = Admitted::of(marks);
            match &self.columns[at].codes {
                RecordCodes::OfRun(codes) => of_runs.push(Sought { codes, admitted }),
                RecordCodes::OfRecord(codes) => of_records.push(Sought { codes, admitted }),
            }
        }
        let holds = |run: usize| {
            let mut sought = of_runs.iter();
            sought.all(|sought| sought.admitted.marks[sought.codes.at(run) as usize])
        };
        // Runs that hold and are neighbours are looked at as one.
        let (mut count, mut open) = (0, 0..0);
        for (run, ends) in self.starts.windows(2).enumerate() {
            if holds(run) {
                let records = ends[0] as usize..ends[1] as usize;
                if open.end < records.start {
                    count += count_records(&of_records, open);
                    open = records.start..records.start;
                }
                open.end = records.end;
            }
        }
        count + count_records(&of_records, open)
    }

    /// The domain of an attribute, by position.
    pub(super) fn domain(&self, at: usize) -> &'a Domain {
        self.columns[at].domain
    }
}

/// Puts records in order of the columns with the fewest values. Returns for
/// each column whether runs are alike in it, where runs begin and the last one
/// ends, and the records in order.
fn runs(
    columns: &[(&Domain, &Codes)],
    records: &[SubjectIndex],
) -> (Vec<bool>, (Vec<u32>, Vec<u32>)) {
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|&at| columns[at].0.len());
    let mut alike = vec![false; columns.len()];
    let mut keys = vec![0_u32; records.len()];
    let mut space = 1;
    for at in order {
        let (domain, codes) = columns[at];
        if space * domain.len() > records.len() / RECORDS_PER_RUN {
            break;
        }
        space *= domain.len();
        alike[at] = true;
        let rows = keys.par_iter_mut().zip(records);
        rows.for_each(|(key, record)| *key = *key * domain.len() as u32 + codes.at(record.at()));
    }
    (alike, in_order(&keys, space, records))
}

/// Sorts records by keys below `space`: where each key that occurs begins and
/// the last one ends, and the records.
fn in_order(keys: &[u32], space: usize, records: &[SubjectIndex]) -> (Vec<u32>, Vec<u32>) {
    let mut next = vec![0_u32; space];
    keys.iter().for_each(|&key| next[key as usize] += 1);
    let (mut starts, mut before) = (Vec::new(), 0);
    for next in &mut next {
        let size = std::mem::replace(next, before);
        if size > 0 {
            starts.push(before);
        }
        before += size;
    }
    starts.push(before);
    let mut sorted = vec![0; records.len()];
    for (&key, record) in keys.iter().zip(records) {
        let place = &mut next[key as usize];
        sorted[*place as usize] = record.0;
        *place += 1;
    }
    (starts, sorted)
}

/// Records among these that satisfy all of `sought`.
fn count_records(sought: &[Sought<'_>], records: Range<usize>) -> u64 {
    if sought.is_empty() {
        return records.len() as u64;
    }
    let mut alive = [0_u8; BLOCK_ROWS];
    let mut count = 0;
    for first in records.clone().step_by(BLOCK_ROWS) {
        let block = first..records.end.min(first + BLOCK_ROWS);
        let alive = &mut alive[..block.len()];
        alive.fill(1);
        for Sought { codes, admitted } in sought {
            keep(codes, block.clone(), admitted, alive);
        }
        // Sums of one byte each would overflow; those of 128 records do not.
        let sums = alive.chunks(128).map(|run| run.iter().sum::<u8>());
        count += sums.map(u64::from).sum::<u64>();
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::microdata::Values;

    use super::*;

    /// Values of four columns; the last has too many for runs.
    const SIZES: [u32; 4] = [2, 3, 1, 200];

    fn domain(size: u32) -> Domain {
        Domain::new(Values::Integer((0..i64::from(size)).collect()), None)
    }

    proptest! {
        #[test]
        fn counts_are_those_of_looking_at_each_record(
            records in prop::collection::vec((0..2_u32, 0..3_u32, 0..200_u32), 0..300),
            chosen in prop::collection::vec(any::<prop::sample::Index>(), 0..300),
            times in 1..60_usize,
            admitted in prop::collection::vec((0..4_usize, any::<u64>()), 0..4),
        ) {
            let domains = SIZES.map(domain);
            let codes = [
                records.iter().map(|record| record.0).collect::<Codes>(),
                records.iter().map(|record| record.1).collect(),
                records.iter().map(|_| 0).collect(),
                records.iter().map(|record| record.2).collect(),
            ];
            let columns: Vec<_> = domains.iter().zip(&codes).collect();
            let chosen: Vec<SubjectIndex> = match records.len() {
                0 => Vec::new(),
                count => chosen.iter().map(|at| SubjectIndex(at.index(count) as u32)).collect(),
            };
            // As often as takes more than one block of records.
            let chosen = chosen.repeat(times);
            let exact = ExactIndex::of(&columns, &chosen);
            let marks: Vec<(usize, Vec<bool>)> = admitted
                .iter()
                .map(|&(at, bits)| (at, (0..SIZES[at]).map(|code| bits >> (code % 64) & 1 == 1).collect()))
                .collect();
            let holds = |record: &&SubjectIndex| {
                let mut marks = marks.iter();
                marks.all(|(at, marks)| marks[codes[*at].at(record.at()) as usize])
            };
            let wanted = chosen.iter().filter(holds).count() as u64;
            prop_assert_eq!(exact.count_marked(marks.iter().cloned()), wanted);
        }
    }
}
