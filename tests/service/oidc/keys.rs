//! The issuer's keys: fetched, changed, taken back, out of reach.

use std::time::Duration;

use super::{Realm, eventually};
use crate::common::client::Client;
use crate::common::issuer::{AUDIENCE, SigningKey, key_set};
use vizard::config::OidcSettings;

async fn status(client: &Client) -> u16 {
    client.call("list_datasets").send().await.status
}

fn token(realm: &Realm, key: &SigningKey) -> Client {
    realm.bearer(&key.token(&realm.claims(&["uploader"])))
}

#[tokio::test]
async fn a_new_key_works_within_one_fetch_and_an_old_one_stops_with_it() {
    let realm = Realm::new().await;
    let old = realm.client(&["uploader"]);
    assert_eq!(status(&old).await, 200);
    assert_eq!(realm.keys.hits(), 1, "a known key makes nobody fetch");

    let second = SigningKey::new("second", "ES256");
    realm.keys.answer(200, key_set(&[&second]));
    let new = token(&realm, &second);
    // Asked less than a minute ago: nobody is asked again, however many come.
    realm.wait(59);
    for _ in 0..20 {
        assert_eq!(status(&new).await, 401);
    }
    assert_eq!(realm.keys.hits(), 1);
    realm.wait(1);
    assert_eq!(status(&new).await, 200);
    assert_eq!(status(&old).await, 401, "a key that was taken back stops");
    assert_eq!(realm.keys.hits(), 2);
}

#[tokio::test]
async fn many_tokens_with_an_unknown_key_cost_one_fetch() {
    let realm = Realm::new().await;
    let second = SigningKey::new("second", "EdDSA");
    realm.keys.answer(200, key_set(&[&realm.key, &second]));
    realm.keys.delay(Duration::from_millis(300));
    realm.wait(60);
    let new = token(&realm, &second);
    let unknown = token(&realm, &SigningKey::new("unknown", "EdDSA"));
    let tasks: Vec<_> = (0..40)
        .map(|at| {
            let (client, wanted) = match at % 2 {
                0 => (new.clone(), 200),
                _ => (unknown.clone(), 401),
            };
            tokio::spawn(async move { (status(&client).await, wanted) })
        })
        .collect();
    for task in tasks {
        let (found, wanted) = task.await.expect("no panic");
        assert_eq!(found, wanted);
    }
    // Nor does one that comes when all of them have their answer.
    assert_eq!(status(&unknown).await, 401);
    assert_eq!(realm.keys.hits(), 2);
}

#[tokio::test]
async fn a_slow_key_server_keeps_nobody_waiting_whose_key_is_known() {
    let realm = Realm::new().await;
    realm.keys.delay(Duration::from_secs(30));
    realm.wait(60);
    let unknown = token(&realm, &SigningKey::new("unknown", "EdDSA"));
    let waiting = tokio::spawn(async move { status(&unknown).await });
    eventually("the fetch begins", async || realm.keys.hits() == 2).await;
    let known = realm.client(&["uploader"]);
    // The fetch is given up after five seconds.
    for _ in 0..2 {
        assert_eq!(status(&known).await, 200);
    }
    assert!(!waiting.is_finished());
    waiting.abort();
}

#[tokio::test]
async fn without_a_key_server_known_keys_go_on_and_unknown_ones_are_unavailable() {
    let realm = Realm::new().await;
    let known = realm.client(&["uploader"]);
    let unknown = token(&realm, &SigningKey::new("unknown", "EdDSA"));
    assert_eq!(
        status(&unknown).await,
        401,
        "the set is fresh: there is no such key"
    );
    realm.keys.vanish().await;
    realm.wait(60);
    for _ in 0..3 {
        let refused = unknown.call("list_datasets").send().await;
        refused.expect_problem(503, "unavailable");
        assert!(refused.header("retry-after").is_some());
        assert_eq!(status(&known).await, 200);
    }
    let garbage = realm.bearer("a.b.c");
    assert_eq!(status(&garbage).await, 401, "no fetch would make it good");
    let key = realm.server.key(&["uploader"]).await;
    assert_eq!(status(&key).await, 200);
}

#[tokio::test]
async fn what_is_no_key_set_changes_nothing() {
    let realm = Realm::new().await;
    let known = realm.client(&["uploader"]);
    let second = SigningKey::new("second", "EdDSA");
    let new = token(&realm, &second);
    let set = key_set(&[&second]);
    let padded = format!("{set}{}", " ".repeat(1 << 20));
    for (code, body) in [
        (500, set.clone()),
        (302, set.clone()),
        (204, String::new()),
        (200, "<html>".to_owned()),
        (200, padded),
    ] {
        realm.keys.answer(code, body);
        realm.wait(60);
        let hits = realm.keys.hits();
        assert_eq!(status(&new).await, 503, "{code}");
        assert!(realm.keys.hits() > hits);
        assert_eq!(status(&known).await, 200, "{code}");
    }
    realm.keys.answer(200, set);
    realm.wait(60);
    assert_eq!(status(&new).await, 200);
    // An issuer that has taken all of its keys back has said so.
    realm.keys.answer(200, "{\"keys\": []}");
    realm.wait(60);
    assert_eq!(
        status(&token(&realm, &SigningKey::new("third", "EdDSA"))).await,
        401
    );
    assert_eq!(status(&new).await, 401);
}

#[tokio::test]
async fn the_key_set_is_fetched_again_on_a_schedule() {
    let realm = Realm::with("EdDSA", |oidc| oidc.refresh_s = 1).await;
    let old = realm.client(&["uploader"]);
    assert_eq!(status(&old).await, 200);
    let second = SigningKey::new("second", "EdDSA");
    realm.keys.answer(200, key_set(&[&second]));
    let new = token(&realm, &second);
    // The service's clock stands still, so no request has it fetch.
    eventually("the new key is known", async || status(&new).await == 200).await;
    assert_eq!(status(&old).await, 401);
}

#[tokio::test]
async fn a_key_set_in_a_file_is_read_again_when_it_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("keys.json");
    let (first, second) = (
        SigningKey::new("one", "EdDSA"),
        SigningKey::new("two", "ES256"),
    );
    std::fs::write(&path, key_set(&[&first])).expect("written");
    let place = path.display().to_string();
    let realm = Realm::with("EdDSA", |oidc| {
        oidc.keys = Some(place);
        oidc.refresh_s = 1;
    })
    .await;
    assert_eq!(
        realm.keys.hits(),
        0,
        "nobody is asked where there is a file"
    );
    assert_eq!(status(&token(&realm, &first)).await, 200);
    std::fs::write(&path, key_set(&[&second])).expect("written");
    realm.wait(1);
    assert_eq!(
        status(&token(&realm, &second)).await,
        200,
        "an unknown key has it read"
    );
    assert_eq!(status(&token(&realm, &first)).await, 401);
    std::fs::write(&path, key_set(&[&first])).expect("written");
    let removed = token(&realm, &second);
    eventually("the schedule has it read", async || {
        status(&removed).await == 401
    })
    .await;
}

#[tokio::test]
async fn a_service_does_not_start_with_keys_that_it_cannot_have() {
    let mut oidc = OidcSettings::new("https://id.example", AUDIENCE);
    for keys in ["/nowhere/keys.json", "http://"] {
        oidc.keys = Some(keys.into());
        let clock = std::sync::Arc::new(vizard::clock::SystemClock);
        let started = vizard::http::auth::Oidc::start(oidc.clone(), clock, Default::default());
        assert!(started.await.is_err(), "{keys}");
    }
}
