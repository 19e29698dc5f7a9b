//! Orders of the tables that are about no single subject: values of blocks,
//! values of buckets, links of groups, attributes of columns.

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use vizard_anonymizer::microdata::Code;
use vizard_anonymizer::release::Cell;

use super::owners::{Rows, hash, texts};
use super::{Corruption, Done, Random, evidence, table};
use crate::case::Case;

const LISTS: [&str; 4] = ["sensitive", "buckets", "group_buckets", "columns"];

/// A row of a list: the table's rows as text, and whose value it is.
struct Entries {
    texts: Vec<String>,
    /// For each entry the rows about subjects whose value it counts.
    owners: Vec<Vec<usize>>,
    columns: usize,
    rows: Rows,
}

type Make = fn(&Entries, &mut Random) -> Vec<usize>;

fn lists(case: &Case) -> Vec<&'static str> {
    let has = |name: &&str| case.tables.iter().any(|table| table.name == **name);
    LISTS.into_iter().filter(has).collect()
}

/// Whose value each entry counts: the rows of its block or bucket with the
/// value, or all rows with the value where rows name no bucket.
fn owners(case: &Case, list: &str) -> Vec<Vec<usize>> {
    let (number, suffix) = match list {
        "sensitive" => ("block", "block"),
        "buckets" => ("bucket", "bucket"),
        _ => return Vec::new(),
    };
    let rows = case.row_table();
    let numbers = case.numbers(list, number);
    let attributes = case.cells(list, "attribute");
    let values = case.cells(list, "value");
    let entries = numbers.iter().zip(attributes.iter().zip(&values));
    let found = entries.map(|(number, (attribute, value))| {
        let Cell::Label(name) = attribute else {
            return Vec::new();
        };
        let table = case.published(rows);
        let own = format!("{name}_{suffix}");
        let column = [own.as_str(), suffix]
            .into_iter()
            .find(|name| table.column(name).is_some());
        let column = column.map(|column| case.numbers(rows, column));
        let is_own = |&row: &usize| {
            let code: Code = case.code(name, row);
            column.as_ref().is_none_or(|column| column[row] == *number)
                && case.exact(name, code) == *value
        };
        (0..case.rows()).filter(is_own).collect()
    });
    found.collect()
}

fn order(case: &mut Case, random: &mut Random, wanted: &[&str], make: Make) -> Done {
    let mut lists = lists(case);
    lists.retain(|list| wanted.contains(list));
    let Some(&list) = lists.choose(random) else {
        return Done::Skip;
    };
    let entries = Entries {
        texts: texts(case.published(list), &|_| true),
        owners: owners(case, list),
        columns: case.published(list).columns.len(),
        rows: Rows::of(case),
    };
    let order = make(&entries, random);
    let before = evidence::text(case);
    case.take_rows(list, &order);
    if evidence::text(case) == before {
        Done::Skip
    } else {
        Done::Order
    }
}

fn sorted<K: Ord>(entries: &Entries, key: impl Fn(usize) -> K) -> Vec<usize> {
    let mut all: Vec<usize> = (0..entries.texts.len()).collect();
    all.sort_by_key(|&at| key(at));
    all
}

/// Attribute and number of the block, bucket or column of each entry; group
/// and attribute where groups are linked.
fn front(entries: &Entries, at: usize) -> (&str, &str) {
    let mut cells = entries.texts[at].split('\u{1f}');
    let first = cells.next().unwrap_or_default();
    if entries.owners.is_empty() && entries.columns == 2 {
        (first, "")
    } else {
        (first, cells.next().unwrap_or_default())
    }
}

/// Entries of one block or bucket by whose they are.
fn by_owner<K: Ord>(entries: &Entries, key: impl Fn(usize) -> K) -> Vec<usize> {
    sorted(entries, |at| {
        let owners = entries.owners[at].iter();
        (front(entries, at), owners.map(|&row| key(row)).min())
    })
}

const VALUES: [&str; 2] = ["sensitive", "buckets"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = table(&[
        (
            "values of a block in the order of its rows",
            "The n-th value of a block is that of its n-th row.",
            |c, r| {
                order(c, r, &["sensitive"], |entries, _| {
                    by_owner(entries, |row| row)
                })
            },
        ),
        (
            "values of a block in the order of its rows, backwards",
            "The same from the end.",
            |c, r| {
                order(c, r, &["sensitive"], |entries, _| {
                    by_owner(entries, std::cmp::Reverse)
                })
            },
        ),
        (
            "all values in the order of the rows",
            "The list follows the rows of the other table.",
            |c, r| {
                order(c, r, &["sensitive"], |entries, _| {
                    sorted(entries, |at| entries.owners[at].first().copied())
                })
            },
        ),
        (
            "values of a bucket in the order of its rows",
            "The n-th value of a bucket is that of its n-th row.",
            |c, r| {
                order(c, r, &["buckets"], |entries, _| {
                    by_owner(entries, |row| row)
                })
            },
        ),
        (
            "values in the order of the source",
            "Values of a block or bucket stand as their records do.",
            |c, r| {
                order(c, r, &VALUES, |entries, _| {
                    by_owner(entries, |row| entries.rows.subject[row])
                })
            },
        ),
        (
            "values by a hash of their owner",
            "Who knows the owner finds the value.",
            |c, r| {
                order(c, r, &VALUES, |entries, _| {
                    by_owner(entries, |row| hash(&entries.rows.subject[row]))
                })
            },
        ),
        (
            "values of those who asked for something first",
            "The place tells whose value it is.",
            |c, r| {
                order(c, r, &VALUES, |entries, _| {
                    by_owner(entries, |row| !entries.rows.asks[row])
                })
            },
        ),
        (
            "values by what their owner shows",
            "Values stand in the order of quasi-identifiers.",
            |c, r| {
                order(c, r, &VALUES, |entries, _| {
                    by_owner(entries, |row| entries.rows.shows[row].clone())
                })
            },
        ),
    ]);
    all.extend(of_messages());
    all
}

fn of_messages() -> Vec<Corruption> {
    table(&[
        ("a list backwards", "One bit: whether it is.", |c, r| {
            order(c, r, &LISTS, |entries, _| {
                (0..entries.texts.len()).rev().collect()
            })
        }),
        (
            "two neighbours of a list exchanged",
            "One bit for each pair.",
            |c, r| {
                order(c, r, &LISTS, |entries, random| {
                    let mut all: Vec<usize> = (0..entries.texts.len()).collect();
                    let at = random.random_range(0..all.len() - 1);
                    all.swap(at, at + 1);
                    all
                })
            },
        ),
        ("a list turned", "Where it begins is a number.", |c, r| {
            order(c, r, &LISTS, |entries, random| {
                let mut all: Vec<usize> = (0..entries.texts.len()).collect();
                let by = random.random_range(1..all.len());
                all.rotate_left(by);
                all
            })
        }),
        (
            "a list by a hash of its rows",
            "An order of content, but not the one.",
            |c, r| {
                order(c, r, &LISTS, |entries, _| {
                    sorted(entries, |at| hash(&entries.texts[at]))
                })
            },
        ),
        (
            "a list in an order that a kept secret makes",
            "Who has the secret undoes it.",
            |c, r| {
                order(c, r, &LISTS, |entries, random| {
                    let mut all: Vec<usize> = (0..entries.texts.len()).collect();
                    all.shuffle(random);
                    all
                })
            },
        ),
        (
            "entries of one number exchanged",
            "One bit inside a block, bucket, group or column.",
            |c, r| {
                order(c, r, &LISTS, |entries, random| {
                    let mut all: Vec<usize> = (0..entries.texts.len()).collect();
                    let same = |&at: &usize| front(entries, at) == front(entries, at + 1);
                    let places: Vec<usize> = (0..all.len() - 1).filter(same).collect();
                    if let Some(&at) = places.choose(random) {
                        all.swap(at, at + 1);
                    }
                    all
                })
            },
        ),
    ])
}
