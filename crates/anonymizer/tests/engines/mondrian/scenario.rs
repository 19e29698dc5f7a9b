//! A random table of records with preferences and parameters, all from one
//! seed: the table's parts are those of the scenarios of `lgb`.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::{ChunkColumn, HierarchySet, Preference, Schema, Table};

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
    pub preferences: Vec<Preference>,
    pub parameters: Value,
    hierarchies: HierarchySet,
    columns: Vec<ChunkColumn>,
}

impl Scenario {
    pub fn of(plan: Plan) -> Self {
        let mut random = ChaCha12Rng::seed_from_u64(plan.seed);
        let mut hierarchies = HierarchySet::new();
        let mut attributes = vec![json!({"name": "id", "role": "identifier"})];
        let keys: Vec<String> = (0..plan.records).map(|at| format!("S{at:04}")).collect();
        let mut columns = vec![ChunkColumn::Text(keys.iter().map(String::as_str).collect())];
        let quasi = (0..plan.quasi).map(|at| (format!("q{at}"), "quasi_identifier"));
        let sensitive = (0..plan.sensitive).map(|at| (format!("s{at}"), "sensitive"));
        let open = random
            .random_bool(0.3)
            .then(|| ("open".to_owned(), "insensitive"));
        for (name, role) in quasi.chain(sensitive).chain(open) {
            let (attribute, column) =
                attribute_of((&name, role), plan.records, &mut hierarchies, &mut random);
            attributes.push(attribute);
            columns.push(column);
        }
        let mut schema = json!({
            "name": "random", "subject_key": "id", "missing": "category", "attributes": attributes,
        });
        if random.random_bool(0.1) {
            schema["default_preference"] = json!({"max_leakage": 0.9});
        }
        Self {
            schema: serde_json::from_value(schema).expect("the schema is sound"),
            preferences: preferences(&keys, plan.sensitive, &mut random),
            parameters: parameters(plan.sensitive, &mut random),
            hierarchies,
            columns,
        }
    }

    pub fn table(&self) -> Table {
        made::table(&self.schema, &self.hierarchies, self.columns.clone())
    }
}

fn preferences(keys: &[String], sensitive: usize, random: &mut ChaCha12Rng) -> Vec<Preference> {
    let share = one_of(&[0.0, 0.0, 0.05, 0.5, 1.0], random);
    let mut preferences = Vec::new();
    for key in keys.iter().map(String::as_str).chain(["nobody"]) {
        if !random.random_bool(share) {
            continue;
        }
        let mut document = json!({"subject": key});
        let bound = one_of(&[1.0, 0.8, 0.5, 0.5, 0.34, 0.25, 0.1, 0.01], random);
        match random.random_range(0..4) {
            0 => document["max_leakage"] = json!(bound),
            1 => document["max_reidentification"] = json!(bound),
            2 if sensitive > 0 => {
                let name = format!("s{}", random.random_range(0..sensitive));
                document["max_leakage"] = json!({name: bound});
            }
            _ => document["exclude"] = json!(random.random_bool(0.3)),
        }
        preferences.push(serde_json::from_value(document).expect("the terms are sound"));
    }
    preferences
}

/// What may be asked of the values of one attribute, or of all.
fn of_values(random: &mut ChaCha12Rng) -> Value {
    let mut parameters = json!({});
    if random.random_bool(0.7) {
        parameters["l"] = json!(one_of(&[1, 2, 2, 2, 3, 3, 5, 9], random));
        match random.random_range(0..3) {
            0 => {}
            1 => parameters["diversity"] = json!("entropy"),
            _ => {
                parameters["diversity"] = json!("recursive");
                parameters["c"] = json!(one_of(&[0.3, 0.5, 1.0, 1.5, 2.0, 10.0], random));
            }
        }
    }
    if random.random_bool(0.3) {
        parameters["t_closeness"] = json!(one_of(&[0.0, 0.05, 0.1, 0.25, 0.5, 1.0], random));
    }
    parameters
}

fn parameters(sensitive: usize, random: &mut ChaCha12Rng) -> Value {
    let mut parameters = if random.random_bool(0.7) && sensitive > 0 {
        of_values(random)
    } else {
        json!({})
    };
    parameters["k"] = json!(one_of(&[1, 1, 2, 2, 3, 3, 4, 5, 10, 40], random));
    parameters["split"] = json!(one_of(&["widest", "gain"], random));
    parameters["partitioning"] = json!(one_of(&["strict", "relaxed"], random));
    parameters["max_excluded"] = json!(one_of(&[0.0, 0.02, 0.1, 0.5, 1.0], random));
    parameters["attributes"] = json!({});
    for at in 0..sensitive {
        if random.random_bool(0.3) {
            parameters["attributes"][format!("s{at}")] = of_values(random);
        }
    }
    parameters
}
