//! Randomization that is none, or not the one that the seed draws: which
//! values are kept and which are drawn is an engine's choice unless somebody
//! draws again.
//!
//! Groups in which somebody shows the quasi-identifiers of a subject with
//! terms keep nothing on purpose; they stay as they are.

use rand::RngExt;
use rand::seq::SliceRandom;
use vizard_anonymizer::release::Cell;

use super::owners::{Rows, hash};
use super::{Corruption, Done, Random, evidence, table};
use crate::case::Case;

/// A group: its rows, and where the owner of each stands in the source.
struct Group<'a> {
    rows: &'a [usize],
    all: &'a Rows,
    number: usize,
}

impl Group<'_> {
    fn place(&self, at: usize) -> u32 {
        self.all.subject[self.rows[at]]
    }

    fn value(&self, at: usize) -> u32 {
        self.all.secret[self.rows[at]]
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn any(&self, random: &mut Random) -> usize {
        random.random_range(0..self.len())
    }
}

/// For each member of a group, the member whose value its row shows.
type Show = fn(&Group, &mut Random) -> Vec<usize>;

fn show(case: &mut Case, random: &mut Random, show: Show) -> Done {
    let before = evidence::text(case);
    let rows = Rows::of(case);
    let mut cells = case.cells("microdata", "disease");
    for (number, group) in rows.groups().iter().enumerate() {
        let is_asked = |row: &usize| {
            let mut others = 0..rows.len();
            others.any(|other| rows.asks[other] && rows.looks[other] == rows.looks[*row])
        };
        if group.iter().any(is_asked) {
            continue;
        }
        let group = Group {
            rows: group,
            all: &rows,
            number,
        };
        for (at, from) in show(&group, random).into_iter().enumerate() {
            let owner = group.rows[from];
            cells[group.rows[at]] = case.exact("disease", case.code("disease", owner));
        }
    }
    case.set_cells("microdata", "disease", cells);
    if evidence::text(case) == before {
        Done::Skip
    } else {
        Done::Content
    }
}

/// Kept where a function says so, else drawn.
fn keep(group: &Group, random: &mut Random, is_kept: impl Fn(usize) -> bool) -> Vec<usize> {
    let members = 0..group.len();
    members
        .map(|at| if is_kept(at) { at } else { group.any(random) })
        .collect()
}

/// Kept as often as the job says, else what a function draws.
fn draw(
    group: &Group,
    random: &mut Random,
    draw: impl Fn(usize, &mut Random) -> usize,
) -> Vec<usize> {
    let members = 0..group.len();
    members
        .map(|at| {
            if random.random_bool(0.4) {
                at
            } else {
                draw(at, random)
            }
        })
        .collect()
}

/// Changes whether one row shows its own value.
fn one(case: &mut Case, random: &mut Random, is_own: bool) -> Done {
    let rows = Rows::of(case);
    let mut cells = case.cells("microdata", "disease");
    let own = |row: usize| case.exact("disease", case.code("disease", row));
    let mut all: Vec<usize> = (0..rows.len()).collect();
    all.shuffle(random);
    let Some(row) = all
        .into_iter()
        .find(|&row| (cells[row] == own(row)) != is_own)
    else {
        return Done::Skip;
    };
    let groups = rows.groups();
    let group = groups
        .iter()
        .find(|group| group.contains(&row))
        .expect("it is in a group");
    let from = if is_own {
        Some(row)
    } else {
        group.iter().copied().find(|&other| own(other) != own(row))
    };
    let Some(from) = from else {
        return Done::Skip;
    };
    cells[row] = own(from);
    case.set_cells("microdata", "disease", cells);
    Done::Content
}

/// Shows a value that nobody of the group has.
fn foreign(case: &mut Case, random: &mut Random) -> Done {
    let rows = Rows::of(case);
    let groups = rows.groups();
    let group = &groups[random.random_range(0..groups.len())];
    let own: Vec<Cell> = group
        .iter()
        .map(|&row| case.exact("disease", case.code("disease", row)))
        .collect();
    let mut cells = case.cells("microdata", "disease");
    let Some(other) = cells.iter().find(|cell| !own.contains(cell)).cloned() else {
        return Done::Skip;
    };
    cells[group[0]] = other;
    case.set_cells("microdata", "disease", cells);
    Done::Content
}

pub fn corruptions() -> Vec<Corruption> {
    table(&[
        ("everything kept", "Nothing is randomized.", |c, r| {
            show(c, r, |group, _| (0..group.len()).collect())
        }),
        (
            "kept by value",
            "Two values of five are true wherever they are shown by their owner.",
            |c, r| {
                show(c, r, |group, random| {
                    keep(group, random, |at| group.value(at) % 5 < 2)
                })
            },
        ),
        (
            "kept by place in the source",
            "Who knows the source knows who is true.",
            |c, r| {
                show(c, r, |group, random| {
                    keep(group, random, |at| group.place(at) % 5 < 2)
                })
            },
        ),
        (
            "kept by a hash of the place",
            "Who knows the source knows who is true.",
            |c, r| {
                show(c, r, |group, random| {
                    keep(group, random, |at| hash(&group.place(at)) % 5 < 2)
                })
            },
        ),
        (
            "whole groups kept, the others drawn",
            "Two groups of five are not randomized.",
            |c, r| {
                show(c, r, |group, random| {
                    keep(group, random, |_| group.number % 5 < 2)
                })
            },
        ),
        (
            "groups of odd size kept",
            "The size tells which groups are true.",
            |c, r| {
                show(c, r, |group, random| {
                    keep(group, random, |_| group.len() % 2 == 1)
                })
            },
        ),
        (
            "drawn from the others alone",
            "A value that is not kept is never the own one.",
            |c, r| {
                show(c, r, |group, random| {
                    draw(group, random, |at, random| {
                        (at + random.random_range(1..group.len())) % group.len()
                    })
                })
            },
        ),
        (
            "drawn from the next one",
            "Whoever is not true shows their neighbour's value.",
            |c, r| {
                show(c, r, |group, random| {
                    draw(group, random, |at, _| (at + 1) % group.len())
                })
            },
        ),
        (
            "drawn from the first of the source",
            "Whoever is not true shows one and the same value.",
            |c, r| {
                show(c, r, |group, random| {
                    let first = (0..group.len())
                        .min_by_key(|&at| group.place(at))
                        .unwrap_or(0);
                    draw(group, random, move |_, _| first)
                })
            },
        ),
        (
            "drawn by a hash of the place",
            "Who knows the source undoes the draws.",
            |c, r| {
                show(c, r, |group, random| {
                    draw(group, random, |at, _| {
                        (hash(&group.place(at)) % group.len() as u64) as usize
                    })
                })
            },
        ),
        (
            "values of a group dealt, not drawn",
            "Each value once: the last row's is known from the others.",
            |c, r| {
                show(c, r, |group, random| {
                    let mut from: Vec<usize> = (0..group.len()).collect();
                    from.shuffle(random);
                    from
                })
            },
        ),
        (
            "drawn from another seed",
            "Whoever chose the seed chose the outcome.",
            |c, r| {
                show(c, r, |group, random| {
                    draw(group, random, |_, random| {
                        random.random_range(0..group.len())
                    })
                })
            },
        ),
        (
            "one person's value kept by choice",
            "A target's row is true.",
            |c, r| one(c, r, true),
        ),
        (
            "one person's value drawn by choice",
            "A friend's row is false.",
            |c, r| one(c, r, false),
        ),
        (
            "a value that nobody of the group has",
            "The shown value is out of the block.",
            foreign,
        ),
    ])
}
