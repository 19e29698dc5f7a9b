//! An issuer of JWTs for tests: keys made on the spot, tokens signed with
//! them, and a real key server on a port of its own.
//!
//! Tokens are put together by hand and not by the library that reads them, so
//! that a test can make any header with any signature.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
    RSA_PSS_SHA256, RsaKeyPair,
};
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::routing::get;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Audience that the tokens of tests are made for.
pub const AUDIENCE: &str = "vizard-tests";

enum Pair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

/// A private key of the issuer, with its name and its kind of signature.
pub struct SigningKey {
    pub id: String,
    pub algorithm: &'static str,
    pair: Pair,
}

impl SigningKey {
    /// A new key for one of `RS256`, `PS256`, `ES256`, `EdDSA`.
    pub fn new(id: &str, algorithm: &'static str) -> Self {
        let pair = match algorithm {
            "RS256" | "PS256" => Pair::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).expect("a key")),
            "ES256" => {
                let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING);
                Pair::Ec(key.expect("a key"))
            }
            _ => Pair::Ed(Ed25519KeyPair::generate().expect("a key")),
        };
        Self {
            id: id.into(),
            algorithm,
            pair,
        }
    }

    /// The public half, as a key set lists it.
    pub fn jwk(&self) -> Value {
        let mut jwk = match &self.pair {
            Pair::Rsa(key) => {
                let public = key.public_key();
                json!({"kty": "RSA",
                    "n": base64url(public.modulus().big_endian_without_leading_zero()),
                    "e": base64url(public.exponent().big_endian_without_leading_zero())})
            }
            Pair::Ec(key) => {
                let point = key.public_key().as_ref();
                json!({"kty": "EC", "crv": "P-256",
                    "x": base64url(&point[1..33]), "y": base64url(&point[33..65])})
            }
            Pair::Ed(key) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": base64url(key.public_key().as_ref())})
            }
        };
        jwk["kid"] = self.id.as_str().into();
        jwk["use"] = "sig".into();
        jwk
    }

    /// Bytes of the public half, as somebody who knows it might use them.
    pub fn public_bytes(&self) -> Vec<u8> {
        match &self.pair {
            Pair::Rsa(key) => key.public_key().as_ref().to_vec(),
            Pair::Ec(key) => key.public_key().as_ref().to_vec(),
            Pair::Ed(key) => key.public_key().as_ref().to_vec(),
        }
    }

    /// The signature of a message.
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                let signed = match self.algorithm {
                    "PS256" => key.sign(&RSA_PSS_SHA256, &random, message, &mut signature),
                    _ => key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature),
                };
                signed.expect("a signature");
                signature
            }
            Pair::Ec(key) => {
                let signature = key.sign(&random, message).expect("a signature");
                signature.as_ref().to_vec()
            }
            Pair::Ed(key) => key.sign(message).as_ref().to_vec(),
        }
    }

    /// The header of this key's tokens.
    pub fn header(&self) -> Value {
        json!({"alg": self.algorithm, "kid": self.id, "typ": "JWT"})
    }

    /// A token with these claims.
    pub fn token(&self, claims: &Value) -> String {
        self.token_with(&self.header(), claims)
    }

    /// A token with this header, whatever it says, and these claims.
    pub fn token_with(&self, header: &Value, claims: &Value) -> String {
        signed(header, claims, |message| self.sign(message))
    }
}

/// A token with any header, any claims and any signature.
pub fn signed(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let (header, claims) = (header.to_string(), claims.to_string());
    let message = format!(
        "{}.{}",
        base64url(header.as_bytes()),
        base64url(claims.as_bytes())
    );
    let signature = base64url(&sign(message.as_bytes()));
    format!("{message}.{signature}")
}

/// A key set of these keys.
pub fn key_set(keys: &[&SigningKey]) -> String {
    let keys: Vec<Value> = keys.iter().map(|key| key.jwk()).collect();
    json!({"keys": keys}).to_string()
}

/// Bytes as text without padding (RFC 7515).
pub fn base64url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let word = three.iter().enumerate().fold(0_u32, |word, (at, byte)| {
            word | u32::from(*byte) << (16 - 8 * at)
        });
        for at in 0..=three.len() {
            let digit = (word >> (18 - 6 * at)) & 63;
            text.push(char::from(DIGITS[digit as usize]));
        }
    }
    text
}

/// What the key server answers with now.
struct Answers {
    hits: AtomicUsize,
    keys: Mutex<(StatusCode, String)>,
    delay: Mutex<Duration>,
    address: String,
}

/// A key server with a discovery document; stopped when dropped.
pub struct KeyServer {
    answers: Arc<Answers>,
    stop: CancellationToken,
}

impl KeyServer {
    /// Serves a key set.
    pub async fn start(keys: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let answers = Arc::new(Answers {
            hits: AtomicUsize::new(0),
            keys: Mutex::new((StatusCode::OK, keys)),
            delay: Mutex::default(),
            address,
        });
        let router = Router::new()
            .route("/keys", get(answer_keys))
            .route("/.well-known/openid-configuration", get(answer_discovery))
            .with_state(Arc::clone(&answers));
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let serving = axum::serve(listener, router).into_future();
        tokio::spawn(async move {
            tokio::select! {
                _ = serving => {}
                () = stopped => {}
            }
        });
        Self { answers, stop }
    }

    /// The issuer that the server speaks for.
    pub fn issuer(&self) -> String {
        format!("http://{}", self.answers.address)
    }

    /// Where its key set is.
    pub fn keys_url(&self) -> String {
        format!("{}/keys", self.issuer())
    }

    /// How often the key set was fetched.
    pub fn hits(&self) -> usize {
        self.answers.hits.load(Ordering::SeqCst)
    }

    /// Answers with something else from now on.
    pub fn answer(&self, status: u16, body: impl Into<String>) {
        let status = StatusCode::from_u16(status).expect("a status");
        *self.answers.keys.lock().expect("no panic") = (status, body.into());
    }

    /// Takes so long for each answer from now on.
    pub fn delay(&self, delay: Duration) {
        *self.answers.delay.lock().expect("no panic") = delay;
    }

    /// Stops answering: connections are refused.
    pub async fn vanish(&self) {
        self.stop.cancel();
        while tokio::net::TcpStream::connect(&self.answers.address)
            .await
            .is_ok()
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for KeyServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn answer_keys(
    State(answers): State<Arc<Answers>>,
) -> (StatusCode, [(header::HeaderName, String); 1], String) {
    answers.hits.fetch_add(1, Ordering::SeqCst);
    let delay = *answers.delay.lock().expect("no panic");
    tokio::time::sleep(delay).await;
    let (status, body) = answers.keys.lock().expect("no panic").clone();
    let elsewhere = format!("http://{}/elsewhere", answers.address);
    (status, [(header::LOCATION, elsewhere)], body)
}

async fn answer_discovery(State(answers): State<Arc<Answers>>) -> String {
    let issuer = format!("http://{}", answers.address);
    json!({"issuer": issuer, "jwks_uri": format!("{issuer}/keys")}).to_string()
}
