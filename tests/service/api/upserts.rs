//! Upserts: the subjects that an upload names get its records, all others
//! keep theirs.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use vizard::ids::DatasetId;
use vizard_anonymizer::microdata::{Chunk, ChunkColumn, Schema, decode_chunk};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Call, Client};

on_both!(
    an_upsert_replaces_the_subjects_it_names_and_keeps_all_others,
    an_upsert_replaces_all_records_of_a_subject_that_has_many,
    an_upsert_of_new_subjects_alone_shares_the_chunks_before,
    a_subject_whose_records_are_left_out_is_there_no_more,
    an_upsert_is_guarded_and_done_once_as_other_uploads,
    personal_terms_stay_bound_to_an_upserted_subject,
);

fn upsert(uploader: &Client, id: &str, csv: String) -> Call {
    let call = uploader.call("upload_records").at("id", id);
    call.query("mode", "upsert").body("text/csv", csv)
}

/// The chunks of a version as they are stored.
pub(super) async fn chunks(server: &Server, id: &str, version: u64) -> Vec<Chunk> {
    let id = id.parse::<DatasetId>().expect("an id");
    let row = server.store.version_get(id, version).await.expect("a row");
    let schema: Schema = serde_json::from_value(row.schema).expect("a schema");
    let mut chunks = Vec::new();
    for position in 0..row.chunks {
        let bytes = server.store.chunk_get(id, version, position).await;
        chunks.push(decode_chunk(bytes.expect("bytes"), &schema).expect("a chunk"));
    }
    chunks
}

/// The first two columns of every record of a version, in order: a subject and a number.
async fn pairs(server: &Server, id: &str, version: u64) -> Vec<(String, i64)> {
    let mut pairs = Vec::new();
    for chunk in chunks(server, id, version).await {
        let (ChunkColumn::Text(keys), ChunkColumn::Integer(numbers)) =
            (&chunk.columns[0], &chunk.columns[1])
        else {
            panic!("other columns");
        };
        let keys = keys.iter().map(str::to_owned);
        pairs.extend(keys.zip(numbers.iter().copied()));
    }
    pairs
}

fn line(patient: u32, age: u32, sex: &str) -> String {
    format!("p{patient},{age},{sex},red,1\n")
}

fn csv(lines: impl IntoIterator<Item = String>) -> String {
    let lines: String = lines.into_iter().collect();
    format!("patient,age,sex,ward,cost\n{lines}")
}

async fn an_upsert_replaces_the_subjects_it_names_and_keeps_all_others(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let id = story::dataset(&uploader).await;
    // The first is of a subject that goes, with a label that nobody else has.
    let first = csv([line(1000, 50, "gone")]) + story::records(0, 120).split_once('\n').unwrap().1;
    story::upload(&uploader, &id, first).await.expect(201);
    let before = pairs(&server, &id, 1).await;

    let named = [7, 1000, 119, 500, 501];
    let new = csv(named.map(|at| line(at, 99, "F")));
    let view = upsert(&uploader, &id, new.clone()).send().await.expect(201);
    assert_eq!(
        (&view["version"], &view["records"], &view["total_records"]),
        (&json!(2), &json!(5), &json!(123))
    );
    let counts = json!({"added": 2, "replaced": 3, "removed": 0, "kept": 118});
    assert_eq!(view["subjects"], counts);

    let is_named = |key: &str| named.iter().any(|at| key == format!("p{at}"));
    let kept = before.iter().filter(|pair| !is_named(&pair.0)).cloned();
    let brought = named.iter().map(|at| (format!("p{at}"), 99));
    let expected: Vec<_> = kept.chain(brought).collect();
    assert_eq!(pairs(&server, &id, 2).await, expected);
    assert_eq!(pairs(&server, &id, 1).await, before, "what was stays");
    for chunk in chunks(&server, &id, 2).await {
        let ChunkColumn::Category { labels, .. } = &chunk.columns[2] else {
            panic!("another column");
        };
        assert!(labels.iter().all(|label| label != "gone"));
    }

    // A subject twice is an error as ever; nothing is kept then.
    let twice = upsert(&uploader, &id, csv([line(1, 2, "F"), line(1, 3, "F")]));
    let problem = twice.send().await;
    let problem = problem.expect_problem(422, "invalid-data");
    assert_eq!(problem["errors"][0]["code"], "duplicate_subject");
    // The whole again changes no record.
    let again = upsert(&uploader, &id, new).send().await.expect(201);
    let counts = json!({"added": 0, "replaced": 5, "removed": 0, "kept": 118});
    assert_eq!(
        (&again["subjects"], &again["total_records"]),
        (&counts, &json!(123))
    );
    let sorted = |pairs: Vec<(String, i64)>| pairs.into_iter().collect::<BTreeSet<_>>();
    assert_eq!(sorted(pairs(&server, &id, 3).await), sorted(expected));
    let listed = uploader.call("get_dataset").at("id", &id).send().await;
    assert_eq!(listed.expect(200)["versions"][0]["mode"], "upsert");
}

async fn an_upsert_replaces_all_records_of_a_subject_that_has_many(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let schema = json!({"name": "stays", "subject_key": "patient", "multiplicity": "many",
        "attributes": [
            {"name": "patient", "role": "identifier"},
            {"name": "cost", "role": "sensitive", "type": "integer"}]});
    let made = uploader.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    let empty = upsert(&uploader, &id, "patient,cost\na,1\nb,2\na,3\nc,4\n".into());
    let first = empty.send().await.expect(201);
    let counts = json!({"added": 3, "replaced": 0, "removed": 0, "kept": 0});
    assert_eq!(first["subjects"], counts);
    let view = upsert(&uploader, &id, "patient,cost\nd,8\na,9\nd,7\nc,6\n".into());
    let view = view.send().await.expect(201);
    let counts = json!({"added": 1, "replaced": 2, "removed": 0, "kept": 1});
    assert_eq!(view["subjects"], counts);
    let found = pairs(&server, &id, 2).await;
    let found: Vec<_> = found.iter().map(|(key, cost)| (&**key, *cost)).collect();
    assert_eq!(found, [("b", 2), ("d", 8), ("a", 9), ("d", 7), ("c", 6)]);
}

async fn an_upsert_of_new_subjects_alone_shares_the_chunks_before(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let id = story::filled_dataset(&uploader).await;
    let dataset = id.parse::<DatasetId>().expect("an id");
    let listed = async |version| server.store.version_chunk_list(dataset, version).await;
    let before = listed(1).await.expect("chunks");
    let view = upsert(&uploader, &id, story::records(200, 230));
    let view = view.send().await.expect(201);
    assert_eq!(
        (&view["total_records"], &view["subjects"]["added"]),
        (&json!(150), &json!(30))
    );
    let after = listed(2).await.expect("chunks");
    assert_eq!((after.len(), &after[..1]), (2, &before[..]));
    // Behind an upsert that wrote them anew, an append goes on there.
    upsert(&uploader, &id, story::records(0, 1))
        .send()
        .await
        .expect(201);
    story::upload(&uploader, &id, story::records(300, 310))
        .await
        .expect(201);
    assert_eq!(pairs(&server, &id, 4).await.len(), 160);
}

async fn a_subject_whose_records_are_left_out_is_there_no_more(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let mut schema = story::schema();
    schema["missing"] = json!("drop");
    let made = uploader.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    story::put_hierarchy(&uploader, &id, ("ward", story::HIERARCHY)).await;
    story::upload(&uploader, &id, story::records(0, 120))
        .await
        .expect(201);

    let gaps = csv([
        line(3, 50, "F"),
        String::from("p5,,F,red,1\np900,,F,red,1\n"),
    ]);
    let send = async |csv: &str, allow_loss: bool| -> Answer {
        let call = upsert(&uploader, &id, csv.to_owned());
        call.query("allow_loss", allow_loss).send().await
    };
    let problem = send(&gaps, false).await;
    let problem = problem.expect_problem(422, "would-lose-records");
    let loss = &problem["loss"];
    assert_eq!(
        (&loss["records"], &loss["dropped"], &loss["replaced"]),
        (&json!(1), &json!(2), &json!(2))
    );
    let view = send(&gaps, true).await.expect(201);
    let counts = json!({"added": 0, "replaced": 1, "removed": 1, "kept": 118});
    assert_eq!(
        (&view["subjects"], &view["total_records"]),
        (&counts, &json!(119))
    );
    let there = pairs(&server, &id, 2).await;
    assert!(there.iter().all(|(key, _)| key != "p5"));
    // A header alone names nobody and takes nothing away.
    let view = send(&csv([]), false).await.expect(201);
    assert_eq!(view["total_records"], 119);
}

async fn an_upsert_is_guarded_and_done_once_as_other_uploads(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let id = story::filled_dataset(&uploader).await;
    let read = uploader.call("get_dataset").at("id", &id).send().await;
    let tag = read.header("etag").expect("a tag").to_owned();
    let send = async |key: &str| {
        let call = upsert(&uploader, &id, csv([line(1, 2, "F")]));
        let call = call.header("if-match", &tag);
        call.header("idempotency-key", key).send().await
    };
    let first = send("one").await;
    assert_eq!(first.status, 201, "{}", first.text());
    let again = send("one").await;
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.text(), first.text());
    send("two").await.expect_problem(412, "precondition-failed");
    let view = uploader.call("get_dataset").at("id", &id).send().await;
    assert_eq!(view.expect(200)["version"], 2);
}

async fn personal_terms_stay_bound_to_an_upserted_subject(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward", "consent"]).await;
    let id = story::filled_dataset(&client).await;
    let put = client.call("put_preference").at("id", &id);
    let put = put.at("subject", "p7").json(&json!({"exclude": true}));
    put.send().await.expect(200);
    upsert(&client, &id, csv([line(7, 33, "F"), line(8, 34, "F")]))
        .send()
        .await
        .expect(201);
    let release = story::release(&client, &story::job(&id)).await;
    let view: Value = client
        .call("get_release")
        .at("id", &release)
        .send()
        .await
        .expect(200);
    assert_eq!(view["manifest"]["records"], 119, "{view}");
    assert_eq!(view["manifest"]["input"]["version"], 2);
}
