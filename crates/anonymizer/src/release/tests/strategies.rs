//! Random cells and tables, made of what the text forms give a meaning to.

use proptest::prelude::*;
use proptest::sample::select;

use crate::microdata::AttributeType::{self, Categorical, Date, Decimal, Integer};
use crate::release::{Cell, Cells, Content, Item, PublishedColumn, PublishedTable};

/// Labels made of characters that escape, part, quote or run.
pub(in crate::release) fn hostile_label() -> impl Strategy<Value = String> {
    let pieces = vec![
        "..", "{", "|", "}", "*", "\\", "\"", "'", "\n", "\r", ",", "ä", "𝛼", "=", "+", "-", "@",
        "a", "0", " ", "\u{feff}", "null",
    ];
    prop::collection::vec(select(pieces), 1..6).prop_map(|pieces| pieces.concat())
}

fn members(least: usize) -> impl Strategy<Value = Vec<String>> {
    prop::collection::btree_set(hostile_label(), least..5)
        .prop_map(|labels| labels.into_iter().collect())
}

fn ends<T: PartialOrd>((a, b): (T, T)) -> (T, T) {
    if a <= b { (a, b) } else { (b, a) }
}

/// A cell of an attribute of this type that is neither empty nor masked;
/// `exact`: one value.
fn attribute_cell(kind: Option<AttributeType>, exact: bool) -> BoxedStrategy<Cell> {
    let both = move |same: bool| same || exact;
    match kind {
        Some(Integer) => (any::<(i64, i64)>(), any::<bool>())
            .prop_map(move |(pair, same)| {
                let (lo, hi) = ends(pair);
                Cell::Integer(lo, if both(same) { lo } else { hi })
            })
            .boxed(),
        Some(Decimal) => {
            let finite = any::<f64>().prop_filter("finite", |value| value.is_finite());
            (finite.clone(), finite, any::<bool>())
                .prop_map(move |(a, b, same)| {
                    let (lo, hi) = ends((a, b));
                    Cell::Decimal(lo, if both(same) { lo } else { hi })
                })
                .boxed()
        }
        Some(Date) => {
            let days = -700_000..2_900_000_i32;
            (days.clone(), days, any::<bool>())
                .prop_map(move |(a, b, same)| {
                    let (lo, hi) = ends((a, b));
                    Cell::Date(lo, if both(same) { lo } else { hi })
                })
                .boxed()
        }
        Some(Categorical) | None if exact => hostile_label().prop_map(Cell::Label).boxed(),
        Some(Categorical) | None => prop_oneof![
            2 => hostile_label().prop_map(Cell::Label),
            1 => members(2).prop_map(Cell::Set),
        ]
        .boxed(),
    }
}

/// Members of a fingerprint, a union among them or not.
fn items() -> impl Strategy<Value = Vec<Item>> {
    let union = prop::option::of(members(2).prop_map(Item::Union));
    (members(1), union).prop_map(|(labels, union)| {
        let nodes = labels.into_iter().map(Item::Node);
        nodes.chain(union).collect()
    })
}

/// A cell of a column of this content and type.
fn cell_of(content: Content, kind: Option<AttributeType>) -> BoxedStrategy<Cell> {
    let filled = match content {
        Content::Fingerprint => items().prop_map(Cell::Items).boxed(),
        Content::Attribute => hostile_label().prop_map(Cell::Label).boxed(),
        _ => attribute_cell(kind, content != Content::Generalized),
    };
    let is_exact = content != Content::Generalized;
    let filled = match kind {
        Some(Integer | Decimal | Date) if content != Content::Fingerprint => prop_oneof![
            4 => filled.clone(),
            1 => Just(Cell::missing()),
            1 => filled.prop_map(move |cell| {
                if is_exact {
                    cell
                } else {
                    Cell::OrMissing(Box::new(cell))
                }
            }),
        ]
        .boxed(),
        _ => filled,
    };
    prop_oneof![6 => filled, 1 => Just(Cell::Empty), 1 => Just(Cell::Masked)].boxed()
}

fn any_kind() -> impl Strategy<Value = Option<AttributeType>> {
    select(vec![
        None,
        Some(Integer),
        Some(Decimal),
        Some(Date),
        Some(Categorical),
    ])
}

/// What a column of cells may be.
fn any_content() -> impl Strategy<Value = (Content, Option<AttributeType>)> {
    let contents = vec![
        Content::Generalized,
        Content::Exact,
        Content::Value,
        Content::Fingerprint,
        Content::Attribute,
    ];
    (select(contents), any_kind()).prop_map(|(content, kind)| match content {
        Content::Fingerprint | Content::Attribute => (content, None),
        _ => (content, kind),
    })
}

/// A cell with the column that it fits.
pub(in crate::release) fn any_cell() -> impl Strategy<Value = (Cell, Content, Option<AttributeType>)>
{
    any_content().prop_flat_map(|(content, kind)| {
        cell_of(content, kind).prop_map(move |cell| (cell, content, kind))
    })
}

/// Columns of `rows` rows, their names to be given.
fn any_columns(rows: usize) -> BoxedStrategy<Vec<PublishedColumn>> {
    let contents = vec![
        Content::Group,
        Content::Block,
        Content::Bucket,
        Content::Count,
        Content::Column,
    ];
    let number = prop_oneof![Just(0_u64), 1..20_u64, 1..=i64::MAX as u64];
    let numbers = (select(contents), prop::collection::vec(number, rows))
        .prop_map(|(content, numbers)| vec![column(content, None, Cells::Numbers(numbers))]);
    let cells = any_content()
        // Values without attributes are in `buckets` below.
        .prop_filter("values go with attributes", |(content, _)| {
            !matches!(content, Content::Value | Content::Attribute)
        })
        .prop_flat_map(move |(content, kind)| {
            dictionary(cell_of(content, kind), rows)
                .prop_map(move |cells| vec![column(content, kind, cells)])
        });
    prop_oneof![2 => numbers, 5 => cells, 1 => buckets(rows)].boxed()
}

fn column(content: Content, kind: Option<AttributeType>, cells: Cells) -> PublishedColumn {
    PublishedColumn {
        name: String::new(),
        content,
        kind,
        cells,
    }
}

/// A dictionary with repeats and unused cells, as an engine may leave it.
fn dictionary(cell: BoxedStrategy<Cell>, rows: usize) -> impl Strategy<Value = Cells> {
    prop::collection::vec(cell, 1..8).prop_flat_map(move |cells| {
        prop::collection::vec(0..cells.len() as u32, rows).prop_map(move |codes| {
            Cells::Dictionary {
                codes: codes.into(),
                cells: cells.clone(),
            }
        })
    })
}

/// A column of attributes of different types, and the values beside it.
fn buckets(rows: usize) -> impl Strategy<Value = Vec<PublishedColumn>> {
    let kinds = [Integer, Decimal, Date, Categorical];
    let values = kinds.map(|kind| prop::collection::vec(cell_of(Content::Value, Some(kind)), 3));
    let rows = prop::collection::vec((0..4_u32, 0..3_u32), rows);
    (values, rows).prop_map(|(values, rows)| {
        let labels = ["count", "5", "*", "{a|b}"];
        let names = Cells::Dictionary {
            codes: rows.iter().map(|row| row.0).collect(),
            cells: labels.map(|label| Cell::Label(label.into())).to_vec(),
        };
        let values = Cells::Dictionary {
            codes: rows.iter().map(|row| row.0 * 3 + row.1).collect(),
            cells: values.concat(),
        };
        vec![
            column(Content::Attribute, None, names),
            column(Content::Value, None, values),
        ]
    })
}

/// A table that an engine may make.
pub(in crate::release) fn any_table() -> impl Strategy<Value = PublishedTable> {
    (0..30_usize)
        .prop_flat_map(|rows| prop::collection::vec(any_columns(rows), 1..6))
        .prop_flat_map(|columns| {
            let columns = columns.concat();
            let names = prop::collection::btree_set(hostile_label(), columns.len());
            (Just(columns), names)
        })
        .prop_map(|(mut columns, names)| {
            for (column, name) in columns.iter_mut().zip(names) {
                column.name = name;
            }
            PublishedTable {
                name: "table".into(),
                columns,
            }
        })
}
