//! Minimality, exactly: every engine on every table of six people with the
//! same quasi-identifiers and the same values, again and again. What an
//! adversary sees is one release; of all runs that give the same one, the share
//! in which a person has a value is what the adversary knows who can run the
//! engine and has nothing but the release.
//!
//! Beside it stands what counting says: of buckets and groups the share of the
//! value in the person's class, else what the job claims. A value is told if it
//! is more than 0.05 likelier, beyond chance. Engines that look at values while
//! they make groups tell some in tables that small: the figures here are what
//! they tell today, and may not grow.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::microdata::Table;
use vizard_anonymizer::privacy::{Requirements, Seed};
use vizard_anonymizer::release::candidates::Candidates;
use vizard_anonymizer::release::{Cells, Content, PublishedTable, Release, cell_text};

use crate::tables::table;

const PEOPLE: usize = 6;
/// Tables of quasi-identifiers.
const TABLES: u64 = 2;
/// Runs on each of them, with all values together.
const RUNS: u64 = 9_000;
/// Runs that give a release, at least, to look at it.
const OFTEN: f64 = 20.0;
/// A chance that is none.
const CHANCE: f64 = 1e-6;
/// By how much a value is likelier that is told.
const GAIN: f64 = 0.05;

const DISEASES: &str = "a;one;*\nb;one;*\nc;two;*\n";

/// What every person's value is.
type World = [usize; PEOPLE];

/// What the values may be: each of three twice, where what is published has them
/// all, or any, where it does not.
fn worlds(are_published: bool) -> Vec<World> {
    let all = (0..3_usize.pow(PEOPLE as u32)).map(|number| {
        let value = |place: usize| number / 3_usize.pow(place as u32) % 3;
        std::array::from_fn(value)
    });
    let has_each_twice =
        |world: &World| (0..3).all(|value| world.iter().filter(|&&one| one == value).count() == 2);
    all.filter(|world| !are_published || has_each_twice(world))
        .collect()
}

/// The table of a world. Of many records a person: the values are a and b, a and
/// c, b and c.
fn of_world(people: &[(u32, u32)], world: &World, is_many: bool) -> Table {
    let schema = json!({
        "name": "tiny", "subject_key": "id",
        "multiplicity": if is_many { "many" } else { "one" },
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "ward", "role": "quasi_identifier", "type": "integer"},
            {"name": "disease", "role": "sensitive", "type": "categorical",
             "hierarchy": "diseases"}
        ]
    });
    let mut records = String::from("id,age,ward,disease\n");
    for (at, ((age, ward), &value)) in people.iter().zip(world).enumerate() {
        let values: &[&str] = match (is_many, value) {
            (false, 0) => &["a"],
            (false, 1) => &["b"],
            (false, _) => &["c"],
            (true, 0) => &["a", "b"],
            (true, 1) => &["a", "c"],
            (true, _) => &["b", "c"],
        };
        for value in values {
            records.push_str(&format!("p{at},{age},{ward},{value}\n"));
        }
    }
    table(schema, &[("diseases", DISEASES)], &records)
}

/// What is published, whatever the order of rows and the numbers of groups:
/// those are named by the rows that they stand in.
fn view(release: &Release) -> Vec<String> {
    let is_number =
        |content: Content| matches!(content, Content::Group | Content::Block | Content::Bucket);
    let text = |table: &PublishedTable, row: usize, names: &BTreeMap<u64, String>| {
        let cells = table.columns.iter().map(|column| match &column.cells {
            Cells::Numbers(numbers) if is_number(column.content) => {
                names.get(&numbers[row]).cloned().unwrap_or_default()
            }
            Cells::Numbers(numbers) => numbers[row].to_string(),
            Cells::Dictionary { codes, cells } => cell_text(&cells[codes.at(row) as usize]),
        });
        cells.collect::<Vec<String>>().join(",")
    };
    let mut names: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let first = &release.tables[0];
    for column in first.columns.iter().filter(|one| is_number(one.content)) {
        if let Cells::Numbers(numbers) = &column.cells {
            for (row, &number) in numbers.iter().enumerate() {
                let row = text(first, row, &BTreeMap::new());
                names.entry(number).or_default().push(row);
            }
        }
    }
    let names = names.into_iter().map(|(number, mut rows)| {
        rows.sort();
        (number, rows.join("; "))
    });
    let names: BTreeMap<u64, String> = names.collect();
    let tables = release.tables.iter().map(|table| {
        let mut rows: Vec<String> = (0..table.rows())
            .map(|row| text(table, row, &names))
            .collect();
        rows.sort();
        rows.join("\n")
    });
    tables.collect()
}

/// What counting says of each person's values.
type Counting = [[f64; 3]; PEOPLE];

/// The shares of values in the class of each person; `claim` where it is not
/// known.
fn counting(shown: &Candidates, claim: f64) -> Counting {
    let mut counting = [[claim; 3]; PEOPLE];
    let Some(one) = shown.attributes.first().filter(|one| one.is_counted) else {
        return counting;
    };
    for (subject, &class) in shown.subjects.iter().zip(&one.class_of) {
        let person: usize = subject[1..].parse().expect("a number");
        let Some(class) = one.classes.get(class as usize) else {
            continue;
        };
        let all: u32 = class.iter().map(|&(_, count)| count).sum();
        counting[person] = [0.0; 3];
        for &(value, count) in class {
            let value = ["a", "b", "c"]
                .iter()
                .position(|name| *name == one.values[value as usize]);
            counting[person][value.expect("one of three")] = f64::from(count) / f64::from(all);
        }
    }
    counting
}

/// Runs that give one release.
#[derive(Default)]
struct Seen {
    runs: f64,
    /// What counting says, summed up: which of the rows that look the same is
    /// whose differs from run to run.
    counting: Counting,
    /// Of each person and value, in how many of them it is theirs.
    with: [[f64; 3]; PEOPLE],
}

/// What is told.
#[derive(Debug, Default)]
struct Told {
    /// Share of the runs whose release tells a value of somebody.
    share: f64,
    /// The likeliest value that is told of anybody.
    largest: f64,
}

fn tell(engine: &str, parameters: &Value, claim: Option<f64>) -> Told {
    let is_many = ["one_to_many", "rmr"].contains(&engine);
    let worlds = worlds(claim.is_none());
    assert_eq!(worlds.len(), if claim.is_none() { 90 } else { 729 });
    let runs = RUNS / worlds.len() as u64;
    let (mut all, mut telling, mut largest) = (0.0, 0.0, 0.0_f64);
    for table in 0..TABLES {
        let mut random = ChaCha12Rng::seed_from_u64(table);
        let mut person = || (random.random_range(0..20), random.random_range(0..10));
        let people: Vec<(u32, u32)> = (0..PEOPLE).map(|_| person()).collect();
        let found: Vec<_> = worlds
            .par_iter()
            .enumerate()
            .flat_map_iter(|(at, world)| {
                let of_world = of_world(&people, world, is_many);
                let engine = Engine::parse(engine, parameters, of_world.schema());
                let engine = engine.expect("the parameters are sound");
                let policy = engine.policy(of_world.schema()).expect("they are sound");
                let requirements = Requirements::new(&of_world, policy, &[]);
                let runs = (0..runs).filter_map(move |run| {
                    let number = (at as u64) << 32 | run;
                    let context = RunContext {
                        dataset_secret: Seed::of_number(!number),
                        ..RunContext::silent(number)
                    };
                    let release = engine.run(&of_world, &requirements, &context).ok()?;
                    let (tables, lineage) = (&release.tables, &release.lineage);
                    let counting = match claim {
                        Some(claim) => [[claim; 3]; PEOPLE],
                        None => {
                            let shown = Candidates::of(&of_world, &requirements, tables, lineage);
                            counting(&shown, 1.0)
                        }
                    };
                    Some((view(&release), *world, counting))
                });
                runs.collect::<Vec<_>>()
            })
            .collect();
        let mut seen: BTreeMap<Vec<String>, Seen> = BTreeMap::new();
        for (view, world, counting) in found {
            let seen = seen.entry(view).or_default();
            seen.runs += 1.0;
            for (person, shares) in counting.into_iter().enumerate() {
                for (value, share) in shares.into_iter().enumerate() {
                    seen.counting[person][value] += share;
                }
            }
            for (person, value) in world.into_iter().enumerate() {
                seen.with[person][value] += 1.0;
            }
        }
        for seen in seen.values().filter(|seen| seen.runs >= OFTEN) {
            all += seen.runs;
            let told = told(seen);
            telling += if told > 0.0 { seen.runs } else { 0.0 };
            largest = largest.max(told);
        }
    }
    assert!(all > 0.0, "{engine} publishes nothing often");
    Told {
        share: telling / all,
        largest,
    }
}

/// The likeliest value that a release tells; 0 where it tells none.
fn told(seen: &Seen) -> f64 {
    let mut largest = 0.0_f64;
    for (with, counting) in seen.with.iter().zip(&seen.counting) {
        for (&with, &counted) in with.iter().zip(counting) {
            let found = with / seen.runs;
            let bound = (counted / seen.runs + GAIN).min(1.0);
            if found > bound && seen.runs * entropy(found, bound) > -CHANCE.ln() {
                largest = largest.max(found);
            }
        }
    }
    largest
}

/// Relative entropy of two probabilities.
fn entropy(one: f64, other: f64) -> f64 {
    let part = |one: f64, other: f64| {
        if one == 0.0 {
            0.0
        } else {
            one * (one / other).ln()
        }
    };
    part(one, other) + part(1.0 - one, 1.0 - other)
}

fn assert_tells(engine: &str, parameters: Value, claim: Option<f64>, most: (f64, f64)) {
    let told = tell(engine, &parameters, claim);
    println!(
        "| {engine} {parameters} | {:.3} | {:.3} |",
        told.share, told.largest
    );
    assert!(
        told.share <= most.0 && told.largest <= most.1,
        "{engine} {parameters}: {told:?}"
    );
}

const NOTHING: (f64, f64) = (0.0, 0.0);

#[test]
fn blocks_tell_no_more_than_counting() {
    assert_tells("anatomy", json!({"l": 2}), None, NOTHING);
    assert_tells("arp", json!({"l": 2}), None, NOTHING);
    assert_tells(
        "arp",
        json!({"l": 2, "publish": "generalization"}),
        None,
        NOTHING,
    );
    assert_tells("aip", json!({"l": 2}), None, NOTHING);
    // As printed, blocks are made of four people and less.
    assert_tells(
        "aip",
        json!({"l": 2, "partitioning": "paper"}),
        None,
        (0.03, 1.0),
    );
}

/// With k = 2 and whoever cannot be published left out.
fn pairs(engine: &str, parameters: Value, claim: Option<f64>, most: (f64, f64)) {
    let mut all = json!({"k": 2, "max_excluded": 1});
    for (name, value) in parameters.as_object().into_iter().flatten() {
        all[name] = value.clone();
    }
    assert_tells(engine, all, claim, most);
}

#[test]
fn cuts_and_buckets_tell_no_more_than_counting() {
    for diversity in ["distinct", "entropy"] {
        // Six people are too few for a search.
        for effort in ["none", "fast"] {
            let parameters = json!({"l": 2, "diversity": diversity, "effort": effort});
            pairs("mondrian", parameters, None, NOTHING);
        }
    }
    pairs("mondrian", json!({"t_closeness": 0.3}), None, NOTHING);
    pairs("lgb", json!({"l": 2}), None, NOTHING);
    let parameters = json!({"l": 2, "effort": "none"});
    pairs("one_to_many", parameters, Some(0.5), NOTHING);
    let parameters = json!({"l": 2, "columns": [["age", "ward"], ["disease"]]});
    assert_tells("slicing", parameters, Some(0.5), NOTHING);
}

/// What is not mended: TRUST.md says so.
#[test]
fn searches_and_guarded_values_tell_no_more_than_they_did() {
    let parameters = json!({"l": 2, "effort": "fast"});
    pairs("one_to_many", parameters, Some(0.5), (0.10, 1.0));
    let parameters = json!({"sensitive": "disease", "max_leakage": 0.5, "effort": "none"});
    pairs("personalized", parameters, Some(0.5), (0.15, 1.0));
}
