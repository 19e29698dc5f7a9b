//! An issuer at which people sign in, for tests: a real server with a discovery
//! document, an authorization endpoint that asks nobody anything, and a token
//! endpoint that checks what RFC 6749 and RFC 7636 have it check.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::issuer::{SigningKey, base64url, key_set};

type Fields = HashMap<String, String>;

/// What a test wants the issuer to do.
#[derive(Clone, Default)]
pub struct Wishes {
    /// Claims of the ID token that are others than they should be; null: there is none.
    pub claims: Value,
    /// The access token; none: a text that is no JWT.
    pub access_token: Option<String>,
    /// What the token endpoint answers in place of tokens.
    pub answer: Option<(u16, String)>,
    /// How long it takes.
    pub delay: Duration,
    /// The ID token's signature is another key's.
    pub foreign_key: bool,
}

struct Issuer {
    address: String,
    key: SigningKey,
    client: (&'static str, Option<&'static str>),
    wishes: Mutex<Wishes>,
    /// What was asked for each code that was not used yet.
    codes: Mutex<HashMap<String, Fields>>,
}

/// An issuer with one client.
#[derive(Clone)]
pub struct LoginServer(Arc<Issuer>);

impl LoginServer {
    /// Serves until the test ends; a client with a secret has to show it.
    pub async fn start(client: (&'static str, Option<&'static str>)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let server = Self(Arc::new(Issuer {
            address: listener.local_addr().expect("an address").to_string(),
            key: SigningKey::new("login", "ES256"),
            client,
            wishes: Mutex::default(),
            codes: Mutex::default(),
        }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/keys", get(keys))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .with_state(server.clone());
        tokio::spawn(axum::serve(listener, router).into_future());
        server
    }

    /// Its name.
    pub fn issuer(&self) -> String {
        format!("http://{}", self.0.address)
    }

    /// Does as it is told from now on.
    pub fn wish(&self, wishes: Wishes) {
        *self.0.wishes.lock().expect("no panic") = wishes;
    }

    /// Claims of a token for an audience, good for five minutes.
    pub fn claims(&self, audience: &str) -> Value {
        let now = vizard::clock::Clock::now(&vizard::clock::SystemClock).timestamp();
        json!({"iss": self.issuer(), "aud": audience, "sub": "eve@example.org",
            "iat": now, "exp": now + 300, "roles": ["analyst"]})
    }

    /// A token with these claims.
    pub fn token(&self, claims: &Value) -> String {
        self.0.key.token(claims)
    }
}

async fn discovery(State(server): State<LoginServer>) -> Json<Value> {
    let own = server.issuer();
    Json(json!({"issuer": own, "jwks_uri": format!("{own}/keys"),
        "authorization_endpoint": format!("{own}/authorize?tenant=one"),
        "token_endpoint": format!("{own}/token")}))
}

async fn keys(State(server): State<LoginServer>) -> String {
    key_set(&[&server.0.key])
}

/// Sends the browser back at once with a code.
async fn authorize(State(server): State<LoginServer>, Query(asked): Query<Fields>) -> Response {
    let is = |name: &str, value: &str| asked.get(name).map(String::as_str) == Some(value);
    assert!(is("response_type", "code") && is("code_challenge_method", "S256"));
    assert!(is("client_id", server.0.client.0) && is("tenant", "one"));
    let code = format!("code-{}", uuid::Uuid::now_v7());
    let back = format!(
        "{}?code={code}&state={}&iss={}",
        asked["redirect_uri"],
        asked["state"],
        server.issuer()
    );
    let mut codes = server.0.codes.lock().expect("no panic");
    codes.insert(code, asked);
    (StatusCode::FOUND, [(header::LOCATION, back)]).into_response()
}

/// Gives tokens for a code, once, to the client that asked, by the verifier.
async fn token(
    State(server): State<LoginServer>,
    headers: HeaderMap,
    Form(given): Form<Fields>,
) -> Response {
    let wishes = server.0.wishes.lock().expect("no panic").clone();
    tokio::time::sleep(wishes.delay).await;
    if let Some((status, body)) = wishes.answer {
        let status = StatusCode::from_u16(status).expect("a status");
        let elsewhere = format!("{}/elsewhere", server.issuer());
        return (status, [(header::LOCATION, elsewhere)], body).into_response();
    }
    let field = |name: &str| given.get(name).map(String::as_str).unwrap_or_default();
    let asked = server
        .0
        .codes
        .lock()
        .expect("no panic")
        .remove(field("code"));
    let Some(asked) = asked else {
        return (StatusCode::BAD_REQUEST, r#"{"error": "invalid_grant"}"#).into_response();
    };
    let challenge = base64url(digest(&SHA256, field("code_verifier").as_bytes()).as_ref());
    let (id, secret) = server.0.client;
    let shown = headers.get(header::AUTHORIZATION);
    let shown = shown.map(|value| value.to_str().expect("a text").to_owned());
    let is_client = match secret {
        // Of `a client:a/secret`, each part encoded as in a form.
        Some("a/secret") => shown.as_deref() == Some("Basic YStjbGllbnQ6YSUyRnNlY3JldA=="),
        _ => shown.is_none(),
    };
    let is_asked = field("grant_type") == "authorization_code"
        && challenge == asked["code_challenge"]
        && field("redirect_uri") == asked["redirect_uri"]
        && field("client_id") == id;
    if !is_client || !is_asked {
        return (StatusCode::UNAUTHORIZED, r#"{"error": "invalid_client"}"#).into_response();
    }
    let mut claims = server.claims(id);
    claims["nonce"] = json!(asked["nonce"]);
    for (name, value) in wishes.claims.as_object().into_iter().flatten() {
        claims[name] = value.clone();
    }
    let claims = claims.as_object_mut().expect("an object");
    claims.retain(|_, value| !value.is_null());
    let other = SigningKey::new("login", "ES256");
    let key = if wishes.foreign_key {
        &other
    } else {
        &server.0.key
    };
    let access = wishes.access_token.unwrap_or_else(|| "opaque".into());
    Json(
        json!({"id_token": key.token(&json!(claims)), "access_token": access,
        "token_type": "Bearer"}),
    )
    .into_response()
}
