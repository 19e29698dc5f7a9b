//! Who may call what: every role at every operation, and what a key may see.

use serde_json::json;
use vizard::http::access::{Access, OPERATIONS};
use vizard::http::auth::Role;

use super::{Server, on_both, story};
use crate::common::client::{Call, Client};

on_both!(
    a_tied_key_sees_its_own_datasets_alone,
    a_role_opens_its_operations_and_no_other,
);

/// A request to the operation with ids that name nothing.
async fn status(client: &Client, method: &str, path: &str) -> u16 {
    const UUID: &str = "0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70";
    let kind = match path.split('/').nth(2) {
        Some("datasets") => "dataset",
        Some("jobs") => "job",
        Some("releases") => "release",
        _ => "key",
    };
    let path = path
        .replace("{id}", &format!("{kind}_{UUID}"))
        .replace("{name}", "nothing")
        .replace("{subject}", "nobody")
        .replace("{table}", "none");
    let answer = client.send(method, &path).await;
    if answer.status >= 400 {
        assert_eq!(
            answer.media_type(),
            Some("application/problem+json"),
            "{method} {path}"
        );
    }
    answer.status
}

async fn a_role_opens_its_operations_and_no_other(server: Server) {
    let anyone = server.anyone();
    for operation in OPERATIONS {
        let (method, path) = (operation.method, operation.path);
        let found = status(&anyone, method, path).await;
        match operation.access {
            Access::Public => assert_eq!(found, 200, "{}", operation.id),
            _ => assert_eq!(found, 401, "{}", operation.id),
        }
        let stranger = anyone.with("vz_0199d1f25a3e7c419d0b2f6a8c1e4b70_00");
        let found = status(&stranger, method, path).await;
        assert_eq!(
            found == 401,
            operation.access != Access::Public,
            "{}",
            operation.id
        );
    }
    for &role in Role::ALL {
        let client = server.key(&[role.as_str()]).await;
        for operation in OPERATIONS {
            let found = status(&client, operation.method, operation.path).await;
            let allowed = match operation.access {
                Access::Public | Access::AnyKey => true,
                Access::Roles(roles) => roles.contains(&role),
            };
            let what = format!("{} as {}: {found}", operation.id, role.as_str());
            assert_eq!(found == 403, !allowed, "{what}");
            assert!(found != 401 && found < 500, "{what}");
        }
    }
}

async fn a_tied_key_sees_its_own_datasets_alone(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let own = story::filled_dataset(&uploader).await;
    let foreign = story::filled_dataset(&uploader).await;
    server.work();
    let everything = server.key(&["steward"]).await;
    let foreign_release = story::release(&everything, &story::job(&foreign)).await;
    everything
        .call("publish_release")
        .at("id", &foreign_release)
        .send()
        .await
        .expect(200);
    let jobs = everything.call("list_jobs").send().await.expect(200);
    let foreign_job = jobs["items"][0]["id"].as_str().expect("a job").to_owned();

    let roles = ["uploader", "steward", "consent", "analyst"];
    let tied = server.key_for(&roles, json!([own])).await;
    let listed = tied.call("list_datasets").send().await.expect(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(listed["items"][0]["id"], own.as_str());
    for operation in ["list_jobs", "list_releases"] {
        let listed = tied.call(operation).send().await.expect(200);
        assert_eq!(listed["items"], json!([]), "{operation}");
    }
    tied.call("get_dataset")
        .at("id", &own)
        .send()
        .await
        .expect(200);
    for call in hidden_calls(&tied, &foreign, &foreign_job, &foreign_release) {
        call.send().await.expect_problem(404, "not-found");
    }
    let refused = tied
        .call("create_dataset")
        .json(&story::schema())
        .send()
        .await;
    refused.expect_problem(403, "forbidden");
}

/// Calls for things of a dataset that the client may not see.
fn hidden_calls(
    tied: &Client,
    foreign: &str,
    foreign_job: &str,
    foreign_release: &str,
) -> Vec<Call> {
    vec![
        tied.call("get_dataset").at("id", foreign),
        tied.call("erase_dataset").at("id", foreign),
        tied.call("upload_records")
            .at("id", foreign)
            .body("text/csv", "x"),
        tied.call("import_preferences")
            .at("id", foreign)
            .body("text/csv", "subject\n"),
        tied.call("get_preference")
            .at("id", foreign)
            .at("subject", "p1"),
        tied.call("put_preference")
            .at("id", foreign)
            .at("subject", "p1")
            .json(&json!({})),
        tied.call("delete_preference")
            .at("id", foreign)
            .at("subject", "p1"),
        tied.call("create_job").json(&story::job(foreign)),
        tied.call("get_job").at("id", foreign_job),
        tied.call("cancel_job").at("id", foreign_job),
        tied.call("stream_job_events").at("id", foreign_job),
        tied.call("get_release").at("id", foreign_release),
        tied.call("get_release_table")
            .at("id", foreign_release)
            .at("table", "microdata"),
        tied.call("get_release_report").at("id", foreign_release),
        tied.call("get_release_verification")
            .at("id", foreign_release),
        tied.call("publish_release").at("id", foreign_release),
        tied.call("withdraw_release").at("id", foreign_release),
    ]
}
