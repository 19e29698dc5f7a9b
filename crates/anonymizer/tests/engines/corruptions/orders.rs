//! Orders of rows that say something about the source, about somebody's value,
//! or anything at all: whatever an engine can choose, it can speak with.
//!
//! Content, numbers and lineage stay as they were; the rows move alone. An
//! order that leaves what is published as it was is none.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::owners::{Rows, hash, key};
use super::{Corruption, Done, Random, evidence, table};
use crate::case::Case;

type Make = fn(&Rows, &Case, &mut Random) -> Vec<usize>;

fn order(case: &mut Case, random: &mut Random, make: Make) -> Done {
    let order = make(&Rows::of(case), case, random);
    let before = evidence::text(case);
    let name = case.row_table();
    case.take_rows(name, &order);
    if evidence::text(case) == before {
        Done::Skip
    } else {
        Done::Order
    }
}

/// The places of the source, in an order that a function of the place makes.
fn of_source<K: Ord>(rows: &Rows, key: impl Fn(usize) -> K) -> Vec<usize> {
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.sort_by_key(|&place| key(place));
    places
        .into_iter()
        .map(|place| rows.by_source[place])
        .collect()
}

/// Places filled with rows whose bit is that of the place, as far as there are.
fn by_bits(rows: &Rows, bit: impl Fn(usize) -> bool) -> Vec<usize> {
    let (mut odd, mut even): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|&row| bit(row));
    let mut all = Vec::new();
    while !odd.is_empty() || !even.is_empty() {
        all.extend(even.pop());
        all.extend(odd.pop());
    }
    all
}

/// Rows of each group in another order, at the places that the group has.
fn inside<K: Ord>(rows: &Rows, groups: &[Vec<usize>], key: impl Fn(usize) -> K) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    for group in groups {
        let mut sorted = group.clone();
        sorted.sort_by_key(|&row| key(row));
        for (&place, row) in group.iter().zip(sorted) {
            order[place] = row;
        }
    }
    order
}

/// Rows that show the same quasi-identifiers.
fn alike(rows: &Rows) -> Vec<Vec<usize>> {
    let sorted = rows.sorted(|row| rows.looks[row].clone());
    let groups = sorted.chunk_by(|&a, &b| rows.looks[a] == rows.looks[b]);
    groups
        .map(|group| {
            let mut group = group.to_vec();
            group.sort_unstable();
            group
        })
        .collect()
}

fn all_but(rows: &Rows, row: usize) -> impl Iterator<Item = usize> {
    let len = rows.len();
    (0..len).filter(move |&other| other != row)
}

pub fn corruptions() -> Vec<Corruption> {
    let mut all = of_the_source();
    all.extend(of_secrets());
    all.extend(of_messages());
    all
}

fn of_the_source() -> Vec<Corruption> {
    table(&[
        (
            "rows as in the source",
            "The place of a row is that of its record.",
            |c, r| order(c, r, |rows, _, _| rows.by_source.clone()),
        ),
        (
            "rows as in the source, backwards",
            "Places tell the records' places from the end.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    rows.by_source.iter().rev().copied().collect()
                })
            },
        ),
        (
            "rows of the source, folded",
            "First, last, second, last but one: no rank correlation.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    of_source(rows, |at| at.min(rows.len() - 1 - at))
                })
            },
        ),
        (
            "rows of the source, folded inwards",
            "The middle of the source comes first.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    of_source(rows, |at| (2 * at).abs_diff(rows.len()))
                })
            },
        ),
        (
            "rows by a hash of the key",
            "Who knows keys sorts them likewise.",
            |c, r| {
                order(c, r, |rows, case, _| {
                    rows.sorted(|row| hash(&key(case, row)))
                })
            },
        ),
        (
            "rows by a hash of the place",
            "The hash of a place in the source is known to all.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    rows.sorted(|row| hash(&rows.subject[row]))
                })
            },
        ),
        (
            "rows of the source under an affine map",
            "Place times 71 plus 5 modulo a prime.",
            |c, r| order(c, r, |rows, _, _| of_source(rows, |at| (at * 71 + 5) % 251)),
        ),
        (
            "rows of the source, every seventh",
            "Seven strides through the source.",
            |c, r| order(c, r, |rows, _, _| of_source(rows, |at| at % 7)),
        ),
        (
            "rows of the source, up and down in turn",
            "Odd places rise, even places fall.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    let n = rows.len();
                    let place = |at: usize| {
                        if at.is_multiple_of(2) {
                            at / 2
                        } else {
                            n - 1 - at / 2
                        }
                    };
                    (0..n).map(|at| rows.by_source[place(at)]).collect()
                })
            },
        ),
        (
            "blocks of the source, each backwards",
            "Ten rows of the source together, turned round.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    of_source(rows, |at| (at / 10, 10 - at % 10))
                })
            },
        ),
        (
            "blocks of the source in a hashed order",
            "Ten neighbours of the source stay neighbours.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    of_source(rows, |at| (hash(&(at / 10)), at % 10))
                })
            },
        ),
        (
            "halves of the source, interleaved",
            "A shuffle of cards that can be undone.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    let half = rows.len().div_ceil(2);
                    of_source(rows, |at| (at % half, at / half))
                })
            },
        ),
        (
            "rows of the source by their Gray code",
            "Neighbours differ in one bit of the place.",
            |c, r| order(c, r, |rows, _, _| of_source(rows, |at| at ^ (at >> 1))),
        ),
        (
            "rows of the source by reversed bits",
            "The place's bits are read backwards.",
            |c, r| order(c, r, |rows, _, _| of_source(rows, |at| at.reverse_bits())),
        ),
        (
            "rows of the source, turned",
            "The source from its middle on, then its beginning.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    let mut all = rows.by_source.clone();
                    let half = all.len() / 2;
                    all.rotate_left(half);
                    all
                })
            },
        ),
        (
            "rows of each group as in the source",
            "Only inside groups does the source's order show.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    inside(rows, &rows.groups(), |row| rows.subject[row])
                })
            },
        ),
        (
            "neighbours of the source are neighbours",
            "Pairs of the source stay pairs, pairs are hashed.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    of_source(rows, |at| (hash(&(at / 2)), at))
                })
            },
        ),
        (
            "groups by their first record of the source",
            "Groups one behind the other by their oldest record.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    let mut groups = rows.groups();
                    groups.sort_by_key(|group| group.iter().map(|&row| rows.subject[row]).min());
                    groups.concat()
                })
            },
        ),
    ])
}

fn of_secrets() -> Vec<Corruption> {
    table(&[
        (
            "rows by the sensitive value",
            "The place tells the value.",
            |c, r| order(c, r, |rows, _, _| rows.sorted(|row| rows.secret[row])),
        ),
        (
            "rows of each group by the sensitive value",
            "The place inside a group tells the value.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    inside(rows, &rows.groups(), |row| rows.secret[row])
                })
            },
        ),
        (
            "rows of each group by a hash of the value",
            "The same under a permutation that is known.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    inside(rows, &rows.groups(), |row| hash(&rows.secret[row]))
                })
            },
        ),
        (
            "bit of the value in the order of rows that look alike",
            "Among rows that look alike odd values come first.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    inside(rows, &alike(rows), |row| rows.secret[row] % 2)
                })
            },
        ),
        (
            "bit of the place in the order of rows that look alike",
            "Among rows that look alike odd records come first.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    inside(rows, &alike(rows), |row| rows.subject[row] % 2)
                })
            },
        ),
        (
            "bit of the value in the parity of places",
            "Odd values stand at odd places.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    by_bits(rows, |row| rows.secret[row] % 2 == 1)
                })
            },
        ),
        (
            "rows by a hash of the sensitive value",
            "Rows of one value lie together.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    rows.sorted(|row| hash(&rows.secret[row]))
                })
            },
        ),
        (
            "rows of one value first",
            "Everyone with the rarest value heads the table.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    let count =
                        |value: u32| rows.secret.iter().filter(|&&other| other == value).count();
                    let rare = rows
                        .secret
                        .iter()
                        .min_by_key(|&&value| count(value))
                        .copied();
                    rows.sorted(|row| Some(rows.secret[row]) != rare)
                })
            },
        ),
        (
            "the largest value heads each group",
            "The first row of each group has its largest value.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    let groups = rows.groups();
                    let most = |row: usize| {
                        let group = groups.iter().find(|group| group.contains(&row));
                        let rows_of = group.into_iter().flatten();
                        rows_of.max_by_key(|&&row| rows.secret[row]) != Some(&row)
                    };
                    inside(rows, &groups, most)
                })
            },
        ),
        (
            "those who asked for something first",
            "The place tells who gave terms.",
            |c, r| order(c, r, |rows, _, _| rows.sorted(|row| !rows.asks[row])),
        ),
        (
            "those who asked for something last of their group",
            "The same inside groups.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    inside(rows, &rows.groups(), |row| rows.asks[row])
                })
            },
        ),
        (
            "one person's row first",
            "A target is marked by the first place.",
            |c, r| {
                order(c, r, |rows, _, random| {
                    let target = random.random_range(1..rows.len());
                    std::iter::once(target)
                        .chain(all_but(rows, target))
                        .collect()
                })
            },
        ),
        (
            "one person's row last",
            "A target is marked by the last place.",
            |c, r| {
                order(c, r, |rows, _, random| {
                    let target = random.random_range(0..rows.len() - 1);
                    all_but(rows, target).chain([target]).collect()
                })
            },
        ),
    ])
}

fn of_messages() -> Vec<Corruption> {
    table(&[
        (
            "two neighbouring rows exchanged",
            "One bit: whether they are.",
            |c, r| {
                order(c, r, |rows, _, random| {
                    let differ = |&at: &usize| {
                        rows.shows[at] != rows.shows[at + 1]
                            || rows.number[at] != rows.number[at + 1]
                    };
                    let places: Vec<usize> = (0..rows.len() - 1).filter(differ).collect();
                    let at = places[random.random_range(0..places.len())];
                    let mut all: Vec<usize> = (0..rows.len()).collect();
                    all.swap(at, at + 1);
                    all
                })
            },
        ),
        (
            "the first row moved to the end",
            "One bit, by a turn of the whole table.",
            |c, r| order(c, r, |rows, _, _| (1..rows.len()).chain([0]).collect()),
        ),
        (
            "the table turned by a secret number",
            "Where the table begins is a number below its length.",
            |c, r| {
                order(c, r, |rows, _, random| {
                    let by = random.random_range(2..rows.len() - 1);
                    (by..rows.len()).chain(0..by).collect()
                })
            },
        ),
        ("rows backwards", "One bit: whether they are.", |c, r| {
            order(c, r, |rows, _, _| (0..rows.len()).rev().collect())
        }),
        (
            "a text in the order of rows",
            "A permutation of n rows holds log2 n! bits: here somebody's key.",
            |c, r| {
                order(c, r, |rows, case, _| {
                    let text = key(case, 0);
                    let mut left: Vec<usize> = (0..rows.len()).collect();
                    let take = |byte: u8, left: &mut Vec<usize>| {
                        left.remove(usize::from(byte) % left.len())
                    };
                    let mut all: Vec<usize> =
                        text.bytes().map(|byte| take(byte, &mut left)).collect();
                    all.extend(left);
                    all
                })
            },
        ),
        (
            "rows in an order that a kept secret makes",
            "Who has the secret undoes the order.",
            |c, r| {
                order(c, r, |rows, _, random| {
                    let mut all: Vec<usize> = (0..rows.len()).collect();
                    all.shuffle(random);
                    all
                })
            },
        ),
        (
            "rows by the length of their text",
            "An order of content, but not the one.",
            |c, r| {
                order(c, r, |rows, _, _| {
                    rows.sorted(|row| (rows.shows[row].len(), hash(&rows.shows[row])))
                })
            },
        ),
        (
            "groups in an order of their own",
            "Groups lie together, in the order of a secret.",
            |c, r| {
                order(c, r, |rows, _, random| {
                    let mut groups = rows.groups();
                    groups.shuffle(random);
                    groups.concat()
                })
            },
        ),
        (
            "two rows of one group exchanged",
            "One bit in each group.",
            |c, r| {
                order(c, r, |rows, _, random| {
                    let mut all: Vec<usize> = (0..rows.len()).collect();
                    let groups = rows.groups();
                    let group = &groups[random.random_range(0..groups.len())];
                    for pair in group.windows(2) {
                        if rows.shows[pair[0]] != rows.shows[pair[1]] {
                            all.swap(pair[0], pair[1]);
                            break;
                        }
                    }
                    all
                })
            },
        ),
    ])
}
