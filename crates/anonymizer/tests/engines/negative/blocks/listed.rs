//! Blocks: their numbers, what they hold and who is in them.

use rand::RngExt;
use vizard_anonymizer::release::Cell;

use super::base::{JOB_L, block_columns, entries, members, set_entries};
use crate::case::Case;
use crate::negative::{Corruption, Done, Random, any, corruption};

const CONTENTS: &[&str] = &["block_contents_match"];
const FORMED: &[&str] = &["blocks_well_formed"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = membership();
    all.extend(counts());
    all.extend(values());
    all.extend(whole_blocks());
    all.extend(numbers_of_blocks());
    all
}

/// Who is in which block.
fn membership() -> Vec<Corruption> {
    vec![
        corruption("move a row to another block", CONTENTS, |case, random| {
            let (column, _) = any(&block_columns(case), random).unwrap();
            let mut numbers = case.numbers("quasi", &column);
            let row = random.random_range(0..numbers.len());
            let Some(&other) = numbers.iter().find(|&&number| number != numbers[row]) else {
                return Done::Skip;
            };
            numbers[row] = other;
            case.set_numbers("quasi", &column, numbers);
            Done::Seal
        }),
        corruption("exchange rows of two blocks", CONTENTS, |case, random| {
            let (column, attribute) = any(&block_columns(case), random).unwrap();
            let mut numbers = case.numbers("quasi", &column);
            let row = random.random_range(0..numbers.len());
            let mut rows = 0..numbers.len();
            let other = rows.find(|&other| {
                numbers[other] != numbers[row]
                    && case.code(&attribute, other) != case.code(&attribute, row)
            });
            let Some(other) = other else {
                return Done::Skip;
            };
            numbers.swap(row, other);
            case.set_numbers("quasi", &column, numbers);
            Done::Seal
        }),
        corruption(
            "exchange rows of one value of two blocks",
            &["blocks_as_dealt"],
            |case, random| {
                let (column, attribute) = any(&block_columns(case), random).unwrap();
                let mut numbers = case.numbers("quasi", &column);
                let row = random.random_range(0..numbers.len());
                let mut rows = 0..numbers.len();
                let other = rows.find(|&other| {
                    numbers[other] != numbers[row]
                        && case.code(&attribute, other) == case.code(&attribute, row)
                });
                let Some(other) = other else {
                    return Done::Skip;
                };
                numbers.swap(row, other);
                case.set_numbers("quasi", &column, numbers);
                Done::Seal
            },
        ),
        corruption("put a row into no block", FORMED, |case, random| {
            number_of_a_row(case, random, |_| 0)
        }),
        corruption(
            "put a row into a block that is not there",
            FORMED,
            |case, random| number_of_a_row(case, random, |blocks| blocks + 1),
        ),
        corruption(
            "put a row into the last of all blocks",
            FORMED,
            |case, random| number_of_a_row(case, random, |_| u64::MAX),
        ),
    ]
}

fn number_of_a_row(case: &mut Case, random: &mut Random, number: fn(u64) -> u64) -> Done {
    let (column, _) = any(&block_columns(case), random).unwrap();
    let mut numbers = case.numbers("quasi", &column);
    let blocks = numbers.iter().copied().max().unwrap();
    let row = random.random_range(0..numbers.len());
    numbers[row] = number(blocks);
    case.set_numbers("quasi", &column, numbers);
    Done::Seal
}

/// How often blocks hold values.
fn counts() -> Vec<Corruption> {
    vec![
        corruption("count a value once more", CONTENTS, |case, random| {
            // Two counts change, or the cells would be more than there are records.
            let mut all = entries(case);
            let at = random.random_range(0..all.len());
            let Some(other) = (0..all.len()).find(|&other| all[other].3 > 1 && other != at) else {
                return Done::Skip;
            };
            all[at].3 += 1;
            all[other].3 -= 1;
            set_entries(case, &all);
            Done::Seal
        }),
        corruption(
            "count more values than there are records",
            FORMED,
            |case, random| {
                let mut all = entries(case);
                let at = random.random_range(0..all.len());
                all[at].3 = any(&[10_000, u64::MAX], random).unwrap();
                set_entries(case, &all);
                Done::Seal
            },
        ),
        corruption("count a value no time", FORMED, |case, random| {
            let mut all = entries(case);
            let at = random.random_range(0..all.len());
            all[at].3 = 0;
            set_entries(case, &all);
            Done::Seal
        }),
        corruption("leave a value out", CONTENTS, |case, random| {
            let mut all = entries(case);
            all.remove(random.random_range(0..all.len()));
            set_entries(case, &all);
            Done::Seal
        }),
        corruption("list a value twice", FORMED, |case, random| {
            let mut all = entries(case);
            let again = any(&all, random).unwrap();
            all.push(again);
            set_entries(case, &all);
            Done::Seal
        }),
    ]
}

/// Which values blocks hold.
fn values() -> Vec<Corruption> {
    vec![
        corruption("list another value", CONTENTS, |case, random| {
            let mut all = entries(case);
            let at = random.random_range(0..all.len());
            let (block, attribute) = (all[at].0, all[at].1.clone());
            let of_block = |entry: &&super::base::Entry| entry.0 == block && entry.1 == attribute;
            let known: Vec<Cell> = all
                .iter()
                .filter(of_block)
                .map(|entry| entry.2.clone())
                .collect();
            let others = all.iter().filter(|entry| entry.1 == attribute);
            let mut others = others.map(|entry| entry.2.clone());
            let Some(other) = others.find(|value| !known.contains(value)) else {
                return Done::Skip;
            };
            all[at].2 = other;
            set_entries(case, &all);
            Done::Seal
        }),
        corruption("exchange values of two blocks", CONTENTS, |case, random| {
            let mut all = entries(case);
            let one = random.random_range(0..all.len());
            let other = (0..all.len()).find(|&other| {
                all[other].1 == all[one].1
                    && all[other].2 != all[one].2
                    && all[other].0 != all[one].0
            });
            let Some(other) = other else {
                return Done::Skip;
            };
            let value = all[one].2.clone();
            all[one].2 = std::mem::replace(&mut all[other].2, value);
            set_entries(case, &all);
            Done::Seal
        }),
        corruption("list a node of the hierarchy", FORMED, |case, random| {
            value_of_a_disease(case, random, Cell::Label("respiratory".into()))
        }),
        corruption("list a masked value", FORMED, |case, random| {
            value_of_a_disease(case, random, Cell::Masked)
        }),
        corruption(
            "list somebody's key",
            &["blocks_well_formed", "no_source_identifier"],
            |case, random| value_of_a_disease(case, random, Cell::Label("P-01007".into())),
        ),
        corruption(
            "list values of an attribute that is not published",
            FORMED,
            |case, random| {
                let mut all = entries(case);
                let at = random.random_range(0..all.len());
                all[at].1 = Cell::Label("city".into());
                set_entries(case, &all);
                Done::Seal
            },
        ),
    ]
}

fn value_of_a_disease(case: &mut Case, random: &mut Random, value: Cell) -> Done {
    let mut all = entries(case);
    let diseases = (0..all.len()).filter(|&at| all[at].1 == Cell::Label("disease".into()));
    let at = any(&diseases.collect::<Vec<_>>(), random).unwrap();
    all[at].2 = value;
    set_entries(case, &all);
    Done::Seal
}

/// Whether a block with these values has one too often. Blocks that were joined
/// for the spread of salaries may have one as often as their l allows.
fn has_one_too_often<V: PartialEq>(attribute: &str, values: &[V]) -> bool {
    let times = |value| values.iter().filter(|&other| other == value).count();
    let most = values.iter().map(times).max().unwrap_or(0);
    let allowed = match attribute {
        "salary" => values.len() / JOB_L as usize,
        _ => 1,
    };
    most > allowed
}

/// Blocks as a whole; contents follow the rows, so that they match.
fn whole_blocks() -> Vec<Corruption> {
    vec![
        corruption(
            "give a row a block of its own",
            &["l_diversity"],
            |case, random| {
                let (column, attribute) = any(&block_columns(case), random).unwrap();
                let mut numbers = case.numbers("quasi", &column);
                let last = numbers.iter().copied().max().unwrap();
                let row = random.random_range(0..numbers.len());
                numbers[row] = last + 1;
                regroup(case, (&column, &attribute), numbers)
            },
        ),
        corruption(
            "take a row of a strict subject out of their block",
            &["l_diversity", "max_leakage"],
            |case, _| {
                // P-01007 asks for 1 in 4; three records are left of the block.
                let (column, attribute) = block_columns(case).remove(0);
                let row = case
                    .subjects()
                    .iter()
                    .position(|subject| subject.at() == 1)
                    .unwrap();
                let mut numbers = case.numbers("quasi", &column);
                let own = numbers[row];
                let last = numbers.iter().copied().max().unwrap();
                let mates: Vec<usize> = (0..numbers.len())
                    .filter(|&other| numbers[other] == own && other != row)
                    .collect();
                for &mate in &mates[2..] {
                    numbers[mate] = if last == own { last - 1 } else { last };
                }
                regroup(case, (&column, &attribute), numbers)
            },
        ),
        corruption(
            "put two blocks with a value in common together",
            &["l_diversity"],
            |case, random| {
                if case.manifest.engine == "aip" {
                    return Done::Skip;
                }
                let (column, attribute) = any(&block_columns(case), random).unwrap();
                let blocks = members(case, &column);
                let last = blocks.len() - 1;
                let values = |at: usize| -> Vec<_> {
                    blocks[at]
                        .iter()
                        .map(|&row| case.code(&attribute, row))
                        .collect()
                };
                let known = values(last);
                let is_too_often = |at: usize| {
                    has_one_too_often(&attribute, &[values(at), known.clone()].concat())
                };
                let Some(other) = (0..last).find(|&at| is_too_often(at)) else {
                    return Done::Skip;
                };
                let mut numbers = case.numbers("quasi", &column);
                for &row in &blocks[last] {
                    numbers[row] = other as u64 + 1;
                }
                regroup(case, (&column, &attribute), numbers)
            },
        ),
    ]
}

/// Numbers that leave gaps, or that values alone decide.
fn numbers_of_blocks() -> Vec<Corruption> {
    vec![
        corruption("skip a number", FORMED, |case, random| {
            let (column, attribute) = any(&block_columns(case), random).unwrap();
            let mut numbers = case.numbers("quasi", &column);
            let last = numbers.iter().copied().max().unwrap();
            for number in &mut numbers {
                *number += u64::from(*number == last);
            }
            regroup(case, (&column, &attribute), numbers)
        }),
        corruption(
            "make blocks of equal values",
            &["l_diversity", "max_leakage"],
            |case, random| {
                let (column, attribute) = any(&block_columns(case), random).unwrap();
                let mut codes: Vec<_> = (0..case.rows())
                    .map(|row| case.code(&attribute, row))
                    .collect();
                let of_row = codes.clone();
                codes.sort_unstable();
                codes.dedup();
                let number = |code| codes.binary_search(code).unwrap() as u64 + 1;
                let numbers = of_row.iter().map(number).collect();
                assert!(codes.len() > JOB_L as usize);
                regroup(case, (&column, &attribute), numbers)
            },
        ),
    ]
}

/// Renumbers the blocks of an attribute and lists what they hold now.
fn regroup(case: &mut Case, (column, attribute): (&str, &str), numbers: Vec<u64>) -> Done {
    let mut all = entries(case);
    all.retain(|entry| entry.1 != Cell::Label(attribute.into()));
    let mut values: Vec<(u64, vizard_anonymizer::microdata::Code)> = numbers
        .iter()
        .enumerate()
        .map(|(row, &number)| (number, case.code(attribute, row)))
        .collect();
    values.sort_unstable();
    for run in values.chunk_by(|a, b| a == b) {
        let value = case.exact(attribute, run[0].1);
        all.push((
            run[0].0,
            Cell::Label(attribute.into()),
            value,
            run.len() as u64,
        ));
    }
    set_entries(case, &all);
    case.set_numbers("quasi", column, numbers);
    Done::Seal
}
