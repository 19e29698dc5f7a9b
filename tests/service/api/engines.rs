//! Every engine for tables with one record a subject, over HTTP: job, tables
//! in every format, in part and packed, report and verification.

use std::fmt::Write;
use std::io::{Cursor, Read};

use arrow_ipc::reader::StreamReader;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Call, Client};

on_both!(every_engine_publishes_tables_that_can_be_had_in_every_format);

const ILLNESSES: &str = "flu;lung;*\nasthma;lung;*\ncough;lung;*\nulcer;belly;*\nhernia;belly;*\n\
                         colic;belly;*\nangina;heart;*\nstroke;heart;*\n";

/// Jobs, and the tables that each must publish.
fn jobs() -> Vec<(&'static str, Value, &'static [&'static str])> {
    const LISTED: &[&str] = &["quasi", "sensitive"];
    const ROWS: &[&str] = &["microdata"];
    const SLICED: &[&str] = &["sliced", "columns"];
    vec![
        ("mondrian", json!({"k": 4, "l": 2, "split": "gain"}), ROWS),
        (
            "mondrian",
            json!({"k": 4, "partitioning": "relaxed", "t_closeness": 0.6}),
            ROWS,
        ),
        (
            "personalized",
            json!({"k": 4, "sensitive": "illness", "max_leakage": 0.5}),
            ROWS,
        ),
        ("arp", json!({"l": 3}), LISTED),
        ("arp", json!({"l": 3, "publish": "generalization"}), ROWS),
        ("arp", json!({"l": 3, "publish": "slicing"}), SLICED),
        (
            "arp",
            json!({"l": 3, "publish": "randomization", "retention": 0.3}),
            ROWS,
        ),
        ("aip", json!({"l": 3}), LISTED),
        ("anatomy", json!({"l": 3}), LISTED),
        ("ng", json!({"l": 3}), ROWS),
        ("slicing", json!({"l": 2, "clusters": 2}), SLICED),
        (
            "slicing",
            json!({"variant": "generalized", "l": 2, "clusters": 2, "generalize": ["age"]}),
            SLICED,
        ),
    ]
}

async fn dataset(client: &Client) -> String {
    let schema = json!({
        "name": "cases", "subject_key": "patient",
        "attributes": [
            {"name": "patient", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "sex", "role": "quasi_identifier", "type": "categorical"},
            {"name": "seen", "role": "insensitive", "type": "date"},
            {"name": "illness", "role": "sensitive", "type": "categorical", "hierarchy": "illness"}
        ]
    });
    let made = client.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    story::put_hierarchy(client, &id, ("illness", ILLNESSES)).await;
    let names: Vec<&str> = ILLNESSES
        .lines()
        .filter_map(|line| line.split(';').next())
        .collect();
    let mut csv = String::from("patient,age,sex,seen,illness\n");
    for at in 0..400_usize {
        let mixed = at * 7919 % 1009;
        let (age, sex, illness) = (20 + mixed % 7 * 10, ["F", "M"][mixed % 2], names[mixed % 8]);
        writeln!(
            csv,
            "p{at},{age},{sex},2024-01-{:02},{illness}",
            1 + mixed % 28
        )
        .expect("a String");
    }
    story::upload(client, &id, csv).await.expect(201);
    let terms = client.call("import_preferences").at("id", &id);
    let terms = terms.body(
        "text/csv",
        "subject,max_leakage,exclude\np1,0.25,\np2,,true\n",
    );
    terms.send().await.expect(200);
    id
}

async fn every_engine_publishes_tables_that_can_be_had_in_every_format(server: Server) {
    server.work();
    let client = server.key(&["steward", "uploader", "consent"]).await;
    let analyst = server.key(&["analyst"]).await;
    let id = dataset(&client).await;
    for (engine, parameters, tables) in jobs() {
        let spec = json!({"dataset": id, "engine": engine, "parameters": parameters,
            "accept_exact": [{"attribute": "seen", "reason": "made up"}],
            "report": {"queries": 20}});
        let release = story::release(&client, &spec).await;
        server.publish(&client, &release).await.expect(200);
        let view = analyst.call("get_release").at("id", &release);
        let view = view.send().await.expect(200);
        let manifest = &view["manifest"];
        assert_eq!(manifest["engine"], engine);
        let described = manifest["tables"].as_array().expect("tables");
        let names: Vec<&str> = described
            .iter()
            .filter_map(|table| table["name"].as_str())
            .collect();
        assert_eq!(names, tables, "{spec}");
        for table in described {
            every_format(&analyst, &release, table).await;
        }
        let verification = client.call("get_release_verification").at("id", &release);
        assert_eq!(verification.send().await.expect(200)["holds"], true);
        for reader in [&client, &analyst] {
            let report = reader.call("get_release_report").at("id", &release);
            let report = report.send().await.expect(200);
            assert!(
                report["measures"]
                    .as_object()
                    .is_some_and(|all| !all.is_empty()),
                "{spec}"
            );
            let page = reader.call("get_release_report").at("id", &release);
            let page = page.header("accept", "text/html").send().await;
            assert_eq!((page.status, page.media_type()), (200, Some("text/html")));
        }
    }
}

async fn every_format(analyst: &Client, release: &str, described: &Value) {
    let name = described["name"].as_str().expect("a name");
    let rows = described["rows"].as_u64().expect("rows") as usize;
    let table = |format: &str| {
        let call = analyst.call("get_release_table").at("id", release);
        call.at("table", name).query("format", format)
    };
    let csv = table("csv").send().await;
    let digest: String = Sha256::digest(&csv.body)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(described["sha256"], json!(digest));
    assert_eq!(csv.text().lines().count(), rows + 1);
    let ndjson = table("ndjson").send().await;
    assert_eq!(ndjson.text().lines().count(), rows);
    let parquet = table("parquet").send().await;
    let file = SerializedFileReader::new(parquet.body.clone()).expect("a file");
    let found = file.metadata().file_metadata().num_rows();
    assert_eq!(found, rows as i64, "{name}");
    let arrow = table("arrow").send().await;
    let batches = StreamReader::try_new(Cursor::new(&arrow.body), None).expect("a stream");
    let found: usize = batches
        .map(|batch| batch.expect("a batch").num_rows())
        .sum();
    assert_eq!(found, rows, "{name}");
    for (format, whole) in [
        ("csv", &csv),
        ("ndjson", &ndjson),
        ("parquet", &parquet),
        ("arrow", &arrow),
    ] {
        in_part_and_packed(&|| table(format), whole).await;
    }
}

/// A part of a table, its tag and its packed form are those of the whole.
async fn in_part_and_packed(table: &impl Fn() -> Call, whole: &Answer) {
    let tag = whole.header("etag").expect("a tag");
    let same = table().header("if-none-match", tag).send().await;
    assert_eq!((same.status, same.body.is_empty()), (304, true));
    let (from, to) = (whole.body.len() / 3, whole.body.len() / 2);
    let range = format!("bytes={from}-{}", to - 1);
    let part = table().header("range", &range).header("if-range", tag);
    let part = part.send().await;
    assert_eq!(part.status, 206);
    assert_eq!(part.body, whole.body[from..to]);
    assert_eq!(part.header("etag"), Some(tag));
    let packed = table().header("accept-encoding", "gzip").send().await;
    let mut unpacked = Vec::new();
    match packed.header("content-encoding") {
        Some("gzip") => flate2::read::GzDecoder::new(&*packed.body).read_to_end(&mut unpacked),
        // Columnar formats are packed already.
        _ => (&*packed.body).read_to_end(&mut unpacked),
    }
    .expect("is packed as its header says");
    assert_eq!(unpacked, whole.body);
}
