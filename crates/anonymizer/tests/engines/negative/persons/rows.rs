//! Who is there, how often, in which group and order.

use rand::RngExt;
use vizard_anonymizer::microdata::SubjectIndex;

use super::base::{counting, least, terms};
use super::{is_rmr, rule};
use crate::case::Case;
use crate::negative::{Corruption, Done, Random, any, corruption};

pub fn corruptions() -> Vec<Corruption> {
    let mut all = members();
    all.extend(presence());
    all.extend(order());
    all
}

/// Persons in the wrong group.
fn members() -> Vec<Corruption> {
    vec![
        corruption(
            "move a person to another group",
            &["groups_look_alike", "k_anonymity", "linkage"],
            |case, random| {
                if is_rmr(case) {
                    Done::Skip
                } else {
                    move_person(case, random)
                }
            },
        ),
        corruption(
            "move a person of a cluster to another",
            &["groups_look_alike"],
            move_person,
        ),
        corruption(
            "dress a person as another group and let its cells cover them",
            &["k_anonymity", "max_leakage"],
            redress,
        ),
        corruption(
            "tear a cluster apart until two are left",
            &["km_anonymity"],
            tear,
        ),
    ]
}

/// Persons who are there twice, or not, or as somebody else.
fn presence() -> Vec<Corruption> {
    vec![
        corruption(
            "drop a row, not its lineage",
            &["every_subject_once"],
            |case, random| {
                let lineage = case.lineage.clone();
                drop_row(case, random);
                case.lineage = lineage;
                Done::Seal
            },
        ),
        corruption("add a row twice", &["every_subject_once"], add_twice),
        corruption(
            "publish somebody for somebody else",
            &["every_subject_once"],
            |case, random| {
                let [row, other] = two(case, random);
                case.subjects_mut()[row] = case.subjects()[other];
                Done::Seal
            },
        ),
        corruption(
            "name a subject that is not there",
            &["every_subject_once"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                case.subjects_mut()[row] = SubjectIndex(1_000_000);
                Done::Seal
            },
        ),
        corruption(
            "publish an excluded subject",
            &["exclusions_honoured"],
            publish_excluded,
        ),
    ]
}

/// Order and numbers that tell something.
fn order() -> Vec<Corruption> {
    vec![
        corruption(
            "sort the rows as the source is",
            &["rows_in_order"],
            |case, _| sort(case, |case, row| case.subjects()[row].0),
        ),
        corruption("sort the rows by age", &["rows_in_order"], |case, _| {
            sort(case, |case, row| low(case, "age", row))
        }),
        corruption("sort the rows by disease", &["rows_in_order"], |case, _| {
            sort(case, |case, row| low(case, "disease", row))
        }),
        corruption(
            "sort the rows by the size of fingerprints",
            &["rows_in_order"],
            |case, _| {
                sort(case, |case, row| {
                    let names = ["disease", "drug"].iter();
                    let sizes = names.map(|name| {
                        let mut codes =
                            counting(&case.table, name, Default::default(), case.subjects()[row]);
                        codes.sort();
                        codes.dedup();
                        codes.len() as u32
                    });
                    sizes.sum()
                })
            },
        ),
        corruption("skip a group number", &["groups_numbered"], skip_number),
        corruption("number a group 0", &["groups_numbered"], |case, random| {
            let mut numbers = case.numbers("persons", "group");
            let row = random.random_range(0..numbers.len());
            numbers[row] = 0;
            case.set_numbers("persons", "group", numbers);
            Done::Seal
        }),
    ]
}

/// Two different rows.
pub fn two(case: &Case, random: &mut Random) -> [usize; 2] {
    let row = random.random_range(0..case.rows());
    let step = random.random_range(1..case.rows());
    [row, (row + step) % case.rows()]
}

fn low(case: &Case, name: &str, row: usize) -> u32 {
    let codes = counting(&case.table, name, Default::default(), case.subjects()[row]);
    codes.iter().min().unwrap().0
}

/// Groups look different, and every group of `one_to_many` has k_group.
fn move_person(case: &mut Case, random: &mut Random) -> Done {
    let [row, other] = two(case, random);
    if case.look(row) == case.look(other) {
        return Done::Skip;
    }
    let mut numbers = case.numbers("persons", "group");
    numbers[row] = numbers[other];
    case.set_numbers("persons", "group", numbers);
    Done::Seal
}

/// Somebody asks for as many as their group has; one of the others leaves for
/// another group, and both get the cells that are least for who is there now.
fn redress(case: &mut Case, random: &mut Random) -> Done {
    if is_rmr(case) {
        return Done::Skip;
    }
    let mut numbers = case.numbers("persons", "group");
    let asking = (0..case.rows()).find(|&row| terms(case, row).own.k > 1);
    let asking = asking.expect("somebody asks for it");
    let others = (0..case.rows()).filter(|&row| row != asking);
    let (near, far): (Vec<usize>, Vec<usize>) =
        others.partition(|&row| numbers[row] == numbers[asking]);
    let leaving = any(&near, random).expect("the group has others");
    numbers[leaving] = numbers[any(&far, random).expect("there are more groups")];
    case.set_numbers("persons", "group", numbers);
    dress(case);
    Done::Seal
}

/// Gives every group the least cells that cover its members.
pub fn dress(case: &mut Case) {
    let groups = case.groups();
    let rule = rule(case);
    for name in case.generalized() {
        let mut cells = case.cells("persons", &name);
        for rows in groups.iter().filter(|rows| !rows.is_empty()) {
            let codes = rows
                .iter()
                .flat_map(|&row| counting(&case.table, &name, rule, case.subjects()[row]));
            let cell = least(&case.table, &name, &codes.collect::<Vec<_>>());
            for &row in rows {
                cells[row] = cell.clone();
            }
        }
        case.set_cells("persons", &name, cells);
    }
}

/// Of a cluster two people of different kinds stay: neither shares their
/// combinations with the other.
fn tear(case: &mut Case, random: &mut Random) -> Done {
    if !is_rmr(case) {
        return Done::Skip;
    }
    let groups = case.groups();
    let at = random.random_range(0..groups.len());
    let into = (at + 1) % groups.len();
    let diseases = case.cells("persons", "disease");
    let first = groups[at][0];
    let Some(&second) = groups[at]
        .iter()
        .find(|&&row| diseases[row] != diseases[first])
    else {
        return Done::Skip;
    };
    let mut numbers = case.numbers("persons", "group");
    for &row in groups[at]
        .iter()
        .filter(|&&row| row != first && row != second)
    {
        numbers[row] = into as u64 + 1;
    }
    case.set_numbers("persons", "group", numbers);
    dress(case);
    Done::Seal
}

fn drop_row(case: &mut Case, random: &mut Random) -> Done {
    let gone = random.random_range(0..case.rows());
    let kept: Vec<usize> = (0..case.rows()).filter(|&row| row != gone).collect();
    case.take_rows("persons", &kept);
    Done::Seal
}

fn add_twice(case: &mut Case, random: &mut Random) -> Done {
    let twice = random.random_range(0..case.rows());
    let rows: Vec<usize> = (0..case.rows()).chain([twice]).collect();
    case.take_rows("persons", &rows);
    Done::Seal
}

fn publish_excluded(case: &mut Case, random: &mut Random) -> Done {
    let out = (0..case.table.records()).map(vizard_anonymizer::microdata::RecordIndex::from_usize);
    let mut out = out.filter(|&record| case.requirements.of(record).exclude);
    let subject = case.table.subject_of(out.next().expect("one asked for it"));
    let row = random.random_range(0..case.rows());
    case.subjects_mut()[row] = subject;
    Done::Seal
}

fn sort(case: &mut Case, by: impl Fn(&Case, usize) -> u32) -> Done {
    let mut rows: Vec<usize> = (0..case.rows()).collect();
    rows.sort_by_key(|&row| by(case, row));
    case.take_rows("persons", &rows);
    Done::Seal
}

fn skip_number(case: &mut Case, random: &mut Random) -> Done {
    let mut numbers = case.numbers("persons", "group");
    let last = numbers.iter().copied().max().unwrap();
    let moved = random.random_range(1..=last);
    let rows = numbers.iter_mut().filter(|number| **number == moved);
    rows.for_each(|number| *number = last + 2);
    case.set_numbers("persons", "group", numbers);
    Done::Seal
}
