//! The things that the matrix calls operations on, and those who call.
//!
//! There is an own dataset and a foreign one, each with a published release,
//! a dataset that was erased, a draft and a withdrawn release of the own
//! dataset. Callers hold a key or a JWT of one role, and are tied to the own
//! dataset or to none.

use std::sync::Arc;

use serde_json::{Value, json};
use vizard::clock::{Clock, SystemClock};
use vizard::config::{AccessSettings, Limits, OidcSettings, Settings, WebhookOrigins};
use vizard::http::auth::Role;

use super::samples::Object;
use crate::api::{Server, story};
use crate::common::client::Client;
use crate::common::issuer::{AUDIENCE, SigningKey, key_set};

const UUID: &str = "0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70";

/// An issuer whose keys are in a file.
pub struct Issuer {
    key: SigningKey,
    folder: tempfile::TempDir,
}

impl Issuer {
    const NAME: &str = "https://id.example";

    pub fn new() -> Self {
        let key = SigningKey::new("first", "EdDSA");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("keys"), key_set(&[&key])).expect("written");
        Self { key, folder }
    }

    /// Settings of a service that believes it.
    pub fn settings(&self) -> Settings {
        let mut oidc = OidcSettings::new(Self::NAME, AUDIENCE);
        oidc.keys = Some(self.folder.path().join("keys").display().to_string());
        oidc.datasets_claim = Some("datasets".into());
        Settings {
            access: AccessSettings {
                oidc: Some(oidc),
                ..AccessSettings::default()
            },
            // The matrix shows hundreds of tokens that open nothing.
            limits: Limits {
                token_attempts_per_s_max: 100_000,
                token_attempts_burst_max: 100_000,
                ..Limits::default()
            },
            webhook_origins: WebhookOrigins::new(vec![
                "http://127.0.0.1:9".parse().expect("an origin"),
            ]),
            ..Settings::default()
        }
    }

    /// A token that is good for so many seconds from now.
    pub fn token(&self, roles: &[&str], datasets: &Value, seconds: i64) -> String {
        let now = SystemClock.now().timestamp();
        self.key
            .token(&json!({"iss": Self::NAME, "aud": AUDIENCE, "sub": "eve",
            "exp": now + seconds, "roles": roles, "datasets": datasets}))
    }
}

/// One release and the job that made it.
pub struct Made {
    pub job: String,
    pub release: String,
}

/// Everything there is to call operations on.
pub struct World {
    pub server: Server,
    pub issuer: Arc<Issuer>,
    pub own: String,
    pub foreign: String,
    pub erased: String,
    pub published: Made,
    pub draft: Made,
    pub withdrawn: Made,
    pub foreign_published: Made,
    /// Of the own dataset, and of the foreign one.
    pub explorations: [String; 2],
    /// Of the own dataset's published release, and of the foreign one's.
    pub reidentifications: [String; 2],
    /// A key that nobody uses, tied to the own dataset.
    pub key: String,
    /// Keys whose tie goes beyond it: to nothing, to another dataset, to both.
    pub wider_keys: Vec<(&'static str, String)>,
    /// A webhook that is tied to the own dataset.
    pub webhook: String,
    /// Webhooks whose tie goes beyond it.
    pub wider_webhooks: Vec<(&'static str, String)>,
    /// The token of a key that was revoked.
    pub revoked: String,
}

/// Somebody with one role.
pub struct Caller {
    pub client: Client,
    pub role: Role,
    /// Whether they see the own dataset alone.
    pub tied: bool,
    pub what: String,
}

impl World {
    pub async fn new(server: Server, issuer: Arc<Issuer>) -> Self {
        server.work();
        let client = server.key(&["uploader", "steward", "consent"]).await;
        // The library has what the schemas name, too.
        let put = client.call("put_hierarchy").at("name", "ward");
        let put = put.body("text/csv", story::HIERARCHY).send();
        put.await.expect(201);
        let own = story::filled_dataset(&client).await;
        let foreign = story::filled_dataset(&client).await;
        let erased = story::dataset(&client).await;
        client
            .call("erase_dataset")
            .at("id", &erased)
            .send()
            .await
            .expect(200);
        for dataset in [&own, &foreign] {
            let call = client.call("put_preference").at("id", dataset);
            call.at("subject", "p1")
                .json(&json!({}))
                .send()
                .await
                .expect(200);
        }
        let published = made(&client, &own, "publish_release").await;
        let draft = made(&client, &own, "").await;
        let withdrawn = made(&client, &own, "withdraw_release").await;
        let foreign_published = made(&client, &foreign, "publish_release").await;
        let explorations = [
            story::explore(&client, &story::exploration(&own)).await,
            story::explore(&client, &story::exploration(&foreign)).await,
        ];
        let reidentifications = [
            asked(&client, &published.release).await,
            asked(&client, &foreign_published.release).await,
        ];
        let (key, _) = spare_key(&server, json!([own])).await;
        let webhook = spare_webhook(&server, json!([own])).await;
        let (mut wider_keys, mut wider_webhooks) = (Vec::new(), Vec::new());
        for (what, datasets) in [
            ("untied", Value::Null),
            ("foreign", json!([foreign])),
            ("own and foreign", json!([own, foreign])),
        ] {
            wider_webhooks.push((what, spare_webhook(&server, datasets.clone()).await));
            wider_keys.push((what, spare_key(&server, datasets).await.0));
        }
        let (id, revoked) = spare_key(&server, Value::Null).await;
        let call = server.operator().call("revoke_key").at("id", id);
        call.send().await.expect(200);
        Self {
            server,
            issuer,
            own,
            foreign,
            erased,
            published,
            draft,
            withdrawn,
            foreign_published,
            explorations,
            reidentifications,
            key,
            wider_keys,
            webhook,
            wider_webhooks,
            revoked,
        }
    }

    /// Everybody: each role, by key and by JWT, tied and not.
    pub async fn callers(&self) -> Vec<Caller> {
        let mut callers = Vec::new();
        for &role in Role::ALL {
            let words = [role.as_str()];
            for tied in [false, true] {
                let own = json!([self.own]);
                let (datasets, claim) = if tied {
                    (own.clone(), own)
                } else {
                    (Value::Null, json!("*"))
                };
                let token = self.issuer.token(&words, &claim, 3_600);
                let by_key = self.server.key_for(&words, datasets).await;
                for (client, kind) in [(by_key, "key"), (self.server.anyone().with(&token), "JWT")]
                {
                    let what = format!("{}, by {kind}, tied: {tied}", role.as_str());
                    callers.push(Caller {
                        client,
                        role,
                        tied,
                        what,
                    });
                }
            }
        }
        callers
    }

    /// Those whom nobody knows.
    pub fn strangers(&self) -> Vec<(Client, &'static str)> {
        let anyone = self.server.anyone();
        let expired = self.issuer.token(&["steward", "admin"], &json!("*"), -60);
        vec![
            (anyone.clone(), "no token"),
            (anyone.with("garbage"), "garbage"),
            (anyone.with("a.b.c"), "garbage with dots"),
            (anyone.with(&self.revoked), "a revoked key"),
            (anyone.with(&expired), "an expired JWT"),
            (
                anyone.with("vs_0123456789abcdef0123456789abcdef"),
                "a subject token that never was",
            ),
        ]
    }

    /// The id that a caller's own object has.
    pub fn own_id(&self, object: Object) -> String {
        match object {
            Object::Dataset | Object::DatasetInBody => self.own.clone(),
            Object::Job => self.published.job.clone(),
            Object::Exploration => self.explorations[0].clone(),
            Object::Release => self.published.release.clone(),
            Object::Reidentification => self.reidentifications[0].clone(),
            Object::Key => self.key.clone(),
            Object::Webhook => self.webhook.clone(),
            Object::Nothing | Object::Everything | Object::Token => String::new(),
        }
    }

    /// Ids of things that exist, or did, and that the caller must not find.
    pub fn hidden_ids(&self, object: Object, caller: &Caller) -> Vec<(&'static str, String)> {
        let mut hidden = Vec::new();
        match object {
            Object::Dataset | Object::DatasetInBody => {
                hidden.push(("erased", self.erased.clone()));
                if caller.tied {
                    hidden.push(("foreign", self.foreign.clone()));
                }
            }
            Object::Job if caller.tied => {
                hidden.push(("foreign", self.foreign_published.job.clone()));
            }
            Object::Exploration if caller.tied => {
                hidden.push(("foreign", self.explorations[1].clone()));
            }
            Object::Reidentification if caller.tied => {
                hidden.push(("foreign", self.reidentifications[1].clone()));
            }
            Object::Release => {
                if caller.tied {
                    hidden.push(("foreign", self.foreign_published.release.clone()));
                }
                if caller.role != Role::Steward {
                    hidden.push(("draft", self.draft.release.clone()));
                    hidden.push(("withdrawn", self.withdrawn.release.clone()));
                }
            }
            Object::Key if caller.tied => hidden.extend(self.wider_keys.iter().cloned()),
            Object::Webhook if caller.tied => {
                hidden.extend(self.wider_webhooks.iter().cloned());
            }
            _ => {}
        }
        hidden
    }

    /// Every id that names a thing of this kind, whoever may see it.
    pub fn all_ids(&self, object: Object) -> Vec<String> {
        match object {
            Object::Dataset | Object::DatasetInBody => {
                vec![self.own.clone(), self.foreign.clone(), self.erased.clone()]
            }
            Object::Job => vec![
                self.published.job.clone(),
                self.foreign_published.job.clone(),
            ],
            Object::Exploration => self.explorations.to_vec(),
            Object::Reidentification => self.reidentifications.to_vec(),
            Object::Release => [
                &self.published,
                &self.draft,
                &self.withdrawn,
                &self.foreign_published,
            ]
            .map(|made| made.release.clone())
            .into(),
            Object::Key => {
                let wider = self.wider_keys.iter().map(|(_, id)| id.clone());
                wider.chain([self.key.clone()]).collect()
            }
            Object::Webhook => {
                let wider = self.wider_webhooks.iter().map(|(_, id)| id.clone());
                wider.chain([self.webhook.clone()]).collect()
            }
            Object::Nothing | Object::Everything | Object::Token => vec![String::new()],
        }
    }
}

/// The id of a thing that never was; `None` where there is none to name.
pub fn unknown_id(object: Object) -> Option<String> {
    let prefix = match object {
        Object::Dataset | Object::DatasetInBody => "dataset",
        Object::Job => "job",
        Object::Exploration => "exploration",
        Object::Release => "release",
        Object::Reidentification => "reidentification",
        Object::Key => "key",
        Object::Webhook => "webhook",
        Object::Nothing | Object::Everything | Object::Token => return None,
    };
    Some(format!("{prefix}_{UUID}"))
}

/// An id of another kind; `None` where there is none to name.
pub fn wrong_id(object: Object) -> Option<String> {
    let prefix = match object {
        Object::Nothing | Object::Everything | Object::Token => return None,
        Object::Job => "dataset",
        _ => "job",
    };
    Some(format!("{prefix}_{UUID}"))
}

async fn made(client: &Client, dataset: &str, then: &'static str) -> Made {
    let release = story::release(client, &story::job(dataset)).await;
    if !then.is_empty() {
        client
            .call(then)
            .at("id", &release)
            .send()
            .await
            .expect(200);
    }
    let jobs = client.call("list_jobs").send().await.expect(200);
    let items = jobs["items"].as_array().expect("items");
    let own = items.iter().find(|job| job["release"] == release.as_str());
    let job = own.expect("its job")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    Made { job, release }
}

/// A question who stands behind the first row of a release; its id.
async fn asked(client: &Client, release: &str) -> String {
    let body = json!({"table": "microdata", "row": 1, "reason": "a test"});
    let call = client.call("create_reidentification").at("id", release);
    let asked = call.json(&body).send().await.expect(201);
    asked["id"].as_str().expect("an id").to_owned()
}

async fn spare_key(server: &Server, datasets: Value) -> (String, String) {
    let request = json!({"name": "spare", "roles": ["admin"], "datasets": datasets});
    let call = server.operator().call("create_key").json(&request);
    let made = call.send().await.expect(201);
    let text = |name: &str| made[name].as_str().expect("a text").to_owned();
    (text("id"), text("token"))
}

async fn spare_webhook(server: &Server, datasets: Value) -> String {
    let mut request = story::webhook();
    request["datasets"] = datasets;
    let call = server.operator().call("create_webhook").json(&request);
    let made = call.send().await.expect(201);
    made["id"].as_str().expect("an id").to_owned()
}
