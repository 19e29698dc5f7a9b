//! Made-up tables and preferences, built as the readers build them.

use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use serde_json::json;
use vizard_anonymizer::microdata::{
    Chunk, ChunkColumn, HierarchyFormat, HierarchySet, HierarchySource, Preference, Schema, Table,
    TableBuilder, TextColumn,
};

/// A column of categories.
pub fn categories<'a>(cells: impl IntoIterator<Item = &'a str>) -> ChunkColumn {
    let mut labels: Vec<&str> = Vec::new();
    let codes = cells.into_iter().map(|cell| {
        let found = labels.iter().position(|label| *label == cell);
        found.unwrap_or_else(|| {
            labels.push(cell);
            labels.len() - 1
        }) as u32
    });
    let codes = codes.collect();
    ChunkColumn::Category {
        labels: labels.into_iter().collect(),
        codes,
    }
}

/// Numbers or days, those missing that are so marked.
pub fn with_gaps(column: ChunkColumn, is_missing: &[bool]) -> ChunkColumn {
    fn known<T: Copy>(values: &[T], is_missing: &[bool]) -> Vec<T> {
        let cells = values.iter().zip(is_missing);
        let known = cells.filter(|(_, is_missing)| !**is_missing);
        known.map(|(value, _)| *value).collect()
    }
    if !is_missing.contains(&true) {
        return column;
    }
    let known = match &column {
        ChunkColumn::Integer(values) => ChunkColumn::Integer(known(values, is_missing)),
        ChunkColumn::Decimal(values) => ChunkColumn::Decimal(known(values, is_missing)),
        ChunkColumn::Date(values) => ChunkColumn::Date(known(values, is_missing)),
        _ => panic!("no number"),
    };
    let missing = (0..).zip(is_missing).filter(|(_, is_missing)| **is_missing);
    ChunkColumn::WithMissing {
        known: Box::new(known),
        missing: missing.map(|(record, _)| record).collect(),
    }
}

/// A table of these columns.
pub fn table(schema: &Schema, hierarchies: &HierarchySet, columns: Vec<ChunkColumn>) -> Table {
    let records = columns.first().map_or(0, ChunkColumn::len);
    let mut builder =
        TableBuilder::new(Arc::new(schema.clone()), hierarchies).expect("hierarchies are known");
    builder
        .push(Chunk { records, columns })
        .expect("the columns fit the schema");
    builder.finish().expect("the table is sound")
}

/// A hierarchy out of lines `leaf;…;root`.
pub fn tree(lines: &str) -> HierarchySource {
    HierarchySource::read(lines.as_bytes(), HierarchyFormat::Csv).expect("the tree is sound")
}

/// A hospital's patients: every type and role, hierarchies and none.
pub struct Hospital {
    pub table: Table,
    pub preferences: Vec<Preference>,
}

const CITIES: &str = "Bergen;West;*\nStavanger;West;*\nHaugesund;West;*\n\
                      Oslo;East;*\nDrammen;East;*\nHamar;East;*\nTromso;North;*\nBodo;North;*\n";
const DISEASES: &str = "flu;respiratory;any\nasthma;respiratory;any\npneumonia;respiratory;any\n\
                        ulcer;digestive;any\ngastritis;digestive;any\nangina;heart;any\n\
                        stroke;heart;any\n";

fn hospital_schema(role_of_age_and_sex: &str) -> Schema {
    let document = json!({
        "name": "hospital", "subject_key": "patient",
        "attributes": [
            {"name": "patient", "role": "identifier"},
            {"name": "email", "role": "identifier"},
            {"name": "age", "role": role_of_age_and_sex, "type": "integer"},
            {"name": "sex", "role": role_of_age_and_sex, "type": "categorical"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical", "hierarchy": "cities"},
            {"name": "job", "role": "quasi_identifier", "type": "categorical"},
            {"name": "weight", "role": "quasi_identifier", "type": "decimal"},
            {"name": "admitted", "role": "quasi_identifier", "type": "date"},
            {"name": "ward", "role": "insensitive", "type": "categorical"},
            {"name": "salary", "role": "sensitive", "type": "integer"},
            {"name": "disease", "role": "sensitive", "type": "categorical", "hierarchy": "diseases"}
        ]
    });
    serde_json::from_value(document).expect("the schema is sound")
}

/// `records` patients. Of the two semi-sensitive attributes about a third of
/// the patients flag `age`, a third `sex`; two flag both, which is too rare a
/// pattern to stand alone. One patient asks to be left out.
pub fn hospital(records: usize, random: &mut ChaCha12Rng) -> Hospital {
    hospital_of("semi_sensitive", records, random)
}

/// The same with age and sex as quasi-identifiers of everyone: what patients
/// flag says nothing.
pub fn open_hospital(records: usize, random: &mut ChaCha12Rng) -> Hospital {
    hospital_of("quasi_identifier", records, random)
}

fn hospital_of(role: &str, records: usize, random: &mut ChaCha12Rng) -> Hospital {
    let mut hierarchies = HierarchySet::new();
    hierarchies.insert("cities".into(), tree(CITIES));
    hierarchies.insert("diseases".into(), tree(DISEASES));
    let mut pick = |from: &'static [&'static str]| -> Vec<&'static str> {
        (0..records)
            .map(|_| from[random.random_range(0..from.len())])
            .collect()
    };
    let sex = pick(&["female", "male"]);
    let city = pick(&[
        "Bergen",
        "Stavanger",
        "Haugesund",
        "Oslo",
        "Drammen",
        "Hamar",
        "Tromso",
        "Bodo",
    ]);
    let job = pick(&["baker", "clerk", "driver", "nurse", "teacher"]);
    let ward = pick(&["A", "B", "C"]);
    let disease = pick(&[
        "flu",
        "asthma",
        "pneumonia",
        "ulcer",
        "gastritis",
        "angina",
        "stroke",
    ]);
    let keys: Vec<String> = (0..records)
        .map(|at| format!("P-{:05}", at * 7 + 1000))
        .collect();
    let emails: Vec<String> = (0..records)
        .map(|at| format!("someone{at}@example.org"))
        .collect();
    let texts = |all: &[String]| all.iter().map(String::as_str).collect::<TextColumn>();
    let columns = vec![
        ChunkColumn::Text(texts(&keys)),
        ChunkColumn::Text(texts(&emails)),
        ChunkColumn::Integer((0..records).map(|_| random.random_range(18..90)).collect()),
        categories(sex),
        categories(city),
        categories(job),
        ChunkColumn::Decimal(
            (0..records)
                .map(|_| f64::from(random.random_range(450..1200)) / 10.0)
                .collect(),
        ),
        ChunkColumn::Date(
            (0..records)
                .map(|_| random.random_range(20_000..20_090))
                .collect(),
        ),
        categories(ward),
        ChunkColumn::Integer(
            (0..records)
                .map(|_| 500 * random.random_range(40..120_i64))
                .collect(),
        ),
        categories(disease),
    ];
    let table = table(&hospital_schema(role), &hierarchies, columns);
    Hospital {
        table,
        preferences: hospital_preferences(&keys),
    }
}

fn hospital_preferences(keys: &[String]) -> Vec<Preference> {
    let preferences = keys.iter().enumerate().map(|(at, key)| {
        let document = match at {
            0 => json!({"subject": key, "exclude": true}),
            1 | 2 => json!({"subject": key, "sensitive": ["age", "sex"]}),
            3 => json!({"subject": key, "max_leakage": 0.25, "max_reidentification": 0.2}),
            _ if at % 3 == 0 => json!({"subject": key, "sensitive": ["age"]}),
            _ if at % 3 == 1 => json!({"subject": key, "sensitive": ["sex"]}),
            _ => json!({"subject": key}),
        };
        serde_json::from_value(document).expect("the preference is sound")
    });
    preferences.collect()
}
