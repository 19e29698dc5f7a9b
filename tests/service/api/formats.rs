//! Records in three formats and three packings over HTTP: one digest, one
//! list of errors; and a Parquet file that lies is refused and leaves nothing.

use std::io::Write;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};
use crate::common::forged_parquet::ForgedFile;
use crate::common::random_table::{Manner, RandomTable, manner, random_table};

on_both!(
    a_table_has_one_digest_in_three_formats_and_three_packings,
    errors_of_a_parquet_file_name_records_and_attributes,
    a_parquet_file_that_lies_is_refused_and_leaves_nothing,
);

const PARQUET: &str = "application/vnd.apache.parquet";
/// Random tables a store: many more are read without HTTP by the anonymizer's tests.
const TABLES: usize = 6;

/// Random tables and manners, the same in every run.
fn drawn() -> Vec<(RandomTable, Manner)> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = (random_table(), manner());
    let draw = |_| {
        let tree = strategy.new_tree(&mut runner);
        tree.expect("there are tables").current()
    };
    (0..TABLES).map(draw).collect()
}

fn packed(coding: &str, bytes: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).expect("packed");
            encoder.finish().expect("packed")
        }
        "zstd" => zstd::encode_all(bytes, 1).expect("packed"),
        _ => bytes.to_vec(),
    }
}

async fn dataset(client: &Client, schema: &Value) -> String {
    let made = client.call("create_dataset").json(schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    let tree = "flu;chest;*\ncough;chest;*\ngout;*\n";
    story::put_hierarchy(client, &id, ("illness", tree)).await;
    id
}

async fn upload(client: &Client, id: &str, form: (&str, &str), body: &[u8]) -> Answer {
    let (media_type, coding) = form;
    let call = client.call("upload_records").at("id", id);
    // Random tables lack many values.
    let call = call.query("mode", "replace").query("allow_loss", true);
    let call = call.header("content-encoding", coding);
    call.body(media_type, packed(coding, body)).send().await
}

async fn a_table_has_one_digest_in_three_formats_and_three_packings(server: Server) {
    let client = server.key(&["uploader"]).await;
    for (table, manner) in drawn() {
        let id = dataset(&client, &table.schema_document()).await;
        let mut first: Option<Value> = None;
        for (media_type, body) in [
            ("text/csv", table.csv(&manner)),
            ("application/x-ndjson", table.ndjson(&manner)),
            (PARQUET, table.parquet(&manner)),
        ] {
            for coding in ["identity", "gzip", "zstd"] {
                let answer = upload(&client, &id, (media_type, coding), &body).await;
                let mut answer = answer.expect(201);
                answer["version"] = Value::Null;
                let first = first.get_or_insert_with(|| answer.clone());
                assert_eq!(answer, *first, "{media_type} {coding}");
            }
        }
    }
}

/// The schema of the forger's files.
fn forged_schema() -> Value {
    json!({"name": "forged", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "x", "role": "sensitive", "type": "integer"}]})
}

async fn errors_of_a_parquet_file_name_records_and_attributes(server: Server) {
    let client = server.key(&["uploader"]).await;
    let id = dataset(&client, &forged_schema()).await;
    let mut file = ForgedFile::sound();
    // The second record is of the subject of the first.
    file.columns[0].pages[0].data[9] = b'a';
    let refused = upload(&client, &id, (PARQUET, "identity"), &file.bytes()).await;
    let problem = refused.expect_problem(422, "invalid-data");
    let errors = json!([{"line": 2, "attribute": "id", "code": "duplicate_subject"}]);
    assert_eq!(problem["errors"], errors);
    let mut file = ForgedFile::sound();
    file.columns[1].repetition = 2;
    let refused = upload(&client, &id, (PARQUET, "zstd"), &file.bytes()).await;
    let problem = refused.expect_problem(422, "invalid-data");
    let errors = json!([{"line": 0, "attribute": "x", "code": "column_unfit"}]);
    assert_eq!(problem["errors"], errors);
}

async fn a_parquet_file_that_lies_is_refused_and_leaves_nothing(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = dataset(&client, &forged_schema()).await;
    let sound = ForgedFile::sound().bytes();
    let lie = |change: fn(&mut ForgedFile)| {
        let mut file = ForgedFile::sound();
        change(&mut file);
        file.bytes()
    };
    for (body, slug) in [
        (b"id,x\na,1\n".to_vec(), "invalid-data"),
        (sound[..sound.len() / 2].to_vec(), "invalid-data"),
        (
            lie(|file| file.columns[1].start = Some(i64::MAX)),
            "invalid-data",
        ),
        (
            lie(|file| file.columns[1].pages[0].unpacked = 1 << 30),
            "limit-exceeded",
        ),
    ] {
        let refused = upload(&client, &id, (PARQUET, "identity"), &body).await;
        refused.expect_problem(422, slug);
    }
    // Preferences are not read from such files.
    let terms = client.call("import_preferences").at("id", &id);
    let terms = terms.body(PARQUET, sound.clone()).send().await;
    terms.expect_problem(415, "unsupported-media-type");
    let view = client.call("get_dataset").at("id", &id).send().await;
    assert_eq!(view.expect(200)["version"], 0);
    let taken = upload(&client, &id, (PARQUET, "gzip"), &sound).await;
    assert_eq!(taken.expect(201)["records"], 3);
}
