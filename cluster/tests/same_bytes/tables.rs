//! Made-up tables: every type, hierarchies and none, people with terms of their own.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use vizard_anonymizer::microdata::{
    Chunk, ChunkColumn, HierarchyFormat, HierarchySet, HierarchySource, Preference, Schema, Table,
    TableBuilder, TextColumn,
};

#[derive(Clone)]
pub struct Made {
    pub table: Table,
    pub preferences: Vec<Preference>,
}

/// Numbers that look drawn and are always the same (SplitMix64).
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

fn labels(prefix: &str, number: u64) -> Vec<String> {
    (0..number)
        .map(|at| format!("{prefix} canary {at:03}"))
        .collect()
}

/// Labels under branches of three, under the root `*`.
fn tree(prefix: &str, number: u64) -> HierarchySource {
    let mut lines = String::new();
    for (at, label) in labels(prefix, number).iter().enumerate() {
        writeln!(lines, "{label};{prefix} branch canary {};*", at / 3).expect("text");
    }
    HierarchySource::read(lines.as_bytes(), HierarchyFormat::Csv).expect("a tree")
}

fn categories(labels: &[String], codes: Vec<u32>) -> ChunkColumn {
    ChunkColumn::Category {
        labels: labels.iter().map(String::as_str).collect(),
        codes,
    }
}

fn keys(keys: impl Iterator<Item = String>) -> ChunkColumn {
    let mut column = TextColumn::new();
    keys.for_each(|key| column.push(&key));
    ChunkColumn::Text(column)
}

fn built(
    schema: Value,
    hierarchies: &HierarchySet,
    columns: Vec<ChunkColumn>,
    records: usize,
) -> Table {
    let schema: Schema = serde_json::from_value(schema).expect("a schema");
    let mut builder = TableBuilder::new(Arc::new(schema), hierarchies).expect("hierarchies");
    builder.push(Chunk { records, columns }).expect("columns");
    builder.finish().expect("a table")
}

fn hierarchies() -> HierarchySet {
    let trees = [
        ("cities", tree("city", 12)),
        ("diseases", tree("disease", 15)),
    ];
    trees.map(|(name, tree)| (name.to_owned(), tree)).into()
}

/// Each tenth asks for something.
fn preferences(subjects: usize, terms: &[Value]) -> Vec<Preference> {
    let asking = (0..subjects).step_by(10);
    let asking = asking.zip(terms.iter().cycle());
    let preferences = asking.map(|(subject, terms)| Preference {
        subject: key(subject),
        terms: Arc::new(serde_json::from_value(terms.clone()).expect("terms")),
    });
    preferences.collect()
}

fn key(subject: usize) -> String {
    format!("person canary {subject:04}")
}

fn of_patients(records: usize, seed: u64, has_income: bool) -> Made {
    let mut drawn = Drawn(seed);
    let mut codes = |limit| {
        (0..records)
            .map(|_| drawn.below(limit))
            .collect::<Vec<u64>>()
    };
    let narrow = |codes: Vec<u64>| {
        codes
            .into_iter()
            .map(|code| code as u32)
            .collect::<Vec<u32>>()
    };
    let mut attributes = vec![
        json!({"name": "patient", "role": "identifier"}),
        json!({"name": "age", "role": "quasi_identifier", "type": "integer"}),
        json!({"name": "weight", "role": "quasi_identifier", "type": "decimal"}),
        json!({"name": "admitted", "role": "quasi_identifier", "type": "date"}),
        json!({"name": "city", "role": "quasi_identifier", "type": "categorical", "hierarchy": "cities"}),
        json!({"name": "job", "role": "quasi_identifier", "type": "categorical"}),
        json!({"name": "disease", "role": "sensitive", "type": "categorical", "hierarchy": "diseases"}),
    ];
    let mut columns = vec![
        keys((0..records).map(key)),
        ChunkColumn::Integer(codes(60).into_iter().map(|age| age as i64 + 20).collect()),
        ChunkColumn::Decimal(
            codes(200)
                .into_iter()
                .map(|at| 50.0 + at as f64 / 3.0)
                .collect(),
        ),
        ChunkColumn::Date(
            codes(900)
                .into_iter()
                .map(|day| day as i32 + 18_000)
                .collect(),
        ),
        categories(&labels("city", 12), narrow(codes(12))),
        categories(&labels("job", 9), narrow(codes(9))),
        categories(&labels("disease", 15), narrow(codes(15))),
    ];
    if has_income {
        attributes.push(json!({"name": "income", "role": "sensitive", "type": "integer"}));
        columns.push(ChunkColumn::Integer(
            codes(40).into_iter().map(|at| at as i64 * 500).collect(),
        ));
    }
    let schema = json!({"name": "patients", "subject_key": "patient", "attributes": attributes});
    let terms = [
        json!({"max_reidentification": 0.2}),
        json!({"max_leakage": 0.4}),
        json!({"exclude": true}),
    ];
    Made {
        table: built(schema, &hierarchies(), columns, records),
        preferences: preferences(records, &terms[..if has_income { 3 } else { 1 }]),
    }
}

/// One record each.
pub fn patients(records: usize, seed: u64) -> Made {
    of_patients(records, seed, true)
}

/// The same with one sensitive attribute.
pub fn without_income(records: usize, seed: u64) -> Made {
    of_patients(records, seed, false)
}

/// One to three records each, in no order.
pub fn visits(subjects: usize, seed: u64) -> Made {
    let mut drawn = Drawn(seed);
    let mut rows: Vec<(u64, usize)> = Vec::new();
    for subject in 0..subjects {
        let number = 1 + drawn.below(3);
        rows.extend((0..number).map(|_| (drawn.below(u64::MAX), subject)));
    }
    rows.sort_unstable();
    let subject = |limit: u64, of: &(u64, usize)| (of.1 as u64).wrapping_mul(7919) % limit;
    let records = rows.len();
    let diseases = (0..records).map(|_| drawn.below(15) as u32).collect();
    let columns = vec![
        keys(rows.iter().map(|(_, subject)| key(*subject))),
        ChunkColumn::Integer(
            rows.iter()
                .map(|row| subject(60, row) as i64 + 20)
                .collect(),
        ),
        categories(
            &labels("city", 12),
            rows.iter().map(|row| subject(12, row) as u32).collect(),
        ),
        categories(&labels("disease", 15), diseases),
    ];
    let schema = json!({
        "name": "visits", "subject_key": "patient", "multiplicity": "many",
        "attributes": [
            {"name": "patient", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical", "hierarchy": "cities"},
            {"name": "disease", "role": "sensitive", "type": "categorical", "hierarchy": "diseases"},
        ]
    });
    Made {
        table: built(schema, &hierarchies(), columns, records),
        preferences: preferences(subjects, &[json!({"exclude": true})]),
    }
}

/// All texts of [`patients`] that are somebody's: labels, nodes, keys, names.
pub fn canaries(made: &Made) -> Vec<String> {
    let mut all = labels("city", 12);
    all.extend(labels("job", 9));
    all.extend(labels("disease", 15));
    all.extend((0..4).map(|at| format!("city branch canary {at}")));
    all.extend((0..made.table.subjects()).map(key));
    all.extend(["admitted".into(), "patients".into()]);
    all
}
