//! From a hospital's own export to a verified release: two commands, and
//! nothing written by hand.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::desk::{Desk, said};

impl Desk {
    /// A folder with an export in it.
    fn with_export() -> Self {
        let desk = Self::empty();
        let mut text = String::from("Patientennr;Alter;PLZ;Hauptdiagnose;Kosten;Aufnahmedatum\r\n");
        for at in 0..300 {
            let age = if at % 80 == 0 {
                "90+".into()
            } else {
                (at % 71 + 18).to_string()
            };
            let code = ["I21.4", "J18.9", "K80.1", "N390", "E11.7", "S72.0"][at % 6];
            let place = ["01067", "01069", "04103"][at / 2 % 3];
            let (day, month) = (at % 28 + 1, at % 12 + 1);
            writeln!(
                text,
                "{:06};{age};{place};{code};{},5;{day:02}.{month:02}.2026\r",
                at * 7 + 3,
                at * 37 % 9000 + 200
            )
            .unwrap();
        }
        desk.write("export.csv", &text);
        desk
    }
}

#[test]
fn two_commands_make_a_verified_release_of_an_export() {
    let desk = Desk::with_export();
    let anonymize = ["anonymize", "--records", "export.csv", "--out", "release"];
    let first = desk.run(&[&anonymize[..], &["--purpose", "contract"]].concat());
    let told = said(&first);
    assert_eq!(first.status.code(), Some(0), "{told}");
    for what in [
        "300 records, 6 columns",
        "`;`",
        "open-ended",
        "k = 5",
        "spec.json is written",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
    assert!(!desk.path("release").exists(), "nobody accepted it");
    let spec = desk.document("spec.json");
    assert_eq!(spec["schema"]["format"]["decimal"], ",");
    assert_eq!(spec["hierarchies"]["PLZ"]["rule"], "prefixes");

    let second = desk.run(&[&anonymize[..], &["--spec", "spec.json"]].concat());
    assert_eq!(second.status.code(), Some(0), "{}", said(&second));
    assert!(said(&second).contains("300 records published"));
    assert!(said(&second).contains("\nverified\n"));
    assert!(desk.path("release").join("manifest.json").exists());
}

#[test]
fn accepted_unread_a_proposal_is_run_at_once() {
    let desk = Desk::with_export();
    let ran = desk.run(&[
        "anonymize",
        "--records",
        "export.csv",
        "--out",
        "release",
        "--purpose",
        "public",
        "--accept",
        "--write-spec",
        "public.json",
    ]);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    assert!(
        said(&ran).contains("k_anonymity: claimed 12"),
        "{}",
        said(&ran)
    );
    assert!(desk.path("public.json").exists());
}

#[test]
fn no_specification_of_somebody_else_is_written_over() {
    let desk = Desk::with_export();
    std::fs::write(desk.path("spec.json"), "{}").unwrap();
    let inspect = ["inspect", "export.csv", "--purpose", "public"];
    let refused = desk.run(&inspect);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("name another place with --write-spec"));
    assert_eq!(std::fs::read(desk.path("spec.json")).unwrap(), b"{}");
    let written = desk.run(&[&inspect[..], &["--write-spec", "mine.json"]].concat());
    assert_eq!(written.status.code(), Some(0), "{}", said(&written));
    // The same again is no other one.
    let again = desk.run(&[&inspect[..], &["--write-spec", "mine.json"]].concat());
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
}

#[test]
fn what_is_wrong_is_said_and_how_to_mend_it() {
    let desk = Desk::with_export();
    let neither = desk.run(&["anonymize", "--records", "export.csv", "--out", "release"]);
    assert_eq!(neither.status.code(), Some(2));
    assert!(said(&neither).contains("--purpose"), "{}", said(&neither));
    let both = [
        "anonymize",
        "--records",
        "export.csv",
        "--out",
        "x",
        "--spec",
        "a",
        "--purpose",
        "public",
    ];
    assert_eq!(desk.run(&both).status.code(), Some(2));
    let unknown = desk.run(&["inspect", "export.csv", "--purpose", "world"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        said(&unknown).contains("public and contract"),
        "{}",
        said(&unknown)
    );
    std::fs::write(desk.path("nobody.csv"), "sex,age\nf,31\nm,32\nf,33\n").unwrap();
    let nobody = desk.run(&["inspect", "nobody.csv", "--purpose", "public"]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(
        said(&nobody).contains("no column names the person"),
        "{}",
        said(&nobody)
    );
    std::fs::write(desk.path("book.csv"), b"PK\x03\x04").unwrap();
    let book = desk.run(&["inspect", "book.csv"]);
    assert_eq!(book.status.code(), Some(3));
    assert!(
        said(&book).contains("save the sheet as CSV"),
        "{}",
        said(&book)
    );
}

#[test]
fn an_own_purpose_is_proposed_and_run_like_those_of_everybody() {
    let desk = Desk::with_export();
    let own = json!([{"name": "partners", "max_reidentification": 0.13, "l": 2,
        "readers": "the hospitals of the group", "source": "the board's decision"}]);
    std::fs::write(desk.path("purposes.json"), own.to_string()).unwrap();
    let named = ["--purpose", "partners", "--purpose-file", "purposes.json"];
    let inspected = desk.run(&[&["inspect", "export.csv"], &named[..]].concat());
    let told = said(&inspected);
    assert_eq!(inspected.status.code(), Some(0), "{told}");
    for what in [
        "\npublic: ",
        "\npartners: ",
        "for the hospitals of the group: found with a probability of at most 0.13",
        "k = 8",
        "the board's decision",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
    let anonymize = ["anonymize", "--records", "export.csv", "--out", "release"];
    let ran = desk.run(&[&anonymize[..], &named[..], &["--accept"]].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    assert!(
        said(&ran).contains("k_anonymity: claimed 8"),
        "{}",
        said(&ran)
    );

    let unknown = ["--purpose", "world", "--purpose-file", "purposes.json"];
    let unknown = desk.run(&[&["inspect", "export.csv"], &unknown[..]].concat());
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        said(&unknown).contains("public, contract and partners"),
        "{}",
        said(&unknown)
    );
    std::fs::write(desk.path("purposes.json"), "[{\"name\": \"partners\"}]").unwrap();
    for command in [
        &["inspect", "export.csv"][..],
        &["serve", "--check-config", "--listen", "127.0.0.1:0"],
    ] {
        let refused = desk.run(&[command, &["--purpose-file", "purposes.json"]].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        let told = said(&refused);
        assert!(told.contains("purposes.json: is no list of"), "{told}");
    }
}

#[test]
fn an_inspection_is_told_as_json_with_its_jobs() {
    let desk = Desk::with_export();
    let inspected = desk.run(&["inspect", "export.csv", "--json"]);
    assert_eq!(inspected.status.code(), Some(0), "{}", said(&inspected));
    let found: Value = serde_json::from_slice(&inspected.stdout).unwrap();
    assert_eq!(found["schema"]["name"], "export");
    assert_eq!(found["jobs"][0]["parameters"]["k"], 12);
    assert_eq!(found["attributes"][1]["name"], json!("Alter"));
}
