//! pyCANON, an independent program that measures anonymity, agrees with the
//! verifier on what `mondrian` publishes.
//!
//! A virtual environment is made in the target folder and pycanon installed
//! into it by pip. Where Python or pycanon cannot be installed the test is
//! skipped and says so; with `CI=true` that is a failure.

use std::path::{Path, PathBuf};
use std::process::Command;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::release::{PIECE_BYTES_MAX, encode_csv};
use vizard_anonymizer::verify::Check;

use super::publish;
use crate::case::Case;
use crate::made::open_hospital;

/// What is installed.
const PACKAGE: &str = "pycanon==1.3.6";
/// Figures of floats agree up to this.
const CLOSE: f64 = 1e-9;

/// The interpreter of an environment that has pycanon, or why there is none.
fn python() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pycanon");
    let python = folder.join("bin").join("python");
    let imports =
        |python: &Path| run(Command::new(python).args(["-c", "import pycanon.anonymity"]));
    if imports(&python).is_ok() {
        return Ok(python);
    }
    run(Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&folder))?;
    let install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ];
    run(Command::new(&python).args(install).arg(PACKAGE))?;
    imports(&python)?;
    Ok(python)
}

/// Standard output of a command that succeeds, else what it said.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// What pycanon says of a release.
fn ask(python: &Path, case: &Case, l: u64) -> Value {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (table, question) = (folder.join("published.csv"), folder.join("question.json"));
    let mut text = Vec::new();
    encode_csv(
        case.published("microdata"),
        PIECE_BYTES_MAX,
        &mut |piece, _| {
            text.extend_from_slice(&piece);
        },
    );
    std::fs::write(&table, text).expect("the target folder can be written");
    let asked = json!({"quasi": case.generalized(), "sensitive": {"disease": l, "salary": l}});
    std::fs::write(&question, asked.to_string()).expect("the target folder can be written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engines/mondrian/check.py");
    let said = run(Command::new(python).arg(script).arg(&table).arg(&question));
    let said = said.unwrap_or_else(|error| panic!("pycanon fails: {error}"));
    serde_json::from_str(&said).expect("the script writes JSON")
}

fn releases() -> Vec<(u64, Case)> {
    let kinds = [
        json!({"l": 3}),
        json!({"l": 3, "diversity": "entropy"}),
        json!({"l": 2, "diversity": "recursive", "c": 1.5}),
        json!({"l": 3, "diversity": "recursive", "c": 4}),
        json!({"t_closeness": 0.25}),
        json!({"l": 2, "diversity": "entropy", "t_closeness": 0.3}),
    ];
    let mut releases = Vec::new();
    for (at, kind) in (0..).zip(&kinds) {
        for (partitioning, split) in [("strict", "widest"), ("relaxed", "gain")] {
            let mut parameters = kind.clone();
            parameters["k"] = json!(3 + at);
            parameters["partitioning"] = json!(partitioning);
            parameters["split"] = json!(split);
            let made = open_hospital(300, &mut ChaCha12Rng::seed_from_u64(at));
            let case = publish(made.table, &parameters, &[], at).expect("it can be published");
            releases.push((kind["l"].as_u64().unwrap_or(1), case));
        }
    }
    releases
}

/// One check of the verifier against pycanon's figure for the attribute.
fn agrees(check: &Check, of: &Value) {
    let attained = check.attained.expect("something is attained");
    let claimed = check.claimed.expect("something is claimed");
    let number = |name: &str| of[name].as_f64().expect("pycanon gives a number");
    match check.kind {
        "distinct_l_diversity" => {
            assert_eq!(number("distinct"), attained);
            assert!(number("distinct") >= claimed);
        }
        // pycanon rounds e^H down: of exactly 3 its floats may make 2.
        "entropy_l_diversity" => {
            let floors = [attained - CLOSE, attained + CLOSE].map(f64::floor);
            assert!(floors.contains(&number("entropy")), "{attained} {of}");
            assert!(floors[1] >= claimed);
        }
        // The least whole c above the largest ratio.
        "recursive_l_diversity" => {
            assert_eq!(number("recursive"), attained.floor() + 1.0);
            assert!(attained < claimed);
        }
        "t_closeness" => {
            assert!((number("t") - attained).abs() < CLOSE, "{attained} {of}");
            assert!(number("t") <= claimed + CLOSE);
        }
        _ => {}
    }
}

#[test]
fn pycanon_attains_what_the_verifier_attains() {
    let python = match python() {
        Ok(python) => python,
        Err(reason) if std::env::var("CI").as_deref() == Ok("true") => {
            panic!("pycanon cannot be installed: {reason}");
        }
        Err(reason) => {
            println!("skipped: pycanon cannot be installed: {reason}");
            return;
        }
    };
    let mut compared = 0;
    for (l, case) in releases() {
        let verdict = case.verdict();
        assert!(
            verdict.holds(),
            "{:#?}",
            verdict.failed().collect::<Vec<_>>()
        );
        let said = ask(&python, &case, l);
        for check in &verdict.checks {
            match (&check.attribute, check.kind) {
                (None, "k_anonymity") => {
                    assert_eq!(said["k"].as_f64(), check.attained);
                    assert!(check.attained >= check.claimed);
                    compared += 1;
                }
                (Some(name), kind) if kind.ends_with("_diversity") || kind == "t_closeness" => {
                    agrees(check, &said["values"][name]);
                    compared += 1;
                }
                _ => {}
            }
        }
    }
    assert_eq!(
        compared,
        12 + 20 + 8,
        "every claim of every release is compared"
    );
}
