//! `vizard explore`: many settings on files, and which of them are worth having.
//!
//! Each setting is run, verified and measured as `vizard anonymize` does it; no
//! table is written. What is known so far stands in the folder after each setting,
//! so that a run that was stopped goes on where it was.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use vizard_anonymizer::catalog::exploration::{
    Axes, EngineChoice, Grid, LossAxis, Measures, RiskAxis, Setting, best, front,
};
use vizard_anonymizer::catalog::{Engine, ProduceError, Unobserved, in_memory, produce};
use vizard_anonymizer::engine::{CancelFlag, EngineError, RunContext, Silent};
use vizard_anonymizer::microdata::{Sha256, to_hex};
use vizard_anonymizer::privacy::Seed;

use super::exit::Exit;
use super::input::{Input, InputOptions, read};
use super::options::cores;
use super::parts::refuse_unknown;
use crate::job::{JobFailure, SettingOutcome, draw_seed, figures, not_measured};
use crate::spill_file::UnnamedFiles;
use crate::web::exploration_page;

/// What is known so far, a line each.
const RESULTS: &str = "results.ndjson";
/// The exploration as a document.
const DOCUMENT: &str = "exploration.json";
/// The exploration as a page.
const PAGE: &str = "index.html";

/// Options of `vizard explore`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    input: InputOptions,
    /// An engine to try, any number of times; the specification's own has its
    /// parameters [default: the specification's]
    #[arg(long = "engine", value_name = "NAME", value_parser = PossibleValuesParser::new(Engine::NAMES))]
    engines: Vec<String>,
    /// Values of k
    #[arg(long, value_name = "K,K", value_delimiter = ',')]
    k: Vec<u32>,
    /// Values of l
    #[arg(long, value_name = "L,L", value_delimiter = ',')]
    l: Vec<u32>,
    /// Values of t
    #[arg(long, value_name = "T,T", value_delimiter = ',')]
    t: Vec<f64>,
    /// Values of effort
    #[arg(long, value_name = "E,E", value_delimiter = ',')]
    effort: Vec<String>,
    /// The grid as JSON, as `POST /v1/explorations` has it, in the place of the
    /// options above: `{"engines": [{"engine": …, "parameters": …}], "k": […], …}`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["engines", "k", "l", "t", "effort"])]
    grid: Option<PathBuf>,
    /// What settings are compared by as loss
    #[arg(long, value_name = "LOSS", default_value = "query_error", value_parser = loss())]
    loss: LossAxis,
    /// What settings are compared by as risk
    #[arg(long, value_name = "RISK", default_value = "reidentification_max", value_parser = risk())]
    risk: RiskAxis,
    /// Of so many settings, the best, a specification is written
    #[arg(long, value_name = "N", default_value_t = 3)]
    keep: usize,
    /// Begin no setting after so many seconds
    #[arg(long, value_name = "SECONDS")]
    seconds_max: Option<u64>,
    /// Folder for what is found; what it holds of the same exploration is gone on
    /// with
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Threads [default: all cores]
    #[arg(long, env = "VIZARD_THREADS", value_name = "N")]
    threads: Option<usize>,
    /// Go on where more than 5 % of the records are left out for missing values
    #[arg(long)]
    allow_loss: bool,
    /// Print the exploration as JSON
    #[arg(long)]
    json: bool,
}

fn loss() -> impl TypedValueParser<Value = LossAxis> {
    one_of(LossAxis::ALL, LossAxis::as_str)
}

fn risk() -> impl TypedValueParser<Value = RiskAxis> {
    one_of(RiskAxis::ALL, RiskAxis::as_str)
}

/// Takes the word of one of these.
fn one_of<T, const N: usize>(
    all: [T; N],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Default + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(word)).map(move |given| {
        let found = all.into_iter().find(|one| word(*one) == given);
        found.unwrap_or_default()
    })
}

/// A line of the results: what is explored, then what was found.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    /// SHA-256 of records, specification and preferences.
    Of { explored: String },
    /// A setting that has ended.
    Found {
        engine: String,
        parameters: Value,
        problem: Option<String>,
        measures: Option<Box<Measures>>,
    },
}

/// Reads, runs, compares, writes.
pub fn run(options: &Options) -> Result<(), Exit> {
    let threads = options.threads.unwrap_or_else(cores);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    pool.install(|| in_pool(options))
}

fn in_pool(options: &Options) -> Result<(), Exit> {
    // No table is written: by how many days dates move is no secret, and has to be
    // the same when a run goes on.
    let input = options
        .input
        .read(options.input.read_spec()?, &Seed::of_number(0))?;
    if input.summary.loses_many() && !options.allow_loss {
        let source = options.input.records_name();
        return Err(Exit::Loss(source, input.summary));
    }
    if let Some(parts) = &input.parts {
        refuse_unknown(&options.input, parts, options.allow_loss)?;
    }
    let grid = options.grid(&input)?;
    let tried = grid.settings(input.table.schema());
    let tried = tried.map_err(|error| Exit::Usage(error.to_string()))?;
    if tried.settings.is_empty() {
        let why = tried.refused.first().map(|one| one.reason.as_str());
        let why = why.unwrap_or("no setting is asked for");
        return Err(Exit::Usage(format!("no setting can be run: {why}")));
    }
    if let Some(why) = not_measured(options.loss, &input.spec.job.report) {
        return Err(Exit::Usage(format!("--loss: {why}")));
    }
    let this = digest(&input, &options.input.hierarchy_files()?);
    let results = Results::open(&options.out, this)?;
    let outcomes = explored(options, &input, &tried.settings, &results)?;
    let axes = options.axes();
    let figures = figures(&outcomes);
    let on_front = front(&figures, axes);
    let best = best(&figures, axes, options.keep);
    let document = json!({
        "loss": options.loss.as_str(),
        "risk": options.risk.as_str(),
        "settings": &outcomes,
        "refused": &tried.refused,
        "front": &on_front,
        "best": &best,
    });
    write(&options.out, &input, (&document, &tried.settings, &best))?;
    if options.json {
        println!("{document:#}");
    } else {
        print!("{}", told(&outcomes, (&on_front, &best), axes));
        println!("\n{} is written", options.out.join(PAGE).display());
    }
    Ok(())
}

impl Options {
    fn axes(&self) -> Axes {
        Axes {
            loss: self.loss,
            risk: self.risk,
        }
    }

    /// What is tried.
    fn grid(&self, input: &Input) -> Result<Grid, Exit> {
        if let Some(path) = &self.grid {
            let text = read(path)?;
            return serde_json::from_slice(&text)
                .map_err(|error| Exit::Usage(format!("{}: {error}", path.display())));
        }
        let job = &input.spec.job;
        let named = match self.engines.as_slice() {
            [] => std::slice::from_ref(&job.engine),
            named => named,
        };
        let choice = |engine: &String| EngineChoice {
            parameters: if *engine == job.engine {
                job.parameters.clone()
            } else {
                json!({})
            },
            engine: engine.clone(),
        };
        Ok(Grid {
            engines: named.iter().map(choice).collect(),
            k: self.k.clone(),
            l: self.l.clone(),
            t: self.t.clone(),
            effort: self.effort.clone(),
        })
    }
}

/// What was found before, and the file that takes what is found now.
struct Results {
    found: Vec<Line>,
    file: Mutex<File>,
}

impl Results {
    /// Of this input; refuses a folder that holds another exploration.
    fn open(folder: &Path, this: String) -> Result<Self, Exit> {
        let cannot = || format!("{} cannot be written", folder.display());
        std::fs::create_dir_all(folder).with_context(cannot)?;
        let path = folder.join(RESULTS);
        let mut found = Vec::new();
        let mut is_new = true;
        if path.exists() {
            let file = File::open(&path).with_context(cannot)?;
            for line in BufReader::new(file).lines() {
                // A line that the end of a process cut is as if it were not there.
                match serde_json::from_str(&line.with_context(cannot)?) {
                    Ok(Line::Of { explored }) if explored == this => is_new = false,
                    Ok(Line::Of { .. }) => {
                        let what = "holds an exploration of other records, preferences or \
                                    another schema; name another folder";
                        return Err(Exit::Usage(format!("{} {what}", folder.display())));
                    }
                    Ok(line) => found.push(line),
                    Err(_) => {}
                }
            }
        }
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let mut file = file.with_context(cannot)?;
        // Ends a line that was cut.
        let first = if is_new {
            json!(Line::Of { explored: this }).to_string()
        } else {
            String::new()
        };
        writeln!(file, "{first}").with_context(cannot)?;
        Ok(Self {
            found,
            file: Mutex::new(file),
        })
    }

    /// What was found of a setting before.
    fn of(&self, setting: &Setting) -> Option<(Option<String>, Option<Measures>)> {
        self.found.iter().find_map(|line| match line {
            Line::Found {
                engine,
                parameters,
                problem,
                measures,
            } if *engine == setting.engine && *parameters == setting.parameters => {
                Some((problem.clone(), measures.as_deref().copied()))
            }
            _ => None,
        })
    }

    fn add(&self, outcome: &SettingOutcome) -> Result<(), Exit> {
        let line = Line::Found {
            engine: outcome.engine.clone(),
            parameters: outcome.parameters.clone(),
            problem: outcome.problem.clone(),
            measures: outcome.measures.map(Box::new),
        };
        let text = serde_json::to_string(&line)?;
        let mut file = self.file.lock().unwrap_or_else(|held| held.into_inner());
        writeln!(file, "{text}").context("the results cannot be written")?;
        Ok(())
    }
}

/// SHA-256 of what decides figures: records, schema, hierarchies, preferences, and
/// what of the job is not varied.
fn digest(input: &Input, hierarchies: &[(String, Vec<u8>)]) -> String {
    let spec = &input.spec;
    let preferences: Vec<_> = input
        .preferences
        .iter()
        .map(|one| json!([one.subject, one.terms]))
        .collect();
    let job = (&spec.job.seed, &spec.job.accept_exact, &spec.job.report);
    let all = json!([
        input.summary.sha256_hex(),
        spec.schema,
        spec.hierarchies,
        hierarchies,
        preferences,
        job
    ]);
    to_hex(&Sha256::of(all.to_string().as_bytes()))
}

/// Runs the settings that are not known yet, as many at a time as there are threads.
fn explored(
    options: &Options,
    input: &Input,
    settings: &[Setting],
    results: &Results,
) -> Result<Vec<SettingOutcome>, Exit> {
    let begun = Instant::now();
    let limit = options.seconds_max.map(Duration::from_secs);
    let axes = options.axes();
    let ended = Mutex::new(0_usize);
    let outcome = |setting: &Setting| -> Result<SettingOutcome, Exit> {
        let known = results.of(setting);
        let is_new = known.is_none();
        if is_new && limit.is_some_and(|limit| begun.elapsed() >= limit) {
            return Ok(SettingOutcome::of(setting.clone(), "cancelled", None, axes));
        }
        let clock = Instant::now();
        let (problem, measures) = match known {
            Some(known) => known,
            None => measured(input, setting)?,
        };
        let state = if measures.is_some() {
            "succeeded"
        } else {
            "failed"
        };
        let mut outcome = SettingOutcome::of(setting.clone(), state, measures, axes);
        outcome.problem = problem;
        if is_new {
            results.add(&outcome)?;
        }
        let mut ended = ended.lock().unwrap_or_else(|held| held.into_inner());
        *ended += 1;
        let seconds = clock.elapsed().as_secs_f64();
        eprintln!(
            "{ended}/{}  {}  {seconds:.1} s",
            settings.len(),
            line_of(&outcome)
        );
        Ok(outcome)
    };
    // One after the other from the front of the list, so that the first are known
    // first.
    settings
        .par_iter()
        .with_max_len(1)
        .map(outcome)
        .collect::<Result<Vec<_>, Exit>>()
}

/// The figures of a setting, or why there is no release.
fn measured(input: &Input, setting: &Setting) -> Result<(Option<String>, Option<Measures>), Exit> {
    let schema = input.table.schema();
    let engine = Engine::parse(&setting.engine, &setting.parameters, schema);
    let engine = engine.map_err(Exit::of_engine)?;
    let job = &input.spec.job;
    let seed = job
        .seed
        .map_or_else(draw_seed, |number| Ok(Seed::of_number(number)))?;
    let assignment = input.assignment(&engine, job.seed.is_some());
    let context = RunContext {
        seed: seed.clone(),
        dataset_secret: seed,
        progress: &Silent,
        cancel: CancelFlag::default(),
        part: None,
        scratch: &UnnamedFiles::default(),
    };
    let produced = match produce(&assignment, &context, &mut in_memory, &mut Unobserved) {
        Ok(produced) => produced,
        Err(ProduceError::Engine(error @ EngineError::Infeasible(_))) => {
            // Without figures of the records: as an exploration of the service tells it.
            let problem = JobFailure::Engine(error).problem();
            let detail = problem["detail"].as_str().unwrap_or("infeasible");
            return Ok((Some(detail.to_owned()), None));
        }
        Err(error @ ProduceError::Identifying(_)) => return Ok((Some(error.to_string()), None)),
        Err(other) => return Err(Exit::of_run(other, Path::new("memory"))),
    };
    let verdict = produced.verdict.as_ref();
    if let Some(verdict) = verdict.filter(|verdict| !verdict.holds()) {
        return Err(Exit::VerificationFailed(verdict.failed_kinds()));
    }
    let report = produced.report.unwrap_or(Value::Null);
    let verification = serde_json::to_value(verdict)?;
    let measures = Measures::of(&report, &verification, produced.excluded);
    Ok((None, Some(measures)))
}

/// Document, page, and the specification of each of the best.
fn write(
    folder: &Path,
    input: &Input,
    (document, settings, best): (&Value, &[Setting], &[u32]),
) -> Result<(), Exit> {
    let put = |name: &str, text: &str| -> Result<(), Exit> {
        let path = folder.join(name);
        let cannot = || format!("{} cannot be written", path.display());
        Ok(std::fs::write(&path, text).with_context(cannot)?)
    };
    put(DOCUMENT, &format!("{document:#}\n"))?;
    remove_specs(folder).context("specifications of an earlier run cannot be removed")?;
    let called = json!({"name": input.spec.schema.name()});
    put(PAGE, &exploration_page(document, &called))?;
    for setting in settings.iter().filter(|one| best.contains(&one.number)) {
        let mut spec = serde_json::to_value(&input.spec)?;
        spec["job"]["engine"] = json!(setting.engine);
        spec["job"]["parameters"] = setting.parameters.clone();
        put(
            &format!("spec-{}.json", setting.number),
            &format!("{spec:#}\n"),
        )?;
    }
    Ok(())
}

/// Removes the specifications of an earlier run: its settings had other numbers.
fn remove_specs(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("spec-"));
        let number = number.and_then(|name| name.strip_suffix(".json"));
        if number.is_some_and(|number| number.parse::<u32>().is_ok()) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// A setting in a line.
fn line_of(outcome: &SettingOutcome) -> String {
    let parameters = match &outcome.parameters {
        Value::Object(fields) => {
            let told = fields.iter().map(|(name, value)| format!("{name} {value}"));
            told.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    let what = match (outcome.loss, outcome.risk, &outcome.problem) {
        (Some(loss), Some(risk), _) => format!("loss {loss:.4}, risk {risk:.4}"),
        (_, _, Some(problem)) => problem.clone(),
        _ if outcome.state == "cancelled" => "not begun: the time is up".into(),
        _ => "verified; it has not both figures".into(),
    };
    format!(
        "{}  {}  {parameters}: {what}",
        outcome.setting, outcome.engine
    )
}

/// The front for people.
fn told(outcomes: &[SettingOutcome], (front, best): (&[u32], &[u32]), axes: Axes) -> String {
    let mut text = format!(
        "On the front of {} against {}, by growing loss:\n",
        axes.loss.title(),
        axes.risk.title()
    );
    for number in front {
        let found = outcomes.iter().find(|one| one.setting == *number);
        let mark = if best.contains(number) { "*" } else { " " };
        let line = found.map(line_of).unwrap_or_default();
        text.push_str(&format!("{mark} {line}\n"));
    }
    if !best.is_empty() {
        text.push_str(
            "* nearest to losing nothing and telling nothing: spec-<number>.json is theirs, for\n  \
             vizard anonymize --spec, with the same --hierarchy files\n",
        );
    }
    text
}
