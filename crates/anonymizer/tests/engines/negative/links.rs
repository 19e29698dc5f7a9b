//! Corruptions of `group_buckets`, the table of releases that link groups
//! with buckets. Releases without it are skipped.

use rand::RngExt;
use vizard_anonymizer::microdata::Code;
use vizard_anonymizer::release::Cell;

use super::{Corruption, Done, Random, any, corruption};
use crate::case::Case;

const TABLE: &str = "group_buckets";

pub fn corruptions() -> Vec<Corruption> {
    vec![
        corruption(
            "change the count of a link",
            &["bucket_contents_match"],
            change_count,
        ),
        corruption("drop a link", &["bucket_contents_match"], drop_link),
        corruption("repeat a link", &["bucket_contents_match"], repeat_link),
        corruption(
            "link a group to another bucket",
            &["bucket_contents_match"],
            relink,
        ),
        corruption(
            "link a bucket to another group",
            &["bucket_contents_match"],
            other_group,
        ),
        corruption(
            "link a bucket that does not exist",
            &["bucket_contents_match"],
            no_bucket,
        ),
        corruption(
            "trade a value between linked buckets",
            &["bucket_contents_match"],
            trade_value,
        ),
        corruption(
            "show one flagged cell",
            &["flagged_cells_in_one_bucket"],
            show_flagged,
        ),
        corruption(
            "hide an unflagged cell",
            &["unflagged_cells_in_no_bucket"],
            hide_unflagged,
        ),
    ]
}

fn has_links(case: &Case) -> bool {
    case.tables.iter().any(|table| table.name == TABLE)
}

/// Places of the group and of the bucket are one more than their cells.
fn change_count(case: &mut Case, random: &mut Random) -> Done {
    if !has_links(case) {
        return Done::Skip;
    }
    let mut counts = case.numbers(TABLE, "count");
    let at = random.random_range(0..counts.len());
    counts[at] += 1;
    case.set_numbers(TABLE, "count", counts);
    Done::Seal
}

/// Cells of the group have no place.
fn drop_link(case: &mut Case, random: &mut Random) -> Done {
    if !has_links(case) {
        return Done::Skip;
    }
    let rows = case.published(TABLE).rows();
    let gone = random.random_range(0..rows);
    case.take_rows(
        TABLE,
        &(0..rows).filter(|&row| row != gone).collect::<Vec<_>>(),
    );
    Done::Seal
}

/// A group and a bucket are linked once, with a count.
fn repeat_link(case: &mut Case, random: &mut Random) -> Done {
    if !has_links(case) {
        return Done::Skip;
    }
    let rows = case.published(TABLE).rows();
    let twice = random.random_range(0..rows);
    case.take_rows(TABLE, &(0..rows).chain([twice]).collect::<Vec<_>>());
    Done::Seal
}

/// One bucket has a place too many, one too few.
fn relink(case: &mut Case, random: &mut Random) -> Done {
    if !has_links(case) {
        return Done::Skip;
    }
    let mut buckets = case.numbers(TABLE, "bucket");
    let at = random.random_range(0..buckets.len());
    buckets[at] = if buckets[at] == 1 { 2 } else { 1 };
    case.set_numbers(TABLE, "bucket", buckets);
    Done::Seal
}

/// One group has a place too many, one too few.
fn other_group(case: &mut Case, random: &mut Random) -> Done {
    if !has_links(case) {
        return Done::Skip;
    }
    let mut groups = case.numbers(TABLE, "group");
    let at = random.random_range(0..groups.len());
    groups[at] = if groups[at] == 1 { 2 } else { 1 };
    case.set_numbers(TABLE, "group", groups);
    Done::Seal
}

fn no_bucket(case: &mut Case, random: &mut Random) -> Done {
    if !has_links(case) {
        return Done::Skip;
    }
    let mut buckets = case.numbers(TABLE, "bucket");
    let at = random.random_range(0..buckets.len());
    buckets[at] = any(&[0, 100_000, u64::MAX], random).unwrap();
    case.set_numbers(TABLE, "bucket", buckets);
    Done::Seal
}

/// A value of a bucket becomes one that no member of its groups has: whatever
/// is assigned to whom, nobody can be behind it.
fn trade_value(case: &mut Case, random: &mut Random) -> Done {
    if !has_links(case) {
        return Done::Skip;
    }
    let attributes = case.cells("buckets", "attribute");
    let salary = Cell::Label("salary".into());
    let of_salary = (0..attributes.len()).filter(|&at| attributes[at] == salary);
    let at = any(&of_salary.collect::<Vec<_>>(), random).unwrap();
    let bucket = case.numbers("buckets", "bucket")[at];
    let linked = case
        .cells(TABLE, "attribute")
        .into_iter()
        .zip(case.numbers(TABLE, "bucket"));
    let linked: Vec<bool> = linked
        .map(|link| link == (salary.clone(), bucket))
        .collect();
    let groups = case.numbers(TABLE, "group");
    let groups: Vec<u64> = groups
        .into_iter()
        .zip(linked)
        .filter(|(_, linked)| *linked)
        .map(|(group, _)| group)
        .collect();
    let of_row = case.numbers("microdata", "group");
    let rows = (0..case.rows()).filter(|&row| groups.contains(&of_row[row]));
    let held: Vec<Code> = rows.map(|row| case.code("salary", row)).collect();
    let mut all = (0..case.domain("salary").len() as u32).map(Code);
    let Some(new) = all.find(|code| !held.contains(code)) else {
        return Done::Skip;
    };
    let mut values = case.cells("buckets", "value");
    values[at] = case.exact("salary", new);
    case.set_cells("buckets", "value", values);
    Done::Seal
}

fn show_flagged(case: &mut Case, random: &mut Random) -> Done {
    if !has_links(case) {
        return Done::Skip;
    }
    let row = random.random_range(0..case.rows());
    let mut cells = case.cells("microdata", "salary");
    cells[row] = case.exact("salary", case.code("salary", row));
    case.set_cells("microdata", "salary", cells);
    Done::Seal
}

fn hide_unflagged(case: &mut Case, random: &mut Random) -> Done {
    if !has_links(case) {
        return Done::Skip;
    }
    let open = (0..case.rows()).filter(|&row| !case.flagged("age", row));
    let row = any(&open.collect::<Vec<_>>(), random).unwrap();
    let mut cells = case.cells("microdata", "age");
    cells[row] = Cell::Empty;
    case.set_cells("microdata", "age", cells);
    Done::Seal
}
