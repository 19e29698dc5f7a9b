//! Data in which the value follows from a quasi-identifier, and data in which
//! it does not.

use std::sync::Arc;

use rand::RngExt;
use rand::seq::SliceRandom;

use super::*;
use crate::microdata::{Chunk, ChunkColumn, Code, HierarchySet, TableBuilder};
use crate::privacy::{
    BlockForm, InBlock, K, L, Model, Policy, ProtectedIndex, ProtectedSet, Spread,
};

/// People of whom `town` tells the illness with this probability; else each
/// is equally likely.
fn people(number: usize, told: f64) -> Table {
    let mut random = Seed::of_number(5).stream(1, 1);
    made(number, || {
        let town = random.random_range(0..10_i64);
        let free = random.random_range(0..10_i64);
        let age = random.random_range(0..100_i64);
        (
            town,
            age,
            if random.random_bool(told) { town } else { free },
        )
    })
}

/// People by town, age and illness.
fn made(number: usize, mut person: impl FnMut() -> (i64, i64, i64)) -> Table {
    let schema = r#"{"name": "t", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "town", "role": "quasi_identifier", "type": "integer"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "illness", "role": "sensitive", "type": "integer"}]}"#;
    let schema = Arc::new(serde_json::from_str(schema).unwrap());
    let keys: Vec<String> = (0..number).map(|at| format!("p{at:05}")).collect();
    let (mut towns, mut ages, mut illnesses) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..number {
        let (town, age, illness) = person();
        towns.push(town);
        ages.push(age);
        illnesses.push(illness);
    }
    let mut builder = TableBuilder::new(schema, &HierarchySet::new()).unwrap();
    let columns = vec![
        ChunkColumn::Text(keys.iter().map(String::as_str).collect()),
        ChunkColumn::Integer(towns),
        ChunkColumn::Integer(ages),
        ChunkColumn::Integer(illnesses),
    ];
    builder
        .push(Chunk {
            records: number,
            columns,
        })
        .unwrap();
    builder.finish().unwrap()
}

/// Buckets of l people with different values, drawn at random.
fn buckets(table: &Table, l: usize) -> Candidates {
    let column = table.coded(AttributeIndex(3)).unwrap();
    let different = column.domain.len();
    let mut queues: Vec<Vec<u32>> = vec![Vec::new(); different];
    let mut people: Vec<u32> = (0..table.records() as u32).collect();
    let mut random = Seed::of_number(6).stream(1, 1);
    people.shuffle(&mut random);
    for person in people {
        queues[column.codes.at(person as usize) as usize].push(person);
    }
    let mut shown = AttributeCandidates {
        name: "illness".into(),
        l: l as u32,
        stands_in_rows: false,
        is_l_alone: true,
        is_whole: true,
        is_counted: true,
        values: (0..different)
            .map(|code| column.domain.text(Code(code as u32)))
            .collect(),
        classes: Vec::new(),
        class_of: vec![NO_CLASS; table.records()],
    };
    loop {
        let mut there: Vec<usize> = (0..different)
            .filter(|&at| !queues[at].is_empty())
            .collect();
        if there.len() < l {
            break;
        }
        there.shuffle(&mut random);
        there.sort_by_key(|&at| std::cmp::Reverse(queues[at].len()));
        there.truncate(l);
        there.sort_unstable();
        for &value in &there {
            let person = queues[value].pop().unwrap();
            shown.class_of[person as usize] = shown.classes.len() as u32;
        }
        shown
            .classes
            .push(there.iter().map(|&value| (value as u32, 1)).collect());
    }
    let keys = table.subject_keys();
    Candidates {
        subjects: (0..table.subjects())
            .map(|at| keys.get(at).to_owned())
            .collect(),
        attributes: vec![shown],
        identity: Identity::Exact,
        ..Candidates::default()
    }
}

fn attack(table: &Table, shown: &Candidates) -> Vec<Check> {
    let l = L::new(shown.attributes[0].l).unwrap();
    let own = InBlock {
        l,
        min_spread: Spread::Nothing,
    };
    let policy = Policy {
        model: Model::Blocks {
            form: BlockForm::Distinct,
            sensitive: ProtectedSet::default().with(ProtectedIndex(0)),
            protections: vec![(AttributeIndex(3), own)],
        },
        k: K::NONE,
        apply_preferences: true,
    };
    let requirements = Requirements::new(table, policy, &[]);
    inference(table, &requirements, shown, &CancelFlag::default())
}

fn figure(check: &Check, name: &str) -> f64 {
    let mut all = check.figures.iter();
    all.find(|(other, _)| *other == name).expect("a figure").1
}

fn attacked(told: f64, l: usize) -> Check {
    let table = people(4_000, told);
    let shown = buckets(&table, l);
    attack(&table, &shown).remove(0)
}

#[test]
fn what_quasi_identifiers_tell_is_guessed_from_buckets_and_from_the_population() {
    let check = attacked(0.8, 5);
    let (release, population) = (check.attained.unwrap(), figure(&check, "population"));
    // 0.8 + 0.02 by the town alone; a bucket excludes half of the values.
    assert!((0.76..0.85).contains(&population), "{population}");
    assert!((0.80..0.95).contains(&release), "{release}");
    assert!(figure(&check, "lift") < 1.3);
}

#[test]
fn where_quasi_identifiers_tell_nothing_a_guess_is_right_for_one_in_l() {
    let check = attacked(0.0, 5);
    let (release, population) = (check.attained.unwrap(), figure(&check, "population"));
    assert!((0.17..0.24).contains(&release), "{release}");
    assert!((0.07..0.14).contains(&population), "{population}");
    // Statistics of others tell one in ten, the release one in five, as it says.
    assert!((0.85..1.2).contains(&figure(&check, "lift")), "{check:?}");
    assert_eq!(figure(&check, "one_in_l"), 0.2);
}

#[test]
fn what_two_quasi_identifiers_tell_together_is_learned_by_the_logistic_model_alone() {
    // Neither town nor age says anything of the illness by itself.
    let mut random = Seed::of_number(8).stream(1, 1);
    let table = made(4_000, || {
        let (town, age) = (
            random.random_range(0..10_i64),
            random.random_range(0..10_i64),
        );
        (town, age, (town + age) % 10)
    });
    let check = attack(&table, &buckets(&table, 5)).remove(0);
    let by = |name: &str| figure(&check, name);
    assert!((0.15..0.30).contains(&by("naive_bayes")), "{check:?}");
    assert!(by("logistic") > 0.8, "{check:?}");
    assert_eq!(check.attained, Some(by("logistic")));
    // Whoever has other people's data learns it as well.
    assert!(by("population") > 0.8, "{check:?}");
}

#[test]
fn of_many_values_some_are_drawn_and_what_tells_them_is_learned() {
    // A hundred values, ten for each town.
    let mut random = Seed::of_number(9).stream(1, 1);
    let table = made(4_000, || {
        let (town, free) = (
            random.random_range(0..10_i64),
            random.random_range(0..10_i64),
        );
        (town, random.random_range(0..100), 10 * town + free)
    });
    assert!(table.coded(AttributeIndex(3)).unwrap().domain.len() > 64);
    let check = attack(&table, &buckets(&table, 4)).remove(0);
    assert!(figure(&check, "logistic") > 0.8, "{check:?}");
    assert!(figure(&check, "population") < 0.2, "{check:?}");
}

#[test]
fn models_hold_as_much_as_there_is_room_for_and_no_place_for_values_that_nobody_has() {
    let table = people(100, 0.0);
    let quasi = [1, 2].map(|at| table.coded(AttributeIndex(at)).unwrap());
    let records: Vec<u32> = (0..100).collect();
    let known = Known::of(&quasi, &records);
    // Ten towns and at most 64 intervals of age; one pair of 16 or 8 each.
    let singles: usize = known.sizes.iter().sum();
    for (values, features) in [
        (10, singles + 256),
        (20_000, singles + 64),
        (40_000, singles),
        (1_000_000, 0),
    ] {
        let model = Logistic::empty(&known, 100, values);
        assert_eq!(model.weights.len(), features * values, "{values} values");
        assert!((model.ratio(&known, 5, 7) - 1.0).abs() < 1e-12);
    }
    let class = |people: std::ops::Range<usize>, values: &[u32]| Class {
        people,
        values: values.iter().map(|&value| (value, 1.0)).collect(),
    };
    let (mut own, mut classes) = ([900, 7, 900], [class(0..3, &[7, 500, 900])]);
    assert_eq!(renumber(&mut own, &mut classes), 3);
    assert_eq!(own, [2, 0, 2]);
    assert_eq!(classes[0].values, [(0, 1.0), (1, 1.0), (2, 1.0)]);
}

#[test]
fn it_is_the_same_every_time_and_nothing_where_nobody_is_shown() {
    assert_eq!(attacked(0.5, 3), attacked(0.5, 3));
    let table = people(10, 0.5);
    let mut shown = buckets(&table, 2);
    shown.attributes[0].class_of.fill(NO_CLASS);
    assert_eq!(attack(&table, &shown), []);
}
