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

#[test]
fn an_export_as_ndjson_is_released_by_two_commands_as_well() {
    let desk = Desk::empty();
    let lines = (0..300).map(|at| {
        let codes = ["I21.4", "J18.9", "K80.1", "N390", "E11.7", "S72.0"];
        let row = json!({"Patientennr": format!("{:06}", at * 7 + 3), "Alter": at % 71 + 18,
            "PLZ": (["01067", "01069", "04103"][at / 2 % 3]), "Hauptdiagnose": (codes[at % 6]),
            "Aufnahmedatum": format!("2026-{:02}-{:02}", at % 12 + 1, at % 28 + 1),
            "verstorben": at % 9 == 0});
        format!("{row}\n")
    });
    desk.write("export.ndjson", &lines.collect::<String>());
    let records = [
        "anonymize",
        "--records",
        "export.ndjson",
        "--out",
        "release",
    ];
    let ran = desk.run(&[&records[..], &["--purpose", "contract", "--accept"]].concat());
    let told = said(&ran);
    assert_eq!(ran.status.code(), Some(0), "{told}");
    for what in [
        "NDJSON: an object a line, 6 members",
        "verstorben: truth values of JSON are no cells",
        "300 records published",
        "\nverified\n",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
    // By its name a command reads it as something else.
    std::fs::rename(desk.path("export.ndjson"), desk.path("export.txt")).unwrap();
    let misnamed = desk.run(&["inspect", "export.txt"]);
    assert_eq!(misnamed.status.code(), Some(3), "{}", said(&misnamed));
    assert!(said(&misnamed).contains("ends in .ndjson"));
}

#[test]
fn rows_without_a_key_are_people_where_somebody_says_so() {
    let desk = Desk::empty();
    let rows = (0..200).map(|at| {
        let codes = ["I21", "J18", "K80", "N39", "E11"];
        format!(
            "{},{},{}\n",
            at % 50 + 20,
            ["f", "m"][at % 2],
            codes[at % 5]
        )
    });
    let text = format!("age,sex,icd_code\n{}", rows.collect::<String>());
    desk.write("rows.csv", &text);
    let anonymize = ["anonymize", "--records", "rows.csv", "--out", "release"];
    let unread = desk.run(&[&anonymize[..], &["--purpose", "contract", "--accept"]].concat());
    assert_eq!(unread.status.code(), Some(2), "{}", said(&unread));
    assert!(said(&unread).contains("is each row one person?"));
    assert!(
        !desk.path("release").exists(),
        "nobody said that rows are people"
    );
    let mut spec = desk.document("spec.json");
    assert_eq!(spec["schema"]["subject_key"], json!({"row": true}));

    let read = [&anonymize[..], &["--spec", "spec.json"]].concat();
    let ran = desk.run(&read);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    assert!(said(&ran).contains("200 records published"));
    let published = std::fs::read_to_string(desk.path("release/microdata.csv")).unwrap();
    assert!(
        !published.lines().next().unwrap().contains("row"),
        "no number is published"
    );

    // Nobody's terms are found by a number.
    desk.write("terms.csv", "subject,exclude\n7,true\n");
    let terms = desk.run(
        &[
            &read[..4],
            &["again", "--spec", "spec.json", "--preferences", "terms.csv"],
        ]
        .concat(),
    );
    assert_eq!(terms.status.code(), Some(2), "{}", said(&terms));
    assert!(said(&terms).contains("nobody's for good"));
    spec["schema"]["multiplicity"] = json!("many");
    desk.write("many.json", &spec.to_string());
    let many = desk.run(&[&read[..4], &["again", "--spec", "many.json"]].concat());
    assert_eq!(many.status.code(), Some(3), "{}", said(&many));
}
