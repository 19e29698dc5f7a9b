//! Random cases of `lgb`: every role occurs, and few or many kinds of terms.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::Preference;

use crate::scenario::{Records, Scenario, one_of, preferences};

/// What a case starts from; smaller is simpler.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub records: usize,
    pub attributes: usize,
}

const NAMES: [&str; 8] = [
    "age",
    "sex",
    "city",
    "pay, gross",
    "Größe",
    "zip",
    "day",
    "kind",
];

const ROLES: &[&str] = &[
    "quasi_identifier",
    "quasi_identifier",
    "semi_sensitive",
    "semi_sensitive",
    "sensitive",
    "insensitive",
    "identifier",
];

impl Plan {
    pub fn scenario(self) -> Scenario {
        let mut random = ChaCha12Rng::seed_from_u64(self.seed);
        let mut records = Records::of_subjects(self.records);
        for name in NAMES.iter().take(self.attributes) {
            let role = one_of(ROLES, &mut random);
            records.add(name, role, &mut random);
        }
        let protectable = names_of(&records.attributes, &["semi_sensitive", "sensitive"]);
        let mut more = json!({});
        if random.random_bool(0.15) {
            more["default_preference"] = terms(&protectable, false, &mut random);
        }
        let preferences = preferences_of(&records.keys, &protectable, &mut random);
        let parameters = parameters(&records.attributes, &protectable, &mut random);
        records.scenario("lgb", more, preferences, parameters)
    }
}

fn names_of(attributes: &[Value], roles: &[&str]) -> Vec<String> {
    let has = |attribute: &&Value| roles.contains(&attribute["role"].as_str().unwrap_or(""));
    let names = attributes
        .iter()
        .filter(has)
        .filter_map(|attribute| attribute["name"].as_str());
    names.map(str::to_owned).collect()
}

/// Terms of a subject, or of all who gave none.
fn terms(protectable: &[String], may_exclude: bool, random: &mut ChaCha12Rng) -> Value {
    let mut document = json!({});
    let bound =
        |random: &mut ChaCha12Rng| one_of(&[1.0, 0.5, 0.5, 0.34, 0.25, 0.2, 0.1, 0.01], random);
    if random.random_bool(0.7) {
        let share = random.random_range(0.0..1.0);
        let named = protectable.iter().filter(|_| random.random_bool(share));
        document["sensitive"] = json!(named.collect::<Vec<_>>());
    }
    match random.random_range(0..5) {
        0 => document["max_leakage"] = json!(bound(random)),
        1 if !protectable.is_empty() => {
            let name = one_of(protectable, random);
            document["max_leakage"] = json!({name: bound(random)});
        }
        _ => {}
    }
    if random.random_bool(0.15) {
        document["max_reidentification"] = json!(bound(random));
    }
    if may_exclude && random.random_bool(0.05) {
        document["exclude"] = json!(true);
    }
    document
}

fn preferences_of(
    keys: &[String],
    protectable: &[String],
    random: &mut ChaCha12Rng,
) -> Vec<Preference> {
    let share = one_of(&[0.0, 0.1, 0.5, 1.0], random);
    // Few kinds of terms make large patterns, many make rare ones.
    let kinds = random.random_range(1..6);
    let kinds: Vec<Value> = (0..kinds)
        .map(|_| terms(protectable, true, random))
        .collect();
    preferences(keys, share, random, |random| one_of(&kinds, random))
}

fn parameters(attributes: &[Value], protectable: &[String], random: &mut ChaCha12Rng) -> Value {
    let mut own = json!({});
    for name in protectable {
        let attribute = attributes
            .iter()
            .find(|attribute| attribute["name"] == json!(name));
        let attribute = attribute.expect("it is one of them");
        let spread =
            attribute["type"] != json!("categorical") || attribute["hierarchy"].is_string();
        own[name] = match random.random_range(0..6) {
            0 => json!({"l": one_of(&[1, 2, 3, 3, 5, 8], random)}),
            1 => json!({"t_closeness": one_of(&[0.05, 0.1, 0.2, 0.3, 0.5], random)}),
            2 => json!({
                "t_closeness": one_of(&[0.2, 0.4, 1.0], random),
                "max_posterior": one_of(&[0.5, 0.7, 1.0], random),
            }),
            3 if spread => json!({"min_spread": one_of(&[1.0, 2.0, 3.0], random)}),
            _ => continue,
        };
    }
    json!({
        "k": one_of(&[1, 2, 2, 3, 3, 4, 5, 10, 40], random),
        "l": one_of(&[1, 2, 2, 2, 3, 3, 4, 7], random),
        "generalization": one_of(&["mdp", "ncp"], random),
        "assignment": one_of(&["random", "random", "invariance", "nearest"], random),
        "bucket_link": one_of(&["row", "row", "group"], random),
        "max_excluded": one_of(&[0.0, 0.02, 0.1, 0.5, 1.0], random),
        "attributes": own,
    })
}
