//! Folders of a release that hold more, or something else, than the release:
//! what `vizard verify` must refuse, file by file and byte by byte.
//!
//! Written by somebody who did not write the checks: no corruption names the
//! one that must catch it. Each test tells every corruption that was accepted
//! and then fails once. What the bytes of a table or a manifest mean stays as
//! it was, unless its name says otherwise.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use arrow::array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use serde_json::{Value, json};

use super::vizard;

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
        std::fs::create_dir(copy.path("out")).unwrap();
        for folder in ["", "out"] {
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
        let files = std::fs::read_dir(self.path("out")).unwrap();
        let read = |file: std::io::Result<std::fs::DirEntry>| {
            let file = file.unwrap();
            let is_file = file.file_type().unwrap().is_file();
            let bytes = is_file.then(|| std::fs::read(file.path()).unwrap());
            (file.file_name().into_string().unwrap(), bytes)
        };
        files.map(read).collect()
    }
}

fn spec() -> Value {
    json!({
        "schema": {"name": "people", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical"},
            {"name": "disease", "role": "sensitive", "type": "categorical"}]},
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
        match broken.is_accepted() {
            true => {
                println!("MISSED {name} [{format}]: {breaks}");
                accepted.push(*name);
            }
            false => println!("caught {name}"),
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

/// Where the first column of the manifest begins.
const COLUMN: &str = "\"columns\": [\n        {";

/// Puts text into the manifest behind what first begins so; all else, the
/// order of keys among it, stays as it was.
fn behind(folder: &Path, begins: &str, text: &str) {
    edit(folder, "manifest.json", |manifest| {
        let with = format!("{begins}\n  {text}");
        manifest.replacen(begins, &with, 1)
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
    let corruptions: [Corruption; 9] = [
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
    ];
    all_are_refused("csv", &corruptions);
}

#[test]
fn no_manifest_is_written_otherwise() {
    let corruptions: [Corruption; 21] = [
        (
            "the lineage under an unknown key of the manifest",
            "Whose each row is.",
            |folder| behind(folder, "{", "\"rows\": [\"P-10035\"],"),
        ),
        (
            "an unknown key of a described table",
            "Somebody is named.",
            |folder| behind(folder, "\"tables\": [\n    {", "\"note\": \"P-10035\","),
        ),
        (
            "an unknown key of a described column",
            "Somebody is named.",
            |folder| behind(folder, COLUMN, "\"note\": \"P-10035\","),
        ),
        (
            "an unknown key of a claim",
            "Somebody is named.",
            |folder| {
                behind(folder, "\"guarantees\": [\n    {", "\"of\": \"P-10035\",");
            },
        ),
        (
            "an unknown key of the input",
            "Somebody is named.",
            |folder| behind(folder, "\"input\": {", "\"of\": \"P-10035\","),
        ),
        (
            "verified said where nothing is said",
            "Two ways to say one thing are a bit.",
            |folder| behind(folder, "{", "\"unverified\": false,"),
        ),
        (
            "a column said not to be masked",
            "Two ways to say one thing are a bit.",
            |folder| behind(folder, COLUMN, "\"masked\": false,"),
        ),
        (
            "no type written out",
            "Two ways to say one thing are a bit.",
            |folder| behind(folder, COLUMN, "\"type\": null,"),
        ),
        (
            "types of none written out",
            "Two ways to say one thing are a bit.",
            |folder| behind(folder, COLUMN, "\"types\": {},"),
        ),
        (
            "a key twice, the first one a message",
            "Readers that take the last one do not see it.",
            |folder| {
                edit(folder, "manifest.json", |text| {
                    text.replacen('{', &format!("{{\n  \"adversary\": \"{SOMEBODY}\","), 1)
                });
            },
        ),
        ("a manifest on one line", "One bit.", |folder| {
            edit(folder, "manifest.json", |text| {
                serde_json::from_str::<Value>(&text).unwrap().to_string()
            });
        }),
        (
            "a message in spaces behind the manifest",
            "Spaces and lines are a message.",
            |folder| {
                edit(folder, "manifest.json", |text| text + "  \n \n   \n");
            },
        ),
        (
            "a message in spaces within the manifest",
            "One bit for each colon.",
            |folder| {
                edit(folder, "manifest.json", |text| {
                    text.replacen(": ", ":  ", 3)
                });
            },
        ),
        (
            "tabs in place of spaces",
            "One bit for each line.",
            |folder| {
                edit(folder, "manifest.json", |text| {
                    text.replacen("\n  ", "\n\t", 2)
                });
            },
        ),
        (
            "lines that end in another way",
            "One bit for each line.",
            |folder| {
                edit(folder, "manifest.json", |text| text.replace('\n', "\r\n"));
            },
        ),
        ("keys in another order", "A permutation.", |folder| {
            edit(folder, "manifest.json", |text| {
                let value: Value = serde_json::from_str(&text).unwrap();
                let fields = value.as_object().unwrap().iter().rev();
                let fields: Vec<String> = fields
                    .map(|(name, value)| format!("  {}: {value}", json!(name)))
                    .collect();
                format!("{{\n{}\n}}", fields.join(",\n"))
            });
        }),
        ("letters as escapes", "One bit for each letter.", |folder| {
            edit(folder, "manifest.json", |text| {
                text.replacen("anatomy", "\\u0061natomy", 1)
            });
        }),
        (
            "a whole number as a decimal one",
            "One bit for each number.",
            |folder| {
                edit(folder, "manifest.json", |text| {
                    text.replacen("\"l\": 3", "\"l\": 3.0", 1)
                });
            },
        ),
        (
            "a decimal number in another form",
            "As many bits as there are forms.",
            |folder| {
                edit(folder, "manifest.json", |text| {
                    text.replacen("0.1", "1e-1", 1)
                });
            },
        ),
        (
            "a mark of byte order before the manifest",
            "One bit.",
            |folder| {
                edit(folder, "manifest.json", |text| format!("\u{feff}{text}"));
            },
        ),
        ("text behind the manifest", "Somebody is named.", |folder| {
            edit(folder, "manifest.json", |text| {
                format!("{text}{SOMEBODY}\n")
            });
        }),
    ];
    all_are_refused("csv", &corruptions);
}

#[test]
fn no_text_of_a_table_is_written_otherwise() {
    let corruptions: [Corruption; 12] = [
        (
            "lines of a table that end in another way",
            "One bit for each line.",
            |folder| {
                edit(folder, "quasi.csv", |text| text.replace('\n', "\r\n"));
            },
        ),
        (
            "one line of a table that ends in another way",
            "Which one it is is a message.",
            |folder| {
                edit(folder, "quasi.csv", |text| text.replacen("\n", "\r\n", 2));
            },
        ),
        ("a cell in quotes", "One bit for each cell.", |folder| {
            edit(folder, "quasi.csv", |text| {
                text.replacen("Oslo", "\"Oslo\"", 1)
            });
        }),
        (
            "a cell with a space behind it",
            "One bit for each cell.",
            |folder| {
                edit(folder, "quasi.csv", |text| {
                    text.replacen("Oslo", "Oslo ", 1)
                });
            },
        ),
        (
            "a cell of a number with a zero before it",
            "One bit for each cell.",
            |folder| {
                edit(folder, "quasi.csv", |text| text.replacen(",2", ",02", 1));
            },
        ),
        (
            "a mark of byte order before a table",
            "One bit.",
            |folder| {
                edit(folder, "quasi.csv", |text| format!("\u{feff}{text}"));
            },
        ),
        (
            "an empty line behind a table",
            "One bit for each line.",
            |folder| {
                edit(folder, "sensitive.csv", |text| text + "\n");
            },
        ),
        ("no end of the last line of a table", "One bit.", |folder| {
            edit(folder, "sensitive.csv", |text| text.trim_end().into());
        }),
        ("a remark in a table", "Somebody is named.", |folder| {
            edit(folder, "sensitive.csv", |text| {
                format!("{text}# {SOMEBODY}\n")
            });
        }),
        (
            "a cell more in one line of a table",
            "Somebody is named.",
            |folder| {
                edit(folder, "quasi.csv", |text| {
                    text.replacen("Oslo\n", &format!("Oslo,{SOMEBODY}\n"), 1)
                });
            },
        ),
        (
            "bytes behind the end of a table",
            "Somebody is named.",
            |folder| {
                edit(folder, "quasi.csv", |text| format!("{text}\0{SOMEBODY}"));
            },
        ),
        (
            "two lines of a table exchanged",
            "One bit for each pair.",
            |folder| {
                edit(folder, "quasi.csv", |text| {
                    let mut lines: Vec<&str> = text.lines().collect();
                    let at = (1..lines.len() - 1)
                        .find(|&at| lines[at] != lines[at + 1])
                        .unwrap();
                    lines.swap(at, at + 1);
                    lines.join("\n") + "\n"
                });
            },
        ),
    ];
    all_are_refused("csv", &corruptions);
}

type Properties = fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder;

/// Writes a Parquet file anew, the same rows with other properties.
fn rewrite(folder: &Path, properties: Properties) {
    let path = folder.join("quasi.parquet");
    let file = std::fs::File::open(&path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = reader.schema().clone();
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    let properties = properties(WriterProperties::builder()).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).unwrap();
    for batch in batches {
        writer.write(&batch).unwrap();
    }
    std::fs::write(path, writer.into_inner().unwrap()).unwrap();
}

/// Puts bytes between the pages and the table of contents, which names places
/// from the beginning and is found from the end.
fn insert(folder: &Path) {
    let path = folder.join("quasi.parquet");
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap());
    let at = end - length as usize;
    bytes.splice(at..at, SOMEBODY.bytes());
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn no_parquet_file_holds_anything_else() {
    let corruptions: [Corruption; 10] = [
        (
            "a key among the file's own keys",
            "Somebody is named.",
            |folder| {
                rewrite(folder, |properties| {
                    let named = KeyValue::new("note".to_owned(), SOMEBODY.to_owned());
                    properties.set_key_value_metadata(Some(vec![named]))
                });
            },
        ),
        (
            "a message as the writer's name",
            "Somebody is named.",
            |folder| {
                rewrite(folder, |properties| {
                    properties.set_created_by(SOMEBODY.into())
                });
            },
        ),
        (
            "rows in groups of a telling size",
            "Where rows are cut is a message.",
            |folder| {
                rewrite(folder, |properties| {
                    properties.set_max_row_group_row_count(Some(17))
                });
            },
        ),
        (
            "pages in another compression",
            "One bit for each column.",
            |folder| {
                rewrite(folder, |properties| {
                    properties.set_compression(Compression::UNCOMPRESSED)
                });
            },
        ),
        (
            "pages without dictionaries",
            "One bit for each column.",
            |folder| {
                rewrite(folder, |properties| {
                    properties.set_dictionary_enabled(false)
                });
            },
        ),
        (
            "pages of a telling size",
            "Where values are cut is a message.",
            |folder| {
                rewrite(folder, |properties| {
                    properties
                        .set_data_page_row_count_limit(13)
                        .set_write_batch_size(13)
                });
            },
        ),
        (
            "bytes between pages and contents",
            "Bytes that nothing points to.",
            insert,
        ),
        (
            "bytes behind a Parquet file",
            "Bytes that no reader wants.",
            |folder| {
                let path = folder.join("quasi.parquet");
                let mut bytes = std::fs::read(&path).unwrap();
                bytes.extend(SOMEBODY.bytes());
                std::fs::write(path, bytes).unwrap();
            },
        ),
        (
            "a second table as CSV",
            "Whoever prefers the format reads another table.",
            |folder| {
                std::fs::write(folder.join("sensitive.csv~"), raw(folder)).unwrap();
            },
        ),
        (
            "raw records as a table that is described as another format",
            "Readers differ in which they take.",
            |folder| {
                std::fs::write(folder.join("quasi.ndjson"), raw(folder)).unwrap();
            },
        ),
    ];
    all_are_refused("parquet", &corruptions);
}
