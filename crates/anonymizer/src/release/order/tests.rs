//! Releases in disorder: what their maker chose leaves no trace.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;

use super::*;
use crate::microdata::Codes;
use crate::release::lineage::TableLineage;
use crate::release::table::Cells;

const SEED: u64 = 5;

fn numbers(name: &str, content: Content, numbers: Vec<u64>) -> PublishedColumn {
    PublishedColumn {
        name: name.into(),
        content,
        kind: None,
        cells: Cells::Numbers(numbers),
    }
}

fn labels(name: &str, content: Content, labels: &[String]) -> PublishedColumn {
    let cells = labels.iter().map(|label| Cell::Label(label.clone()));
    PublishedColumn {
        name: name.into(),
        content,
        kind: None,
        cells: Cells::Dictionary {
            codes: (0..labels.len() as u32).collect(),
            cells: cells.collect(),
        },
    }
}

/// Attribute, bucket, value and count.
type Entry = (String, u64, String, u64);

/// A release in the form of lgb: rows in groups, with buckets of two
/// attributes; values and groups are so few that contents repeat.
fn bucketized(random: &mut ChaCha12Rng) -> (Vec<PublishedTable>, Lineage) {
    let rows = random.random_range(1..40);
    let mut column = |largest: u64| -> Vec<u64> {
        let mut numbers: Vec<u64> = (0..rows).map(|row| row % largest + 1).collect();
        numbers.shuffle(random);
        numbers
    };
    let groups = column(3.min(rows));
    let buckets = [column(8.min(rows)), column(8.min(rows))];
    let shown: Vec<String> = groups
        .iter()
        .map(|group| format!("{}", group % 2))
        .collect();
    let mut entries: Vec<Entry> = Vec::new();
    for (name, of_rows) in ["a", "b"].into_iter().zip(&buckets) {
        let largest = of_rows.iter().copied().max().unwrap_or(0);
        for number in 1..=largest {
            let cells = of_rows.iter().filter(|&&other| other == number).count() as u64;
            entries.push((name.into(), number, format!("v{}", number % 2), cells));
        }
    }
    let microdata = PublishedTable {
        name: "microdata".into(),
        columns: vec![
            numbers("group", Content::Group, groups),
            labels("city", Content::Generalized, &shown),
            numbers("a_bucket", Content::Bucket, buckets[0].clone()),
            numbers("b_bucket", Content::Bucket, buckets[1].clone()),
        ],
    };
    let text = |of: fn(&Entry) -> String| -> Vec<String> { entries.iter().map(of).collect() };
    let list = PublishedTable {
        name: "buckets".into(),
        columns: vec![
            labels(
                "attribute",
                Content::Attribute,
                &text(|entry| entry.0.clone()),
            ),
            numbers(
                "bucket",
                Content::Bucket,
                entries.iter().map(|entry| entry.1).collect(),
            ),
            labels("value", Content::Value, &text(|entry| entry.2.clone())),
            numbers(
                "count",
                Content::Count,
                entries.iter().map(|entry| entry.3).collect(),
            ),
        ],
    };
    let subjects = (0..rows as u32).map(SubjectIndex).collect();
    let lineage = Lineage {
        tables: vec![TableLineage {
            table: "microdata".into(),
            subjects,
        }],
    };
    (vec![microdata, list], lineage)
}

/// The same release with other numbers, rows in another order.
fn disordered(
    (mut tables, mut lineage): (Vec<PublishedTable>, Lineage),
    random: &mut ChaCha12Rng,
) -> (Vec<PublishedTable>, Lineage) {
    let spaces = Spaces::of(&tables, 0);
    let renumbered: Vec<Vec<u64>> = spaces
        .spaces
        .iter()
        .map(|space| {
            let mut numbers: Vec<u64> = (1..=space.largest as u64).collect();
            numbers.shuffle(random);
            numbers.insert(0, 0);
            numbers
        })
        .collect();
    spaces.renumber(&mut tables, &renumbered);
    for table in &mut tables {
        let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
        rows.shuffle(random);
        permute(table, &rows);
        if let Some(entry) = lineage
            .tables
            .iter_mut()
            .find(|entry| entry.table == table.name)
        {
            let before = entry.subjects.clone();
            entry.subjects = rows.iter().map(|&row| before[row as usize]).collect();
        }
    }
    (tables, lineage)
}

fn ordered((mut tables, mut lineage): (Vec<PublishedTable>, Lineage)) -> Vec<PublishedTable> {
    order(&mut tables, &mut lineage, &Seed::of_number(SEED));
    tables.iter().map(PublishedTable::canonical).collect()
}

#[test]
fn order_and_numbers_that_an_engine_chose_leave_no_trace() {
    let mut random = ChaCha12Rng::seed_from_u64(1);
    for _ in 0..400 {
        let release = bucketized(&mut random);
        let wanted = ordered(release.clone());
        assert_eq!(ordered(disordered(release, &mut random)), wanted);
    }
}

#[test]
fn what_is_in_order_stays_as_it_is() {
    let mut random = ChaCha12Rng::seed_from_u64(2);
    for _ in 0..100 {
        let (mut tables, mut lineage) = bucketized(&mut random);
        order(&mut tables, &mut lineage, &Seed::of_number(SEED));
        let before = (tables.clone(), lineage.clone());
        order(&mut tables, &mut lineage, &Seed::of_number(SEED));
        assert_eq!((tables, lineage), before);
    }
}

#[test]
fn columns_of_a_bucket_are_sorted_one_by_one_and_the_lineage_follows_the_first() {
    let mut random = ChaCha12Rng::seed_from_u64(3);
    let texts = |random: &mut ChaCha12Rng| -> Vec<String> {
        (0..60)
            .map(|_| format!("{}", random.next_u64() % 7))
            .collect()
    };
    let (first, second) = (texts(&mut random), texts(&mut random));
    let buckets: Vec<u64> = (0..60).map(|row| row % 4 + 1).collect();
    let sliced = PublishedTable {
        name: "sliced".into(),
        columns: vec![
            numbers("bucket", Content::Bucket, buckets),
            labels("city", Content::Exact, &first),
            labels("job", Content::Exact, &second),
        ],
    };
    let columns = PublishedTable {
        name: "columns".into(),
        columns: vec![
            numbers("column", Content::Column, vec![1, 2]),
            labels(
                "attribute",
                Content::Attribute,
                &["city".into(), "job".into()],
            ),
        ],
    };
    let mut lineage = Lineage {
        tables: vec![TableLineage {
            table: "sliced".into(),
            subjects: (0..60).map(SubjectIndex).collect(),
        }],
    };
    let mut tables = vec![sliced, columns];
    order(&mut tables, &mut lineage, &Seed::of_number(SEED));
    let Cells::Numbers(buckets) = &tables[0].columns[0].cells else {
        panic!("buckets are numbers");
    };
    let shown = |column: usize| -> Vec<String> {
        let Cells::Dictionary { codes, cells } = &tables[0].columns[column].cells else {
            panic!("cells have a dictionary");
        };
        let text = |code: u32| {
            let mut text = String::new();
            cells[code as usize].text(&mut text);
            text
        };
        codes.iter().map(text).collect()
    };
    let (cities, jobs) = (shown(1), shown(2));
    for row in 1..60 {
        assert!(buckets[row - 1] <= buckets[row]);
        if buckets[row - 1] == buckets[row] {
            assert!(cities[row - 1] <= cities[row] && jobs[row - 1] <= jobs[row]);
        }
    }
    let of_subjects = lineage.tables[0].subjects.iter().zip(&cities);
    for (subject, city) in of_subjects {
        assert_eq!(city, &first[subject.at()]);
    }
}

#[test]
fn keys_of_many_columns_compare_as_their_cells_do() {
    let mut random = ChaCha12Rng::seed_from_u64(4);
    for _ in 0..50 {
        let columns: Vec<PublishedColumn> = (0..random.random_range(1..9))
            .map(|at| {
                let spread = [1, 2, 1 << 20, u64::MAX][at % 4];
                let drawn = (0..30).map(|_| random.next_u64() % spread);
                numbers("n", Content::Count, drawn.collect())
            })
            .collect();
        let all: Vec<&PublishedColumn> = columns.iter().collect();
        let keys = keys::Keys::of(&all, 30);
        let row = |row: usize| -> Vec<u64> {
            let cells = columns.iter().map(|column| match &column.cells {
                Cells::Numbers(numbers) => numbers[row],
                Cells::Dictionary { .. } => 0,
            });
            cells.collect()
        };
        for one in 0..30 {
            for other in 0..30 {
                let by_key = keys.row(one).cmp(keys.row(other));
                assert_eq!(by_key, row(one as usize).cmp(&row(other as usize)));
            }
        }
    }
}

#[test]
fn codes_keep_their_width_when_rows_move() {
    let mut column = labels(
        "city",
        Content::Exact,
        &["b".into(), "a".into(), "b".into()],
    );
    column.cells = match column.cells {
        Cells::Dictionary { cells, .. } => Cells::Dictionary {
            codes: Codes::Wide(vec![2, 1, 0]),
            cells,
        },
        numbers => numbers,
    };
    let mut table = PublishedTable {
        name: "t".into(),
        columns: vec![column],
    };
    sort_by_columns(&mut table);
    let sorted = labels(
        "city",
        Content::Exact,
        &["a".into(), "b".into(), "b".into()],
    );
    let wanted = PublishedTable {
        name: "t".into(),
        columns: vec![sorted],
    };
    assert_eq!(table.canonical(), wanted.canonical());
}

/// Values that differ in their lowest bits alone still decide.
#[test]
fn numbers_of_lists_ascend_with_their_values() {
    let values: Vec<String> = [3, 0, 4, 2, 1].map(|value| format!("v{value}")).into();
    let microdata = PublishedTable {
        name: "microdata".into(),
        columns: vec![
            numbers("group", Content::Group, vec![1; 5]),
            labels("city", Content::Generalized, &["x"; 5].map(String::from)),
            numbers("a_bucket", Content::Bucket, vec![1, 2, 3, 4, 5]),
        ],
    };
    let list = PublishedTable {
        name: "buckets".into(),
        columns: vec![
            labels("attribute", Content::Attribute, &["a"; 5].map(String::from)),
            numbers("bucket", Content::Bucket, vec![1, 2, 3, 4, 5]),
            labels("value", Content::Value, &values),
            numbers("count", Content::Count, vec![1; 5]),
        ],
    };
    let lineage = Lineage {
        tables: vec![TableLineage {
            table: "microdata".into(),
            subjects: (0..5).map(SubjectIndex).collect(),
        }],
    };
    let list = &ordered((vec![microdata, list], lineage))[1];
    let Cells::Dictionary { codes, cells } = &list.columns[2].cells else {
        panic!("values have a dictionary");
    };
    let mut texts = codes.iter().map(|code| {
        let mut text = String::new();
        cells[code as usize].text(&mut text);
        text
    });
    for value in 0..5 {
        assert_eq!(texts.next(), Some(format!("v{value}")));
    }
}
