//! Round trips of whole tables, and what is refused.

use super::*;
use crate::microdata::{AttributeType, Codes};
use crate::release::error::WireFault;
use crate::release::{Cell, Cells, Content, PublishedColumn, PublishedTable, TableDescription};

fn numbers(name: &str, content: Content, numbers: &[u64]) -> PublishedColumn {
    PublishedColumn {
        name: name.into(),
        content,
        kind: None,
        cells: Cells::Numbers(numbers.to_vec()),
    }
}

fn cells(
    name: &str,
    content: Content,
    kind: Option<AttributeType>,
    cells: &[Cell],
) -> PublishedColumn {
    PublishedColumn {
        name: name.into(),
        content,
        kind,
        cells: Cells::Dictionary {
            codes: (0..cells.len() as u32).collect(),
            cells: cells.to_vec(),
        },
    }
}

fn label(text: &str) -> Cell {
    Cell::Label(text.into())
}

/// The two tables of a small lgb release.
fn microdata() -> PublishedTable {
    let age = [Cell::Integer(20, 29), Cell::Empty, Cell::Masked];
    let sex = [
        label("F"),
        Cell::Set(vec!["F".into(), "M".into()]),
        label("M, \"x\"\n"),
    ];
    PublishedTable {
        name: "microdata".into(),
        columns: vec![
            numbers("group", Content::Group, &[2, 1, 10]),
            cells(
                "age",
                Content::Generalized,
                Some(AttributeType::Integer),
                &age,
            ),
            numbers("age_bucket", Content::Bucket, &[0, 3, 0]),
            cells(
                "sex, or so",
                Content::Generalized,
                Some(AttributeType::Categorical),
                &sex,
            ),
        ],
    }
}

fn buckets() -> PublishedTable {
    let attribute = [label("age"), label("code"), label("age")];
    let value = [Cell::Integer(5, 5), label("5"), Cell::Integer(6, 6)];
    PublishedTable {
        name: "buckets".into(),
        columns: vec![
            cells("attribute", Content::Attribute, None, &attribute),
            numbers("bucket", Content::Bucket, &[1, 1, 2]),
            cells("value", Content::Value, None, &value),
            numbers("count", Content::Count, &[1, 4, 1]),
        ],
    }
}

fn encode(table: &PublishedTable, piece_bytes: usize) -> (TableDescription, Vec<Vec<u8>>) {
    let mut pieces = Vec::new();
    let mut rows = 0;
    let summary = encode_csv(table, piece_bytes, &mut |bytes, count| {
        pieces.push(bytes);
        rows += count;
    });
    assert_eq!(rows, table.rows() as u64);
    assert_eq!(summary.rows, rows);
    assert_eq!(summary.pieces as usize, pieces.len());
    let bytes: usize = pieces.iter().map(Vec::len).sum();
    assert_eq!(summary.bytes, bytes as u64);
    (TableDescription::of(table, &summary), pieces)
}

#[test]
fn text_is_what_the_design_says() {
    let (_, pieces) = encode(&microdata(), PIECE_BYTES_MAX);
    let expected = "group,age,age_bucket,\"sex, or so\"\n\
        2,20..29,,F\n1,,3,{F|M}\n10,*,,\"M, \"\"x\"\"\n\"\n";
    assert_eq!(String::from_utf8(pieces.concat()).unwrap(), expected);
}

#[test]
fn tables_come_back_from_their_text_in_pieces_of_any_size() {
    for table in [microdata(), buckets()] {
        let (whole, _) = encode(&table, PIECE_BYTES_MAX);
        for piece_bytes in [1, 30, 50, 1000] {
            let (description, pieces) = encode(&table, piece_bytes);
            assert_eq!(description, whole);
            let decoded = decode_csv(&description, &pieces).unwrap();
            assert_eq!(decoded, table.canonical());
        }
    }
}

#[test]
fn a_number_and_a_category_of_the_same_text_are_two_values() {
    let (description, pieces) = encode(&buckets(), PIECE_BYTES_MAX);
    let types = &description.columns[2].types;
    assert_eq!(types["age"], AttributeType::Integer);
    assert_eq!(types["code"], AttributeType::Categorical);
    let decoded = decode_csv(&description, &pieces).unwrap();
    let Cells::Dictionary { cells, .. } = &decoded.columns[2].cells else {
        panic!("values are cells");
    };
    assert_eq!(cells[..2], [Cell::Integer(5, 5), label("5")]);
}

#[test]
fn a_table_without_rows_is_its_header() {
    let mut table = microdata();
    for column in &mut table.columns {
        column.cells = match column.cells {
            Cells::Numbers(_) => Cells::Numbers(Vec::new()),
            Cells::Dictionary { .. } => Cells::Dictionary {
                codes: Codes::default(),
                cells: Vec::new(),
            },
        };
    }
    let (description, pieces) = encode(&table, 10);
    assert_eq!(pieces.len(), 1);
    assert_eq!(decode_csv(&description, &pieces).unwrap(), table);
}

#[test]
fn an_empty_cell_alone_in_its_line_is_no_blank_line() {
    let table = PublishedTable {
        name: "one".into(),
        columns: vec![numbers("bucket", Content::Bucket, &[0, 7, 0])],
    };
    let (description, pieces) = encode(&table, PIECE_BYTES_MAX);
    assert_eq!(pieces.concat(), b"bucket\n\"\"\n7\n\"\"\n");
    assert_eq!(decode_csv(&description, &pieces).unwrap(), table);
}

#[test]
fn masked_cells_are_described_only_where_a_row_has_one() {
    let mut table = microdata();
    let masked = |table: &PublishedTable| {
        let (description, _) = encode(table, PIECE_BYTES_MAX);
        description
            .columns
            .iter()
            .map(|c| c.masked)
            .collect::<Vec<_>>()
    };
    assert_eq!(masked(&table), [false, true, false, false]);
    if let Cells::Dictionary { codes, .. } = &mut table.columns[1].cells {
        *codes = vec![0, 1, 0].into();
    }
    assert_eq!(masked(&table), [false; 4]);
}

#[test]
fn faults_name_line_and_column_and_never_the_value() {
    let (description, pieces) = encode(&microdata(), PIECE_BYTES_MAX);
    let good = String::from_utf8(pieces.concat()).unwrap();
    let cases = [
        (
            "20..29",
            "secret",
            "line 2, column `age`: not a whole number or interval",
        ),
        (
            "20..29",
            "29..20",
            "line 2, column `age`: not a whole number or interval",
        ),
        (
            "1,,3,",
            "1,,03,",
            "line 3, column `age_bucket`: not a number from 1",
        ),
        (
            "{F|M}",
            "{M|F}",
            "line 3, column `sex, or so`: not a set of labels",
        ),
        (
            "1,,3,{F|M}",
            "1,,3",
            "line 3, column `age_bucket`: wrong number of cells",
        ),
        (
            ",F\n",
            ",F,9\n",
            "line 2, column `sex, or so`: wrong number of cells",
        ),
        (
            ",F\n",
            ",\"F\"\n",
            "line 2, column `sex, or so`: not in the canonical form",
        ),
        (
            "age,",
            "secret,",
            "line 1, column `age`: columns are not those of the manifest",
        ),
        ("10,*", "11,*", "digest is not that of the manifest"),
        (
            "2,20..29,,F\n",
            "",
            "number of rows is not that of the manifest",
        ),
    ];
    for (from, to, expected) in cases {
        let bad = good.replacen(from, to, 1);
        let error = decode_csv(&description, [bad.as_bytes()]).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let cut = &good.as_bytes()[..good.len() - 1];
    let error = decode_csv(&description, [cut]).unwrap_err();
    assert_eq!(error.fault, WireFault::Malformed);
    let none: [&[u8]; 0] = [];
    let error = decode_csv(&description, none).unwrap_err();
    assert_eq!(error.fault, WireFault::ColumnsDiffer);
}

#[test]
fn lines_inside_quotes_count_for_the_lines_of_errors() {
    let (description, pieces) = encode(&microdata(), PIECE_BYTES_MAX);
    let mut text = pieces.concat();
    text.extend_from_slice(b"x,,,\n");
    let error = decode_csv(&description, [text]).unwrap_err();
    // Header, two rows, and one row that is two lines long.
    assert_eq!((error.line, error.fault), (Some(6), WireFault::NotANumber));
}
