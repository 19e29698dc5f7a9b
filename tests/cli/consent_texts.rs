//! Texts of the consent pages as files: written once, changed, and taken by a server
//! that starts, or named by file and key where they do not fit.

use std::path::Path;
use std::process::Output;

use super::command;
use super::desk::{Desk, said};

/// Whether a server would start with the texts of a folder.
fn check(desk: &Desk, folder: &str) -> Output {
    let arguments = [
        "serve",
        "--check-config",
        "--listen",
        "127.0.0.1:0",
        "--consent-texts",
        folder,
    ];
    let mut command = command(&arguments);
    command.env("VIZARD_DATA", desk.path("data"));
    let output = command.current_dir(desk.path(".")).output();
    output.expect("the binary was built")
}

#[test]
fn shipped_texts_are_written_and_taken_again() {
    let desk = Desk::empty();
    let written = desk.run(&["consent-texts", "texts/mine"]);
    assert!(written.status.success(), "{}", said(&written));
    for language in ["en", "de", "fr", "es"] {
        let name = format!("{language}.json");
        let shipped = Path::new("src/web/consent/texts").join(&name);
        let shipped = std::fs::read(shipped).unwrap();
        let path = desk.path("texts/mine").join(&name);
        assert_eq!(std::fs::read(path).unwrap(), shipped, "{language}");
    }
    let taken = check(&desk, "texts/mine");
    assert!(taken.status.success(), "{}", said(&taken));
}

#[test]
fn what_is_there_is_never_overwritten() {
    let desk = Desk::empty();
    std::fs::create_dir(desk.path("texts")).unwrap();
    desk.write("texts/fr.json", "{}");
    let refused = desk.run(&["consent-texts", "texts"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("texts/fr.json is there already"));
    assert_eq!(std::fs::read(desk.path("texts/fr.json")).unwrap(), b"{}");
    assert!(!desk.path("texts/en.json").exists(), "nothing was written");
}

#[test]
fn a_text_that_does_not_fit_ends_the_start_with_its_file_and_key() {
    for (file, text, wanted) in [
        (
            "de.json",
            r#"{"code_gone": "x"}"#,
            "`code_gone` is no text of these pages",
        ),
        (
            "de.json",
            r#"{"people": "Eine"}"#,
            "`people` needs the places {n} and has none",
        ),
        (
            "de.json",
            r#"{"code_go": "{n}"}"#,
            "`code_go` needs the places none and has {n}",
        ),
        (
            "de.json",
            r#"{"code_go": 5}"#,
            "is no JSON object of keys and texts: line 1",
        ),
        (
            "de.json",
            "{\n\"code_go\"",
            "is no JSON object of keys and texts: line 2",
        ),
        (
            "pl.json",
            r#"{"code_go": "Dalej"}"#,
            "`language` is missing",
        ),
        (
            "pl.json",
            r#"{"language": "Polski", "direction": "up"}"#,
            "`direction` is `ltr` or `rtl`",
        ),
        ("german.json", "{}", "the name is no tag of a language"),
        ("notes.txt", "", "holds no file `<language>.json`"),
    ] {
        let desk = Desk::empty();
        std::fs::create_dir(desk.path("texts")).unwrap();
        desk.write(&format!("texts/{file}"), text);
        let refused = check(&desk, "texts");
        let said = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(wanted), "{wanted}: {said}");
        assert!(file == "notes.txt" || said.contains(file), "{said}");
        // What a text says may be anything: only its key is repeated.
        assert!(!said.contains("Dalej") && !said.contains("Eine"), "{said}");
    }
    let desk = Desk::empty();
    let refused = check(&desk, "nowhere");
    assert!(said(&refused).contains("nowhere: there is no such folder"));
}
