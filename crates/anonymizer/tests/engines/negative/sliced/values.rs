//! What the cells say.

use rand::RngExt;
use vizard_anonymizer::microdata::Code;
use vizard_anonymizer::release::{Cell, Content};

use super::base::{column, columns, exchange, linked, set};
use crate::case::Case;
use crate::negative::{Corruption, Done, Random, any, corruption};

const HELD: &[&str] = &["buckets_hold_their_records"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = exact();
    all.extend(strange());
    all.extend(sensitive());
    all.extend(generalized());
    all
}

fn header(case: &Case, random: &mut Random) -> String {
    any(&linked(case), random).unwrap().1
}

fn name(header: &str) -> &str {
    header.strip_suffix("@2").unwrap_or(header)
}

fn write(case: &mut Case, random: &mut Random, cell: Cell) -> Done {
    let header = header(case, random);
    let row = random.random_range(0..case.rows());
    set(case, &header, row, cell);
    Done::Seal
}

/// What stands together in a column, bucket by bucket, in no order.
fn combinations(case: &Case, headers: &[String]) -> Vec<(u64, Vec<String>)> {
    let cells: Vec<Vec<Cell>> = headers
        .iter()
        .map(|header| case.cells("sliced", header))
        .collect();
    let buckets = case.numbers("sliced", "bucket").into_iter().enumerate();
    let rows = buckets.map(|(row, bucket)| {
        let texts = cells.iter().map(|cells| format!("{:?}", cells[row]));
        (bucket, texts.collect())
    });
    let mut rows: Vec<(u64, Vec<String>)> = rows.collect();
    rows.sort();
    rows
}

fn exact() -> Vec<Corruption> {
    vec![
        corruption("exchange values between buckets", HELD, |case, random| {
            let buckets = case.numbers("sliced", "bucket");
            for _ in 0..100 {
                let header = header(case, random);
                let [one, other] = [(); 2].map(|()| random.random_range(0..case.rows()));
                if buckets[one] != buckets[other] && exchange(case, &header, one, other) {
                    return Done::Seal;
                }
            }
            Done::Skip
        }),
        corruption("invent a value of the domain", HELD, |case, random| {
            let header = header(case, random);
            let row = random.random_range(0..case.rows());
            let held = case.cells("sliced", &header)[row].clone();
            let codes = case.domain(name(&header)).len() as u32;
            let others = (0..codes).map(|code| case.exact(name(&header), Code(code)));
            let others: Vec<Cell> = others.filter(|cell| *cell != held).collect();
            set(case, &header, row, any(&others, random).unwrap());
            Done::Seal
        }),
        corruption("mask a value", HELD, |case, random| {
            write(case, random, Cell::Masked)
        }),
        corruption("leave a cell empty", HELD, |case, random| {
            write(case, random, Cell::Empty)
        }),
        corruption("publish a node of the hierarchy", HELD, |case, random| {
            let row = random.random_range(0..case.rows());
            if !linked(case).iter().any(|(_, header)| header == "city") {
                return Done::Skip;
            }
            set(case, "city", row, Cell::Label("West".into()));
            Done::Seal
        }),
        corruption("publish an interval", HELD, |case, random| {
            let row = random.random_range(0..case.rows());
            if !linked(case).iter().any(|(_, header)| header == "age") {
                return Done::Skip;
            }
            set(case, "age", row, Cell::Integer(20, 30));
            Done::Seal
        }),
    ]
}

/// Identifiers, insensitive values, and values that do not go together.
fn strange() -> Vec<Corruption> {
    vec![
        corruption("publish a value that nobody has", HELD, |case, random| {
            let row = random.random_range(0..case.rows());
            set(case, "job", row, Cell::Label("spy".into()));
            Done::Seal
        }),
        corruption(
            "publish somebody's mail",
            &["no_source_identifier"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                let mail = format!("someone{}@example.org", random.random_range(0..240));
                set(case, "job", row, Cell::Label(mail));
                Done::Seal
            },
        ),
        corruption(
            "publish keys as notes",
            &["no_source_identifier"],
            |case, _| {
                let keys = case.table.subject_keys();
                let of = |row: usize| Cell::Label(keys.get(case.subjects()[row].at()).to_owned());
                let cells = (0..case.rows()).map(of).collect();
                case.set_cells("sliced", "note", cells);
                Done::Seal
            },
        ),
        corruption(
            "exchange insensitive values between buckets",
            HELD,
            |case, random| {
                let buckets = case.numbers("sliced", "bucket");
                for _ in 0..100 {
                    let [one, other] = [(); 2].map(|()| random.random_range(0..case.rows()));
                    if buckets[one] != buckets[other] && exchange(case, "note", one, other) {
                        return Done::Seal;
                    }
                }
                Done::Skip
            },
        ),
        corruption("unlink the attributes of a column", HELD, |case, _| {
            // Turned by one row inside every bucket.
            let with_job = |number: &u64| column(case, *number).contains(&"job".to_owned());
            let number = (1..=columns(case)).find(with_job);
            let Some(headers) = number.map(|number| column(case, number)) else {
                return Done::Skip;
            };
            let before = combinations(case, &headers);
            for rows in case.groups_of("sliced", "bucket") {
                for pair in rows.windows(2) {
                    exchange(case, "job", pair[0], pair[1]);
                }
            }
            if combinations(case, &headers) == before {
                Done::Skip
            } else {
                Done::Seal
            }
        }),
    ]
}

fn sensitive() -> Vec<Corruption> {
    vec![
        corruption(
            "give a whole bucket one job",
            &["l_diversity", "max_leakage", "buckets_hold_their_records"],
            |case, random| {
                if case.manifest.parameters.get("l").is_none() {
                    return Done::Skip;
                }
                let rows = any(&case.groups_of("sliced", "bucket"), random).unwrap();
                let shown: Vec<String> =
                    linked(case).into_iter().map(|(_, header)| header).collect();
                for header in shown.iter().filter(|header| name(header) == "job") {
                    for &row in &rows {
                        set(case, header, row, Cell::Label("baker".into()));
                    }
                }
                Done::Seal
            },
        ),
        corruption(
            "give a whole bucket one job, far from the whole",
            &["t_closeness"],
            |case, random| {
                if case.manifest.parameters.get("t_closeness").is_none() {
                    return Done::Skip;
                }
                let rows = any(&case.groups_of("sliced", "bucket"), random).unwrap();
                for row in rows {
                    set(case, "job", row, Cell::Label("baker".into()));
                }
                Done::Seal
            },
        ),
        corruption(
            "let the two columns disagree on a job",
            HELD,
            |case, random| {
                let shown = linked(case);
                if !shown.iter().any(|(_, header)| header == "job@2") {
                    return Done::Skip;
                }
                let row = random.random_range(0..case.rows());
                let held = case.cells("sliced", "job@2")[row].clone();
                let other = ["baker", "clerk"].map(|job| Cell::Label(job.into()));
                let other = other.into_iter().find(|cell| *cell != held).unwrap();
                set(case, "job@2", row, other);
                Done::Seal
            },
        ),
    ]
}

/// Sets the cells of a generalized attribute for one bucket.
fn dress(
    case: &mut Case,
    random: &mut Random,
    attribute: &str,
    cell: impl Fn(&Case, &[usize]) -> Option<Cell>,
) -> Done {
    let columns = case.published("sliced").columns.iter();
    let mut columns = columns.filter(|column| column.content == Content::Generalized);
    if !columns.any(|column| column.name == attribute) {
        return Done::Skip;
    }
    let mut buckets = case.groups_of("sliced", "bucket");
    while !buckets.is_empty() {
        let rows = buckets.swap_remove(random.random_range(0..buckets.len()));
        if let Some(cell) = cell(case, &rows) {
            let mut cells = case.cells("sliced", attribute);
            rows.iter().for_each(|&row| cells[row] = cell.clone());
            case.set_cells("sliced", attribute, cells);
            return Done::Seal;
        }
    }
    Done::Skip
}

fn generalized() -> Vec<Corruption> {
    const SPAN: &[&str] = &["cells_span_their_group"];
    const COVER: &[&str] = &["cells_cover_their_source"];
    vec![
        corruption("widen the ages of a bucket", SPAN, |case, random| {
            dress(case, random, "age", |case, rows| {
                let Cell::Integer(low, high) = case.cells("sliced", "age")[rows[0]] else {
                    return None;
                };
                (low > 18)
                    .then_some(Cell::Integer(18, high))
                    .filter(|_| case.domain("age").number(Code(0)) == 18.0)
            })
        }),
        corruption("narrow the ages of a bucket", COVER, |case, random| {
            dress(case, random, "age", |case, rows| {
                let Cell::Integer(low, high) = case.cells("sliced", "age")[rows[0]] else {
                    return None;
                };
                (low < high).then_some(Cell::Integer(low, low))
            })
        }),
        corruption("mask the city of a bucket", SPAN, |case, random| {
            dress(case, random, "city", |case, rows| {
                let held = &case.cells("sliced", "city")[rows[0]];
                (*held != Cell::Masked).then_some(Cell::Masked)
            })
        }),
        corruption("send a bucket to another city", COVER, |case, random| {
            dress(case, random, "city", |case, rows| {
                let held = &case.cells("sliced", "city")[rows[0]];
                let north = Cell::Label("Bodo".into());
                (*held != north).then_some(north)
            })
        }),
        corruption("hide the ages of a bucket", COVER, |case, random| {
            dress(case, random, "age", |_, _| Some(Cell::Empty))
        }),
        corruption("name a city that is none", COVER, |case, random| {
            dress(case, random, "city", |_, _| {
                Some(Cell::Label("Atlantis".into()))
            })
        }),
        corruption(
            "dress one row of a bucket apart",
            &["groups_look_alike"],
            |case, random| {
                let done = dress(case, random, "age", |_, rows| {
                    (rows.len() > 1).then_some(Cell::Masked)
                });
                if done == Done::Skip {
                    return Done::Skip;
                }
                let rows: Vec<usize> = (0..case.rows())
                    .filter(|&row| case.cells("sliced", "age")[row] == Cell::Masked)
                    .collect();
                set(case, "age", rows[0], Cell::Integer(20, 21));
                Done::Seal
            },
        ),
    ]
}
