//! Tables that no encoder writes: the verifier must answer, never panic.

use rand::RngExt;
use vizard_anonymizer::release::{Cell, Cells, Item, PublishedTable};

use super::{Corruption, Done, Random, any, corruption};
use crate::case::{Case, edit};

pub fn corruptions() -> Vec<Corruption> {
    vec![
        corruption("drop a column", &["tables_and_columns"], drop_column),
        corruption("swap two columns", &["tables_and_columns"], swap_columns),
        corruption("rename a column", &["tables_and_columns"], rename_column),
        corruption("drop a table", &["tables_and_columns"], drop_table),
        corruption("publish one more table", &["tables_and_columns"], add_table),
        corruption(
            "cut a column short",
            &["tables_and_columns", "table_digests"],
            cut_column,
        ),
        corruption(
            "point beyond the cells",
            &["tables_and_columns", "table_digests"],
            point_beyond,
        ),
        corruption(
            "publish cells as numbers",
            &["tables_and_columns"],
            cells_as_numbers,
        ),
        corruption(
            "publish a number that is none",
            &["cells_cover_their_source"],
            not_a_number,
        ),
        corruption(
            "publish cells of another type",
            &["cells_cover_their_source"],
            other_type,
        ),
        corruption("number groups wildly", &["groups_numbered"], wild_groups),
        corruption(
            "number buckets wildly",
            &["buckets_well_formed"],
            wild_buckets,
        ),
        corruption("count wildly", &["buckets_well_formed"], wild_counts),
        corruption(
            "name attributes that there are not",
            &["buckets_well_formed"],
            wild_attributes,
        ),
        corruption(
            "give an interval for a bucket's value",
            &["buckets_well_formed"],
            interval_value,
        ),
        corruption("lose the lineage", &["every_record_once"], lose_lineage),
        corruption(
            "give a lineage of nobody",
            &["every_record_once"],
            wild_lineage,
        ),
        corruption("publish no row", &["every_record_once"], no_rows),
        corruption(
            "publish nothing",
            &["tables_and_columns", "k_anonymity", "l_diversity"],
            nothing,
        ),
    ]
}

/// A random table and a random column of it.
fn place(case: &Case, random: &mut Random) -> (usize, usize) {
    let table = random.random_range(0..case.tables.len());
    (
        table,
        random.random_range(0..case.tables[table].columns.len()),
    )
}

fn drop_column(case: &mut Case, random: &mut Random) -> Done {
    let (table, column) = place(case, random);
    case.tables[table].columns.remove(column);
    Done::Seal
}

fn swap_columns(case: &mut Case, random: &mut Random) -> Done {
    let (table, column) = place(case, random);
    let other = (column + 1) % case.tables[table].columns.len();
    case.tables[table].columns.swap(column, other);
    Done::Seal
}

fn rename_column(case: &mut Case, random: &mut Random) -> Done {
    let (table, column) = place(case, random);
    case.tables[table].columns[column].name.push('2');
    Done::Seal
}

fn drop_table(case: &mut Case, random: &mut Random) -> Done {
    let at = random.random_range(0..case.tables.len());
    let gone = case.tables.remove(at);
    case.manifest.tables.retain(|table| table.name != gone.name);
    Done::Keep
}

fn add_table(case: &mut Case, random: &mut Random) -> Done {
    let mut again: PublishedTable = any(&case.tables, random).unwrap();
    if random.random_bool(0.5) {
        again.name = "more".into();
    }
    case.tables.push(again);
    Done::Seal
}

fn cut_column(case: &mut Case, random: &mut Random) -> Done {
    let (table, column) = place(case, random);
    match &mut case.tables[table].columns[column].cells {
        Cells::Numbers(numbers) => drop(numbers.pop()),
        Cells::Dictionary { codes, .. } => codes.truncate(codes.len() - 1),
    }
    Done::Keep
}

fn point_beyond(case: &mut Case, random: &mut Random) -> Done {
    let (table, column) = place(case, random);
    match &mut case.tables[table].columns[column].cells {
        Cells::Numbers(_) => return Done::Skip,
        Cells::Dictionary { codes, .. } => edit(codes, |codes| codes[0] = u32::MAX),
    }
    Done::Keep
}

fn cells_as_numbers(case: &mut Case, random: &mut Random) -> Done {
    let (table, column) = place(case, random);
    let column = &mut case.tables[table].columns[column];
    if matches!(column.cells, Cells::Numbers(_)) {
        return Done::Skip;
    }
    column.cells = Cells::Numbers(vec![1; column.cells.len()]);
    Done::Keep
}

fn not_a_number(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    let bad = any(&[f64::NAN, f64::INFINITY, -f64::INFINITY], random).unwrap();
    let mut cells = case.cells("microdata", "weight");
    cells[row] = any(
        &[
            Cell::Decimal(bad, bad),
            Cell::Decimal(bad, 70.0),
            Cell::Decimal(40.0, bad),
        ],
        random,
    )
    .unwrap();
    case.set_cells("microdata", "weight", cells);
    Done::Seal
}

fn other_type(case: &mut Case, random: &mut Random) -> Done {
    let name = any(&["city", "job", "weight", "admitted"], random).unwrap();
    let group = any(&case.groups(), random).unwrap();
    let cell = any(
        &[
            Cell::Integer(i64::MIN, i64::MAX),
            Cell::Items(vec![Item::Node("Oslo".into())]),
            Cell::Set(Vec::new()),
            Cell::Set(vec!["nurse".into(), "nurse".into()]),
            Cell::Label(String::new()),
            Cell::Empty,
        ],
        random,
    );
    let mut cells = case.cells("microdata", name);
    group
        .iter()
        .for_each(|&row| cells[row] = cell.clone().unwrap());
    case.set_cells("microdata", name, cells);
    Done::Seal
}

fn wild_groups(case: &mut Case, random: &mut Random) -> Done {
    let mut numbers = case.numbers("microdata", "group");
    let row = random.random_range(0..numbers.len());
    numbers[row] = any(&[0, 1_000_000, u64::MAX], random).unwrap();
    case.set_numbers("microdata", "group", numbers);
    Done::Seal
}

fn wild_buckets(case: &mut Case, random: &mut Random) -> Done {
    let mut numbers = case.numbers("buckets", "bucket");
    let row = random.random_range(0..numbers.len());
    numbers[row] = any(&[0, 1_000_000, u64::MAX], random).unwrap();
    case.set_numbers("buckets", "bucket", numbers);
    Done::Seal
}

fn wild_counts(case: &mut Case, random: &mut Random) -> Done {
    let mut numbers = case.numbers("buckets", "count");
    let row = random.random_range(0..numbers.len());
    numbers[row] = any(&[0, 1_000_000, u64::MAX], random).unwrap();
    case.set_numbers("buckets", "count", numbers);
    Done::Seal
}

fn wild_attributes(case: &mut Case, random: &mut Random) -> Done {
    let mut cells = case.cells("buckets", "attribute");
    let row = random.random_range(0..cells.len());
    let label = |text: &str| Cell::Label(text.into());
    cells[row] = any(
        &[label("city"), label("nobody"), Cell::Empty, Cell::Masked],
        random,
    )
    .unwrap();
    case.set_cells("buckets", "attribute", cells);
    Done::Seal
}

fn interval_value(case: &mut Case, random: &mut Random) -> Done {
    let mut cells = case.cells("buckets", "value");
    let row = random.random_range(0..cells.len());
    let wide = [
        Cell::Integer(20_000, 59_500),
        Cell::Label("respiratory".into()),
        Cell::Empty,
        Cell::Masked,
    ];
    cells[row] = any(&wide, random).unwrap();
    case.set_cells("buckets", "value", cells);
    Done::Seal
}

fn lose_lineage(case: &mut Case, _: &mut Random) -> Done {
    case.lineage.tables.clear();
    Done::Keep
}

fn wild_lineage(case: &mut Case, random: &mut Random) -> Done {
    let row = random.random_range(0..case.rows());
    case.subjects_mut()[row].0 = u32::MAX - random.random_range(0..3);
    Done::Keep
}

fn no_rows(case: &mut Case, _: &mut Random) -> Done {
    case.take_rows("microdata", &[]);
    case.seal();
    case.manifest.excluded = 0;
    Done::Keep
}

fn nothing(case: &mut Case, _: &mut Random) -> Done {
    case.tables.clear();
    case.manifest.tables.clear();
    Done::Keep
}
