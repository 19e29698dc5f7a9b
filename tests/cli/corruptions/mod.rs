//! Folders of a release that hold more, or something else, than the release:
//! what `vizard verify` must refuse, file by file and byte by byte.
//!
//! Written by somebody who did not write the checks: no corruption names the
//! one that must catch it. Each test tells every corruption that was accepted
//! and then fails once. What the bytes of a table or a manifest mean stays as
//! it was, unless its name says otherwise.
#![allow(clippy::too_many_lines, reason = "a list of corruptions is one table")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::vizard;

mod manifest;
mod tables;

/// A way to corrupt the folder of a release.
type Corruption = (&'static str, &'static str, fn(&Path));

/// A release in a folder, with what it was made from beside it.
struct Desk {
    folder: tempfile::TempDir,
}

const PEOPLE: usize = 120;
const SOMEBODY: &str = "P-10035";

impl Desk {
    /// A valid release of made-up people, as `format`.
    fn new(format: &str) -> Self {
        let desk = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::write(desk.path("spec.json"), spec().to_string()).unwrap();
        std::fs::write(desk.path("records.csv"), records()).unwrap();
        let mut arguments = desk.inputs("anonymize");
        arguments.extend(["--out".into(), desk.text("out")]);
        arguments.extend(["--seed", "7", "--format", format].map(String::from));
        let made = vizard(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// What both commands are given: the one place to change when they are
    /// given more.
    fn inputs(&self, command: &str) -> Vec<String> {
        let mut arguments = vec![command.into()];
        for (option, file) in [
            ("--spec", "spec.json"),
            ("--records", "records.csv"),
            ("--lineage", "lineage.csv"),
        ] {
            arguments.extend([option.into(), self.text(file)]);
        }
        arguments
    }

    fn is_accepted(&self) -> bool {
        let mut arguments = self.inputs("verify");
        arguments.extend(["--release".into(), self.text("out")]);
        let checked = vizard(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        checked.status.success()
    }

    /// A copy of the whole folder, links as links.
    fn copy(&self) -> Self {
        let copy = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir_all(copy.path("out/hierarchies")).unwrap();
        for folder in ["", "out", "out/hierarchies"] {
            for file in std::fs::read_dir(self.path(folder)).unwrap() {
                let file = file.unwrap();
                if file.file_type().unwrap().is_file() {
                    let to = copy.path(folder).join(file.file_name());
                    std::fs::copy(file.path(), to).unwrap();
                }
            }
        }
        copy
    }

    /// Everything in the folder of the release: names, and bytes of files.
    fn everything(&self) -> BTreeMap<String, Option<Vec<u8>>> {
        let files = ["out", "out/hierarchies"].map(|folder| self.path(folder));
        let files = files
            .iter()
            .flat_map(|folder| std::fs::read_dir(folder).unwrap());
        let read = |file: std::io::Result<std::fs::DirEntry>| {
            let file = file.unwrap();
            let is_file = file.file_type().unwrap().is_file();
            let bytes = is_file.then(|| std::fs::read(file.path()).unwrap());
            let path = file.path();
            let name = path.strip_prefix(self.path("out")).unwrap();
            (name.display().to_string(), bytes)
        };
        files.map(read).collect()
    }
}

fn spec() -> Value {
    json!({
        "schema": {"name": "people", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical", "hierarchy": "map"},
            {"name": "disease", "role": "sensitive", "type": "categorical"}]},
        "hierarchies": {"map": {"label": "*", "children": [
            {"label": "West", "children": [{"label": "Bergen"}]},
            {"label": "East", "children": [{"label": "Oslo"}, {"label": "Hamar"}]}]}},
        "job": {"engine": "anatomy", "parameters": {"l": 3, "max_excluded": 0.1}}
    })
}

fn records() -> String {
    let mut text = String::from("id,age,city,disease\n");
    for at in 0..PEOPLE {
        text += &format!(
            "P-{},{},{},{}\n",
            10_000 + 7 * at,
            20 + at * 37 % 11,
            ["Bergen", "Oslo", "Hamar"][at * at % 3],
            ["angina", "asthma", "flu", "gout", "ulcer"][at * 13 % 5],
        );
    }
    text
}

fn desk(format: &'static str) -> &'static Desk {
    static CSV: OnceLock<Desk> = OnceLock::new();
    static PARQUET: OnceLock<Desk> = OnceLock::new();
    let made = if format == "csv" { &CSV } else { &PARQUET };
    made.get_or_init(|| Desk::new(format))
}

fn all_are_refused(format: &'static str, corruptions: &[Corruption]) {
    let valid = desk(format);
    assert!(
        valid.is_accepted(),
        "nothing is shown by breaking a release that does not hold"
    );
    let mut accepted = Vec::new();
    for (name, breaks, apply) in corruptions {
        let broken = valid.copy();
        apply(&broken.path("out"));
        assert_ne!(
            broken.everything(),
            valid.everything(),
            "{name} changes nothing"
        );
        if broken.is_accepted() {
            println!("MISSED {name} [{format}]: {breaks}");
            accepted.push(*name);
        } else {
            println!("caught {name}")
        }
    }
    let (missed, all) = (accepted.len(), corruptions.len());
    assert_eq!(
        missed, 0,
        "{missed} of {all} corruptions were accepted: {accepted:?}"
    );
}

fn edit(folder: &Path, file: &str, change: impl Fn(String) -> String) {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, change(text)).unwrap();
}

/// Changes a document and writes it in the form in which it was.
fn document(folder: &Path, file: &str, change: impl Fn(&mut Value)) {
    edit(folder, file, |text| {
        let mut value: Value = serde_json::from_str(&text).unwrap();
        change(&mut value);
        let end = if text.ends_with('\n') { "\n" } else { "" };
        serde_json::to_string_pretty(&value).unwrap() + end
    });
}

fn outside(folder: &Path, file: &str) -> PathBuf {
    folder.parent().unwrap().join(file)
}

/// Moves a file out of the folder and leaves a link.
fn link_out(folder: &Path, file: &str) {
    let moved = outside(folder, file);
    std::fs::rename(folder.join(file), &moved).unwrap();
    std::os::unix::fs::symlink(moved, folder.join(file)).unwrap();
}

fn raw(folder: &Path) -> Vec<u8> {
    std::fs::read(outside(folder, "records.csv")).unwrap()
}

#[test]
fn no_file_stands_beside_those_of_a_release() {
    let corruptions: [Corruption; 15] = [
        (
            "raw records beside the tables",
            "Everyone is published as they are.",
            |folder| {
                std::fs::write(folder.join("records.csv"), raw(folder)).unwrap();
            },
        ),
        (
            "a hidden file of raw records",
            "A file that a listing does not show.",
            |folder| {
                std::fs::write(folder.join(".records.csv"), raw(folder)).unwrap();
            },
        ),
        (
            "the lineage beside the tables",
            "Whose each row is.",
            |folder| {
                std::fs::copy(outside(folder, "lineage.csv"), folder.join("lineage.csv")).unwrap();
            },
        ),
        (
            "a manifest of an editor beside the manifest",
            "A draft with whatever was in it.",
            |folder| {
                std::fs::write(folder.join("manifest.json~"), raw(folder)).unwrap();
            },
        ),
        (
            "a folder of raw records",
            "Everyone is published one level down.",
            |folder| {
                std::fs::create_dir(folder.join("source")).unwrap();
                std::fs::write(folder.join("source/records.csv"), raw(folder)).unwrap();
            },
        ),
        (
            "an empty folder with a telling name",
            "The name is a message.",
            |folder| {
                std::fs::create_dir(folder.join(SOMEBODY)).unwrap();
            },
        ),
        (
            "an empty file with a telling name",
            "The name is a message.",
            |folder| {
                std::fs::write(folder.join(SOMEBODY), "").unwrap();
            },
        ),
        (
            "a link to the raw records",
            "Who copies the folder copies them.",
            |folder| {
                std::os::unix::fs::symlink(outside(folder, "records.csv"), folder.join("source"))
                    .unwrap();
            },
        ),
        (
            "a link to nothing, with a telling aim",
            "The aim is a message.",
            |folder| {
                std::os::unix::fs::symlink(SOMEBODY, folder.join("latest")).unwrap();
            },
        ),
        (
            "a second table in another format",
            "Whoever prefers the format reads another table.",
            |folder| {
                std::fs::write(folder.join("quasi.parquet"), raw(folder)).unwrap();
            },
        ),
        (
            "a second table under a name in capitals",
            "Where case does not count it is the table.",
            |folder| {
                std::fs::write(folder.join("QUASI.CSV"), raw(folder)).unwrap();
            },
        ),
        (
            "a table that no manifest describes",
            "Everyone is published in a table of its own.",
            |folder| {
                std::fs::write(folder.join("people.csv"), raw(folder)).unwrap();
            },
        ),
        (
            "a table that is a link",
            "What is read may change after it was verified.",
            |folder| {
                link_out(folder, "quasi.csv");
            },
        ),
        (
            "a manifest that is a link",
            "What is read may change after it was verified.",
            |folder| {
                link_out(folder, "manifest.json");
            },
        ),
        (
            "an unfinished table beside the tables",
            "What a run that failed left behind.",
            |folder| {
                std::fs::write(folder.join("quasi.csv.part"), raw(folder)).unwrap();
            },
        ),
    ];
    all_are_refused("csv", &corruptions);
}

#[test]
fn no_report_or_verdict_holds_anything_else() {
    let corruptions: [Corruption; 13] = [
        (
            "the lineage in the report",
            "Whose each row is.",
            |folder| {
                document(folder, "report.json", |report| {
                    report["rows"] = json!([SOMEBODY])
                });
            },
        ),
        (
            "a false figure in the report",
            "Risk is told smaller than it is.",
            |folder| {
                edit(folder, "report.json", |text| text.replacen("0.", "0.0", 1));
            },
        ),
        (
            "raw records as the report",
            "Everyone is published as they are.",
            |folder| {
                std::fs::write(folder.join("report.json"), raw(folder)).unwrap();
            },
        ),
        ("an empty report", "Risk is not told.", |folder| {
            std::fs::write(folder.join("report.json"), "{}").unwrap();
        }),
        (
            "a message behind the report",
            "Spaces and lines are a message.",
            |folder| {
                edit(folder, "report.json", |text| text + " \n  \n");
            },
        ),
        (
            "the lineage in the verdict",
            "Whose each row is.",
            |folder| {
                document(folder, "verification.json", |verdict| {
                    verdict["rows"] = json!([SOMEBODY])
                });
            },
        ),
        (
            "raw records as the verdict",
            "Everyone is published as they are.",
            |folder| {
                std::fs::write(folder.join("verification.json"), raw(folder)).unwrap();
            },
        ),
        (
            "a verdict that says no",
            "The verdict is not the one that was found.",
            |folder| {
                document(folder, "verification.json", |verdict| {
                    verdict["holds"] = json!(false)
                });
            },
        ),
        (
            "a verdict without checks",
            "The verdict is not the one that was found.",
            |folder| {
                document(folder, "verification.json", |verdict| {
                    verdict["checks"] = json!([])
                });
            },
        ),
        (
            "a town that lies elsewhere",
            "The hierarchy is not the one of the job.",
            |folder| {
                edit(folder, "hierarchies/city.csv", |text| {
                    text.replace("Hamar;East", "Hamar;West")
                })
            },
        ),
        (
            "a message behind a hierarchy",
            "Lines are a message.",
            |folder| edit(folder, "hierarchies/city.csv", |text| text + "\n"),
        ),
        (
            "raw records among the hierarchies",
            "Everyone is published as they are.",
            |folder| std::fs::write(folder.join("hierarchies/records.csv"), raw(folder)).unwrap(),
        ),
        (
            "the lineage in the list of hierarchies",
            "Whose each row is.",
            |folder| {
                document(folder, "hierarchies.json", |list| {
                    list["withheld"] = json!([SOMEBODY])
                });
            },
        ),
    ];
    all_are_refused("csv", &corruptions);
}
