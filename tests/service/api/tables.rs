//! Tables of a release, in every format.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Call};

on_both!(
    a_table_is_given_in_every_format_by_query_or_by_accept,
    a_table_that_the_client_has_is_not_sent_again,
);

async fn published(server: &Server) -> (impl Fn(&str) -> Call, Value) {
    server.work();
    let steward = server.key(&["steward"]).await;
    let analyst = server.key(&["analyst"]).await;
    let id = story::filled_dataset(&steward).await;
    let release = story::release(&steward, &story::job(&id)).await;
    steward
        .call("publish_release")
        .at("id", &release)
        .send()
        .await
        .expect(200);
    let view = analyst
        .call("get_release")
        .at("id", &release)
        .send()
        .await
        .expect(200);
    let table = move |name: &str| {
        analyst
            .call("get_release_table")
            .at("id", &release)
            .at("table", name)
    };
    (table, view["manifest"]["tables"].clone())
}

fn lines(answer: &Answer) -> usize {
    answer.body.iter().filter(|&&byte| byte == b'\n').count()
}

async fn a_table_is_given_in_every_format_by_query_or_by_accept(server: Server) {
    let (table, manifest) = published(&server).await;
    for described in manifest.as_array().expect("tables") {
        let name = described["name"].as_str().expect("a name");
        let rows = described["rows"].as_u64().expect("rows") as usize;
        let csv = table(name).send().await;
        assert_eq!(csv.media_type(), Some("text/csv"));
        let digest: String = Sha256::digest(&csv.body)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            described["sha256"],
            json!(digest),
            "the manifest names what is sent"
        );
        assert_eq!(lines(&csv), rows + 1);
        assert_eq!(
            csv.header("content-length"),
            Some(csv.body.len().to_string().as_str())
        );

        let ndjson = table(name).query("format", "ndjson").send().await;
        assert_eq!(lines(&ndjson), rows);
        let first: Value =
            serde_json::from_str(ndjson.text().lines().next().expect("a row")).expect("JSON");
        assert!(first.is_object());
        let parquet = table(name)
            .header("accept", "application/vnd.apache.parquet")
            .send()
            .await;
        assert_eq!(parquet.media_type(), Some("application/vnd.apache.parquet"));
        assert!(parquet.body.starts_with(b"PAR1") && parquet.body.ends_with(b"PAR1"));
        let arrow = table(name)
            .query("format", "arrow")
            .header("accept", "text/csv")
            .send()
            .await;
        assert_eq!(
            arrow.media_type(),
            Some("application/vnd.apache.arrow.stream")
        );
        let safe = table(name).query("spreadsheet_safe", true).send().await;
        assert_eq!(lines(&safe), rows + 1);
        assert_ne!(safe.header("etag"), csv.header("etag"));
    }
    table("nothing")
        .send()
        .await
        .expect_problem(404, "not-found");
    let refused = table("microdata").query("format", "xlsx").send().await;
    refused.expect_problem(400, "invalid-query");
    let refused = table("microdata")
        .header("accept", "image/png")
        .send()
        .await;
    refused.expect_problem(406, "not-acceptable");
}

async fn a_table_that_the_client_has_is_not_sent_again(server: Server) {
    let (table, _) = published(&server).await;
    let first = table("microdata").send().await;
    let tag = first.header("etag").expect("a tag").to_owned();
    let again = table("microdata")
        .header("if-none-match", &tag)
        .send()
        .await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(again.header("etag"), Some(tag.as_str()));
    let other = table("microdata")
        .query("format", "ndjson")
        .header("if-none-match", &tag);
    assert_eq!(other.send().await.status, 200);
    let refused = table("microdata").header("if-none-match", "x").send().await;
    refused.expect_problem(400, "invalid-header");
}
