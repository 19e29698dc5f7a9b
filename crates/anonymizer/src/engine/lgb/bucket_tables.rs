//! Stage 4: the published tables `buckets` and `group_buckets` (releases.md).
//!
//! Entries are counted in an order that says nothing of records: nothing
//! published depends on which record a cell is of.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::engine::kernel::cells::value_cell;
use crate::microdata::{Code, Codes, Domain, Values};
use crate::release::layout::{BUCKETS, GROUP_BUCKETS};
use crate::release::{Cell, Cells, Content, PublishedColumn, PublishedTable};

use super::bucketize::NumberedBuckets;
use super::frame::Frame;
use super::publish::Layout;

/// The table `buckets`: the values of each bucket.
pub(super) fn buckets(frame: &Frame<'_>, buckets: &[NumberedBuckets]) -> PublishedTable {
    let RunValues { of, values } = runs(frame, buckets);
    let entries = entries(buckets);
    let attributes = || {
        let codes = entries.iter().map(|entry| of[entry.run as usize].0);
        attribute_names(frame, Codes::below(buckets.len(), codes))
    };
    let values = || {
        let codes = entries.iter().map(|entry| of[entry.run as usize].1);
        let cells = Cells::Dictionary {
            codes: Codes::below(values.len(), codes),
            cells: values,
        };
        PublishedColumn::of_content(Content::Value, cells)
    };
    let numbers = entries.iter().map(|entry| u64::from(entry.bucket));
    let counts = entries.iter().map(|entry| u64::from(entry.count));
    let ((attributes, values), (numbers, counts)) = rayon::join(
        || rayon::join(attributes, values),
        || {
            rayon::join(
                || PublishedColumn::of_numbers(Content::Bucket, numbers),
                || PublishedColumn::of_numbers(Content::Count, counts),
            )
        },
    );
    PublishedTable {
        name: BUCKETS.into(),
        columns: vec![attributes, numbers, values, counts],
    }
}

/// The table `group_buckets`: how many cells of each group are in each
/// bucket.
pub(super) fn group_buckets(frame: &Frame<'_>, layout: &Layout<'_>) -> PublishedTable {
    let mut entries: Vec<(u32, u64, u32)> = Vec::new();
    for index in frame.requirements.protected() {
        let of_record = layout.bucket_of_record(index);
        for (number, records) in layout.groups() {
            let used = records.iter().map(|&record| of_record[record as usize]);
            let used = used.filter(|&bucket| bucket != 0);
            entries.extend(used.map(|bucket| (u32::from(index.0), number, bucket)));
        }
    }
    entries.sort_unstable();
    let equal = entries.chunk_by(|one, other| one == other);
    let counted: Vec<_> = equal.map(|run| (run[0], run.len() as u64)).collect();
    let attributes = counted.iter().map(|&((index, ..), _)| index).collect();
    let groups = counted.iter().map(|&((_, group, _), _)| group);
    let buckets = counted.iter().map(|&((.., bucket), _)| u64::from(bucket));
    let counts = counted.iter().map(|&(_, count)| count);
    PublishedTable {
        name: GROUP_BUCKETS.into(),
        columns: vec![
            PublishedColumn::of_numbers(Content::Group, groups),
            attribute_names(frame, attributes),
            PublishedColumn::of_numbers(Content::Bucket, buckets),
            PublishedColumn::of_numbers(Content::Count, counts),
        ],
    }
}

/// A value of a bucket.
struct Entry {
    /// Its run, counted over all attributes.
    run: u32,
    bucket: u32,
    /// Cells of the bucket that hold it.
    count: u32,
}

/// The entries of all buckets, by attribute, value and bucket.
fn entries(buckets: &[NumberedBuckets]) -> Vec<Entry> {
    let mut numbers: Vec<Vec<u32>> = buckets.iter().map(|of| of.numbers.clone()).collect();
    let mut runs: Vec<&mut [u32]> = Vec::new();
    for (of, numbers) in buckets.iter().zip(&mut numbers) {
        runs.extend(of.runs.parts(numbers));
    }
    runs.par_iter_mut().for_each(|run| run.sort_unstable());
    let mut entries = Vec::with_capacity(runs.iter().map(|run| run.len()).sum());
    for (run, numbers) in (0..).zip(runs) {
        let equal = numbers.chunk_by(|one, other| one == other);
        entries.extend(equal.map(|equal| Entry {
            run,
            bucket: equal[0],
            count: equal.len() as u32,
        }));
    }
    entries
}

/// What the runs of all attributes publish.
#[derive(Default)]
struct RunValues {
    /// Attribute of each run, and position of its value.
    of: Vec<(u32, u32)>,
    /// The distinct values.
    values: Vec<Cell>,
}

fn runs(frame: &Frame<'_>, buckets: &[NumberedBuckets]) -> RunValues {
    let mut runs = RunValues::default();
    // Two attributes may have a value in common.
    let mut by_text: FxHashMap<(std::mem::Discriminant<Values>, String), u32> =
        FxHashMap::default();
    for (index, of) in frame.requirements.protected().zip(buckets) {
        let domain: &Domain = &frame.protected_column(index).domain;
        for &code in &of.runs.codes {
            let key = (
                std::mem::discriminant(domain.values()),
                domain.text(Code(code)),
            );
            let value = *by_text.entry(key).or_insert_with(|| {
                runs.values.push(value_cell(domain, code));
                runs.values.len() as u32 - 1
            });
            runs.of.push((u32::from(index.0), value));
        }
    }
    runs
}

fn attribute_names(frame: &Frame<'_>, codes: Codes) -> PublishedColumn {
    let indexes = frame.requirements.protected();
    let cells = indexes.map(|index| Cell::Label(frame.name(index).into()));
    let cells = Cells::Dictionary {
        codes,
        cells: cells.collect(),
    };
    PublishedColumn::of_content(Content::Attribute, cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::lgb::runs::Runs;

    #[test]
    fn cells_count_together_only_in_one_bucket_with_one_value() {
        // Two values, of three cells and of two; the last of the first value
        // and the first of the second are in one bucket.
        let of = NumberedBuckets {
            runs: Runs {
                codes: vec![0, 1],
                starts: vec![0, 3, 5],
                ..Runs::default()
            },
            numbers: vec![2, 1, 2, 3, 2],
        };
        let entries = entries(&[of]);
        let entries = entries.iter();
        let entries: Vec<_> = entries.map(|of| (of.run, of.bucket, of.count)).collect();
        assert_eq!(entries, [(0, 1, 1), (0, 2, 2), (1, 2, 1), (1, 3, 1)]);
    }
}
