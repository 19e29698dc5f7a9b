//! Rings whose shift, order or beginning is not drawn but chosen: rows still
//! cover as many records with as many values as the job asks for, and it is
//! known, or somebody knows, which of them a row's value is of.
//!
//! The rings are made anew here in the way that the method has it; rows then
//! stand at the places of their group in random order.

use rand::RngExt;
use rand::seq::SliceRandom;
use vizard_anonymizer::microdata::{Code, SubjectIndex};
use vizard_anonymizer::release::Cell;

use super::owners::{Rows, hash};
use super::{Corruption, Done, Random, evidence, table};
use crate::case::Case;

/// Records that a row covers: the least multiple of l that is at least anyone's k.
const WINDOW: usize = 3;
const COVERED: [&str; 2] = ["age", "city"];
const OWN: [&str; 3] = ["ward", "salary", "disease"];

/// A ring as it is turned: rows of the group in ring order, and by how much.
struct Turn {
    ring: Vec<usize>,
    shift: usize,
}

type Make = fn(&Rows, Vec<usize>, &mut Random) -> Turn;

/// Deals rows so that any adjacent ones have different values: sorted by value
/// with the most frequent first, then every so-manieth.
fn deal(rows: &Rows, mut group: Vec<usize>) -> Vec<usize> {
    let count = |row: usize| {
        group
            .iter()
            .filter(|&&other| rows.secret[other] == rows.secret[row])
            .count()
    };
    let mut counted: Vec<(usize, usize)> = group.iter().map(|&row| (count(row), row)).collect();
    counted.sort_by_key(|&(count, row)| (std::cmp::Reverse(count), rows.secret[row]));
    group = counted.into_iter().map(|(_, row)| row).collect();
    let rounds = (group.len() / WINDOW).max(1);
    let dealt = (0..rounds).flat_map(|round| group.iter().skip(round).step_by(rounds));
    dealt.copied().collect()
}

/// The cell that covers the values of some rows' owners.
fn cover(case: &Case, name: &str, rows: &[usize]) -> Cell {
    let codes = rows.iter().map(|&row| case.code(name, row).0);
    let (low, high) = codes.fold((u32::MAX, 0), |(low, high), code| {
        (low.min(code), high.max(code))
    });
    let domain = case.domain(name);
    match domain.hierarchy() {
        Some(tree) => {
            let node = tree.node(tree.common_ancestor(Code(low), Code(high)));
            Cell::Label(node.label.clone())
        }
        None => match (case.exact(name, Code(low)), case.exact(name, Code(high))) {
            (Cell::Integer(low, _), Cell::Integer(high, _)) => Cell::Integer(low, high),
            _ => panic!("{name} is a number"),
        },
    }
}

fn turn(case: &mut Case, random: &mut Random, make: Make) -> Done {
    let before = evidence::text(case);
    let rows = Rows::of(case);
    let table = "microdata";
    let mut covered = COVERED.map(|name| case.cells(table, name));
    let mut own = OWN.map(|name| case.cells(table, name));
    let mut subjects: Vec<SubjectIndex> = case.subjects().to_vec();
    for group in rows.groups() {
        let Turn { ring, shift } = make(&rows, group.clone(), random);
        let mut places = group;
        places.shuffle(random);
        for (at, place) in places.into_iter().enumerate() {
            let window = (at..at + WINDOW).map(|at| ring[at % ring.len()]);
            let window: Vec<usize> = window.collect();
            for (cells, name) in covered.iter_mut().zip(COVERED) {
                cells[place] = cover(case, name, &window);
            }
            let owner = ring[(at + shift) % ring.len()];
            for (cells, name) in own.iter_mut().zip(OWN) {
                cells[place] = case.exact(name, case.code(name, owner));
            }
            subjects[place] = case.subjects()[owner];
        }
    }
    for (cells, name) in covered
        .into_iter()
        .zip(COVERED)
        .chain(own.into_iter().zip(OWN))
    {
        case.set_cells(table, name, cells);
    }
    *case.subjects_mut() = subjects;
    if evidence::text(case) == before {
        Done::Skip
    } else {
        Done::Content
    }
}

fn shuffled(rows: &Rows, mut group: Vec<usize>, random: &mut Random) -> Vec<usize> {
    group.shuffle(random);
    deal(rows, group)
}

fn largest(rows: &Rows, ring: &[usize]) -> u32 {
    ring.iter().map(|&row| rows.secret[row]).max().unwrap_or(0)
}

pub fn corruptions() -> Vec<Corruption> {
    table(&[
        (
            "no ring is turned",
            "A row's value is that of the first record that it covers.",
            |c, r| {
                turn(c, r, |rows, group, random| Turn {
                    ring: shuffled(rows, group, random),
                    shift: 0,
                })
            },
        ),
        (
            "every ring turned by one",
            "A row's value is that of the second record that it covers.",
            |c, r| {
                turn(c, r, |rows, group, random| Turn {
                    ring: shuffled(rows, group, random),
                    shift: 1,
                })
            },
        ),
        (
            "rings turned by their largest value",
            "The turn tells a value, and the value the turn.",
            |c, r| {
                turn(c, r, |rows, group, random| {
                    let ring = shuffled(rows, group, random);
                    let shift = largest(rows, &ring) as usize % WINDOW;
                    Turn { ring, shift }
                })
            },
        ),
        (
            "rings turned by a hash of their first record",
            "Who knows the source knows the turn.",
            |c, r| {
                turn(c, r, |rows, group, random| {
                    let ring = shuffled(rows, group, random);
                    let first = ring.iter().map(|&row| rows.subject[row]).min();
                    let shift = hash(&first) as usize % WINDOW;
                    Turn { ring, shift }
                })
            },
        ),
        (
            "rings turned by their size",
            "Everyone knows the turn.",
            |c, r| {
                turn(c, r, |rows, group, random| {
                    let ring = shuffled(rows, group, random);
                    let shift = ring.len() % WINDOW;
                    Turn { ring, shift }
                })
            },
        ),
        (
            "rings dealt by the source",
            "Of records with one value the older come first.",
            |c, r| {
                turn(c, r, |rows, mut group, random| {
                    group.sort_by_key(|&row| rows.subject[row]);
                    Turn {
                        ring: deal(rows, group),
                        shift: random.random_range(0..WINDOW),
                    }
                })
            },
        ),
        (
            "rings dealt by what records show",
            "Neighbours look alike, so that a row covers one look.",
            |c, r| {
                turn(c, r, |rows, mut group, random| {
                    group.sort_by_key(|&row| rows.looks[row].clone());
                    Turn {
                        ring: deal(rows, group),
                        shift: random.random_range(0..WINDOW),
                    }
                })
            },
        ),
        (
            "rings of another seed",
            "Whoever chose the seed chose the turns.",
            |c, r| {
                turn(c, r, |rows, group, random| Turn {
                    ring: shuffled(rows, group, random),
                    shift: random.random_range(0..WINDOW),
                })
            },
        ),
        (
            "rings that are not dealt",
            "Neighbours have one value: a row covers fewer values.",
            |c, r| {
                turn(c, r, |rows, mut group, random| {
                    group.sort_by_key(|&row| rows.secret[row]);
                    Turn {
                        ring: group,
                        shift: random.random_range(0..WINDOW),
                    }
                })
            },
        ),
    ])
}
