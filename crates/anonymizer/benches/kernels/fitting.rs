//! The people of a population table who fit the classes of a release.

use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::ItemsCount;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde_json::json;
use vizard_anonymizer::microdata::{PopulationTable, ReadLimits, Schema};
use vizard_anonymizer::privacy::CancelFlag;
use vizard_anonymizer::release::{Cell, ShownAttribute, fitting};

/// Distinct values of each attribute.
const VALUES: [i64; 7] = [100, 2, 400, 7, 15, 60, 1_000];
const COMBINATIONS: usize = 200_000;
const CLASSES: usize = 30_000;

/// A point or a person: a value of each attribute.
type Point = [i64; VALUES.len()];

/// The table, and the cells of the classes by attribute.
type World = (PopulationTable, Vec<Vec<Cell>>);

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let mut random = ChaCha12Rng::seed_from_u64(3);
    let mut draw = |count: usize| -> Vec<Point> {
        // Small values are frequent, as in registers.
        let value = |most: i64, random: &mut ChaCha12Rng| {
            random
                .random_range(0..most)
                .min(random.random_range(0..most))
        };
        (0..count)
            .map(|_| VALUES.map(|most| value(most, &mut random)))
            .collect()
    };
    let people = draw(COMBINATIONS + COMBINATIONS / 20);
    let mut text = String::from("a0,a1,a2,a3,a4,a5,a6\n");
    for person in people {
        let cells = person.map(|value| value.to_string());
        text += &(cells.join(",") + "\n");
    }
    let table = PopulationTable::read(text.as_bytes(), &schema(), &ReadLimits::default(), 1 << 20);
    let mut records = draw(5 * CLASSES);
    let mut classes = Vec::new();
    divided(&mut records, &mut classes);
    let cells = (0..VALUES.len()).map(|at| classes.iter().map(|class| class[at].clone()).collect());
    (table.expect("a table"), cells.collect())
});

fn schema() -> Schema {
    let attributes = (0..VALUES.len())
        .map(|at| json!({"name": format!("a{at}"), "role": "quasi_identifier", "type": "integer"}));
    let key = json!({"name": "id", "role": "identifier"});
    let attributes: Vec<_> = std::iter::once(key).chain(attributes).collect();
    let schema = json!({"name": "x", "subject_key": "id", "attributes": attributes});
    serde_json::from_value(schema).expect("it is a schema")
}

/// The hulls of groups of five to nine, cut where they are widest.
fn divided(records: &mut [Point], classes: &mut Vec<Vec<Cell>>) {
    let range = |at: usize, records: &[Point]| {
        let values = records.iter().map(|record| record[at]);
        values.fold((i64::MAX, 0), |(least, most), value| {
            (least.min(value), most.max(value))
        })
    };
    if records.len() < 10 {
        let hull = (0..VALUES.len()).map(|at| {
            let (least, most) = range(at, records);
            Cell::Integer(least, most)
        });
        classes.push(hull.collect());
        return;
    }
    let width = |at: &usize| {
        let (least, most) = range(*at, records);
        (most - least) * 1_000 / VALUES[*at]
    };
    let widest = (0..VALUES.len())
        .max_by_key(width)
        .expect("there are attributes");
    records.sort_unstable_by_key(|record| record[widest]);
    let (one, other) = records.split_at_mut(records.len() / 2);
    divided(one, classes);
    divided(other, classes);
}

/// The classes of a release against a register.
#[divan::bench(sample_count = 5)]
fn people_fitted(bencher: Bencher) {
    let (table, cells) = &*WORLD;
    let classes = cells[0].len();
    let names: Vec<String> = (0..VALUES.len()).map(|at| format!("a{at}")).collect();
    let bencher = bencher.counter(ItemsCount::new(classes));
    bencher.bench(|| {
        let shown = names.iter().zip(cells).map(|(name, cells)| ShownAttribute {
            name,
            cells,
            of_class: (0..classes as u32).collect(),
            hierarchy: None,
            forms: &[],
        });
        let shown: Vec<ShownAttribute<'_>> = shown.collect();
        fitting(table, classes, &shown, CancelFlag::never())
    });
}
