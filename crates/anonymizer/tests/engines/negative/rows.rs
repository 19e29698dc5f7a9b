//! Corruptions of rows: who is there, how often, in which group and order.

use rand::RngExt;
use vizard_anonymizer::microdata::SubjectIndex;

use super::{Corruption, Done, Random, any, corruption};
use crate::case::Case;

pub fn corruptions() -> Vec<Corruption> {
    vec![
        corruption(
            "move a record to another group",
            &["groups_look_alike"],
            move_to_another_group,
        ),
        corruption(
            "dress a record as another group, leaving its own too small",
            &["k_anonymity", "linkage", "max_leakage"],
            dress_as_another_group,
        ),
        corruption(
            "drop a row, not its lineage",
            &["every_record_once"],
            drop_row_alone,
        ),
        corruption("duplicate a row", &["every_record_once"], duplicate_row),
        corruption(
            "swap the lineage of two rows",
            &["cells_cover_their_source"],
            swap_lineage,
        ),
        corruption(
            "publish an excluded subject",
            &["exclusions_honoured"],
            publish_excluded,
        ),
        corruption(
            "sort the rows as the source is",
            &["rows_in_order"],
            sort_by_source,
        ),
        corruption(
            "sort the rows by an attribute",
            &["rows_in_order"],
            sort_by_attribute,
        ),
        corruption(
            "skip a group number",
            &["groups_numbered"],
            skip_group_number,
        ),
    ]
}

/// Rows of one group must look the same; the new group looks different.
fn move_to_another_group(case: &mut Case, random: &mut Random) -> Done {
    let mut numbers = case.numbers("microdata", "group");
    let row = random.random_range(0..case.rows());
    let other = random.random_range(0..case.rows());
    if case.look(row) == case.look(other) {
        return Done::Skip;
    }
    numbers[row] = numbers[other];
    case.set_numbers("microdata", "group", numbers);
    Done::Seal
}

/// The group that the record leaves had exactly the size that its others need,
/// and no other group looks like it.
fn dress_as_another_group(case: &mut Case, random: &mut Random) -> Done {
    let groups = case.groups();
    let needed = |rows: &[usize]| rows.iter().map(|&row| case.terms(row).k).max().unwrap_or(0);
    let alone = |rows: &[usize]| {
        let look = case.look(rows[0]);
        (0..case.rows())
            .filter(|&row| case.look(row) == look)
            .count()
            == rows.len()
    };
    let tight: Vec<&Vec<usize>> = groups
        .iter()
        .filter(|rows| rows.len() == needed(&rows[1..]) as usize && alone(rows))
        .collect();
    let Some(rows) = any(&tight, random) else {
        return Done::Skip;
    };
    let (row, model) = (
        rows[0],
        groups.iter().find(|group| group[0] != rows[0]).unwrap()[0],
    );
    let mut numbers = case.numbers("microdata", "group");
    numbers[row] = numbers[model];
    case.set_numbers("microdata", "group", numbers);
    for name in case.generalized() {
        let mut cells = case.cells("microdata", &name);
        cells[row] = cells[model].clone();
        case.set_cells("microdata", &name, cells);
    }
    Done::Seal
}

/// Published and excluded records no longer make up the source.
fn drop_row(case: &mut Case, random: &mut Random) -> Done {
    let gone = random.random_range(0..case.rows());
    let kept: Vec<usize> = (0..case.rows()).filter(|&row| row != gone).collect();
    case.take_rows("microdata", &kept);
    Done::Seal
}

/// The lineage is longer than the table.
fn drop_row_alone(case: &mut Case, random: &mut Random) -> Done {
    let lineage = case.lineage.clone();
    drop_row(case, random);
    case.lineage = lineage;
    Done::Seal
}

/// One subject has two rows.
fn duplicate_row(case: &mut Case, random: &mut Random) -> Done {
    let twice = random.random_range(0..case.rows());
    let rows: Vec<usize> = (0..case.rows()).chain([twice]).collect();
    case.take_rows("microdata", &rows);
    Done::Seal
}

/// The cities of the two lie in no common cell of either row.
fn swap_lineage(case: &mut Case, random: &mut Random) -> Done {
    let cells = case.cells("microdata", "city");
    let exact = |row: usize| cells[row] == case.exact("city", case.code("city", row));
    let exact: Vec<usize> = (0..case.rows()).filter(|&row| exact(row)).collect();
    let Some(row) = any(&exact, random) else {
        return Done::Skip;
    };
    let others =
        (0..case.rows()).filter(|&other| case.code("city", other) != case.code("city", row));
    let Some(other) = any(&others.collect::<Vec<_>>(), random) else {
        return Done::Skip;
    };
    case.subjects_mut().swap(row, other);
    Done::Seal
}

/// The first subject of the hospital asked to be left out.
fn publish_excluded(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    case.subjects_mut()[row] = SubjectIndex(0);
    Done::Seal
}

/// 179 rows in order have ρ = 1.
fn sort_by_source(case: &mut Case, _: &mut Random) -> Done {
    let mut rows: Vec<usize> = (0..case.rows()).collect();
    rows.sort_by_key(|&row| case.record(row));
    case.take_rows("microdata", &rows);
    Done::Seal
}

/// Ordered by an attribute, falling or rising, ties by chance: ρ is near 1.
fn sort_by_attribute(case: &mut Case, random: &mut Random) -> Done {
    let names = [
        "age", "sex", "city", "job", "weight", "admitted", "ward", "salary", "disease",
    ];
    let name = any(&names, random).unwrap();
    let mut rows: Vec<usize> = (0..case.rows()).collect();
    rows.sort_by_key(|&row| case.code(name, row));
    if random.random_bool(0.5) {
        rows.reverse();
    }
    case.take_rows("microdata", &rows);
    Done::Seal
}

/// Groups are numbered without gaps.
fn skip_group_number(case: &mut Case, random: &mut Random) -> Done {
    let mut numbers = case.numbers("microdata", "group");
    let last = numbers.iter().copied().max().unwrap();
    let moved = random.random_range(1..=last);
    numbers
        .iter_mut()
        .filter(|number| **number == moved)
        .for_each(|number| *number = last + 2);
    case.set_numbers("microdata", "group", numbers);
    Done::Seal
}
