//! Preconditions that race: of all who saw the same thing, one may change it.

use futures_util::future::join_all;
use serde_json::json;

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

const ROUNDS: usize = 60;
const WRITERS: u32 = 8;

on_both!(
    of_all_who_saw_the_same_terms_one_replaces_them,
    of_all_who_saw_the_same_dataset_one_uploads,
    an_erasure_of_what_was_seen_loses_no_upload,
);

/// How many were done; all others must have been refused as too late.
fn done(answers: &[Answer], status: u16) -> usize {
    let is_done = |answer: &&Answer| answer.status == status;
    let done = answers.iter().filter(is_done).count();
    for refused in answers.iter().filter(|answer| !is_done(answer)) {
        refused.expect_problem(412, "precondition-failed");
    }
    done
}

async fn tag(client: &Client, dataset: &str) -> String {
    let read = client.call("get_dataset").at("id", dataset).send().await;
    read.header("etag").expect("a tag").to_owned()
}

async fn of_all_who_saw_the_same_terms_one_replaces_them(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::dataset(&client).await;
    let at = |operation| client.call(operation).at("id", &id).at("subject", "p1");
    for round in 0..ROUNDS {
        let first = |_| {
            let put = at("put_preference").json(&json!({"max_leakage": 0.5}));
            put.header("if-none-match", "*").send()
        };
        let made = join_all((0..WRITERS).map(first)).await;
        assert_eq!(done(&made, 200), 1, "round {round}: made");
        let seen = at("get_preference").send().await;
        let seen = seen.header("etag").expect("a tag");
        let replace = |writer: u32| {
            let terms = json!({"max_leakage": 0.1 + 0.01 * f64::from(writer)});
            let put = at("put_preference").json(&terms);
            put.header("if-match", seen).send()
        };
        let replaced = join_all((0..WRITERS).map(replace)).await;
        assert_eq!(done(&replaced, 200), 1, "round {round}: replaced");
        let seen = at("get_preference").send().await;
        let seen = seen.header("etag").expect("a tag");
        let remove = |_| at("delete_preference").header("if-match", seen).send();
        let removed = join_all((0..WRITERS).map(remove)).await;
        assert_eq!(done(&removed, 200), 1, "round {round}: removed");
    }
}

async fn of_all_who_saw_the_same_dataset_one_uploads(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::dataset(&client).await;
    for round in 0..ROUNDS / 4 {
        let seen = tag(&client, &id).await;
        let upload = |writer: u32| {
            let (client, id, seen) = (&client, &id, &seen);
            async move {
                if writer % 2 == 1 {
                    // Terms change the dataset's tag too, without a demand of their own.
                    let put = client.call("put_preference").at("id", id);
                    let put = put.at("subject", "p1").json(&json!({"exclude": true}));
                    put.send().await.expect(200);
                    return None;
                }
                let call = client.call("upload_records").at("id", id);
                let call = call.query("mode", "replace").header("if-match", seen);
                let sent = call
                    .body("text/csv", story::records(writer, writer + 3))
                    .send();
                Some(sent.await)
            }
        };
        let answers = join_all((0..WRITERS).map(upload)).await;
        let uploads: Vec<Answer> = answers.into_iter().flatten().collect();
        assert!(done(&uploads, 201) <= 1, "round {round}");
    }
}

async fn an_erasure_of_what_was_seen_loses_no_upload(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    for round in 0..ROUNDS {
        let id = story::dataset(&client).await;
        let seen = tag(&client, &id).await;
        let call = client.call("upload_records").at("id", &id);
        let upload = call.body("text/csv", story::records(0, 3)).send();
        let call = client.call("erase_dataset").at("id", &id);
        let (upload, erasure) = tokio::join!(upload, call.header("if-match", &seen).send());
        let both = upload.status == 201 && erasure.status < 300;
        assert!(
            !both,
            "round {round}: an acknowledged upload was erased unseen"
        );
    }
}
