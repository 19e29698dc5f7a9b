//! Commands as who operates a service calls them, wrong ones among them: they
//! say what is wrong at once, and make nothing that was not asked for.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Runs the binary in a folder, with no variable of the service but `set`.
fn in_folder(folder: &Path, arguments: &[&str], set: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vizard"));
    for (name, _) in std::env::vars() {
        if name.starts_with("VIZARD_") {
            command.env_remove(name);
        }
    }
    let output = command
        .args(arguments)
        .envs(set.iter().copied())
        .current_dir(folder)
        .output();
    output.expect("the binary was built")
}

fn said(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(both).expect("text")
}

fn is_empty(folder: &Path) -> bool {
    let mut entries = std::fs::read_dir(folder).expect("the folder");
    entries.next().is_none()
}

#[test]
fn keys_are_looked_for_in_a_store_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["keys", "list"][..],
        &["keys", "create", "--role", "steward"],
        &["keys", "--data", "elsewhere", "list"],
        &["keys", "list", "--data", "elsewhere"],
    ] {
        let answer = in_folder(folder.path(), arguments, &[]);
        assert_eq!(answer.status.code(), Some(2), "{arguments:?}");
        let said = said(&answer);
        assert!(said.contains("there is no store"), "{said}");
        assert!(said.contains("--data"), "{said}");
        assert!(is_empty(folder.path()), "{arguments:?} made something");
    }
    assert!(in_folder(folder.path(), &["migrate"], &[]).status.success());
    let made = in_folder(folder.path(), &["keys", "create", "--role", "steward"], &[]);
    assert!(made.status.success(), "{}", said(&made));
    let listed = in_folder(folder.path(), &["keys", "list"], &[]);
    assert_eq!(said(&listed).lines().count(), 1);
}

#[test]
fn the_folder_of_the_store_is_in_the_help_of_every_command_on_keys() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["create", "list", "revoke", "rotate-master"] {
        let help = said(&in_folder(folder.path(), &["keys", command, "--help"], &[]));
        assert!(help.contains("--data <DIR>"), "{command}: {help}");
    }
}

#[test]
fn a_variable_that_no_option_reads_is_named_and_refused_by_the_check() {
    let folder = tempfile::tempdir().unwrap();
    let check = ["serve", "--check-config", "--listen", "127.0.0.1:0"];
    let misspelt = [("VIZARD_WORKES", "3")];
    let answer = in_folder(folder.path(), &check, &misspelt);
    assert_eq!(answer.status.code(), Some(2));
    let told = said(&answer);
    assert!(
        told.contains("VIZARD_WORKES (did you mean VIZARD_WORKERS?)"),
        "{told}"
    );
    let right = in_folder(folder.path(), &check, &[("VIZARD_WORKERS", "3")]);
    assert!(right.status.success(), "{}", said(&right));
    assert!(is_empty(folder.path()), "the check made something");
}

#[test]
fn the_check_of_the_options_opens_what_they_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("no-store"), "something else entirely").unwrap();
    std::fs::write(folder.path().join("no-anchor"), "something else\n").unwrap();
    for (options, named) in [
        (&["--tombstones", "missing/stones"][..], "tombstones"),
        (&["--audit-anchor", "no-anchor"], "no-anchor"),
        (
            &["--store", "sqlite:no-store"],
            "the store cannot be opened",
        ),
        (
            &["--store", "postgres://nobody@127.0.0.1:9/none"],
            "127.0.0.1:9",
        ),
        (
            &[
                "--oidc-issuer",
                "https://id.example",
                "--oidc-audience",
                "vizard",
                "--oidc-keys",
                "missing",
            ],
            "issuer",
        ),
    ] {
        let check = ["serve", "--check-config", "--listen", "127.0.0.1:0"];
        let answer = in_folder(folder.path(), &[&check[..], options].concat(), &[]);
        let told = said(&answer);
        assert!(!answer.status.success(), "{options:?}: {told}");
        assert!(told.contains(named), "{options:?}: {told}");
    }
    in_folder(folder.path(), &["migrate"], &[]);
    let check = in_folder(
        folder.path(),
        &["serve", "--check-config", "--listen", "127.0.0.1:0"],
        &[],
    );
    let told = said(&check);
    assert!(told.contains("the store is there, at version"), "{told}");
}

#[test]
fn a_refused_connection_to_postgresql_is_told_at_once_and_once() {
    let folder = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let store = "postgres://somebody:password@127.0.0.1:9/none";
    let answer = in_folder(folder.path(), &["migrate", "--store", store], &[]);
    assert!(begun.elapsed() < Duration::from_secs(3));
    let told = said(&answer);
    assert_eq!(told.matches("refused").count(), 1, "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("127.0.0.1:9"), "{told}");
    assert!(!told.contains("password"), "{told}");
}

#[test]
fn a_health_check_takes_an_address_or_a_url_and_says_what_else_to_try() {
    let folder = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str]| {
        let arguments = [&["healthcheck"][..], arguments].concat();
        let answer = in_folder(folder.path(), &arguments, &[]);
        assert_eq!(answer.status.code(), Some(1), "{arguments:?}");
        said(&answer)
    };
    assert!(check(&["127.0.0.1:9"]).contains("127.0.0.1:9 (over TLS"));
    assert!(check(&["http://127.0.0.1:9/"]).contains("127.0.0.1:9 (over TLS"));
    assert!(check(&["https://127.0.0.1:9"]).contains("--tls-cert"));
    assert!(check(&["ftp://127.0.0.1:9"]).contains("neither an address nor"));
    let listening = in_folder(
        folder.path(),
        &["healthcheck"],
        &[("VIZARD_LISTEN", "0.0.0.0:9")],
    );
    assert!(said(&listening).contains("127.0.0.1:9 (elsewhere"));
}

#[test]
fn the_demo_tells_its_guarantees_in_sentences() {
    let folder = tempfile::tempdir().unwrap();
    let told = in_folder(
        folder.path(),
        &["demo", "--once", "--listen", "127.0.0.1:0"],
        &[],
    );
    assert!(told.status.success(), "{}", said(&told));
    let told = said(&told);
    assert!(
        told.contains("verified: every row looks like at least 4 others"),
        "{told}"
    );
    assert!(
        told.contains("verified: cost: no value has more than 1 in 5"),
        "{told}"
    );
    assert!(!told.contains('{'), "{told}");
    assert!(told.ends_with('\n'));
}
