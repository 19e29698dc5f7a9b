//! Corruptions of buckets: their contents, their members, their numbers.
//! They need rows that name their buckets, so releases that link groups are
//! skipped (`links` breaks those).

use std::collections::BTreeMap;

use rand::RngExt;
use vizard_anonymizer::microdata::Code;
use vizard_anonymizer::release::Cell;

use super::{Corruption, Done, Random, any, corruption};
use crate::case::Case;

pub fn corruptions() -> Vec<Corruption> {
    vec![
        corruption(
            "swap the buckets of two cells",
            &["bucket_contents_match"],
            swap_cells,
        ),
        corruption(
            "change a value in a bucket",
            &["bucket_contents_match"],
            change_value,
        ),
        corruption(
            "drop a row of the bucket table",
            &["bucket_contents_match"],
            drop_bucket_row,
        ),
        corruption("change a count", &["bucket_contents_match"], change_count),
        corruption(
            "repeat a row of the bucket table",
            &["buckets_well_formed"],
            repeat_bucket_row,
        ),
        corruption(
            "merge two bucket numbers in the rows alone",
            &["bucket_contents_match"],
            merge_in_rows,
        ),
        corruption(
            "merge two buckets with a value in common",
            &["l_diversity"],
            merge_with_common_value,
        ),
        corruption(
            "merge two buckets and leave a gap",
            &["buckets_well_formed"],
            merge_with_gap,
        ),
        corruption(
            "split a bucket",
            &["l_diversity", "max_leakage", "candidates_remain"],
            split,
        ),
        corruption(
            "mask a group in which nobody flagged anything",
            &["masks_where_wishes_differ"],
            super::cells::mask_group,
        ),
        corruption(
            "put an unflagged cell into a bucket",
            &["unflagged_cells_in_no_bucket"],
            put_unflagged,
        ),
        corruption(
            "fill a bucket up by an unflagged cell",
            &["unflagged_cells_in_no_bucket", "candidates_remain"],
            fill_by_unflagged,
        ),
        corruption(
            "take a flagged cell out of its bucket",
            &["flagged_cells_in_one_bucket"],
            take_flagged_out,
        ),
        corruption(
            "show a flagged cell beside its bucket",
            &["flagged_cells_in_one_bucket", "candidates_remain"],
            show_flagged,
        ),
    ]
}

/// The buckets of an attribute by rows: (row, bucket number) of cells in one.
pub fn members(case: &Case, name: &str) -> Option<Vec<(usize, u64)>> {
    let column = format!("{name}_bucket");
    case.published("microdata").column(&column)?;
    let numbers = case.numbers("microdata", &column).into_iter().enumerate();
    Some(numbers.filter(|&(_, number)| number != 0).collect())
}

/// What each bucket holds by its members.
pub type Contents = BTreeMap<u64, BTreeMap<Code, u64>>;

pub fn contents(case: &Case, name: &str, members: &[(usize, u64)]) -> Contents {
    let mut contents = Contents::new();
    for &(row, bucket) in members {
        *contents
            .entry(bucket)
            .or_default()
            .entry(case.code(name, row))
            .or_default() += 1;
    }
    contents
}

/// Puts cells into buckets, and into the table of buckets what they hold.
pub fn refill(case: &mut Case, name: &str, members: &[(usize, u64)]) {
    let mut numbers = vec![0; case.rows()];
    members
        .iter()
        .for_each(|&(row, bucket)| numbers[row] = bucket);
    case.set_numbers("microdata", &format!("{name}_bucket"), numbers);
    let mut lines: Vec<(Cell, u64, Cell, u64)> = lines(case);
    let label = Cell::Label(name.into());
    lines.retain(|(attribute, ..)| *attribute != label);
    for (bucket, values) in contents(case, name, members) {
        for (code, count) in values {
            lines.push((label.clone(), bucket, case.exact(name, code), count));
        }
    }
    set_lines(case, lines);
}

fn lines(case: &Case) -> Vec<(Cell, u64, Cell, u64)> {
    let buckets = case.numbers("buckets", "bucket").into_iter();
    let counts = case.numbers("buckets", "count").into_iter();
    let attributes = case.cells("buckets", "attribute").into_iter();
    let rest = case.cells("buckets", "value").into_iter().zip(counts);
    let all = attributes.zip(buckets).zip(rest);
    all.map(|((attribute, bucket), (value, count))| (attribute, bucket, value, count))
        .collect()
}

fn set_lines(case: &mut Case, lines: Vec<(Cell, u64, Cell, u64)>) {
    case.set_numbers(
        "buckets",
        "bucket",
        lines.iter().map(|line| line.1).collect(),
    );
    case.set_numbers(
        "buckets",
        "count",
        lines.iter().map(|line| line.3).collect(),
    );
    case.set_cells(
        "buckets",
        "attribute",
        lines.iter().map(|line| line.0.clone()).collect(),
    );
    case.set_cells(
        "buckets",
        "value",
        lines.into_iter().map(|line| line.2).collect(),
    );
}

const DIVERSE: [&str; 3] = ["age", "salary", "disease"];

/// Buckets of an attribute under l-diversity that has at least two.
pub fn diverse(case: &Case, random: &mut Random) -> Option<(&'static str, Vec<(usize, u64)>)> {
    let name = any(&DIVERSE, random)?;
    let members = members(case, name)?;
    members
        .iter()
        .any(|&(_, bucket)| bucket >= 2)
        .then_some((name, members))
}

/// Two cells with different values in different buckets: each bucket loses a
/// value and gains another, so its multiset changes.
fn swap_cells(case: &mut Case, random: &mut Random) -> Done {
    let Some((name, mut members)) = diverse(case, random) else {
        return Done::Skip;
    };
    let a = random.random_range(0..members.len());
    let b = random.random_range(0..members.len());
    let value = |at: usize| case.code(name, members[at].0);
    if members[a].1 == members[b].1 || value(a) == value(b) {
        return Done::Skip;
    }
    (members[a].1, members[b].1) = (members[b].1, members[a].1);
    let mut numbers = vec![0; case.rows()];
    members
        .iter()
        .for_each(|&(row, bucket)| numbers[row] = bucket);
    case.set_numbers("microdata", &format!("{name}_bucket"), numbers);
    Done::Seal
}

/// The new value is one that the bucket does not hold.
fn change_value(case: &mut Case, random: &mut Random) -> Done {
    let mut lines = lines(case);
    let at = random.random_range(0..lines.len());
    let Cell::Label(name) = lines[at].0.clone() else {
        return Done::Skip;
    };
    let same = |line: &&(Cell, u64, Cell, u64)| line.0 == lines[at].0 && line.1 == lines[at].1;
    let held: Vec<Cell> = lines
        .iter()
        .filter(same)
        .map(|line| line.2.clone())
        .collect();
    let codes = (0..case.domain(&name).len() as u32).map(Code);
    let new = codes
        .map(|code| case.exact(&name, code))
        .find(|cell| !held.contains(cell));
    let Some(new) = new else {
        return Done::Skip;
    };
    lines[at].2 = new;
    set_lines(case, lines);
    Done::Seal
}

/// The bucket then holds less than its members.
fn drop_bucket_row(case: &mut Case, random: &mut Random) -> Done {
    let mut lines = lines(case);
    lines.remove(random.random_range(0..lines.len()));
    set_lines(case, lines);
    Done::Seal
}

/// One cell more than there are members. (No attribute's buckets hold every
/// record of the source, so the count is not refused as impossible.)
fn change_count(case: &mut Case, random: &mut Random) -> Done {
    let mut lines = lines(case);
    let at = random.random_range(0..lines.len());
    lines[at].3 += 1;
    set_lines(case, lines);
    Done::Seal
}

/// A value stands in a bucket once, with its count.
fn repeat_bucket_row(case: &mut Case, random: &mut Random) -> Done {
    let mut lines = lines(case);
    let again = lines[random.random_range(0..lines.len())].clone();
    lines.push(again);
    set_lines(case, lines);
    Done::Seal
}

/// One bucket has members that it does not hold, the other none.
fn merge_in_rows(case: &mut Case, random: &mut Random) -> Done {
    let Some((name, mut members)) = diverse(case, random) else {
        return Done::Skip;
    };
    let from = any(&members, random).unwrap().1;
    let to = if from == 1 { 2 } else { 1 };
    members
        .iter_mut()
        .filter(|member| member.1 == from)
        .for_each(|member| member.1 = to);
    let mut numbers = vec![0; case.rows()];
    members
        .iter()
        .for_each(|&(row, bucket)| numbers[row] = bucket);
    case.set_numbers("microdata", &format!("{name}_bucket"), numbers);
    Done::Seal
}

/// A value that both hold is in the merged bucket twice.
fn merge_with_common_value(case: &mut Case, random: &mut Random) -> Done {
    let Some((name, mut members)) = diverse(case, random) else {
        return Done::Skip;
    };
    let last = members.iter().map(|member| member.1).max().unwrap();
    let contents = contents(case, name, &members);
    let common = |other: &&u64| {
        contents[other]
            .keys()
            .any(|code| contents[&last].contains_key(code))
    };
    let others: Vec<u64> = contents
        .keys()
        .filter(|other| **other != last)
        .filter(common)
        .copied()
        .collect();
    let Some(other) = any(&others, random) else {
        return Done::Skip;
    };
    members
        .iter_mut()
        .filter(|member| member.1 == last)
        .for_each(|member| member.1 = other);
    refill(case, name, &members);
    Done::Seal
}

/// The number that is no longer used is not the last one.
fn merge_with_gap(case: &mut Case, random: &mut Random) -> Done {
    let Some((name, mut members)) = diverse(case, random) else {
        return Done::Skip;
    };
    members
        .iter_mut()
        .filter(|member| member.1 == 1)
        .for_each(|member| member.1 = 2);
    if members.iter().all(|member| member.1 == 2) {
        return Done::Skip;
    }
    refill(case, name, &members);
    Done::Seal
}

/// A bucket of fewer than 2l cells leaves a half with fewer than l.
fn split(case: &mut Case, random: &mut Random) -> Done {
    let Some((name, mut members)) = diverse(case, random) else {
        return Done::Skip;
    };
    let l = if name == "salary" { 4 } else { 3 };
    let contents = contents(case, name, &members);
    let last = *contents.keys().max().unwrap();
    let small = contents.iter().filter(|(_, values)| values.len() < 2 * l);
    let Some(bucket) = any(
        &small.map(|(bucket, _)| *bucket).collect::<Vec<_>>(),
        random,
    ) else {
        return Done::Skip;
    };
    let half = contents[&bucket].len() / 2;
    let of_bucket = members.iter_mut().filter(|member| member.1 == bucket);
    of_bucket.take(half).for_each(|member| member.1 = last + 1);
    refill(case, name, &members);
    Done::Seal
}

/// Rows whose cell is unflagged and shown.
fn unflagged(case: &Case, name: &str) -> Vec<usize> {
    let cells = case.cells("microdata", name);
    let rows = 0..case.rows();
    rows.filter(|&row| !case.flagged(name, row) && cells[row] != Cell::Masked)
        .collect()
}

/// The bucket and its table agree, but nobody flagged the cell. It also still
/// shows its value.
fn put_unflagged(case: &mut Case, random: &mut Random) -> Done {
    let name = any(&["age", "sex"], random).unwrap();
    let Some(mut members) = members(case, name) else {
        return Done::Skip;
    };
    let row = any(&unflagged(case, name), random).unwrap();
    members.push((row, 1));
    refill(case, name, &members);
    Done::Seal
}

/// A bucket of just l cells loses one of its own for an unflagged one, whose
/// value everybody knows: fewer than l candidates remain.
fn fill_by_unflagged(case: &mut Case, random: &mut Random) -> Done {
    let Some(mut members) = members(case, "age") else {
        return Done::Skip;
    };
    let all = contents(case, "age", &members);
    let just = all
        .iter()
        .filter(|(_, values)| values.len() == 3)
        .map(|(bucket, _)| *bucket);
    let Some(bucket) = any(&just.collect::<Vec<_>>(), random) else {
        return Done::Skip;
    };
    let at = members
        .iter()
        .position(|member| member.1 == bucket)
        .unwrap();
    let leaver = members[at].0;
    let fits = |row: &usize| !all[&bucket].contains_key(&case.code("age", *row));
    let fitting: Vec<usize> = unflagged(case, "age").into_iter().filter(fits).collect();
    let Some(row) = any(&fitting, random) else {
        return Done::Skip;
    };
    members[at].0 = row;
    refill(case, "age", &members);
    let mut cells = case.cells("microdata", "age");
    cells[row] = Cell::Empty;
    cells[leaver] = Cell::Masked;
    case.set_cells("microdata", "age", cells);
    Done::Seal
}

/// The value of a flagged cell is published as if nobody had flagged it.
fn take_flagged_out(case: &mut Case, random: &mut Random) -> Done {
    let name = any(&["age", "sex", "salary", "disease"], random).unwrap();
    let Some(mut members) = members(case, name) else {
        return Done::Skip;
    };
    let at = random.random_range(0..members.len());
    let row = members.remove(at).0;
    refill(case, name, &members);
    let mut cells = case.cells("microdata", name);
    cells[row] = case.exact(name, case.code(name, row));
    case.set_cells("microdata", name, cells);
    Done::Seal
}

/// Beside the bucket stands a value, which rules out the others.
fn show_flagged(case: &mut Case, random: &mut Random) -> Done {
    let name = any(&["age", "sex", "salary", "disease"], random).unwrap();
    let Some(members) = members(case, name) else {
        return Done::Skip;
    };
    let row = any(&members, random).unwrap().0;
    let mut cells = case.cells("microdata", name);
    cells[row] = case.exact(name, case.code(name, row));
    case.set_cells("microdata", name, cells);
    Done::Seal
}
