//! Random cases of `arp`, its comparators and `ng`.

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
}

impl Plan {
    pub fn scenario(mut self, engine: &'static str) -> Scenario {
        if engine == "ng" {
            self.sensitive = 1;
        }
        let mut random = ChaCha12Rng::seed_from_u64(self.seed);
        let insensitive = random.random_bool(0.3).into();
        let mut records = Records::of_subjects(self.records);
        records.add_many("quasi_identifier", self.quasi, &mut random);
        records.add_many("sensitive", self.sensitive, &mut random);
        records.add_many("insensitive", insensitive, &mut random);
        let share = one_of(&[0.0, 0.0, 0.05, 0.5], &mut random);
        let terms = |random: &mut ChaCha12Rng| one_bound(self.sensitive, random);
        let preferences = preferences(&records.keys, share, &mut random, terms);
        let mut parameters = parameters(engine, self.sensitive, &mut random);
        if engine != "ng" && parameters["publish"] != "randomization" {
            spreads(&records.attributes, &mut parameters, &mut random);
        }
        records.scenario(engine, json!({}), preferences, parameters)
    }
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
