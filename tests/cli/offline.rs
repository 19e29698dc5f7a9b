//! `anonymize` and `verify` on files, and the exit code of each way to end.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

use super::vizard;

/// A folder with a copy of the bundled sample's specification, to be changed.
pub struct Desk {
    folder: tempfile::TempDir,
    pub spec: Value,
}

pub fn sample(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sample")
        .join(file)
        .display()
        .to_string()
}

impl Desk {
    pub fn new() -> Self {
        let spec = std::fs::read(sample("spec.json")).unwrap();
        Self {
            folder: tempfile::tempdir().unwrap(),
            spec: serde_json::from_slice(&spec).unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn inputs(&self, records: &str) -> Vec<String> {
        std::fs::write(self.path("spec.json"), self.spec.to_string()).unwrap();
        let mut arguments: Vec<String> = ["--spec", "", "--records", records]
            .map(String::from)
            .into();
        arguments[1] = self.path("spec.json").display().to_string();
        arguments.extend(["--preferences".into(), sample("preferences.csv")]);
        for name in ["diagnosis", "district", "profession"] {
            arguments.extend([
                "--hierarchy".into(),
                format!("{name}={}", sample(&format!("hierarchies/{name}.csv"))),
            ]);
        }
        arguments
    }

    pub fn anonymize(&self, records: &str, out: &str, extra: &[&str]) -> Output {
        let secret = self.path("dataset.secret").display().to_string();
        let given = ["--seed", "7", "--dataset-secret", &secret];
        self.anonymize_unseeded(records, out, &[&given, extra].concat())
    }

    /// The same with a seed from the operating system.
    pub fn anonymize_unseeded(&self, records: &str, out: &str, extra: &[&str]) -> Output {
        let arguments = self.arguments(records, out, extra);
        vizard(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The words of the command.
    pub fn arguments(&self, records: &str, out: &str, extra: &[&str]) -> Vec<String> {
        let mut arguments = vec!["anonymize".into()];
        arguments.extend(self.inputs(records));
        arguments.extend(["--out".into(), self.path(out).display().to_string()]);
        arguments.extend([
            "--lineage".into(),
            self.path("lineage.csv").display().to_string(),
        ]);
        arguments.extend(extra.iter().map(|word| String::from(*word)));
        arguments
    }

    pub fn verify(&self, release: &str) -> Output {
        let mut arguments = vec!["verify".into()];
        arguments.extend(self.inputs(&sample("records.csv")));
        arguments.extend(["--release".into(), self.path(release).display().to_string()]);
        arguments.extend([
            "--lineage".into(),
            self.path("lineage.csv").display().to_string(),
        ]);
        vizard(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Names of the files in a folder, in order.
    pub fn files(&self, folder: &str) -> Vec<String> {
        let files = std::fs::read_dir(self.path(folder)).unwrap();
        let name = |file: std::io::Result<std::fs::DirEntry>| file.unwrap().file_name();
        let mut names: Vec<String> = files
            .map(|file| name(file).into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub fn document(&self, path: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.path(path)).unwrap()).unwrap()
    }
}

/// The command ended with this code, and told so on standard error.
pub fn ended(made: &Output, code: i32, says: &str) {
    let told = text(&made.stderr);
    assert_eq!(made.status.code(), Some(code), "{told}");
    assert!(told.contains(says), "{told}");
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_sample_is_released_verified_and_checked_again_in_both_formats() {
    let desk = Desk::new();
    for (format, out) in [("csv", "as-csv"), ("parquet", "as-parquet")] {
        let made = desk.anonymize(&sample("records.csv"), out, &["--format", format]);
        assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
        let table = format!("microdata.{format}");
        let mut files = [format!("buckets.{format}"), table].to_vec();
        files.extend(["manifest.json", "report.json", "verification.json"].map(String::from));
        files.extend(["hierarchies", "hierarchies.json"].map(String::from));
        files.sort();
        assert_eq!(desk.files(out), files, "and no unfinished text");
        assert_eq!(
            desk.document(&format!("{out}/verification.json"))["holds"],
            true
        );
        let checked = desk.verify(out);
        assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    }
    assert_eq!(
        desk.document("as-csv/manifest.json"),
        desk.document("as-parquet/manifest.json")
    );
}

/// The sample's records as Parquet; numbers as text, as dictionaries.
fn sample_as_parquet() -> Vec<u8> {
    let mut reader = csv::Reader::from_path(sample("records.csv")).unwrap();
    let names: Vec<String> = reader.headers().unwrap().iter().map(Into::into).collect();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let columns = names.iter().enumerate().map(|(at, name)| {
        let cells = rows.iter().map(|row| row.get(at));
        let column: DictionaryArray<Int32Type> = cells.collect();
        (name.as_str(), Arc::new(column) as ArrayRef)
    });
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn records_as_parquet_make_the_release_that_the_same_records_as_csv_make() {
    let desk = Desk::new();
    let records = desk.path("records.parquet");
    std::fs::write(&records, sample_as_parquet()).unwrap();
    let records = records.display().to_string();
    for (records, out) in [(sample("records.csv"), "csv"), (records, "parquet")] {
        let made = desk.anonymize(&records, out, &[]);
        assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    }
    assert_eq!(
        desk.document("csv/manifest.json"),
        desk.document("parquet/manifest.json")
    );
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_any_number_of_threads() {
    let desk = Desk::new();
    for (threads, out) in [("1", "one"), ("3", "three")] {
        let made = desk.anonymize(&sample("records.csv"), out, &["--threads", threads]);
        assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    }
    for file in [
        "microdata.csv",
        "buckets.csv",
        "manifest.json",
        "report.json",
        "verification.json",
    ] {
        let bytes = |out: &str| std::fs::read(desk.path(out).join(file)).unwrap();
        assert!(bytes("one") == bytes("three"), "{file} differs");
    }
}

#[test]
fn a_release_that_was_touched_fails_verification_with_exit_code_5() {
    let desk = Desk::new();
    assert!(
        desk.anonymize(&sample("records.csv"), "out", &[])
            .status
            .success()
    );
    // The lineage of two rows is swapped: the published cells no longer cover
    // the values of the subjects that they are said to be about.
    let lineage = std::fs::read_to_string(desk.path("lineage.csv")).unwrap();
    let mut lines: Vec<String> = lineage.lines().map(String::from).collect();
    let subject = |line: &str| line.rsplit(',').next().unwrap().to_owned();
    let (first, last) = (subject(&lines[1]), subject(&lines[lines.len() - 1]));
    lines[1] = lines[1].replace(&first, &last);
    let end = lines.len() - 1;
    lines[end] = lines[end].replace(&last, &first);
    std::fs::write(desk.path("lineage.csv"), lines.join("\n") + "\n").unwrap();
    let checked = desk.verify("out");
    assert_eq!(checked.status.code(), Some(5), "{}", text(&checked.stdout));
}

#[test]
fn broken_records_are_exit_code_3_with_their_lines_and_no_value() {
    let desk = Desk::new();
    let mut records = std::fs::read_to_string(sample("records.csv")).unwrap();
    records.push_str("a-secret-value\n");
    std::fs::write(desk.path("broken.csv"), &records).unwrap();
    let made = desk.anonymize(&desk.path("broken.csv").display().to_string(), "out", &[]);
    assert_eq!(made.status.code(), Some(3));
    let told = text(&made.stderr);
    assert!(told.contains("line 4002"), "{told}");
    assert!(!told.contains("a-secret-value"), "{told}");
    assert!(!desk.path("out").exists(), "nothing is left behind");
}

#[test]
fn a_column_that_the_schema_ignores_is_read_past() {
    let mut desk = Desk::new();
    let made = desk.anonymize(&sample("records.csv"), "plain", &[]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let records = std::fs::read_to_string(sample("records.csv")).unwrap();
    let with = |name: &str| {
        let lines = records.lines().enumerate();
        let lines =
            lines.map(|(at, line)| format!("{},{line}\n", if at == 0 { name } else { "canary" }));
        std::fs::write(desk.path("more.csv"), lines.collect::<String>()).unwrap();
        desk.path("more.csv").display().to_string()
    };
    let more = with("letter");
    let made = desk.anonymize(&more, "out", &[]);
    ended(&made, 3, "line 1, letter: attribute_unknown");
    let attributes = desk.spec["schema"]["attributes"].as_array_mut().unwrap();
    attributes.insert(3, json!({"name": "letter", "role": "ignore"}));
    let made = desk.anonymize(&more, "out", &[]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    for file in ["manifest.json", "microdata.csv"] {
        let read = |folder: &str| std::fs::read(desk.path(&format!("{folder}/{file}"))).unwrap();
        assert!(read("out") == read("plain"), "{file}");
    }
    let checked = desk.verify("out");
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
}

#[test]
fn a_key_with_unseen_characters_is_the_same_subject_unless_the_schema_says_none() {
    let mut desk = Desk::new();
    let records = std::fs::read_to_string(sample("records.csv")).unwrap();
    let unseen = records.replacen('\n', "\n\u{feff}", 1);
    std::fs::write(desk.path("unseen.csv"), unseen).unwrap();
    let unseen = desk.path("unseen.csv").display().to_string();
    let first = |desk: &Desk| {
        let made = desk.anonymize(&unseen, "out", &[]);
        assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
        std::fs::read_to_string(desk.path("lineage.csv")).unwrap()
    };
    assert!(!first(&desk).contains('\u{feff}'));
    desk.spec["schema"]["subject_key_normalization"] = json!([]);
    assert!(first(&desk).contains('\u{feff}'));
}

#[test]
fn many_records_without_a_value_are_exit_code_3_unless_the_loss_is_allowed() {
    let mut desk = Desk::new();
    desk.spec["schema"]["missing"] = json!("drop");
    let records = std::fs::read_to_string(sample("records.csv")).unwrap();
    let mut gaps = 0;
    let mut without = String::new();
    for (at, line) in records.lines().enumerate() {
        let mut cells: Vec<&str> = line.split(',').collect();
        if at % 10 == 1 {
            cells[8] = "";
            gaps += 1;
        }
        without += &format!("{}\n", cells.join(","));
    }
    std::fs::write(desk.path("gaps.csv"), &without).unwrap();
    let gaps_csv = desk.path("gaps.csv").display().to_string();
    let made = desk.anonymize(&gaps_csv, "out", &[]);
    ended(&made, 3, "--allow-loss");
    ended(&made, 3, &format!("cost: missing in {gaps} records"));
    assert!(!desk.path("out").exists(), "nothing is left behind");
    let made = desk.anonymize(&gaps_csv, "out", &["--allow-loss"]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    assert_eq!(desk.document("out/manifest.json")["suppressed"], gaps);
}

#[test]
fn values_that_are_probably_not_what_they_seem_are_asked_about_on_the_way() {
    let desk = Desk::new();
    let records = std::fs::read_to_string(sample("records.csv")).unwrap();
    let mut lines: Vec<String> = records.lines().map(str::to_owned).collect();
    let mut cells: Vec<String> = lines[1].split(',').map(str::to_owned).collect();
    cells[8].insert(0, '0');
    lines[1] = cells.join(",");
    std::fs::write(desk.path("zeros.csv"), lines.join("\n")).unwrap();
    let made = desk.anonymize(&desk.path("zeros.csv").display().to_string(), "out", &[]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let said = text(&made.stderr);
    assert!(
        said.contains("question: cost: leading_zeros in 1 cell\n"),
        "{said}"
    );
    assert!(said.contains("\"meant\": [\"leading_zeros\"]"), "{said}");
    let made = desk.anonymize(&sample("records.csv"), "out", &[]);
    assert!(!text(&made.stderr).contains("question"));
}

#[test]
fn tables_are_as_readable_as_other_files() {
    let desk = Desk::new();
    let made = desk.anonymize(&sample("records.csv"), "out", &[]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let mode = |file: &str| {
        let file = desk.path(file);
        file.metadata().unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode("out/microdata.csv"), mode("out/manifest.json"));
    std::fs::create_dir(desk.path("another")).unwrap();
    assert_eq!(mode("out"), mode("another"));
    assert_eq!(desk.verify("out").status.code(), Some(0));
}

#[test]
fn a_place_that_takes_no_text_is_exit_code_1() {
    let desk = Desk::new();
    let made = desk.anonymize(&sample("records.csv"), "/proc/out", &[]);
    ended(&made, 1, "text of the tables");
}

#[test]
fn an_infeasible_job_is_exit_code_4_and_names_what_would_hold() {
    let mut desk = Desk::new();
    desk.spec["job"]["parameters"]["l"] = json!(3_000);
    let made = desk.anonymize(&sample("records.csv"), "out", &[]);
    ended(&made, 4, "holds");
    assert!(!desk.path("out").exists(), "nothing is left behind");
}

#[test]
fn an_unknown_parameter_is_exit_code_3() {
    let mut desk = Desk::new();
    desk.spec["job"]["parameters"]["kk"] = json!(3);
    assert_eq!(
        desk.anonymize(&sample("records.csv"), "out", &[])
            .status
            .code(),
        Some(3)
    );
}
