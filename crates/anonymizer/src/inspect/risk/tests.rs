//! Risk held against its definitions, counted by hand on small tables.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::microdata::{Chunk, ChunkColumn, PopulationTable, ReadLimits, Schema};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn schema(multiplicity: &str) -> Arc<Schema> {
    let mut attributes = vec![json!({"name": "id", "role": "identifier"})];
    attributes.extend(
        NAMES.map(|name| json!({"name": name, "role": "quasi_identifier", "type": "integer"})),
    );
    attributes.push(json!({"name": "s", "role": "sensitive", "type": "categorical"}));
    let schema = json!({"name": "x", "subject_key": "id", "multiplicity": multiplicity,
        "missing": "category", "attributes": attributes});
    Arc::new(serde_json::from_value(schema).unwrap())
}

/// Records: subject, four numbers of which 0 stands for missing.
type Rows = Vec<(u8, [i64; 4])>;

fn columns(multiplicity: &str, rows: &Rows, pieces: usize) -> RiskColumns {
    let mut columns = RiskColumns::new(schema(multiplicity));
    for rows in rows.chunks(pieces) {
        let mut all = vec![ChunkColumn::Text(
            rows.iter()
                .map(|(subject, _)| subject.to_string())
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str)
                .collect(),
        )];
        for at in 0..4 {
            let known = rows.iter().map(|(_, row)| row[at]).filter(|&one| one != 0);
            let known = ChunkColumn::Integer(known.collect());
            let missing = (0..).zip(rows).filter(|(_, (_, row))| row[at] == 0);
            let missing: Vec<u32> = missing.map(|(record, _)| record).collect();
            all.push(if missing.is_empty() {
                known
            } else {
                ChunkColumn::WithMissing {
                    known: Box::new(known),
                    missing,
                }
            });
        }
        all.push(ChunkColumn::Category {
            labels: ["flu"].into_iter().collect(),
            codes: vec![0; rows.len()],
        });
        columns.add(&Chunk {
            records: rows.len(),
            columns: all,
        });
    }
    columns
}

/// Subjects of each class of a set.
fn classes(rows: &Rows, set: &[usize]) -> BTreeMap<Vec<i64>, BTreeSet<u8>> {
    let mut classes: BTreeMap<Vec<i64>, BTreeSet<u8>> = BTreeMap::new();
    for (subject, row) in rows {
        let key = set.iter().map(|&at| row[at]).collect();
        classes.entry(key).or_default().insert(*subject);
    }
    classes
}

fn is_unique(rows: &Rows, set: &[usize], record: usize) -> bool {
    let key: Vec<i64> = set.iter().map(|&at| rows[record].1[at]).collect();
    classes(rows, set)[&key].len() == 1
}

fn sets() -> Vec<Vec<usize>> {
    let all = (1_u32..16).map(|mask| (0..4).filter(|at| mask >> at & 1 == 1).collect());
    all.filter(|set: &Vec<usize>| set.len() <= 3).collect()
}

proptest! {
    #[test]
    fn risk_is_what_its_definitions_say(
        rows in prop::collection::vec((0_u8..12, prop::array::uniform4(0_i64..4)), 1..24),
        is_many: bool,
        pieces in 1_usize..30,
    ) {
        let mut rows: Rows = rows;
        if !is_many {
            for (at, row) in rows.iter_mut().enumerate() {
                row.0 = at as u8;
            }
        }
        let multiplicity = if is_many { "many" } else { "one" };
        let found = risk(&columns(multiplicity, &rows, pieces), None);
        prop_assert_eq!(found.records, rows.len() as u64);
        let subjects: BTreeSet<u8> = rows.iter().map(|(subject, _)| *subject).collect();
        prop_assert_eq!(found.subjects, subjects.len() as u64);
        prop_assert_eq!(found.sets.len(), sets().len());
        for set in sets() {
            let names: Vec<String> = set.iter().map(|&at| NAMES[at].to_owned()).collect();
            let told = found.sets.iter().find(|one| one.attributes == names).unwrap();
            let sizes: Vec<usize> = classes(&rows, &set).values().map(BTreeSet::len).collect();
            // A subject stands where the fewest are alike.
            let smallest: Vec<usize> = subjects
                .iter()
                .map(|subject| {
                    let own = classes(&rows, &set).into_values();
                    own.filter(|class| class.contains(subject)).map(|class| class.len()).min().unwrap()
                })
                .collect();
            let share = |count: f64| (count / subjects.len() as f64 * 1e4).round() / 1e4;
            let below = |bound: usize| {
                share(smallest.iter().filter(|&&size| size < bound).count() as f64)
            };
            prop_assert_eq!(told.unique, below(2));
            prop_assert_eq!(told.below, [below(5), below(12)]);
            prop_assert_eq!(told.k_min, *sizes.iter().min().unwrap() as u64);
            let found = smallest.iter().map(|&size| 1.0 / size as f64).sum();
            prop_assert!((told.marketer - share(found)).abs() < 2e-4);
        }
        for (at, one) in found.attributes.iter().enumerate() {
            let mut minimal = [0; 3];
            for set in sets().into_iter().filter(|set| set.contains(&at)) {
                let parts: Vec<Vec<usize>> = sets()
                    .into_iter()
                    .filter(|part| part.len() < set.len() && part.iter().all(|at| set.contains(at)))
                    .collect();
                for record in 0..rows.len() {
                    let is_minimal = is_unique(&rows, &set, record)
                        && parts.iter().all(|part| !is_unique(&rows, part, record));
                    minimal[set.len() - 1] += u64::from(is_minimal);
                }
            }
            prop_assert_eq!(one.minimal_unique_sets, minimal);
            let missing = rows.iter().filter(|(_, row)| row[at] == 0).count();
            prop_assert_eq!(one.missing, missing as u64);
        }
        let last = found.growing.last().unwrap();
        let set: Vec<usize> = last
            .attributes
            .iter()
            .map(|name| NAMES.iter().position(|one| one == name).unwrap())
            .collect();
        let all = classes(&rows, &set);
        prop_assert!(set.len() == 4 || all.len() == rows.len());
        prop_assert_eq!(last.k_min, all.values().map(BTreeSet::len).min().unwrap() as u64);
        prop_assert_eq!(found.sensitive[0].most_frequent, 1.0);
    }
}

#[test]
fn a_population_says_among_how_many_a_person_could_be() {
    let rows: Rows = vec![
        (0, [1, 1, 0, 0]),
        (1, [1, 1, 0, 0]),
        (2, [2, 1, 0, 0]),
        (3, [3, 1, 0, 0]),
    ];
    let columns = columns("one", &rows, 3);
    let table = |text: &str| {
        let input = Cursor::new(text.to_owned());
        PopulationTable::read(input, columns.schema(), &ReadLimits::default(), 1_000)
    };
    let read = |text: &str| Population::of(&table(text).unwrap(), &columns).unwrap();
    // One who is 1, four who are 2, nobody who is 3, and others.
    let population = read("x,b,a,count\n-,1,1,1\n-,1,2,4\n-,1,9,50\n");
    let found = risk(&columns, Some(&population)).population.unwrap();
    assert_eq!(found.attributes, ["a", "b"]);
    assert_eq!((found.people, found.k_map, found.not_covered), (55, 1, 3));
    assert_eq!(found.journalist, 1.0);
    // (2 of 2) + (1 of 4) + (1 of 1), in four records.
    assert_eq!(found.journalist_mean, Some(0.5625));
    assert_eq!(found.presence, Some([0.25, 1.0]));

    let whole = read("a,count\n1,10\n2,20\n3,5\n");
    let found = risk(&columns, Some(&whole)).population.unwrap();
    assert_eq!((found.k_map, found.not_covered), (5, 0));
    assert_eq!(found.journalist, 0.2);
    assert_eq!(found.journalist_mean, Some(0.1125));

    // Records of one person are one person.
    let many: Rows = (0..60)
        .map(|at| (at % 3, [i64::from(at % 3) + 1, 1, 0, 0]))
        .collect();
    let many = self::columns("many", &many, 7);
    let population = table("a, count\n1,1\n2,1\n3,1\n").unwrap();
    let population = Population::of(&population, &many).unwrap();
    let found = risk(&many, Some(&population)).population.unwrap();
    assert_eq!(
        (found.k_map, found.journalist, found.journalist_mean),
        (1, 1.0, Some(1.0))
    );
}

/// Thirty people of each of two kinds, and those of a third kind.
fn crowd(others: u8) -> RiskColumns {
    let kinds = (0..60 + others).map(|at| (at, [i64::from(at / 30) + 1, 1, 0, 0]));
    columns("one", &kinds.collect(), 100)
}

fn coarse(text: &str, columns: &RiskColumns) -> Option<PopulationRisk> {
    let table = PopulationTable::read(
        text.as_bytes(),
        columns.schema(),
        &ReadLimits::default(),
        1_000,
    );
    let population = Population::of(&table.unwrap(), columns).unwrap().coarse();
    risk(columns, Some(&population)).population
}

#[test]
fn no_coarse_figure_tells_whether_one_person_is_in_the_dataset() {
    // Nobody, one and four of the third kind, beside all tables that single them
    // out: as the only ones who are there, and as the only ones who are not.
    for table in [
        "a,count\n3,1000000000\n",
        "a,count\n1,1000000000\n2,1000000000\n",
        "a,count\n1,1000000000\n2,1000000000\n3,1\n",
    ] {
        let told = [0, 1, 4].map(|others| {
            let found = coarse(table, &crowd(others)).unwrap();
            let share = found.not_covered / (60 + u64::from(others));
            let rest = (found.k_map, found.journalist, found.journalist_mean);
            (share, rest, found.presence)
        });
        assert!(told.iter().all(|one| *one == told[0]), "{table}: {told:?}");
    }
    // Five are told.
    let five = coarse("a,count\n1,100\n2,1000\n", &crowd(5)).unwrap();
    assert_eq!((five.k_map, five.not_covered), (5, 10));
    assert_eq!(five.presence, Some([0.03, 1.0]));
    let six = coarse("a,count\n2,100\n3,100\n", &crowd(6)).unwrap();
    assert_eq!((six.k_map, six.not_covered), (30, 30));
    assert_eq!(six.presence, Some([0.06, 1.0]));
    // Of fewer than five subjects there is nothing to say.
    let few: Rows = (0..4).map(|at| (at, [1, 1, 0, 0])).collect();
    assert_eq!(coarse("a\n1\n", &columns("one", &few, 9)), None);
    // Nine are of one kind; five records of kinds of their own are one person.
    let mut many: Rows = (1..10).map(|at| (at, [1, 1, 0, 0])).collect();
    many.extend((2..7).map(|kind| (0, [kind, 1, 0, 0])));
    let found = coarse("a,count\n1,100\n", &columns("many", &many, 9)).unwrap();
    assert_eq!((found.k_map, found.not_covered), (100, 0));
}

#[test]
fn a_population_is_compared_by_quasi_identifiers_alone() {
    let schema = json!(*schema("one")).to_string();
    let second = r#""name":"b","role":"quasi_identifier""#;
    assert!(schema.contains(second), "{schema}");
    let schema = schema.replace(
        second,
        &second.replace("quasi_identifier", "semi_sensitive"),
    );
    let schema: Schema = serde_json::from_str(&schema).unwrap();
    let mut columns = RiskColumns::new(Arc::new(schema));
    let numbers = |all: [i64; 6]| ChunkColumn::Integer(all.into_iter().collect());
    columns.add(&Chunk {
        records: 6,
        columns: vec![
            ChunkColumn::Text(["0", "1", "2", "3", "4", "5"].into_iter().collect()),
            numbers([1; 6]),
            numbers([1, 2, 3, 4, 5, 6]),
            numbers([1; 6]),
            numbers([1; 6]),
            ChunkColumn::Category {
                labels: ["flu"].into_iter().collect(),
                codes: vec![0; 6],
            },
        ],
    });
    let told = |text: &str| {
        let read = |text: &str| {
            let limits = ReadLimits::default();
            PopulationTable::read(text.as_bytes(), columns.schema(), &limits, 1_000).unwrap()
        };
        let population = Population::of(&read(text), &columns)?;
        risk(&columns, Some(&population)).population
    };
    let with = told("a,b,count\n1,1,4\n1,9,5\n").unwrap();
    assert_eq!(
        (with.attributes.len(), with.k_map, with.not_covered),
        (1, 9, 0)
    );
    assert_eq!(Some(with), told("a,count\n1,9\n"));
    assert_eq!(told("b,count\n1,9\n"), None);
}

#[test]
fn of_many_attributes_those_that_tell_most_are_looked_at() {
    let names: Vec<String> = (0..14).map(|at| format!("a{at}")).collect();
    let mut attributes = vec![json!({"name": "id", "role": "identifier"})];
    attributes.extend(
        names
            .iter()
            .map(|name| json!({"name": name, "role": "quasi_identifier", "type": "integer"})),
    );
    let schema = json!({"name": "x", "subject_key": "id", "attributes": attributes});
    let mut columns = RiskColumns::new(Arc::new(serde_json::from_value(schema).unwrap()));
    let mut all = vec![ChunkColumn::Text(["p"; 40].into_iter().collect())];
    all.extend((0..14).map(|at| ChunkColumn::Integer((0..40).map(|row| row % (at + 1)).collect())));
    columns.add(&Chunk {
        records: 40,
        columns: all,
    });
    let found = risk(&columns, None);
    assert!(found.is_narrowed);
    // All singles, and pairs and triples of twelve.
    assert_eq!(found.sets.len(), 14 + 66 + 220);
    assert!(found.growing.len() <= 14);
    assert_eq!(found.attributes.len(), 14);
}
