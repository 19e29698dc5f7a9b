//! Uploads: all of a body or nothing of it.

use serde_json::{Value, json};

use super::missing::{dataset_with, only_cost, records_without_cost};
use super::{Server, on_both, story};
use crate::common::client::Client;

on_both!(
    an_upload_makes_a_version_and_appending_adds_to_it,
    a_broken_upload_names_its_lines_and_leaves_nothing,
    errors_say_how_to_mend_the_file,
    a_dry_run_answers_as_an_upload_and_keeps_nothing,
    columns_that_are_read_past_are_in_no_version_and_no_release,
    what_is_appended_is_read_with_the_hierarchies_of_the_version_before,
    what_is_appended_may_pin_a_hierarchy_that_extends_the_one_before,
    a_schema_without_its_hierarchy_takes_no_records,
    two_uploads_at_once_make_two_versions_or_one_conflict,
);

pub async fn versions(uploader: &Client, id: &str) -> usize {
    let view = uploader
        .call("get_dataset")
        .at("id", id)
        .send()
        .await
        .expect(200);
    view["versions"].as_array().expect("versions").len()
}

async fn an_upload_makes_a_version_and_appending_adds_to_it(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let id = story::dataset(&uploader).await;
    let first = story::upload(&uploader, &id, story::records(0, 50))
        .await
        .expect(201);
    assert_eq!(
        (
            &first["version"],
            &first["records"],
            &first["total_records"]
        ),
        (&json!(1), &json!(50), &json!(50))
    );
    let second = story::upload(&uploader, &id, story::records(50, 70))
        .await
        .expect(201);
    assert_eq!(
        (
            &second["version"],
            &second["records"],
            &second["total_records"]
        ),
        (&json!(2), &json!(20), &json!(70))
    );
    // The same content, in another form.
    let lines: String = story::records(0, 50)
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |at: usize| cells[at].parse::<i64>().expect("a number");
            let record = json!({"patient": cells[0], "age": number(1), "sex": cells[2],
                "ward": cells[3], "cost": number(4)});
            format!("{record}\n")
        })
        .collect();
    let replace = uploader
        .call("upload_records")
        .at("id", &id)
        .query("mode", "replace");
    let third = replace
        .body("application/x-ndjson", lines)
        .send()
        .await
        .expect(201);
    assert_eq!(
        (&third["version"], &third["total_records"]),
        (&json!(3), &json!(50))
    );
    assert_eq!(third["sha256"], first["sha256"]);
}

async fn a_broken_upload_names_its_lines_and_leaves_nothing(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let id = story::filled_dataset(&uploader).await;
    let mut csv = String::from("patient,age,sex,ward,cost\n");
    csv += "q1,canary,F,red,1\nq2,30,F,canary,1\nq3,30,F,red\np7,30,F,red,1\nq4,30,F,red,\n";
    let refused = story::upload(&uploader, &id, csv).await;
    let problem = refused.expect_problem(422, "invalid-data");
    assert!(!refused.text().contains("canary"));
    assert_eq!(problem["total_errors"], 5);
    let errors = problem["errors"].as_array().expect("errors");
    let found: Vec<(u64, &str)> = errors
        .iter()
        .map(|error| {
            (
                error["line"].as_u64().expect("a line"),
                error["code"].as_str().expect("a code"),
            )
        })
        .collect();
    let expected = [
        (2, "not_an_integer"),
        (3, "not_in_hierarchy"),
        (4, "wrong_cell_count"),
        (5, "duplicate_subject"),
        (6, "missing"),
    ];
    assert_eq!(found, expected);
    assert_eq!(errors[0]["attribute"], "age");
    assert_eq!(versions(&uploader, &id).await, 1);

    let many: String = (0..500).map(|at| format!("q{at},x,F,red,1\n")).collect();
    let refused = story::upload(&uploader, &id, format!("patient,age,sex,ward,cost\n{many}")).await;
    let problem = refused.expect_problem(422, "invalid-data");
    assert_eq!(problem["total_errors"], 500);
    assert_eq!(problem["errors"].as_array().map(Vec::len), Some(10));
    let summary = json!([{"attribute": "age", "code": "not_an_integer", "count": 500,
        "first_lines": [2, 3, 4], "expected": "a whole number, as in 1234"}]);
    assert_eq!(problem["summary"], summary);
    assert!(problem.get("hints").is_none());
    assert_eq!(versions(&uploader, &id).await, 1);
}

async fn errors_say_how_to_mend_the_file(server: Server) {
    let uploader = server.key(&["uploader", "consent"]).await;
    let id = story::dataset(&uploader).await;
    let send = async |csv: &str| {
        let refused = story::upload(&uploader, &id, csv.to_owned()).await;
        refused.expect_problem(422, "invalid-data")
    };
    let hint = |problem: &Value| problem["hints"][0].as_str().map(str::to_owned);
    let exported = send("patient;age;sex;ward;cost\np1;30;F;red;1\n").await;
    let said = hint(&exported).expect("a hint");
    assert!(said.contains("separator seems to be `;`"), "{said}");
    let header = "patient,age,sex,ward,cost\n";
    let commas = send(&format!("{header}p1,30,F,red,\"4,5\"\n")).await;
    let said = hint(&commas).expect("a hint");
    assert!(said.starts_with("cost: decimal commas"), "{said}");
    let quotes = send(&format!("{header}p1,30,F,red,\"4\"5\n")).await;
    let error = json!({"line": 2, "column": 5, "attribute": "cost", "code": "malformed",
        "reason": "text behind the closing quote of a cell"});
    assert_eq!(quotes["errors"], json!([error]));
    let short = send(&format!("{header}p1,30,F\n")).await;
    let reason = "3 cells where the header has 5";
    assert_eq!(short["errors"][0]["reason"], reason);

    let import = uploader.call("import_preferences").at("id", &id);
    let import = import.body("text/csv", "subject,sensitive\np1,ward\n");
    let refused = import.send().await;
    let problem = refused.expect_problem(422, "invalid-preference");
    let error = json!({"line": 2, "attribute": "ward", "code": "not_semi_sensitive"});
    assert_eq!(problem["errors"], json!([error]));
}

async fn columns_that_are_read_past_are_in_no_version_and_no_release(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let mut schema = story::schema();
    let attributes = schema["attributes"].as_array_mut().expect("a list");
    attributes.insert(1, json!({"name": "letter", "role": "ignore"}));
    let made = client.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    story::put_hierarchy(&client, &id, ("ward", story::HIERARCHY)).await;
    let kept = client.call("get_dataset").at("id", &id).send().await;
    assert_eq!(
        kept.expect(200)["schema"]["attributes"],
        schema["attributes"]
    );

    let plain = story::records(0, 60);
    let with = |name: &str| {
        let mut lines = plain.lines();
        let header = lines.next().unwrap_or_default();
        let records = lines.map(|line| format!("canary,{line}\n"));
        format!("{name},{header}\n{}", records.collect::<String>())
    };
    let refused = story::upload(&client, &id, with("remark")).await;
    let problem = refused.expect_problem(422, "invalid-data");
    let unknown = json!({"line": 1, "attribute": "remark", "code": "attribute_unknown"});
    assert_eq!(problem["errors"], json!([unknown]));
    let taken = story::upload(&client, &id, with("letter"))
        .await
        .expect(201);
    let names = taken["attributes"].as_array().expect("a list");
    assert!(names.iter().all(|count| count["attribute"] != "letter"));

    schema["extra_columns"] = json!("ignore");
    let made = client.call("create_dataset").json(&schema).send().await;
    let open = made.expect(201)["id"].as_str().expect("an id").to_owned();
    story::put_hierarchy(&client, &open, ("ward", story::HIERARCHY)).await;
    let same = story::upload(&client, &open, with("remark"))
        .await
        .expect(201);
    assert_eq!(same["sha256"], taken["sha256"]);

    for id in [&id, &open] {
        let release = story::release(&client, &story::job(id)).await;
        for call in [
            "get_release",
            "get_release_report",
            "get_release_verification",
        ] {
            let answer = client.call(call).at("id", &release).send().await;
            assert_eq!(answer.status, 200, "{call}");
            let text = answer.text();
            assert!(
                !text.contains("letter") && !text.contains("canary"),
                "{call}: {text}"
            );
        }
    }
}

async fn a_dry_run_answers_as_an_upload_and_keeps_nothing(server: Server) {
    let client = server.key(&["uploader", "auditor"]).await;
    let id = dataset_with(&client, "drop").await;
    story::upload(&client, &id, story::records(0, 40))
        .await
        .expect(201);
    let before = client.call("get_dataset").at("id", &id);
    let before = before.send().await.expect(200);
    let rows = async || {
        let all = client.call("list_audit").query("limit", 200);
        all.send().await.expect(200)["items"]
            .as_array()
            .map(Vec::len)
    };
    let audited = rows().await;
    let send = async |mode: &str, dry_run: bool, csv: String| {
        let call = client.call("upload_records").at("id", &id);
        let call = call.query("mode", mode).query("dry_run", dry_run);
        call.body("text/csv", csv).send().await
    };
    let more = records_without_cost(100, 1).replace("\np", "\nq");
    let mut said = send("append", true, more.clone()).await.expect(200);
    assert_eq!(said["attributes"], only_cost(1, 1));
    let replacing = send("replace", true, story::records(0, 7))
        .await
        .expect(200);
    assert_eq!(replacing["total_records"], 7);
    // What an upload would be refused for, it is refused for.
    let lossy = send(
        "append",
        true,
        records_without_cost(40, 30).replace("\np", "\nq"),
    )
    .await;
    lossy.expect_problem(422, "would-lose-records");
    let again = send("append", true, story::records(0, 3)).await;
    let problem = again.expect_problem(422, "invalid-data");
    assert_eq!(problem["summary"][0]["code"], "duplicate_subject");

    let after = client.call("get_dataset").at("id", &id).send().await;
    assert_eq!(after.expect(200), before);
    let read = rows().await.zip(audited).map(|(now, then)| now - then);
    assert_eq!(read, Some(0), "reading the list of the log is no change");
    // The upload itself says the same.
    let mut made = send("append", false, more).await.expect(201);
    assert_eq!(made["version"].take(), 2);
    said["version"] = Value::Null;
    assert_eq!(made, said);
}

async fn what_is_appended_is_read_with_the_hierarchies_of_the_version_before(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let id = story::filled_dataset(&uploader).await;
    let pinned = |view: &Value| view["hierarchies"]["ward"].clone();
    let before = uploader
        .call("get_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    let other = story::put_hierarchy(&uploader, &id, ("ward", "green;*\nred;*\n")).await;

    let green = "patient,age,sex,ward,cost\nq1,30,F,green,1\n";
    let refused = story::upload(&uploader, &id, green.into()).await;
    refused.expect_problem(422, "invalid-data");
    story::upload(&uploader, &id, story::records(200, 210))
        .await
        .expect(201);
    let after = uploader
        .call("get_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    assert_eq!(pinned(&after), pinned(&before));

    // What replaces everything asks for the latest, too.
    let replace = || {
        let call = uploader.call("upload_records").at("id", &id);
        call.query("mode", "replace").body("text/csv", green)
    };
    let refused = replace().send().await;
    refused.expect_problem(422, "invalid-data");
    let made = replace().query("hierarchies", "latest").send().await;
    let expected = json!([{"name": "ward", "digest": other, "revision": 2,
        "library": false, "changed": true}]);
    assert_eq!(made.expect(201)["hierarchies"], expected);
    let replaced = uploader
        .call("get_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    assert_eq!(pinned(&replaced), other);
}

async fn what_is_appended_may_pin_a_hierarchy_that_extends_the_one_before(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let put = async |csv: String| {
        let put = client.call("put_dataset_hierarchy").at("id", &id);
        let put = put.at("name", "ward").query("new_version", true);
        let put = put.body("text/csv", csv);
        let put = put.send().await.expect(201);
        put["digest"].as_str().expect("a digest").to_owned()
    };
    let send = async |mode: &str, hierarchies: &str, ward: &str| {
        let call = client.call("upload_records").at("id", &id);
        let call = call.query("mode", mode).query("hierarchies", hierarchies);
        let csv = format!("patient,age,sex,ward,cost\nq-{ward},30,F,{ward},1\n");
        call.body("text/csv", csv).send().await
    };
    let pinned = async || {
        let view = client.call("get_dataset").at("id", &id).send().await;
        view.expect(200)["hierarchies"]["ward"].clone()
    };
    let first = pinned().await;

    let wider = put(format!("green;cold;*\n{}grey;pale;*\n", story::HIERARCHY)).await;
    // As ever, unless the upload asks for it.
    let refused = send("append", "pinned", "green").await;
    refused.expect_problem(422, "invalid-data");
    assert_eq!(pinned().await, first);
    send("append", "latest", "green").await.expect(201);
    assert_eq!(pinned().await, wider);
    send("append", "pinned", "grey").await.expect(201);

    // One that is narrower: red is gone, and blue lies elsewhere.
    put("orange;warm;*\nblue;warm;*\nviolet;cold;*\ngreen;cold;*\ngrey;pale;*\n".into()).await;
    for mode in ["append", "upsert"] {
        let refused = send(mode, "latest", "green").await;
        let problem = refused.expect_problem(409, "hierarchy-not-extended");
        assert_eq!(problem["hierarchy"], "ward");
        let detail = problem["detail"].as_str().expect("a detail");
        for said in ["1 leaf is missing (`red`)", "other nodes (`blue`)"] {
            assert!(detail.contains(said), "{detail}");
        }
    }
    assert_eq!(pinned().await, wider);
    let widest = put(format!(
        "green;cold;*\nindigo;cold;*\n{}grey;pale;*\n",
        story::HIERARCHY
    ));
    let widest = widest.await;
    send("upsert", "latest", "indigo").await.expect(201);
    assert_eq!(pinned().await, widest);

    // Records of all three trees stand in one release.
    let release = story::release(&client, &story::job(&id)).await;
    let view = client.call("get_release").at("id", &release).send().await;
    let view = view.expect(200);
    assert_eq!(view["manifest"]["records"], 123, "{view}");
    // Nothing to extend: a first upload reads with the latest.
    let id = story::dataset(&client).await;
    let call = client.call("upload_records").at("id", id);
    let call = call.query("hierarchies", "latest");
    let call = call.body("text/csv", story::records(0, 3));
    call.send().await.expect(201);
}

async fn a_schema_without_its_hierarchy_takes_no_records(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let created = uploader
        .call("create_dataset")
        .json(&story::schema())
        .send()
        .await
        .expect(201);
    let id = created["id"].as_str().expect("an id");
    let refused = story::upload(&uploader, id, story::records(0, 3)).await;
    let problem = refused.expect_problem(409, "hierarchy-unknown");
    assert_eq!(problem["hierarchy"], "ward");
    let other = uploader
        .call("upload_records")
        .at("id", id)
        .body("application/pdf", "%PDF");
    other
        .send()
        .await
        .expect_problem(415, "unsupported-media-type");
    let coded = uploader
        .call("upload_records")
        .at("id", id)
        .header("content-encoding", "br");
    let coded = coded.body("text/csv", "x").send().await;
    coded.expect_problem(415, "unsupported-media-type");
    let unknown = uploader
        .call("upload_records")
        .at("id", id)
        .query("mode", "merge");
    let unknown = unknown.body("text/csv", "x").send().await;
    unknown.expect_problem(400, "invalid-query");
}

async fn two_uploads_at_once_make_two_versions_or_one_conflict(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let id = story::filled_dataset(&uploader).await;
    let upload = |from: u32| story::upload(&uploader, &id, story::records(from, from + 40));
    let (first, second) = tokio::join!(upload(1000), upload(2000));
    let mut kept = 1;
    for answer in [first, second] {
        match answer.status {
            201 => kept += 1,
            _ => {
                answer.expect_problem(409, "version-moved");
                assert!(answer.header("retry-after").is_some());
            }
        }
    }
    assert!(kept >= 2);
    assert_eq!(versions(&uploader, &id).await, kept);
}
