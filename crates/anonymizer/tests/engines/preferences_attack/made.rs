//! Made-up patients, some of whom ask for something.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::{Preference, Table};

use super::adversary::Ask;
use crate::tables::{preferences, table};

/// Patients of a table.
const RECORDS: usize = 4_000;

const DISEASES: &str = "\
flu;respiratory;any
asthma;respiratory;any
pneumonia;respiratory;any
croup;respiratory;any
ulcer;digestive;any
gastritis;digestive;any
colitis;digestive;any
reflux;digestive;any
angina;heart;any
stroke;heart;any
";

/// One in 25 asks for more than the job does.
pub fn patients(ask: Ask) -> (Table, Vec<Preference>) {
    let wish = match ask {
        Ask::K => json!({"max_reidentification": 0.05}),
        Ask::OfValues => json!({"max_leakage": 0.15}),
    };
    patients_and(RECORDS, |at, _| (at % 25 == 7).then(|| wish.clone()))
}

/// One in eight of those over 65 asks for less leakage, and one in fifty of the
/// others.
pub fn old_patients() -> (Table, Vec<Preference>) {
    patients_and(RECORDS, |at, age| {
        let every = if age > 65 { 8 } else { 50 };
        at.is_multiple_of(every)
            .then(|| json!({"max_leakage": 0.15}))
    })
}

/// So many patients, with what each asks for by number and age.
pub fn patients_and(
    records: usize,
    wish: impl Fn(usize, i64) -> Option<Value>,
) -> (Table, Vec<Preference>) {
    let schema = json!({
        "name": "patients", "subject_key": "name",
        "attributes": [
            {"name": "name", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "zip", "role": "quasi_identifier", "type": "integer"},
            {"name": "sex", "role": "quasi_identifier", "type": "categorical"},
            {"name": "disease", "role": "sensitive", "type": "categorical", "hierarchy": "diseases"}
        ]
    });
    let diseases: Vec<&str> = DISEASES
        .lines()
        .filter_map(|line| line.split(';').next())
        .collect();
    let mut random = ChaCha12Rng::seed_from_u64(5);
    let mut text = String::from("name,age,zip,sex,disease\n");
    let mut wishes = Vec::new();
    for at in 0..records {
        let age = random.random_range(18..90_i64);
        let zip = random.random_range(0..200);
        let sex = ["f", "m"][random.random_range(0..2)];
        let disease = diseases[random.random_range(0..diseases.len())];
        text.push_str(&format!("P{at},{age},{zip},{sex},{disease}\n"));
        if let Some(mut wish) = wish(at, age) {
            wish["subject"] = json!(format!("P{at}"));
            wishes.push(wish);
        }
    }
    let table = table(schema, &[("diseases", DISEASES)], &text);
    (table, preferences(Value::Array(wishes)))
}
