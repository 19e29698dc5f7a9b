//! One case of a property test: records, preferences and parameters of an
//! engine, all from one seed.
//!
//! Every type and form of hierarchy occurs, and texts that are awkward on the
//! wire. Small domains and skewed values are common, because it is there that
//! conditions hold only just, or not at all.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::microdata::{
    ChunkColumn, HierarchyFormat, HierarchySet, HierarchySource, Preference, Schema, Table,
};
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::release::Release;

use crate::case::Case;
use crate::made;

/// One case.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub engine: &'static str,
    pub schema: Schema,
    pub preferences: Vec<Preference>,
    pub parameters: Value,
    hierarchies: HierarchySet,
    columns: Vec<ChunkColumn>,
}

const LABELS: [&str; 18] = [
    "red",
    "green",
    "(missing)",
    "RED",
    "blue",
    "NULL",
    "n39.0",
    "N390",
    "a,b",
    "say \"hi\"",
    "{x|y}",
    "x|y",
    "\\back",
    "*",
    "=1+1",
    "1..2",
    "Zürich",
    "two words",
];

/// One of several, each as likely.
pub fn one_of<T: Clone>(from: &[T], random: &mut ChaCha12Rng) -> T {
    from[random.random_range(0..from.len())].clone()
}

impl Scenario {
    pub fn table(&self) -> Table {
        made::table(&self.schema, &self.hierarchies, self.columns.clone())
    }

    pub fn run(&self, parameters: &Value, seed: u64) -> Result<Release, EngineError> {
        let table = self.table();
        let engine = Engine::parse(self.engine, parameters, &self.schema)?;
        let policy = engine.policy(&self.schema)?;
        let requirements = Requirements::new(&table, policy, &self.preferences);
        engine.run(&table, &requirements, &RunContext::silent(seed))
    }

    pub fn publish(&self, parameters: &Value, seed: u64) -> Result<Case, EngineError> {
        let preferences = &self.preferences;
        let case = Case::run(self.engine, self.table(), parameters, preferences, seed)?;
        Ok(case.drawn_by(seed))
    }

    /// The same records in another order.
    pub fn shuffled(&self, seed: u64) -> Self {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let records = match &self.columns[0] {
            ChunkColumn::Text(keys) => keys.len(),
            _ => unreachable!("the first column is the key"),
        };
        let mut order: Vec<usize> = (0..records).collect();
        for last in (1..records).rev() {
            order.swap(last, random.random_range(0..=last));
        }
        let columns = self.columns.iter().map(|column| reorder(column, &order));
        Self {
            columns: columns.collect(),
            ..self.clone()
        }
    }
}

/// The records of a case in the making.
pub struct Records {
    pub keys: Vec<String>,
    pub attributes: Vec<Value>,
    pub columns: Vec<ChunkColumn>,
    pub hierarchies: HierarchySet,
}

impl Records {
    /// One record a key, as yet without attributes.
    pub fn new(keys: Vec<String>) -> Self {
        Self {
            attributes: vec![json!({"name": "id", "role": "identifier"})],
            columns: vec![ChunkColumn::Text(keys.iter().map(String::as_str).collect())],
            hierarchies: HierarchySet::new(),
            keys,
        }
    }

    /// One record a subject: `S0000`, `S0001` …
    pub fn of_subjects(subjects: usize) -> Self {
        Self::new((0..subjects).map(|at| format!("S{at:04}")).collect())
    }

    /// Adds an attribute of a role.
    pub fn add(&mut self, name: &str, role: &str, random: &mut ChaCha12Rng) {
        let (records, hierarchies) = (self.keys.len(), &mut self.hierarchies);
        let (attribute, column) = attribute_of((name, role), records, hierarchies, random);
        self.attributes.push(attribute);
        self.columns.push(column);
    }

    /// Adds so many attributes of a role, called by the role's first letter.
    pub fn add_many(&mut self, role: &str, number: usize, random: &mut ChaCha12Rng) {
        for at in 0..number {
            self.add(&format!("{}{at}", &role[..1]), role, random);
        }
    }

    /// The case; `more` are further fields of the schema.
    pub fn scenario(
        self,
        engine: &'static str,
        more: Value,
        preferences: Vec<Preference>,
        parameters: Value,
    ) -> Scenario {
        let mut schema = json!({
            "name": "random", "subject_key": "id", "missing": "category",
            "attributes": self.attributes,
        });
        if let (Value::Object(schema), Value::Object(more)) = (&mut schema, more) {
            schema.extend(more);
        }
        Scenario {
            engine,
            schema: serde_json::from_value(schema).expect("the schema is sound"),
            preferences,
            parameters,
            hierarchies: self.hierarchies,
            columns: self.columns,
        }
    }
}

/// Preferences of a share of the keys, and of one whom no record names, each
/// with the terms that `terms` draws.
pub fn preferences(
    keys: &[String],
    share: f64,
    random: &mut ChaCha12Rng,
    mut terms: impl FnMut(&mut ChaCha12Rng) -> Value,
) -> Vec<Preference> {
    let mut preferences = Vec::new();
    for key in keys.iter().map(String::as_str).chain(["nobody"]) {
        if random.random_bool(share) {
            let mut document = terms(random);
            document["subject"] = json!(key);
            preferences.push(serde_json::from_value(document).expect("the terms are sound"));
        }
    }
    preferences
}

/// A bound on one thing, or a wish to be excluded; `sensitive` attributes are
/// called `s0`, `s1` …
pub fn one_bound(sensitive: usize, random: &mut ChaCha12Rng) -> Value {
    let bound = one_of(&[1.0, 0.5, 0.34, 0.25, 0.1, 0.01], random);
    match random.random_range(0..4) {
        0 => json!({"max_leakage": bound}),
        1 => json!({"max_reidentification": bound}),
        2 if sensitive > 0 => {
            let names: Vec<String> = (0..sensitive).map(|at| format!("s{at}")).collect();
            let name = match names.as_slice() {
                [only] => only.clone(),
                names => one_of(names, random),
            };
            json!({"max_leakage": {name: bound}})
        }
        _ => json!({"exclude": random.random_bool(0.3)}),
    }
}

/// Asks for a least spread of some sensitive numbers.
pub fn spreads(attributes: &[Value], parameters: &mut Value, random: &mut ChaCha12Rng) {
    let is_number =
        |attribute: &&Value| attribute["role"] == "sensitive" && attribute["type"] != "categorical";
    for attribute in attributes.iter().filter(is_number) {
        if random.random_bool(0.5) {
            let name = attribute["name"].as_str().expect("it has a name");
            let asked = one_of(&[0.0, 0.0, 1.0, 100.0, 1_000.0, 10_000.0], random);
            parameters["min_spread"][name] = json!(asked);
        }
    }
}

/// The cells at these positions, in this order.
pub fn reorder(column: &ChunkColumn, order: &[usize]) -> ChunkColumn {
    fn pick<T: Copy>(all: &[T], order: &[usize]) -> Vec<T> {
        order.iter().map(|&at| all[at]).collect()
    }
    match column {
        ChunkColumn::Text(texts) => {
            ChunkColumn::Text(order.iter().map(|&at| texts.get(at)).collect())
        }
        ChunkColumn::WithMissing { known, missing } => {
            // Any value stands where one is missing.
            let (mut next, mut filled) = (0, Vec::new());
            let mut is_missing = vec![false; column.len()];
            missing
                .iter()
                .for_each(|&record| is_missing[record as usize] = true);
            for &is_missing in &is_missing {
                filled.push(next);
                next = (next + usize::from(!is_missing)).min(known.len().saturating_sub(1));
            }
            let is_missing = pick(&is_missing, order);
            if known.is_empty() {
                column.clone()
            } else {
                made::with_gaps(reorder(known, &pick(&filled, order)), &is_missing)
            }
        }
        ChunkColumn::Integer(values) => ChunkColumn::Integer(pick(values, order)),
        ChunkColumn::Decimal(values) => ChunkColumn::Decimal(pick(values, order)),
        ChunkColumn::Date(values) => ChunkColumn::Date(pick(values, order)),
        ChunkColumn::Category { labels, codes } => ChunkColumn::Category {
            labels: labels.clone(),
            codes: pick(codes, order),
        },
    }
}

/// One attribute of a role and its column.
pub fn attribute_of(
    (name, role): (&str, &str),
    records: usize,
    hierarchies: &mut HierarchySet,
    random: &mut ChaCha12Rng,
) -> (Value, ChunkColumn) {
    if role == "identifier" {
        let texts: Vec<String> = (0..records).map(|at| format!("{name}-{at}")).collect();
        let column = ChunkColumn::Text(texts.iter().map(String::as_str).collect());
        return (json!({"name": name, "role": role}), column);
    }
    let kind = one_of(&["integer", "decimal", "date", "categorical"], random);
    let mut document = json!({"name": name, "role": role, "type": kind});
    let size = one_of(&[1_usize, 2, 3, 5, 8, 18, 18, 60, 60, 200], random);
    // Squaring a share makes low values frequent.
    let skewed = random.random_bool(0.4);
    let mut code = || {
        let share: f64 = random.random();
        let share = if skewed { share * share } else { share };
        ((share * size as f64) as usize).min(size - 1)
    };
    let codes: Vec<usize> = (0..records).map(|_| code()).collect();
    if kind == "categorical" {
        let size = size.min(LABELS.len());
        let cells = codes.iter().map(|&code| LABELS[code.min(size - 1)]);
        let column = made::categories(cells);
        if random.random_bool(0.5) {
            document["hierarchy"] = json!(name);
            hierarchies.insert(name.into(), label_tree(size, random));
        }
        return (document, column);
    }
    let step = random.random_range(1..1_000_i64);
    let values = codes.iter().map(|&code| code as i64 * step - 7 * step);
    let column = match kind {
        "integer" => ChunkColumn::Integer(values.collect()),
        "decimal" => ChunkColumn::Decimal(values.map(|value| value as f64 / 8.0).collect()),
        _ => ChunkColumn::Date(values.map(|value| value as i32 + 10_000).collect()),
    };
    let column = some_missing(column, &mut random.clone());
    if kind != "date" && random.random_bool(0.3) {
        document["hierarchy"] = json!(name);
        let content =
            json!({"intervals": {"origin": 0, "width": step as f64 * 1.5, "fanouts": [2, 3]}});
        let source = HierarchySource::read(content.to_string().as_bytes(), HierarchyFormat::Json);
        hierarchies.insert(name.into(), source.expect("the intervals are sound"));
    }
    (document, column)
}

/// The numbers of a column, in half of all cases without some of them.
fn some_missing(column: ChunkColumn, random: &mut ChaCha12Rng) -> ChunkColumn {
    // Another stream: what else is drawn stays as it is without this.
    random.set_stream(1);
    let share = one_of(&[0.0, 0.0, 0.0, 0.0, 0.05, 0.3, 0.7, 1.0], random);
    let is_missing: Vec<bool> = (0..column.len())
        .map(|_| random.random_bool(share))
        .collect();
    made::with_gaps(column, &is_missing)
}

/// A tree over the first labels, with a few leaves that never occur.
fn label_tree(size: usize, random: &mut ChaCha12Rng) -> HierarchySource {
    // A leaf called `*` cannot stand under a root of that name.
    let root = one_of(&["everything", "any"], random);
    let mut lines: Vec<String> = Vec::new();
    let label = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let known = LABELS[..size]
        .iter()
        .filter(|text| **text != "(missing)")
        .map(|text| label(text));
    for (at, leaf) in known
        .chain((0..3).map(|at| format!("spare {at}")))
        .enumerate()
    {
        lines.push(match random.random_range(0..3) {
            0 => format!("{leaf};branch {};{root}", at % 3),
            1 => format!("{leaf};twig {};branch {};{root}", at % 6, at % 3),
            _ => format!("{leaf};{root}"),
        });
    }
    made::tree(&(lines.join("\n") + "\n"))
}
