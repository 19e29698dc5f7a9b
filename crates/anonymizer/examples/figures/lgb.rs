//! Prints what `lgb` does to a folder of benchmark data, verified.
//!
//! ```text
//! cargo run --release --example figures -- lgb FOLDER            both generalizations, the folder's preferences
//! cargo run --release --example figures -- lgb FOLDER --grid     k × l as in the paper's Table I
//! cargo run --release --example figures -- lgb FOLDER --density  10 % to 40 % of the values flagged
//! ```
//! Options: `--limit N` records, `--threads N` (2), `--repeat N` (1),
//! `--engine-only` (neither verified nor measured). The grids take the first
//! 31,055 records, flag 20 % of the semi-sensitive values at random and bound
//! sex by t = 0.2.

use std::path::PathBuf;

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::Produced;
use vizard_anonymizer::microdata::Preference;

use crate::Failure;
use crate::arguments::{is_given, number, word};
use crate::load::{Data, load};
use crate::timed::{Timed, timed};

/// Any error; it crosses threads.
/// Records of the paper's Table I.
const GRID_RECORDS: usize = 31_055;

/// Prints them.
pub fn run() -> Result<(), Failure> {
    let folder = PathBuf::from(word(0).ok_or("a folder is needed")?);
    let is_grid = is_given("--grid") || is_given("--density");
    let all = if is_grid {
        GRID_RECORDS
    } else {
        usize::MAX - 1
    };
    let data = load(&folder, "lgb-mdp.json", number("--limit", all))?;
    println!("{} records", data.table.records());
    println!("{HEADER}");
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(number("--threads", 2))
        .build()?;
    pool.install(|| match (is_given("--grid"), is_given("--density")) {
        (true, _) => grid(&data),
        (_, true) => density(&data),
        _ => plain(&data),
    })
}

const HEADER: &str = "generalization  k  l  flagged  engine s  holds     k     l      t  groups  largest \
                      C_DM        NCP     range salary  excluded";

fn plain(data: &Data) -> Result<(), Failure> {
    for generalization in ["mdp", "ncp"] {
        for _ in 0..number("--repeat", 1) {
            line(data, (&data.preferences, "own"), (generalization, 5, 5))?;
        }
    }
    Ok(())
}

fn grid(data: &Data) -> Result<(), Failure> {
    let flags = flags(data, 0.2);
    for generalization in ["mdp", "ncp"] {
        for k in [5, 8, 10] {
            for l in [5, 8, 10, 12, 15, 18, 20] {
                line(data, (&flags, "20 %"), (generalization, k, l))?;
            }
        }
    }
    Ok(())
}

fn density(data: &Data) -> Result<(), Failure> {
    for generalization in ["mdp", "ncp"] {
        for percent in [10, 20, 30, 40] {
            let flags = flags(data, f64::from(percent) / 100.0);
            line(
                data,
                (&flags, &format!("{percent} %")),
                (generalization, 5, 5),
            )?;
        }
    }
    Ok(())
}

/// Flags each semi-sensitive value with a probability.
fn flags(data: &Data, probability: f64) -> Vec<Preference> {
    let schema = data.table.schema();
    let semi_sensitive = schema
        .select(|attribute| attribute.role == vizard_anonymizer::microdata::Role::SemiSensitive);
    let mut random = ChaCha12Rng::seed_from_u64(20);
    let keys = data.table.subject_keys().iter();
    let preferences = keys.map(|key| {
        let flagged = semi_sensitive
            .iter()
            .filter(|_| random.random_bool(probability));
        let names: Vec<&str> = flagged
            .map(|&attribute| schema.attribute(attribute).name.as_str())
            .collect();
        serde_json::from_value(json!({"subject": key, "sensitive": names}))
    });
    preferences.filter_map(Result::ok).collect()
}

fn line(
    data: &Data,
    (preferences, flagged): (&[Preference], &str),
    (generalization, k, l): (&str, u32, u32),
) -> Result<(), Failure> {
    let parameters = json!({
        "k": k, "l": l, "generalization": generalization,
        "attributes": {"sex": {"t_closeness": 0.2}},
    });
    let Timed {
        produced, engine, ..
    } = timed(
        (&data.table, preferences),
        ("lgb", &parameters),
        !is_given("--engine-only"),
        1,
    )?;
    let figures = Figures::of(&produced);
    println!(
        "{generalization:>14} {k:>2} {l:>2} {flagged:>8} {:>9.3} {:>6} {:>5} {:>5} {:>6.3} {:>7} {:>8} {:>11} {:.4} {:>12.4} {:>9}",
        engine.as_secs_f64(),
        figures.holds,
        figures.k,
        figures.l,
        figures.t,
        figures.groups,
        figures.largest,
        figures.c_dm,
        figures.ncp,
        figures.range,
        produced.manifest.excluded,
    );
    pairing(&produced);
    Ok(())
}

/// By attribute, how often the two values that share buckets most do, and what
/// is left of differences between group means.
fn pairing(produced: &Produced) {
    let measures = produced.report.clone().unwrap_or(Value::Null);
    let of = |pointer: &str| {
        measures
            .pointer(pointer)
            .and_then(Value::as_object)
            .cloned()
    };
    let attributes = of("/measures/bucket_range/value/attributes").unwrap_or_default();
    for (name, attribute) in attributes {
        let pairing = &attribute["pairing"];
        if let (Some(share), Some(chance)) = (pairing["share"].as_f64(), pairing["chance"].as_f64())
        {
            println!(
                "               {name}: one value in {share:.2} of another's buckets, by chance {chance:.2}"
            );
        }
    }
    let attributes = of("/measures/group_means/value/attributes").unwrap_or_default();
    for (name, pairs) in attributes {
        let mean = |field: &str| {
            let pairs = pairs.as_array().into_iter().flatten();
            let values: Vec<f64> = pairs.filter_map(|pair| pair[field].as_f64()).collect();
            values.iter().sum::<f64>() / values.len().max(1) as f64
        };
        let (error, kept) = (mean("error"), mean("kept"));
        println!(
            "               {name}: group means off by {error:.4} deviations, slope {kept:.4}"
        );
    }
}

/// What the verifier and the report say.
struct Figures {
    holds: bool,
    k: f64,
    l: f64,
    t: f64,
    groups: u64,
    largest: u64,
    c_dm: u64,
    ncp: f64,
    range: f64,
}

impl Figures {
    fn of(produced: &Produced) -> Self {
        let attained = |kind: &'static str| {
            let checks = produced.verdict.iter().flat_map(|verdict| &verdict.checks);
            let attained = checks.filter(move |check| check.kind == kind);
            attained.filter_map(|check| check.attained)
        };
        let measures = produced.report.clone().unwrap_or(Value::Null);
        let whole = |pointer: &str| {
            measures
                .pointer(pointer)
                .and_then(Value::as_u64)
                .unwrap_or(0)
        };
        let share = |pointer: &str| {
            measures
                .pointer(pointer)
                .and_then(Value::as_f64)
                .unwrap_or(0.0)
        };
        Self {
            holds: produced
                .verdict
                .as_ref()
                .is_some_and(|verdict| verdict.holds()),
            k: attained("k_anonymity").fold(f64::MAX, f64::min),
            l: attained("l_diversity").fold(f64::MAX, f64::min),
            t: attained("t_closeness").fold(0.0, f64::max),
            groups: whole("/measures/group_sizes/value/groups"),
            largest: whole("/measures/group_sizes/value/max"),
            c_dm: whole("/measures/c_dm/value/c_dm"),
            ncp: share("/measures/ncp/value/mean"),
            range: share("/measures/bucket_range/value/attributes/salary/mean_range"),
        }
    }
}
