//! Who is there, how often, in which bucket and order.

use rand::RngExt;
use vizard_anonymizer::microdata::SubjectIndex;

use super::base::{column, columns, exchange, is_coarse, linked};
use crate::case::Case;
use crate::negative::{Corruption, Done, Random, any, corruption};

const ONCE: &[&str] = &["every_record_once"];
const HELD: &[&str] = &["buckets_hold_their_records"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = presence();
    all.extend(members());
    all.extend(numbers());
    all.extend(alone());
    all.extend(order());
    all
}

fn row(case: &Case, random: &mut Random) -> usize {
    random.random_range(0..case.rows())
}

/// Two rows of different buckets.
fn strangers(case: &Case, random: &mut Random) -> (usize, usize) {
    let buckets = case.numbers("sliced", "bucket");
    loop {
        let (one, other) = (row(case, random), row(case, random));
        if buckets[one] != buckets[other] {
            return (one, other);
        }
    }
}

/// Two rows of one bucket.
fn mates(case: &Case, random: &mut Random) -> Option<(usize, usize)> {
    let buckets = case.groups_of("sliced", "bucket");
    let several: Vec<Vec<usize>> = buckets.into_iter().filter(|rows| rows.len() > 1).collect();
    let rows = any(&several, random)?;
    let one = any(&rows, random)?;
    let others: Vec<usize> = rows.into_iter().filter(|&row| row != one).collect();
    Some((one, any(&others, random)?))
}

fn presence() -> Vec<Corruption> {
    vec![
        corruption("drop a row, not its lineage", ONCE, |case, random| {
            let lineage = case.lineage.clone();
            let dropped = row(case, random);
            let kept: Vec<usize> = (0..case.rows()).filter(|&row| row != dropped).collect();
            case.take_rows("sliced", &kept);
            case.lineage = lineage;
            Done::Seal
        }),
        corruption("publish a row twice", ONCE, |case, random| {
            let mut rows: Vec<usize> = (0..case.rows()).collect();
            rows.push(row(case, random));
            case.take_rows("sliced", &rows);
            Done::Seal
        }),
        corruption("publish nobody", ONCE, |case, _| {
            case.take_rows("sliced", &[]);
            Done::Seal
        }),
        corruption("name a subject twice", ONCE, |case, random| {
            let (one, other) = strangers(case, random);
            let subject = case.subjects()[one];
            case.subjects_mut()[other] = subject;
            Done::Keep
        }),
        corruption("name a subject that is not there", ONCE, |case, random| {
            let row = row(case, random);
            case.subjects_mut()[row] = SubjectIndex(any(&[u32::MAX, 9_999], random).unwrap());
            Done::Keep
        }),
        corruption("forget the lineage", ONCE, |case, _| {
            case.lineage.tables.clear();
            Done::Keep
        }),
        corruption(
            "publish someone who asked to be left out",
            &["exclusions_honoured"],
            |case, random| {
                let row = row(case, random);
                let last = case.table.records() as u32 - 1;
                case.subjects_mut()[row] = SubjectIndex(last);
                Done::Keep
            },
        ),
        corruption("count other records", ONCE, |case, _| {
            case.manifest.records += 1;
            Done::Keep
        }),
        corruption(
            "exclude more than left",
            &["manifest_as_rendered"],
            |case, _| {
                case.manifest.excluded += 10;
                Done::Keep
            },
        ),
        corruption("count beyond all numbers", ONCE, |case, _| {
            case.manifest.excluded = u64::MAX;
            Done::Keep
        }),
    ]
}

/// Rows and lineages in the wrong place.
fn members() -> Vec<Corruption> {
    vec![
        corruption("move a row to another bucket", HELD, |case, random| {
            // Its other columns are of records that stay; some rows happen to
            // stand for themselves, so one is looked for that does not.
            let mut numbers = case.numbers("sliced", "bucket");
            let sizes = case.groups_of("sliced", "bucket");
            for _ in 0..50 {
                let (one, other) = strangers(case, random);
                if sizes[numbers[one] as usize - 1].len() < 3 {
                    continue;
                }
                let before = numbers[one];
                numbers[one] = numbers[other];
                case.set_numbers("sliced", "bucket", numbers.clone());
                if case.verdict().failed().any(|check| check.kind == HELD[0]) {
                    return Done::Seal;
                }
                numbers[one] = before;
            }
            Done::Skip
        }),
        corruption(
            "exchange the lineage of two buckets' rows",
            HELD,
            |case, random| {
                let (one, other) = strangers(case, random);
                let shown = linked(case);
                let mut names = shown
                    .iter()
                    .map(|(_, header)| header.trim_end_matches("@2"));
                if names.all(|name| case.code(name, one) == case.code(name, other)) {
                    return Done::Skip;
                }
                case.subjects_mut().swap(one, other);
                Done::Keep
            },
        ),
        corruption(
            "exchange the lineage of two rows of a bucket",
            &["first_column_is_its_rows"],
            |case, random| {
                let first = column(case, 1);
                for _ in 0..50 {
                    let Some((one, other)) = mates(case, random) else {
                        return Done::Skip;
                    };
                    if first
                        .iter()
                        .any(|name| case.code(name, one) != case.code(name, other))
                    {
                        case.subjects_mut().swap(one, other);
                        return Done::Keep;
                    }
                }
                Done::Skip
            },
        ),
    ]
}

/// Bucket numbers that are none.
fn numbers() -> Vec<Corruption> {
    vec![
        corruption(
            "leave a bucket number out",
            &["groups_numbered"],
            |case, random| {
                let mut numbers = case.numbers("sliced", "bucket");
                let most = numbers.iter().copied().max().unwrap();
                let gone = random.random_range(1..most);
                numbers
                    .iter_mut()
                    .filter(|number| **number == gone)
                    .for_each(|n| *n = most + 1);
                case.set_numbers("sliced", "bucket", numbers);
                Done::Seal
            },
        ),
        corruption(
            "number buckets wildly",
            &["groups_numbered"],
            |case, random| {
                let wild = [u64::MAX, 1 << 40, 0];
                let numbers = (0..case.rows())
                    .map(|_| any(&wild, random).unwrap())
                    .collect();
                case.set_numbers("sliced", "bucket", numbers);
                Done::Seal
            },
        ),
        corruption(
            "put a row into no bucket",
            &["groups_numbered"],
            |case, random| {
                let mut numbers = case.numbers("sliced", "bucket");
                let row = row(case, random);
                numbers[row] = 0;
                case.set_numbers("sliced", "bucket", numbers);
                Done::Seal
            },
        ),
        corruption(
            "number buckets after their subjects",
            &["no_source_identifier"],
            |case, _| {
                let keys = case.table.subject_keys();
                let of = |subject: &SubjectIndex| keys.get(subject.at()).parse().unwrap();
                let numbers = case.subjects().iter().map(of).collect();
                case.set_numbers("sliced", "bucket", numbers);
                Done::Seal
            },
        ),
    ]
}

/// Buckets of one row.
fn alone() -> Vec<Corruption> {
    vec![
        corruption(
            "give everyone a bucket of their own",
            &["l_diversity", "max_leakage"],
            |case, _| {
                if case.manifest.parameters.get("l").is_none() {
                    return Done::Skip;
                }
                let numbers = (1..=case.rows() as u64).collect();
                case.set_numbers("sliced", "bucket", numbers);
                Done::Seal
            },
        ),
        corruption(
            "give everyone a bucket of their own, far from the whole",
            &["t_closeness"],
            |case, _| {
                if case.manifest.parameters.get("t_closeness").is_none() {
                    return Done::Skip;
                }
                let numbers = (1..=case.rows() as u64).collect();
                case.set_numbers("sliced", "bucket", numbers);
                Done::Seal
            },
        ),
    ]
}

/// Puts the cells of a column in the order of the first column's records.
fn link(case: &mut Case, number: u64) {
    for header in column(case, number) {
        let name = header.strip_suffix("@2").unwrap_or(&header).to_owned();
        let cells = (0..case.rows()).map(|row| case.exact(&name, case.code(&name, row)));
        let cells = cells.collect();
        case.set_cells("sliced", &header, cells);
    }
}

fn sort_by(case: &mut Case, key: impl Fn(&Case, usize) -> u32) -> Done {
    let mut rows: Vec<usize> = (0..case.rows()).collect();
    rows.sort_by_key(|&row| key(case, row));
    case.take_rows("sliced", &rows);
    Done::Seal
}

fn order() -> Vec<Corruption> {
    const ORDER: &[&str] = &["columns_sorted"];
    const LINKED: &[&str] = &["columns_sorted"];
    vec![
        corruption("keep the source's order", ORDER, |case, _| {
            sort_by(case, |case, row| case.subjects()[row].0)
        }),
        corruption("keep the source's order backwards", ORDER, |case, _| {
            sort_by(case, |case, row| u32::MAX - case.subjects()[row].0)
        }),
        corruption(
            "sort rows by a value of the first column",
            ORDER,
            |case, _| {
                let name = column(case, 1)[0].clone();
                sort_by(case, move |case, row| case.code(&name, row).0)
            },
        ),
        corruption("sort rows by the sensitive value", ORDER, |case, _| {
            let cells = case.cells("sliced", "job");
            let mut rows: Vec<usize> = (0..case.rows()).collect();
            rows.sort_by(|&one, &other| cells[one].partial_cmp(&cells[other]).unwrap());
            case.take_rows("sliced", &rows);
            Done::Seal
        }),
        corruption("do not permute anything", LINKED, |case, _| {
            if is_coarse(case) {
                return Done::Skip;
            }
            for number in 1..=columns(case) {
                link(case, number);
            }
            Done::Seal
        }),
        corruption("permute all columns alike", LINKED, |case, _| {
            if is_coarse(case) {
                return Done::Skip;
            }
            // Two behind the first stay linked to each other.
            for number in 2..=columns(case) {
                link(case, number);
            }
            let headers: Vec<String> = linked(case)
                .into_iter()
                .filter(|(number, _)| *number > 1)
                .map(|(_, header)| header)
                .collect();
            for rows in case.groups_of("sliced", "bucket") {
                for pair in rows.windows(2) {
                    for header in &headers {
                        exchange(case, header, pair[0], pair[1]);
                    }
                }
            }
            if columns(case) > 2 {
                Done::Seal
            } else {
                Done::Skip
            }
        }),
        corruption("leave one column unpermuted", LINKED, |case, _| {
            // The jobs, beside ages: those of a bucket differ.
            let with_job = |number: &u64| column(case, *number).contains(&"job".to_owned());
            let number = (2..=columns(case)).find(with_job);
            match number.filter(|_| column(case, 1).contains(&"age".to_owned())) {
                None => return Done::Skip,
                Some(number) => link(case, number),
            }
            Done::Seal
        }),
    ]
}
