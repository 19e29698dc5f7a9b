//! Valid releases of `personalized`: a hospital whose only sensitive
//! attribute is the disease.

use rand::RngExt;
use rand_chacha::rand_core::SeedableRng;
use serde_json::json;
use vizard_anonymizer::microdata::{Preference, Table};
use vizard_anonymizer::release::Cell;

use crate::case::Case;
use crate::negative::{Random, any};
use crate::personalized::publish;
use crate::tables::{preferences as documents, table};

/// Names of the quasi-identifiers.
pub const QUASI: [&str; 6] = ["age", "sex", "city", "job", "weight", "admitted"];

const RECORDS: usize = 180;
const CITIES: &str = "Bergen;West;*\nStavanger;West;*\nHaugesund;West;*\n\
                      Oslo;East;*\nDrammen;East;*\nHamar;East;*\nTromso;North;*\nBodo;North;*\n";
const DISEASES: &str = "flu;respiratory;chest;any\nasthma;respiratory;chest;any\n\
                        pneumonia;respiratory;chest;any\nangina;heart;chest;any\n\
                        stroke;heart;chest;any\nulcer;digestive;any\ngastritis;digestive;any\n\
                        gout;any\n";

fn source(random: &mut Random) -> Table {
    let schema = json!({
        "name": "hospital", "subject_key": "patient",
        "attributes": [
            {"name": "patient", "role": "identifier"},
            {"name": "email", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "sex", "role": "quasi_identifier", "type": "categorical"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical", "hierarchy": "cities"},
            {"name": "job", "role": "quasi_identifier", "type": "categorical"},
            {"name": "weight", "role": "quasi_identifier", "type": "decimal"},
            {"name": "admitted", "role": "quasi_identifier", "type": "date"},
            {"name": "ward", "role": "insensitive", "type": "categorical"},
            {"name": "disease", "role": "sensitive", "type": "categorical", "hierarchy": "diseases"}
        ]
    });
    let mut records = String::from("patient,email,age,sex,city,job,weight,admitted,ward,disease\n");
    let leaves = |lines: &'static str| -> Vec<&'static str> {
        lines
            .lines()
            .filter_map(|line| line.split(';').next())
            .collect()
    };
    let (cities, diseases) = (leaves(CITIES), leaves(DISEASES));
    let mut pick = |from: &[&'static str]| any(from, random).unwrap();
    let mut rows = Vec::new();
    for at in 0..RECORDS {
        let texts = [
            pick(&["female", "male"]),
            pick(&cities),
            pick(&["baker", "clerk", "driver", "nurse", "teacher"]),
            pick(&["A", "B", "C"]),
            // Gout is rare, flu frequent.
            pick(&[&diseases[..7], &["flu", "flu"], &diseases[..7], &["gout"]].concat()),
        ];
        rows.push((at, texts));
    }
    for (at, [sex, city, job, ward, disease]) in rows {
        let age = random.random_range(18..90);
        let weight = f64::from(random.random_range(450..1200)) / 10.0;
        let (month, day) = (random.random_range(1..=9), random.random_range(10..=28));
        let key = at * 7 + 1000;
        records.push_str(&format!(
            "P-{key:05},someone{at}@example.org,{age},{sex},{city},{job},{weight},2026-0{month}-{day},\
             {ward},{disease}\n"
        ));
    }
    table(
        schema,
        &[("cities", CITIES), ("diseases", DISEASES)],
        &records,
    )
}

/// What the hospital's patients ask for; the first one to be left out.
pub fn preferences() -> Vec<Preference> {
    let key = |at: usize| format!("P-{:05}", at * 7 + 1000);
    let mut all = vec![json!({"subject": key(0), "exclude": true})];
    for at in 1..RECORDS {
        match at % 6 {
            0 => all.push(json!({"subject": key(at), "max_leakage": 0.25})),
            1 => all.push(json!({"subject": key(at), "max_leakage": {"disease": 0.34}})),
            2 if at % 4 == 0 => all.push(json!({"subject": key(at), "max_reidentification": 0.2})),
            3 => all.push(json!({
                "subject": key(at), "max_leakage": 0.4, "guard": {"disease": ["heart"]}
            })),
            _ => {}
        }
    }
    documents(json!(all))
}

/// A verified release.
pub fn release(seed: u64, grouping: &str, recoding: &str) -> Case {
    let table = source(&mut Random::seed_from_u64(seed));
    let parameters = json!({
        "k": 4, "sensitive": "disease", "max_leakage": 0.5, "max_excluded": 0.3,
        "grouping": grouping, "recoding": recoding
    });
    publish(table, &parameters, &preferences(), seed).expect("the hospital can be published")
}

/// What a reader sees of a row but its disease.
pub fn look(case: &Case, row: usize) -> Vec<Cell> {
    QUASI
        .iter()
        .map(|name| case.cells("microdata", name)[row].clone())
        .collect()
}

/// K of a set of rows: the strictest of them.
pub fn k_of(case: &Case, rows: &[usize]) -> usize {
    let k = |&row: &usize| {
        let terms = case.terms(row);
        terms.k.max(terms.max_share[0].reciprocal_ceiling()) as usize
    };
    rows.iter().map(k).max().unwrap_or(0)
}
