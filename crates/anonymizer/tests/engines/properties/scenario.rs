//! A random schema, table, preferences and parameters, all from one seed.
//!
//! Every type, role and form of hierarchy occurs, and texts that are awkward
//! on the wire. Small domains and skewed values are common, because it is
//! there that conditions hold only just, or not at all.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::{
    ChunkColumn, HierarchyFormat, HierarchySet, HierarchySource, Preference, Schema, Table,
};

use super::super::made;

/// What a case starts from; smaller is simpler.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub records: usize,
    pub attributes: usize,
}

/// One case.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub schema: Schema,
    pub hierarchies: HierarchySet,
    pub columns: Vec<ChunkColumn>,
    pub preferences: Vec<Preference>,
    pub parameters: Value,
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

/// One of several, each as likely.
pub fn one_of<T: Clone>(from: &[T], random: &mut ChaCha12Rng) -> T {
    from[random.random_range(0..from.len())].clone()
}

impl Scenario {
    pub fn of(plan: Plan) -> Self {
        let mut random = ChaCha12Rng::seed_from_u64(plan.seed);
        let mut hierarchies = HierarchySet::new();
        let mut attributes = vec![json!({"name": "id", "role": "identifier"})];
        let keys: Vec<String> = (0..plan.records).map(|at| format!("S{at:04}")).collect();
        let mut columns = vec![ChunkColumn::Text(keys.iter().map(String::as_str).collect())];
        for name in NAMES.iter().take(plan.attributes) {
            let (attribute, column) = attribute(name, plan.records, &mut hierarchies, &mut random);
            attributes.push(attribute);
            columns.push(column);
        }
        let mut document = json!({
            "name": "random", "subject_key": "id", "missing": "category", "attributes": attributes,
        });
        let protectable = names_of(&attributes, &["semi_sensitive", "sensitive"]);
        if random.random_bool(0.15) {
            document["default_preference"] = terms(&protectable, false, &mut random);
        }
        let schema = serde_json::from_value(document).expect("the schema is sound");
        let preferences = preferences(&keys, &protectable, &mut random);
        let parameters = parameters(&attributes, &protectable, &mut random);
        Self {
            schema,
            hierarchies,
            columns,
            preferences,
            parameters,
        }
    }

    pub fn table(&self) -> Table {
        made::table(&self.schema, &self.hierarchies, self.columns.clone())
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

fn names_of(attributes: &[Value], roles: &[&str]) -> Vec<String> {
    let has = |attribute: &&Value| roles.contains(&attribute["role"].as_str().unwrap_or(""));
    let names = attributes
        .iter()
        .filter(has)
        .filter_map(|attribute| attribute["name"].as_str());
    names.map(str::to_owned).collect()
}

/// One attribute and its column.
fn attribute(
    name: &str,
    records: usize,
    hierarchies: &mut HierarchySet,
    random: &mut ChaCha12Rng,
) -> (Value, ChunkColumn) {
    let roles = [
        "quasi_identifier",
        "quasi_identifier",
        "semi_sensitive",
        "semi_sensitive",
        "sensitive",
        "insensitive",
        "identifier",
    ];
    let role = one_of(&roles, random);
    attribute_of((name, role), records, hierarchies, random)
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

fn preferences(
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
    let mut preferences = Vec::new();
    for key in keys.iter().map(String::as_str).chain(["nobody"]) {
        if random.random_bool(share) {
            let mut document = one_of(&kinds, random);
            document["subject"] = json!(key);
            preferences.push(serde_json::from_value(document).expect("the terms are sound"));
        }
    }
    preferences
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
