//! Preferences: one subject's terms, and many at once.

use serde_json::json;

use super::{Server, on_both, story};

on_both!(
    one_subjects_terms_are_set_read_replaced_and_taken_back,
    terms_are_overwritten_only_by_who_has_seen_them,
    many_terms_are_taken_at_once_or_not_at_all,
    an_import_tells_stewards_alone_who_has_no_record,
    terms_that_do_not_fit_the_schema_are_refused,
);

async fn one_subjects_terms_are_set_read_replaced_and_taken_back(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::filled_dataset(&client).await;
    let at = |operation| client.call(operation).at("id", &id).at("subject", "p 1/ü");
    let terms = json!({"sensitive": ["age"], "max_leakage": 0.25, "guard": {}});
    let set = at("put_preference").json(&terms).send().await;
    assert_eq!(set.header("etag"), Some("\"1\""));
    let set = set.expect(200);
    assert_eq!(set["subject"], "p 1/ü");
    assert_eq!(
        set["terms"],
        json!({"sensitive": ["age"], "max_leakage": 0.25})
    );
    let read = at("get_preference").send().await;
    assert_eq!(read.header("etag"), Some("\"1\""));
    assert_eq!(read.expect(200), set);

    let other = json!({"subject": "p 1/ü", "exclude": true, "max_leakage": {"cost": 0.5}});
    let replaced = at("put_preference").json(&other).send().await.expect(200);
    assert_eq!(replaced["version"], 2);
    assert_eq!(
        replaced["terms"],
        json!({"exclude": true, "max_leakage": {"cost": 0.5}})
    );
    let dataset = client
        .call("get_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    assert_eq!(dataset["preferences"], json!({"version": 2, "subjects": 1}));
    let gone = at("delete_preference").send().await.expect(200);
    assert_eq!(gone["version"], 3);
    at("get_preference")
        .send()
        .await
        .expect_problem(404, "not-found");
    at("delete_preference")
        .send()
        .await
        .expect_problem(404, "not-found");
}

async fn terms_are_overwritten_only_by_who_has_seen_them(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::dataset(&client).await;
    let at = |operation| client.call(operation).at("id", &id).at("subject", "p1");
    let terms = json!({"max_leakage": 0.5});
    let put = || at("put_preference").json(&terms);
    let refused = put().header("if-match", "*").send().await;
    refused.expect_problem(412, "precondition-failed");
    put().header("if-none-match", "*").send().await.expect(200);
    let refused = put().header("if-none-match", "*").send().await;
    refused.expect_problem(412, "precondition-failed");
    put().header("if-match", "\"1\"").send().await.expect(200);
    let refused = put().header("if-match", "\"1\"").send().await;
    refused.expect_problem(412, "precondition-failed");
    let refused = at("delete_preference")
        .header("if-match", "\"1\"")
        .send()
        .await;
    refused.expect_problem(412, "precondition-failed");
    let refused = put().header("if-match", "1").send().await;
    refused.expect_problem(400, "invalid-header");
    at("delete_preference")
        .header("if-match", "\"2\"")
        .send()
        .await
        .expect(200);
}

async fn many_terms_are_taken_at_once_or_not_at_all(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::filled_dataset(&client).await;
    let import = || client.call("import_preferences").at("id", &id);
    let csv = "subject,sensitive,max_leakage,max_reidentification,exclude\n\
        p1,age|sex,0.25,,\np2,,,0.1,true\nnobody,age,,,false\np1,age,,,\n";
    let taken = import().body("text/csv", csv).send().await.expect(200);
    assert_eq!(taken, json!({"accepted": 3, "version": 1}));
    let last = client
        .call("get_preference")
        .at("id", &id)
        .at("subject", "p1")
        .send()
        .await;
    assert_eq!(last.expect(200)["terms"], json!({"sensitive": ["age"]}));
    let lines = "{\"subject\": \"p3\", \"exclude\": true}\n{\"subject\": \"p1\"}\n";
    let taken = import()
        .body("application/x-ndjson", lines)
        .send()
        .await
        .expect(200);
    assert_eq!(taken, json!({"accepted": 2, "version": 2}));

    let broken = "subject,sensitive,max_leakage\np4,age,0.5\np5,canary,\np6,,canary\n";
    let refused = import().body("text/csv", broken).send().await;
    let problem = refused.expect_problem(422, "invalid-preference");
    assert_eq!(problem["total_errors"], 2);
    assert_eq!(problem["errors"][0]["line"], 3);
    assert!(!refused.text().contains("canary"));
    let untouched = client
        .call("get_preference")
        .at("id", &id)
        .at("subject", "p4")
        .send()
        .await;
    untouched.expect_problem(404, "not-found");
    let other = import().body("application/json", "{}").send().await;
    other.expect_problem(415, "unsupported-media-type");
}

/// A consent key asks for one subject at a time: were the answers different, it
/// would know who is in the data.
async fn an_import_tells_stewards_alone_who_has_no_record(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let id = story::filled_dataset(&uploader).await;
    let ask = async |roles: &[&str], subject: &str| {
        let csv = format!("subject,exclude\n{subject},true\n");
        let client = server.key(roles).await;
        let import = client.call("import_preferences").at("id", &id);
        let mut taken = import.body("text/csv", csv).send().await.expect(200);
        taken.as_object_mut().expect("an object").remove("version");
        taken
    };
    let known = ask(&["consent"], "p1").await;
    assert_eq!(known, json!({"accepted": 1}));
    for roles in [&["consent"][..], &["consent", "uploader"]] {
        assert_eq!(ask(roles, "nobody").await, known);
    }
    for (subject, unknown) in [("p1", 0), ("nobody", 1)] {
        let told = ask(&["consent", "steward"], subject).await;
        let expected = json!({"accepted": 1, "unknown_subjects": unknown, "near_misses": 0});
        assert_eq!(told, expected);
    }
}

async fn terms_that_do_not_fit_the_schema_are_refused(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::filled_dataset(&client).await;
    let put = || {
        client
            .call("put_preference")
            .at("id", &id)
            .at("subject", "p1")
    };
    for terms in [
        json!({"sensitive": ["canary"]}),
        json!({"sensitive": ["ward"]}),
        json!({"max_leakage": 0}),
        json!({"max_leakage": "canary"}),
        json!({"max_reidentification": 1.5}),
        json!({"max_leak": 0.5}),
        json!({"guard": {"cost": ["canary"]}}),
    ] {
        let refused = put().json(&terms).send().await;
        refused.expect_problem(422, "invalid-preference");
        assert!(!refused.text().contains("canary"), "{}", refused.text());
    }
    for body in [json!([]), json!({"subject": "p2"})] {
        put()
            .json(&body)
            .send()
            .await
            .expect_problem(422, "invalid-body");
    }
    let refused = put().body("application/json", "canary").send().await;
    refused.expect_problem(400, "malformed-json");
}
