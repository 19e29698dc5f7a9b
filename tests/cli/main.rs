//! Tests of the command line: help texts, exit codes, and the offline
//! commands on the bundled sample.

#[path = "../common/mod.rs"]
mod common;
mod consent_texts;
mod corruptions;
mod desk;
mod explorations;
mod exports;
mod hierarchy;
mod in_parts;
mod limits;
mod offline;
mod operating;
mod parts;
mod places;
mod population;
mod push;
mod query;
mod secrets;
mod transforms;

use std::process::{Command, Output};

/// Runs the binary with `arguments`.
fn vizard(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the binary was built")
}

/// The binary with `arguments`, to be run.
fn command(arguments: &[impl AsRef<std::ffi::OsStr>]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vizard"));
    command.args(arguments);
    command
}

#[test]
fn every_command_explains_itself() {
    let help = vizard(&["--help"]);
    assert!(help.status.success());
    let help = String::from_utf8(help.stdout).unwrap();
    for command in [
        "serve",
        "work",
        "inspect",
        "risk",
        "hierarchy",
        "anonymize",
        "explore",
        "compare",
        "consent-texts",
        "query",
        "verify",
        "push",
        "demo",
        "keys",
        "migrate",
        "openapi",
        "healthcheck",
    ] {
        assert!(
            help.contains(&format!("  {command} ")),
            "{command} is not in the help text"
        );
        let own = vizard(&[command, "--help"]);
        assert!(own.status.success(), "{command} --help");
    }
}

#[test]
fn serve_lists_its_settings_with_environment_and_defaults() {
    let help = String::from_utf8(vizard(&["serve", "--help"]).stdout).unwrap();
    for wanted in [
        "VIZARD_LISTEN",
        "127.0.0.1:8080",
        "VIZARD_STORE",
        "VIZARD_DATA",
        "./vizard-data",
        "VIZARD_WORKERS",
        "VIZARD_MASTER_KEY_FILE",
        "VIZARD_TOMBSTONES",
        "VIZARD_RAW_RETENTION_DAYS",
        "VIZARD_WEBHOOK_ORIGINS",
        "VIZARD_MEMORY_BYTES_MAX",
        "in bytes",
        "--drain-timeout",
        "in seconds",
        "VIZARD_OIDC_ISSUER",
        "VIZARD_OIDC_AUDIENCE",
        "VIZARD_OIDC_KEYS",
        "realm_access.roles",
        "VIZARD_SUBJECT_TOKEN_LIFETIME_S",
    ] {
        assert!(help.contains(wanted), "{wanted} is not in the help text");
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for arguments in [
        &["--no-such-option"][..],
        &["anonymize"],
        &["push"],
        &["nonsense"],
        &["keys", "create", "--role", "king"],
    ] {
        assert_eq!(vizard(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn an_address_of_the_network_needs_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let answer = vizard(&["serve", "--listen", "0.0.0.0:0", "--data", data]);
    assert_eq!(answer.status.code(), Some(2));
    assert!(
        String::from_utf8(answer.stderr)
            .unwrap()
            .contains("--insecure-listen")
    );
}

#[test]
fn settings_of_access_that_do_not_fit_together_are_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    for (options, named) in [
        (
            &["--oidc-issuer", "https://id.example"][..],
            "--oidc-audience",
        ),
        (&["--oidc-audience", "vizard"], "--oidc-issuer"),
        (&["--oidc-keys", "keys.json"], "--oidc-issuer"),
        (
            &[
                "--subject-token-lifetime-s",
                "10",
                "--subject-token-lifetime-s-max",
                "9",
            ],
            "--subject-token-lifetime-s",
        ),
    ] {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--data", data];
        let answer = vizard(&[&serve[..], options].concat());
        let said = String::from_utf8(answer.stderr).unwrap();
        assert_eq!(answer.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(named), "{options:?}: {said}");
    }
}
