//! Names of jobs and releases.

use serde_json::{Value, json};

use super::{Server, on_both, story};

on_both!(
    a_name_is_shown_wherever_its_job_or_release_is,
    a_name_that_hides_something_is_refused,
);

async fn a_name_is_shown_wherever_its_job_or_release_is(server: Server) {
    server.work();
    let (steward, analyst) = (
        server.key(&["steward"]).await,
        server.key(&["analyst"]).await,
    );
    let id = story::filled_dataset(&steward).await;
    let mut named = story::job(&id);
    named["name"] = json!("  Wards, first quarter  ");
    let posted = steward.call("create_job").json(&named).send().await;
    assert_eq!(posted.expect(202)["name"], "Wards, first quarter");
    let release = story::release(&steward, &named).await;
    let unnamed = story::release(&steward, &story::job(&id)).await;
    let publish = steward.call("publish_release").at("id", &release);
    publish.send().await.expect(200);
    for client in [&steward, &analyst] {
        let view = client.call("get_release").at("id", &release).send().await;
        assert_eq!(view.expect(200)["name"], "Wards, first quarter");
    }
    let view = steward.call("get_release").at("id", &unnamed).send().await;
    let view = view.expect(200);
    assert_eq!(view["name"], Value::Null);
    assert!(view["manifest"].get("name").is_none());
    let list = steward.call("list_releases").send().await.expect(200);
    let name_of = |id: &str| {
        let mut items = list["items"].as_array().expect("a list").iter();
        items.find(|item| item["id"] == id).expect("it is listed")["name"].clone()
    };
    assert_eq!(name_of(&release), "Wards, first quarter");
    assert_eq!(name_of(&unnamed), Value::Null);
    let jobs = steward.call("list_jobs").send().await.expect(200);
    let named = jobs["items"].as_array().expect("a list").iter();
    assert_eq!(
        named
            .filter(|job| job["name"] == "Wards, first quarter")
            .count(),
        2
    );
    let mut exploration = story::exploration(&id);
    exploration["name"] = json!("Which k?");
    let explored = steward.call("create_exploration").json(&exploration);
    explored.send().await.expect(202);
    let jobs = steward.call("list_jobs").send().await.expect(200);
    let mut explored = jobs["items"].as_array().expect("a list").iter();
    assert!(explored.any(|job| job["name"] == "Which k?"));
}

async fn a_name_that_hides_something_is_refused(server: Server) {
    let steward = server.key(&["steward"]).await;
    let id = story::filled_dataset(&steward).await;
    for name in ["", " ", "a\u{202e}b", "a\nb", &"a".repeat(201)] {
        let mut job = story::job(&id);
        job["name"] = json!(name);
        let refused = steward.call("create_job").json(&job).send().await;
        refused.expect_problem(422, "invalid-parameter");
    }
}
