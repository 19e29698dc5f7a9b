//! A series of releases of the same people that keeps what was shown of them,
//! sets of values or groups: week by week people come, leave, return and change.

mod corruptions;
mod groups;
mod joined;

use std::sync::Arc;

use proptest::prelude::*;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::{
    Chunk, ChunkColumn, HierarchySet, Preference, Schema, Table, TableBuilder,
};
use vizard_anonymizer::privacy::{Changes, ProtectedIndex, ProtectedSet, Share};
use vizard_anonymizer::release::candidates::Candidates;
use vizard_anonymizer::release::{also_shown, history, kept_groups};
use vizard_anonymizer::verify::{Judged, Shape, series};

use crate::case::Case;
use crate::made::categories;
use crate::random_runs::for_plans;

const ILLNESSES: [&str; 9] = [
    "flu",
    "asthma",
    "ulcer",
    "angina",
    "stroke",
    "measles",
    "gout",
    "mumps",
    "(missing)",
];
const TOWNS: [&str; 4] = ["Bergen", "Oslo", "Hamar", "Bodo"];

/// One person of the population.
#[derive(Clone, Debug)]
struct Person {
    key: String,
    age: i64,
    town: usize,
    illness: usize,
    dose: i64,
}

/// What a series starts from.
#[derive(Clone, Copy, Debug)]
struct Plan {
    seed: u64,
    engine: &'static str,
    people: usize,
    weeks: usize,
    /// Per thousand and week.
    churn: u32,
    l: u32,
    attributes: usize,
    /// Per thousand who ask for something of their own.
    askers: u32,
    lacks_values: bool,
    changes: Changes,
}

struct Population {
    plan: Plan,
    random: ChaCha12Rng,
    people: Vec<Person>,
    away: Vec<Person>,
    next: usize,
}

/// What one week came to.
#[derive(Debug, Default)]
struct Week {
    rows: usize,
    waiting: u64,
    counterfeits: u64,
    outdated: u64,
    renewed: u64,
    companions: u64,
}

/// `arp` that publishes groups.
const GROUPS: &str = "arp, generalization";

impl Population {
    fn new(plan: Plan) -> Self {
        let mut population = Self {
            plan,
            random: ChaCha12Rng::seed_from_u64(plan.seed),
            people: Vec::new(),
            away: Vec::new(),
            next: 0,
        };
        population.arrive(plan.people);
        population
    }

    fn illness(&mut self) -> usize {
        let known = ILLNESSES.len() - usize::from(!self.plan.lacks_values);
        let (one, other) = (
            self.random.random_range(0..known),
            self.random.random_range(0..known),
        );
        // The first ones are more frequent, yet none is in half of all records.
        if self.random.random_bool(0.8) {
            one
        } else {
            one.min(other)
        }
    }

    fn arrive(&mut self, number: usize) {
        for _ in 0..number {
            let person = Person {
                key: format!("p{:05}", self.next),
                age: self.random.random_range(20..40),
                town: self.random.random_range(0..TOWNS.len()),
                illness: self.illness(),
                dose: self.random.random_range(1..12),
            };
            self.next += 1;
            self.people.push(person);
        }
    }

    fn pass_a_week(&mut self) {
        let churn = f64::from(self.plan.churn) / 1000.0;
        for at in (0..self.people.len()).rev() {
            if self.random.random_bool(churn) {
                let gone = self.people.swap_remove(at);
                self.away.push(gone);
            } else if self.random.random_bool(churn / 2.0) {
                self.people[at].illness = self.illness();
            } else if self.random.random_bool(churn / 2.0) {
                self.people[at].age += 1;
            }
        }
        for at in (0..self.away.len()).rev() {
            if self.random.random_bool(0.2) {
                let back = self.away.swap_remove(at);
                self.people.push(back);
            }
        }
        let arriving = (self.plan.people as f64 * churn).ceil() as usize;
        self.arrive(arriving);
    }

    fn schema(&self) -> Schema {
        let mut attributes = vec![
            json!({"name": "id", "role": "identifier"}),
            json!({"name": "age", "role": "quasi_identifier", "type": "integer"}),
            json!({"name": "town", "role": "quasi_identifier", "type": "categorical"}),
            json!({"name": "illness", "role": "sensitive", "type": "categorical"}),
        ];
        if self.plan.attributes > 1 {
            attributes.push(json!({"name": "dose", "role": "sensitive", "type": "integer"}));
        }
        let schema = json!({
            "name": "weekly", "subject_key": "id", "missing": "category",
            "attributes": attributes,
        });
        serde_json::from_value(schema).expect("the schema is sound")
    }

    fn table(&self, public: &[Candidates]) -> Table {
        let schema = self.schema();
        let people = || self.people.iter();
        let mut columns = vec![
            ChunkColumn::Text(people().map(|one| one.key.as_str()).collect()),
            ChunkColumn::Integer(people().map(|one| one.age).collect()),
            categories(people().map(|one| TOWNS[one.town])),
            categories(people().map(|one| ILLNESSES[one.illness])),
        ];
        if self.plan.attributes > 1 {
            columns.push(ChunkColumn::Integer(people().map(|one| one.dose).collect()));
        }
        let mut builder = TableBuilder::new(Arc::new(schema.clone()), &HierarchySet::new())
            .expect("there is no hierarchy");
        let records = self.people.len();
        builder.push(Chunk { records, columns }).expect("it fits");
        also_shown(&mut builder, &schema, public).expect("they fit");
        builder.finish().expect("the table is sound")
    }

    fn preferences(&self) -> Vec<Preference> {
        // Decided by the key: the same people ask every week, some of them more
        // from the third week on.
        let asks = |person: &&Person| {
            let number: u64 = person.key[1..].parse().expect("a number");
            let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            hash % 1000 < u64::from(self.plan.askers)
        };
        let document = |person: &Person| {
            let number: usize = person.key[1..].parse().expect("a number");
            let document = match number % 4 {
                0 => json!({"subject": person.key, "exclude": true}),
                1 => json!({"subject": person.key, "max_reidentification": 0.5}),
                2 => json!({"subject": person.key, "max_leakage": 0.2}),
                _ => json!({"subject": person.key, "max_leakage": {"illness": 0.34}}),
            };
            serde_json::from_value(document).expect("the terms are sound")
        };
        self.people.iter().filter(asks).map(document).collect()
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({"l": self.plan.l, "max_excluded": 1.0});
        match self.plan.engine {
            "mondrian" => {
                parameters["k"] = json!(self.plan.l);
                parameters["attributes"] = json!({"dose": {"min_spread": 0}});
                if self.plan.seed.is_multiple_of(4) {
                    parameters["diversity"] = json!("entropy");
                }
            }
            GROUPS => parameters["publish"] = json!("generalization"),
            _ if self.plan.attributes > 1 => parameters["min_spread"] = json!({"dose": 0}),
            _ => {}
        }
        if self.plan.attributes == 1 {
            parameters
                .as_object_mut()
                .map(|all| all.remove("attributes"));
        }
        parameters
    }

    /// The release of this week.
    fn release(&self, public: &[Candidates]) -> Result<Case, EngineError> {
        let table = self.table(public);
        let mut published = ProtectedSet::default();
        for at in 0..self.plan.attributes {
            published = published.with(ProtectedIndex(at as u8));
        }
        let kept = match self.plan.engine {
            "mondrian" | GROUPS => kept_groups(&table, public, (Share::ALL, false)),
            _ => {
                let keeping = (published, self.plan.changes);
                history(&table, keeping, public, Share::ALL)
            }
        };
        let kept = kept.expect("what was public is kept");
        let seed = self.plan.seed;
        let (parameters, preferences) = (self.parameters(), self.preferences());
        let engine = match self.plan.engine {
            GROUPS => "arp",
            engine => engine,
        };
        let case = Case::keeping(engine, table, &parameters, &preferences, (seed, Some(kept)))?;
        Ok(case.drawn_by(seed))
    }
}

fn candidates(case: &Case) -> Candidates {
    Candidates::of(&case.table, &case.requirements, &case.tables, &case.lineage)
}

/// Publishes week by week; each release holds by itself and beside all others.
fn story(plan: Plan) -> Result<Vec<Week>, TestCaseError> {
    let mut population = Population::new(plan);
    let mut public: Vec<Candidates> = Vec::new();
    let mut weeks = Vec::new();
    for week in 0..plan.weeks {
        let case = match population.release(&public) {
            Ok(case) => case,
            // Nobody is public whom a refusal could tell of. Where a value is missing
            // for the first time, groups have to have one value more.
            Err(EngineError::Infeasible(_)) => {
                population.pass_a_week();
                continue;
            }
            Err(EngineError::InvalidParameter { parameter, .. })
                if parameter == "series.mode" && plan.lacks_values =>
            {
                population.pass_a_week();
                continue;
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let verdict = case.verdict();
        let failed: Vec<_> = verdict.failed().collect();
        prop_assert!(failed.is_empty(), "week {week}: {failed:?}");
        let report = case.report();
        prop_assert!(report.is_ok(), "week {week}: {report:?}");
        let shown = candidates(&case);
        let others: Vec<&Candidates> = public.iter().collect();
        let found = series(&shown, &others);
        prop_assert!(found.is_safe(), "week {week}: {found:?}");
        let kept = case.manifest.kept.clone().expect("the mode says so");
        weeks.push(Week {
            rows: case.rows(),
            waiting: kept.waiting,
            counterfeits: kept.attributes.iter().map(|one| one.counterfeits).sum(),
            outdated: kept.attributes.iter().map(|one| one.outdated).sum(),
            renewed: kept.attributes.iter().map(|one| one.renewed).sum(),
            companions: kept.companions,
        });
        public.push(shown);
        population.pass_a_week();
    }
    Ok(weeks)
}

fn plans() -> impl Strategy<Value = Plan> {
    let sizes = prop_oneof![4..20_usize, 10..80_usize, 50..300_usize];
    let churns = prop_oneof![Just(0_u32), Just(20), Just(100), Just(400)];
    let rest = (
        2..5_u32,
        1..=2_usize,
        prop_oneof![Just(0_u32), Just(50), Just(300)],
        any::<bool>(),
        prop_oneof![Just(Changes::Hidden), Just(Changes::Visible)],
    );
    let engines = prop_oneof![Just("arp"), Just("anatomy"), Just("mondrian"), Just(GROUPS)];
    (any::<u64>(), engines, sizes, churns, rest).prop_map(
        |(seed, engine, people, churn, (l, attributes, askers, lacks_values, changes))| Plan {
            seed,
            engine,
            people,
            weeks: 4,
            churn,
            l,
            // Rows that show sensitive values show one attribute.
            attributes: if engine == GROUPS { 1 } else { attributes },
            askers,
            lacks_values,
            changes,
        },
    )
}

#[test]
fn every_week_of_a_series_holds_alone_and_beside_all_others() {
    for_plans(plans(), 200, |plan| story(plan).map(|_| ()));
}

fn twelve_weeks(engine: &'static str) -> Plan {
    Plan {
        seed: 7,
        engine,
        people: 2_000,
        weeks: 12,
        churn: 10,
        l: 4,
        attributes: 1,
        askers: 0,
        lacks_values: false,
        changes: Changes::Hidden,
    }
}

#[test]
fn twelve_weeks_of_both_engines_publish_nearly_everyone() {
    for engine in ["arp", "anatomy"] {
        let weeks = story(twelve_weeks(engine)).expect("every week holds");
        assert_eq!(weeks.len(), 12);
        println!("{engine}: {weeks:?}");
        for week in weeks {
            assert!(week.waiting <= 100, "{week:?}");
            assert!(week.counterfeits * 10 <= week.rows as u64, "{week:?}");
            assert!(week.outdated <= 60, "{week:?}");
        }
    }
}

#[test]
fn where_changes_are_seen_nearly_nobody_shows_an_old_set() {
    for engine in ["arp", "anatomy"] {
        let of = |changes| {
            let plan = Plan {
                changes,
                l: 2,
                ..twelve_weeks(engine)
            };
            let weeks = story(plan).expect("every week holds");
            println!("{engine}: {weeks:?}");
            let renewed: u64 = weeks.iter().map(|week| week.renewed).sum();
            (weeks[11].outdated, renewed)
        };
        let (hidden, visible) = (of(Changes::Hidden), of(Changes::Visible));
        assert_eq!(hidden.1, 0);
        assert!(
            visible.0 * 2 < hidden.0 && visible.1 > 50,
            "{engine}: {hidden:?} {visible:?}"
        );
    }
}

#[test]
fn releases_that_do_not_keep_their_sets_are_not_safe() {
    let mut population = Population::new(twelve_weeks("anatomy"));
    let first = candidates(&population.release(&[]).expect("it can be published"));
    population.pass_a_week();
    let second = candidates(&population.release(&[]).expect("it can be published"));
    let found = series(&second, &[&first]);
    assert!(!found.is_safe());
    let kept = candidates(
        &population
            .release(std::slice::from_ref(&first))
            .expect("it can be published"),
    );
    let found = series(&kept, &[&first]);
    assert_eq!(found.attributes[0].1, Judged::Holds(Shape::Invariant));
}
