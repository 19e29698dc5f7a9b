//! Every refusal is a problem document, and says nothing it should not.

use serde_json::json;

use super::{Server, on_both, story};

on_both!(
    what_is_not_there_is_a_problem_too,
    a_request_id_is_given_and_kept,
    health_readiness_metrics_and_documents_need_no_token,
    pages_load_nothing_from_outside,
    an_answer_that_holds_a_token_is_kept_nowhere,
    nothing_that_tells_of_people_or_jobs_is_kept_on_the_way,
    metrics_name_matched_paths_and_no_subject,
);

async fn what_is_not_there_is_a_problem_too(server: Server) {
    let client = server.key(&["uploader"]).await;
    for path in [
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

async fn pages_load_nothing_from_outside(server: Server) {
    let client = server.anyone();
    for (path, wanted) in [
        ("/", "default-src 'none'"),
        ("/docs/", "default-src 'self'"),
    ] {
        let page = client.send("GET", path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(
            page.header("content-type")
                .is_some_and(|kind| kind.starts_with("text/html"))
        );
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with(wanted), "{path}: {policy}");
        assert!(
            policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(
            !policy.contains("http") && !policy.contains("unsafe-eval"),
            "{path}: {policy}"
        );
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    }
    let welcome = client.send("GET", "/").await.text();
    for place in ["/docs/", "/openapi.yaml", "/v1/engines", "/readyz"] {
        assert!(welcome.contains(&format!("href=\"{place}\"")), "{place}");
    }
    assert!(!welcome.contains("://"), "{welcome}");
    let script = client.send("GET", "/docs/swagger-ui-bundle.js").await;
    assert!(script.header("content-security-policy").is_some());
}

async fn an_answer_that_holds_a_token_is_kept_nowhere(server: Server) {
    let uploader = server.key(&["uploader", "consent"]).await;
    let dataset = story::dataset(&uploader).await;
    let key = json!({"name": "made", "roles": ["analyst"], "datasets": null});
    let subjects = json!({"subjects": ["1002"]});
    let operator = server.operator();
    for time in ["first", "again"] {
        let keys = operator
            .call("create_key")
            .header("idempotency-key", "of-a-key")
            .json(&key);
        let tokens = uploader.call("create_subject_tokens").at("id", &dataset);
        let tokens = tokens
            .header("idempotency-key", "of-tokens")
            .json(&subjects);
        for answer in [keys.send().await, tokens.send().await] {
            assert_eq!(answer.status, 201, "{time}");
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{time}");
        }
    }
}

async fn nothing_that_tells_of_people_or_jobs_is_kept_on_the_way(server: Server) {
    server.work();
    let client = server.key(&["steward", "consent", "auditor"]).await;
    let dataset = story::filled_dataset(&client).await;
    let job = story::queue(&client, &story::job(&dataset)).await;
    let stream = client.call("stream_job_events").at("id", &job).open().await;
    assert_eq!(stream.headers()["cache-control"], "no-store", "a stream");
    let release = story::ended(&client, &job).await["release"].clone();
    let release = release.as_str().expect("a release");
    let mut paths = vec![
        "/v1".to_owned(),
        "/v1/nothing".to_owned(),
        "/v1/keys".to_owned(),
        "/v1/datasets/x".to_owned(),
    ];
    for path in ["datasets", "jobs", "releases", "audit", "ledger", "engines"] {
        paths.push(format!("/v1/{path}"));
    }
    for path in ["", "/preferences", "/preferences/p1", "/subjects/p1"] {
        paths.push(format!("/v1/datasets/{dataset}{path}"));
    }
    for path in ["", "/report", "/verification", "/tables/microdata"] {
        paths.push(format!("/v1/releases/{release}{path}"));
    }
    for path in paths {
        for (caller, method) in [
            (&client, "GET"),
            (&client, "HEAD"),
            (&client, "PATCH"),
            (&server.anyone(), "GET"),
        ] {
            let answer = caller.send(method, &path).await;
            let kept = answer.header("cache-control");
            assert_eq!(kept, Some("no-store"), "{} {method} {path}", answer.status);
        }
    }
    let table = format!("/v1/releases/{release}/tables/microdata");
    let whole = client.send("GET", &table).await;
    let tag = whole.header("etag").expect("a tag").to_owned();
    let report = format!("/v1/releases/{release}/report");
    for (path, (name, value), status) in [
        (&table, ("range", "bytes=0-9".to_owned()), 206),
        (&table, ("if-none-match", tag), 304),
        (&report, ("accept", "text/html".to_owned()), 200),
        (&table, ("x-large", "x".repeat(33 << 10)), 431),
    ] {
        let answer = client.send_whole("GET", path, &[(name, value)], "").await;
        assert_eq!(answer.status, status, "{name}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{name}");
    }
    // What is the same for everybody may be kept.
    for path in ["/openapi.yaml", "/docs/"] {
        let page = server.anyone().send("GET", path).await;
        assert_eq!(page.header("cache-control"), None, "{path}");
    }
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
