//! Writes the bundled sample: a made-up hospital's admissions of one quarter.
//!
//! `cargo run --example make_sample` writes `sample/` anew,
//! `cargo run --example make_sample -- --check` only compares and says which
//! file differs. Nobody in it exists: every value is drawn from the tables in
//! this folder with a fixed seed, so that every machine writes the same bytes.

mod sample;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let check = std::env::args()
        .nth(1)
        .is_some_and(|word| word == "--check");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sample");
    let mut same = true;
    for (name, content) in sample::files() {
        let path = folder.join(&name);
        if std::fs::read_to_string(&path).is_ok_and(|present| present == content) {
            continue;
        }
        same = false;
        println!(
            "sample/{name} {}",
            if check { "differs" } else { "written" }
        );
        if !check && let Err(error) = write(&path, &content) {
            eprintln!("sample/{name}: {error}");
            return ExitCode::FAILURE;
        }
    }
    if same {
        println!("sample/ is what this program writes");
    }
    if check && !same {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn write(path: &Path, content: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, content)
}
