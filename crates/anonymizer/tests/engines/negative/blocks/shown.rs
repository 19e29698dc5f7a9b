//! Rows of `microdata` that show a sensitive value: groups that look the same,
//! values kept or drawn, rings.

use rand::RngExt;
use serde_json::json;
use vizard_anonymizer::microdata::{Code, Preference, SubjectIndex};
use vizard_anonymizer::privacy::{BlockForm, L, Model, Policy, Requirements, Seed, Share};
use vizard_anonymizer::release::{Cell, Guarantee};

use super::base::preferences;
use crate::case::Case;
use crate::negative::{Corruption, Done, Random, any, corruption};

const ONCE: &[&str] = &["every_record_once"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = people();
    all.extend(cells());
    all.extend(groups());
    all.extend(values());
    all.extend(of_all_rows());
    all.extend(claims());
    all
}

fn form(case: &Case) -> BlockForm {
    match case.requirements.policy().model {
        Model::Blocks { form, .. } => form,
        _ => panic!("blocks have a form"),
    }
}

fn is_randomized(case: &Case) -> bool {
    matches!(form(case), BlockForm::Randomized { .. })
}

fn people() -> Vec<Corruption> {
    vec![
        corruption("duplicate a row", ONCE, |case, random| {
            let twice = random.random_range(0..case.rows());
            let rows: Vec<usize> = (0..case.rows()).chain([twice]).collect();
            case.take_rows("microdata", &rows);
            Done::Seal
        }),
        corruption(
            "publish an excluded subject",
            &["exclusions_honoured"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                case.subjects_mut()[row] = SubjectIndex(0);
                Done::Seal
            },
        ),
        corruption(
            "sort the rows as the source is",
            &["rows_in_order"],
            |case, _| {
                let mut rows: Vec<usize> = (0..case.rows()).collect();
                rows.sort_by_key(|&row| case.subjects()[row]);
                case.take_rows("microdata", &rows);
                Done::Seal
            },
        ),
        corruption("drop a column", &["tables_and_columns"], |case, _| {
            case.published_mut("microdata").columns.pop();
            Done::Seal
        }),
        corruption("give another digest", &["table_digests"], |case, _| {
            case.manifest.tables[0].sha256 = "0".repeat(64);
            Done::Keep
        }),
    ]
}

fn cells() -> Vec<Corruption> {
    vec![
        corruption(
            "show an age that nobody has",
            &["cells_cover_their_source"],
            |case, random| replace(case, "age", random, Cell::Integer(25, 25)),
        ),
        corruption(
            "show somebody's key as a city",
            &["no_source_identifier", "cells_cover_their_source"],
            |case, random| replace(case, "city", random, Cell::Label("P-01007".into())),
        ),
        corruption(
            "show a salary that nobody has",
            &["insensitive_exact"],
            |case, random| replace(case, "salary", random, Cell::Integer(1, 1)),
        ),
        corruption(
            "widen the ages of a group",
            &["cells_span_their_group"],
            |case, random| {
                if form(case) != BlockForm::Generalized {
                    return Done::Skip;
                }
                let groups = case.groups();
                let mut cells = case.cells("microdata", "age");
                let narrow = groups
                    .iter()
                    .filter(|rows| cells[rows[0]] != Cell::Integer(20, 40));
                let narrow: Vec<&Vec<usize>> = narrow.collect();
                let Some(rows) = any(&narrow, random) else {
                    return Done::Skip;
                };
                rows.iter()
                    .for_each(|&row| cells[row] = Cell::Integer(20, 40));
                // Another group may look like this one now and have these ages.
                let look = |row: usize, cells: &[Cell]| {
                    (
                        cells[row].clone(),
                        case.cells("microdata", "city")[row].clone(),
                    )
                };
                let own = look(rows[0], &cells);
                if groups
                    .iter()
                    .any(|other| other != rows && look(other[0], &cells) == own)
                {
                    return Done::Skip;
                }
                case.set_cells("microdata", "age", cells);
                Done::Seal
            },
        ),
        corruption(
            "widen the age of one row",
            &["groups_look_alike"],
            |case, random| {
                if form(case) != BlockForm::Generalized {
                    return Done::Skip;
                }
                let cells = case.cells("microdata", "age");
                let row = random.random_range(0..cells.len());
                if cells[row] == Cell::Integer(20, 40) {
                    return Done::Skip;
                }
                let mut cells = cells;
                cells[row] = Cell::Integer(20, 40);
                case.set_cells("microdata", "age", cells);
                Done::Seal
            },
        ),
    ]
}

fn replace(case: &mut Case, column: &str, random: &mut Random, cell: Cell) -> Done {
    let mut cells = case.cells("microdata", column);
    let row = random.random_range(0..cells.len());
    cells[row] = cell;
    case.set_cells("microdata", column, cells);
    Done::Seal
}

fn groups() -> Vec<Corruption> {
    vec![
        corruption(
            "put a row into no group",
            &["groups_numbered"],
            |case, random| {
                let mut numbers = case.numbers("microdata", "group");
                let row = random.random_range(0..numbers.len());
                numbers[row] = 0;
                case.set_numbers("microdata", "group", numbers);
                Done::Seal
            },
        ),
        corruption(
            "put a row into another group",
            &["blocks_as_dealt"],
            |case, random| {
                let mut numbers = case.numbers("microdata", "group");
                let row = random.random_range(0..numbers.len());
                let Some(&other) = numbers.iter().find(|&&number| number != numbers[row]) else {
                    return Done::Skip;
                };
                numbers[row] = other;
                case.set_numbers("microdata", "group", numbers);
                Done::Seal
            },
        ),
        corruption("skip a number", &["groups_numbered"], |case, _| {
            let mut numbers = case.numbers("microdata", "group");
            let last = numbers.iter().copied().max().unwrap();
            for number in &mut numbers {
                *number += u64::from(*number == last);
            }
            case.set_numbers("microdata", "group", numbers);
            Done::Seal
        }),
        corruption(
            "make every row a group: looks",
            &["l_diversity"],
            |case, _| alone(case, |form| form == BlockForm::Generalized),
        ),
        corruption(
            "make every row a group: rings",
            &["ring_diversity", "max_leakage"],
            |case, _| alone(case, |form| form == BlockForm::Ring),
        ),
        corruption(
            "make every row a group: draws",
            &["values_of_their_group", "randomized_response"],
            |case, _| alone(case, |form| matches!(form, BlockForm::Randomized { .. })),
        ),
        corruption(
            "put everyone into one group",
            &["values_of_their_group"],
            |case, _| {
                if !is_randomized(case) {
                    return Done::Skip;
                }
                let numbers = vec![1; case.rows()];
                case.set_numbers("microdata", "group", numbers);
                Done::Seal
            },
        ),
    ]
}

fn alone(case: &mut Case, is_wanted: fn(BlockForm) -> bool) -> Done {
    if !is_wanted(form(case)) {
        return Done::Skip;
    }
    let numbers = (1..=case.rows() as u64).collect();
    case.set_numbers("microdata", "group", numbers);
    Done::Seal
}

fn values() -> Vec<Corruption> {
    vec![
        corruption(
            "exchange two values",
            &["sensitive_exact"],
            |case, random| {
                if is_randomized(case) {
                    return Done::Skip;
                }
                let mut cells = case.cells("microdata", "disease");
                let row = random.random_range(0..cells.len());
                let Some(other) = (0..cells.len()).find(|&other| cells[other] != cells[row]) else {
                    return Done::Skip;
                };
                cells.swap(row, other);
                case.set_cells("microdata", "disease", cells);
                Done::Seal
            },
        ),
        corruption(
            "show a node of the hierarchy",
            &["values_of_their_group"],
            |case, random| {
                if is_randomized(case) {
                    replace(case, "disease", random, Cell::Label("digestive".into()))
                } else {
                    Done::Skip
                }
            },
        ),
        corruption(
            "show everyone's own value",
            &["values_as_drawn"],
            |case, _| {
                if !is_randomized(case) {
                    return Done::Skip;
                }
                let cells =
                    (0..case.rows()).map(|row| case.exact("disease", case.code("disease", row)));
                let cells = cells.collect();
                case.set_cells("microdata", "disease", cells);
                Done::Seal
            },
        ),
    ]
}

/// Values and cells of all rows at once.
fn of_all_rows() -> Vec<Corruption> {
    let mut all = vec![corruption(
        "stand in rings that the seed does not draw",
        &["ring_as_drawn"],
        |case, random| {
            if form(case) != BlockForm::Ring {
                return Done::Skip;
            }
            case.seed = Seed::of_number(random.random());
            Done::Keep
        },
    )];
    all.push(corruption(
        "show nobody's own value",
        &["values_as_drawn"],
        |case, _| {
            if !is_randomized(case) {
                return Done::Skip;
            }
            let mut cells = case.cells("microdata", "disease");
            for rows in case.groups() {
                let codes: Vec<Code> = rows.iter().map(|&row| case.code("disease", row)).collect();
                for (at, &row) in rows.iter().enumerate() {
                    cells[row] = case.exact("disease", codes[(at + 1) % codes.len()]);
                }
            }
            case.set_cells("microdata", "disease", cells);
            Done::Seal
        },
    ));
    all
}

fn claims() -> Vec<Corruption> {
    vec![
        corruption("claim nothing", &["claims_match_policy"], |case, _| {
            case.manifest.guarantees.remove(0);
            Done::Keep
        }),
        corruption(
            "claim plain diversity of something else",
            &["claims_match_policy"],
            |case, _| {
                let attribute = "disease".into();
                case.manifest
                    .guarantees
                    .push(Guarantee::LDiversity { attribute, l: 2 });
                Done::Keep
            },
        ),
        corruption(
            "let somebody ask for more who look like them",
            &["max_leakage"],
            |case, random| ask(case, random, json!({"max_reidentification": 0.005})),
        ),
        corruption(
            "let somebody ask for more",
            &["max_leakage"],
            |case, random| ask(case, random, json!({"max_leakage": 0.01})),
        ),
        corruption("raise the floor: looks", &["l_diversity"], |case, _| {
            floor(case, |form| form == BlockForm::Generalized)
        }),
        corruption("raise the floor: rings", &["ring_diversity"], |case, _| {
            floor(case, |form| form == BlockForm::Ring)
        }),
        corruption(
            "raise the floor: draws",
            &["values_of_their_group"],
            |case, _| floor(case, |form| matches!(form, BlockForm::Randomized { .. })),
        ),
        corruption(
            "claim a lower probability",
            &["values_as_drawn"],
            |case, _| {
                let BlockForm::Randomized { retention, .. } = form(case) else {
                    return Done::Skip;
                };
                // As if far less had been kept than was.
                let less = Share::new(0.05).unwrap();
                let bound = less.posterior_of_kept(L::new(3).unwrap());
                for claim in &mut case.manifest.guarantees {
                    if let Guarantee::RandomizedResponse { max_posterior, .. } = claim {
                        *max_posterior = bound.get();
                    }
                }
                let mut policy = case.requirements.policy().clone();
                if let Model::Blocks { form, .. } = &mut policy.model {
                    *form = BlockForm::Randomized {
                        retention,
                        max_posterior: bound,
                    };
                }
                case.requirements = Requirements::new(&case.table, policy, &preferences());
                Done::Keep
            },
        ),
    ]
}

fn floor(case: &mut Case, is_wanted: fn(BlockForm) -> bool) -> Done {
    if !is_wanted(form(case)) {
        return Done::Skip;
    }
    let mut policy: Policy = case.requirements.policy().clone();
    policy.model.change_l(|_, l| *l = L::new(8).unwrap());
    case.requirements = Requirements::new(&case.table, policy, &preferences());
    Done::Keep
}

/// Somebody asks for something, beside all others.
fn ask(case: &mut Case, random: &mut Random, mut document: serde_json::Value) -> Done {
    let row = random.random_range(0..case.rows());
    let keys = case.table.subject_keys();
    document["subject"] = json!(keys.get(case.subjects()[row].at()));
    let asked: Preference = serde_json::from_value(document).expect("a preference");
    let mut preferences = preferences();
    preferences.retain(|preference| preference.subject != asked.subject);
    preferences.push(asked);
    let policy = case.requirements.policy().clone();
    case.requirements = Requirements::new(&case.table, policy, &preferences);
    Done::Keep
}
