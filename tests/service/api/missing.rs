//! What an upload lacks, and what may not be what it seems.

use serde_json::{Value, json};

use super::records::versions;
use super::{Server, on_both, story};
use crate::common::client::Client;

on_both!(
    an_upload_that_would_lose_records_is_refused_unless_it_allows_it,
    an_answer_counts_missing_values_by_attribute,
    what_is_probably_not_what_it_seems_is_taken_and_asked_about,
);

/// A dataset whose schema says what becomes of empty cells.
pub async fn dataset_with(uploader: &Client, missing: &str) -> String {
    let mut schema = story::schema();
    schema["missing"] = json!(missing);
    let made = uploader.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    story::put_hierarchy(uploader, &id, ("ward", story::HIERARCHY)).await;
    id
}

/// Records of which the first `gaps` have no cost.
pub fn records_without_cost(records: u32, gaps: u32) -> String {
    let text = story::records(0, records);
    let lines = (0..).zip(text.lines());
    let mut text = String::new();
    for (at, line) in lines {
        let kept = line.rsplit_once(',').map_or(line, |(kept, _)| kept);
        text += &match at {
            1.. if at <= gaps => format!("{kept},\n"),
            _ => format!("{line}\n"),
        };
    }
    text
}

/// Counts of each attribute of the story, where only costs are missing.
pub fn only_cost(missing: u64, dropped: u64) -> Value {
    let names = ["patient", "age", "sex", "ward", "cost"];
    let counts = names.map(|name| match name {
        "cost" => json!({"attribute": name, "missing": missing, "dropped": dropped}),
        _ => json!({"attribute": name, "missing": 0, "dropped": 0}),
    });
    json!(counts)
}

async fn an_upload_that_would_lose_records_is_refused_unless_it_allows_it(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let id = dataset_with(&uploader, "drop").await;
    let send = async |mode: &str, allow_loss: bool, body: (&str, String)| {
        let call = uploader.call("upload_records").at("id", &id);
        let call = call.query("mode", mode).query("allow_loss", allow_loss);
        call.body(body.0, body.1).send().await
    };
    let csv = |records: u32, gaps: u32| ("text/csv", records_without_cost(records, gaps));

    // All of them, and one more than 5 %.
    for (records, gaps) in [(40, 40), (40, 3)] {
        let refused = send("append", false, csv(records, gaps)).await;
        let problem = refused.expect_problem(422, "would-lose-records");
        let loss = json!({"records": records - gaps, "dropped": gaps, "replaced": 0,
            "attributes": only_cost(gaps.into(), gaps.into())});
        assert_eq!(problem["loss"], loss);
        assert_eq!(versions(&uploader, &id).await, 0, "nothing was kept");
    }
    // Exactly 5 %.
    let taken = send("append", false, csv(40, 2)).await.expect(201);
    assert_eq!(
        (&taken["records"], &taken["dropped"], &taken["attributes"]),
        (&json!(38), &json!(2), &only_cost(2, 2))
    );

    // A header alone, in the place of all records.
    let header = ("text/csv", String::from("patient,age,sex,ward,cost\n"));
    let refused = send("replace", false, header.clone()).await;
    let problem = refused.expect_problem(422, "would-lose-records");
    assert_eq!(
        (&problem["loss"]["records"], &problem["loss"]["replaced"]),
        (&json!(0), &json!(38))
    );
    assert_eq!(versions(&uploader, &id).await, 1, "nothing was kept");
    // Beside the others it takes nothing away.
    let added = send("append", false, header).await.expect(201);
    assert_eq!(added["total_records"], 38);
    let most = send("replace", true, csv(40, 39)).await.expect(201);
    assert_eq!(
        (&most["records"], &most["dropped"]),
        (&json!(1), &json!(39))
    );
    let empty = ("application/x-ndjson", String::new());
    let refused = send("replace", false, empty.clone()).await;
    refused.expect_problem(422, "would-lose-records");
    let emptied = send("replace", true, empty).await.expect(201);
    assert_eq!(emptied["total_records"], 0);
    let word = uploader.call("upload_records").at("id", &id);
    let word = word.query("allow_loss", "perhaps").body("text/csv", "x");
    word.send().await.expect_problem(400, "invalid-query");
}

async fn an_answer_counts_missing_values_by_attribute(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    // What is kept is not lost, however much is missing.
    let id = dataset_with(&uploader, "category").await;
    let taken = story::upload(&uploader, &id, records_without_cost(40, 30)).await;
    let taken = taken.expect(201);
    assert_eq!(
        (&taken["records"], &taken["dropped"], &taken["attributes"]),
        (&json!(40), &json!(0), &only_cost(30, 0))
    );
    let id = dataset_with(&uploader, "reject").await;
    let taken = story::upload(&uploader, &id, story::records(0, 40)).await;
    assert_eq!(taken.expect(201)["attributes"], only_cost(0, 0));
}

async fn what_is_probably_not_what_it_seems_is_taken_and_asked_about(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let mut schema = json!({"name": "stays", "subject_key": "patient", "missing": "category",
        "attributes": [
            {"name": "patient", "role": "identifier"},
            {"name": "born", "role": "quasi_identifier", "type": "date"},
            {"name": "left", "role": "sensitive", "type": "date"},
            {"name": "ward", "role": "quasi_identifier", "type": "integer"}]});
    let made = uploader.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    let csv = "patient,born,left,ward\n001,1900-01-01,9999-12-31,0815\n\
        002,1950-03-02,9999-12-31,4711\n003,1900-01-01,2024-02-29,007\n";
    let send = async || {
        let call = uploader.call("upload_records").at("id", &id);
        let call = call.query("mode", "replace").body("text/csv", csv);
        call.send().await.expect(201)
    };
    let view = send().await;
    assert_eq!(view["records"], 3);
    let questions = view["questions"].as_array().expect("questions");
    let asked: Vec<_> = questions
        .iter()
        .map(|one| (&one["attribute"], &one["kind"], &one["count"]))
        .collect();
    let expected = [
        (&json!("born"), &json!("day_1900_01_01"), &json!(2)),
        (&json!("left"), &json!("day_9999_12_31"), &json!(2)),
        (&json!("ward"), &json!("leading_zeros"), &json!(2)),
    ];
    assert_eq!(asked, expected);
    let text = view.to_string();
    assert!(
        text.contains(r#"\"missing_values\": [\"9999-12-31\"]"#),
        "{text}"
    );
    assert!(text.contains("categorical"), "{text}");
    for cell in ["0815", "007", "1950", "4711"] {
        assert!(!view["questions"].to_string().contains(cell), "{text}");
    }

    // Each is answered, and none is asked again.
    schema["attributes"][1]["meant"] = json!(["day_1900_01_01"]);
    schema["attributes"][2]["missing_values"] = json!(["9999-12-31"]);
    schema["attributes"][3]["meant"] = json!(["leading_zeros"]);
    let call = uploader.call("put_schema").at("id", &id).json(&schema);
    call.send().await.expect(200);
    let view = send().await;
    assert_eq!(view["questions"], json!([]));
    let left = &view["attributes"][2];
    assert_eq!(
        left,
        &json!({"attribute": "left", "missing": 2, "dropped": 0})
    );

    // What cannot be meant, or never be missing, is no schema.
    let mut unfit = [schema.clone(), schema.clone(), schema.clone()];
    unfit[0]["attributes"][1]["meant"] = json!(["leading_zeros"]);
    unfit[1]["attributes"][0]["missing_values"] = json!(["NULL"]);
    unfit[2]["attributes"][1]["missing_values"] = json!([" NULL"]);
    for unfit in unfit {
        let refused = uploader.call("create_dataset").json(&unfit).send().await;
        refused.expect_problem(422, "invalid-schema");
    }
}
