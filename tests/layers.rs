//! The layer rules of docs/ARCHITECTURE.md, checked over the text of both packages.
//!
//! Every rule stands twice: once on the project, where it must find nothing,
//! and once on a made-up source that breaks it, where it must say so.

#[path = "layers/circles.rs"]
mod circles;
#[path = "layers/paths.rs"]
mod paths;
#[path = "layers/rules.rs"]
mod rules;
#[path = "layers/source.rs"]
mod source;

use std::path::Path;

use circles::circles;
use source::{Source, read_folder};

/// The source of both packages.
const SOURCES: &[&str] = &["src", "crates/anonymizer/src"];
/// All Rust text of both packages.
const TEXTS: &[&str] = &[
    "src",
    "tests",
    "crates/anonymizer/src",
    "crates/anonymizer/tests",
    "crates/anonymizer/examples",
    "crates/anonymizer/benches",
];

fn check(folders: &[&str], rule: fn(&Source) -> Vec<String>) {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |folder: &&str| {
        let sources = read_folder(project, folder);
        assert!(!sources.is_empty(), "{folder} has files to check");
        sources
    };
    let sources: Vec<Source> = folders.iter().flat_map(read).collect();
    let found: Vec<String> = sources.iter().flat_map(rule).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_import_points_to_a_lower_layer() {
    check(SOURCES, rules::import_violations);
}

#[test]
fn pure_layers_name_no_file_socket_clock_runtime_or_ambient_randomness() {
    check(SOURCES, rules::purity_violations);
}

#[test]
fn every_unwrap_says_why_it_cannot_fail() {
    check(SOURCES, rules::unwrap_violations);
}

#[test]
fn every_module_has_a_name_that_says_something() {
    check(SOURCES, rules::name_violations);
}

#[test]
fn no_file_is_past_its_size() {
    check(TEXTS, rules::size_violations);
}

#[test]
fn every_file_begins_with_its_module_doc() {
    check(TEXTS, rules::doc_violations);
}

/// The functions of the store that change rows and leave no row in the audit
/// log, each with its reason.
const UNAUDITED: &[&str] = &[
    // Too many, and no change of state: the last use, and a lease's new end.
    "key_touch",
    "session_touch",
    "job_heartbeat",
    // It writes rows of the log and nothing else.
    "audit_refused",
    // How far it was looked, where nothing new was found; a finding is a row.
    "release_looked_at",
    // When its bytes were gone is noted on the tombstone of an erasure.
    "wipe",
    // What is over anyway is forgotten.
    "subject_tokens_sweep",
    "sessions_sweep",
    // A request that is to be done once is noted by what it does.
    "idempotency_reserve",
    "idempotency_extend",
    "idempotency_keep",
    "idempotency_free",
    "idempotency_sweep",
    // A message to a webhook is on its way; what it tells has its row.
    "message_take",
    "message_settle",
    "messages_sweep",
];

#[test]
fn every_write_of_the_store_is_audited_but_for_a_short_list() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for source in read_folder(project, "src/store") {
        found.extend(rules::callers(&source, ".write_unaudited("));
        let begins = rules::callers(&source, "backend.write(");
        assert!(
            begins.iter().all(|name| name == "transact"),
            "{}: {begins:?} begins a transaction beside the log",
            source.path
        );
        let transacts = rules::callers(&source, "self.transact(");
        let listed = ["write", "write_unaudited"];
        assert!(
            transacts.iter().all(|name| listed.contains(&name.as_str())),
            "{}: {transacts:?} goes around the log",
            source.path
        );
    }
    found.sort();
    let mut listed: Vec<String> = UNAUDITED.iter().map(|name| (*name).to_owned()).collect();
    listed.sort();
    assert_eq!(found, listed);
}

#[test]
fn no_circle_of_imports_is_larger_than_four_files() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    for package in [".", "crates/anonymizer"] {
        let sources = read_folder(&project.join(package), "src");
        assert!(!sources.is_empty(), "{package} has files to check");
        let mut circles = circles(&sources);
        circles.retain(|files| files.len() > 4);
        assert!(circles.is_empty(), "{package}: {circles:#?}");
    }
}

#[test]
fn a_circle_is_found_and_a_list_of_re_exports_is_none() {
    let sources = [
        (
            "src/a/mod.rs",
            "mod b; mod c; pub use b::One; pub(super) use c::Two;",
        ),
        ("src/a/b.rs", "use super::Two; pub struct One;"),
        ("src/a/c.rs", "pub struct Two; fn f() { crate::d::g() }"),
        ("src/d.rs", "pub(in crate::a) fn g() -> crate::a::One {}"),
        ("src/e.rs", "use crate::a::One;"),
    ];
    let sources = sources.map(|(path, text)| Source::new(path, text));
    assert_eq!(
        circles(&sources),
        [["src/a/b.rs", "src/a/c.rs", "src/d.rs"]]
    );
}

#[test]
fn the_function_around_a_call_is_found() {
    let text = "fn one() { a.b() }\nasync fn two(x: u8) { self.write_unaudited(|s| s) }";
    let source = Source::new("src/store/x.rs", text);
    assert_eq!(rules::callers(&source, ".write_unaudited("), ["two"]);
}

/// The imports of a made-up file that break the rule.
fn imports(path: &str, text: &str) -> usize {
    rules::import_violations(&Source::new(path, text)).len()
}

fn impure(path: &str, text: &str) -> usize {
    rules::purity_violations(&Source::new(path, text)).len()
}

#[test]
fn an_import_from_a_higher_layer_is_found() {
    assert_eq!(
        imports(
            "crates/anonymizer/src/release/mod.rs",
            "use crate::engine::kernel;"
        ),
        1
    );
    assert_eq!(imports("src/store/mod.rs", "use crate::http::Problem;"), 1);
    assert_eq!(
        imports(
            "crates/anonymizer/src/engine/mod.rs",
            "use crate::release::Release;"
        ),
        0
    );
    assert_eq!(
        imports("src/main.rs", "fn main() { vizard::cli::run() }"),
        0
    );
    assert_eq!(imports("src/cli/mod.rs", "use crate::main::x;"), 1);
}

#[test]
fn an_import_from_a_sibling_is_found() {
    assert_eq!(
        imports("src/http/routes/jobs.rs", "use crate::worker::step;"),
        1
    );
    assert_eq!(
        imports("src/worker/mod.rs", "fn f() { crate::http::serve() }"),
        1
    );
    assert_eq!(
        imports(
            "crates/anonymizer/src/microdata/mod.rs",
            "use crate::privacy::K;"
        ),
        1
    );
    assert_eq!(
        imports(
            "crates/anonymizer/src/privacy/mod.rs",
            "use crate::microdata::Table;"
        ),
        0
    );
}

#[test]
fn the_verifier_cannot_reach_an_engine_a_measure_or_a_query() {
    for module in ["engine::kernel", "utility::ncp", "query", "catalog"] {
        let text = format!("use crate::{module};");
        assert_eq!(
            imports("crates/anonymizer/src/verify/l_diversity.rs", &text),
            1,
            "{module}"
        );
    }
    let allowed = "use crate::{microdata::Table, privacy::Requirements, release::Release};";
    assert_eq!(imports("crates/anonymizer/src/verify/mod.rs", allowed), 0);
    assert_eq!(imports("crates/anonymizer/src/utility/mod.rs", allowed), 0);
}

#[test]
fn nested_braces_and_several_lines_are_read() {
    let text = "use crate::{\n    release::{Manifest, table::{self, Cell as C}},\n    engine::{kernel, lgb::*},\n};";
    assert_eq!(imports("crates/anonymizer/src/query/mod.rs", text), 2);
    assert_eq!(
        imports(
            "crates/anonymizer/src/query/mod.rs",
            "use crate :: engine ::\n kernel;"
        ),
        1
    );
    assert_eq!(
        imports(
            "crates/anonymizer/src/query/mod.rs",
            "fn f() { crate::engine::lgb::run::<u8>() }"
        ),
        1
    );
}

#[test]
fn super_and_self_are_resolved() {
    assert_eq!(
        imports(
            "crates/anonymizer/src/engine/lgb/mask.rs",
            "use super::super::arp::block;"
        ),
        1
    );
    assert_eq!(
        imports(
            "crates/anonymizer/src/engine/lgb/mask.rs",
            "use super::super::kernel::median;"
        ),
        0
    );
    assert_eq!(
        imports(
            "crates/anonymizer/src/verify/mod.rs",
            "use super::engine::kernel;"
        ),
        1
    );
    assert_eq!(
        imports("src/clock.rs", "mod inner { use super::Clock; }"),
        0
    );
    assert_eq!(
        imports(
            "src/clock.rs",
            "mod inner { use super::super::store::Store; }"
        ),
        1
    );
}

#[test]
fn a_family_cannot_import_another_family() {
    assert_eq!(
        imports(
            "crates/anonymizer/src/engine/lgb/mod.rs",
            "use crate::engine::arp::refine;"
        ),
        1
    );
    assert_eq!(
        imports(
            "crates/anonymizer/src/engine/lgb/mod.rs",
            "use crate::engine::{arp, kernel};"
        ),
        1
    );
    assert_eq!(
        imports(
            "crates/anonymizer/src/engine/kernel/mod.rs",
            "use crate::engine::lgb::mask;"
        ),
        1
    );
    let allowed = "use crate::engine::{kernel::median, context::RunContext, EngineError};";
    assert_eq!(
        imports("crates/anonymizer/src/engine/lgb/mod.rs", allowed),
        0
    );
    assert_eq!(
        imports(
            "crates/anonymizer/src/engine/lgb/mask.rs",
            "use crate::engine::lgb::Params;"
        ),
        0
    );
}

#[test]
fn a_module_outside_the_diagram_is_found() {
    assert_eq!(imports("src/shortcuts.rs", ""), 1);
    assert_eq!(imports("src/cli/mod.rs", "use crate::shortcuts::go;"), 1);
}

#[test]
fn files_sockets_clocks_and_ambient_randomness_are_found_in_pure_layers() {
    for text in [
        "use std::fs;",
        "use std::{fmt, fs::File};",
        "fn f() { let t = std::time::Instant::now(); }",
        "use std::time::SystemTime;",
        "let day = chrono::Utc::now();",
        "let mut rng = rand::rng();",
        "let id = Uuid::now_v7();",
        "use tokio::sync::mpsc;",
        "println!()",
    ] {
        assert_eq!(
            impure("crates/anonymizer/src/catalog/mod.rs", text),
            1,
            "{text}"
        );
    }
    assert_eq!(
        impure("src/worker/mod.rs", "use std::fs; use tokio::task;"),
        0
    );
    assert_eq!(
        impure(
            "crates/anonymizer/src/engine/mod.rs",
            "use std::fmt; struct Instantly;"
        ),
        0
    );
}

#[test]
fn database_and_http_types_outside_their_rooms_are_found() {
    assert_eq!(impure("src/http/mod.rs", "use sqlx::Row;"), 1);
    assert_eq!(impure("src/store/mod.rs", "use axum::body::Body;"), 1);
    assert_eq!(impure("src/store/sqlite/mod.rs", "use sqlx::Row;"), 0);
}

#[test]
fn comments_texts_and_test_code_do_not_count() {
    let text = r####"
        //! See crate::engine and std::fs.
        /* crate::engine /* nested */ std::fs */
        const A: &str = "crate is not a path, std::fs neither";
        const B: &str = r#"use crate::engine; "quoted" std::fs"#;
        const C: char = '"'; fn f<'a>(x: &'a str) {}
        #[cfg(test)]
        mod tests { use crate::engine::lgb; use std::fs; fn g() { if true { std::fs::read("a"); } } }
    "####;
    assert_eq!(imports("crates/anonymizer/src/verify/mod.rs", text), 0);
    assert_eq!(impure("crates/anonymizer/src/verify/mod.rs", text), 0);
    let after = format!("{text}\nuse crate::engine::lgb; use std::fs;");
    assert_eq!(imports("crates/anonymizer/src/verify/mod.rs", &after), 1);
    assert_eq!(impure("crates/anonymizer/src/verify/mod.rs", &after), 1);
    let attribute = "#[serde(with = \"crate::engine::text\")] struct S;";
    assert_eq!(
        imports("crates/anonymizer/src/release/mod.rs", attribute),
        1
    );
}

#[test]
fn an_unwrap_without_its_reason_is_found() {
    let unwraps = |text: &str| rules::unwrap_violations(&Source::new("src/ids.rs", text)).len();
    assert_eq!(unwraps("fn f() { a.unwrap(); }"), 1);
    assert_eq!(unwraps("// Because.\nlet a = b\n.expect(\"c\");"), 1);
    assert_eq!(
        unwraps("// Unwrap safety: b is never empty.\nlet a = b\n.expect(\"c\");"),
        0
    );
    assert_eq!(unwraps("a.unwrap_or(b)"), 0);
    assert_eq!(unwraps("self.expect(b'{')?;"), 0);
    assert_eq!(
        unwraps("#[cfg(test)] mod tests { fn f() { a.unwrap(); } }"),
        0
    );
}

#[test]
fn empty_names_long_files_and_missing_docs_are_found() {
    let names = |path: &str, text: &str| rules::name_violations(&Source::new(path, text)).len();
    assert_eq!(names("src/store/utils.rs", ""), 1);
    assert_eq!(names("src/helpers/mod.rs", ""), 1);
    assert_eq!(names("src/store/mod.rs", "mod lease_manager;"), 1);
    assert_eq!(names("src/store/mod.rs", "mod leases;"), 0);
    let long = "//! Long.\n".repeat(501);
    assert_eq!(
        rules::size_violations(&Source::new("tests/x.rs", &long)).len(),
        1
    );
    let main = "//! Main.\n".repeat(61);
    assert_eq!(
        rules::size_violations(&Source::new("src/main.rs", &main)).len(),
        1
    );
    assert_eq!(
        rules::size_violations(&Source::new("src/ids.rs", &main)).len(),
        0
    );
    assert_eq!(
        rules::doc_violations(&Source::new("src/ids.rs", "use a;")).len(),
        1
    );
}
