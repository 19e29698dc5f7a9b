//! Explorations: queued whole, after all other jobs; the best are kept.

use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::Client;

on_both!(
    an_exploration_measures_each_setting_and_keeps_the_best,
    an_exploration_waits_for_other_jobs,
    an_exploration_can_be_stopped,
    what_cannot_be_run_is_told_with_the_reason,
    an_exploration_whose_time_is_up_begins_nothing_more,
    an_infeasible_setting_tells_no_figure_of_the_records,
    two_releases_of_one_version_stand_side_by_side,
);

async fn an_exploration_measures_each_setting_and_keeps_the_best(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&client).await;
    let mut asked = story::exploration(&dataset);
    asked["k"] = json!([2, 3, 4, 6]);
    asked["engines"] = json!([{"engine": "lgb", "parameters": {"l": 2}},
        {"engine": "lgb", "parameters": {"l": 2, "generalization": "mdp"}}]);
    asked["keep"] = json!(2);
    asked["loss"] = json!("ncp");
    let begun = client.call("create_exploration").json(&asked).send().await;
    let location = begun.header("location").expect("a place").to_owned();
    let begun = begun.expect(202);
    let id = begun["id"].as_str().expect("an id").to_owned();
    assert_eq!(location, format!("/v1/explorations/{id}"));
    assert_eq!(
        (&begun["settings_total"], &begun["keep"]),
        (&json!(8), &json!(2))
    );
    let found = story::explored(&client, &id).await;
    assert_eq!(
        (&found["state"], &found["settings_ended"]),
        (&json!("done"), &json!(8))
    );
    let settings = found["settings"].as_array().expect("settings");
    for setting in settings {
        assert_eq!(setting["state"], "succeeded", "{setting}");
        assert!(setting["measures"]["ncp"].is_number(), "{setting}");
        assert_eq!(setting["loss"], setting["measures"]["ncp"]);
        assert_eq!(setting["risk"], setting["measures"]["reidentification_max"]);
    }
    of_the_best_alone_there_are_tables(&client, &found).await;
    // Who may read no explorations sees none in a report.
    let public = client.call("list_releases").query("state", "published");
    let public = public.send().await.expect(200);
    let analyst = server.key(&["analyst"]).await;
    let page = analyst.call("get_release_report");
    let page = page.at("id", text(&public["items"][0]["id"]));
    let page = page.header("accept", "text/html").send().await;
    assert_eq!(page.status, 200);
    assert!(!page.text().contains("exploration"), "{}", page.text());

    let list = client.call("list_explorations").query("dataset", &dataset);
    let list = list.send().await.expect(200);
    assert_eq!(list["items"][0]["id"], json!(id));
    assert!(list["items"][0]["settings"].is_null());
    let page = client.call("get_exploration").at("id", &id);
    let page = page.header("accept", "text/html").send().await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("Loss against risk"));
}

/// Two of eight are kept, and can be published like any other draft.
async fn of_the_best_alone_there_are_tables(client: &Client, found: &Value) {
    let settings = found["settings"].as_array().expect("settings");
    let best: Vec<u64> = numbers(&found["best"]);
    assert_eq!(best.len(), 2);
    assert!(
        best.iter()
            .all(|number| numbers(&found["front"]).contains(number))
    );
    for setting in settings {
        let number = setting["setting"].as_u64().expect("a number");
        assert_eq!(
            setting["release"].is_string(),
            best.contains(&number),
            "{setting}"
        );
    }
    let drafts = client
        .call("list_releases")
        .query("state", "draft")
        .send()
        .await;
    assert_eq!(
        drafts.expect(200)["items"].as_array().map(Vec::len),
        Some(2)
    );
    let gone = client
        .call("list_releases")
        .query("state", "withdrawn")
        .send()
        .await;
    let gone = gone.expect(200);
    assert_eq!(gone["items"].as_array().map(Vec::len), Some(6));
    let table = client
        .call("get_release_table")
        .at("id", text(&gone["items"][0]["id"]));
    assert_eq!(table.at("table", "microdata").send().await.status, 409);
    // One of the best is published like any other draft.
    let kept = settings.iter().find(|one| one["release"].is_string());
    let kept = text(&kept.expect("one is kept")["release"]);
    let publish = client.call("publish_release").at("id", kept).send().await;
    publish.expect(200);
    its_report_has_the_picture_for_stewards(client, (kept, text(&found["id"]))).await;
}

/// The picture stands in the report's page, and links to the exploration.
async fn its_report_has_the_picture_for_stewards(
    client: &Client,
    (release, exploration): (&str, &str),
) {
    let page = client.call("get_release_report").at("id", release);
    let page = page.header("accept", "text/html").send().await.text();
    assert!(page.contains("Loss against risk"), "{page}");
    assert_eq!(page.matches("class=\"own\"").count(), 1);
    assert!(page.contains(&format!("href=\"/explorations/{exploration}\"")));
}

async fn an_exploration_waits_for_other_jobs(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&client).await;
    let id = story::explore(&client, &story::exploration(&dataset)).await;
    let job = story::queue(&client, &story::job(&dataset)).await;
    server.work();
    let found = story::explored(&client, &id).await;
    let ordinary = client
        .call("get_job")
        .at("id", &job)
        .send()
        .await
        .expect(200);
    assert_eq!(ordinary["exploration"], Value::Null);
    let first = found["settings"][0]["job"].clone();
    let of_it = client.call("get_job").at("id", text(&first)).send().await;
    let of_it = of_it.expect(200);
    assert_eq!(of_it["exploration"], json!(id));
    assert!(
        text(&ordinary["started_at"]) <= text(&of_it["started_at"]),
        "a job of an exploration comes after all others"
    );
}

async fn an_exploration_can_be_stopped(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&client).await;
    let id = story::explore(&client, &story::exploration(&dataset)).await;
    let stop = || client.call("cancel_exploration").at("id", &id).send();
    let stopped = stop().await.expect(200);
    assert_eq!(stopped["state"], "cancelled");
    assert!(
        stopped["settings"]
            .as_array()
            .expect("settings")
            .iter()
            .all(|one| one["state"] == "cancelled")
    );
    assert_eq!(
        stop().await.expect(200),
        stopped,
        "stopping twice is stopping"
    );
}

async fn what_cannot_be_run_is_told_with_the_reason(server: Server) {
    let client = server.key(&["uploader", "steward", "admin"]).await;
    let dataset = story::filled_dataset(&client).await;
    let floors = client.call("set_floors").at("id", &dataset);
    floors.json(&json!({"k_min": 3})).send().await.expect(200);
    let post = async |asked: &Value| client.call("create_exploration").json(asked).send().await;
    let mut asked = story::exploration(&dataset);
    asked["engines"] = json!([{"engine": "lgb", "parameters": {"l": 2}}, {"engine": "rmr"}]);
    let begun = post(&asked).await.expect(202);
    assert_eq!(
        begun["settings_total"], 1,
        "k = 4 alone is not below the floor"
    );
    let refused: Vec<&str> = begun["refused"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| text(&one["engine"]))
        .collect();
    assert_eq!(refused, ["rmr", "rmr", "lgb"]);
    asked["k"] = json!([2]);
    post(&asked).await.expect_problem(422, "below-floor");
    asked["engines"] = json!([{"engine": "rmr"}]);
    post(&asked).await.expect_problem(422, "invalid-parameter");
    asked["engines"] = json!([]);
    post(&asked).await.expect_problem(422, "invalid-body");
    let mut asked = story::exploration(&dataset);
    asked["keep"] = json!(21);
    post(&asked).await.expect_problem(422, "invalid-parameter");
    asked["keep"] = json!(1);
    asked["loss"] = json!("fit");
    post(&asked).await.expect_problem(422, "invalid-parameter");
    asked["loss"] = json!("ncp");
    asked["seconds_max"] = json!(0);
    post(&asked).await.expect_problem(422, "invalid-parameter");
    let empty = story::dataset(&client).await;
    post(&story::exploration(&empty))
        .await
        .expect_problem(409, "no-records");
    let analyst = server.key(&["analyst"]).await;
    let asked = story::exploration(&dataset);
    let refused = analyst.call("create_exploration").json(&asked).send().await;
    refused.expect_problem(403, "forbidden");
}

async fn an_exploration_whose_time_is_up_begins_nothing_more(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&client).await;
    let mut asked = story::exploration(&dataset);
    asked["seconds_max"] = json!(1);
    let id = story::explore(&client, &asked).await;
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    let act = vizard::store::Act::by("a test");
    let swept = server.store.exploration_sweep(act).await;
    assert_eq!(swept.expect("a number"), 2);
    let found = client.call("get_exploration").at("id", &id).send().await;
    assert_eq!(found.expect(200)["state"], "time_up");
}

async fn an_infeasible_setting_tells_no_figure_of_the_records(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&client).await;
    let mut asked = story::exploration(&dataset);
    asked["k"] = json!([2, 500]);
    let id = story::explore(&client, &asked).await;
    let found = story::explored(&client, &id).await;
    assert_eq!(found["settings"][0]["state"], "succeeded");
    let failed = &found["settings"][1];
    assert_eq!(
        (&failed["state"], &failed["release"]),
        (&json!("failed"), &Value::Null)
    );
    assert!(!text(&failed["problem"]).is_empty());
    let job = client
        .call("get_job")
        .at("id", text(&failed["job"]))
        .send()
        .await;
    let problem = &job.expect(200)["problem"];
    assert!(
        problem["records"].is_null() && problem["strongest"].is_null(),
        "{problem}"
    );
}

async fn two_releases_of_one_version_stand_side_by_side(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&client).await;
    let first = story::release(&client, &story::job(&dataset)).await;
    let mut stronger = story::job(&dataset);
    stronger["parameters"]["k"] = json!(6);
    let second = story::release(&client, &stronger).await;
    let compare = async |one: &str, other: &str| {
        let call = client.call("compare_releases").at("id", one);
        call.json(&json!({"with": other})).send().await
    };
    let both = compare(&first, &second).await.expect(200);
    assert_eq!(both["second"]["parameters"]["k"], 6);
    let figures = both["figures"].as_array().expect("figures");
    let of = |name: &str| {
        figures
            .iter()
            .find(|one| one["figure"] == name)
            .expect("a figure")
    };
    let risk = of("reidentification_risk.prosecutor_max");
    assert!(risk["difference"].as_f64() < Some(0.0), "{risk}");
    assert!(
        figures
            .iter()
            .any(|one| text(&one["figure"]).starts_with("attacks."))
    );
    story::upload(&client, &dataset, story::records(200, 260))
        .await
        .expect(201);
    let later = story::release(&client, &story::job(&dataset)).await;
    compare(&first, &later)
        .await
        .expect_problem(422, "invalid-parameter");
    let unknown = "release_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70";
    compare(&first, unknown)
        .await
        .expect_problem(404, "not-found");
}

fn numbers(list: &Value) -> Vec<u64> {
    let list = list.as_array().expect("a list").iter();
    list.filter_map(Value::as_u64).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
