//! `vizard hierarchy`: what a hierarchy is, and what records have that it
//! lacks.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::coverage::SUBJECTS_MIN;
use vizard_anonymizer::microdata::{
    AttributeCoverage, Coverage, HierarchyReview, HierarchySet, HierarchySource, Labels, Schema,
};
use vizard_anonymizer::privacy::Transformation;

use super::exit::Exit;
use super::input::{InputOptions, read_hierarchy};
use super::inspect;

/// Options of `vizard hierarchy`.
#[derive(Args, Debug)]
pub struct Options {
    /// The hierarchy, as CSV, or as JSON where the name ends in `.json`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Records to hold it against, as CSV, NDJSON or Parquet
    #[arg(long, value_name = "FILE", requires = "attribute")]
    records: Option<PathBuf>,
    /// The attribute of the records that it is for
    #[arg(long, value_name = "NAME", requires = "records")]
    attribute: Option<String>,
    /// Specification with the schema of the records [default: as
    /// `vizard inspect` proposes it]
    #[arg(long, value_name = "FILE", requires = "records")]
    spec: Option<PathBuf>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// Reads, reviews, prints.
pub fn run(options: &Options) -> Result<(), Exit> {
    let source = read_hierarchy(&options.file)?;
    let review = source.review();
    let covered = match (&options.records, &options.attribute) {
        (Some(records), Some(name)) => Some(covered(options, records.clone(), name, &source)?),
        _ => None,
    };
    if options.json {
        let mut document = json!(review);
        if let Some(covered) = &covered {
            document["attributes"] = json!([covered]);
        }
        println!("{document:#}");
    } else {
        print!("{}", told(&review));
        if let Some(covered) = &covered {
            print!("\n{}", told_of(covered, review.is_intervals));
        }
    }
    Ok(())
}

/// What the records have of the hierarchy. They are read without any: what one
/// lacks would be refused.
fn covered(
    options: &Options,
    records: PathBuf,
    name: &str,
    source: &HierarchySource,
) -> Result<AttributeCoverage, Exit> {
    let input = InputOptions::of(records, options.spec.clone());
    let schema = match &options.spec {
        Some(_) => input.read_spec()?.0.schema,
        None => proposed(&input)?,
    };
    let schema = without_hierarchies(&schema)?;
    let transformation = Transformation::unmoved(&schema);
    let seen = transformation.schema();
    let coverage = seen
        .find(name)
        .and_then(|index| Coverage::new(Arc::clone(seen), index, source));
    let Some(mut coverage) = coverage else {
        return Err(Exit::Usage(format!(
            "--attribute {name}: the schema has no attribute of this name that has a type; --spec \
             FILE says which there are"
        )));
    };
    let mut add = |chunk| {
        coverage.add(&transformation.made(chunk));
        Ok(())
    };
    input.read_chunks(&schema, &HierarchySet::new(), &mut add)?;
    Ok(coverage.finish())
}

/// The schema that an inspection proposes.
fn proposed(input: &InputOptions) -> Result<Schema, Exit> {
    let Some(records) = input.records_path() else {
        let text = "--spec FILE is needed for records that are joined from several files";
        return Err(Exit::Usage(text.into()));
    };
    let inspection = inspect::of_file(records)?;
    inspection.schema.ok_or_else(|| {
        Exit::Usage(
            "--spec FILE is needed: no column of the records names the person, so no schema can \
             be proposed"
                .into(),
        )
    })
}

fn without_hierarchies(schema: &Schema) -> Result<Schema, Exit> {
    let mut document = serde_json::to_value(schema).map_err(anyhow::Error::new)?;
    for attribute in document["attributes"].as_array_mut().into_iter().flatten() {
        if let Value::Object(members) = attribute {
            members.remove("hierarchy");
        }
    }
    Ok(serde_json::from_value(document).map_err(anyhow::Error::new)?)
}

/// A review for people.
fn told(review: &HierarchyReview) -> String {
    let mut text = String::new();
    let [nearest, farthest] = review.depth;
    // Writing to a text cannot fail.
    let _ = if review.is_intervals {
        writeln!(
            text,
            "intervals in {} levels, root and values included",
            farthest + 1
        )
    } else {
        writeln!(
            text,
            "{} nodes in {} levels, root and leaves included; {} leaves",
            review.nodes,
            farthest + 1,
            review.leaves
        )
    };
    text.push_str("\nlevel  inner nodes  leaves  most below one  width\n");
    for (depth, level) in review.levels.iter().enumerate() {
        let width = level.width.map_or(String::new(), |width| width.to_string());
        let line = format!(
            "{depth:>5}  {:>11}  {:>6}  {:>14}  {width}",
            level.inner, level.leaves, level.fan_out_max
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push('\n');
    if nearest < farthest {
        let _ = writeln!(
            text,
            "unbalanced: leaves stand on levels {nearest} to {farthest}, most on level {}; {} on another: {}",
            review.usual_depth,
            review.unbalanced.count,
            listed(&review.unbalanced)
        );
    } else {
        text.push_str("balanced: all leaves stand on one level\n");
    }
    if review.single_child.count > 0 {
        let _ = writeln!(
            text,
            "of no use: {} nodes have one node below, and say the same as that one: {}",
            review.single_child.count,
            listed(&review.single_child)
        );
    }
    if let Some(largest) = &review.largest {
        let _ = writeln!(
            text,
            "largest below the root: {}, {} leaves, {:.1} % of all",
            largest.label,
            largest.leaves,
            100.0 * largest.share
        );
    }
    text
}

fn listed(labels: &Labels) -> String {
    let mut text = labels.labels.join(", ");
    let more = labels.count - labels.labels.len() as u64;
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    text
}

/// What records have, for people.
fn told_of(covered: &AttributeCoverage, is_intervals: bool) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {} records, {} without a value",
        covered.attribute, covered.records, covered.missing
    );
    if let Some(obstacle) = covered.obstacle {
        let _ = writeln!(text, "  it does not fit: {obstacle}");
    }
    if !is_intervals {
        let _ = writeln!(
            text,
            "  no record has {} of the leaves",
            covered.unused_leaves
        );
    }
    let lacking = &covered.lacking;
    if lacking.records == 0 {
        text.push_str("  every value has a leaf\n");
        return text;
    }
    let least = if lacking.is_least { "at least " } else { "" };
    let _ = writeln!(
        text,
        "  {least}{} values in {} records are no leaves: an upload of them is refused",
        lacking.distinct, lacking.records
    );
    for one in &lacking.values {
        let _ = writeln!(text, "    {} in {} records", one.value, one.records);
    }
    let others = lacking.distinct - lacking.values.len() as u64;
    if others > 0 {
        let _ = writeln!(
            text,
            "    and {others} more: what fewer than {SUBJECTS_MIN} people share is not told"
        );
    }
    text
}
