//! Several tables about one subject in one upload.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Server, on_both, story};

on_both!(
    a_form_of_tables_becomes_one_version_and_a_release,
    resources_of_fhir_are_joined_and_others_counted,
    a_form_that_is_none_keeps_nothing,
);

const PERSONS: usize = 120;
const CODES: [&str; 5] = ["I21", "J18", "K80", "N39", "E11"];

fn schema() -> Value {
    json!({"name": "conditions", "subject_key": "patient", "multiplicity": "many",
        "attributes": [{"name": "patient", "role": "identifier"},
            {"name": "birth_date", "role": "quasi_identifier", "type": "date"},
            {"name": "gender", "role": "quasi_identifier", "type": "categorical"},
            {"name": "postal_code", "role": "quasi_identifier", "type": "categorical"},
            {"name": "diagnosis", "role": "sensitive", "type": "categorical"}]})
}

/// Patients, diagnoses, and both joined by hand.
fn tables() -> [String; 3] {
    let mut patients = String::from("patient,birth_date,gender,postal_code\n");
    let mut diagnoses = String::from("diagnosis,patient\n");
    let mut joined = String::from("diagnosis,patient,birth_date,gender,postal_code\n");
    for person in 0..PERSONS {
        let day = format!("{}-03-1{}", 1930 + person % 60, person % 10);
        let who = format!(
            "{day},{},{}",
            ["f", "m"][person % 2],
            ["01067", "01069"][person / 2 % 2]
        );
        writeln!(patients, "p{person},{who}").expect("a String");
        for nth in 0..=person % 3 {
            let code = CODES[(person + nth * 2) % 5];
            writeln!(diagnoses, "{code},p{person}").expect("a String");
            writeln!(joined, "{code},p{person},{who}").expect("a String");
        }
    }
    [patients, diagnoses, joined]
}

const BOUNDARY: &str = "----vizard7";

fn media_type() -> String {
    format!("multipart/form-data; boundary={BOUNDARY}")
}

/// A form of parts: name, media type, content.
fn form(parts: &[(&str, &str, &str)]) -> String {
    let mut body = String::new();
    for (name, media_type, content) in parts {
        write!(
            body,
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"f\"\r\n\
             Content-Type: {media_type}\r\n\r\n{content}\r\n"
        )
        .expect("a String");
    }
    body + &format!("--{BOUNDARY}--\r\n")
}

async fn a_form_of_tables_becomes_one_version_and_a_release(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let made = client.call("create_dataset").json(&schema()).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    let [patients, diagnoses, joined] = tables();
    let body = form(&[
        ("d", "text/csv", &diagnoses),
        ("p", "text/csv; charset=utf-8", &patients),
    ]);
    let upload = |body: String| {
        client
            .call("upload_records")
            .at("id", &id)
            .body(&media_type(), body)
    };
    let dry = upload(body.clone())
        .query("dry_run", true)
        .send()
        .await
        .expect(200);
    let uploaded = upload(body.clone()).send().await.expect(201);
    let rows = (joined.lines().count() - 1) as u64;
    let parts = json!([{"table": "part 1", "rows": rows, "unknown_subjects": 0},
        {"table": "part 2", "rows": PERSONS, "unknown_subjects": 0}]);
    for answer in [&dry, &uploaded] {
        assert_eq!(
            (&answer["parts"], &answer["records"]),
            (&parts, &json!(rows))
        );
        assert_eq!(answer["other_resources"], json!([]));
    }
    assert_eq!(uploaded["version"], 1);
    // The same content as the file that is joined by hand, and the same upsert.
    let whole = client
        .call("upload_records")
        .at("id", &id)
        .query("mode", "upsert");
    let whole = whole.body("text/csv", joined).send().await.expect(201);
    assert_eq!(whole["sha256"], uploaded["sha256"]);
    assert!(whole.get("parts").is_none(), "{whole}");
    let again = upload(body)
        .query("mode", "upsert")
        .send()
        .await
        .expect(201);
    assert_eq!(again["subjects"], whole["subjects"]);
    assert_eq!(again["subjects"]["replaced"], PERSONS);

    let spec = json!({"dataset": id, "engine": "one_to_many",
        "parameters": {"k": 5, "l": 2, "k_group": 6}, "report": {"queries": 20}});
    let release = story::release(&client, &spec).await;
    let verification = client
        .call("get_release_verification")
        .at("id", &release)
        .send()
        .await;
    assert_eq!(verification.expect(200)["holds"], true);
}

async fn resources_of_fhir_are_joined_and_others_counted(server: Server) {
    let client = server.key(&["uploader"]).await;
    let made = client.call("create_dataset").json(&schema()).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    let condition = |reference: &str| {
        json!({"resourceType": "Condition", "subject": {"reference": reference}, "code": {"coding": [
            {"system": "http://hl7.org/fhir/sid/icd-10", "code": "I21"}]}})
    };
    let patient = json!({"resourceType": "Patient", "id": "1", "birthDate": "1950-02-03", "gender": "male",
        "address": [{"postalCode": "01067"}, {"postalCode": "9"}]});
    let observation = json!({"resourceType": "Observation", "subject": {"reference": "Patient/1"}});
    let text = |lines: &[Value]| {
        lines
            .iter()
            .fold(String::new(), |text, line| text + &format!("{line}\n"))
    };
    let first = text(&[condition("Patient/1"), observation]);
    let second = text(&[patient, condition("Patient/canary")]);
    let tables = [
        ("a", "application/x-ndjson", &*first),
        ("b", "application/x-ndjson", &*second),
    ];
    let upload = |mapping: (&str, &str), allow_loss: bool| {
        let parts = [("mapping", mapping.0, mapping.1), tables[0], tables[1]];
        client
            .call("upload_records")
            .at("id", &id)
            .query("allow_loss", allow_loss)
            .body(&media_type(), form(&parts))
            .send()
    };
    let problem = upload(("text/plain", "fhir"), true)
        .await
        .expect_problem(422, "invalid-data");
    let errors = json!([{"part": 2, "line": 2, "attribute": "patient", "code": "subject_unknown"}]);
    assert_eq!(problem["errors"], errors);
    assert!(!problem.to_string().contains("canary"), "{problem}");
    let mapping = json!({"subject": "patient", "unknown_subjects": "drop", "tables": {
        "Patient": {"rows": "one", "subject": "id", "attributes": {"birth_date": "birthDate",
            "gender": "gender", "postal_code": "address[0].postalCode"}},
        "Condition": {"rows": "many", "subject": "subject.reference",
            "attributes": {"diagnosis": "code.coding[system=http://hl7.org/fhir/sid/icd-10].code"}}}});
    let mapping = mapping.to_string();
    let refused = upload(("application/json", &mapping), false).await;
    let problem = refused.expect_problem(422, "would-lose-records");
    let detail = problem["detail"].as_str().expect("a text");
    assert!(detail.starts_with("1 of 2 rows"), "{detail}");
    let uploaded = upload(("application/json", &mapping), true)
        .await
        .expect(201);
    let parts = json!([{"table": "Condition", "rows": 2, "unknown_subjects": 1},
        {"table": "Patient", "rows": 1, "unknown_subjects": 0}]);
    assert_eq!(
        (&uploaded["parts"], &uploaded["records"]),
        (&parts, &json!(1))
    );
    let others = json!([{"resource": "Observation", "count": 1}]);
    assert_eq!(uploaded["other_resources"], others);
}

/// Forms that cannot be taken, with what is said of each.
fn wrong_forms(patients: &str, diagnoses: &str) -> Vec<(String, &'static str)> {
    vec![
        (
            form(&[("p", "text/plain", patients)]),
            "text/csv or application/x-ndjson",
        ),
        (
            form(&[
                ("p", "text/csv", patients),
                ("mapping", "text/plain", "fhir"),
            ]),
            "before the tables",
        ),
        (
            form(&[
                ("mapping", "application/json", "{}"),
                ("p", "text/csv", patients),
            ]),
            "missing field",
        ),
        (
            form(&[("mapping", "text/plain", "hl7")]),
            "`fhir` or `omop`",
        ),
        (
            form(&[
                ("p", "text/csv", patients),
                ("d", "text/csv", diagnoses),
                ("d", "text/csv", diagnoses),
            ]),
            "",
        ),
        (form(&[]), ""),
        (patients.to_owned(), "closing boundary"),
    ]
}

async fn a_form_that_is_none_keeps_nothing(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let made = client.call("create_dataset").json(&schema()).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    let [patients, diagnoses, _] = tables();
    let whole = form(&[("p", "text/csv", &patients), ("d", "text/csv", &diagnoses)]);
    let cut = whole[..whole.len() - BOUNDARY.len()].to_owned();
    let upload = |body: String| {
        client
            .call("upload_records")
            .at("id", &id)
            .body(&media_type(), body)
    };
    let mut wrong = wrong_forms(&patients, &diagnoses);
    wrong.push((cut, "closing boundary"));
    for (body, said) in wrong {
        let problem = upload(body)
            .send()
            .await
            .expect_problem(422, "invalid-data");
        let detail = problem["detail"].as_str().expect("a text");
        assert!(detail.contains(said), "{said}: {problem}");
    }
    let nameless = client
        .call("upload_records")
        .at("id", &id)
        .body("multipart/form-data", whole.clone());
    nameless
        .send()
        .await
        .expect_problem(415, "unsupported-media-type");
    // A correction of one person is no form.
    let one = client.call("put_subject").at("id", &id).at("subject", "p1");
    let refused = one.body(&media_type(), whole).send().await;
    refused.expect_problem(415, "unsupported-media-type");
    let dataset = client
        .call("get_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    assert_eq!(
        (&dataset["version"], &dataset["records"]),
        (&json!(0), &json!(0))
    );
}
