//! Every value of every record: a bucket's columns hold what its records have,
//! no more and no less.

use super::view::{ColumnView, SlicedView};
use crate::verify::verdict::{Check, Failures, Place};

/// `buckets_hold_their_records`: in each bucket each column's combinations are
/// those of the bucket's records, each as often; `first_column_is_its_rows`:
/// the first column of a row is that of the record that the lineage names.
pub(super) fn combinations(view: &SlicedView) -> [Check; 2] {
    let mut held = Failures::none();
    for column in &view.columns {
        let name = view.exact[column.appearances.start].name;
        for bucket in 0..view.buckets.len() {
            if !holds_its_records(view, column, bucket) {
                held.add_at(name, Place::Bucket(view.bucket_number(bucket)));
            }
        }
    }
    let mut own = Failures::none();
    if let Some(first) = view.columns.first() {
        let name = view.exact[first.appearances.start].name;
        for row in 0..view.rows() {
            let record = view.record(row);
            let is_own = |record| first.whole.of_record[record as usize] == first.whole.of_row[row];
            if record.is_some_and(|record| !is_own(record)) {
                own.add_at(name, Place::Row(row as u64 + 1));
            }
        }
    }
    [
        Check::structure("buckets_hold_their_records", &held),
        Check::structure("first_column_is_its_rows", &own),
    ]
}

fn holds_its_records(view: &SlicedView, column: &ColumnView, bucket: usize) -> bool {
    let rows = view.buckets.rows(bucket);
    let published = rows.iter().map(|&row| column.whole.of_row[row as usize]);
    let records = rows.iter().filter_map(|&row| view.record(row as usize));
    let source = records.map(|record| column.whole.of_record[record as usize]);
    let sorted = |mut classes: Vec<u32>| {
        classes.sort_unstable();
        classes
    };
    sorted(published.collect()) == sorted(source.collect())
}
