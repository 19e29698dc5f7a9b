//! How long records stay: said by administrators alone, seen by who sees the dataset.

use serde_json::{Value, json};

use sqlx::{Connection, Executor, PgConnection, SqliteConnection};

use super::{Server, on_both, story};

on_both!(
    an_administrator_says_how_long_records_stay,
    what_is_no_number_of_days_is_refused,
    records_that_were_purged_are_no_input_of_a_job,
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
        json!({"id": id, "raw_retention_days": 30, "records_purged_at": null})
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
    ] {
        let call = admin.call("set_retention").at("id", &id).json(&body);
        call.send().await.expect_problem(422, "invalid-body");
    }
}

/// Everything was uploaded a day earlier.
async fn let_a_day_pass(server: &Server) {
    if server.url.starts_with("sqlite:") {
        let mut connection = SqliteConnection::connect(&server.url)
            .await
            .expect("the file");
        let earlier = "UPDATE dataset_version SET created_at = created_at - 86400000000";
        connection.execute(earlier).await.expect("it runs");
        connection.close().await.expect("it closes");
    } else {
        let mut connection = PgConnection::connect(&server.url)
            .await
            .expect("the database");
        let earlier = "UPDATE dataset_version SET created_at = created_at - interval '1 day'";
        connection.execute(earlier).await.expect("it runs");
        connection.close().await.expect("it closes");
    }
}

async fn records_that_were_purged_are_no_input_of_a_job(server: Server) {
    let (admin, steward) = (server.operator(), server.key(&["steward"]).await);
    let id = story::filled_dataset(&steward).await;
    let set = admin.call("set_retention").at("id", &id);
    set.json(&json!({"raw_retention_days": 1}))
        .send()
        .await
        .expect(200);
    let dataset = id.parse().expect("an id");
    let_a_day_pass(&server).await;
    let act = vizard::store::Act::by("a test");
    let purge = server.store.retention_purge(act, dataset, None).await;
    purge.expect("an answer").expect("its time is up");
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
