//! Tokens that are believed, and what their holders may do.

use serde_json::json;

use super::Realm;
use crate::api::story;
use crate::common::issuer::{AUDIENCE, KeyServer, SigningKey, key_set};
use crate::common::process::ServerProcess;

#[tokio::test]
async fn a_token_of_each_kind_of_signature_opens_the_operations_of_its_roles() {
    for algorithm in ["RS256", "PS256", "ES256", "EdDSA"] {
        let realm = Realm::with(algorithm, |_| {}).await;
        let uploader = realm.client(&["offline_access", "uploader"]);
        uploader.call("list_datasets").send().await.expect(200);
        let refused = uploader.call("list_keys").send().await;
        refused.expect_problem(403, "forbidden");
        let admin = realm.client(&["admin"]);
        admin.call("list_keys").send().await.expect(200);
    }
}

#[tokio::test]
async fn api_keys_go_on_beside_tokens_of_an_issuer() {
    let realm = Realm::new().await;
    let key = realm.server.key(&["uploader"]).await;
    key.call("list_datasets").send().await.expect(200);
    realm
        .server
        .operator()
        .call("list_keys")
        .send()
        .await
        .expect(200);
}

#[tokio::test]
async fn a_service_without_an_issuer_believes_no_token() {
    let realm = Realm::new().await;
    let other = crate::api::Server::sqlite().await;
    let token = realm.key.token(&realm.claims(&["uploader"]));
    let refused = other
        .anyone()
        .with(&token)
        .call("list_datasets")
        .send()
        .await;
    refused.expect_problem(401, "unauthenticated");
}

#[tokio::test]
async fn a_token_without_a_role_of_ours_opens_nothing() {
    let realm = Realm::new().await;
    let mut without = realm.claims(&[]);
    without.as_object_mut().expect("claims").remove("roles");
    let known_elsewhere = realm.claims(&["Steward", "owner", "uma_authorization"]);
    for claims in [without, known_elsewhere, realm.claims(&[])] {
        let client = realm.bearer(&realm.key.token(&claims));
        for operation in ["list_datasets", "list_keys", "list_engines"] {
            let refused = client.call(operation).send().await;
            refused.expect_problem(403, "forbidden");
        }
    }
}

#[tokio::test]
async fn roles_are_read_from_the_claim_that_the_operator_names() {
    let change = |oidc: &mut vizard::config::OidcSettings| {
        oidc.roles_claim = "realm_access.roles".into();
    };
    let realm = Realm::with("EdDSA", change).await;
    let refused = realm
        .client(&["uploader"])
        .call("list_datasets")
        .send()
        .await;
    refused.expect_problem(403, "forbidden");
    let mut claims = realm.claims(&[]);
    claims["realm_access"] = json!({"roles": ["uploader"]});
    let client = realm.bearer(&realm.key.token(&claims));
    client.call("list_datasets").send().await.expect(200);
}

#[tokio::test]
async fn a_token_sees_the_datasets_that_it_is_tied_to_alone() {
    let change = |oidc: &mut vizard::config::OidcSettings| {
        oidc.datasets_claim = Some("datasets".into());
    };
    let realm = Realm::with("EdDSA", change).await;
    let uploader = realm.server.key(&["uploader"]).await;
    let own = story::dataset(&uploader).await;
    let foreign = story::dataset(&uploader).await;
    let with_claim = |datasets| {
        let mut claims = realm.claims(&["uploader"]);
        claims["datasets"] = datasets;
        realm.bearer(&realm.key.token(&claims))
    };
    let tied = with_claim(json!([own]));
    let listed = tied.call("list_datasets").send().await.expect(200);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1));
    tied.call("get_dataset")
        .at("id", &own)
        .send()
        .await
        .expect(200);
    let hidden = tied.call("get_dataset").at("id", &foreign).send().await;
    hidden.expect_problem(404, "not-found");
    let refused = tied
        .call("create_dataset")
        .json(&story::schema())
        .send()
        .await;
    refused.expect_problem(403, "forbidden");

    let everything = with_claim(json!("*"));
    everything
        .call("get_dataset")
        .at("id", &foreign)
        .send()
        .await
        .expect(200);
    // A claim that is missing or cannot be read opens nothing.
    for nothing in [realm.client(&["uploader"]), with_claim(json!({"all": 1}))] {
        let listed = nothing.call("list_datasets").send().await.expect(200);
        assert_eq!(listed["items"], json!([]));
        let hidden = nothing.call("get_dataset").at("id", &own).send().await;
        hidden.expect_problem(404, "not-found");
    }
}

#[tokio::test]
async fn what_a_holder_made_names_them_by_a_digest_and_never_by_their_name() {
    let realm = Realm::new().await;
    let uploader = realm.client(&["uploader"]);
    let id = story::dataset(&uploader).await;
    let id = id.parse().expect("an id");
    let row = realm.server.store.dataset_get(id).await.expect("a dataset");
    assert!(row.created_by.starts_with("oidc:"), "{}", row.created_by);
    assert!(!row.created_by.contains("eve"), "{}", row.created_by);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_server_takes_its_issuer_from_its_options() {
    let key = SigningKey::new("first", "ES256");
    let keys = KeyServer::start(key_set(&[&key])).await;
    let folder = tempfile::tempdir().expect("a folder");
    let store = format!("sqlite:{}", folder.path().join("vizard.db").display());
    let (issuer, url) = (keys.issuer(), keys.keys_url());
    let options = [
        ["--oidc-issuer", &issuer],
        ["--oidc-audience", AUDIENCE],
        ["--oidc-keys", &url],
        ["--oidc-roles-claim", "realm_access.roles"],
        ["--oidc-datasets-claim", "datasets"],
        ["--oidc-leeway-s", "120"],
        ["--subject-token-lifetime-s-max", "1209600"],
    ];
    let server = ServerProcess::start(&store, folder.path(), options.as_flattened());
    let now = vizard::clock::Clock::now(&vizard::clock::SystemClock).timestamp();
    let token = |expired_since: i64| {
        key.token(&json!({"iss": issuer, "aud": AUDIENCE, "sub": "eve",
            "exp": now - expired_since, "datasets": "*",
            "realm_access": {"roles": ["uploader", "consent"]}}))
    };
    let get = async |token: &str| {
        let client = server.admin().with_token(token);
        client.get("/v1/datasets").await.expect("an answer").status
    };
    assert_eq!(get(&token(60)).await, 200, "the leeway is the option's");
    assert_eq!(get(&token(130)).await, 401);
    assert_eq!(keys.hits(), 1);
    let client = server.admin().with_token(&token(-600));
    let made = client.post("/v1/datasets", &story::schema()).await;
    let id = made.expect("a dataset")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let path = format!("/v1/datasets/{id}/subject-tokens");
    for (lifetime_s, is_taken) in [(1_209_600, true), (1_209_601, false)] {
        let request = json!({"subjects": ["p1"], "expires_in_s": lifetime_s});
        assert_eq!(client.post(&path, &request).await.is_ok(), is_taken);
    }
}
