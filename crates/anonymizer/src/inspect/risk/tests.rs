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
    assert_eq!(found.journalist_mean, 0.5625);
    assert_eq!(found.presence, [0.25, 1.0]);

    let whole = read("a,count\n1,10\n2,20\n3,5\n");
    let found = risk(&columns, Some(&whole)).population.unwrap();
    assert_eq!((found.k_map, found.not_covered), (5, 0));
    assert_eq!(found.journalist, 0.2);
    assert_eq!(found.journalist_mean, 0.1125);

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
        (1, 1.0, 1.0)
    );
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
