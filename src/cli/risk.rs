//! `vizard risk`: who stands out in records, before any job.

use std::fmt::Write as _;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use vizard_anonymizer::inspect::risk::{Population, Risk, RiskColumns, SetRisk, risk};
use vizard_anonymizer::privacy::Transformation;

use super::exit::Exit;
use super::input::InputOptions;
use super::options::cores;
use super::parts::warn_of_unknown;

/// Sets that are printed.
const SETS_TOLD: usize = 12;

/// Options of `vizard risk`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    input: InputOptions,
    /// Print all of it as JSON
    #[arg(long)]
    json: bool,
}

/// Reads, measures, prints.
pub fn run(options: &Options) -> Result<(), Exit> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(cores())
        .build()?;
    let found = pool.install(|| measured(options))?;
    if options.json {
        println!("{:#}", json!(found));
    } else {
        print!("{}", told(&found));
    }
    Ok(())
}

fn measured(options: &Options) -> Result<Risk, Exit> {
    let (spec, hierarchies) = options.input.read_spec()?;
    let transformation = Transformation::unmoved(&spec.schema);
    let mut columns = RiskColumns::new(Arc::clone(transformation.schema()));
    let mut add = |chunk| {
        columns.add(&transformation.made(chunk));
        Ok(())
    };
    let (_, parts) = options
        .input
        .read_chunks(&spec.schema, &hierarchies, &mut add)?;
    if let Some(parts) = &parts {
        warn_of_unknown(parts);
    }
    let table = options.input.read_population_table(&spec.schema)?;
    let population = table.and_then(|table| Population::of(&table, &columns));
    Ok(risk(&columns, population.as_ref()))
}

/// The risk for people.
fn told(risk: &Risk) -> String {
    let mut text = String::new();
    // Writing to a text cannot fail.
    let _ = writeln!(
        text,
        "{} records of {} subjects\n",
        risk.records, risk.subjects
    );
    let width = risk.attributes.iter().map(|one| one.name.chars().count());
    let width = width.max().unwrap_or(0).min(40);
    let _ = writeln!(
        text,
        "{:width$}  {:>9}  {:>8}  minimal unique sets of 1, 2, 3 attributes with it",
        "attribute", "values", "missing"
    );
    for one in &risk.attributes {
        let [single, pair, triple] = one.minimal_unique_sets;
        let _ = writeln!(
            text,
            "{:width$}  {:>9}  {:>8}  {single}, {pair}, {triple}",
            one.name, one.distinct, one.missing
        );
    }
    text.push_str("\nalone  in < 5  in < 12  k  found by guessing  who knows\n");
    let narrowed = if risk.is_narrowed {
        " of those that tell most"
    } else {
        ""
    };
    let _ = writeln!(text, "of up to three attributes{narrowed}:");
    for set in risk.sets.iter().take(SETS_TOLD) {
        text.push_str(&line_of(set));
    }
    text.push_str("one attribute more each time:\n");
    for set in &risk.growing {
        text.push_str(&line_of(set));
    }
    for one in &risk.sensitive {
        let _ = writeln!(
            text,
            "\nsensitive {}: {} values, the most frequent in {:.1} % of the records, {} bits, {} missing",
            one.name,
            one.distinct,
            100.0 * one.most_frequent,
            one.entropy_bits,
            one.missing
        );
    }
    if let Some(population) = &risk.population
        && let (Some(mean), Some([least, most])) = (population.journalist_mean, population.presence)
    {
        let _ = writeln!(
            text,
            "\nagainst a population table of {} people by {}:\n  k-map {}, journalist's risk at most {:.4}, on average {:.4}\n  \
             between {:.1} and {:.1} % of a class of the table is in the records\n  \
             {} records have fewer people like them in the table than in the records",
            population.people,
            population.attributes.join(", "),
            population.k_map,
            population.journalist,
            mean,
            100.0 * least,
            100.0 * most,
            population.not_covered
        );
    }
    text
}

fn line_of(set: &SetRisk) -> String {
    let [below_5, below_12] = set.below;
    format!(
        "{:4.1} %  {:4.1} %  {:5.1} %  {}  {:.1} %  {}\n",
        100.0 * set.unique,
        100.0 * below_5,
        100.0 * below_12,
        set.k_min,
        100.0 * set.marketer,
        set.attributes.join(", ")
    )
}
