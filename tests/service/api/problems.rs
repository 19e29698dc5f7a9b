//! Every refusal is a problem document, and says nothing it should not.

use super::{Server, on_both, story};

on_both!(
    what_is_not_there_is_a_problem_too,
    a_request_id_is_given_and_kept,
    health_readiness_metrics_and_documents_need_no_token,
    metrics_name_matched_paths_and_no_subject,
);

async fn what_is_not_there_is_a_problem_too(server: Server) {
    let client = server.key(&["uploader"]).await;
    for path in [
        "/",
        "/v1",
        "/v1/nothing",
        "/v1/datasets/",
        "/docs/nothing.js",
        "/v2/jobs",
    ] {
        client
            .send("GET", path)
            .await
            .expect_problem(404, "not-found");
    }
    let refused = client.send("PATCH", "/v1/datasets").await;
    refused.expect_problem(405, "method-not-allowed");
    let allowed = refused.header("allow").expect("the methods that are");
    assert!(
        allowed.contains("GET") && allowed.contains("POST"),
        "{allowed}"
    );
    for id in [
        "x",
        "job_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70",
        "dataset_x",
        "%FF",
    ] {
        let refused = client.send("GET", &format!("/v1/datasets/{id}")).await;
        refused.expect_problem(400, "invalid-id");
        assert!(
            !refused.text().contains("0199d1f2"),
            "what was given is not repeated"
        );
    }
    // HEAD knows no body.
    let head = client.send("HEAD", "/v1/datasets").await;
    assert_eq!((head.status, head.body.len()), (200, 0));
}

async fn a_request_id_is_given_and_kept(server: Server) {
    let client = server.anyone();
    let own = client
        .call("list_keys")
        .header("x-request-id", "order-66")
        .send()
        .await;
    assert_eq!(own.header("x-request-id"), Some("order-66"));
    assert_eq!(
        own.expect_problem(401, "unauthenticated")["instance"],
        "order-66"
    );
    let given = client
        .call("list_keys")
        .header("x-request-id", "a b")
        .send()
        .await;
    let id = given.header("x-request-id").expect("an id").to_owned();
    assert_ne!(id, "a b");
    assert_eq!(given.json()["instance"], id.as_str());
}

async fn health_readiness_metrics_and_documents_need_no_token(server: Server) {
    let client = server.anyone();
    assert_eq!(
        client.call("get_health").send().await.expect(200)["status"],
        "alive"
    );
    let ready = client.call("get_readiness").send().await.expect(200);
    assert!(ready["schema_version"].as_u64() > Some(0));
    let document = client.call("get_openapi").send().await;
    assert_eq!(document.text(), vizard::http::openapi::document_yaml());
    let page = client.send("GET", "/docs/").await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("swagger-ui"));
    let start = client
        .send("GET", "/docs/swagger-initializer.js")
        .await
        .text();
    assert!(start.contains("/openapi.yaml"), "{start}");
    for outside in [
        "https://cdn",
        "http://cdn",
        "unpkg",
        "jsdelivr",
        "googleapis",
    ] {
        assert!(!page.text().contains(outside) && !start.contains(outside));
    }
    server.shutdown.cancel();
}

async fn metrics_name_matched_paths_and_no_subject(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::dataset(&client).await;
    let gone = client
        .call("get_preference")
        .at("id", &id)
        .at("subject", "canary-7731");
    gone.send().await.expect_problem(404, "not-found");
    client.send("GET", "/canary-7731?canary-7731").await;
    let metrics = server.anyone().call("get_metrics").send().await.text();
    assert!(
        metrics.contains("path=\"/v1/datasets/{id}/preferences/{subject}\""),
        "{metrics}"
    );
    assert!(metrics.contains("path=\"unmatched\""));
    assert!(metrics.contains("vizard_jobs{state=\"queued\"}"));
    assert!(metrics.contains("vizard_http_request_duration_seconds_bucket"));
    assert!(!metrics.contains("canary"));
}
