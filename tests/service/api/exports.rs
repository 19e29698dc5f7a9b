//! A hospital's own export, as it is: inspected, described by what the
//! inspection proposes, uploaded and released, with nothing written by hand.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};
use vizard::config::Settings;
use vizard_anonymizer::catalog::Purposes;

use super::{Server, on_both, story};

on_both!(
    an_export_is_released_by_what_its_inspection_proposes,
    an_inspection_says_what_a_file_is_instead,
    ndjson_and_parquet_are_inspected_and_uploaded_by_what_was_proposed,
    no_dataset_names_people_by_the_numbers_of_rows,
    a_rule_is_kept_as_the_csv_that_it_makes,
    the_risk_of_a_dataset_is_told_before_any_job,
);

/// An export in Windows-1252: semicolons, decimal commas, `DD.MM.YYYY`, `90+`,
/// leading zeros, codes of ICD-10, words for what is missing.
fn export(records: u32) -> Vec<u8> {
    let mut text = String::from(
        "Patientennr;Name;Alter;Geschlecht;PLZ;Aufnahme_Datum;Hauptdiagnose;Kosten\r\n",
    );
    let names = ["Müller", "Groß", "Ägir", "Özil", "\"Dr. Weiß; Anna\""];
    let codes = [
        "I21.4", "I50.1", "J18.9", "K80.1", "N39.0", "E11.7", "S72.0",
    ];
    let places = ["01067", "01069", "04103", "04109"];
    for at in 0..records {
        let age = match at % 97 {
            above @ 90.. => format!("{above}+").replace(|one: char| one.is_ascii_digit(), ""),
            age => age.to_string(),
        };
        let age = if age == "+" { "90+".to_owned() } else { age };
        let place = if at % 50 == 7 {
            "NULL"
        } else {
            places[(at * 5 % 4) as usize]
        };
        writeln!(
            text,
            "{:07};{};{age};{};{place};{:02}.{:02}.2026;{};{},{:02}\r",
            at * 7919 % 1_000_003,
            names[(at % 5) as usize],
            ["w", "m"][(at / 3 % 2) as usize],
            1 + at % 28,
            1 + at % 9,
            codes[(at * 3 % 7) as usize],
            900 + at * 37 % 8000,
            at % 100,
        )
        .expect("a String");
    }
    // Every letter of it has one byte there.
    text.chars().map(|one| one as u8).collect()
}

/// The roles and types that the columns of the export have.
fn check_roles(schema: &Value) {
    let attributes = schema["attributes"].as_array().expect("a list");
    let said: Vec<(&str, &str, &str)> = attributes
        .iter()
        .map(|one| {
            let word = |name: &str| one[name].as_str().unwrap_or_default();
            (word("name"), word("role"), word("type"))
        })
        .collect();
    assert_eq!(
        said,
        [
            ("Patientennr", "identifier", ""),
            ("Name", "identifier", ""),
            ("Alter", "quasi_identifier", "integer"),
            ("Geschlecht", "quasi_identifier", "categorical"),
            ("PLZ", "quasi_identifier", "categorical"),
            ("Aufnahme_Datum", "quasi_identifier", "date"),
            ("Hauptdiagnose", "sensitive", "categorical"),
            ("Kosten", "sensitive", "decimal"),
        ]
    );
}

async fn an_export_is_released_by_what_its_inspection_proposes(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let inspect = client.call("inspect_file").query("name", "admissions");
    let found = inspect
        .body("text/csv", export(400))
        .send()
        .await
        .expect(200);
    assert_eq!(
        (&found["records"], &found["is_cut"]),
        (&json!(400), &json!(false))
    );
    let format = json!({"delimiter": ";", "encoding": "windows-1252", "decimal": ",",
        "dates": ["DD.MM.YYYY"], "missing_values": ["NULL"]});
    assert_eq!(found["schema"]["format"], format, "{found}");
    check_roles(&found["schema"]);
    let made = client
        .call("create_dataset")
        .json(&found["schema"])
        .send()
        .await
        .expect(201);
    let id = made["id"].as_str().expect("an id").to_owned();
    let rules = found["hierarchies"].as_object().expect("an object");
    assert!(rules.contains_key("PLZ"));
    for (name, rule) in rules {
        let put = client
            .call("put_dataset_hierarchy")
            .at("id", &id)
            .at("name", name);
        put.json(rule).send().await.expect(201);
    }
    let upload = client
        .call("upload_records")
        .at("id", &id)
        .body("text/csv", export(400));
    let uploaded = upload.send().await.expect(201);
    assert_eq!(uploaded["records"], 400);

    // A day in another form than the schema says is told with that form.
    let mut other = export(400);
    let day = other
        .windows(10)
        .position(|text| text == b"02.02.2026")
        .expect("a day");
    other[day..day + 10].copy_from_slice(b"2026-02-02");
    let upload = client
        .call("upload_records")
        .at("id", &id)
        .query("mode", "replace");
    let refused = upload.body("text/csv", other).send().await;
    let problem = refused.expect_problem(422, "invalid-data");
    assert_eq!(
        problem["summary"][0]["expected"],
        "a day that exists, as DD.MM.YYYY"
    );

    for job in found["jobs"].as_array().expect("a list") {
        let spec = json!({"dataset": id, "engine": job["engine"],
            "parameters": job["parameters"], "report": {"queries": 20}});
        let release = story::release(&client, &spec).await;
        let view = client
            .call("get_release")
            .at("id", &release)
            .send()
            .await
            .expect(200);
        assert_eq!(view["state"], "draft", "{}", job["purpose"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operators_own_purpose_gets_a_job_beside_those_of_everybody() {
    let own = json!([{"name": "partners", "max_reidentification": 0.1, "l": 4,
        "readers": "the hospitals of the group", "source": "the board's decision"}]);
    let settings = Settings {
        purposes: Purposes::with_own(own.to_string().as_bytes()).expect("a purpose"),
        ..Settings::default()
    };
    let server = Server::sqlite_with(settings).await;
    let client = server.key(&["uploader"]).await;
    let inspect = client.call("inspect_file").body("text/csv", export(400));
    let found = inspect.send().await.expect(200);
    let jobs = found["jobs"].as_array().expect("a list");
    let names: Vec<&str> = jobs
        .iter()
        .filter_map(|job| job["purpose"].as_str())
        .collect();
    assert_eq!(names, ["public", "contract", "partners"]);
    assert_eq!(
        (&jobs[2]["parameters"]["k"], &jobs[2]["parameters"]["l"]),
        (&json!(10), &json!(4))
    );
    let reasons = jobs[2]["reasons"].to_string();
    for said in [
        "the hospitals of the group",
        "at most 0.1",
        "the board's decision",
    ] {
        assert!(reasons.contains(said), "{said}: {reasons}");
    }
}

async fn an_inspection_says_what_a_file_is_instead(server: Server) {
    let client = server.key(&["uploader"]).await;
    let refused = async |body: &[u8]| {
        let call = client.call("inspect_file").body("text/csv", body.to_vec());
        call.send().await.expect_problem(422, "invalid-data")["detail"].clone()
    };
    for (body, said) in [
        (&b""[..], "empty"),
        (b"PK\x03\x04rest", "workbook"),
        (b"a;b\n", "no record"),
        (b"1;2;3\n4;5;6\n", "first line seems to be a record"),
        (b"a;b;a\n4;5;6\n", "twice"),
    ] {
        let detail = refused(body).await;
        assert!(detail.as_str().expect("a text").contains(said), "{detail}");
    }
    let call = client.call("inspect_file").body("application/json", "{}");
    call.send()
        .await
        .expect_problem(415, "unsupported-media-type");
    let analyst = server.key(&["analyst"]).await;
    let call = analyst.call("inspect_file").body("text/csv", "a;b\n1;2\n");
    call.send().await.expect_problem(403, "forbidden");
    // Nobody is named: what was found is told, and no schema.
    let call = client
        .call("inspect_file")
        .body("text/csv", "sex,age\nm,3\nf,4\nm,5\n");
    let found = call.send().await.expect(200);
    assert_eq!(
        (&found["schema"], &found["jobs"]),
        (&Value::Null, &json!([]))
    );
    assert!(
        found["questions"][0]
            .as_str()
            .expect("a text")
            .contains("names the person")
    );
}

/// Stays of 60 people as NDJSON and as Parquet.
fn stays() -> [(&'static str, Vec<u8>); 2] {
    let lines = (0..60).map(|at| {
        let row = json!({"patient_id": format!("p{at}"), "age": at % 30 + 20, "icd_code": "I21"});
        format!("{row}\n")
    });
    let keys: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..60).map(|at| format!("p{at}")),
    ));
    let ages: ArrayRef = Arc::new(Int64Array::from_iter_values((0..60).map(|at| at % 30 + 20)));
    let codes: ArrayRef = Arc::new(StringArray::from_iter_values((0..60).map(|_| "I21")));
    let columns = [("patient_id", keys), ("age", ages), ("icd_code", codes)];
    let batch = RecordBatch::try_from_iter(columns).expect("a table");
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).expect("a file");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
    [
        (
            "application/x-ndjson",
            lines.collect::<String>().into_bytes(),
        ),
        ("application/vnd.apache.parquet", file),
    ]
}

async fn ndjson_and_parquet_are_inspected_and_uploaded_by_what_was_proposed(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let mut first = None;
    for (media_type, body) in stays() {
        let inspect = client.call("inspect_file").body(media_type, body.clone());
        let found = inspect.send().await.expect(200);
        assert_eq!(found["records"], 60);
        // Members of JSON have no order.
        let mut attributes = found["attributes"].as_array().expect("a list").clone();
        attributes.sort_by_key(|one| text_of(&one["name"]).to_owned());
        let before = first.get_or_insert(attributes.clone());
        assert_eq!(&attributes, before, "{media_type}");
        let made = client.call("create_dataset").json(&found["schema"]);
        let made = made.send().await.expect(201);
        let upload = client.call("upload_records").at("id", text_of(&made["id"]));
        let uploaded = upload.body(media_type, body.clone()).send().await;
        assert_eq!(uploaded.expect(201)["records"], 60, "{media_type}");
        // Whatever is cut off a Parquet file, its end says what it is.
        let cut = client
            .call("inspect_file")
            .body(media_type, body[..body.len() - 4].to_vec());
        let cut = cut.send().await;
        match media_type {
            "application/x-ndjson" => assert_eq!(cut.expect(200)["records"], 59),
            _ => drop(cut.expect_problem(422, "invalid-data")),
        }
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().expect("a text")
}

async fn no_dataset_names_people_by_the_numbers_of_rows(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let schema = json!({"name": "rows", "subject_key": {"row": true},
        "attributes": [{"name": "age", "role": "quasi_identifier", "type": "integer"}]});
    let refused = client.call("create_dataset").json(&schema).send().await;
    let problem = refused.expect_problem(422, "invalid-schema");
    assert!(
        text_of(&problem["detail"]).contains("add a column"),
        "{problem}"
    );
}

async fn a_rule_is_kept_as_the_csv_that_it_makes(server: Server) {
    let steward = server.key(&["steward"]).await;
    let put = |document: &Value| {
        steward
            .call("put_hierarchy")
            .at("name", "age")
            .json(document)
    };
    let rule = json!({"rule": "intervals", "from": 0, "to": 9, "widths": [5]});
    let made = put(&rule).send().await.expect(201);
    assert_eq!((&made["leaves"], &made["height"]), (&json!(10), &json!(2)));
    let get = steward
        .call("get_hierarchy")
        .at("name", "age")
        .query("content", true);
    let kept = get.send().await;
    assert_eq!(kept.media_type(), Some("text/csv"));
    assert!(kept.text().starts_with("0;[0..5);*\n"), "{}", kept.text());
    assert_eq!(put(&rule).send().await.expect(200), made);
    for rule in [
        json!({"rule": "intervals", "from": 0, "to": 9, "widths": [5, 7]}),
        json!({"rule": "interval", "from": 0, "to": 9}),
        json!({"rule": "flat", "values": ["canary", "canary"]}),
    ] {
        let problem = put(&rule)
            .send()
            .await
            .expect_problem(422, "invalid-hierarchy");
        assert!(!problem.to_string().contains("canary"), "{problem}");
    }
    let huge = json!({"rule": "prefixes", "digits": 9, "lengths": [3]});
    put(&huge)
        .send()
        .await
        .expect_problem(422, "limit-exceeded");
}

async fn the_risk_of_a_dataset_is_told_before_any_job(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::dataset(&client).await;
    let risk = || client.call("get_dataset_risk").at("id", &id);
    risk().send().await.expect_problem(409, "no-records");
    let upload = story::upload(&client, &id, story::records(0, 120)).await;
    upload.expect(201);
    story::upload(&client, &id, story::records(120, 130))
        .await
        .expect(201);
    let found = risk().send().await.expect(200);
    assert_eq!(
        (&found["version"], &found["records"]),
        (&json!(2), &json!(130))
    );
    let names: Vec<&str> = found["attributes"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert_eq!(names, ["age", "sex", "ward"]);
    // Three attributes have seven sets.
    assert_eq!(found["sets"].as_array().map(Vec::len), Some(7));
    let all = found["growing"]
        .as_array()
        .expect("a list")
        .last()
        .expect("a set");
    assert_eq!(all["attributes"], json!(["age", "sex", "ward"]));
    // Equal numbers give equal records: 130 of 60 kinds.
    assert_eq!((&all["k_min"], &all["unique"]), (&json!(2), &json!(0.0)));
    assert_eq!(found["sensitive"][0]["name"], "cost");
    let uploader = server.key(&["uploader"]).await;
    let refused = uploader.call("get_dataset_risk").at("id", &id).send().await;
    refused.expect_problem(403, "forbidden");
}
