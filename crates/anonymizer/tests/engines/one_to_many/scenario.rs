//! Random cases of `one_to_many` and `rmr`: several records a subject.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};

use crate::scenario::{Records, Scenario, one_bound, one_of, preferences, reorder};

/// What a case starts from; smaller is simpler.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub subjects: usize,
    pub quasi: usize,
    pub sensitive: usize,
}

impl Plan {
    pub fn scenario(self, engine: &'static str) -> Scenario {
        let mut random = ChaCha12Rng::seed_from_u64(self.seed);
        let conflict = one_of(
            &["reject", "reject", "latest", "first", "hull"],
            &mut random,
        );
        let subject_of = subjects(self.subjects, &mut random);
        let mut first = vec![usize::MAX; self.subjects];
        for (record, &subject) in subject_of.iter().enumerate().rev() {
            first[subject] = record;
        }
        let key = |subject: &usize| format!("S{subject:04}");
        let mut records = Records::new(subject_of.iter().map(key).collect());
        let quasi = (0..self.quasi).map(|at| (format!("q{at}"), "quasi_identifier"));
        let sensitive = (0..self.sensitive).map(|at| (format!("s{at}"), "sensitive"));
        for (name, role) in quasi.chain(sensitive) {
            records.add(&name, role, &mut random);
            // Few subjects change their quasi-identifiers, if any may.
            let shown = |record: usize| {
                if conflict != "reject" && random.random_bool(0.1) {
                    record
                } else {
                    first[subject_of[record]]
                }
            };
            let shown: Vec<usize> = (0..subject_of.len()).map(shown).collect();
            if role == "quasi_identifier" {
                let column = records.columns.pop().expect("it was just added");
                records.columns.push(reorder(&column, &shown));
            }
        }
        let share = one_of(&[0.0, 0.0, 0.05, 0.5], &mut random);
        let subjects: Vec<String> = (0..self.subjects).map(|subject| key(&subject)).collect();
        let terms = |random: &mut ChaCha12Rng| one_bound(self.sensitive, random);
        let preferences = preferences(&subjects, share, &mut random, terms);
        let parameters = parameters(engine, conflict, &mut random);
        let more = json!({"multiplicity": "many"});
        records.scenario(engine, more, preferences, parameters)
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
