//! Random cases of `mondrian`: also without sensitive attributes.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};

use crate::scenario::{Records, Scenario, one_bound, one_of, preferences};

/// What a case starts from; smaller is simpler.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub records: usize,
    pub quasi: usize,
    pub sensitive: usize,
}

impl Plan {
    pub fn scenario(self) -> Scenario {
        let mut random = ChaCha12Rng::seed_from_u64(self.seed);
        let mut records = Records::of_subjects(self.records);
        records.add_many("quasi_identifier", self.quasi, &mut random);
        records.add_many("sensitive", self.sensitive, &mut random);
        let insensitive = random.random_bool(0.3).into();
        records.add_many("insensitive", insensitive, &mut random);
        let mut more = json!({});
        if random.random_bool(0.1) {
            more["default_preference"] = json!({"max_leakage": 0.9});
        }
        let share = one_of(&[0.0, 0.0, 0.05, 0.5, 1.0], &mut random);
        let terms = |random: &mut ChaCha12Rng| one_bound(self.sensitive, random);
        let preferences = preferences(&records.keys, share, &mut random, terms);
        let parameters = parameters(self.sensitive, &mut random);
        records.scenario("mondrian", more, preferences, parameters)
    }
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
