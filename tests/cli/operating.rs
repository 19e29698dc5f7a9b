//! Commands as who operates a service calls them, wrong ones among them: they
//! say what is wrong at once, and make nothing that was not asked for.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use super::desk::said;

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
    let store = [(
        "VIZARD_STORE",
        "postgres://somebody:password@127.0.0.1:9/none",
    )];
    let answer = in_folder(folder.path(), &["migrate"], &store);
    assert!(begun.elapsed() < Duration::from_secs(3));
    let told = said(&answer);
    assert_eq!(told.matches("refused").count(), 1, "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("127.0.0.1:9"), "{told}");
    assert!(!told.contains("password"), "{told}");
}

#[test]
fn a_password_on_the_command_line_is_warned_of_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let store = "postgres://somebody:very-own-word@127.0.0.1:9/none";
    let equals = format!("--store={store}");
    for command in ["migrate", "serve", "work", "keys"] {
        let mut arguments = vec![command, &equals];
        if command == "keys" {
            arguments = vec!["keys", "list", "--store", store];
        }
        let told = said(&in_folder(folder.path(), &arguments, &[]));
        assert_eq!(told.matches("--store-file").count(), 1, "{command}: {told}");
        assert!(!told.contains("very-own-word"), "{command}: {told}");
        let arguments: Vec<&str> = arguments
            .into_iter()
            .filter(|one| !one.contains("store"))
            .collect();
        let arguments: Vec<&str> = arguments.into_iter().filter(|one| *one != store).collect();
        let told = said(&in_folder(
            folder.path(),
            &arguments,
            &[("VIZARD_STORE", store)],
        ));
        assert!(!told.contains("--store-file"), "{command}: {told}");
    }
}

#[test]
fn a_postgresql_elsewhere_needs_tls_or_a_word() {
    let folder = tempfile::tempdir().unwrap();
    // An address that is nobody's: what is asked there fails, and is not refused.
    let elsewhere = "postgres://v:password@192.0.2.1:5432/v";
    let certain = format!("{elsewhere}?sslmode=verify-full");
    for command in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["work"],
        &["migrate"],
        &["keys", "list"],
    ] {
        let refused = in_folder(folder.path(), command, &[("VIZARD_STORE", elsewhere)]);
        let told = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{command:?}: {told}");
        for word in ["192.0.2.1", "sslmode=verify-full", "--insecure-store"] {
            assert!(told.contains(word), "{command:?}: {told}");
        }
        assert!(!told.contains("password"), "{told}");
    }
    let insecure = [
        ("VIZARD_STORE", elsewhere),
        ("VIZARD_INSECURE_STORE", "true"),
    ];
    for set in [&[("VIZARD_STORE", certain.as_str())][..], &insecure] {
        let told = said(&in_folder(folder.path(), &["migrate"], set));
        assert!(!told.contains("--insecure-store"), "{told}");
    }
}

#[test]
fn files_of_secrets_that_others_may_read_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, mode: u32| {
        let path = folder.path().join(name);
        let text = match name {
            "store" => "sqlite:vizard.db",
            "master" => "one AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            _ => "d41a6c0f93be27508e1f4b7aa95c3d60",
        };
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::write(folder.path().join("cert"), "").unwrap();
    let check = ["serve", "--check-config", "--listen", "127.0.0.1:0"];
    for (option, name) in [
        ("--admin-key-file", "admin"),
        ("--store-file", "store"),
        ("--master-key-file", "master"),
        ("--tls-key", "key"),
    ] {
        let mut arguments = [&check[..], &[option, name]].concat();
        if option == "--tls-key" {
            arguments.extend(["--tls-cert", "cert"]);
        }
        write(name, 0o644);
        let refused = in_folder(folder.path(), &arguments, &[]);
        let told = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{option}: {told}");
        assert!(
            told.contains("0644") && told.contains("chmod 600"),
            "{option}: {told}"
        );
        write(name, 0o600);
        let told = said(&in_folder(folder.path(), &arguments, &[]));
        assert!(!told.contains("chmod"), "{option}: {told}");
    }
}

#[test]
fn an_admin_key_that_is_easy_to_guess_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    for serve in [
        &["serve", "--check-config"][..],
        &["serve", "--listen", "127.0.0.1:0"],
    ] {
        let guessable = [("VIZARD_ADMIN_KEY", "changeme-changeme-changeme-changeme")];
        let refused = in_folder(folder.path(), serve, &guessable);
        let told = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{told}");
        assert!(told.contains("openssl rand -hex 32"), "{told}");
        assert!(!told.contains("changeme"), "{told}");
        assert!(is_empty(folder.path()), "something was made");
    }
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

#[test]
fn an_issuer_elsewhere_needs_https_or_a_word() {
    let folder = tempfile::tempdir().unwrap();
    // Addresses that are nobody's: what is asked there fails, and is not refused.
    let elsewhere = "http://192.0.2.1/realm";
    let check = ["serve", "--check-config", "--listen", "127.0.0.1:0"];
    let set = |issuer: &'static str, keys: &'static str| {
        [
            ("VIZARD_OIDC_ISSUER", issuer),
            ("VIZARD_OIDC_AUDIENCE", "vizard"),
            ("VIZARD_OIDC_KEYS", keys),
        ]
    };
    for (issuer, keys) in [
        (elsewhere, ""),
        ("https://id.example", "http://192.0.2.1/keys"),
        ("http://127.0.0.1:9/", "HTTP://192.0.2.1/keys"),
        ("http://localhost.example/", ""),
        ("http://127.0.0.1.example/", ""),
        ("http://10.0.0.7/", ""),
    ] {
        for command in [&check[..], &["serve", "--listen", "127.0.0.1:0"]] {
            let refused = in_folder(folder.path(), command, &set(issuer, keys));
            let told = said(&refused);
            assert_eq!(refused.status.code(), Some(2), "{issuer} {keys}: {told}");
            for word in ["https://", "--insecure-issuer"] {
                assert!(told.contains(word), "{issuer} {keys}: {told}");
            }
            assert!(is_empty(folder.path()), "{command:?} made something");
        }
    }
    let keys = folder.path().join("keys");
    std::fs::write(&keys, r#"{"keys": []}"#).unwrap();
    for (issuer, keys) in [
        (elsewhere, "keys"),
        (elsewhere, "https://192.0.2.1/keys"),
        ("http://127.0.0.1:9/", ""),
        ("http://[::1]:9/", ""),
        ("http://localhost:9/", ""),
    ] {
        let told = said(&in_folder(folder.path(), &check, &set(issuer, keys)));
        assert!(!told.contains("--insecure-issuer"), "{issuer}: {told}");
    }
    let [issuer, audience, _] = set(elsewhere, "");
    let insecure = [issuer, audience, ("VIZARD_INSECURE_ISSUER", "true")];
    let told = said(&in_folder(folder.path(), &check, &insecure));
    assert!(!told.contains("needs https://"), "{told}");
    assert!(told.contains("plain HTTP"), "it is told of: {told}");
}
