//! Columns of a sliced release that stay linked on a row, or are ordered so
//! that they can be linked again.
//!
//! The lineage says whose the first column of each row is; the others are put
//! into place here, bucket by bucket, from the source.

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use vizard_anonymizer::release::{Cell, Cells};

use super::owners::{Rows, hash};
use super::{Corruption, Done, Random, evidence, table};
use crate::case::{Case, edit};

/// Headers of each column, by its number.
fn columns(case: &Case) -> Vec<Vec<String>> {
    let numbers = case.numbers("columns", "column");
    let names = case.cells("columns", "attribute");
    let most = numbers.iter().copied().max().unwrap_or(0);
    let of = |wanted: u64| {
        let own = numbers
            .iter()
            .zip(&names)
            .filter(move |(number, _)| **number == wanted);
        own.map(|(_, name)| match name {
            Cell::Label(name) => name.clone(),
            _ => panic!("attributes have names"),
        })
        .collect()
    };
    (1..=most).map(of).collect()
}

/// What a row's subject has in a column.
fn own(case: &Case, headers: &[String], row: usize) -> Vec<Cell> {
    let cells = headers.iter().map(|header| {
        let name = header.split('@').next().unwrap_or(header);
        case.exact(name, case.code(name, row))
    });
    cells.collect()
}

/// What the row shows in a column.
fn shown(all: &[Vec<Cell>], row: usize) -> Vec<Cell> {
    all.iter().map(|cells| cells[row].clone()).collect()
}

/// Puts a column of some rows of a bucket into the order `wanted`: the row at
/// each place gets the cells of the row that stands there.
fn arrange(case: &mut Case, headers: &[String], places: &[usize], from: &[usize]) {
    for header in headers {
        let column = case.published_mut("sliced").columns.iter_mut();
        let mut column = column.filter(|column| column.name == *header);
        let Some(Cells::Dictionary { codes, .. }) = column.next().map(|column| &mut column.cells)
        else {
            panic!("{header} is published");
        };
        edit(codes, |codes| {
            let before = codes.clone();
            for (&place, &other) in places.iter().zip(from) {
                codes[place] = before[other];
            }
        });
    }
}

/// For each row of the bucket (in the order of `rows`), the row that shows the
/// cells of its own record in the column.
fn links(case: &Case, headers: &[String], rows: &[usize]) -> Vec<usize> {
    let all: Vec<Vec<Cell>> = headers
        .iter()
        .map(|name| case.cells("sliced", name))
        .collect();
    let mut left = rows.to_vec();
    let found = rows.iter().map(|&row| {
        let wanted = own(case, headers, row);
        let at = left.iter().position(|&other| shown(&all, other) == wanted);
        left.remove(at.expect("a bucket shows each record's cells"))
    });
    found.collect()
}

/// How a column's cells are laid over the rows of a bucket: from rows and the
/// rows with their own cells, the rows that they come from.
type Lay = fn(&Rows, &[usize], Vec<usize>, &mut Random) -> Vec<usize>;

fn lay(case: &mut Case, random: &mut Random, (from, upto): (usize, usize), lay: Lay) -> Done {
    let before = evidence::text(case);
    let all = columns(case);
    let rows = Rows::of(case);
    for (at, headers) in all.iter().enumerate().skip(from).take(upto - from) {
        for bucket in rows.groups() {
            let linked = links(case, headers, &bucket);
            let wanted = lay(&rows, &bucket, linked, random);
            arrange(case, headers, &bucket, &wanted);
            // The lineage is of the first column: it moves along.
            if at == 0 {
                let subjects = case.subjects().to_vec();
                for (&place, &other) in bucket.iter().zip(&wanted) {
                    case.subjects_mut()[place] = subjects[other];
                }
            }
        }
    }
    if evidence::text(case) == before {
        Done::Skip
    } else {
        Done::Order
    }
}

const OTHERS: (usize, usize) = (1, 9);

fn sorted_as<K: Ord>(bucket: &[usize], linked: &[usize], key: impl Fn(usize) -> K) -> Vec<usize> {
    let mut order: Vec<usize> = (0..bucket.len()).collect();
    order.sort_by_key(|&at| key(bucket[at]));
    order.into_iter().map(|at| linked[at]).collect()
}

/// One bucket alone.
fn one_bucket(case: &mut Case, random: &mut Random) -> Done {
    let before = evidence::text(case);
    let buckets = Rows::of(case).groups();
    for headers in columns(case).iter().skip(1) {
        let bucket = &buckets[random.random_range(0..buckets.len())];
        let linked = links(case, headers, bucket);
        arrange(case, headers, bucket, &linked);
    }
    if evidence::text(case) == before {
        Done::Skip
    } else {
        Done::Order
    }
}

/// One person's cells on one row, the others' as they were.
fn one_person(case: &mut Case, random: &mut Random) -> Done {
    let before = evidence::text(case);
    let buckets = Rows::of(case).groups();
    let bucket = &buckets[random.random_range(0..buckets.len())];
    for headers in columns(case).iter().skip(1) {
        let linked = links(case, headers, bucket);
        arrange(
            case,
            headers,
            &[bucket[0], linked[0]],
            &[linked[0], bucket[0]],
        );
    }
    if evidence::text(case) == before {
        Done::Skip
    } else {
        Done::Order
    }
}

/// Exchanges the numbers of two columns in the table `columns`.
fn renumber(case: &mut Case) -> Done {
    let numbers = case.numbers("columns", "column").into_iter();
    let exchanged = numbers.map(|number| match number {
        1 => 2,
        2 => 1,
        other => other,
    });
    let exchanged = exchanged.collect();
    case.set_numbers("columns", "column", exchanged);
    Done::Content
}

fn all_in_one(case: &mut Case) -> Done {
    let numbers = case.numbers("columns", "column").into_iter();
    let numbers = numbers.map(|number| number.min(1)).collect();
    case.set_numbers("columns", "column", numbers);
    Done::Content
}

/// Exchanges cells of a column between two buckets.
fn between_buckets(case: &mut Case, random: &mut Random) -> Done {
    let rows = Rows::of(case);
    let all = columns(case);
    let Some(headers) = all.choose(random) else {
        return Done::Skip;
    };
    let cells: Vec<Vec<Cell>> = headers
        .iter()
        .map(|name| case.cells("sliced", name))
        .collect();
    let one = random.random_range(0..rows.len());
    let other = (0..rows.len()).find(|&other| {
        rows.number[other] != rows.number[one] && shown(&cells, other) != shown(&cells, one)
    });
    let Some(other) = other else {
        return Done::Skip;
    };
    arrange(case, headers, &[one, other], &[other, one]);
    Done::Content
}

/// Exchanges one attribute of a column inside its bucket, so that what stays
/// linked is false.
fn unlink(case: &mut Case, random: &mut Random) -> Done {
    let rows = Rows::of(case);
    let mut all = columns(case);
    all.retain(|headers| headers.len() > 1);
    let Some(headers) = all.choose(random) else {
        return Done::Skip;
    };
    let last = headers.last().cloned().into_iter().collect::<Vec<_>>();
    let cells = case.cells("sliced", &last[0]);
    let first = case.cells("sliced", &headers[0]);
    let mut buckets = rows.groups();
    buckets.shuffle(random);
    for bucket in buckets {
        for &one in &bucket {
            let other = bucket
                .iter()
                .find(|&&other| cells[one] != cells[other] && first[one] != first[other]);
            if let Some(&other) = other {
                arrange(case, &last, &[one, other], &[other, one]);
                return Done::Content;
            }
        }
    }
    Done::Skip
}

pub fn corruptions() -> Vec<Corruption> {
    let mut all = linked();
    all.extend(table(&[
        (
            "one bucket linked",
            "The rows of one bucket are whole records.",
            one_bucket,
        ),
        (
            "one person linked",
            "One row is a whole record.",
            one_person,
        ),
        (
            "numbers of two columns exchanged",
            "The list of columns is false, or a bit.",
            |c, _| renumber(c),
        ),
        (
            "all attributes said to be one column",
            "Readers take rows for records.",
            |c, _| all_in_one(c),
        ),
        (
            "cells of a column in another bucket",
            "Values stand in the wrong bucket.",
            between_buckets,
        ),
        (
            "an attribute of a column unlinked",
            "What is said to stay linked is not.",
            unlink,
        ),
    ]));
    all
}

fn linked() -> Vec<Corruption> {
    table(&[
        ("columns left linked", "Rows are whole records.", |c, r| {
            lay(c, r, OTHERS, |_, _, linked, _| linked)
        }),
        (
            "columns linked with the next row",
            "Turn each column by one and rows are records.",
            |c, r| {
                lay(c, r, OTHERS, |_, _, mut linked, _| {
                    linked.rotate_left(1);
                    linked
                })
            },
        ),
        (
            "columns linked backwards",
            "The last row of a bucket has the first row's cells.",
            |c, r| {
                lay(c, r, OTHERS, |_, _, mut linked, _| {
                    linked.reverse();
                    linked
                })
            },
        ),
        (
            "columns linked by halves",
            "Of each bucket half of the rows are records.",
            |c, r| {
                lay(c, r, OTHERS, |_, _, mut linked, _| {
                    let half = linked.len() / 2;
                    linked[..half].reverse();
                    linked
                })
            },
        ),
        (
            "a column in the order of the source",
            "All columns so, and rows are linked by rank.",
            |c, r| {
                lay(c, r, OTHERS, |rows, bucket, linked, _| {
                    sorted_as(bucket, &linked, |row| rows.subject[row])
                })
            },
        ),
        (
            "a column by a hash of the owner",
            "Who knows the owner finds the cells.",
            |c, r| {
                lay(c, r, OTHERS, |rows, bucket, linked, _| {
                    sorted_as(bucket, &linked, |row| hash(&rows.subject[row]))
                })
            },
        ),
        (
            "a column by the sensitive value",
            "Every column in the order of values links them.",
            |c, r| {
                lay(c, r, OTHERS, |rows, bucket, linked, _| {
                    sorted_as(bucket, &linked, |row| (rows.secret[row], rows.subject[row]))
                })
            },
        ),
        (
            "a column backwards",
            "One bit for each column of each bucket.",
            |c, r| {
                lay(c, r, OTHERS, |_, bucket, _, _| {
                    bucket.iter().rev().copied().collect()
                })
            },
        ),
        (
            "two cells of a column exchanged in each bucket",
            "A bit for each bucket.",
            |c, r| {
                lay(c, r, OTHERS, |_, bucket, _, random| {
                    let mut wanted = bucket.to_vec();
                    let at = random.random_range(0..bucket.len());
                    wanted.swap(0, at);
                    wanted
                })
            },
        ),
        (
            "the first column by the source",
            "The lineage's own column tells ranks.",
            |c, r| {
                lay(c, r, (0, 1), |rows, bucket, linked, _| {
                    sorted_as(bucket, &linked, |row| rows.subject[row])
                })
            },
        ),
    ])
}
