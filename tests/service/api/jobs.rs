//! Jobs: checked before they are queued, looked at, stopped.

use serde_json::{Value, json};

use super::{Server, on_both, story};

on_both!(
    a_job_is_queued_and_pins_what_it_runs_on,
    a_job_that_cannot_run_is_refused_before_it_is_queued,
    a_queued_job_is_cancelled_at_once,
    an_infeasible_job_fails_and_names_what_would_hold,
    an_l_beyond_the_values_of_an_attribute_proposes_another_parameter,
    engines_describe_their_parameters,
    an_answer_waits_for_the_end_of_a_job,
);

async fn a_job_is_queued_and_pins_what_it_runs_on(server: Server) {
    let client = server.key(&["uploader", "consent", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let put = client
        .call("put_preference")
        .at("id", &id)
        .at("subject", "p1");
    put.json(&json!({"max_leakage": 0.5}))
        .send()
        .await
        .expect(200);
    story::upload(&client, &id, story::records(200, 220))
        .await
        .expect(201);

    let queued = client
        .call("create_job")
        .json(&story::job(&id))
        .send()
        .await;
    assert_eq!(
        queued
            .header("location")
            .map(|path| path.starts_with("/v1/jobs/job_")),
        Some(true)
    );
    let queued = queued.expect(202);
    assert_eq!(
        (&queued["version"], &queued["preference_version"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(queued["parameters"], json!({"k": 2, "l": 2}));
    assert_eq!(
        (&queued["release"], &queued["problem"]),
        (&Value::Null, &Value::Null)
    );
    let mut older = story::job(&id);
    older["version"] = json!(1);
    let older = client
        .call("create_job")
        .json(&older)
        .send()
        .await
        .expect(202);
    assert_eq!(older["version"], 1);

    let list = client
        .call("list_jobs")
        .query("state", "queued")
        .send()
        .await
        .expect(200);
    let listed: Vec<&Value> = list["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|job| &job["id"])
        .collect();
    assert_eq!(listed, [&older["id"], &queued["id"]]);
    let none = client
        .call("list_jobs")
        .query("state", "failed")
        .query("dataset", &id);
    assert_eq!(none.send().await.expect(200)["items"], json!([]));
    let refused = client.call("list_jobs").query("state", "lost").send().await;
    refused.expect_problem(400, "invalid-query");
}

async fn a_job_that_cannot_run_is_refused_before_it_is_queued(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::dataset(&client).await;
    let post = async |spec: &Value| client.call("create_job").json(spec).send().await;
    post(&story::job(&id))
        .await
        .expect_problem(409, "no-records");
    story::upload(&client, &id, story::records(0, 20))
        .await
        .expect(201);
    let changes = [
        ("/engine", json!("magic"), 422, "invalid-parameter"),
        ("/parameters", json!({"k": 0}), 422, "invalid-parameter"),
        ("/parameters", json!({"kay": 5}), 422, "invalid-parameter"),
        (
            "/parameters",
            json!({"k": 2, "attributes": {"nobody": {"l": 2}}}),
            422,
            "invalid-parameter",
        ),
        ("/dataset", json!("job_x"), 422, "invalid-body"),
        (
            "/dataset",
            json!("dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70"),
            404,
            "not-found",
        ),
    ];
    for (place, value, status, slug) in changes {
        let mut spec = story::job(&id);
        *spec.pointer_mut(place).expect("it is there") = value;
        post(&spec).await.expect_problem(status, slug);
    }
    for (name, value, status, slug) in [
        ("version", json!(2), 404, "not-found"),
        ("version", json!(0), 404, "not-found"),
        ("publish", json!("later"), 422, "invalid-body"),
        ("preferences", json!("ignore"), 422, "invalid-body"),
        ("threads", json!(2), 422, "invalid-body"),
        ("seed", json!(7), 422, "invalid-body"),
        ("seed", json!(null), 422, "invalid-body"),
    ] {
        let mut spec = story::job(&id);
        spec[name] = value;
        let problem = post(&spec).await.expect_problem(status, slug);
        if name == "seed" {
            assert_eq!(problem["parameter"], "seed");
            let detail = problem["detail"].as_str().expect("a detail");
            assert!(detail.contains("vizard anonymize"), "{detail}");
        }
    }
    let list = client.call("list_jobs").send().await.expect(200);
    assert_eq!(list["items"], json!([]));
}

async fn a_queued_job_is_cancelled_at_once(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let job = story::queue(&client, &story::job(&id)).await;
    let cancel = || client.call("cancel_job").at("id", &job);
    let cancelled = cancel().json(&json!({})).send().await.expect(200);
    assert_eq!(cancelled["state"], "cancelled");
    assert!(cancelled["finished_at"].is_string());
    assert_eq!(cancel().send().await.expect(200)["state"], "cancelled");
    let refused = cancel().json(&json!({"now": true})).send().await;
    refused.expect_problem(422, "invalid-body");
}

async fn an_infeasible_job_fails_and_names_what_would_hold(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::dataset(&client).await;
    let mut csv = String::from("patient,age,sex,ward,cost\n");
    // Half of all have one cost: l = 8 cannot hold.
    for at in 0..40 {
        let cost = if at % 2 == 0 { 100 } else { 200 + at };
        csv += &format!("p{at},{},F,red,{cost}\n", 20 + at);
    }
    story::upload(&client, &id, csv).await.expect(201);
    let mut spec = story::job(&id);
    spec["parameters"] = json!({"k": 2, "l": 8});
    let job = story::queue(&client, &spec).await;
    let failed = story::ended(&client, &job).await;
    assert_eq!(failed["state"], "failed");
    assert_eq!(failed["problem"]["type"], "urn:vizard:problem:infeasible");
    let problem = &failed["problem"];
    assert_eq!(problem["parameter"], "l");
    assert_eq!(problem["attribute"], "cost");
    assert_eq!(problem["strongest"], "l ≤ 2");
    assert_eq!(problem["strongest_value"], 2.0);
    // 20 of 40 records have the cost: that is said nowhere.
    for exact in ["20", "40", "1 in"] {
        assert!(!problem.to_string().contains(exact), "{problem}");
    }
}

async fn an_l_beyond_the_values_of_an_attribute_proposes_another_parameter(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::dataset(&client).await;
    let mut csv = String::from("patient,age,sex,ward,cost\n");
    for at in 0..40 {
        csv += &format!("p{at},{},F,red,{}\n", 20 + at, at % 2);
    }
    story::upload(&client, &id, csv).await.expect(201);
    let mut spec = story::job(&id);
    spec["parameters"] = json!({"k": 2, "l": 3});
    let job = story::queue(&client, &spec).await;
    let problem = &story::ended(&client, &job).await["problem"];
    assert_eq!(
        (&problem["parameter"], &problem["attribute"]),
        (&json!("l"), &json!("cost"))
    );
    assert_eq!(problem["instead"], "t_closeness");
    let detail = problem["detail"].as_str().expect("a detail");
    assert!(detail.contains("set t_closeness in place of l"), "{detail}");
}

async fn engines_describe_their_parameters(server: Server) {
    let analyst = server.key(&["analyst"]).await;
    let engines = analyst.call("list_engines").send().await.expect(200);
    assert_eq!(engines["items"][0]["name"], "lgb");
    let schema = &engines["items"][0]["parameters"];
    let parameters = json!({"k": 5, "l": 8, "generalization": "mdp", "attributes": {"sex": {"t_closeness": 0.2}}});
    jsonschema::validate(schema, &parameters).expect("the design's own example fits");
    assert!(!jsonschema::is_valid(schema, &json!({"kay": 5})));
}

async fn an_answer_waits_for_the_end_of_a_job(server: Server) {
    let client = server.key(&["uploader", "consent", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let job = story::queue(&client, &story::job(&id)).await;
    let get = || client.call("get_job").at("id", &job);
    // Nobody works yet: the time runs out.
    let waited = get().query("wait", 1).send().await.expect(200);
    assert_eq!(waited["state"], "queued");
    let refused = get().query("wait", 61).send().await;
    refused.expect_problem(400, "invalid-query");
    server.work();
    let ended = get().query("wait", 60).send().await.expect(200);
    assert_eq!(ended["state"], "succeeded", "{ended}");
    let again = get().query("wait", 60).send().await.expect(200);
    assert_eq!(again, ended);
}
