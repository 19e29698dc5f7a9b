//! How often one key may ask, and one address may guess.

use std::time::Duration;

use vizard::config::Limits;

use super::{names, server};
use crate::common::client::Client;

const REFUSED: (u16, &str) = (429, "too-many-requests");

async fn status(client: &Client) -> u16 {
    client.call("list_engines").send().await.status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_may_ask_as_often_as_its_burst_then_at_its_rate() {
    let server = server(Limits {
        requests_per_s_max: 1,
        requests_burst_max: 5,
        ..Limits::default()
    })
    .await;
    let (busy, other) = (
        server.key(&["analyst"]).await,
        server.key(&["analyst"]).await,
    );
    for _ in 0..5 {
        assert_eq!(status(&busy).await, 200);
    }
    let refused = busy.call("list_engines").send().await;
    names(&refused, REFUSED, "requests_per_s_max", 1);
    assert_eq!(refused.header("retry-after"), Some("1"));
    // What a role does not allow is counted as well.
    busy.call("list_keys")
        .send()
        .await
        .expect_problem(429, "too-many-requests");
    // Nobody else is held up, nor what needs no key.
    assert_eq!(status(&other).await, 200);
    server.anyone().call("get_health").send().await.expect(200);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(status(&busy).await, 200);
    assert_eq!(status(&busy).await, 429);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_may_guess_as_often_as_its_burst_and_keeps_nobody_else_out() {
    let server = server(Limits {
        token_attempts_per_s_max: 1,
        token_attempts_burst_max: 5,
        ..Limits::default()
    })
    .await;
    // Two tokens that are new here: the operator's and this one.
    let known = server.key(&["analyst"]).await;
    assert_eq!(status(&known).await, 200);
    for guess in 0..3 {
        assert_eq!(
            status(&server.anyone().with(&format!("vz_guess_{guess}"))).await,
            401
        );
    }
    let guess = server.anyone().with("vz_guess_4");
    let refused = guess.call("list_engines").send().await;
    names(&refused, REFUSED, "token_attempts_per_s_max", 1);
    assert_eq!(refused.header("retry-after"), Some("1"));
    for _ in 0..10 {
        assert_eq!(status(&known).await, 200);
        // Who shows no token guesses nothing.
        assert_eq!(status(&server.anyone()).await, 401);
    }
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(status(&guess).await, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_guesses_subject_tokens_is_held_up_before_the_store() {
    let server = server(Limits {
        token_attempts_per_s_max: 1,
        token_attempts_burst_max: 5,
        ..Limits::default()
    })
    .await;
    for guess in 0..8 {
        let token = format!("vs_{guess:032x}");
        let call = server.anyone().with(&token).call("put_my_preferences");
        let answer = call.json(&serde_json::json!({})).send().await;
        match guess {
            0..5 => drop(answer.expect_problem(401, "unauthenticated")),
            _ => names(&answer, REFUSED, "token_attempts_per_s_max", 1),
        }
    }
}
