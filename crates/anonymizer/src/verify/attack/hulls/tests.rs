//! Groups made by hand: what their cells give away, worked out on paper.

use super::*;
use crate::microdata::{AttributeType, Values};
use crate::release::{Cell, Cells, PublishedColumn};

/// Ages 20 to 29, as codes 0 to 9.
fn ages() -> Domain {
    Domain::new(Values::Integer((20..30).collect()), None)
}

fn exact(code: u32) -> Cell {
    Cell::Integer(20 + i64::from(code), 20 + i64::from(code))
}

fn column(content: Content, cells: Vec<Cell>) -> PublishedColumn {
    PublishedColumn {
        name: "age".into(),
        content,
        kind: Some(AttributeType::Integer),
        cells: Cells::Dictionary {
            codes: Codes::below(cells.len(), 0..cells.len() as u32),
            cells,
        },
    }
}

/// Checks of rows in groups with these cells of one quasi-identifier, by the
/// code of each record, and of an exact value if there is one.
fn checks(rows: &[(u64, Cell)], own: &[u32], values: Option<&[u32]>) -> Vec<Check> {
    let domain = ages();
    let quasi = column(
        Content::Generalized,
        rows.iter().map(|(_, cell)| cell.clone()).collect(),
    );
    let values = values.map(|values| {
        let cells = values.iter().map(|&code| exact(code)).collect();
        (
            column(Content::Exact, cells),
            Codes::below(10, values.iter().copied()),
        )
    });
    let source = Codes::below(10, own.iter().copied());
    let of = |codes: &Codes| codes.histogram(10).into_iter().map(u64::from).collect();
    let read = |published, source| Column {
        domain: &domain,
        cells: MeaningColumn::of(published, &domain).expect("a dictionary"),
        people: of(source),
        source,
    };
    let quasi = vec![read(&quasi, &source)];
    let values = values.as_ref();
    let exact = Vec::from_iter(values.map(|(published, source)| read(published, source)));
    let group: Vec<u64> = rows.iter().map(|(group, _)| *group).collect();
    let records: Vec<u32> = (0..rows.len() as u32).collect();
    let cells: Vec<&MeaningColumn> = quasi.iter().map(|column| &column.cells).collect();
    let rows = Rows {
        classes: drawn(&group, &cells),
        is_published: vec![true; records.len()],
        records,
        quasi,
        exact,
    };
    let mut checks = vec![rows.downcoding()];
    checks.extend(rows.singling_out());
    checks
}

fn figure(check: &Check, name: &str) -> f64 {
    let mut all = check.figures.iter();
    all.find(|(other, _)| *other == name).expect("a figure").1
}

#[test]
fn of_a_pair_both_values_are_certain_and_of_four_two() {
    let pair = Cell::Integer(20, 24);
    let four = Cell::Integer(21, 29);
    let rows = [
        (1, pair.clone()),
        (1, pair),
        (2, four.clone()),
        (2, four.clone()),
        (2, four.clone()),
        (2, four),
    ];
    let checks = checks(&rows, &[0, 4, 1, 3, 3, 9], None);
    assert_eq!(checks[0].attained, Some(4.0 / 6.0));
    // The most frequent value, 23, is right twice, in the second cell.
    assert_eq!(figure(&checks[0], "statistics"), 2.0 / 6.0);
    assert_eq!(figure(&checks[0], "right_values"), 1.0);
}

#[test]
fn an_end_of_a_cell_that_one_person_has_singles_them_out() {
    let cell = Cell::Integer(20, 24);
    let rows = vec![(1, cell); 4];
    let one = checks(&rows, &[0, 4, 4, 4], None);
    // One of four is 20: the predicate holds for them alone.
    assert_eq!(one[1].attained, Some(1.0));
    let by_chance = 4.0 * 0.25 * 0.75 * 0.75 * 0.75;
    assert_eq!(figure(&one[1], "by_chance"), by_chance);
    let two = checks(&rows, &[0, 0, 4, 4], None);
    assert_eq!(two[1].attained, Some(0.0));
}

#[test]
fn others_in_the_same_cells_count() {
    let (wide, narrow) = (Cell::Integer(20, 25), Cell::Integer(20, 20));
    // The first group's 20 is also the second's.
    let rows = [
        (1, wide.clone()),
        (1, wide),
        (2, narrow.clone()),
        (2, narrow),
    ];
    let found = checks(&rows, &[0, 5, 0, 0], None);
    assert_eq!(figure(&found[1], "groups"), 1.0);
    // 25 is the rarer end, and one person's.
    assert_eq!(found[1].attained, Some(1.0));
    let found = checks(&rows, &[5, 5, 0, 0], None);
    assert_eq!(found[1].attained, Some(0.0));
}

#[test]
fn a_value_that_stands_once_in_a_group_singles_out_with_its_cells() {
    let cell = Cell::Integer(20, 24);
    let rows = vec![(1, cell); 4];
    let found = checks(&rows, &[0, 0, 4, 4], Some(&[1, 2, 2, 2]));
    assert_eq!(figure(&found[1], "with_value"), 1.0);
    assert_eq!(found[1].attained, Some(0.0));
}

#[test]
fn of_a_masked_cell_nothing_is_certain() {
    let rows = vec![(1, Cell::Masked); 3];
    let found = checks(&rows, &[0, 4, 9], None);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].attained, Some(0.0));
}
