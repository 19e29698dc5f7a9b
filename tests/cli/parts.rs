//! Several tables about one subject, from files to a verified release.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::desk::{Desk, said};

const PERSONS: usize = 160;
const CODES: [&str; 7] = [
    "I21.4", "J18.9", "K80.1", "N39.0", "E11.7", "S72.0", "I50.1",
];

impl Desk {
    /// Anonymizes these records and verifies the release; what was said.
    fn release(&self, records: &[&str]) -> String {
        let made = ["--out", "release", "--lineage", "lineage.csv"];
        let made = self.run(&[&["anonymize", "--spec", "spec.json"], records, &made].concat());
        let told = said(&made);
        assert_eq!(made.status.code(), Some(0), "{told}");
        let checked = ["--release", "release", "--lineage", "lineage.csv"];
        let checked = self.run(&[&["verify", "--spec", "spec.json"], records, &checked].concat());
        assert_eq!(checked.status.code(), Some(0), "{}", said(&checked));
        told
    }

    fn manifest(&self) -> Value {
        self.document("release/manifest.json")
    }
}

/// The nth code of a person, and whether there is one.
fn code(person: usize, nth: usize) -> Option<&'static str> {
    let mixed = (person as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    (nth as u64 <= mixed % 3).then(|| CODES[(person * 3 + nth * 2) % 7])
}

fn job() -> Value {
    json!({"engine": "one_to_many", "parameters": {"k": 5, "l": 3, "k_group": 6}, "seed": 7,
        "report": {"queries": 20}})
}

/// The specification that fits the mapping `fhir`.
fn fhir_spec() -> Value {
    json!({"schema": {"name": "conditions", "subject_key": "patient", "multiplicity": "many",
        "attributes": [{"name": "patient", "role": "identifier"},
            {"name": "birth_date", "role": "quasi_identifier", "type": "date"},
            {"name": "gender", "role": "quasi_identifier", "type": "categorical"},
            {"name": "postal_code", "role": "quasi_identifier", "type": "categorical"},
            {"name": "diagnosis", "role": "sensitive", "type": "categorical", "hierarchy": "icd"}]},
        "hierarchies": {"icd": {"rule": "flat", "values": CODES}}, "job": job()})
}

fn patient(person: usize) -> Value {
    json!({"resourceType": "Patient", "id": format!("pat-{person}"), "active": true,
        "identifier": [{"system": "urn:oid:1.2.3", "value": person.to_string()}],
        "name": [{"use": "official", "family": "Muster", "given": ["Kim"]}],
        "gender": (["female", "male"][person % 2]),
        "birthDate": format!("{}-0{}-1{}", 1930 + person % 70, person % 9 + 1, person % 10),
        "deceasedBoolean": false,
        "address": [{"use": "home", "city": "Dresden", "postalCode": (["01067", "01069"][person / 3 % 2])}]})
}

fn condition(person: usize, code: &str) -> Value {
    json!({"resourceType": "Condition", "id": format!("c-{person}-{code}"),
        "clinicalStatus": {"coding": [{"code": "active"}]},
        "code": {"coding": [{"system": "http://snomed.info/sct", "code": "22298006"},
            {"system": "http://hl7.org/fhir/sid/icd-10", "code": code}], "text": "as written"},
        "subject": {"reference": format!("Patient/pat-{person}")},
        "encounter": {"reference": "Encounter/1"}, "recordedDate": "2026-03-01T10:00:00+01:00"})
}

/// Resources one a line: the conditions first, then patients and others.
fn bulk_data() -> [String; 2] {
    let (mut conditions, mut patients) = (String::new(), String::new());
    for person in 0..PERSONS {
        writeln!(patients, "{}", patient(person)).unwrap();
        for nth in 0..3 {
            if let Some(code) = code(person, nth) {
                writeln!(conditions, "{}", condition(person, code)).unwrap();
            }
        }
    }
    let others = r#"{"resourceType":"Observation","id":"o"}
{"resourceType":"Observation","id":"q","component":[{"valueQuantity":{"value":1.5}}]}
{"resourceType":"Encounter","id":"e"}
"#;
    [conditions, patients + others]
}

#[test]
fn fhir_bulk_data_is_joined_to_a_verified_release() {
    let desk = Desk::empty();
    let [conditions, patients] = bulk_data();
    desk.write("spec.json", &fhir_spec().to_string());
    desk.write("Condition.000.ndjson", &conditions);
    desk.write("Patient.000.ndjson", &patients);
    let records = ["Condition.000.ndjson", "Patient.000.ndjson"];
    let told = desk.release(&[
        "--records",
        records[0],
        "--records",
        records[1],
        "--mapping",
        "fhir",
    ]);
    for what in [
        "Patient: 160 rows\n",
        &format!("Condition: {} rows\n", conditions.lines().count()),
        "not mapped: 2 of Observation\n",
        "not mapped: 1 of Encounter\n",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
    assert_eq!(desk.manifest()["records"], PERSONS);
    // All in one file is the same.
    desk.write("all.ndjson", &(patients + &conditions));
    let risk = |records: &[&str]| {
        let risk = [
            &["risk", "--spec", "spec.json", "--json", "--mapping", "fhir"],
            records,
        ]
        .concat();
        let risk = desk.run(&risk);
        assert_eq!(risk.status.code(), Some(0), "{}", said(&risk));
        risk.stdout
    };
    assert_eq!(
        risk(&["--records", "all.ndjson"]),
        risk(&["--records", records[0], "--records", records[1]])
    );
}

/// What an OMOP extract is published as.
fn omop_spec() -> Value {
    json!({"schema": {"name": "omop", "subject_key": "person_id", "multiplicity": "many",
        "attributes": [{"name": "person_id", "role": "identifier"},
            {"name": "year_of_birth", "role": "quasi_identifier", "type": "integer"},
            {"name": "gender_concept_id", "role": "quasi_identifier", "type": "categorical"},
            {"name": "race_concept_id", "role": "quasi_identifier", "type": "categorical"},
            {"name": "condition_concept_id", "role": "sensitive", "type": "categorical", "hierarchy": "concept"}]},
        "hierarchies": {"concept": {"rule": "flat",
            "values": ["312327", "255848", "198809", "81902", "201826", "4230399", "316139"]}},
        "job": job()})
}

#[test]
fn an_omop_extract_is_joined_to_a_verified_release() {
    let desk = Desk::empty();
    let spec = omop_spec();
    let concepts = spec["hierarchies"]["concept"]["values"].as_array().unwrap();
    let mut persons = String::from(
        "person_id,gender_concept_id,year_of_birth,month_of_birth,day_of_birth,birth_datetime,\
         race_concept_id,ethnicity_concept_id,location_id,provider_id,care_site_id,\
         person_source_value,gender_source_value,gender_source_concept_id,race_source_value,\
         race_source_concept_id,ethnicity_source_value,ethnicity_source_concept_id\n",
    );
    let mut conditions = String::from(
        "condition_occurrence_id,person_id,condition_concept_id,condition_start_date,\
         condition_start_datetime,condition_end_date,condition_end_datetime,\
         condition_type_concept_id,condition_status_concept_id,stop_reason,provider_id,\
         visit_occurrence_id,visit_detail_id,condition_source_value,condition_source_concept_id,\
         condition_status_source_value\n",
    );
    for person in 0..PERSONS {
        let (gender, race) = ([8507, 8532][person % 2], [8527, 8516][person / 2 % 2]);
        let year = 1930 + person % 70;
        writeln!(persons, "{person},{gender},{year},,,,{race},0,,,,,,0,,0,,0").unwrap();
        for nth in 0..3 {
            if let Some(code) = code(person, nth) {
                let at = CODES.iter().position(|one| *one == code).unwrap();
                let concept = concepts[at].as_str().unwrap();
                writeln!(
                    conditions,
                    "{},{person},{concept},2026-01-0{},,,,32817,0,,,,,{code},0,",
                    person * 3 + nth,
                    nth + 1
                )
                .unwrap();
            }
        }
    }
    desk.write("spec.json", &spec.to_string());
    desk.write("PERSON.csv", &persons);
    desk.write("conditions.csv", &conditions);
    let second = "condition_occurrence=conditions.csv";
    desk.release(&[
        "--records",
        "PERSON.csv",
        "--records",
        second,
        "--mapping",
        "omop",
    ]);
    assert_eq!(desk.manifest()["records"], PERSONS);
    // Nothing is written over what is read, under whatever name.
    let over = ["--out", "other", "--lineage", "conditions.csv"];
    let records = [
        "anonymize",
        "--spec",
        "spec.json",
        "--records",
        "PERSON.csv",
        "--records",
        second,
    ];
    let refused = desk.run(&[&records[..], &["--mapping", "omop"], &over].concat());
    assert_ne!(refused.status.code(), Some(0));
    assert_eq!(
        std::fs::read_to_string(desk.path("conditions.csv")).unwrap(),
        conditions
    );
}

/// Two files as the schema names their columns.
fn two_files(desk: &Desk) {
    let mut spec = fhir_spec();
    spec["schema"]["missing"] = json!("category");
    desk.write("spec.json", &spec.to_string());
    desk.write(
        "patients.csv",
        "patient,birth_date,gender,postal_code\na,1950-01-01,f,1\nb,1960-01-01,m,2\na,1,f,3\n",
    );
    desk.write(
        "diagnoses.csv",
        "diagnosis,patient\nI21.4,a\nX,b\nJ18.9,nobody\n",
    );
}

#[test]
fn what_is_wrong_is_told_by_part_and_line() {
    let desk = Desk::empty();
    two_files(&desk);
    let risk = ["risk", "--spec", "spec.json", "--records", "patients.csv"];
    let refused = desk.run(&[&risk[..], &["--records", "diagnoses.csv"]].concat());
    let told = said(&refused);
    assert_eq!(refused.status.code(), Some(3), "{told}");
    for what in [
        "part 1: patients.csv, part 2: diagnoses.csv: 3 errors in the input",
        "part 1, line 4, patient: duplicate_subject",
        "part 2, line 3, diagnosis: not_in_hierarchy",
        "part 2, line 4, patient: subject_unknown",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
    assert!(!told.contains("nobody"), "{told}");
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let desk = Desk::empty();
    two_files(&desk);
    let two = ["--records", "patients.csv", "--records", "diagnoses.csv"];
    let run = |arguments: &[&str]| {
        let output = desk.run(&[arguments, &two].concat());
        (output.status.code(), said(&output))
    };
    let (code, told) = run(&["anonymize", "--purpose", "public", "--out", "o"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("--spec"), "{told}");
    let (code, told) = run(&["risk", "--spec", "spec.json", "--mapping", "fhir"]);
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("called as no table of the mapping"), "{told}");
    desk.write("map.json", "{\"subject\": \"patient\", \"tables\": []}");
    let (code, told) = run(&["risk", "--spec", "spec.json", "--mapping", "map.json"]);
    assert_eq!(code, Some(3), "{told}");
    assert!(
        told.contains("map.json: parts: the mapping, line 1"),
        "{told}"
    );
    let (code, told) = run(&["risk", "--spec", "spec.json", "--records", "more.parquet"]);
    assert_eq!(code, Some(2), "{told}");
}
