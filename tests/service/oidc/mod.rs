//! JWTs of an issuer as bearer tokens, over real HTTP on both sides.
//!
//! `Realm` is an issuer with one key and a server that believes it; its clock
//! is moved by hand, so that minutes cost no waiting.

mod believed;
mod keys;
mod refused;
mod sign_in;

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use serde_json::{Value, json};
use vizard::clock::{Clock, ManualClock, SystemClock};
use vizard::config::{AccessSettings, OidcSettings, Settings};

use crate::api::Server;
use crate::common::client::Client;
use crate::common::issuer::{AUDIENCE, KeyServer, SigningKey, key_set};

/// An issuer, its key server, and a service that believes it.
struct Realm {
    key: SigningKey,
    keys: KeyServer,
    clock: Arc<ManualClock>,
    server: Server,
}

impl Realm {
    async fn new() -> Self {
        Self::with("EdDSA", |_| {}).await
    }

    /// With a key for `algorithm`, and settings that `change` has had its say on.
    async fn with(algorithm: &'static str, change: impl FnOnce(&mut OidcSettings)) -> Self {
        let key = SigningKey::new("first", algorithm);
        let keys = KeyServer::start(key_set(&[&key])).await;
        let mut oidc = OidcSettings::new(keys.issuer(), AUDIENCE);
        // The clock of the service stands still: only what a test does has it fetch.
        oidc.refresh_s = 3_600;
        change(&mut oidc);
        let clock = Arc::new(ManualClock::new(SystemClock.now()));
        let settings = Settings {
            access: AccessSettings {
                oidc: Some(oidc),
                ..AccessSettings::default()
            },
            ..Settings::default()
        };
        let server = Server::sqlite_by(settings, clock.clone()).await;
        Self {
            key,
            keys,
            clock,
            server,
        }
    }

    /// Claims of somebody with these roles, good for an hour.
    fn claims(&self, roles: &[&str]) -> Value {
        let now = self.clock.now().timestamp();
        json!({"iss": self.keys.issuer(), "aud": AUDIENCE, "sub": "eve@example.org",
            "iat": now, "nbf": now, "exp": now + 3_600, "roles": roles})
    }

    /// A client with a token of this realm's key.
    fn client(&self, roles: &[&str]) -> Client {
        self.bearer(&self.key.token(&self.claims(roles)))
    }

    fn bearer(&self, token: &str) -> Client {
        self.server.anyone().with(token)
    }

    /// Lets so many seconds pass.
    fn wait(&self, seconds: i64) {
        self.clock.advance(TimeDelta::seconds(seconds));
    }
}

/// Panics unless `condition` comes true within ten seconds.
async fn eventually(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    for _ in 0..500 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what}: not within ten seconds");
}
