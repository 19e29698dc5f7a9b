//! A random 1:M table with preferences and parameters, all from one seed.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::{ChunkColumn, HierarchySet, Preference, Schema, Table};

use crate::made;
use crate::properties::scenario::{attribute_of, one_of, reorder};

/// What a case starts from; smaller is simpler.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub subjects: usize,
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
    pub fn of(engine: &'static str, plan: Plan) -> Self {
        let mut random = ChaCha12Rng::seed_from_u64(plan.seed);
        let conflict = one_of(
            &["reject", "reject", "latest", "first", "hull"],
            &mut random,
        );
        let subject_of = subjects(plan.subjects, &mut random);
        let mut first = vec![usize::MAX; plan.subjects];
        for (record, &subject) in subject_of.iter().enumerate().rev() {
            first[subject] = record;
        }
        let keys: Vec<String> = subject_of.iter().map(|at| format!("S{at:04}")).collect();
        let mut attributes = vec![json!({"name": "id", "role": "identifier"})];
        let mut columns = vec![ChunkColumn::Text(keys.iter().map(String::as_str).collect())];
        let mut hierarchies = HierarchySet::new();
        let names = (0..plan.quasi).map(|at| (format!("q{at}"), "quasi_identifier"));
        let names = names.chain((0..plan.sensitive).map(|at| (format!("s{at}"), "sensitive")));
        for (name, role) in names {
            let (attribute, column) =
                attribute_of((&name, role), keys.len(), &mut hierarchies, &mut random);
            // Few subjects change their quasi-identifiers, if any may.
            let steady: Vec<usize> = (0..keys.len())
                .map(|record| {
                    if conflict != "reject" && random.random_bool(0.1) {
                        record
                    } else {
                        first[subject_of[record]]
                    }
                })
                .collect();
            columns.push(match role {
                "quasi_identifier" => reorder(&column, &steady),
                _ => column,
            });
            attributes.push(attribute);
        }
        let schema = json!({
            "name": "random", "subject_key": "id", "multiplicity": "many",
            "missing": "category", "attributes": attributes,
        });
        Self {
            schema: serde_json::from_value(schema).expect("the schema is sound"),
            engine,
            preferences: preferences(plan.subjects, &mut random),
            parameters: parameters(engine, conflict, &mut random),
            hierarchies,
            columns,
        }
    }

    pub fn table(&self) -> Table {
        made::table(&self.schema, &self.hierarchies, self.columns.clone())
    }
}

/// Subject of each record, in random order; every subject has one.
fn subjects(subjects: usize, random: &mut ChaCha12Rng) -> Vec<usize> {
    let most = one_of(&[1, 2, 4, 9], random);
    let mut of: Vec<usize> = (0..subjects)
        .flat_map(|subject| vec![subject; random.random_range(1..=most)])
        .collect();
    for last in (1..of.len()).rev() {
        of.swap(last, random.random_range(0..=last));
    }
    of
}

fn preferences(subjects: usize, random: &mut ChaCha12Rng) -> Vec<Preference> {
    let share = one_of(&[0.0, 0.0, 0.05, 0.5], random);
    let keys = (0..subjects).map(|at| format!("S{at:04}"));
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

fn parameters(engine: &str, conflict: &str, random: &mut ChaCha12Rng) -> Value {
    let mut parameters = json!({
        "k": one_of(&[1, 2, 2, 3, 3, 4, 5, 10, 40], random),
        "qid_conflict": conflict,
        "max_excluded": one_of(&[0.0, 0.02, 0.1, 0.5, 1.0], random),
    });
    if engine == "rmr" {
        parameters["m"] = json!(one_of(&[1, 2, 2, 3], random));
        parameters["delta"] = json!(one_of(&[0.0, 0.1, 0.4, 0.7, 1.0], random));
        return parameters;
    }
    parameters["l"] = json!(one_of(&[1, 2, 2, 2, 3, 3, 4, 7], random));
    if random.random_bool(0.5) {
        parameters["k_group"] = json!(one_of(&[1, 2, 3, 5, 30], random));
    }
    parameters["value_l"] = json!(one_of(&[1, 1, 2, 3], random));
    parameters["sibling_unions"] = json!(one_of(
        &["never", "when_needed", "when_needed", "always"],
        random
    ));
    parameters["effort"] = json!(one_of(&["none", "fast", "best"], random));
    parameters
}
