//! `vizard compare`: two releases on files, side by side.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::exit::Exit;
use super::input::read;
use super::release_folder::{MANIFEST, REPORT, VERIFICATION};
use crate::job::{ComparedFigure, compared};

/// Options of `vizard compare`.
#[derive(Args, Debug)]
pub struct Options {
    /// The folder of a release
    #[arg(value_name = "DIR")]
    first: PathBuf,
    /// The folder of another release of the same records
    #[arg(value_name = "DIR")]
    second: PathBuf,
    /// Print figures that are the same in both, too
    #[arg(long)]
    all: bool,
    /// Print all figures as JSON
    #[arg(long)]
    json: bool,
}

/// Reads, compares, prints.
pub fn run(options: &Options) -> Result<(), Exit> {
    let [first, second] = [&options.first, &options.second].map(|folder| documents(folder));
    let (first, second) = (first?, second?);
    if first.2["input"] != second.2["input"] {
        let text = "the releases are of different records: their manifests name other datasets or \
                    versions";
        return Err(Exit::Usage(text.into()));
    }
    let figures = compared((&first.0, &first.1), (&second.0, &second.1));
    if options.json {
        println!("{:#}", json!(figures));
    } else {
        print!("{}", told(&figures, options.all));
    }
    Ok(())
}

/// Report, verification and manifest of a release.
fn documents(folder: &Path) -> Result<(Value, Value, Value), Exit> {
    let document = |name: &str| -> Result<Value, Exit> {
        let path = folder.join(name);
        let text = read(&path)?;
        serde_json::from_slice(&text).map_err(|error| {
            let what = format!("is no document of a release: {error}");
            Exit::NoTable(path.display().to_string(), what)
        })
    };
    Ok((
        document(REPORT)?,
        document(VERIFICATION)?,
        document(MANIFEST)?,
    ))
}

fn told(figures: &[ComparedFigure], all: bool) -> String {
    let shown: Vec<&ComparedFigure> = figures
        .iter()
        .filter(|one| all || one.difference != Some(0.0))
        .collect();
    let width = shown.iter().map(|one| one.figure.chars().count());
    let width = width.max().unwrap_or(0).max(6);
    let mut text = format!(
        "{:width$}  {:>12}  {:>12}  {:>12}\n",
        "figure", "first", "second", "difference"
    );
    let figure = |figure: Option<f64>| figure.map_or("-".into(), |figure| format!("{figure:.6}"));
    for one in &shown {
        let [first, second, difference] = [one.first, one.second, one.difference].map(figure);
        text.push_str(&format!(
            "{:width$}  {first:>12}  {second:>12}  {difference:>12}\n",
            one.figure
        ));
    }
    let same = figures.len() - shown.len();
    if same > 0 {
        text.push_str(&format!("{same} figures are the same in both\n"));
    }
    text
}
