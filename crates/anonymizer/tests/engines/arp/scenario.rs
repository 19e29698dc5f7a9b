//! A random table with one record a subject, preferences and parameters, all
//! from one seed.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::microdata::{ChunkColumn, HierarchySet, Preference, Schema, Table};
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::release::Release;

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
}

/// One case.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub schema: Schema,
    pub engine: &'static str,
    pub preferences: Vec<Preference>,
    pub parameters: Value,
    hierarchies: HierarchySet,
    columns: Vec<ChunkColumn>,
}

impl Scenario {
    pub fn of(engine: &'static str, mut plan: Plan) -> Self {
        if engine == "ng" {
            plan.sensitive = 1;
        }
        let mut random = ChaCha12Rng::seed_from_u64(plan.seed);
        let keys: Vec<String> = (0..plan.records).map(|at| format!("S{at:04}")).collect();
        let mut attributes = vec![json!({"name": "id", "role": "identifier"})];
        let mut columns = vec![ChunkColumn::Text(keys.iter().map(String::as_str).collect())];
        let mut hierarchies = HierarchySet::new();
        let names = (0..plan.quasi).map(|at| (format!("q{at}"), "quasi_identifier"));
        let names = names.chain((0..plan.sensitive).map(|at| (format!("s{at}"), "sensitive")));
        let names = names.chain(random.random_bool(0.3).then(|| ("i".into(), "insensitive")));
        for (name, role) in names.collect::<Vec<_>>() {
            let (attribute, column) =
                attribute_of((&name, role), plan.records, &mut hierarchies, &mut random);
            attributes.push(attribute);
            columns.push(column);
        }
        let preferences = preferences(plan.records, &mut random);
        let mut parameters = parameters(engine, plan.sensitive, &mut random);
        if engine != "ng" && parameters["publish"] != "randomization" {
            spreads(&attributes, &mut parameters, &mut random);
        }
        let schema = json!({
            "name": "random", "subject_key": "id", "missing": "category", "attributes": attributes,
        });
        Self {
            schema: serde_json::from_value(schema).expect("the schema is sound"),
            engine,
            preferences,
            parameters,
            hierarchies,
            columns,
        }
    }

    pub fn table(&self) -> Table {
        made::table(&self.schema, &self.hierarchies, self.columns.clone())
    }

    pub fn run(&self, parameters: &Value, seed: u64) -> Result<Release, EngineError> {
        let table = self.table();
        let engine = Engine::parse(self.engine, parameters, &self.schema)?;
        let policy = engine.policy(&self.schema)?;
        let requirements = Requirements::new(&table, policy, &self.preferences);
        engine.run(&table, &requirements, &RunContext::silent(seed))
    }

    pub fn publish(&self, parameters: &Value, seed: u64) -> Result<Case, EngineError> {
        let release = self.run(parameters, seed)?;
        let table = self.table();
        let engine = Engine::parse(self.engine, parameters, &self.schema)?;
        let policy = engine.policy(&self.schema)?;
        let requirements = Requirements::new(&table, policy, &self.preferences);
        let made = (table, requirements);
        Ok(Case::made_by(self.engine, made, engine.parameters(), release).drawn_by(seed))
    }
}

fn preferences(records: usize, random: &mut ChaCha12Rng) -> Vec<Preference> {
    let share = one_of(&[0.0, 0.0, 0.05, 0.5], random);
    let keys = (0..records).map(|at| format!("S{at:04}"));
    let mut preferences = Vec::new();
    for key in keys.chain(["nobody".into()]) {
        if !random.random_bool(share) {
            continue;
        }
        let mut document = json!({"subject": key});
        let bound = one_of(&[1.0, 0.5, 0.34, 0.25, 0.2, 0.1, 0.01], random);
        match random.random_range(0..5) {
            0 | 1 => document["max_leakage"] = json!(bound),
            2 => document["max_reidentification"] = json!(bound),
            3 => document["max_leakage"] = json!({"s0": bound}),
            _ => document["exclude"] = json!(random.random_bool(0.3)),
        }
        preferences.push(serde_json::from_value(document).expect("the terms are sound"));
    }
    preferences
}

fn parameters(engine: &str, sensitive: usize, random: &mut ChaCha12Rng) -> Value {
    let mut parameters = json!({
        "l": one_of(&[1, 2, 2, 2, 3, 3, 4, 5, 7], random),
        "max_excluded": one_of(&[0.0, 0.02, 0.1, 0.5, 1.0], random),
    });
    if engine != "anatomy" {
        parameters["partitioning"] = json!(one_of(&["paper", "recursive", "recursive"], random));
    }
    let mut rows_show_values = false;
    if engine == "arp" {
        let publish = one_of(FORMS, random);
        parameters["publish"] = json!(publish);
        rows_show_values = publish != "anatomy";
        if publish == "randomization" {
            parameters["retention"] = json!(one_of(&[0.05, 0.3, 0.7, 0.99], random));
        }
    }
    if sensitive > 1 && rows_show_values {
        // Such rows can be in the blocks of one attribute alone.
        parameters["publish"] = json!("anatomy");
        if let Some(fields) = parameters.as_object_mut() {
            fields.remove("retention");
        }
    }
    if random.random_bool(0.2) {
        parameters["sensitive"] = json!(["s0"]);
    }
    parameters
}

/// Ways of publishing.
const FORMS: &[&str] = &["anatomy", "generalization", "slicing", "randomization"];

/// Asks for a least spread of some sensitive numbers.
pub fn spreads(attributes: &[Value], parameters: &mut Value, random: &mut ChaCha12Rng) {
    let is_number =
        |attribute: &&Value| attribute["role"] == "sensitive" && attribute["type"] != "categorical";
    for attribute in attributes.iter().filter(is_number) {
        if random.random_bool(0.5) {
            let name = attribute["name"].as_str().expect("it has a name");
            let asked = one_of(&[0.0, 0.0, 1.0, 100.0, 1_000.0, 10_000.0], random);
            parameters["min_spread"][name] = json!(asked);
        }
    }
}
