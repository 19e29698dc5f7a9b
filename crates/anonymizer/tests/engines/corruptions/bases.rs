//! Valid releases of made-up people by every engine in every form of table:
//! what the corruptions start from.
//!
//! The tables are made here and not taken from other tests, so that they have
//! what an engine that cheats would use: hierarchies with nodes that cover the
//! same leaves, roots with a name of their own, equal rows, several sensitive
//! attributes, and subjects with terms of their own. Everyone's terms can be
//! met (but for `rmr`): whoever is left out asked for it.

use std::sync::OnceLock;

use rand::RngExt;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::{Preference, Table};
use vizard_anonymizer::privacy::Requirements;

use super::Random;
use crate::case::Case;
use crate::tables::{preferences, table};

const CITIES: &str = "Bergen;West;all\nStavanger;West;all\nOslo;East;all\nHamar;East;all\n\
                      Tromso;Arctic;North;all\nBodo;Arctic;North;all\n";
const DISEASES: &str = "flu;lungs;chest;any\nasthma;lungs;chest;any\nangina;heart;chest;any\n\
                        stroke;heart;chest;any\nulcer;belly;any\ncolitis;belly;any\n\
                        gout;joints;any\n";
const PEOPLE: usize = 160;
/// The seed of every run: the one that `Case` takes if it is told none.
const SEED: u64 = 0;

/// A valid release and what it is called in reports.
pub struct Base {
    pub name: &'static str,
    pub case: Case,
}

/// Every release, made once.
pub fn all() -> &'static [Base] {
    static BASES: OnceLock<Vec<Base>> = OnceLock::new();
    BASES.get_or_init(make)
}

fn make() -> Vec<Base> {
    plans().into_iter().map(base).collect()
}

/// Valid releases in which this subject, who asks for something, is left out
/// as if they had asked for that: each is then held against what they did ask
/// for.
pub fn without(subject: usize) -> Vec<Base> {
    let left_out = |plan: Plan| {
        let mut wishes = wishes(plan.engine);
        wishes.extend(preferences(
            json!([{"subject": key(subject), "exclude": true}]),
        ));
        let asked = self::wishes(plan.engine);
        let mut made = base_with(plan, &wishes);
        let Case {
            table,
            requirements,
            ..
        } = &mut made.case;
        *requirements = Requirements::new(table, requirements.ordered().clone(), &asked);
        made
    };
    plans().into_iter().map(left_out).collect()
}

/// Runs of every engine in every form of table.
pub fn plans() -> Vec<Plan> {
    let mut plans = grouped();
    plans.extend(blocks());
    plans.extend(sliced());
    plans.extend(persons());
    plans
}

/// A run of an engine.
#[derive(Clone)]
pub struct Plan {
    pub name: &'static str,
    pub engine: &'static str,
    pub table: Table,
    pub parameters: Value,
}

fn plan(name: &'static str, engine: &'static str, table: Table, parameters: Value) -> Plan {
    Plan {
        name,
        engine,
        table,
        parameters,
    }
}

fn grouped() -> Vec<Plan> {
    let wide = |salary| source(&Shape::wide("quasi_identifier", salary), 11);
    let flags = || source(&Shape::wide("semi_sensitive", "sensitive"), 12);
    let close = json!({"k": 4, "max_excluded": 0.1, "attributes": {
        "disease": {"l": 2}, "salary": {"t_closeness": 0.4}}});
    let buckets = |link: &str| {
        json!({"k": 4, "l": 3, "bucket_link": link, "max_excluded": 0.1,
        "attributes": {"sex": {"t_closeness": 0.4}}})
    };
    let near = json!({"k": 4, "l": 3, "max_excluded": 0.1, "generalization": "ncp",
        "attributes": {"sex": {"t_closeness": 0.4}, "salary": {"l": 3, "min_spread": 1000}}});
    let terms = json!({"k": 4, "sensitive": "disease", "max_leakage": 0.5, "max_excluded": 0.3});
    vec![
        plan(
            "mondrian",
            "mondrian",
            wide("sensitive"),
            json!({"k": 4, "l": 2, "max_excluded": 0.1}),
        ),
        plan("mondrian t", "mondrian", wide("sensitive"), close),
        plan("personalized", "personalized", wide("insensitive"), terms),
        plan("lgb row", "lgb", flags(), buckets("row")),
        plan("lgb group", "lgb", flags(), buckets("group")),
        plan("lgb t", "lgb", flags(), near),
    ]
}

fn blocks() -> Vec<Plan> {
    let exact = |salary| source(&Shape::exact(salary), 13);
    let listed = |sensitive: Value| json!({"l": 3, "sensitive": sensitive});
    let shown = |form: &str| json!({"l": 3, "publish": form});
    let drawn = json!({"l": 3, "publish": "randomization", "retention": 0.4});
    vec![
        plan("arp", "arp", exact("sensitive"), listed(json!(["disease"]))),
        plan(
            "arp two",
            "arp",
            exact("sensitive"),
            listed(json!(["salary", "disease"])),
        ),
        plan("aip", "aip", exact("sensitive"), listed(json!(["disease"]))),
        plan(
            "anatomy",
            "anatomy",
            exact("sensitive"),
            listed(json!(["disease"])),
        ),
        plan(
            "arp generalization",
            "arp",
            exact("insensitive"),
            shown("generalization"),
        ),
        plan("arp randomization", "arp", exact("insensitive"), drawn),
        plan("arp slicing", "arp", exact("insensitive"), shown("slicing")),
        plan("ng", "ng", exact("insensitive"), json!({"l": 3})),
    ]
}

fn sliced() -> Vec<Plan> {
    let fine = || source(&Shape::sliced(), 14);
    let columns = json!({"l": 2, "columns": [["age", "sex"], ["city", "disease"]]});
    let twice = json!({"variant": "overlap", "l": 2,
        "columns": [["age"], ["city", "disease"], ["sex", "disease"]]});
    let covered = json!({"variant": "generalized", "l": 3, "generalize": ["age", "city"],
        "clusters": 2});
    let close = json!({"t_closeness": 0.4, "columns": [["age"], ["city", "sex"], ["disease"]]});
    vec![
        plan("slicing", "slicing", fine(), columns),
        plan("slicing overlap", "slicing", fine(), twice),
        plan("slicing generalized", "slicing", fine(), covered),
        plan("slicing t", "slicing", fine(), close),
    ]
}

fn persons() -> Vec<Plan> {
    let fingerprints = json!({"k": 3, "l": 2, "k_group": 4, "max_excluded": 0.1});
    let itemsets = json!({"k": 3, "m": 2, "delta": 0.3, "max_excluded": 0.1});
    vec![
        plan("one_to_many", "one_to_many", visits(15), fingerprints),
        plan("rmr", "rmr", visits(15), itemsets),
    ]
}

/// What a run of the engine makes, read back from its bytes.
fn base(plan: Plan) -> Base {
    let wishes = wishes(plan.engine);
    base_with(plan, &wishes)
}

fn base_with(plan: Plan, wishes: &[Preference]) -> Base {
    let Plan {
        name,
        engine,
        table,
        parameters,
    } = plan;
    let case = Case::run(engine, table, &parameters, wishes, SEED);
    let case = case.unwrap_or_else(|error| panic!("{name}: {error}"));
    Base { name, case }
}

/// Terms that every engine can meet.
pub fn wishes(engine: &str) -> Vec<Preference> {
    let mut all = vec![
        json!({"subject": key(0), "exclude": true}),
        json!({"subject": key(5), "max_leakage": 0.34}),
        json!({"subject": key(8), "max_reidentification": 0.34}),
        json!({"subject": key(9), "max_leakage": {"disease": 0.5}}),
    ];
    if engine == "lgb" {
        let flags = |at: usize| match at % 3 {
            0 => json!({"subject": key(at), "sensitive": ["age"]}),
            1 => json!({"subject": key(at), "sensitive": ["sex"]}),
            _ => json!({"subject": key(at), "sensitive": ["age", "sex"]}),
        };
        all.extend((10..PEOPLE).map(flags));
    }
    preferences(Value::Array(all))
}

/// Key of a subject.
pub fn key(at: usize) -> String {
    format!("P-{:05}", 10_000 + 7 * at)
}

/// Attributes with their roles, and how many values they have.
struct Shape {
    attributes: Vec<(&'static str, &'static str)>,
    is_coarse: bool,
}

impl Shape {
    fn wide(flagged: &'static str, salary: &'static str) -> Self {
        let quasi = "quasi_identifier";
        let attributes = vec![
            ("age", flagged),
            ("sex", flagged),
            ("city", quasi),
            ("job", quasi),
            ("weight", quasi),
            ("admitted", quasi),
            ("ward", "insensitive"),
            ("salary", salary),
            ("disease", "sensitive"),
        ];
        Self {
            attributes,
            is_coarse: false,
        }
    }

    /// Few quasi-identifiers of few values: many people look the same.
    fn exact(salary: &'static str) -> Self {
        let quasi = "quasi_identifier";
        let attributes = vec![
            ("age", quasi),
            ("city", quasi),
            ("ward", "insensitive"),
            ("salary", salary),
            ("disease", "sensitive"),
        ];
        Self {
            attributes,
            is_coarse: true,
        }
    }

    fn sliced() -> Self {
        let quasi = "quasi_identifier";
        let attributes = vec![
            ("age", quasi),
            ("sex", quasi),
            ("ward", "insensitive"),
            ("city", quasi),
            ("disease", "sensitive"),
        ];
        Self {
            attributes,
            is_coarse: false,
        }
    }

    fn schema(&self, multiplicity: &str) -> Value {
        let mut attributes = vec![
            json!({"name": "id", "role": "identifier"}),
            json!({"name": "mail", "role": "identifier"}),
        ];
        for (name, role) in &self.attributes {
            let mut attribute = json!({"name": name, "role": role, "type": match *name {
                "age" | "salary" => "integer",
                "weight" => "decimal",
                "admitted" => "date",
                _ => "categorical",
            }});
            if matches!(*name, "city" | "disease") {
                attribute["hierarchy"] = json!(name);
            }
            attributes.push(attribute);
        }
        json!({"name": "people", "subject_key": "id", "multiplicity": multiplicity,
               "attributes": attributes})
    }

    fn header(&self) -> String {
        let names = self.attributes.iter().map(|(name, _)| *name);
        let names: Vec<&str> = ["id", "mail"].into_iter().chain(names).collect();
        names.join(",") + "\n"
    }
}

fn leaves(lines: &'static str) -> Vec<&'static str> {
    let leaf = |line: &'static str| line.split(';').next().expect("a line has a leaf");
    lines.lines().map(leaf).collect()
}

/// A random text of an attribute.
fn value(name: &str, is_coarse: bool, random: &mut Random) -> String {
    let mut one_of = |from: &[&str]| from[random.random_range(0..from.len())].to_owned();
    match name {
        "sex" => one_of(&["female", "male"]),
        "job" => one_of(&["baker", "clerk", "driver", "nurse", "teacher"]),
        "ward" => one_of(&["A", "B", "C"]),
        "city" if is_coarse => one_of(&leaves(CITIES)[..4]),
        "city" => one_of(&leaves(CITIES)),
        "disease" => one_of(&leaves(DISEASES)),
        "age" if is_coarse => (20 + 10 * random.random_range(0..3)).to_string(),
        "age" => random.random_range(18..80).to_string(),
        "salary" => (100 * random.random_range(20..60)).to_string(),
        "weight" => format!("{}.5", random.random_range(45..110)),
        "admitted" => format!(
            "2026-0{}-{}",
            random.random_range(1..=9),
            random.random_range(10..=28)
        ),
        _ => panic!("{name} has values"),
    }
}

fn source(shape: &Shape, seed: u64) -> Table {
    let mut random = Random::seed_from_u64(seed);
    let mut records = shape.header();
    for at in 0..PEOPLE {
        let cells = shape.attributes.iter();
        let cells: Vec<String> = cells
            .map(|(name, _)| value(name, shape.is_coarse, &mut random))
            .collect();
        records += &format!("{},someone{at}@example.org,{}\n", key(at), cells.join(","));
    }
    let hierarchies = [("city", CITIES), ("disease", DISEASES)];
    table(shape.schema("one"), &hierarchies, &records)
}

/// People with one to three records each, whose quasi-identifiers stay.
fn visits(seed: u64) -> Table {
    let mut random = Random::seed_from_u64(seed);
    let quasi = "quasi_identifier";
    let attributes = vec![
        ("age", quasi),
        ("city", quasi),
        ("job", quasi),
        ("weight", quasi),
        ("admitted", quasi),
        ("disease", "sensitive"),
    ];
    let shape = Shape {
        attributes,
        is_coarse: false,
    };
    let mut lines: Vec<String> = Vec::new();
    for at in 0..PEOPLE {
        let steady = ["age", "city", "job", "weight", "admitted"];
        let steady = steady.map(|name| value(name, false, &mut random)).join(",");
        for _ in 0..random.random_range(1..=3) {
            let disease = value("disease", false, &mut random);
            lines.push(format!(
                "{},someone{at}@example.org,{steady},{disease}\n",
                key(at)
            ));
        }
    }
    let records = shape.header() + &lines.concat();
    let hierarchies = [("city", CITIES), ("disease", DISEASES)];
    table(shape.schema("many"), &hierarchies, &records)
}
