//! Made-up persons: two numbers, a category with and one without a
//! hierarchy, and two sensitive attributes, one of them with a hierarchy.

use std::fmt::Write;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde_json::json;

use crate::engine::context::RunContext;
use crate::engine::one_to_many::persons::Persons;
use crate::engine::one_to_many::rmr::Params;
use crate::engine::one_to_many::rmr::plan::Frame;
use crate::engine::one_to_many::trees::Trees;
use crate::microdata::{
    HierarchyFormat, HierarchySet, HierarchySource, Preference, ReadLimits, RecordFormat, Schema,
    SubjectKeys, Table, TableBuilder, Target, read_records,
};
use crate::privacy::Requirements;

/// A table, and what its subjects ask for.
pub struct Made {
    pub table: Table,
    pub preferences: Vec<Preference>,
}

/// A tree of three levels over the leaves `<prefix>000` and on.
fn hierarchy(prefix: &str, leaves: usize, fan_out: usize) -> HierarchySource {
    let mut text = String::new();
    for leaf in 0..leaves {
        let (low, high) = (leaf / fan_out, leaf / (fan_out * fan_out));
        writeln!(
            text,
            "{prefix}{leaf:03};{prefix}low{low};{prefix}high{high};*"
        )
        .expect("text");
    }
    HierarchySource::read(text.as_bytes(), HierarchyFormat::Csv).expect("a tree")
}

/// A number below `bound`, small ones more often.
fn skewed(random: &mut ChaCha12Rng, bound: u32) -> u32 {
    let one = random.random_range(0..bound);
    one.min(random.random_range(0..bound))
}

/// Persons with one to `visits` records each; the quasi-identifiers of their
/// records may disagree.
pub fn made(seed: u64, persons: usize, visits: u32) -> Made {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let mut text = String::from("person,age,weight,place,colour,condition,drug\n");
    for person in 0..persons {
        let age = 20 + skewed(&mut random, 60);
        let (weight, place) = (random.random_range(40..120), skewed(&mut random, 27));
        for _ in 0..random.random_range(1..=visits) {
            let age = age + random.random_range(0..2);
            let (colour, condition) = (skewed(&mut random, 5), skewed(&mut random, 40));
            let drug = skewed(&mut random, 4);
            writeln!(
                text,
                "p{person},{age},{weight},z{place:03},c{colour},i{condition:03},d{drug}"
            )
            .expect("text");
        }
    }
    let schema: Schema = serde_json::from_value(json!({
        "name": "made", "subject_key": "person", "multiplicity": "many", "missing": "reject",
        "attributes": [
            {"name": "person", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "weight", "role": "quasi_identifier", "type": "integer"},
            {"name": "place", "role": "quasi_identifier", "type": "categorical", "hierarchy": "place"},
            {"name": "colour", "role": "quasi_identifier", "type": "categorical"},
            {"name": "condition", "role": "sensitive", "type": "categorical", "hierarchy": "item"},
            {"name": "drug", "role": "sensitive", "type": "categorical"},
        ]
    }))
    .expect("a schema");
    let hierarchies: HierarchySet = [
        ("place".to_owned(), hierarchy("z", 27, 3)),
        ("item".to_owned(), hierarchy("i", 40, 4)),
    ]
    .into_iter()
    .collect();
    let mut builder = TableBuilder::new(Arc::new(schema.clone()), &hierarchies).expect("sound");
    let mut sink = |chunk| builder.push(chunk);
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut room = Vec::new();
    let mut subjects = SubjectKeys::new(*b"a key of 16 byte", &mut room);
    let format = RecordFormat::Csv;
    read_records(text.as_bytes(), format, &target, &mut subjects, &mut sink).expect("records");
    Made {
        table: builder.finish().expect("a table"),
        preferences: Vec::new(),
    }
}

impl Made {
    /// Lets a subject ask for something.
    pub fn ask(&mut self, person: usize, terms: serde_json::Value) {
        let mut document = terms;
        document["subject"] = json!(format!("p{person}"));
        let preference = serde_json::from_value(document).expect("a preference");
        self.preferences.push(preference);
    }

    pub fn requirements(&self, params: &Params) -> Requirements {
        let policy = params
            .policy(self.table.schema())
            .expect("parameters that fit");
        Requirements::new(&self.table, policy, &self.preferences)
    }

    /// Hands the persons, laid out as a run does, to `look`.
    pub fn frame<R>(&self, params: &Params, look: impl FnOnce(&Frame<'_>) -> R) -> R {
        let requirements = self.requirements(params);
        let persons = Persons::gather(&self.table, &requirements, params.qid_conflict);
        let persons = persons.expect("persons");
        look(&Frame {
            persons: &persons,
            trees: &Trees::new(&persons.sensitive, None),
            k: params.k.get(),
            m: params.m,
            delta: params.delta,
            context: &RunContext::silent(5),
        })
    }
}

/// Parameters of a run on made-up persons.
pub fn params(k: u32, m: u32, delta: f64) -> Params {
    let document = json!({"k": k, "m": m, "delta": delta, "qid_conflict": "hull"});
    serde_json::from_value(document).expect("parameters")
}
