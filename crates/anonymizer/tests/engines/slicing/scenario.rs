//! A random table with preferences and parameters of `slicing`, all from one
//! seed.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::microdata::{ChunkColumn, HierarchySet, Preference, Schema, Table};
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::release::Release;

use crate::arp::scenario::spreads;
use crate::case::Case;
use crate::made;
use crate::properties::scenario::{attribute_of, one_of};

/// What a case starts from; smaller is simpler.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub records: usize,
    pub quasi: usize,
    pub sensitive: usize,
    pub insensitive: usize,
}

/// One case.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub schema: Schema,
    pub preferences: Vec<Preference>,
    pub parameters: Value,
    hierarchies: HierarchySet,
    columns: Vec<ChunkColumn>,
}

impl Scenario {
    pub fn of(plan: Plan) -> Self {
        let mut random = ChaCha12Rng::seed_from_u64(plan.seed);
        let keys: Vec<String> = (0..plan.records).map(|at| format!("R{at:04}")).collect();
        let mut attributes = vec![json!({"name": "id", "role": "identifier"})];
        let mut columns = vec![ChunkColumn::Text(keys.iter().map(String::as_str).collect())];
        let mut hierarchies = HierarchySet::new();
        let names = (0..plan.quasi).map(|at| (format!("q{at}"), "quasi_identifier"));
        let names = names.chain((0..plan.sensitive).map(|at| (format!("s{at}"), "sensitive")));
        let names = names.chain((0..plan.insensitive).map(|at| (format!("i{at}"), "insensitive")));
        for (name, role) in names {
            let (attribute, column) =
                attribute_of((&name, role), keys.len(), &mut hierarchies, &mut random);
            columns.push(column);
            attributes.push(attribute);
        }
        let preferences = preferences(plan.records, &mut random);
        let mut parameters = parameters(plan, &mut random);
        if parameters["variant"] != "overlap" && !parameters["l"].is_null() {
            spreads(&attributes, &mut parameters, &mut random);
        }
        let schema = json!({
            "name": "random", "subject_key": "id", "multiplicity": "one",
            "missing": "category", "attributes": attributes,
        });
        Self {
            schema: serde_json::from_value(schema).expect("the schema is sound"),
            preferences,
            parameters,
            hierarchies,
            columns,
        }
    }

    pub fn table(&self) -> Table {
        made::table(&self.schema, &self.hierarchies, self.columns.clone())
    }

    fn given(&self, parameters: &Value) -> Result<(Engine, Table, Requirements), EngineError> {
        let table = self.table();
        let engine = Engine::parse("slicing", parameters, &self.schema)?;
        let policy = engine.policy(&self.schema)?;
        let requirements = Requirements::new(&table, policy, &self.preferences);
        Ok((engine, table, requirements))
    }

    pub fn run(&self, parameters: &Value, seed: u64) -> Result<Release, EngineError> {
        let (engine, table, requirements) = self.given(parameters)?;
        engine.run(&table, &requirements, &RunContext::silent(seed))
    }

    pub fn publish(&self, parameters: &Value, seed: u64) -> Result<Case, EngineError> {
        let (engine, table, requirements) = self.given(parameters)?;
        let release = engine.run(&table, &requirements, &RunContext::silent(seed))?;
        let written = engine.parameters();
        Ok(Case::made_by(
            "slicing",
            (table, requirements),
            written,
            release,
        ))
    }
}

fn preferences(records: usize, random: &mut ChaCha12Rng) -> Vec<Preference> {
    let share = one_of(&[0.0, 0.0, 0.05, 0.5], random);
    let keys = (0..records).map(|at| format!("R{at:04}"));
    let mut preferences = Vec::new();
    for key in keys.chain(["nobody".into()]) {
        if !random.random_bool(share) {
            continue;
        }
        let mut document = json!({"subject": key});
        let bound = one_of(&[1.0, 0.5, 0.34, 0.25, 0.1, 0.01], random);
        match random.random_range(0..4) {
            0 => document["max_leakage"] = json!(bound),
            1 => document["max_reidentification"] = json!(bound),
            2 => document["max_leakage"] = json!({"s0": bound}),
            _ => document["exclude"] = json!(random.random_bool(0.3)),
        }
        preferences.push(serde_json::from_value(document).expect("the terms are sound"));
    }
    preferences
}

fn parameters(plan: Plan, random: &mut ChaCha12Rng) -> Value {
    let variant = one_of(
        &["slicing", "slicing", "overlap", "overlap", "generalized"],
        random,
    );
    let mut parameters = json!({
        "variant": variant,
        "k": one_of(&[1, 1, 1, 2, 3, 5, 40], random),
        "split": one_of(&["widest", "gain"], random),
        "max_excluded": one_of(&[0.0, 0.02, 0.1, 0.5, 1.0], random),
    });
    if random.random_bool(0.75) {
        parameters["l"] = json!(one_of(&[1, 2, 2, 2, 3, 3, 4, 7], random))
    } else {
        parameters["t_closeness"] = json!(one_of(&[0.0, 0.1, 0.2, 0.4, 0.7, 1.0], random))
    }
    let mut quasi: Vec<String> = (0..plan.quasi).map(|at| format!("q{at}")).collect();
    if variant == "generalized" {
        for list in ["generalize", "drop"] {
            let number = random.random_range(0..=quasi.len());
            parameters[list] = json!(quasi.split_off(quasi.len() - number));
        }
    }
    let mut linked = quasi;
    linked.extend((0..plan.sensitive).map(|at| format!("s{at}")));
    if variant != "overlap" && random.random_bool(0.5) {
        parameters["clusters"] = json!(random.random_range(1..=linked.len()));
        return parameters;
    }
    let number = random.random_range(1..=linked.len());
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); number];
    for name in &linked {
        columns[random.random_range(0..number)].push(name.clone());
    }
    if variant == "overlap" {
        for name in &linked {
            let again = random.random_range(0..number);
            let wanted = if name.starts_with('s') { 0.6 } else { 0.3 };
            if random.random_bool(wanted) && !columns[again].contains(name) {
                columns[again].push(name.clone());
            }
        }
    }
    columns.retain(|column| !column.is_empty());
    parameters["columns"] = json!(columns);
    parameters
}
