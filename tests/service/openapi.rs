//! openapi.yaml, docs/PROBLEMS.md, docs/SECURITY.md, the table of operations
//! and these tests say the same.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use vizard::http::ProblemKind;
use vizard::http::access::OPERATIONS;
use vizard_anonymizer::microdata::CellErrorCode;

use crate::common::client::description;

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(project().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The two differ? Then: `cargo run -- openapi > openapi.yaml`.
#[test]
fn the_file_openapi_yaml_is_what_the_program_says() {
    let said = vizard::http::openapi::document_yaml();
    let (said, kept) = (said.lines(), text("openapi.yaml"));
    for (number, (said, kept)) in said.zip(kept.lines()).enumerate() {
        assert_eq!(
            said,
            kept,
            "openapi.yaml, line {}; refresh: cargo run -- openapi > openapi.yaml",
            number + 1
        );
    }
    assert_eq!(vizard::http::openapi::document_yaml(), kept);
}

#[test]
fn the_table_of_operations_and_openapi_yaml_name_the_same_operations() {
    let described: BTreeSet<&str> = description().ids().collect();
    let tabled: BTreeSet<&str> = OPERATIONS.iter().map(|operation| operation.id).collect();
    assert_eq!(described, tabled);
    for operation in OPERATIONS {
        let described = description().operation(operation.id);
        assert_eq!(
            (&*described.method, &*described.path),
            (operation.method, operation.path)
        );
    }
}

/// All Rust sources below a folder.
fn sources(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).expect("the folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let read = |path: PathBuf| match path.is_dir() {
        true => sources(&path),
        false if path.extension().is_some_and(|end| end == "rs") => {
            std::fs::read_to_string(path).expect("a source")
        }
        false => String::new(),
    };
    paths.map(read).collect()
}

#[test]
fn every_operation_is_called_by_a_test() {
    let sources = sources(&project().join("tests/service/api"));
    for id in description().ids() {
        // `Client::call` finds method and path by this name, so a test that
        // names an operation calls it.
        let is_called = sources.contains(&format!("(\"{id}\")"));
        assert!(is_called, "no test calls {id}");
    }
}

#[test]
fn every_problem_is_explained_in_the_docs_and_closed_in_openapi_yaml() {
    let page = text("docs/PROBLEMS.md");
    let (page, of_lines) = page.split_once("## Errors in lines").expect("both lists");
    let explained: Vec<(String, String, String)> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (
                cells[1].trim_matches('`').to_owned(),
                cells[2].to_owned(),
                cells[3].to_owned(),
            )
        })
        .collect();
    let known: Vec<(String, String, String)> = ProblemKind::ALL
        .iter()
        .map(|kind| {
            let retry = if kind.retry() { "yes" } else { "no" };
            (
                kind.slug().to_owned(),
                kind.status().as_u16().to_string(),
                retry.to_owned(),
            )
        })
        .collect();
    assert_eq!(
        explained, known,
        "slug, status, retry; in the order of the list"
    );
    let rows = of_lines.lines().filter_map(|line| line.strip_prefix("| `"));
    let explained: Vec<&str> = rows
        .filter_map(|row| Some(row.split_once('`')?.0))
        .collect();
    let codes: Vec<&str> = CellErrorCode::ALL.iter().map(|code| code.word()).collect();
    assert_eq!(explained, codes, "in the order of the list");
    let document = serde_json::to_value(vizard::http::openapi::document()).expect("a document");
    for shape in ["LineError", "LineErrorCount"] {
        let listed = &document["components"]["schemas"][shape]["properties"]["code"]["enum"];
        assert_eq!(listed, &Value::from(codes.clone()));
    }
    let urns: Vec<String> = ProblemKind::ALL.iter().map(|kind| kind.urn()).collect();
    let listed = &document["components"]["schemas"]["Problem"]["properties"]["type"]["enum"];
    assert_eq!(listed, &Value::from(urns));
}

#[test]
fn every_problem_is_the_answer_of_an_operation_or_of_a_job() {
    const OF_JOBS: &[ProblemKind] = &[
        ProblemKind::Infeasible,
        ProblemKind::ExactAttributesIdentify,
        ProblemKind::LimitExceeded,
        ProblemKind::Cancelled,
        ProblemKind::NothingNew,
        ProblemKind::SeriesUnknown,
        ProblemKind::SeriesUnsafe,
        ProblemKind::VerificationFailed,
        ProblemKind::AttemptsExhausted,
    ];
    // Paths and methods that nobody knows belong to no operation.
    const OF_NOBODY: &[ProblemKind] = &[ProblemKind::MethodNotAllowed];
    let answered: BTreeSet<ProblemKind> = OPERATIONS
        .iter()
        .flat_map(|operation| operation.problems())
        .chain(OF_JOBS.iter().copied())
        .chain(OF_NOBODY.iter().copied())
        .collect();
    let all: BTreeSet<ProblemKind> = ProblemKind::ALL.iter().copied().collect();
    assert_eq!(answered, all);
}

#[test]
fn descriptions_reach_every_operation_parameter_and_shape() {
    let document = serde_json::to_value(vizard::http::openapi::document()).expect("a document");
    assert_eq!(document["openapi"], "3.1.0");
    for id in description().ids() {
        let described = description().operation(id);
        let method = described.method.to_lowercase();
        let operation = &document["paths"][&described.path][&method];
        assert!(operation["summary"].is_string(), "{id} has no summary");
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(parameter["description"].is_string(), "{id}: {parameter}");
        }
    }
    let shapes = document["components"]["schemas"]
        .as_object()
        .expect("shapes");
    for (name, shape) in shapes {
        for (property, described) in shape["properties"].as_object().into_iter().flatten() {
            let text = described.to_string();
            let is_plain = text.contains("\"description\"") || text.contains("\"$ref\"");
            assert!(is_plain, "{name}.{property} says nothing of itself");
        }
    }
}

/// What stands between backticks in the columns `where` and `test` of a page's
/// tables, each with its line.
fn named_in_tables(page: &str) -> Vec<(usize, String)> {
    let mut columns: Vec<usize> = Vec::new();
    let mut names = Vec::new();
    for (line, text) in (1..).zip(page.lines()) {
        if !text.starts_with('|') {
            columns.clear();
            continue;
        }
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        if columns.is_empty() {
            let is_meant = |&at: &usize| matches!(cells[at], "where" | "test");
            columns = (0..cells.len()).filter(is_meant).collect();
            continue;
        }
        for &at in &columns {
            let cell = cells.get(at).copied().unwrap_or_default();
            let quoted = cell.split('`').skip(1).step_by(2);
            names.extend(quoted.map(|name| (line, name.to_owned())));
        }
    }
    names
}

#[test]
fn names_are_read_from_the_columns_where_and_test_alone() {
    let page = "| `no` |\n\n| point | control | where | test |\n|---|---|---|---|\n\
        | a | `not this` | `Cargo.toml`, `src` | `one`, no test, `two` |\n`nor this`\n";
    let names = named_in_tables(page).into_iter().map(|(line, name)| {
        assert_eq!(line, 5);
        name
    });
    let names: Vec<String> = names.collect();
    assert_eq!(names, ["Cargo.toml", "src", "one", "two"]);
}

#[test]
fn the_security_page_names_tests_and_files_that_exist() {
    let code = ["src", "tests", "crates"].map(|folder| sources(&project().join(folder)));
    let code = code.concat();
    let named = named_in_tables(&text("docs/SECURITY.md"));
    assert!(named.len() > 300, "{} names are not all", named.len());
    let is_there =
        |name: &str| project().join(name).exists() || code.contains(&format!("fn {name}("));
    let missing: Vec<String> = named
        .iter()
        .filter(|(_, name)| !is_there(name))
        .map(|(line, name)| format!("docs/SECURITY.md, line {line}: {name}"))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
