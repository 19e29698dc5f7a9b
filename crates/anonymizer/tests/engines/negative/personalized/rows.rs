//! Who is there, how often, in which group and order.

use rand::RngExt;
use vizard_anonymizer::microdata::SubjectIndex;
use vizard_anonymizer::release::Cell;

use super::base::{QUASI, k_of, look};
use crate::case::Case;
use crate::negative::{Corruption, Done, Random, any, corruption};

pub fn corruptions() -> Vec<Corruption> {
    let mut all = members();
    all.extend(presence());
    all.extend(order());
    all
}

fn members() -> Vec<Corruption> {
    vec![
        corruption(
            "number a record as another group",
            &["groups_look_alike"],
            |case, random| {
                let [row, other] = two(case, random);
                if look(case, row) == look(case, other) {
                    return Done::Skip;
                }
                let mut numbers = case.numbers("microdata", "group");
                numbers[row] = numbers[other];
                case.set_numbers("microdata", "group", numbers);
                Done::Seal
            },
        ),
        corruption(
            "dress a patient as another group, leaving their own too small",
            &["k_anonymity", "linkage"],
            redress,
        ),
        corruption(
            "dress a patient as nobody else",
            &["k_anonymity", "groups_look_alike"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                for name in ["age", "weight"] {
                    let mut cells = case.cells("microdata", name);
                    cells[row] = case.exact(name, case.code(name, row));
                    case.set_cells("microdata", name, cells);
                }
                Done::Seal
            },
        ),
        corruption(
            "generalize the city of a group further",
            &["cells_span_their_group"],
            lift_city,
        ),
        corruption(
            "put another job into a set",
            &["cells_span_their_group"],
            |case, random| {
                let cells = case.cells("microdata", "job");
                let groups = case.groups().into_iter();
                let sets = groups
                    .filter(|rows| matches!(&cells[rows[0]], Cell::Set(all) if all.len() < 5));
                let Some(rows) = any(&sets.collect::<Vec<_>>(), random) else {
                    return Done::Skip;
                };
                let Cell::Set(mut labels) = cells[rows[0]].clone() else {
                    return Done::Skip;
                };
                let jobs = ["baker", "clerk", "driver", "nurse", "teacher"];
                let new = jobs
                    .iter()
                    .find(|job| !labels.iter().any(|label| label == *job));
                labels.push((*new.unwrap()).into());
                labels.sort();
                put_alone(case, "job", &rows, &Cell::Set(labels))
            },
        ),
    ]
}

fn presence() -> Vec<Corruption> {
    const ONCE: &[&str] = &["every_record_once"];
    vec![
        corruption("drop a patient, not their lineage", ONCE, |case, random| {
            let lineage = case.lineage.clone();
            drop_row(case, random);
            case.lineage = lineage;
            Done::Seal
        }),
        corruption("publish a patient twice", ONCE, |case, random| {
            let twice = random.random_range(0..case.rows());
            let rows: Vec<usize> = (0..case.rows()).chain([twice]).collect();
            case.take_rows("microdata", &rows);
            Done::Seal
        }),
        corruption("publish a patient for another", ONCE, |case, random| {
            let [row, other] = two(case, random);
            case.subjects_mut()[row] = case.subjects()[other];
            Done::Seal
        }),
        corruption(
            "publish a patient that there is not",
            ONCE,
            |case, random| {
                let row = random.random_range(0..case.rows());
                case.subjects_mut()[row] = SubjectIndex(1_000_000);
                Done::Seal
            },
        ),
        corruption(
            "publish who asked to be left out",
            &["exclusions_honoured"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                case.subjects_mut()[row] = SubjectIndex(0);
                Done::Seal
            },
        ),
        corruption(
            "swap the lineage of two patients",
            &["cells_cover_their_source"],
            |case, random| {
                let cells = case.cells("microdata", "age");
                let row = random.random_range(0..case.rows());
                let Cell::Integer(low, high) = cells[row] else {
                    return Done::Skip;
                };
                let age = |other: usize| match case.exact("age", case.code("age", other)) {
                    Cell::Integer(age, _) => age,
                    _ => panic!("ages are numbers"),
                };
                let outside =
                    (0..case.rows()).filter(|&other| age(other) < low || age(other) > high);
                let Some(other) = any(&outside.collect::<Vec<_>>(), random) else {
                    return Done::Skip;
                };
                case.subjects_mut().swap(row, other);
                Done::Seal
            },
        ),
    ]
}

fn order() -> Vec<Corruption> {
    const ORDER: &[&str] = &["rows_in_order"];
    vec![
        corruption("sort the patients as the source is", ORDER, |case, _| {
            sort(case, |case, row| case.record(row).0)
        }),
        corruption(
            "sort the patients by a quasi-identifier",
            ORDER,
            |case, random| {
                let name = any(&QUASI, random).unwrap();
                sort(case, |case, row| case.code(name, row).0)
            },
        ),
        corruption("sort the patients by disease", ORDER, |case, _| {
            sort(case, |case, row| case.code("disease", row).0)
        }),
        corruption("sort the patients by ward, falling", ORDER, |case, _| {
            sort(case, |case, row| u32::MAX - case.code("ward", row).0)
        }),
        corruption(
            "leave a number of groups out",
            &["groups_numbered"],
            |case, random| {
                let mut numbers = case.numbers("microdata", "group");
                let last = numbers.iter().copied().max().unwrap();
                let moved = random.random_range(1..=last);
                let of_moved = numbers.iter_mut().filter(|number| **number == moved);
                of_moved.for_each(|number| *number = last + 2);
                case.set_numbers("microdata", "group", numbers);
                Done::Seal
            },
        ),
        corruption(
            "give a record no group",
            &["groups_numbered"],
            |case, random| {
                let mut numbers = case.numbers("microdata", "group");
                let row = random.random_range(0..numbers.len());
                numbers[row] = 0;
                case.set_numbers("microdata", "group", numbers);
                Done::Seal
            },
        ),
    ]
}

fn two(case: &Case, random: &mut Random) -> [usize; 2] {
    let row = random.random_range(0..case.rows());
    let step = random.random_range(1..case.rows());
    [row, (row + step) % case.rows()]
}

fn sort(case: &mut Case, key: impl Fn(&Case, usize) -> u32) -> Done {
    let mut rows: Vec<usize> = (0..case.rows()).collect();
    rows.sort_by_key(|&row| key(case, row));
    case.take_rows("microdata", &rows);
    Done::Seal
}

fn drop_row(case: &mut Case, random: &mut Random) -> Done {
    let gone = random.random_range(0..case.rows());
    let kept: Vec<usize> = (0..case.rows()).filter(|&row| row != gone).collect();
    case.take_rows("microdata", &kept);
    Done::Seal
}

/// The group had exactly the size that its others need.
fn redress(case: &mut Case, random: &mut Random) -> Done {
    let groups = case.groups();
    let tight = groups
        .iter()
        .filter(|rows| rows.len() == k_of(case, &rows[1..]));
    let Some(rows) = any(&tight.collect::<Vec<_>>(), random) else {
        return Done::Skip;
    };
    let row = rows[0];
    let model = groups.iter().find(|group| group[0] != row).unwrap()[0];
    let mut numbers = case.numbers("microdata", "group");
    numbers[row] = numbers[model];
    case.set_numbers("microdata", "group", numbers);
    for name in QUASI {
        let mut cells = case.cells("microdata", name);
        cells[row] = cells[model].clone();
        case.set_cells("microdata", name, cells);
    }
    Done::Seal
}

/// A cell for a whole group; skips where another group then looks the same,
/// with whose members it may be the least.
fn put_alone(case: &mut Case, name: &str, rows: &[usize], cell: &Cell) -> Done {
    let mut cells = case.cells("microdata", name);
    rows.iter().for_each(|&row| cells[row] = cell.clone());
    case.set_cells("microdata", name, cells);
    let own = look(case, rows[0]);
    let alike = (0..case.rows())
        .filter(|&row| look(case, row) == own)
        .count();
    if alike == rows.len() {
        Done::Seal
    } else {
        Done::Skip
    }
}

/// A leaf or a region becomes the node above, which is not the least.
fn lift_city(case: &mut Case, random: &mut Random) -> Done {
    let tree = case.domain("city").hierarchy().unwrap().clone();
    let cells = case.cells("microdata", "city");
    let groups = case.groups().into_iter();
    let leaves = groups.filter(|rows| match &cells[rows[0]] {
        Cell::Label(label) => tree.leaf(label).is_some(),
        _ => false,
    });
    let Some(rows) = any(&leaves.collect::<Vec<_>>(), random) else {
        return Done::Skip;
    };
    let Cell::Label(label) = &cells[rows[0]] else {
        return Done::Skip;
    };
    let parent = tree.node(tree.find(label).unwrap()).parent;
    let cell = Cell::Label(tree.node(parent).label.clone());
    put_alone(case, "city", &rows, &cell)
}
