//! Tokens that are not believed: each is a good one with one thing wrong.

use aws_lc_rs::hmac;
use serde_json::{Value, json};

use super::Realm;
use crate::common::issuer::{SigningKey, base64url, key_set, signed};

/// Panics unless the token is answered exactly as no valid token is.
async fn expect_refused(realm: &Realm, what: &str, token: &str) {
    let answer = realm
        .bearer(token)
        .call("list_datasets")
        .header("x-request-id", "same")
        .send()
        .await;
    let without = realm
        .server
        .anyone()
        .call("list_datasets")
        .header("x-request-id", "same")
        .send()
        .await;
    without.expect_problem(401, "unauthenticated");
    assert_eq!(answer.status, 401, "{what}: {}", answer.text());
    assert_eq!(answer.text(), without.text(), "{what}");
    let mut headers = (answer.headers.clone(), without.headers.clone());
    headers.0.remove("date");
    headers.1.remove("date");
    assert_eq!(headers.0, headers.1, "{what}");
}

fn changed(claims: &Value, name: &str, value: Value) -> Value {
    let mut claims = claims.clone();
    match value {
        Value::Null => {
            claims.as_object_mut().expect("claims").remove(name);
        }
        value => claims[name] = value,
    }
    claims
}

#[tokio::test]
async fn a_token_with_one_wrong_claim_is_refused() {
    let realm = Realm::new().await;
    let good = realm.claims(&["uploader"]);
    realm
        .client(&["uploader"])
        .call("list_datasets")
        .send()
        .await
        .expect(200);
    let now = good["iat"].as_i64().expect("a time");
    let issuer = realm.keys.issuer();
    for (what, name, value) in [
        ("another issuer", "iss", json!("http://127.0.0.1:1")),
        ("nearly the issuer", "iss", json!(format!("{issuer}/"))),
        ("no issuer", "iss", json!(null)),
        ("another audience", "aud", json!("somebody else")),
        ("other audiences", "aud", json!(["a", "b"])),
        ("no audience", "aud", json!(null)),
        ("expired", "exp", json!(now - 31)),
        ("never expires", "exp", json!(null)),
        ("expires in words", "exp", json!("tomorrow")),
        ("not yet valid", "nbf", json!(now + 31)),
        ("nobody", "sub", json!(null)),
    ] {
        let token = realm.key.token(&changed(&good, name, value));
        expect_refused(&realm, what, &token).await;
    }
}

#[tokio::test]
async fn a_token_that_was_good_is_refused_when_its_time_is_over() {
    let realm = Realm::new().await;
    let client = realm.client(&["uploader"]);
    realm.wait(3_600 + 29);
    client.call("list_datasets").send().await.expect(200);
    realm.wait(1);
    let refused = client.call("list_datasets").send().await;
    refused.expect_problem(401, "unauthenticated");
}

#[tokio::test]
async fn a_token_that_asks_to_be_believed_unsigned_or_by_a_secret_is_refused() {
    let realm = Realm::with("RS256", |_| {}).await;
    let claims = realm.claims(&["admin"]);
    for word in ["none", "None", "NONE", ""] {
        let header = json!({"alg": word, "kid": "first", "typ": "JWT"});
        expect_refused(&realm, word, &signed(&header, &claims, |_| Vec::new())).await;
        expect_refused(&realm, word, &realm.key.token_with(&header, &claims)).await;
    }
    // The public key as the secret of a signature that needs one.
    let set = key_set(&[&realm.key]);
    let jwk = realm.key.jwk();
    let secrets = [
        realm.key.public_bytes(),
        set.into_bytes(),
        jwk["n"].as_str().expect("a number").as_bytes().to_vec(),
    ];
    for secret in secrets {
        for header in [
            json!({"alg": "HS256", "kid": "first", "typ": "JWT"}),
            json!({"alg": "HS256", "typ": "JWT"}),
        ] {
            let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
            let token = signed(&header, &claims, |text| {
                hmac::sign(&key, text).as_ref().to_vec()
            });
            expect_refused(&realm, "HS256 with the public key", &token).await;
        }
    }
}

#[tokio::test]
async fn a_token_of_another_key_or_another_kind_of_signature_is_refused() {
    let realm = Realm::with("RS256", |_| {}).await;
    let claims = realm.claims(&["admin"]);
    let stranger = SigningKey::new("first", "RS256");
    expect_refused(&realm, "a stranger's key", &stranger.token(&claims)).await;
    let mut header = stranger.header();
    header["jwk"] = stranger.jwk();
    let token = stranger.token_with(&header, &claims);
    expect_refused(&realm, "brings its own key", &token).await;
    let mut header = realm.key.header();
    header["alg"] = "PS256".into();
    let token = realm.key.token_with(&header, &claims);
    expect_refused(&realm, "says another kind than it is", &token).await;
    let unnamed = json!({"alg": "EdDSA", "typ": "JWT"});
    let token = SigningKey::new("x", "EdDSA").token_with(&unnamed, &claims);
    expect_refused(&realm, "a kind that the issuer has no key for", &token).await;
    let unknown = SigningKey::new("unknown", "RS256");
    expect_refused(&realm, "an unknown key", &unknown.token(&claims)).await;
}

#[tokio::test]
async fn a_token_that_was_changed_on_the_way_is_refused() {
    let realm = Realm::new().await;
    let token = realm.key.token(&realm.claims(&["analyst"]));
    let parts: Vec<&str> = token.split('.').collect();
    let claims = realm.claims(&["admin"]).to_string();
    let raised = format!("{}.{}.{}", parts[0], base64url(claims.as_bytes()), parts[2]);
    expect_refused(&realm, "roles were raised", &raised).await;
    for at in [0, token.len() / 2, token.len() - 2] {
        let mut bytes = token.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let broken = String::from_utf8(bytes).expect("text");
        expect_refused(&realm, "one letter changed", &broken).await;
    }
    let cut = &token[..token.len() - 4];
    expect_refused(&realm, "cut short", cut).await;
    let longer = format!("{token}AAAA");
    expect_refused(&realm, "something behind it", &longer).await;
}

#[tokio::test]
async fn a_header_that_asks_for_what_nobody_does_is_refused() {
    let realm = Realm::new().await;
    let claims = realm.claims(&["uploader"]);
    for (name, value) in [
        ("typ", json!("logout+jwt")),
        ("typ", json!("dpop+jwt")),
        ("crit", json!(["b64"])),
        ("crit", json!([])),
        ("alg", json!(7)),
    ] {
        let mut header = realm.key.header();
        header[name] = value;
        let token = realm.key.token_with(&header, &claims);
        expect_refused(&realm, name, &token).await;
    }
    for word in ["at+jwt", "jwt", "application/at+jwt"] {
        let mut header = realm.key.header();
        header["typ"] = word.into();
        let client = realm.bearer(&realm.key.token_with(&header, &claims));
        client.call("list_datasets").send().await.expect(200);
    }
}

#[tokio::test]
async fn garbage_is_refused_at_once_however_long_it_is() {
    let realm = Realm::new().await;
    let object = base64url(b"{}");
    let array = base64url(b"[]");
    let long = format!("{}.{}.{}", "A".repeat(12_000), "A".repeat(12_000), "A");
    let good = realm.key.token(&changed(
        &realm.claims(&["uploader"]),
        "padding",
        "x".repeat(18_000).into(),
    ));
    for token in [
        "..",
        "a.b.c",
        "a..c",
        "...",
        "....",
        "vs_0123456789abcdef0123456789abcdef",
        &format!("{object}.{object}.{object}"),
        &format!("{array}.{array}.{array}"),
        &long,
        &good,
    ] {
        expect_refused(&realm, &token[..token.len().min(40)], token).await;
    }
    assert_eq!(realm.keys.hits(), 1, "garbage makes nobody fetch keys");
}
