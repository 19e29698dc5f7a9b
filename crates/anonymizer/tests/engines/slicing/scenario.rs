//! Random cases of `slicing`.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};

use crate::scenario::{Records, Scenario, one_bound, one_of, preferences, spreads};

/// What a case starts from; smaller is simpler.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub records: usize,
    pub quasi: usize,
    pub sensitive: usize,
    pub insensitive: usize,
}

impl Plan {
    pub fn scenario(self) -> Scenario {
        let mut random = ChaCha12Rng::seed_from_u64(self.seed);
        let mut records = Records::of_subjects(self.records);
        records.add_many("quasi_identifier", self.quasi, &mut random);
        records.add_many("sensitive", self.sensitive, &mut random);
        records.add_many("insensitive", self.insensitive, &mut random);
        let share = one_of(&[0.0, 0.0, 0.05, 0.5], &mut random);
        let terms = |random: &mut ChaCha12Rng| one_bound(self.sensitive, random);
        let preferences = preferences(&records.keys, share, &mut random, terms);
        let mut parameters = parameters(self, &mut random);
        if parameters["variant"] != "overlap" && !parameters["l"].is_null() {
            spreads(&records.attributes, &mut parameters, &mut random);
        }
        records.scenario("slicing", json!({}), preferences, parameters)
    }
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
