//! How long records stay: said by administrators alone, seen by who sees the dataset.

use serde_json::{Value, json};

use sqlx::{Connection, Executor, PgConnection, SqliteConnection};

use super::{Server, on_both, story};

on_both!(
    an_administrator_says_how_long_records_stay,
    what_is_no_number_of_days_is_refused,
    records_that_were_purged_are_no_input_of_a_job,
    a_series_goes_on_after_a_purge_unless_its_memory_is_dropped,
);

async fn an_administrator_says_how_long_records_stay(server: Server) {
    let admin = server.operator();
    let steward = server.key(&["steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let set = |client: &crate::common::client::Client, days: Value| {
        let call = client.call("set_retention").at("id", &id);
        call.json(&json!({"raw_retention_days": days})).send()
    };
    let said = set(&admin, json!(30)).await.expect(200);
    assert_eq!(
        said,
        json!({
            "id": id, "raw_retention_days": 30, "series_memory": "keep", "records_purged_at": null
        })
    );
    let seen = steward.call("get_dataset").at("id", &id).send().await;
    assert_eq!(seen.expect(200)["raw_retention_days"], 30);
    set(&steward, json!(1))
        .await
        .expect_problem(403, "forbidden");
    let said = set(&admin, Value::Null).await.expect(200);
    assert_eq!(said["raw_retention_days"], Value::Null);
    steward
        .call("erase_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    set(&admin, json!(30))
        .await
        .expect_problem(404, "not-found");
}

async fn what_is_no_number_of_days_is_refused(server: Server) {
    let admin = server.operator();
    let id = story::dataset(&server.key(&["steward"]).await).await;
    for body in [
        json!({}),
        json!({"raw_retention_days": 0}),
        json!({"raw_retention_days": 36_501}),
        json!({"raw_retention_days": -1}),
        json!({"raw_retention_days": "30"}),
        json!({"raw_retention_days": 30, "and": 1}),
        json!({"raw_retention_days": 30, "series_memory": "forget"}),
    ] {
        let call = admin.call("set_retention").at("id", &id).json(&body);
        call.send().await.expect_problem(422, "invalid-body");
    }
}

/// Everything was uploaded and published a day earlier.
async fn let_a_day_pass(server: &Server) {
    if server.url.starts_with("sqlite:") {
        let mut connection = SqliteConnection::connect(&server.url)
            .await
            .expect("the file");
        for earlier in [
            "UPDATE dataset_version SET created_at = created_at - 86400000000",
            "UPDATE release SET created_at = created_at - 86400000000, \
             published_at = published_at - 86400000000",
        ] {
            connection.execute(earlier).await.expect("it runs");
        }
        connection.close().await.expect("it closes");
    } else {
        let mut connection = PgConnection::connect(&server.url)
            .await
            .expect("the database");
        for earlier in [
            "UPDATE dataset_version SET created_at = created_at - interval '1 day'",
            "UPDATE release SET created_at = created_at - interval '1 day', \
             published_at = published_at - interval '1 day'",
        ] {
            connection.execute(earlier).await.expect("it runs");
        }
        connection.close().await.expect("it closes");
    }
}

/// Lets the time of a dataset's records come, and purges them.
async fn purge(server: &Server, id: &str, memory: &str) {
    let set = server.operator().call("set_retention").at("id", id);
    set.json(&json!({"raw_retention_days": 1, "series_memory": memory}))
        .send()
        .await
        .expect(200);
    let dataset = id.parse().expect("an id");
    let_a_day_pass(server).await;
    let act = vizard::store::Act::by("a test");
    let purge = server.store.retention_purge(act, dataset, None).await;
    purge.expect("an answer").expect("its time is up");
}

/// The same people are uploaded again after their records were purged.
async fn a_series_goes_on_after_a_purge_unless_its_memory_is_dropped(server: Server) {
    server.work();
    let steward = server.key(&["steward", "uploader"]).await;
    for memory in ["keep", "drop"] {
        let id = story::filled_dataset(&steward).await;
        let publish = async |release: &str| {
            let call = steward.call("publish_release").at("id", release);
            call.json(&json!({})).send().await
        };
        let first = story::release(&steward, &story::job(&id)).await;
        publish(&first).await.expect(200);
        purge(&server, &id, memory).await;
        let upload = story::upload(&steward, &id, story::records(0, 120)).await;
        upload.expect(201);
        let again = story::release(&steward, &story::job(&id)).await;
        let answer = publish(&again).await;
        match memory {
            // The same groups again tell nothing new.
            "keep" => drop(answer.expect(200)),
            _ => drop(answer.expect_problem(409, "composition")),
        }
    }
}

async fn records_that_were_purged_are_no_input_of_a_job(server: Server) {
    let steward = server.key(&["steward"]).await;
    let id = story::filled_dataset(&steward).await;
    purge(&server, &id, "keep").await;
    let view = steward
        .call("get_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    assert_eq!((&view["version"], &view["records"]), (&json!(2), &json!(0)));
    assert!(view["records_purged_at"].is_string());
    assert!(view["versions"][1]["purged_at"].is_string());
    let latest = steward
        .call("create_job")
        .json(&story::job(&id))
        .send()
        .await;
    latest.expect_problem(409, "no-records");
    let mut earlier = story::job(&id);
    earlier["version"] = json!(1);
    let earlier = steward.call("create_job").json(&earlier).send().await;
    earlier.expect_problem(404, "not-found");
    story::upload(&steward, &id, story::records(0, 60))
        .await
        .expect(201);
    server.work();
    story::release(&steward, &story::job(&id)).await;
}
