//! Numbers of groups, blocks and buckets that say something: rank, gaps and
//! order of numbers are an engine's choice if nothing fixes them.
//!
//! Every table that uses a number is renumbered alike. Rows stay in place, or
//! follow their new numbers where the table was sorted by them.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use vizard_anonymizer::release::{Cell, Content};

use super::owners::{Rows, hash};
use super::{Corruption, Done, Random, evidence, table};
use crate::case::Case;

/// Numbers of one kind, wherever they stand.
#[derive(Clone, Debug)]
struct Family {
    /// Table, column, and the attribute whose rows are meant, if not all.
    places: Vec<(String, String, Option<String>)>,
    /// Rows about subjects by number.
    members: BTreeMap<u64, Vec<usize>>,
}

/// Gives each number of a family, in the order in which they stand, a new one.
type Give = fn(&[u64], &BTreeMap<u64, Vec<usize>>, &Rows, &mut Random) -> Vec<u64>;

fn families(case: &Case) -> Vec<Family> {
    let rows = case.row_table();
    let has = |name: &str| case.tables.iter().any(|table| table.name == name);
    let columns = case.published(rows).columns.iter();
    let numbers = columns.filter(|column| {
        matches!(
            column.content,
            Content::Group | Content::Block | Content::Bucket
        )
    });
    let named = numbers.map(|column| {
        let own = |name: &str| name.to_owned();
        let mut places = vec![(own(rows), column.name.clone(), None)];
        let stem = column.name.rsplit_once('_').map(|(stem, _)| own(stem));
        match column.content {
            Content::Group if has("group_buckets") => {
                places.push((own("group_buckets"), own("group"), None));
            }
            Content::Block if has("sensitive") => {
                places.push((own("sensitive"), own("block"), stem));
            }
            Content::Bucket if has("buckets") => places.push((own("buckets"), own("bucket"), stem)),
            _ => {}
        }
        let mut members: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (row, number) in case.numbers(rows, &column.name).into_iter().enumerate() {
            members.entry(number).or_default().push(row);
        }
        members.remove(&0);
        Family { places, members }
    });
    named.filter(|family| family.members.len() > 2).collect()
}

fn renumber(case: &mut Case, family: &Family, new: &BTreeMap<u64, u64>) {
    for (table, column, attribute) in &family.places {
        let names = attribute.as_ref().map(|_| case.cells(table, "attribute"));
        let mut numbers = case.numbers(table, column);
        for (row, number) in numbers.iter_mut().enumerate() {
            let is_meant = match (attribute, &names) {
                (Some(name), Some(names)) => names[row] == Cell::Label(name.clone()),
                _ => true,
            };
            if is_meant {
                *number = new.get(number).copied().unwrap_or(*number);
            }
        }
        case.set_numbers(table, column, numbers);
    }
}

fn number(case: &mut Case, random: &mut Random, give: Give) -> Done {
    let families = families(case);
    let Some(family) = families.choose(random) else {
        return Done::Skip;
    };
    let rows = Rows::of(case);
    let old: Vec<u64> = family.members.keys().copied().collect();
    let new = give(&old, &family.members, &rows, random);
    let before = evidence::text(case);
    renumber(case, family, &old.into_iter().zip(new).collect());
    if evidence::text(case) == before {
        return Done::Skip;
    }
    if random.random_bool(0.5) {
        // What a sorted table would look like with these numbers.
        for (name, column, _) in &family.places {
            let numbers = case.numbers(name, column);
            let mut order: Vec<usize> = (0..numbers.len()).collect();
            order.sort_by_key(|&row| numbers[row]);
            case.take_rows(name, &order);
        }
    }
    Done::Order
}

/// The same numbers, by rank of a key of the rows that have them.
fn ranked<K: Ord>(
    old: &[u64],
    members: &BTreeMap<u64, Vec<usize>>,
    key: impl Fn(&[usize]) -> K,
) -> Vec<u64> {
    let mut order: Vec<usize> = (0..old.len()).collect();
    order.sort_by_key(|&at| key(&members[&old[at]]));
    let mut new = vec![0; old.len()];
    for (rank, at) in order.into_iter().enumerate() {
        new[at] = old[rank];
    }
    new
}

pub fn corruptions() -> Vec<Corruption> {
    let mut all = of_content();
    all.extend(of_messages());
    all
}

fn of_content() -> Vec<Corruption> {
    table(&[
        (
            "numbers by the first row's value",
            "The number ranks the first member's sensitive value.",
            |c, r| {
                number(c, r, |old, members, rows, _| {
                    ranked(old, members, |own| (rows.secret[own[0]], own[0]))
                })
            },
        ),
        (
            "numbers by the largest value",
            "The number ranks the largest sensitive value.",
            |c, r| {
                number(c, r, |old, members, rows, _| {
                    ranked(old, members, |own| {
                        own.iter().map(|&row| rows.secret[row]).max()
                    })
                })
            },
        ),
        (
            "numbers by the most frequent value",
            "Groups with the same commonest value are neighbours.",
            |c, r| {
                number(c, r, |old, members, rows, _| {
                    ranked(old, members, |own| {
                        let count = |&&row: &&usize| {
                            let same = own
                                .iter()
                                .filter(|&&other| rows.secret[other] == rows.secret[row]);
                            (same.count(), rows.secret[row])
                        };
                        own.iter().max_by_key(count).map(|&row| rows.secret[row])
                    })
                })
            },
        ),
        (
            "numbers by the first record of the source",
            "The number ranks the oldest record.",
            |c, r| {
                number(c, r, |old, members, rows, _| {
                    ranked(old, members, |own| {
                        own.iter().map(|&row| rows.subject[row]).min()
                    })
                })
            },
        ),
        (
            "numbers by the last record of the source",
            "The number ranks the newest record.",
            |c, r| {
                number(c, r, |old, members, rows, _| {
                    ranked(old, members, |own| {
                        own.iter().map(|&row| rows.subject[row]).max()
                    })
                })
            },
        ),
        (
            "numbers by a hash of the first record",
            "Who knows the place in the source finds the group.",
            |c, r| {
                number(c, r, |old, members, rows, _| {
                    ranked(old, members, |own| {
                        hash(&own.iter().map(|&row| rows.subject[row]).min())
                    })
                })
            },
        ),
        (
            "numbers by size",
            "An order of content, but not the one.",
            |c, r| {
                number(c, r, |old, members, _, _| {
                    ranked(old, members, |own| (own.len(), hash(&own[0])))
                })
            },
        ),
        (
            "numbers of groups with terms first",
            "Low numbers tell that somebody asked for something.",
            |c, r| {
                number(c, r, |old, members, rows, _| {
                    ranked(old, members, |own| !own.iter().any(|&row| rows.asks[row]))
                })
            },
        ),
        (
            "numbers by parity of values",
            "Groups with an odd sum of values have the low numbers.",
            |c, r| {
                number(c, r, |old, members, rows, _| {
                    ranked(old, members, |own| {
                        own.iter().map(|&row| rows.secret[row]).sum::<u32>() % 2
                    })
                })
            },
        ),
    ])
}

fn of_messages() -> Vec<Corruption> {
    table(&[
        ("numbers backwards", "One bit: whether they are.", |c, r| {
            number(c, r, |old, _, _, _| old.iter().rev().copied().collect())
        }),
        ("two numbers exchanged", "One bit for each pair.", |c, r| {
            number(c, r, |old, _, _, random| {
                let mut new = old.to_vec();
                let at = random.random_range(0..old.len() - 1);
                new.swap(at, at + 1);
                new
            })
        }),
        (
            "numbers turned",
            "By how much is a number that somebody reads.",
            |c, r| {
                number(c, r, |old, _, _, random| {
                    let mut new = old.to_vec();
                    new.rotate_left(random.random_range(1..old.len()));
                    new
                })
            },
        ),
        (
            "numbers in an order that a kept secret makes",
            "Who has the secret undoes it.",
            |c, r| {
                number(c, r, |old, _, _, random| {
                    let mut new = old.to_vec();
                    new.shuffle(random);
                    new
                })
            },
        ),
        (
            "numbers with gaps",
            "Which numbers are left out is a message.",
            |c, r| {
                number(c, r, |old, _, _, _| {
                    old.iter().map(|number| number * 2).collect()
                })
            },
        ),
        (
            "one number left out",
            "Which one it is says something.",
            |c, r| {
                number(c, r, |old, _, _, random| {
                    let from = random.random_range(1..old.len());
                    let skip = |(at, &number): (usize, &u64)| number + u64::from(at >= from);
                    old.iter().enumerate().map(skip).collect()
                })
            },
        ),
        (
            "numbers with a code in front",
            "The leading digits hold a value.",
            |c, r| {
                number(c, r, |old, members, rows, _| {
                    let code =
                        |number: &u64| 1_000 * (1 + u64::from(rows.secret[members[number][0]]));
                    old.iter().map(|number| code(number) + number).collect()
                })
            },
        ),
        (
            "numbers from another beginning",
            "Where counting begins is a message.",
            |c, r| {
                number(c, r, |old, _, _, random| {
                    let from = random.random_range(2..90);
                    old.iter().map(|number| number + from).collect()
                })
            },
        ),
    ])
}
