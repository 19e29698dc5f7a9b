//! `vizard inspect`: what a file is, and a specification to begin with.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::{JobProposal, Purpose, job_for};
use vizard_anonymizer::inspect::{
    AttributeProposal, InspectError, InspectLimits, Inspection, inspect, inspect_parquet, is_json,
    is_parquet,
};
use vizard_anonymizer::microdata::RecordFormat;

use super::exit::Exit;
use super::input::{format_of, has_extension, open};
use super::purposes::{PurposeOptions, named};
use crate::spill_file::SpillFile;

/// Options of `vizard inspect`.
#[derive(Args, Debug)]
pub struct Options {
    /// The file: CSV in any dialect, NDJSON or Parquet
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print the whole answer as JSON, hierarchies with all their values
    #[arg(long)]
    json: bool,
    /// Write a specification for a release of this purpose: `public`, `contract`
    /// or one of your own
    #[arg(long, value_name = "PURPOSE")]
    purpose: Option<String>,
    #[command(flatten)]
    purposes: PurposeOptions,
    /// Where the specification is written
    #[arg(long, value_name = "FILE", default_value = SPEC, requires = "purpose")]
    write_spec: PathBuf,
}

/// Where a specification is written if nothing is said.
pub const SPEC: &str = "spec.json";

/// Inspects, prints, writes.
pub fn run(options: &Options) -> Result<(), Exit> {
    let purposes = options.purposes.read()?;
    let purpose = options.purpose.as_deref();
    let purpose = purpose.map(|name| named(&purposes, name)).transpose()?;
    let inspection = of_file(&options.file)?;
    let jobs = purposes.jobs_for(&inspection);
    if options.json {
        let mut document = vizard_anonymizer::inspect::document(&inspection);
        document["jobs"] = json!(jobs);
        println!("{document:#}");
    } else {
        print!("{}", told(&inspection, &jobs));
    }
    if let Some(purpose) = purpose {
        let spec = specification(&inspection, purpose)?;
        write(&options.write_spec, &spec)?;
        println!(
            "\n{} is written: read it, change it, and run\n  vizard anonymize --records {} --spec {} --out release",
            options.write_spec.display(),
            options.file.display(),
            options.write_spec.display()
        );
    }
    Ok(())
}

/// Inspects a file.
pub fn of_file(path: &Path) -> Result<Inspection, Exit> {
    let source = path.display().to_string();
    let name = path.file_stem().map(|stem| stem.to_string_lossy());
    let name = name.unwrap_or_default();
    let limits = InspectLimits::default();
    let mut file = open(path)?;
    let cannot = |error| anyhow::Error::new(error).context(format!("{source} cannot be read"));
    let form = if is_parquet(&mut file).map_err(cannot)? {
        Form::Parquet
    } else if is_json(&mut file).map_err(cannot)? {
        Form::Ndjson
    } else {
        Form::Csv
    };
    if form != Form::of_name(path) {
        let what = format!("the file is {}: {}", form.words(), form.mend());
        return Err(Exit::NoTable(source, what));
    }
    let inspected = match form {
        Form::Parquet => inspect_parquet(file, &name, &mut SpillFile::new()?, &limits),
        Form::Csv | Form::Ndjson => {
            let file = std::io::BufReader::with_capacity(256 << 10, file);
            inspect(file, (&name, false), &limits)
        }
    };
    inspected.map_err(|error| match error {
        InspectError::NoTable(what) => Exit::NoTable(source, what),
        InspectError::Table(error) => Exit::Input(source, error),
    })
}

/// The form of a file: of its name, by which commands read it, and of its bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Csv,
    Ndjson,
    Parquet,
}

impl Form {
    fn of_name(path: &Path) -> Self {
        match format_of(path) {
            _ if has_extension(path, "parquet") => Self::Parquet,
            RecordFormat::Ndjson => Self::Ndjson,
            RecordFormat::Csv => Self::Csv,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Csv => "neither NDJSON nor Parquet",
            Self::Ndjson => "JSON",
            Self::Parquet => "Parquet",
        }
    }

    fn mend(self) -> &'static str {
        match self {
            Self::Csv => "give it a name that ends in .csv if it is CSV",
            Self::Ndjson => "give it a name that ends in .ndjson, by which it is read",
            Self::Parquet => "give it a name that ends in .parquet, by which it is read",
        }
    }
}

/// The specification of a release for a purpose, as `vizard anonymize` reads it.
pub fn specification(inspection: &Inspection, purpose: &Purpose) -> Result<Value, Exit> {
    let job = job_for(purpose, inspection);
    let Some(schema) = &inspection.schema else {
        return Err(Exit::Usage(
            "no specification can be written: no column names the person; add one with a number \
             of each person"
                .into(),
        ));
    };
    let Some(job) = job else {
        return Err(Exit::Usage(
            "no specification can be written: people have many records, and no column is \
             sensitive; write one by hand that says which is"
                .into(),
        ));
    };
    let mut spec = json!({
        "schema": schema,
        "job": {"engine": job.engine, "parameters": job.parameters},
    });
    if !inspection.hierarchies.is_empty() {
        spec["hierarchies"] = json!(inspection.hierarchies);
    }
    Ok(spec)
}

/// Writes a specification where no other one is.
pub fn write(path: &Path, spec: &Value) -> Result<(), Exit> {
    let text = format!("{spec:#}\n");
    match std::fs::read_to_string(path) {
        Ok(there) if there == text => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        _ => {
            return Err(Exit::Usage(format!(
                "{} is there and is another one: use it with --spec, or name another place with \
                 --write-spec",
                path.display()
            )));
        }
    }
    let written = std::fs::write(path, text);
    written.map_err(|error| {
        Exit::Internal(
            anyhow::Error::new(error).context(format!("{} cannot be written", path.display())),
        )
    })
}

/// An inspection for people.
pub fn told(inspection: &Inspection, jobs: &[JobProposal]) -> String {
    let mut text = String::new();
    // Writing to a text cannot fail.
    let _ = writeln!(
        text,
        "{} records, {} columns",
        inspection.records,
        inspection.attributes.len()
    );
    for evidence in &inspection.evidence {
        let _ = writeln!(text, "  {evidence}");
    }
    if let Some(schema) = &inspection.schema {
        let format = json!(schema.format());
        let _ = writeln!(text, "  format {format}");
    }
    let widest = |of: fn(&AttributeProposal) -> usize| {
        inspection
            .attributes
            .iter()
            .map(of)
            .max()
            .unwrap_or(0)
            .min(40)
    };
    let name_width = widest(|one| one.name.chars().count());
    text.push_str("\ncolumns\n");
    for one in &inspection.attributes {
        text.push_str(&line_of(one, name_width));
    }
    if !inspection.sets.is_empty() {
        text.push_str("\nwho stands alone\n");
        for set in &inspection.sets {
            let _ = writeln!(
                text,
                "  {:>5.1} % of the records by {}",
                100.0 * set.unique,
                set.attributes.join(", ")
            );
        }
        if inspection.records_of_sets < inspection.records {
            let _ = writeln!(
                text,
                "  measured on {} records: among all of them, fewer stand alone",
                inspection.records_of_sets
            );
        }
    }
    if !inspection.questions.is_empty() {
        text.push_str("\nto decide\n");
        for question in &inspection.questions {
            let _ = writeln!(text, "  {question}");
        }
    }
    for job in jobs {
        let _ = writeln!(text, "\n{}: {} {}", job.purpose, job.engine, job.parameters);
        for reason in &job.reasons {
            let _ = writeln!(text, "  {reason}");
        }
    }
    text
}

/// A column: what it is, and why.
fn line_of(one: &AttributeProposal, name_width: usize) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let role = word(&json!(one.role));
    let kind = one.kind.map(|kind| word(&json!(kind))).unwrap_or_default();
    let about = if one.is_estimate { "about " } else { "" };
    let mut facts = vec![format!("{about}{} values", one.distinct)];
    if one.missing > 0 {
        facts.push(format!("{} missing", one.missing));
    }
    if let Some(risk) = one.risk {
        facts.push(format!(
            "tells {:.1} % of pairs apart",
            100.0 * risk.separation
        ));
    }
    let mut line = format!(
        "  {:name_width$}  {role:<16}  {kind:<11}  {}\n",
        one.name,
        facts.join(", ")
    );
    for reason in &one.reasons {
        let _ = writeln!(line, "  {:name_width$}    {reason}", "");
    }
    if let Some(first) = one
        .hierarchies
        .first()
        .filter(|first| first.example.len() > 2)
    {
        let _ = writeln!(
            line,
            "  {:name_width$}    hierarchy: {} ({})",
            "",
            first.words,
            first.example.join(" → ")
        );
    }
    line
}
