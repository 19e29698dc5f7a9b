//! How much a table may hold: records, attributes, values, cells.

use serde_json::{Value, json};
use vizard::config::Limits;

use super::{names, server, version};
use crate::api::story;
use crate::common::client::{Answer, Client};

const HEADER: &str = "patient,age,sex,ward,cost\n";

/// One limit, an upload that is exactly at it, and one that is past it.
struct Case {
    limits: Limits,
    code: &'static str,
    limit: (&'static str, u64),
    at: Vec<[String; 5]>,
    past: Vec<[String; 5]>,
}

fn record(patient: &str, sex: &str) -> [String; 5] {
    [patient, "30", sex, "red", "1"].map(str::to_owned)
}

fn records(count: usize) -> Vec<[String; 5]> {
    (0..count)
        .map(|at| record(&format!("p{at}"), "F"))
        .collect()
}

/// Records with so many distinct values of `sex`.
fn values(count: usize) -> Vec<[String; 5]> {
    let one = |at| record(&format!("p{at}"), &format!("v{}", at % count));
    (0..20).map(one).collect()
}

fn csv(records: &[[String; 5]]) -> String {
    let lines: String = records.iter().map(|cells| cells.join(",") + "\n").collect();
    HEADER.to_owned() + &lines
}

fn ndjson(records: &[[String; 5]]) -> String {
    let line = |cells: &[String; 5]| {
        let number = |at: usize| cells[at].parse::<i64>().expect("a number");
        json!({"patient": cells[0], "age": number(1), "sex": cells[2], "ward": cells[3],
            "cost": number(4)})
        .to_string()
            + "\n"
    };
    records.iter().map(line).collect()
}

fn cases() -> Vec<Case> {
    let of = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        limits
    };
    vec![
        Case {
            limits: of(|limits| limits.records_max = 7),
            code: "too_many_records",
            limit: ("records_max", 7),
            at: records(7),
            past: records(8),
        },
        Case {
            limits: of(|limits| limits.distinct_values_max = 3),
            code: "too_many_values",
            limit: ("distinct_values_max", 3),
            at: values(3),
            past: values(4),
        },
        Case {
            limits: of(|limits| limits.cell_bytes_max = 10),
            code: "cell_too_long",
            limit: ("cell_bytes_max", 10),
            at: vec![record(&"x".repeat(10), "F")],
            past: vec![record(&"x".repeat(11), "F")],
        },
    ]
}

async fn replace(client: &Client, id: &str, (media_type, body): (&str, String)) -> Answer {
    let call = client.call("upload_records").at("id", id);
    call.query("mode", "replace")
        .body(media_type, body)
        .send()
        .await
}

/// Panics unless the answer lists this code first and names the limit.
#[track_caller]
fn is_past(answer: &Answer, code: &str, (limit, value): (&str, u64)) {
    names(answer, (422, "invalid-data"), limit, value);
    assert_eq!(answer.json()["errors"][0]["code"], code);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_may_hold_as_much_as_each_limit_and_no_more() {
    for case in cases() {
        let server = server(case.limits).await;
        let client = server.key(&["uploader"]).await;
        let id = story::dataset(&client).await;
        for form in [
            ("text/csv", csv as fn(&[[String; 5]]) -> String),
            ("application/x-ndjson", ndjson),
        ] {
            let (media_type, write) = form;
            let taken = replace(&client, &id, (media_type, write(&case.at))).await;
            let before = taken.expect(201)["version"].as_u64();
            let refused = replace(&client, &id, (media_type, write(&case.past))).await;
            is_past(&refused, case.code, case.limit);
            assert_eq!(Some(version(&client, &id).await), before);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_may_be_as_long_as_its_limit_with_its_line_end() {
    for (media_type, write, lengths) in [
        (
            "text/csv",
            csv as fn(&[[String; 5]]) -> String,
            [40, 300_000],
        ),
        ("application/x-ndjson", ndjson, [90, 300_000]),
    ] {
        for length in lengths {
            let empty = write(&[record("", "F")]);
            let empty = empty.lines().last().expect("a record").len() + 1;
            let long = |bytes: usize| write(&[record(&"x".repeat(bytes - empty), "F")]);
            let server = server(Limits {
                record_bytes_max: length as u64,
                cell_bytes_max: 1 << 20,
                ..Limits::default()
            })
            .await;
            let client = server.key(&["uploader"]).await;
            let id = story::dataset(&client).await;
            for body in [long(length - 1), long(length)] {
                replace(&client, &id, (media_type, body)).await.expect(201);
            }
            let refused = replace(&client, &id, (media_type, long(length + 1))).await;
            is_past(
                &refused,
                "record_too_long",
                ("record_bytes_max", length as u64),
            );
            assert_eq!(version(&client, &id).await, 2);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_appended_counts_with_what_is_there() {
    let server = server(Limits {
        records_max: 10,
        ..Limits::default()
    })
    .await;
    let client = server.key(&["uploader"]).await;
    let id = story::dataset(&client).await;
    story::upload(&client, &id, story::records(0, 6))
        .await
        .expect(201);
    let past = story::upload(&client, &id, story::records(6, 11)).await;
    is_past(&past, "too_many_records", ("records_max", 10));
    story::upload(&client, &id, story::records(6, 10))
        .await
        .expect(201);
    let full = story::upload(&client, &id, story::records(10, 11)).await;
    is_past(&full, "too_many_records", ("records_max", 10));
    let other = replace(&client, &id, ("text/csv", story::records(20, 30))).await;
    assert_eq!(other.expect(201)["total_records"], 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_may_have_as_many_attributes_as_the_limit() {
    let server = server(Limits {
        attributes_max: 6,
        ..Limits::default()
    })
    .await;
    let client = server.key(&["uploader"]).await;
    let mut schema = story::schema();
    for (more, is_taken) in [(0, true), (1, true), (2, false)] {
        let mut attributes: Vec<Value> = story::schema()["attributes"]
            .as_array()
            .expect("attributes")
            .clone();
        attributes.extend((0..more).map(
            |at| json!({"name": format!("more{at}"), "role": "insensitive", "type": "integer"}),
        ));
        schema["attributes"] = attributes.into();
        let answer = client.call("create_dataset").json(&schema).send().await;
        if is_taken {
            drop(answer.expect(201))
        } else {
            names(&answer, (422, "limit-exceeded"), "attributes_max", 6)
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn preferences_hold_to_the_same_limits() {
    let server = server(Limits {
        records_max: 2,
        cell_bytes_max: 8,
        record_bytes_max: 60,
        ..Limits::default()
    })
    .await;
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::dataset(&client).await;
    let send = async |media_type: &'static str, body: String| {
        let call = client.call("import_preferences").at("id", &id);
        call.body(media_type, body).send().await
    };
    let (lines, csv) = ("application/x-ndjson", "text/csv");
    let line = |subject: &str| format!("{{\"subject\": \"{subject}\"}}\n");
    let table = |rows: &str| format!("subject,max_leakage\n{rows}");
    send(lines, line("12345678") + &line("b")).await.expect(200);
    let two = table("12345678,0.5\nb,0.5\n");
    send(csv, two).await.expect(200);
    let records = ("too_many_records", "records_max", 2);
    let cells = ("cell_too_long", "cell_bytes_max", 8);
    let bytes = ("record_too_long", "record_bytes_max", 60);
    let long = format!("a,0.{}\n", "5".repeat(60));
    for (media_type, body, (code, limit, value)) in [
        (lines, line("a") + &line("b") + &line("c"), records),
        (csv, table("a,0.5\nb,0.5\nc,0.5\n"), records),
        (lines, line("123456789"), cells),
        (csv, table("123456789,0.5\n"), cells),
        (lines, " ".repeat(50) + &line("a"), bytes),
        (csv, table(&long), bytes),
    ] {
        let refused = send(media_type, body).await;
        names(&refused, (422, "invalid-preference"), limit, value);
        assert_eq!(refused.json()["errors"][0]["code"], code);
    }
}
