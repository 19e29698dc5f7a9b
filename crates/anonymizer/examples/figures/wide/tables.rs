//! Tables of 100,000 records and up to 60 attributes, made up and the same in
//! every run; each is hard for a report in a way of its own.

use std::fmt::Write;
use std::io::Cursor;
use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::{
    HierarchySet, ReadLimits, RecordFormat, Schema, SubjectKeys, Table, TableBuilder, Target,
    read_records,
};

use crate::Failure;

/// Decides the records.
const SEED: u64 = 11;

/// Attributes that are drawn alike.
#[derive(Clone, Copy)]
pub struct Alike {
    pub count: usize,
    pub role: &'static str,
    pub values: Drawn,
}

/// What values are drawn from.
#[derive(Clone, Copy)]
pub enum Drawn {
    /// Whole numbers below this.
    Whole(u32),
    /// As many decimals.
    Decimal(u32),
    /// As many texts, of as many bytes at least.
    Text(u32, usize),
}

/// A table, and the jobs on it.
pub struct Made {
    pub name: &'static str,
    pub attributes: Vec<Alike>,
    pub jobs: Vec<(&'static str, Value)>,
}

const QUASI: &str = "quasi_identifier";
const SENSITIVE: &str = "sensitive";
const INSENSITIVE: &str = "insensitive";

fn alike(count: usize, role: &'static str, values: Drawn) -> Alike {
    Alike {
        count,
        role,
        values,
    }
}

/// Every table.
pub fn all() -> Vec<Made> {
    use Drawn::{Decimal, Text, Whole};
    let mondrian = || ("mondrian", json!({"k": 5}));
    let anatomy = || ("anatomy", json!({"l": 3}));
    let lgb = || ("lgb", json!({"k": 5, "l": 3}));
    let slicing = |clusters: u32| {
        let parameters = json!({"variant": "slicing", "l": 2, "clusters": clusters});
        ("slicing", parameters)
    };
    let code = alike(1, SENSITIVE, Text(40, 0));
    let few = |attributes: Alike| vec![alike(4, QUASI, Whole(60)), code, attributes];
    let made = |name, attributes, jobs| Made {
        name,
        attributes,
        jobs,
    };
    vec![
        made(
            "1 text of 3,080 values",
            few(alike(1, INSENSITIVE, Text(3_080, 0))),
            vec![mondrian(), anatomy()],
        ),
        made(
            "54 texts of 3,080 values",
            few(alike(54, INSENSITIVE, Text(3_080, 0))),
            vec![mondrian(), anatomy(), lgb()],
        ),
        made(
            "54 texts of 100,000 values",
            few(alike(54, INSENSITIVE, Text(100_000, 0))),
            vec![mondrian()],
        ),
        made(
            "2 texts of 1 KB",
            few(alike(2, INSENSITIVE, Text(100_000, 1_000))),
            vec![mondrian()],
        ),
        made(
            "4 sets of 3,080 values",
            vec![alike(4, QUASI, Text(3_080, 0)), code],
            vec![mondrian(), lgb(), slicing(2)],
        ),
        made(
            "58 sets of 300 values",
            vec![alike(58, QUASI, Text(300, 0)), code],
            vec![mondrian(), anatomy(), slicing(12)],
        ),
        made(
            "58 numbers of 100,000 values",
            vec![alike(58, QUASI, Decimal(100_000)), code],
            vec![mondrian(), anatomy()],
        ),
        made(
            "54 sensitive texts",
            vec![
                alike(5, QUASI, Whole(60)),
                alike(54, SENSITIVE, Text(40, 0)),
            ],
            vec![anatomy(), lgb()],
        ),
        made(
            "54 sensitive numbers",
            vec![
                alike(5, QUASI, Whole(60)),
                alike(54, SENSITIVE, Decimal(100_000)),
            ],
            vec![anatomy(), lgb()],
        ),
    ]
}

impl Drawn {
    /// Writes a value; low ones are drawn more often, so that frequencies differ.
    fn write(self, text: &mut String, random: &mut ChaCha12Rng) {
        let mut below = |values: u32| {
            let one = random.random_range(0..values);
            one.min(random.random_range(0..values))
        };
        let written = match self {
            Self::Whole(values) => write!(text, ",{}", below(values)),
            Self::Decimal(values) => write!(text, ",{}.25", below(values)),
            Self::Text(values, bytes) => write!(text, ",{:x<bytes$}", below(values)),
        };
        written.expect("a String takes any text");
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Whole(_) => "integer",
            Self::Decimal(_) => "decimal",
            Self::Text(..) => "categorical",
        }
    }
}

/// Draws the records of a table.
pub fn draw(made: &Made, records: usize) -> Result<Table, Failure> {
    let attributes = made.attributes.iter();
    let attributes: Vec<Alike> = attributes
        .flat_map(|alike| std::iter::repeat_n(*alike, alike.count))
        .collect();
    let described = attributes.iter().enumerate().map(
        |(at, alike)| json!({"name": format!("a{at}"), "role": alike.role, "type": alike.values.kind()}),
    );
    let mut described: Vec<Value> = described.collect();
    described.insert(0, json!({"name": "id", "role": "identifier"}));
    let schema: Schema = serde_json::from_value(json!({
        "name": "wide", "subject_key": "id", "attributes": described,
    }))?;
    let mut text = String::from("id");
    (0..attributes.len()).try_for_each(|at| write!(text, ",a{at}"))?;
    let mut random = ChaCha12Rng::seed_from_u64(SEED);
    for record in 0..records {
        write!(text, "\np{record}")?;
        for alike in &attributes {
            alike.values.write(&mut text, &mut random);
        }
    }
    text.push('\n');
    read(schema, text)
}

fn read(schema: Schema, text: String) -> Result<Table, Failure> {
    let hierarchies = HierarchySet::new();
    let mut builder = TableBuilder::new(Arc::new(schema.clone()), &hierarchies)?;
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut spill = Vec::new();
    read_records(
        Cursor::new(text.into_bytes()),
        RecordFormat::Csv,
        &target,
        &mut SubjectKeys::new([7; 16], &mut spill),
        &mut |chunk| builder.push(chunk),
    )?;
    Ok(builder.finish()?)
}
