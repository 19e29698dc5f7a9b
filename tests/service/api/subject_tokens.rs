//! Subjects' tokens: given out, used until their time is over, and telling nobody who is in a dataset.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};
use crate::common::statements::Statements;

on_both!(
    a_subject_reads_sets_and_takes_back_their_own_terms,
    every_bad_token_gets_the_same_bytes,
    of_twenty_uses_at_the_same_time_each_is_a_change_of_its_own,
    terms_that_do_not_fit_leave_the_token_as_it_is,
    whether_a_subject_has_a_record_changes_no_answer,
    a_request_for_tokens_keeps_its_limits,
    a_subject_token_opens_nothing_else_and_no_other_token_opens_its_operation,
);

/// Tokens for subjects of a dataset, in order.
async fn tokens(consent: &Client, id: &str, request: Value) -> Vec<String> {
    let made = consent
        .call("create_subject_tokens")
        .at("id", id)
        .json(&request)
        .send()
        .await
        .expect(201);
    let items = made["items"].as_array().expect("items");
    let text = |item: &Value| item["token"].as_str().expect("a token").to_owned();
    items.iter().map(text).collect()
}

/// A use of a token, always under the same request id.
async fn put(server: &Server, token: &str, terms: &Value) -> Answer {
    let call = server.anyone().with(token).call("put_my_preferences");
    call.header("x-request-id", "same").json(terms).send().await
}

/// Everything of an answer that a client can see, but the time.
fn seen(answer: &Answer) -> (u16, String, Vec<(String, String)>) {
    let mut headers: Vec<(String, String)> = answer
        .headers
        .iter()
        .filter(|(name, _)| *name != "date")
        .map(|(name, value)| {
            let value = value.to_str().expect("a text").to_owned();
            (name.to_string(), value)
        })
        .collect();
    headers.sort();
    (answer.status, answer.text(), headers)
}

async fn a_subject_reads_sets_and_takes_back_their_own_terms(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::filled_dataset(&client).await;
    let made = client
        .call("create_subject_tokens")
        .at("id", &id)
        .json(&json!({"subjects": ["p1", "p 2/ü"]}))
        .send()
        .await
        .expect(201);
    let of = |at: usize| made["items"][at]["token"].as_str().expect("a token");
    assert_eq!(made["items"][1]["subject"], "p 2/ü");
    assert!(of(0).starts_with("vs_") && of(0).len() == 35 && of(0) != of(1));
    let expires_at = made["expires_at"].as_str().expect("a time");
    let expires_at: chrono::DateTime<chrono::Utc> = expires_at.parse().expect("a time");
    let days = (expires_at - vizard::clock::Clock::now(&vizard::clock::SystemClock)).num_hours();
    assert!((13 * 24..=14 * 24).contains(&days), "{days}");

    let terms = json!({"sensitive": ["age"], "max_leakage": 0.25});
    let set = put(&server, of(1), &terms).await.expect(200);
    assert_eq!(set["terms"], terms);
    let kept = client
        .call("get_preference")
        .at("id", &id)
        .at("subject", "p 2/ü")
        .send()
        .await
        .expect(200);
    assert_eq!(kept["terms"], terms);
    let read = async |token: &str| {
        let call = server.anyone().with(token).call("get_my_preferences");
        call.send().await.expect(200)
    };
    let choices = read(of(1)).await;
    assert_eq!(
        (&choices["terms"], &choices["expires_at"]),
        (&terms, &made["expires_at"])
    );
    assert_eq!(choices["without_terms"], json!({}));
    assert_eq!(read(of(0)).await["terms"], Value::Null);
    // Taking back is as easy as giving: the same token does it.
    put(&server, of(1), &json!({"exclude": true}))
        .await
        .expect(200);
    assert_eq!(read(of(1)).await["terms"], json!({"exclude": true}));
    assert_eq!(read(of(0)).await["terms"], Value::Null);
}

async fn every_bad_token_gets_the_same_bytes(server: Server) {
    let client = server.key(&["uploader", "consent", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let erased = story::dataset(&client).await;
    let request = json!({"subjects": ["p1", "nobody"]});
    let brief = json!({"subjects": ["p1", "nobody"], "expires_in_s": 1});
    let expired = tokens(&client, &id, brief).await;
    let of_erased = tokens(&client, &erased, request).await;
    let gone = client.call("erase_dataset").at("id", &erased).send().await;
    gone.expect(200);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let never = "vs_0123456789abcdef0123456789abcdef".to_owned();
    let malformed = ["vs_", "vs_x", "vz_0123456789abcdef0123456789abcdef"].map(str::to_owned);
    let all = expired.into_iter().chain(of_erased).chain([never]);
    for terms in [
        json!({"exclude": true}),
        json!({"sensitive": ["canary"]}),
        json!([]),
    ] {
        let mut first = None;
        for token in all.clone().chain(malformed.clone()) {
            let answer = put(&server, &token, &terms).await;
            answer.expect_problem(401, "unauthenticated");
            let seen = seen(&answer);
            assert_eq!(first.get_or_insert_with(|| seen.clone()), &seen);
            let call = server.anyone().with(&token).call("get_my_preferences");
            let read = call.send().await;
            read.expect_problem(401, "unauthenticated");
        }
    }
}

async fn of_twenty_uses_at_the_same_time_each_is_a_change_of_its_own(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::dataset(&client).await;
    let token = tokens(&client, &id, json!({"subjects": ["p1"]}))
        .await
        .remove(0);
    let holder = server.anyone().with(&token);
    let uses: Vec<_> = (1..=20)
        .map(|at| {
            let terms = json!({"max_leakage": f64::from(at) / 20.0});
            let call = holder.call("put_my_preferences").json(&terms);
            tokio::spawn(async move { call.send().await })
        })
        .collect();
    let mut receipts = Vec::new();
    for used in uses {
        let set = used.await.expect("no panic").expect(200);
        receipts.push((set["receipt"].clone(), set["terms"].clone()));
    }
    let in_force = client
        .call("get_preference")
        .at("id", &id)
        .at("subject", "p1")
        .send()
        .await
        .expect(200);
    assert_eq!(in_force["version"], json!(20));
    // Of all receipts one says that its choice is in force, and it is that of those terms.
    let mut standing = Vec::new();
    for (receipt, terms) in receipts {
        let code = receipt.as_str().expect("a code");
        let call = server.anyone().with(code).call("get_my_receipt");
        if call.send().await.expect(200)["state"] == "in_force" {
            standing.push(terms);
        }
    }
    assert_eq!(standing, [in_force["terms"].clone()]);
}

async fn terms_that_do_not_fit_leave_the_token_as_it_is(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::filled_dataset(&client).await;
    let token = tokens(&client, &id, json!({"subjects": ["p1"]}))
        .await
        .remove(0);
    for (terms, slug) in [
        (json!({"sensitive": ["canary"]}), "invalid-preference"),
        (json!({"max_leakage": 7}), "invalid-preference"),
        (json!({"subject": "p1"}), "invalid-body"),
        (json!({"subject": "p2", "exclude": true}), "invalid-body"),
        (json!([]), "invalid-body"),
    ] {
        let refused = put(&server, &token, &terms).await;
        refused.expect_problem(422, slug);
        assert!(!refused.text().contains("canary"), "{}", refused.text());
    }
    let holder = server.anyone().with(&token);
    let call = || holder.call("put_my_preferences");
    let refused = call().body("application/json", "{").send().await;
    refused.expect_problem(400, "malformed-json");
    let refused = call().body("text/csv", "subject\np1\n").send().await;
    refused.expect_problem(415, "unsupported-media-type");
    put(&server, &token, &json!({"exclude": true}))
        .await
        .expect(200);
}

async fn whether_a_subject_has_a_record_changes_no_answer(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::filled_dataset(&client).await;
    // One has a record, one has terms already, one is nobody.
    client
        .call("put_preference")
        .at("id", &id)
        .at("subject", "talks")
        .json(&json!({}))
        .send()
        .await
        .expect(200);
    let (mut given, mut set) = (Vec::new(), Vec::new());
    for subject in ["p1", "talks", "nobody"] {
        let request = json!({"subjects": [subject], "expires_in_s": 3_600});
        let call = client.call("create_subject_tokens").at("id", &id);
        let answer = call
            .header("x-request-id", "same")
            .json(&request)
            .send()
            .await;
        let made = answer.json();
        let token = made["items"][0]["token"].as_str().expect("a token");
        let expires_at = made["expires_at"].as_str().expect("a time");
        let (status, text, headers) = seen(&answer);
        let text = text.replace(token, "token").replace(subject, "subject");
        let lengths = headers
            .into_iter()
            .filter(|(name, _)| name != "content-length");
        given.push((
            status,
            text.replace(expires_at, "time"),
            lengths.collect::<Vec<_>>(),
        ));
        let answer = put(&server, token, &json!({"exclude": true})).await;
        let own = answer.json();
        let (status, text, headers) = seen(&answer);
        let of_now = ["receipt", "made_at"].map(|field| own[field].as_str().expect("a text"));
        let text = of_now
            .iter()
            .fold(text, |text, now| text.replace(now, "now"));
        set.push((status, text, headers));
    }
    assert_eq!((given[0].0, set[0].0), (201, 200));
    assert!(given.iter().all(|answer| *answer == given[0]), "{given:?}");
    assert!(set.iter().all(|answer| *answer == set[0]), "{set:?}");
}

async fn a_request_for_tokens_keeps_its_limits(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::dataset(&client).await;
    let ask = async |request: Value| {
        let call = client.call("create_subject_tokens").at("id", &id);
        call.json(&request).send().await
    };
    let many = |count: usize| (0..count).map(|at| format!("p{at}")).collect::<Vec<_>>();
    let days = |days: u64| json!({"subjects": ["p1"], "expires_in_s": days * 24 * 60 * 60});
    ask(json!({"subjects": many(1_000)})).await.expect(201);
    ask(days(90)).await.expect(201);
    ask(json!({"subjects": ["p".repeat(4_096)]}))
        .await
        .expect(201);
    for request in [
        json!({"subjects": many(1_001)}),
        json!({"subjects": []}),
        json!({"subjects": [""]}),
        json!({"subjects": ["p".repeat(4_097)]}),
        json!({"subjects": ["p1"], "expires_in_s": 0}),
        json!({"subjects": ["p1"], "expires_in_s": 90 * 24 * 60 * 60 + 1}),
        json!({"subjects": ["p1"], "expires_in_s": -1}),
        json!({"subjects": "p1"}),
        json!({"subjects": ["p1"], "note": 1}),
        json!({}),
    ] {
        ask(request).await.expect_problem(422, "invalid-body");
    }
}

async fn a_subject_token_opens_nothing_else_and_no_other_token_opens_its_operation(server: Server) {
    let client = server
        .key(&["uploader", "consent", "steward", "admin"])
        .await;
    let id = story::dataset(&client).await;
    let token = tokens(&client, &id, json!({"subjects": ["p1"]}))
        .await
        .remove(0);
    let holder = server.anyone().with(&token);
    for operation in ["list_datasets", "list_engines", "list_keys"] {
        let refused = holder.call(operation).send().await;
        refused.expect_problem(401, "unauthenticated");
    }
    for other in [client, server.operator(), server.anyone()] {
        let refused = other
            .call("put_my_preferences")
            .json(&json!({}))
            .send()
            .await;
        refused.expect_problem(401, "unauthenticated");
        for operation in [
            "get_my_preferences",
            "get_my_receipt",
            "withdraw_my_preferences",
        ] {
            let refused = other.call(operation).send().await;
            refused.expect_problem(401, "unauthenticated");
        }
    }
    let set = put(&server, &token, &json!({})).await.expect(200);
    // A token is no code, and a code no token.
    let code = set["receipt"].as_str().expect("a code");
    for (text, operation) in [
        (token.as_str(), "get_my_receipt"),
        (token.as_str(), "withdraw_my_preferences"),
        (code, "get_my_preferences"),
        (code, "list_datasets"),
    ] {
        let refused = server.anyone().with(text).call(operation).send().await;
        refused.expect_problem(401, "unauthenticated");
    }
    put(&server, code, &json!({}))
        .await
        .expect_problem(401, "unauthenticated");
}

/// The statements behind both operations tell nothing of who is in a dataset
/// and nothing of what is wrong with a token.
async fn the_same_statements_run_for_everybody(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::filled_dataset(&client).await;
    let brief = json!({"subjects": ["p1"], "expires_in_s": 1});
    let expired = tokens(&client, &id, brief).await.remove(0);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    // The first use of a key is noted by a statement of its own, once a minute.
    let statements = Statements::listen();
    let (mut given, mut set, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for subject in ["p1", "p2", "nobody", "nobody else"] {
        statements.take();
        kept.extend(tokens(&client, &id, json!({"subjects": [subject]})).await);
        given.push(statements.take());
        put(&server, &kept[kept.len() - 1], &json!({}))
            .await
            .expect(200);
        set.push(statements.take());
    }
    assert!(given.iter().all(|run| *run == given[0]), "{given:?}");
    assert!(set.iter().all(|run| *run == set[0]), "{set:?}");
    let mut refused = Vec::new();
    let never = "vs_0123456789abcdef0123456789abcdef";
    for token in [&expired, never] {
        put(&server, token, &json!({}))
            .await
            .expect_problem(401, "unauthenticated");
        refused.push(statements.take());
    }
    assert!(!refused[0].is_empty() && refused[0].len() < set[0].len());
    assert!(refused.iter().all(|run| *run == refused[0]), "{refused:?}");
}

#[tokio::test]
async fn the_same_statements_run_for_everybody_on_sqlite() {
    the_same_statements_run_for_everybody(Server::sqlite().await).await;
}

#[tokio::test]
async fn the_same_statements_run_for_everybody_on_postgres() {
    if let Some(server) = Server::postgres().await {
        the_same_statements_run_for_everybody(server).await;
    }
}
