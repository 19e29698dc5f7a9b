//! Tables of a release, in every format.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use vizard_anonymizer::release::{Cell, Cells, TableDescription, decode_parquet};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Call};

on_both!(
    a_table_is_given_in_every_format_by_query_or_by_accept,
    a_table_that_the_client_has_is_not_sent_again,
    missing_numbers_are_stored_and_published_in_every_format,
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
        let file = table(name).query("format", "arrow-file").send().await;
        assert_eq!(file.media_type(), Some("application/vnd.apache.arrow.file"));
        assert!(file.body.starts_with(b"ARROW1\0\0") && file.body.ends_with(b"ARROW1"));
        let by_type = table(name).header("accept", "application/vnd.apache.arrow.file");
        assert!(by_type.send().await.body == file.body);
        let saved = file.header("content-disposition").expect("a name");
        assert!(saved.ends_with(".arrow\""), "{saved}");
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

/// The texts of a column.
fn texts(cells: &Cells) -> Vec<String> {
    let Cells::Dictionary { codes, cells } = cells else {
        panic!("a column of numbers");
    };
    let text = |cell: &Cell| {
        let mut text = String::new();
        cell.text(&mut text);
        text
    };
    codes
        .iter()
        .map(|code| text(&cells[code as usize]))
        .collect()
}

async fn missing_numbers_are_stored_and_published_in_every_format(server: Server) {
    server.work();
    let steward = server.key(&["steward"]).await;
    let schema = json!({
        "name": "gaps", "subject_key": "id", "missing": "category",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "day", "role": "quasi_identifier", "type": "date"},
            {"name": "weight", "role": "insensitive", "type": "decimal"},
        ],
    });
    let made = steward.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    let csv = "id,age,day,weight\na,30,,60.5\nb,,,\nc,41,,\n";
    story::upload(&steward, &id, csv.into()).await.expect(201);
    let ndjson = "{\"id\":\"d\",\"age\":null,\"day\":null,\"weight\":7}\n";
    let appended = steward.call("upload_records").at("id", &id);
    let appended = appended.query("mode", "append");
    appended
        .body("application/x-ndjson", ndjson)
        .send()
        .await
        .expect(201);
    let job = json!({"dataset": id, "engine": "mondrian", "parameters": {"k": 4},
        "accept_exact": [{"attribute": "weight", "reason": "made up"}]});
    let release = story::release(&steward, &job).await;
    let view = steward.call("get_release").at("id", &release).send().await;
    let described = &view.expect(200)["manifest"]["tables"][0];
    let description: TableDescription =
        serde_json::from_value(described.clone()).expect("a description");
    let table = || {
        let call = steward.call("get_release_table").at("id", &release);
        call.at("table", "microdata")
    };
    let csv = table().send().await;
    let cells = "1,{(missing)|30..41},(missing),";
    let mut lines: Vec<String> = csv.text().lines().skip(1).map(str::to_owned).collect();
    lines.sort_unstable();
    let expected = ["(missing)", "(missing)", "60.5", "7"].map(|own| format!("{cells}{own}"));
    assert_eq!(lines, expected);

    let ndjson = table().query("format", "ndjson").send().await;
    let ndjson = ndjson.text();
    let rows = ndjson
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    for row in rows {
        assert_eq!(row["age"], json!("{(missing)|30..41}"));
        assert_eq!(row["day"], json!("(missing)"));
    }
    let parquet = table().query("format", "parquet").send().await;
    let read = decode_parquet(&description, parquet.body.to_vec()).expect("it reads back");
    let column = |name: &str| texts(&read.column(name).expect("a column").cells);
    assert_eq!(column("age"), ["{(missing)|30..41}"; 4]);
    assert_eq!(column("day"), ["(missing)"; 4]);
    let mut weights = column("weight");
    weights.sort_unstable();
    assert_eq!(weights, ["(missing)", "(missing)", "60.5", "7"]);
    let arrow = table().query("format", "arrow").send().await;
    assert_eq!(arrow.status, 200);
}
